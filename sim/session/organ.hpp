// Holds an organ in a session: its surface, its tissue, its touch query, its removed faces and its damage.
// Units: metres, pascals, seconds.   Tested in tests/sim/session/session_test.cpp
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"
#include "deform/contact/contact.hpp"
#include "deform/contact/grasp.hpp"
#include "deform/contact/surface_dents.hpp"
#include "deform/cut/sculpt.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/touch.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/cpu_backends.hpp"

namespace trocar {

// How an organ's surface changed within a frame, after the touch query; a recording keeps it. The arrays keep their
// memory between frames.
struct SurfaceChange {
  std::vector<FaceId> removed;        // removed faces
  std::vector<glm::uvec3> new_faces;  // their ids continue the sequence
  std::vector<glm::vec3> new_rest;    // [new vertex] m
  std::vector<Embedding> new_embedding;
  std::vector<std::uint32_t> carried;  // existing vertices with a new embedding
  std::vector<Embedding> carried_embedding;

  bool empty() const { return removed.empty() && new_faces.empty() && new_rest.empty() && carried.empty(); }
  void clear();
  // Appends the latest change of the sculpture.
  void add(const Sculpture& sculpture, const TissueModel& tissue);
};

struct Organ {
  std::string name;
  glm::vec3 colour{1.f};
  TissueLook look = TissueLook::Serosa;
  TriangleMesh mesh;             // positions at rest; current faces, by slot
  std::vector<FaceId> face_ids;  // [slot] ascending: a face keeps its id for life
  TissueModel tissue;
  SteppedTissue state;
  std::vector<glm::vec3> skin;        // [vertex] m, current, as the lattice carries it: contacts act on it
  std::vector<SurfaceDent> dents;     // [part] of the tools, then [tool]: of what its jaws hold
  std::vector<glm::vec3> positions;   // [vertex] m, the skin with the dents: what is touched and seen
  broad::Box box;                     // of both
  std::vector<char> unused;           // [vertex] 1: no face uses it
  std::vector<float> charred;         // [vertex] 0 intact .. 0.5 pale .. 1 charred
  std::unique_ptr<TouchQuery> query;  // the backend of the session
  FacesAround around;                 // of each vertex
  ContactList contacts;               // of the last frame
  // The touches of the last frame's query; faces are slots at the time of the query: queried_ids() gives their ids,
  // slot_now() their slots after the frame.
  PartTouches touched;                   // of each part
  TouchList touches;                     // a view of them, by tool
  std::vector<FaceId> tip_faces;         // faces that parts of a tip touch, sorted by tool, then face
  std::vector<std::uint32_t> tip_first;  // [tool + 1] offset of each tool's faces
  std::optional<Sculpture> sculpture;    // present where instruments can burn or tear the organ
  TissueDamage damage;
  std::vector<float> pressure;        // [slot] Pa, of the last frame
  std::vector<float> touch_pressure;  // [touch] Pa, of the last frame
  std::uint32_t topology = 0;         // number of changes of the face list
  std::uint32_t topology_before = 0;  // before the last frame
  SurfaceChange change;               // of the last frame
  std::vector<FaceId> ids_before;     // [slot] before this change, where topology differs from topology_before
  std::vector<FaceId> removed_slots;  // the faces that this change removed: slots before it, ascending
};

// Updates skin, positions and box from the lattice's nodes and the dents.
void follow_nodes(Organ& organ);
// Takes over, after a step of dt seconds, the dents of all parts and jaws. `held`: [tool] the vertices that its jaws
// hold; `place`: memory.
void follow_dents(Organ& organ, std::span<const std::span<const GraspedPoint>> held, float dt, DentedPlace& place);

// Returns the deepest dent of a tool in the organ, m: its surface at the tool is shifted back by this.
glm::vec3 deepest_dent(const Organ& organ, const PartTable& parts, std::size_t tool);

// The volumes of a frame, split for one organ into those of near tools and others, and the answer: the organ's backend
// is asked about the near ones only. Keep one object between frames.
struct AskedVolumes {
  std::vector<ToolVolume> near, far;         // each in the order of the volumes
  std::vector<std::uint32_t> near_k, far_k;  // numbers of these volumes
  std::size_t count = 0;                     // volumes in all
  std::span<const Touch> touches;            // owned by the organ's query, valid until its next call
  std::vector<std::uint32_t> first;          // [volume + 1] offsets into the touches

  // `near_tools`: ascending.
  void split(const FrameVolumes& frame, std::span<const std::uint32_t> near_tools);
  bool anyone() const { return !near.empty(); }
  // Returns the answer about every volume. In the frame of the query only.
  TouchList answer() const { return {touches, first}; }
};

// Starts the query which faces the near volumes touch. Without near volumes, only a query whose buffer is drawn is
// updated. `asked` must stay unchanged until take_answer().
void ask(Organ& organ, const AskedVolumes& asked);
// Waits for the answer, and stores its touches by part in the organ.
void take_answer(Organ& organ, AskedVolumes& asked, const FrameVolumes& frame);

// Makes an organ. `cuttable`: instruments may burn, cut or tear it. Throws InputError naming the organ.
Organ make_organ(const OrganScene& scene, const Breathing& breathing, bool cuttable, BackendMaker& backends,
                 const std::string& backend);

// Replaces the organ's touch query by this backend. Throws InputError when the backend is not available.
void use_backend(Organ& organ, BackendMaker& backends, const std::string& backend);

// Replaces the organ's touch query by scan, which cannot fail: for a frame whose backend failed. Allocates.
void use_scan(Organ& organ);

// Returns the ids of the faces at the time of the last frame's query. [slot]
std::span<const FaceId> queried_ids(const Organ& organ);

// Returns the present slot of a face that had slot `queried` at the last frame's query; empty when it was removed.
std::optional<FaceId> slot_now(const Organ& organ, FaceId queried);

// Makes the rods of a duct or vessel for a motion that was restored.
void restore_rods(Organ& organ);

// Finds what follows from the faces of a sheet that was restored.
void restore_sheet(Organ& organ);

// Stops detached parts that have fallen out of sight (0.4 m).
void stop_fallen_parts(Organ& organ);

// Call before the changes of a frame.
void begin_change(Organ& organ);
// Call after them: finds removed_slots.
void find_removed(Organ& organ);
// Call at the end of the frame: tells the organ's query about the change if there is one.
void finish_change(Organ& organ);
// Call after a change of the sculpture: updates faces, ids, vertices and damage, and drops the contacts of the frame
// before. `how`: what happened to the removed faces.
void take_over_change(Organ& organ, DamageMark how);

}  // namespace trocar
