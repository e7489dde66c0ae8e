// An organ in a session: its surface, its tissue, the touch query about it, what was burnt away and what it suffered.
// Units: metres, pascals, seconds.   Tested in tests/app/session_test.cpp
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/backend/backends.hpp"
#include "app/scene/scene.hpp"
#include "cpu_collision/broad_phase/box.hpp"
#include "deform/contact.hpp"
#include "deform/damage.hpp"
#include "deform/sculpt.hpp"
#include "deform/tissue.hpp"
#include "geometry/touch_query.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

// How an organ's surface changed within a frame, after the tools were asked about: what a recording keeps. The arrays
// keep their memory.
struct SurfaceChange {
  std::vector<FaceId> gone;
  std::vector<glm::uvec3> new_faces;  // their ids follow on
  std::vector<glm::vec3> new_rest;    // [new vertex] m
  std::vector<Embedding> new_embedding;
  std::vector<std::uint32_t> carried;  // older vertices that are embedded anew
  std::vector<Embedding> carried_embedding;

  bool empty() const { return gone.empty() && new_faces.empty() && new_rest.empty() && carried.empty(); }
  void clear();
  // Takes up the latest change of the sculpture.
  void add(const Sculpture& sculpture, const TissueModel& tissue);
};

struct Organ {
  std::string name;
  glm::vec3 colour{1.f};
  TriangleMesh mesh;             // at rest; faces as they are now, by slot
  std::vector<FaceId> face_ids;  // [slot] ascending: a face's number for life
  TissueModel tissue;
  TissueState state;
  std::vector<glm::vec3> positions;   // [vertex] m, now
  broad::Box box;                     // of these
  std::vector<char> unused;           // [vertex] of no face any more
  std::vector<float> charred;         // [vertex] 0 sound .. 1 burnt
  std::unique_ptr<TouchQuery> query;  // the backend of the session
  GpuTouchQuery* gpu = nullptr;       // the same object when it runs on OpenGL: its buffer is what the view draws
  FacesAround around;                 // of each vertex
  ContactList contacts;               // of the last frame
  // Of the last frame: touches of the shafts, then of the capsules around the tips. Faces as slots of the time of
  // asking, as ids.
  std::vector<Touch> touched, touched_by_id;
  std::vector<std::uint32_t> touched_first;  // [2 * tools + 1]
  TouchList touches, touches_by_id;          // views of these, the shafts'
  TouchList tip_candidates;                  // the tips'
  std::vector<FaceId> tip_faces, tip_ids;    // that tips touch, by tool, then face: as slots, as ids
  std::vector<std::uint32_t> tip_first;      // [tool + 1] where each tool's begin
  std::optional<Sculpture> sculpture;        // where instruments can burn or tear
  TissueDamage damage;
  std::vector<float> pressure;        // [slot] Pa, of the last frame
  std::vector<float> touch_pressure;  // [touch] the same
  std::uint32_t topology = 0;         // counts the changes of faces
  SurfaceChange change;               // of the last frame
};

// Positions follow the lattice's nodes, and the box them.
void follow_nodes(Organ& organ);

// Tools of a frame as one organ sees them: those that may touch it are asked about. Keep one between frames.
struct AskedTools {
  std::vector<ToolVolume> near, far;         // each in the order of the tools; the near ones' tips follow
  std::vector<std::uint32_t> near_k, far_k;  // which tool; the number of tools more: its tip
  std::size_t tools = 0;

  // `tips`: [tool] around each tip. `near_tools`: ascending.
  void split(std::span<const ToolVolume> tools, std::span<const ToolVolume> tips,
             std::span<const std::uint32_t> near_tools);
  bool anyone() const { return !near.empty(); }
};

// Asks which faces the near tools touch, and keeps the answer as one about all tools. Where nobody is near, only what
// is drawn from the query is brought up to date.
void ask(Organ& organ, const AskedTools& tools);

// `cuttable`: instruments may burn or tear it. Error: InputError naming the organ.
Organ make_organ(const OrganScene& scene, const Breathing& breathing, bool cuttable, Backends& backends,
                 const std::string& backend);

// From now on this backend answers about the organ. Error: InputError when it cannot be had.
void use_backend(Organ& organ, Backends& backends, const std::string& backend);

// The same without what can fail: for a frame whose backend failed. Allocates.
void use_scan(Organ& organ);

// The slot of a face; the number of faces when it is gone.
std::size_t slot_of(const Organ& organ, FaceId face);

// Parts that came loose and fell out of sight come to rest there.
void stop_fallen_parts(Organ& organ);

// After a change of the sculpture: faces, ids, vertices, damage follow; contacts of the frame before are forgotten.
// `how`: what happened to the faces that went.
void take_over_change(Organ& organ, DamageMark how);

}  // namespace trocar
