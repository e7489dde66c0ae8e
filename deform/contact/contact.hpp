// Converts the result of a touch query into contacts of the tissue, which keep every touched face out of the tool.
// Units: metres, world frame.   Tested in tests/deform/contact_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deform/solid/tissue.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

struct ContactParams {
  // Points within this distance of a tool get a contact, because tissue may come that much nearer in a contact substep.
  double reach = 2e-3;  // m, > 0
  // Faces within this distance of a tool's path in a frame are candidates in every contact substep: pressed tissue can
  // snap past a tool much faster than the tool moves.
  double candidate_reach = 6e-3;              // m, >= reach
  int least_substeps = 4, most_substeps = 8;  // 1  contact substeps of a frame with contact, >= 1, least <= most
  float patch_area = 2e-5f;                   // m^2  pressure is a mean over a patch of this area (damage.hpp), > 0
};

// The faces around each vertex.
struct FacesAround {
  std::vector<std::uint32_t> first;  // [vertex + 1]
  std::vector<FaceId> face;          // ascending for each vertex
};
FacesAround faces_around(std::span<const glm::uvec3> faces, std::size_t vertices);

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
  std::vector<std::uint32_t> seen_face, added_vertex, held_vertex;  // [face], [vertex] the latest round it was used in
  std::uint32_t round = 0;
  ThinningScratch thinning;
  std::vector<FaceLoad> loads;  // of the present contact substep, for damage
  // Faces that had a contact with a part in the present and in the previous contact substep. [contact] tool, face
  std::vector<std::uint64_t> met, met_before;
  // [tool] 1: in the present contact substep, a face crosses the polytope of the tool, a part
  std::vector<std::uint8_t> pierced;

  // Returns whether the tool whose contacts are being added, a part, was in contact with this face.
  bool was_met(FaceId face) const;
  bool has_candidates(std::size_t tool) const {
    return tool + 1 < first_candidate.size() && first_candidate[tool] < first_candidate[tool + 1];
  }
  void add(const TissueContact& contact, double distance) {
    contacts.push_back(contact);
    gap.push_back(static_cast<float>(distance));
  }
  // Returns the index of the tool whose contacts are being added.
  std::uint32_t tool() const { return static_cast<std::uint32_t>(first.size() - 1); }
  // Makes room for this number of contacts and candidates.
  void reserve(std::size_t contacts);
  // Call when face numbers have changed: resets the list, except for the parameters.
  void forget();
};

// Call begin_candidates once a frame, then add_candidates for each tool in order. They start from the touched faces of
// a query (`touches[tool]`, exact) and the faces near in the previous frame, and spread over neighbours to all faces
// within `candidate_reach` of the tool's motion. They allocate only when there are more candidates than ever before.
void begin_candidates(ContactList& list);
void add_candidates(const ToolStep& step, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                    const FacesAround& around, std::span<const glm::vec3> positions, ContactList& list);

// Call begin_contacts once for each contact substep, then add_contacts for each tool in order. Every candidate face
// that the tool touches in this substep, or that is within `reach` of it at the end, gets contacts: at its point
// closest to the tool (the point of first touch when the tool has passed the face), at its corners and along its edges.
// Faces whose vertices are all in `held` are skipped: they are between the tool's jaws. Contacts of faces with some
// vertices in `held` are smooth: the holds carry the friction.
void begin_contacts(ContactList& list);
void add_contacts(const ToolStep& piece, std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions,
                  ContactList& list, std::span<const std::uint32_t> held = {});

// Call instead of add_contacts for a tool that meets no resistance.
void add_no_contacts(ContactList& list);

// Returns the number of contact substeps in a frame with contact: in one substep no shaft moves further than half its
// radius, with at least `least_substeps` and at most `most_substeps` of them, and no part with candidates further than
// 0.6 mm, with at most 32.
int piece_count(std::span<const ToolStep> steps, const ContactList& list);
// Returns the tool's motion in contact substep `number` of `count`, starting with 0.
ToolStep piece_of(const ToolStep& step, int number, int count);

}  // namespace trocar
