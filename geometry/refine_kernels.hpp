// Declares the kernels of refine_touches, which refine four faces at once. They use plain C++ vectors, compiled once
// for any processor and once for AVX2; both give the same bits. Units: metres; time 1 = one step. Checked against
// refine_touch, the version for one face, in tests/geometry/refine_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

#include "geometry/closest.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

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

Sweep sweep_of(const ToolStep& step);
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

const RefineKernels& plain_refine_kernels();
const RefineKernels* avx2_refine_kernels();  // null where the processor has no AVX2
const RefineKernels& best_refine_kernels();

// Does the same as refine_touches with the given kernels, for the test that all kernels give the same touches.
std::size_t refine_touches_with(const RefineKernels& kernels, const ToolStep& step, std::span<const Triangle> corners,
                                std::span<const FaceId> candidates, std::span<Touch> touches);

}  // namespace trocar
