#include "app/view/tool_shape.hpp"

#include <cmath>

namespace trocar {
namespace {

constexpr double kTurn = 6.283185307179586;
constexpr int kSides = 28;

// Rings of points joined by quads; ring k + 1 lies towards +z of ring k.
struct RingMesh {
  TriangleMesh mesh;
  int sides;

  void ring(double z, double radius_x, double radius_y, double from = 0.0, double to = kTurn) {
    for (int side = 0; side < sides; ++side) {
      const double angle = from + (to - from) * side / (to - from < kTurn ? sides - 1 : sides);
      mesh.positions.emplace_back(radius_x * std::cos(angle), radius_y * std::sin(angle), z);
    }
  }

  void join() {
    const auto rings = static_cast<std::uint32_t>(mesh.positions.size()) / static_cast<std::uint32_t>(sides);
    const auto n = static_cast<std::uint32_t>(sides);
    for (std::uint32_t ring = 0; ring + 1 < rings; ++ring) {
      for (std::uint32_t side = 0; side < n; ++side) {
        const std::uint32_t a = ring * n + side, b = ring * n + (side + 1) % n;
        mesh.faces.emplace_back(a, b, b + n);
        mesh.faces.emplace_back(a, b + n, a + n);
      }
    }
  }
};

}  // namespace

TriangleMesh make_shaft(const ToolShape& shape) {
  RingMesh rings{{}, kSides};
  const double start = shape.jaw_length;
  rings.ring(start - 0.35 * shape.radius, 0.0, 0.0);
  rings.ring(start - 0.30 * shape.radius, 0.55 * shape.radius, 0.55 * shape.radius);
  rings.ring(start, shape.radius, shape.radius);
  rings.ring(start + 1e-5, shape.radius, shape.radius);
  rings.ring(shape.shaft_length - 1e-5, shape.radius, shape.radius);
  rings.ring(shape.shaft_length, shape.radius, shape.radius);
  rings.join();
  return rings.mesh;
}

TriangleMesh make_jaw(const ToolShape& shape) {
  // A half-round section that narrows towards a rounded end; the flat side is closed by the same rings.
  RingMesh rings{{}, 14};
  const auto half = [&](double z, double width, double height) { rings.ring(z, width, height, 0.0, 0.5 * kTurn); };
  const double r = shape.radius;
  half(0.0, 1e-6, 1e-6);
  half(0.04 * r, 0.25 * r, 0.18 * r);
  half(0.3 * r, 0.45 * r, 0.38 * r);
  half(0.45 * shape.jaw_length, 0.62 * r, 0.62 * r);
  half(0.9 * shape.jaw_length, 0.80 * r, 0.85 * r);
  half(shape.jaw_length, 0.80 * r, 0.85 * r);
  rings.join();
  return rings.mesh;
}

TriangleMesh make_cavity(const glm::vec3& centre, const glm::vec3& half_size) {
  RingMesh rings{{}, 96};
  constexpr int kRings = 64;
  for (int ring = 0; ring <= kRings; ++ring) {
    const double angle = 0.5 * kTurn * ring / kRings;
    rings.ring(-std::cos(angle), std::sin(angle), std::sin(angle));
  }
  rings.join();
  for (glm::vec3& position : rings.mesh.positions) position = centre + half_size * position;
  return rings.mesh;
}

}  // namespace trocar
