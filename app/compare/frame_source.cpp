#include "app/compare/frame_source.hpp"

#include <cmath>
#include <limits>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

constexpr double kTurn = 6.283185307179586;

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
  const float phase = static_cast<float>(std::fmod(static_cast<double>(frame) / wobble.period, 1.0) * kTurn);
  const float wave = static_cast<float>(kTurn / wobble.wavelength);
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

}  // namespace trocar
