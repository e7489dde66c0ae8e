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

// The surface is left this deep inside the tool, so that the next query still sees the touch and the tissue does not
// spring back into an instrument that has not moved. At most a tenth of the tool's radius.
constexpr double kContactSlack = 1e-4;  // m

// A face that left the tool stays in the list while it is this near: it may spring back into the tool within a step.
constexpr double kContactReach = 2e-3;  // m

// Contacts of all tools with one organ. Keep one between frames: it remembers the faces each tool was near to.
struct ContactList {
  std::vector<TissueContact> contacts;  // [contact] by tool
  std::vector<std::uint32_t> first{0};  // [tool + 1] contacts of tool k are first[k] .. first[k + 1]

  // Of this frame and the one before: faces in reach, [tool + 1] where each tool's begin.
  std::vector<FaceId> near, near_before;
  std::vector<std::uint32_t> near_first{0}, near_first_before{0};
  std::vector<std::uint32_t> added_for;  // [vertex] 1 + the last tool it was added for, counted over all frames
  std::uint32_t tools_added = 0;

  // Begins a frame. Tools must be added in the same order in every frame. Holds on to the memory.
  void begin_frame();
};

// Appends the contacts of one tool: one for each face it touched or is still near, at the face's point closest to the
// tool's end pose; when the tool has passed or pierced the face, at the point and along the normal of first touch. A
// contact's share in each corner is its weight there, so a tip between vertices is kept out like one on a vertex.
// `touches` (sorted, exact), `faces` and `positions` are the query's. Allocates only while it has not yet seen so many.
void contacts_from_touches(const ToolStep& step, std::span<const Touch> touches, std::span<const glm::uvec3> faces,
                           std::span<const glm::vec3> positions, ContactList& out);

}  // namespace trocar
