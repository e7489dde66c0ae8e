// A seeded sample of faces, held in every frame against the double reference (cpu_collision/reference.hpp): the net
// under the check of two backends, which share the refinement and with it a fault of the refinement. At least one face
// a frame, more within a budget of time. Of every two faces one is culled (reported untouched): at the border of what
// the tool touches, or nearest to the tool where it touches nothing. A touched face's record is held, too.
// Units: metres; times in milliseconds.   Tested in tests/app/reference_sample_test.cpp
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deform/contact.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

struct ReferenceSampleParams {
  std::uint64_t seed = 1999;
  double budget_ms = 0.04;        // ms  for the faces of a frame after the first
  std::uint32_t most_faces = 32;  // 1   in a frame
};

struct SampleCount {
  std::uint64_t faces = 0;          // held against the reference
  std::uint64_t culled = 0;         // of these, reported untouched
  std::uint64_t of = 0;             // answers that there were: faces times tools, tips included
  std::uint64_t borderline = 0;     // within the band of docs/method.md, told otherwise than by the reference
  std::uint64_t disagreements = 0;  // beyond it, or with a record that cannot be
};

// What is asked about: one organ, one tool, set `Exact`.
struct SampledAnswer {
  MeshView mesh;
  const FacesAround& around;
  const ToolVolume& tool;
  std::span<const Touch> touches;  // sorted by face
};

// No function throws; none allocates but the constructor.
class ReferenceSample {
 public:
  // `answers`: how many organs times tools there are.
  explicit ReferenceSample(std::size_t answers = 0, const ReferenceSampleParams& params = {});

  // `of`: as in SampleCount, of this frame. `more`: whether there is time for more than the one face.
  void open_frame(std::uint64_t of, bool more);
  bool wants_more() const;
  // A number below `count`, > 0, for the choice of an answer.
  std::uint32_t pick(std::uint32_t count);
  // Holds one face of the answer, if the organ has any.
  void hold(std::size_t answer, const SampledAnswer& asked);

  const SampleCount& now() const { return now_; }      // in this frame
  const SampleCount& total() const { return total_; }  // this frame included

 private:
  using Clock = std::chrono::steady_clock;

  std::uint32_t nearest_vertex(std::size_t answer, const SampledAnswer& asked);
  std::optional<std::uint32_t> culled_at(std::uint32_t vertex, const SampledAnswer& asked);
  std::optional<std::uint32_t> culled_face(std::size_t answer, const SampledAnswer& asked);
  void judge_face(std::uint32_t face, const SampledAnswer& asked);

  ReferenceSampleParams params_;
  std::uint64_t state_;
  std::vector<std::uint32_t> near_;  // [answer] the vertex that was nearest to the tool
  SampleCount now_, total_;
  Clock::time_point start_;
  bool more_ = true, culled_next_ = false;
};

// Whether the record of a touched face can be: the point on the face, within the radius of the shaft at its time, no
// earlier time that would do, the depth up to the end pose. `earlier`: share of the time at which to look, [0, 1).
bool sound_record(const ToolStep& step, const Triangle& face, const Touch& touch, double earlier);

}  // namespace trocar
