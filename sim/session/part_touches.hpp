// Numbers the parts of all instruments of a session and collects the touches of each part from the answers about its
// volumes.   Tested in tests/sim/instrument_body_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// The parts of all instruments, numbered in the order of the instruments; each instrument's first part is its shaft.
struct PartTable {
  std::vector<std::uint32_t> tool;   // [part]
  std::vector<std::uint32_t> first;  // [tool + 1] parts of tool k are first[k] .. first[k + 1]

  std::size_t size() const { return tool.size(); }
};

// Appends an instrument with this number of parts.
void add_tool(std::size_t parts, PartTable& table);

// The volumes of a frame and the parts that they cover.
struct FrameVolumes {
  std::span<const ToolVolume> volumes;            // sorted by part
  std::span<const std::uint32_t> part_of_volume;  // [volume]
  const PartTable& parts;
};

// The touches of each part: those of its volumes, each face once, at its first contact. Sorted by part, then face.
struct PartTouches {
  std::vector<Touch> touches;
  std::vector<std::uint8_t> part;                     // [touch] number of the part within its tool
  std::vector<std::uint32_t> part_first, tool_first;  // [part + 1], [tool + 1] offsets into the touches

  void clear();
};

// Collects the touches from an answer about `frame`. Allocates only for more touches than ever before.
void collect(const TouchList& answer, const FrameVolumes& frame, PartTouches& out);

// Lists the faces that any part of a tool except its shaft touches, sorted by tool, then face, each once; of a tool
// with one part, all its faces. `first`: [tool + 1] offset of each tool's faces.
void find_tip_faces(const PartTouches& touches, const PartTable& parts, std::vector<FaceId>& faces,
                    std::vector<std::uint32_t>& first);

}  // namespace trocar
