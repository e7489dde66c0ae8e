// Converts the result of a touch query into contacts of the tissue, which keep every touched face out of the tool, and
// records the damage that they do. A tool in a contact substep is a shaft (a capsule) or a part (a polytope plus a
// ball). Units: metres, world frame; newtons, pascals, seconds. Tested in tests/deform/contact_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/solid/tissue.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/part.hpp"
#include "geometry/refine.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

struct ContactParams {
  // Points that may come to a tool within a contact substep get a contact: those within the first distance and what the
  // tissue covers at twice its speed, but within `reach`.
  double least_reach = 6e-4, reach = 2e-3;  // m, > 0, least_reach <= reach
  // Faces within this distance of a tool's path in a frame are candidates in every contact substep: pressed tissue can
  // snap past a tool much faster than the tool moves.
  double candidate_reach = 6e-3;              // m, >= reach
  int least_substeps = 4, most_substeps = 8;  // 1  contact substeps of a frame with contact, >= 1, least <= most
  float patch_area = 2e-5f;                   // m^2  pressure is a mean over a patch of this area (TissueDamage), > 0
};

// How tissue moves at the start of a contact substep. Without it contacts have their whole reach.
struct TissueMotion {
  std::span<const Embedding> embedding;  // [vertex]
  std::span<const glm::vec3> velocity;   // [node] m/s
  double dt = 0.0;                       // s, the length of the substep
  std::span<const Dent> dents = {};      // [tool] of the tissue, unchanged until the contacts are made; empty: none
};

// The faces around each vertex.
struct FacesAround {
  std::vector<std::uint32_t> first;  // [vertex + 1]
  std::vector<FaceId> face;          // ascending for each vertex
};
FacesAround faces_around(std::span<const glm::uvec3> faces, std::size_t vertices);

// Where the axis or the polytope of a tool comes closest to a point, an edge or a face of the tissue.
struct ToolTissue {
  glm::dvec3 on_tool, on_tissue;  // m
  double distance;                // m, without the tool's radius
  double along = 0.0;             // 1, of an edge: where on_tissue lies between its ends
};

// What a candidate face is to a tool in a contact substep.
struct CandidateMeeting {
  bool meets = false, pierces = false;  // meets: it gets contacts; pierces: the polytope goes far beyond it
  glm::dvec3 point, normal;             // m, 1: on the face, from tissue to tool
  double distance = 0.0;                // m, from the axis or polytope
};

// A candidate face that gets contacts, with its corners and edges; those without a contact have an infinite distance.
struct ChosenFace {
  std::uint32_t candidate, tool;
  bool smooth;
  std::array<ToolTissue, 3> corner, edge;
};

// What thin_contacts() keeps between frames, so that it does not allocate.
struct ThinningScratch {
  std::vector<std::uint32_t> order, kept, next, slot;
  std::vector<glm::vec3> point;
};

// Returns the point of a contact. positions: [vertex] of the surface.
inline glm::vec3 contact_position(const TissueContact& c, std::span<const glm::vec3> positions) {
  return (1.f - c.u - c.v) * positions[c.vertex] + c.u * positions[c.second] + c.v * positions[c.third];
}

// The force of the contacts of one face.
struct FaceLoad {
  std::uint32_t slot;
  glm::vec3 point;  // m, where it acts
  float force;      // N
};

// Contacts of all tools with one organ. Keep the object between frames: it stores the faces near each tool.
struct ContactList {
  ContactParams params;
  std::vector<TissueContact> contacts;  // [contact] by tool
  std::vector<FaceId> face_of;          // [contact] the face that caused it
  std::vector<float> gap;               // [contact] m, from the tool at the end of the substep when it was added
  std::vector<std::uint32_t> first{0};  // [tool + 1] contacts of tool k are first[k] .. first[k + 1]

  // Faces that each tool may touch in this frame, and those that were near it in the previous frame. [tool + 1]
  std::vector<FaceId> candidates, near;
  std::vector<std::uint32_t> first_candidate{0}, first_near{0};
  TissueMotion motion;                                              // of the present contact substep
  std::vector<CandidateMeeting> meetings;                           // [candidate] in the present contact substep
  std::vector<ChosenFace> chosen;                                   // by tool
  std::vector<std::uint32_t> first_chosen{0};                       // [tool + 1]
  std::vector<std::uint32_t> seen_face, added_vertex, held_vertex;  // [face], [vertex] the latest round it was used in
  std::uint32_t round = 0;
  ThinningScratch thinning;
  std::vector<FaceLoad> loads;  // of the present contact substep, for damage
  // Faces that had a contact with a part in the present and in the previous contact substep. [contact] tool, face
  std::vector<std::uint64_t> met, met_before;
  // [tool] 1: in the present contact substep, a face crosses the polytope of the tool, a part
  std::vector<std::uint8_t> pierced;

