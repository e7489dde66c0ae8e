#include "sim/session/part_touches.hpp"

#include <algorithm>

namespace trocar {
namespace {

// Appends the touches of one part, `first` .. `last` of the answer.
void add_part(const TouchList& answer, std::uint32_t first, std::uint32_t last, std::uint8_t part, PartTouches& out) {
  const auto begin = static_cast<std::ptrdiff_t>(out.touches.size());
  const auto given = answer.touches.subspan(first, last - first);
  out.touches.insert(out.touches.end(), given.begin(), given.end());
  const auto of_part = out.touches.begin() + begin;
  const auto before = [](const Touch& a, const Touch& b) {
    return a.face != b.face ? a.face < b.face : a.time < b.time;
  };
  if (!std::is_sorted(of_part, out.touches.end(), before)) std::sort(of_part, out.touches.end(), before);
  const auto same = [](const Touch& a, const Touch& b) { return a.face == b.face; };
  out.touches.erase(std::unique(of_part, out.touches.end(), same), out.touches.end());
  out.part.resize(out.touches.size(), part);
}

}  // namespace

void add_tool(std::size_t parts, PartTable& table) {
  if (table.first.empty()) table.first.push_back(0);
  table.tool.insert(table.tool.end(), parts, static_cast<std::uint32_t>(table.first.size() - 1));
  table.first.push_back(static_cast<std::uint32_t>(table.tool.size()));
}

void PartTouches::clear() {
  touches.clear();
  part.clear();
  part_first.clear();
  tool_first.clear();
}

void collect(const TouchList& answer, const FrameVolumes& frame, PartTouches& out) {
  out.clear();
  out.part_first.push_back(0);
  std::size_t volume = 0;
  for (std::uint32_t part = 0; part < frame.parts.size(); ++part) {
    const std::uint32_t first = answer.first[volume];
    while (volume < frame.volumes.size() && frame.part_of_volume[volume] == part) ++volume;
    const std::uint32_t first_of_tool = frame.parts.first[frame.parts.tool[part]];
    add_part(answer, first, answer.first[volume], static_cast<std::uint8_t>(part - first_of_tool), out);
    out.part_first.push_back(static_cast<std::uint32_t>(out.touches.size()));
  }
  for (const std::uint32_t part : frame.parts.first) out.tool_first.push_back(out.part_first[part]);
}

void find_tip_faces(const PartTouches& touches, const PartTable& parts, std::vector<FaceId>& faces,
                    std::vector<std::uint32_t>& first) {
  faces.clear();
  first.assign(1, 0);
  for (std::size_t tool = 0; tool + 1 < parts.first.size(); ++tool) {
    const auto begin = static_cast<std::ptrdiff_t>(faces.size());
    const bool only_shaft = parts.first[tool + 1] == parts.first[tool] + 1;
    const std::uint32_t from = touches.part_first[parts.first[tool] + (only_shaft ? 0 : 1)];
    for (std::uint32_t i = from; i < touches.tool_first[tool + 1]; ++i) faces.push_back(touches.touches[i].face);
    std::sort(faces.begin() + begin, faces.end());
    faces.erase(std::unique(faces.begin() + begin, faces.end()), faces.end());
    first.push_back(static_cast<std::uint32_t>(faces.size()));
  }
}

}  // namespace trocar
