#include "bench/gpu_kit/wobbling_organ.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace trocar::bench {
namespace {

constexpr int kFrames = 16;                          // 1
constexpr glm::vec3 kHalfSize{0.14f, 0.08f, 0.05f};  // m    of the organ
constexpr float kWobble = 0.006f;                    // m    of each coordinate
constexpr float kWave = 40.f;                        // 1/m
constexpr double kRadius = 0.0025;                   // m    of a tool
constexpr double kTurn = 2.0 * std::numbers::pi;

ToolVolume tool_at(double phase, int tool) {
  const glm::dvec3 pivot(0.1 * tool, 0.2, 0.1);
  const glm::dvec3 tip(0.1 * std::cos(phase + tool), 0.01 * std::sin(phase), 0.0);
  return swept_volume({pivot, tip, tip + glm::dvec3(0.002, 0.001, 0.0), kRadius}, Cover::Capsule);
}

}  // namespace

TriangleMesh make_ellipsoid(std::size_t faces) {
  const auto rings = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(faces) / 4.0)), around = 2 * rings;
  TriangleMesh mesh;
  for (std::uint32_t ring = 0; ring <= rings; ++ring) {
    const double polar = std::numbers::pi * (ring + 0.5) / (rings + 1);
    for (std::uint32_t i = 0; i < around; ++i) {
      const double turn = kTurn * i / around;
      mesh.positions.push_back(
          kHalfSize * glm::vec3(std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn), std::cos(polar)));
    }
  }
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    for (std::uint32_t i = 0; i < around; ++i) {
      const std::uint32_t a = ring * around + i, b = ring * around + (i + 1) % around;
      mesh.faces.push_back({a, a + around, b});
      mesh.faces.push_back({b, a + around, b + around});
    }
  }
  return mesh;
}

std::vector<WobbleFrame> make_wobble_frames(const TriangleMesh& mesh, int tools) {
  std::vector<WobbleFrame> frames(kFrames);
  for (int f = 0; f < kFrames; ++f) {
    const double phase = kTurn * f / kFrames;
    frames[f].positions.reserve(mesh.positions.size());
    for (const glm::vec3& p : mesh.positions)
      frames[f].positions.push_back(p +
                                    kWobble * glm::sin(kWave * glm::vec3(p.y, p.z, p.x) + static_cast<float>(phase)));
    for (int tool = 0; tool < tools; ++tool) frames[f].tools.push_back(tool_at(phase, tool));
  }
  return frames;
}

}  // namespace trocar::bench
