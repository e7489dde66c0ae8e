// Tests candidate faces exactly in double: computes the distance to the swept triangle, first-touch time, point, normal
// and depth, for one face or, with vector instructions, for four at a time. Steps of a part are passed on to part.hpp.
// Every backend uses it except the reference, which has its own code (cpu_collision/reference.hpp). Units: metres; time
// 1 = one step. Checked by sampling in tests/geometry/refine_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/closest.hpp"
#include "geometry/face_numbers.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// Returns whether `face` is within step.radius of the swept triangle. If so, fills `touch`, except `touch.face`.
bool refine_touch(const ToolStep& step, const Triangle& face, Touch& touch);

// Does the same for many candidate faces of one tool, four at a time, which is faster. Writes the touches, in the order
// of the candidates, to the front of `touches` and returns their number. `touches` must be as long as `candidates`; its
// entries after the last touch are unspecified. Does not allocate. Both spans: [candidate].
std::size_t refine_touches(const ToolStep& step, const MeshView& mesh, std::span<const FaceId> candidates,
                           std::span<Touch> touches);
// Does the same with the corners given: corners[i] belong to candidates[i].
std::size_t refine_touches(const ToolStep& step, std::span<const Triangle> corners, std::span<const FaceId> candidates,
                           std::span<Touch> touches);

// The kernels refine four faces at once. They use plain C++ vectors, compiled once for any processor and once for AVX2;
// both give the same bits.

// Tolerance of the root's distance to the radius: far below the borderline band, far above rounding error.
constexpr double kRootTolerance = 1e-10;  // m
// Below this distance the shaft crosses the face: the vector between the closest points has no reliable direction.
constexpr double kCrossing = 1e-12;  // m
// Newton's method needs 3 or 4 steps. Bisection, its safeguard, reaches double precision within this many.
constexpr int kRootSteps = 60;
// Below this squared sine between ray and shaft the ray leaves the capsule through an end sphere, not the cylinder.
constexpr double kParallelToShaft = 1e-14;

// A step, prepared once for all its faces.
struct Sweep {
  glm::dvec3 pivot, before, motion;  // before = first tip - pivot, motion = second tip - first tip
  double radius, squared_radius, distance_moved;
  closest::Segment start, end, tip_path;
  closest::Face swept;
};

Sweep sweep_of(const ToolStep& step);  // of the shaft; ignores a part
// Refines one face without vectors. The kernels give the same results.
bool refine(const Sweep& sweep, const Triangle& face, Touch& touch);

enum class Verdict : unsigned char {
  Out,
  Touched,
  Later,  // not touched at time 0: ask `during`
  Ask,    // too rare for the kernels: ask refine
};

struct FourFaces {
  Triangle faces[4];
  Touch touches[4];  // set where Touched, except `face`
  Verdict verdicts[4];
};

struct RefineKernels {
  void (*at_start)(const Sweep& sweep, FourFaces& four);  // the faces touched at time 0
  void (*during)(const Sweep& sweep, FourFaces& four);    // the faces that at_start marked Later
};

const RefineKernels& plain_refine_kernels();  // for any processor
const RefineKernels* avx2_refine_kernels();   // null where the processor has no AVX2
const RefineKernels& best_refine_kernels();   // by instructions(), with its InputError

// Does the same as refine_touches with the given kernels, for the test that all kernels give the same touches. Ignores
// a part of the step. The three spans: [candidate].
std::size_t refine_touches_with(const RefineKernels& kernels, const ToolStep& step, std::span<const Triangle> corners,
                                std::span<const FaceId> candidates, std::span<Touch> touches);

// Collects the answer of one call of a touch query, tool by tool, and turns candidate faces into touches: the last step
// of every backend. Keeps its storage: allocates only for more touches than in all earlier calls.

class TouchCollector {
 public:
  void reserve(std::size_t touches) { touches_.reserve(touches); }  // of all tools of a call

  // Starts a new call, without tools.
  void open() {
    touches_.clear();
    first_.assign(1, 0);
  }

  // Appends a tool. `faces`, [face], are sorted, each once: for the volume set the answer itself, for the exact set
  // every face that may be touched. `surface`: the mesh, or the corners of each of `faces`.
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

  TouchList list() const { return {touches_, first_}; }                      // valid until the next change
  std::size_t memory_bytes() const { return held_bytes(touches_, first_); }  // allocated

 private:
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_{0};  // [tool + 1]
};

}  // namespace trocar