  // Returns whether the tool, a part, was in contact with this face.
  bool was_met(std::uint32_t tool, FaceId face) const;
  bool has_candidates(std::size_t tool) const {
    return tool + 1 < first_candidate.size() && first_candidate[tool] < first_candidate[tool + 1];
  }
  void add(const TissueContact& contact, double distance) {
    contacts.push_back(contact);
    gap.push_back(static_cast<float>(distance));
  }
  // Returns the face as a tool meets it: against its dent.
  Triangle met_by(std::size_t tool, const glm::uvec3& corners, std::span<const glm::vec3> positions) const;
  // Returns the index of the tool whose contacts are being added.
  std::uint32_t tool() const { return static_cast<std::uint32_t>(first.size() - 1); }
  // Makes room for this number of contacts and candidates.
  void reserve(std::size_t contacts);
  // Call when face numbers have changed: resets the list, except for the parameters.
  void forget();
};

// Call begin_candidates once a frame, with the dents of the tissue, then add_candidates for each tool in order. They
// start from the touched faces of a query (`touches[tool]`, exact) and the faces near in the previous frame, and spread
// over neighbours to all faces within `candidate_reach` of the tool's motion. They allocate only when there are more
// candidates than ever before.
void begin_candidates(ContactList& list, std::span<const Dent> dents = {});
void add_candidates(const ToolStep& step, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                    const FacesAround& around, std::span<const glm::vec3> positions, ContactList& list);

// Call begin_contacts once for each contact substep, then add_contacts for each tool in order. Every candidate face
// that the tool touches in this substep, or that is within reach of it at the end, gets contacts: at its point closest
// to the tool (the point of first touch when the tool has passed the face), at its corners and along its edges. Faces
// whose vertices are all in `held` are skipped: they are between the tool's jaws. Contacts of faces with some vertices
// in `held` are smooth: the holds carry the friction.
void begin_contacts(ContactList& list, const TissueMotion& motion = {});
void add_contacts(const ToolStep& piece, std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions,
                  ContactList& list, std::span<const std::uint32_t> held = {});

// Returns the number of contact substeps in a frame with contact: in one substep no shaft moves further than half its
// radius, with at least `least_substeps` and at most `most_substeps` of them, and no part with candidates further than
// 0.4 mm, with at most 48.
int piece_count(std::span<const ToolStep> steps, const ContactList& list);
// Returns the tool's motion in contact substep `number` of `count`, starting with 0.
ToolStep piece_of(const ToolStep& step, int number, int count);

// A tool during a contact substep, prepared for many faces. The step must outlive it.
class PressingTool {
 public:
  explicit PressingTool(const ToolStep& step);

  double radius() const { return radius_; }
  bool is_part() const { return step_.part.shape != nullptr; }
  // Closest points in the pose at the end of the substep. Of a part further away than `range`, `distance` may be any
  // lower bound above `range`, and the points are then not the closest ones.
  ToolTissue closest(const glm::dvec3& point, double range) const;
  ToolTissue closest(const glm::dvec3& edge_from, const glm::dvec3& edge_to, double range) const;
  ToolTissue closest(const Triangle& face, double range) const;
  // Can the face come within `range` of the tool's surface during the substep? Conservative.
  bool may_touch(const Triangle& face, double range) const;
  // Is the point certainly not within `range` of the axis or polytope in the pose at the end? Cheap; false for a shaft.
  bool is_beyond(const glm::dvec3& point, double range) const;
  // Returns the distance of closest(face) beyond which the face is not within `reach` of the tool's surface at the end,
  // nor can have been touched.
  double contact_range(double reach) const;
  // Can the tool have touched, during the substep, a face at this distance of closest(face)? Conservative.
  bool may_have_touched(double distance) const;
  // Is a part, wherever it touched the face during the substep, in a direction whose cosine with `normal` is at least
  // this? `normal` and `distance` are those of closest(face). Conservative; false for a shaft.
  bool faces_all_along(const Triangle& face, const glm::dvec3& normal, double distance, double cosine) const;
  // Returns how far a part's polytope goes behind the plane of a face in the pose at the end, m.
  double depth_behind(const Triangle& face) const;
  // As refine_touch(), without the depth.
  bool touches(const Triangle& face, Touch& touch) const;

