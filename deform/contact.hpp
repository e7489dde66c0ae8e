// From what a touch query found to what the tissue must do: every touched face is kept out of the tool.
// Units: metres, world frame.   Tested in tests/deform/contact_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deform/tissue.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// Points this near to a tool are kept out of it: tissue may come so near within a piece of a step.
constexpr double kContactReach = 2e-3;  // m

// Faces this near to where a tool goes in a step are looked at in every piece of the step: pressed tissue can snap past
// a tool much faster than the tool moves.
constexpr double kCandidateReach = 6e-3;  // m

// Which faces meet at each vertex.
struct FacesAround {
  std::vector<std::uint32_t> first;  // [vertex + 1]
  std::vector<FaceId> face;          // ascending for each vertex
};
FacesAround faces_around(std::span<const glm::uvec3> faces, std::size_t vertices);

// Contacts of all tools with one organ. Keep one between frames: it remembers the faces each tool was near to.
struct ContactList {
  std::vector<TissueContact> contacts;  // [contact] by tool
  std::vector<FaceId> face_of;          // [contact] the face it was added for
  std::vector<std::uint32_t> first{0};  // [tool + 1] contacts of tool k are first[k] .. first[k + 1]

  // Faces that each tool may come to touch in this frame, and those it was near in the frame before. [tool + 1]
  std::vector<FaceId> candidates, near;
  std::vector<std::uint32_t> first_candidate{0}, first_near{0};
  std::vector<std::uint32_t> seen_face, added_vertex, held_vertex;  // [face], [vertex] the last round it was met in
  std::uint32_t round = 0;

  // The tool whose contacts are being added.
  std::uint32_t tool() const { return static_cast<std::uint32_t>(first.size() - 1); }
  // After faces got other numbers: forgets who was near and what was added.
  void forget();
};

// Once a frame, for all tools in their order: from the faces a query found touched (`touches[tool]`, exact) and those
// near in the frame before, through neighbours, to all within kCandidateReach of where the tool goes. Allocates only
// while it has not yet seen so many.
void begin_candidates(ContactList& list);
void add_candidates(const ToolStep& step, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                    const FacesAround& around, std::span<const glm::vec3> positions, ContactList& list);

// Once for each piece of the frame, for all tools in their order: every candidate face the tool touches in this piece,
// or is within kContactReach of at its end, is kept out at its point closest to the tool (when the tool has passed the
// face, at the point of first touch), at its corners and along its edges. Faces at a vertex of `held` are left out:
// they are between the tool's jaws.
void begin_contacts(ContactList& list);
void add_contacts(const ToolStep& piece, std::span<const glm::uvec3> faces, std::span<const glm::vec3> positions,
                  ContactList& list, std::span<const std::uint32_t> held = {});

// Pieces that a frame of contact is cut into: so many that no tool moves further than half its radius in one, at least
// kLeastPieces when any candidate is there, at most kMostPieces.
constexpr int kLeastPieces = 4, kMostPieces = 8;
int piece_count(std::span<const ToolStep> steps, const ContactList& list);
// Piece `number` of `count`, 0 the first.
ToolStep piece_of(const ToolStep& step, int number, int count);

}  // namespace trocar
