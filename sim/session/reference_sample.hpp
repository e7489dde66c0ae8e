// Compares a seeded sample of faces with the double reference (cpu_collision/reference.hpp) in every frame. This
// complements the check of one backend by another: backends share the refinement, and with it a fault of the
// refinement. At least one face a frame is compared, more within a time budget. Every other face is a culled one
// (reported untouched): at the border of the touched region, or nearest to the tool where it touches nothing. The
// record of a touched face is checked, too.
// Units: metres; times in milliseconds.   Tested in tests/sim/reference_sample_test.cpp
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deform/contact/contact.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

struct ReferenceSampleParams {
  std::uint64_t seed = 1999;
  double budget_ms = 0.04;        // ms  per frame, for the faces after the first
  std::uint32_t most_faces = 32;  // 1   per frame
};

struct SampleCount {
  std::uint64_t faces = 0;          // compared with the reference
  std::uint64_t culled = 0;         // of these, reported untouched
  std::uint64_t of = 0;             // number of all answers: faces times tools, tips included
  std::uint64_t borderline = 0;     // differ from the reference within the band of docs/method.md
  std::uint64_t disagreements = 0;  // differ beyond it, or have an impossible record
};

// One answer of a backend: one organ, one tool, set `Exact`.
struct SampledAnswer {
  MeshView mesh;
  const FacesAround& around;
  const ToolVolume& tool;
  std::span<const Touch> touches;  // sorted by face
};

// Samples faces and compares them. No function throws; only the constructor allocates.
class ReferenceSample {
 public:
  // Prepares the sample. `answers`: number of organs times number of tools.
  explicit ReferenceSample(std::size_t answers = 0, const ReferenceSampleParams& params = {});

  // Starts a frame. `of`: as in SampleCount, of this frame. `more`: there is time for more than one face.
  void open_frame(std::uint64_t of, bool more);
  bool wants_more() const;
  // Returns a random number below `count` (> 0), for the choice of an answer.
  std::uint32_t pick(std::uint32_t count);
  // Compares one face of the answer with the reference, if the organ has any face.
  void hold(std::size_t answer, const SampledAnswer& asked);

  const SampleCount& now() const { return now_; }      // in this frame
  const SampleCount& total() const { return total_; }  // this frame included

 private:
  using Clock = std::chrono::steady_clock;

  std::uint32_t nearest_vertex(std::size_t answer, const SampledAnswer& asked);
  std::optional<std::uint32_t> culled_at(std::uint32_t vertex, const SampledAnswer& asked);
  std::optional<std::uint32_t> culled_face(std::size_t answer, const SampledAnswer& asked);
  void compare_face(std::uint32_t face, const SampledAnswer& asked);

  ReferenceSampleParams params_;
  std::uint64_t state_;
  std::vector<std::uint32_t> near_;  // [answer] the vertex nearest to the tool in the last search
  SampleCount now_, total_;
  Clock::time_point start_;
  bool more_ = true, culled_next_ = false;
};

// Returns whether the record of a touched face is consistent: the point lies on the face and within the radius of the
// shaft at its time; at an earlier time the face is farther away; the depth leads to the surface of the end pose.
// `earlier`: fraction of the time at which the earlier distance is tested, [0, 1).
bool sound_record(const ToolStep& step, const Triangle& face, const Touch& touch, double earlier);

}  // namespace trocar
