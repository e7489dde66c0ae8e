#include "app/view/tissue_light.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {

// Diffusion lengths 1 / sigma_tr of the dipole at 620 nm, and the mean of those at 540 and 460 nm: refractive
// index 1.4, blood of 12 % (liver), 1.5 % (serosa, gallbladder), 4 % (peritoneum over muscle), 0.7 % with carotene
// (fat), 30 % oxygenated (artery). A vein is the artery's with oxygen taken; a duct is serosa.
const TissueOptics& optics_of(TissueLook look) {
  static const std::array<TissueOptics, kTissueLooks.size()> table = [] {
    std::array<TissueOptics, kTissueLooks.size()> optics;
    const auto row = [&](TissueLook one) -> TissueOptics& { return optics[static_cast<std::size_t>(one)]; };
    row(TissueLook::Serosa) = {{2.8e-3f, 0.49e-3f}, 1.f, 0.f, true};
    row(TissueLook::Liver) = {{0.93e-3f, 0.125e-3f}, 1.f, 0.f, false};
    row(TissueLook::Gallbladder) = {{2.8e-3f, 0.49e-3f}, 1.4f, 0.28f, true};
    row(TissueLook::Peritoneum) = {{2.0e-3f, 0.34e-3f}, 1.2f, 0.f, true};
    row(TissueLook::Fat) = {{4.6e-3f, 0.76e-3f}, 0.9f, 1.f, false};
    row(TissueLook::Artery) = {{0.95e-3f, 0.065e-3f}, 1.f, 0.f, false};
    row(TissueLook::Vein) = {{0.8e-3f, 0.065e-3f}, 1.f, 0.f, false};
    row(TissueLook::Duct) = {{2.8e-3f, 0.49e-3f}, 0.9f, 0.f, false};
    return optics;
  }();
  return table[static_cast<std::size_t>(look)];
}

float lamp_strength(const glm::vec3& to_light, const glm::vec3& axis) {
  const float squared = glm::dot(to_light, to_light), ahead = std::max(-glm::dot(to_light, axis), 0.f);
  const float beam = ahead * ahead / squared;
  return 0.0109f * beam * beam / (0.0009f + squared);
}

void vertex_curvatures(const MeshView& mesh, std::span<const glm::vec3> normals, std::span<float> curvatures) {
  std::vector<glm::vec2> sums(mesh.positions.size(), glm::vec2(0.f));  // [vertex] curvature, number of edges
  const auto each_side = [&](const auto& visit) {
    for (const glm::uvec3& face : mesh.faces)
      for (int corner = 0; corner < 3; ++corner) visit(face[corner], face[(corner + 1) % 3]);
  };
  each_side([&](std::uint32_t u, std::uint32_t v) {
    const glm::vec3 side = mesh.positions[v] - mesh.positions[u];
    const float length2 = glm::dot(side, side);
    if (length2 < 1e-12f) return;
    const float bend = std::abs(glm::dot(normals[v] - normals[u], side)) / length2;
    for (const std::uint32_t end : {u, v}) sums[end] += glm::vec2(bend, 1.f);
  });
  std::vector<float> own(sums.size());
  for (std::size_t v = 0; v < sums.size(); ++v) {
    own[v] = std::min(sums[v].x / std::max(sums[v].y, 1.f), kMostCurvature);
    sums[v] = glm::vec2(own[v], 1.f);
  }
  each_side([&](std::uint32_t u, std::uint32_t v) {
    sums[u] += glm::vec2(own[v], 1.f);
    sums[v] += glm::vec2(own[u], 1.f);
  });
  for (std::size_t v = 0; v < sums.size(); ++v) curvatures[v] = sums[v].x / sums[v].y;
}

void LightMeter::start(const glm::mat4& clip_from_world, float aspect, float reach, const glm::vec3& light,
                       const glm::vec3& axis) {
  clip_from_world_ = clip_from_world;
  scale_ = glm::vec2(aspect * 0.75f, 1.f) / reach;
  light_ = light;
  axis_ = axis;
  constexpr float kFar = 1e9f;      // m
  constexpr float kCavity = 0.01f;  // 1  brightness of the wall behind the organs, 20 cm away
  cells_.fill({kFar, kCavity});
}

void LightMeter::add(std::span<const glm::vec3> positions, std::span<const glm::vec3> normals, float albedo,
                     std::size_t stride) {
  for (std::size_t v = 0; v < positions.size(); v += stride) {
    const glm::vec3 to_light = light_ - positions[v];
    if (glm::dot(normals[v], to_light) <= 0.f) continue;
    const glm::vec4 clip = clip_from_world_ * glm::vec4(positions[v], 1.f);
    if (clip.w <= 0.f) continue;
    const glm::vec2 share = 0.5f + 0.5f * scale_ * glm::vec2(clip) / clip.w;
    if (!(share.x >= 0.f && share.x < 1.f && share.y >= 0.f && share.y < 1.f)) continue;
    Cell& cell =
        cells_[static_cast<std::size_t>(share.y * kRows) * kColumns + static_cast<std::size_t>(share.x * kColumns)];
    if (clip.w >= cell.depth) continue;
    const float facing = glm::dot(normals[v], to_light) / glm::length(to_light);
    cell = {clip.w, albedo * facing * lamp_strength(to_light, axis_)};
  }
}

float LightMeter::mean() const {
  float sum = 0.f, weights = 0.f;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      const glm::vec2 from_middle(2.f * (static_cast<float>(column) + 0.5f) / kColumns - 1.f,
                                  2.f * (static_cast<float>(row) + 0.5f) / kRows - 1.f);
      const float weight = 1.f / (1.f + 1.5f * glm::dot(from_middle, from_middle));
      sum += weight * cells_[static_cast<std::size_t>(row * kColumns + column)].light;
      weights += weight;
    }
  return sum / weights;
}

namespace {

constexpr double kResponse = 0.3;                    // s   time constant of the camera
constexpr double kLongestGap = 1.0;                  // s   a longer one is a jump
constexpr float kGoal = 0.145f;                      // 1   mean of the picture, linear, before the tone curve
constexpr float kLeastGain = 0.5f, kMostGain = 6.f;  // 1   the camera's range

}  // namespace

float Exposure::advance(float mean, const glm::mat4& clip_from_world, double now) {
  const float goal = std::clamp(kGoal / std::max(mean, 1e-6f), kLeastGain, kMostGain);
  const double gap = now - time;
  const bool jumped = gain == 0.f || gap < 0.0 || gap > kLongestGap || (gap == 0.0 && view != clip_from_world);
  // The eye sees ratios of light, so the gain moves by ratios.
  gain = jumped ? goal : gain * std::pow(goal / gain, static_cast<float>(1.0 - std::exp(-gap / kResponse)));
  time = now;
  view = clip_from_world;
  return gain;
}

float haze_after(float haze, int burning, double dt) {
  constexpr double kFills = 14.0,
                   kClears = 9.0;  // s  time constants of one burning instrument and of the exchange of gas
  const double filled = 1.0 - (1.0 - static_cast<double>(haze)) * std::exp(-burning * dt / kFills);
  return static_cast<float>(filled * std::exp(-dt / kClears));
}

}  // namespace trocar
