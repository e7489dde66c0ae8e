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

// A face that left the tool stays in the list while it is this near: it may spring back into the tool within a step.
constexpr double kContactReach = 2e-3;  // m

// Contacts of all tools with one organ. Keep one between frames: it remembers the faces each tool was near to.
struct ContactList {
  std::vector<TissueContact> contacts;  // [contact] by tool
  std::vector<FaceId> face_of;          // [contact] the face it was added for
  std::vector<std::uint32_t> first{0};  // [tool + 1] contacts of tool k are first[k] .. first[k + 1]

  // Of this frame and the one before: faces in reach, [tool + 1] where each tool's begin.
  std::vector<FaceId> near, near_before;
  std::vector<std::uint32_t> near_first{0}, near_first_before{0};
  std::vector<std::uint32_t> added_for;  // [vertex] 1 + the last tool it was added for, counted over all frames
  std::uint32_t tools_added = 0;

  // The tool whose contacts are being added.
  std::uint32_t tool() const { return static_cast<std::uint32_t>(first.size() - 1); }
  // Begins a frame. Tools must be added in the same order in every frame. Holds on to the memory.
  void begin_frame();
  // After faces got other numbers: forgets who was near and what was added.
  void forget();
};

// Appends the contacts of one tool. Every face it touched or is still near is kept out at its point closest to the
// tool's end pose (when the tool has passed or pierced the face, at the point of first touch), at its corners and along
// its edges. `touches` (sorted, exact), `faces` and `positions` are the query's. Allocates only while it has not yet
// seen so many.
void contacts_from_touches(const ToolStep& step, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                           std::span<const glm::vec3> positions, ContactList& out);

}  // namespace trocar