 private:
  const ToolStep& step_;
  double radius_, moved_;            // m
  PartSweep sweep_;                  // of a part
  RigidFrame frame_;                 // of a part in the pose at the end
  glm::dvec3 low_{0.0}, high_{0.0};  // m, box of its corners there, in this frame
};

// add_contacts in parts, so that threads share the faces of an organ. After begin_contacts call meet_candidates for all
// candidates of all tools (`first` .. `last` - 1 of `tool` at a time, in any order), then choose_faces or, for a tool
// that meets no resistance, choose_no_faces for each tool in order, then meet_chosen for all of ContactList::chosen (in
// any order), then list_contacts for each tool in order. Calls of meet_candidates and meet_chosen for different
// faces change no common data.
void meet_candidates(const PressingTool& pressing, std::span<const glm::uvec3> faces,
                     std::span<const glm::vec3> positions, std::size_t tool, std::size_t first, std::size_t last,
                     ContactList& list);
void choose_faces(const PressingTool& pressing, std::size_t tool, std::span<const glm::uvec3> faces,
                  std::span<const glm::vec3> positions, ContactList& list, std::span<const std::uint32_t> held = {});
void choose_no_faces(ContactList& list);
void meet_chosen(const PressingTool& pressing, std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions,
                 std::size_t first, std::size_t last, ContactList& list);
void list_contacts(const PressingTool& pressing, std::span<const glm::uvec3> faces,
                   std::span<const glm::vec3> positions, ContactList& list);

// Thins the contacts of a tool in a contact substep. Faces that share their closest point give the same contact several
// times. In a cut or a crater, or along a shaft that has sunk in, hundreds of points lie on the same few nodes of the
// lattice.

// A contact is removed when one with a smaller gap is within this distance and has nearly the same normal.
constexpr float kSameContact = 1e-6f;       // m
constexpr float kSameContactNormal = 0.9f;  // cosine
// While more than `many` remain, they are thinned again, with kContactSpacing and then twice as far each time. A shaft
// presses along its length; fewer points there would change its force by steps.
constexpr std::size_t kManyContacts = 80, kManyOfAShaft = 250;
constexpr float kContactSpacing = 5e-4f, kWidestSpacing = 4e-3f;  // m

// Thins the contacts from index `first` on, which are those of one tool. The remaining ones keep their order.
void thin_contacts(std::size_t first, std::span<const glm::vec3> positions, ContactList& list,
                   std::size_t many = kManyContacts);

// The damage of each face of an organ: its peak pressure, the time integral of its pressure, and whether it was burnt,
// torn, crushed or cut. The pressure at a face is a mean over a patch around its contact, of the size of a tool's
// cross-section (ContactParams::patch_area): the same press gives nearly the same pressure on coarse and fine meshes.

enum DamageMark : std::uint8_t { kBurnt = 1, kTorn = 2, kCrushed = 4, kSnipped = 8 };

struct TissueDamage {
  std::vector<float> peak;          // [face id] Pa
  std::vector<float> integral;      // [face id] Pa s
  std::vector<std::uint8_t> marks;  // [face id] of DamageMark

  void resize(std::size_t faces) { peak.resize(faces), integral.resize(faces), marks.resize(faces); }
  void mark(std::span<const FaceId> faces, DamageMark how) {
    for (const FaceId face : faces) marks[index(face)] |= how;
  }
};

// Returns the pressure at a point, Pa: each force counts 2 (1 - d^2 / r^2) / area, where d is its distance and r the
// radius of a disc of this area. Forces spread evenly over a flat patch wider than the disc give their pressure, a
// single one twice its share.
float patch_pressure(std::span<const FaceLoad> loads, const glm::vec3& at, float area);

// Adds the damage of a step of `dt` seconds; call it after the step. `ids`: [slot] face ids; the contacts refer to
// slots. `pressure`: [slot] of this step, Pa; it must be zero before the call, which sets it for the faces in contact.
// `damage` must have an entry for every id. Uses the scratch of the list.
void add_contact_damage(ContactList& list, const SteppedTissue& state, std::span<const FaceId> ids,
                        std::span<const glm::vec3> positions, float dt, std::span<float> pressure,
                        TissueDamage& damage);

// Resets the pressure of the faces in contact to zero.
void clear_pressure(const ContactList& list, std::span<float> pressure);

}  // namespace trocar
