#include "app/compare/frame_source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/elementary.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

double diagonal(const TriangleMesh& mesh) {
  if (mesh.positions.empty()) return 0.0;
  glm::dvec3 low(mesh.positions.front()), high(low);
  for (const auto& position : mesh.positions) {
    low = glm::min(low, glm::dvec3(position));
    high = glm::max(high, glm::dvec3(position));
  }
  return glm::length(high - low);
}

class MeshSource final : public FrameSource {
 public:
  MeshSource(TriangleMesh mesh, Trajectory trajectory, double radius, QueryKind kind, double wobble_fraction)
      : mesh_(std::move(mesh)),
        moved_(mesh_.positions),
        trajectory_(std::move(trajectory)),
        radius_(radius),
        kind_(kind) {
    const double size = diagonal(mesh_);
    wobble_.amplitude = wobble_fraction * size;
    wobble_.wavelength = std::max(size, std::numeric_limits<double>::min());
  }

  std::size_t frame_count() const override { return trajectory_.rows.size(); }
  std::size_t organ_count() const override { return 1; }
  MeshView organ(std::size_t) const override { return mesh_.view(); }
  std::span<const glm::vec3> positions(std::size_t) const override { return moved_; }
  std::span<const ToolVolume> tools() const override { return {&tool_, 1}; }
  QueryKind kind() const override { return kind_; }
  double radius() const override { return radius_; }

  void load(std::size_t frame) override {
    if (wobble_.amplitude > 0.0) apply_wobble(wobble_, frame, mesh_.positions, moved_);
    const ToolPose now = trajectory_.pose(frame, radius_);
    const ToolPose before = frame == 0 ? now : trajectory_.pose(frame - 1, radius_);
    tool_ = frame_volume(frame == 0 ? nullptr : &before, now, kind_.mode, kind_.cover, kind_.set);
  }

 private:
  TriangleMesh mesh_;
  std::vector<glm::vec3> moved_;  // [vertex] m
  Trajectory trajectory_;
  double radius_;
  QueryKind kind_;
  Wobble wobble_;
  ToolVolume tool_;
};

}  // namespace

void apply_wobble(const Wobble& wobble, std::size_t frame, std::span<const glm::vec3> rest,
                  std::span<glm::vec3> positions) {
  const float phase = static_cast<float>(std::fmod(static_cast<double>(frame) / wobble.period, 1.0) * kFullTurn);
  const float wave = static_cast<float>(kFullTurn / wobble.wavelength);
  // Each coordinate moves by at most amplitude / sqrt(3), so the displacement never exceeds the amplitude.
  const float per_axis = static_cast<float>(wobble.amplitude / std::sqrt(3.0));
  for (std::size_t vertex = 0; vertex < rest.size(); ++vertex) {
    const glm::vec3 p = rest[vertex];
    positions[vertex] =
        p + per_axis * glm::vec3(elementary::sin(phase + wave * p.y), elementary::sin(1.3f + phase + wave * p.z),
                                 elementary::sin(2.1f + phase + wave * p.x));
  }
}

std::unique_ptr<FrameSource> make_mesh_source(TriangleMesh mesh, Trajectory trajectory, double radius, QueryKind kind,
                                              double wobble_fraction) {
  return std::make_unique<MeshSource>(std::move(mesh), std::move(trajectory), radius, kind, wobble_fraction);
}

namespace {

// SplitMix64. Unlike the distributions of the standard library it gives the same numbers on every machine.
struct Random {
  std::uint64_t state;

  std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  glm::dvec3 direction() {
    const double z = between(-1.0, 1.0), angle = between(0.0, kFullTurn), r = std::sqrt(1.0 - z * z);
    return {r * elementary::cos(angle), r * elementary::sin(angle), z};
  }
  glm::dvec3 offset(double least, double most) {
    const double length = between(least, most);
    return length * direction();
  }
};

struct OrganBox {
  glm::dvec3 centre, half;
};

OrganBox organ_box(const MeshView& organ) {
  glm::dvec3 low(organ.positions.front()), high(low);
  for (const auto& position : organ.positions) {
    low = glm::min(low, glm::dvec3(position));
    high = glm::max(high, glm::dvec3(position));
  }
  return {0.5 * (low + high), 0.5 * (high - low)};
}

glm::dvec3 next_tip(Random& random, const MeshView& organ, const glm::dvec3& pivot, const glm::dvec3& tip,
                    double size) {
  // One draw per statement, because the compiler chooses the order of two draws in one expression.
  const auto some_vertex = [&] { return glm::dvec3(organ.positions[random.next() % organ.positions.size()]); };
  switch (random.next() % 8) {
    case 0:
      return tip;  // a pause
    case 1:
      return pivot + random.between(0.8, 1.2) * (tip - pivot);  // along the shaft
    case 2:
      return some_vertex();  // a jump across the organ
    case 3: {
      const glm::dvec3 vertex = some_vertex();
      return vertex + random.offset(0.0, 0.01);
    }
    default:
      return tip + random.offset(0.0, 0.04 * size);  // the usual small step
  }
}

}  // namespace

Trajectory random_motion(std::uint64_t seed, const MeshView& organ, std::size_t frames) {
  Random random{seed};
  const OrganBox box = organ_box(organ);
  const double size = std::max(glm::length(box.half), 1e-6);
  const glm::dvec3 pivot = box.centre + random.offset(1.1 * size, 1.8 * size);
  Trajectory trajectory;
  glm::dvec3 tip(organ.positions[random.next() % organ.positions.size()]);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    trajectory.rows.push_back({static_cast<double>(frame) / 60.0, pivot, tip, 0.0, 1.0});
    tip = next_tip(random, organ, pivot, tip, size);
  }
  return trajectory;
}

}  // namespace trocar
