// Collects the answer of one call of a touch query, tool by tool, and turns candidate faces into touches: the last step
// of every backend. Keeps its storage: allocates only for more touches than in all earlier calls.
// Tested in tests/geometry/touch_book_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/held_bytes.hpp"
#include "geometry/refine.hpp"

namespace trocar {

class TouchBook {
 public:
  void reserve(std::size_t touches) { touches_.reserve(touches); }

  // Starts a new call, without tools.
  void open() {
    touches_.clear();
    first_.assign(1, 0);
  }

  // Appends a tool. `faces` are sorted, each once: for the volume set the answer itself, for the exact set every face
  // that may be touched. `surface`: the mesh, or the corners of each of `faces`.
  template <class Surface>
  void add_tool(const ToolVolume& tool, TouchSet set, const Surface& surface, std::span<const FaceId> faces) {
    const std::size_t before = touches_.size();
    touches_.resize(before + faces.size());
    const std::span<Touch> added = std::span(touches_).subspan(before);
    if (set == TouchSet::Exact) {
      touches_.resize(before + refine_touches(tool.step, surface, faces, added));
    } else {
      for (std::size_t k = 0; k < added.size(); ++k) added[k] = {.face = faces[k]};
    }
    first_.push_back(static_cast<std::uint32_t>(touches_.size()));
  }

  // Appends tools without touches up to this number of tools.
  void pad(std::size_t tools) {
    while (first_.size() < tools + 1) first_.push_back(first_.back());
  }

  // Returns an answer without touches.
  TouchList none(std::size_t tools) {
    open();
    pad(tools);
    return list();
  }

  TouchList list() const { return {touches_, first_}; }
  std::size_t memory_bytes() const { return held_bytes(touches_, first_); }

 private:
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_{0};  // [tool + 1]
};

}  // namespace trocar
