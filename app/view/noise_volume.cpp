#include "app/view/noise_volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/glm.hpp>

#include "app/view/random_share.hpp"

namespace trocar {
namespace {

constexpr int kCells = 12, kFineCells = 28;  // lattice cells along the volume's side
constexpr float kAlphaRange = 0.45f;         // noise range that fills alpha's full range

// Returns a value -1 .. 1 of a lattice point.
float lattice_value(int x, int y, int z, std::uint32_t seed) {
  return 2.f * random_share(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z),
                            seed) -
         1.f;
}

// Returns the noise at p, in 0 .. 1 of the volume; the noise repeats.
float noise(const glm::vec3& p, int cells, std::uint32_t seed) {
  const glm::vec3 scaled = p * static_cast<float>(cells), cell = glm::floor(scaled);
  const glm::vec3 f = scaled - cell, smooth = f * f * f * (f * (f * 6.f - 15.f) + 10.f);
  const auto wrapped = [&](float value) { return (static_cast<int>(value) % cells + cells) % cells; };
  const int x[] = {wrapped(cell.x), wrapped(cell.x + 1)}, y[] = {wrapped(cell.y), wrapped(cell.y + 1)},
            z[] = {wrapped(cell.z), wrapped(cell.z + 1)};
  std::array<float, 4> rows{};
  for (int k = 0; k < 4; ++k)
    rows[static_cast<std::size_t>(k)] = glm::mix(lattice_value(x[0], y[k & 1], z[k >> 1], seed),
                                                 lattice_value(x[1], y[k & 1], z[k >> 1], seed), smooth.x);
  return glm::mix(glm::mix(rows[0], rows[1], smooth.y), glm::mix(rows[2], rows[3], smooth.y), smooth.z);
}

std::uint8_t byte_of(float value) {
  return static_cast<std::uint8_t>(std::lround(255.f * std::clamp(0.5f + 0.5f * value, 0.f, 1.f)));
}

}  // namespace

std::vector<std::uint8_t> make_noise_volume() {
  std::vector<std::uint8_t> volume;
  volume.reserve(static_cast<std::size_t>(kNoiseSide) * kNoiseSide * kNoiseSide * 4);
  for (int z = 0; z < kNoiseSide; ++z) {
    for (int y = 0; y < kNoiseSide; ++y) {
      for (int x = 0; x < kNoiseSide; ++x) {
        const glm::vec3 p = glm::vec3(x, y, z) / static_cast<float>(kNoiseSide);
        glm::vec3 warp;
        for (std::uint32_t channel = 0; channel < 3; ++channel) {
          warp[static_cast<int>(channel)] = noise(p, kCells, channel + 1);
          volume.push_back(
              byte_of(0.72f * warp[static_cast<int>(channel)] + 0.34f * noise(p, kFineCells, channel + 4)));
        }
        volume.push_back(byte_of(noise(p + warp * (0.25f / kCells), kCells, 7) / kAlphaRange));
      }
    }
  }
  return volume;
}

}  // namespace trocar
