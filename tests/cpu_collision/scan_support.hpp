// Makes tools and meshes for the scan's tests. Units: metres.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <random>
#include <string>
#include <vector>

#include "cpu_collision/scan.hpp"
#include "geometry/tool_volume.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::test {

class ScanDice {
 public:
  explicit ScanDice(std::uint32_t seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine_); }
  glm::dvec3 in_cube(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }

 private:
  std::mt19937 engine_;
};

// Returns a tool that enters the cube of side 0.2 m around the origin from outside and moves by up to `motion` metres.
inline ToolStep random_step(ScanDice& dice, double motion = 0.02) {
  ToolStep step;
  step.pivot = dice.in_cube(0.3), step.tip_before = dice.in_cube(0.1);
  step.tip_after = step.tip_before + dice.in_cube(motion), step.radius = dice.uniform(0.0005, 0.006);
  return step;
}

inline ToolVolume random_tool(ScanDice& dice) {
  const ToolStep step = random_step(dice);
  const auto kind = dice.pick(4);
  if (kind == 0) return static_volume({step.pivot, step.tip_after, step.radius});
  if (kind == 1) return swept_volume(step, Cover::Paper);
  return swept_volume(step, Cover::Capsule);
}

// Returns any number of planes in any direction, from none (all of space) to the maximum of a volume.
inline ToolVolume random_planes(ScanDice& dice, int count) {
  ToolVolume tool;
  tool.plane_count = count;
  for (int p = 0; p < count; ++p) {
    const glm::dvec3 normal = glm::normalize(dice.in_cube(1.0) + glm::dvec3(1e-3));
    tool.planes[p] = glm::vec4(glm::vec3(normal), float(dice.uniform(-0.02, 0.05)));
  }
  return tool;
}

// Moves every vertex by up to `most` along each axis.
inline std::vector<glm::vec3> moved(std::vector<glm::vec3> positions, ScanDice& dice, double most) {
  for (glm::vec3& position : positions) position += glm::vec3(dice.in_cube(most));
  return positions;
}

inline std::vector<const ScanKernels*> all_kernels() {
  std::vector<const ScanKernels*> kernels{&plain_scan_kernels()};
  for (const ScanKernels* fast : {avx2_scan_kernels(), avx512_scan_kernels()})
    if (fast) kernels.push_back(fast);
  return kernels;
}

inline std::vector<std::uint32_t> face_numbers(std::span<const Touch> touches) {
  std::vector<std::uint32_t> numbers;
  for (const Touch& touch : touches) numbers.push_back(index(touch.face));
  return numbers;
}

inline std::vector<std::uint32_t> face_numbers(const std::vector<FaceId>& faces) {
  std::vector<std::uint32_t> numbers;
  for (const FaceId face : faces) numbers.push_back(index(face));
  return numbers;
}

}  // namespace trocar::test
