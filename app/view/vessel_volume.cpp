#include "app/view/tissue_texture.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

constexpr float kFinestCell = 0.0005f;  // m

// Between texels the linear interpolation of a squared distance is too large, by up to cell^2 / 4 at an axis.
constexpr float kMeanExcess = 0.17f;  // of cell^2

std::uint8_t vessel_texel(float difference) {
  constexpr float kMost = kVesselReach * kVesselReach;
  return static_cast<std::uint8_t>(std::lround(127.5f + 127.5f * std::clamp(difference / kMost, -1.f, 1.f)));
}

std::size_t texel_at(const VesselVolume& volume, const glm::ivec3& at) {
  const auto x = static_cast<std::size_t>(at.x), y = static_cast<std::size_t>(at.y), z = static_cast<std::size_t>(at.z);
  return (z * static_cast<std::size_t>(volume.size.y) + y) * static_cast<std::size_t>(volume.size.x) + x;
}

// Square of a piece's radius minus the square of the distance to its axis.
float difference_of_squares(const VesselPiece& piece, const glm::vec3& p) {
  const glm::vec3 way = piece.to - piece.from;
  const float squared = glm::dot(way, way);
  const float share = squared > 0.f ? std::clamp(glm::dot(p - piece.from, way) / squared, 0.f, 1.f) : 0.f;
  const float radius = glm::mix(piece.from_radius, piece.to_radius, share);
  const glm::vec3 apart = p - piece.from - share * way;
  return radius * radius - glm::dot(apart, apart);
}

void fill_piece(VesselVolume& volume, const VesselPiece& piece) {
  const glm::vec3 reach(std::max(piece.from_radius, piece.to_radius) + kVesselReach);
  const float excess = kMeanExcess * volume.cell * volume.cell;
  const auto cell_of = [&](const glm::vec3& p) { return glm::ivec3(glm::floor((p - volume.low) / volume.cell)); };
  const glm::ivec3 low = glm::max(cell_of(glm::min(piece.from, piece.to) - reach), glm::ivec3(0));
  const glm::ivec3 high = glm::min(cell_of(glm::max(piece.from, piece.to) + reach), volume.size - 1);
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x) {
        const glm::vec3 centre = volume.low + volume.cell * (glm::vec3(x, y, z) + 0.5f);
        std::uint8_t& texel = volume.texels[texel_at(volume, {x, y, z})];
        texel = std::max(texel, vessel_texel(difference_of_squares(piece, centre) + excess));
      }
}

}  // namespace

float VesselVolume::inside(const glm::vec3& p) const {
  if (texels.empty()) return -1.f;
  const glm::vec3 at = glm::clamp((p - low) / cell - 0.5f, glm::vec3(0.f), glm::vec3(size - 1));
  const glm::ivec3 cell_at(glm::floor(at));
  const glm::vec3 f = at - glm::vec3(cell_at);
  float sum = 0.f;
  for (int k = 0; k < 8; ++k) {
    const glm::ivec3 corner{k & 1, (k >> 1) & 1, k >> 2};
    const glm::vec3 share = glm::mix(1.f - f, f, glm::vec3(corner));
    sum +=
        share.x * share.y * share.z * static_cast<float>(texels[texel_at(*this, glm::min(cell_at + corner, size - 1))]);
  }
  return sum / 127.5f - 1.f;
}

VesselVolume make_vessel_volume(std::span<const VesselPiece> pieces, std::span<const glm::vec3> positions,
                                const VesselVolumeLimits& limits) {
  VesselVolume volume;
  if (positions.empty()) return volume;
  glm::vec3 low = positions[0], high = positions[0];
  for (const glm::vec3& p : positions) low = glm::min(low, p), high = glm::max(high, p);
  const glm::dvec3 extent(high - low);
  // With a margin of one texel on every side.
  volume.cell = kFinestCell;
  const auto sides = [&] { return glm::ceil(extent / static_cast<double>(volume.cell)) + 2.0; };
  const auto too_large = [&](const glm::dvec3& side) {
    return side.x * side.y * side.z > static_cast<double>(limits.most_texels) ||
           std::max({side.x, side.y, side.z}) > limits.most_side;
  };
  while (too_large(sides())) volume.cell *= 1.05f;
  volume.size = glm::ivec3(sides());
  volume.low = low - volume.cell;
  volume.texels.assign(texel_at(volume, {0, 0, volume.size.z}), 0);
  for (const VesselPiece& piece : pieces) fill_piece(volume, piece);
  return volume;
}

}  // namespace trocar
