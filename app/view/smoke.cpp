#include "app/view/smoke.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

constexpr double kPuffsPerSecond = 16.0;
constexpr float kLife = 2.6f;                          // s
constexpr float kRise = 0.030f;                        // m/s
constexpr float kFirstRadius = 0.0025f;                // m
constexpr float kGrowth = 0.0085f;                     // m/s
constexpr float kDensest = 0.62f;                      // 1
constexpr double kLongestGap = 1.0, kStep = 1.0 / 60;  // s

// Returns a pseudorandom number 0 .. 1 for each `salt`.
float chance(std::uint32_t number, std::uint32_t salt) {
  std::uint32_t n = number * 747796405u + salt * 2891336453u + 1u;
  n = ((n >> ((n >> 28) + 4)) ^ n) * 277803737u;
  return static_cast<float>((n ^ (n >> 22)) >> 8) / 16777216.f;
}

bool burns(const DrawnTool& tool) { return tool.heats; }

void give_birth(SmokeState& smoke, const glm::dvec3& location) {
  const std::uint32_t n = smoke.born++;
  const glm::vec3 aside(chance(n, 1) - 0.5f, chance(n, 2) - 0.5f, 0.f);
  SmokePuff& puff = smoke.puffs[smoke.next];
  smoke.next = (smoke.next + 1) % smoke.puffs.size();
  puff.location = glm::vec3(location) + 0.002f * aside;
  puff.velocity = glm::vec3(0.014f * aside.x, 0.014f * aside.y, kRise * (0.7f + 0.6f * chance(n, 3)));
  puff.age = 0.f;
  puff.life = kLife * (0.6f + 0.4f * chance(n, 4));
  puff.seed = chance(n, 5);
}

void step(SmokeState& smoke, std::span<const DrawnTool> tools, float dt) {
  for (SmokePuff& puff : smoke.puffs) {
    if (puff.life == 0.f) continue;
    puff.age += dt;
    if (puff.age >= puff.life) puff = {};
    // A puff slows down with age, and sways.
    const float sway = 0.010f * std::sin(2.5f * puff.age + 6.28f * puff.seed);
    puff.location += dt * (puff.velocity * std::exp(-0.5f * puff.age) + glm::vec3(sway, 0.4f * sway, 0.f));
  }
  for (const DrawnTool& tool : tools) {
    if (!burns(tool)) continue;
    for (smoke.owed += kPuffsPerSecond * static_cast<double>(dt); smoke.owed >= 1.0; smoke.owed -= 1.0)
      give_birth(smoke, tool.pose.tip);
  }
}

}  // namespace

void advance(SmokeState& smoke, std::span<const DrawnTool> tools, double time) {
  const double gap = time - smoke.time;
  if (gap < 0.0 || gap > kLongestGap) smoke = {};
  const int steps = gap > 0.0 && gap <= kLongestGap ? static_cast<int>(std::ceil(gap / kStep - 1e-9)) : 0;
  for (int k = 0; k < steps; ++k) step(smoke, tools, static_cast<float>(gap / steps));
  smoke.time = time;
}

void smoke_vertices(const SmokeState& smoke, std::vector<SmokeVertex>& vertices) {
  vertices.clear();
  constexpr glm::vec2 kCorners[] = {{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}};
  for (const SmokePuff& puff : smoke.puffs) {
    if (puff.life == 0.f) continue;
    const float share = puff.age / puff.life;
    const float density = kDensest * std::min(8.f * share, 1.f) * (1.f - share) * (1.f - 0.4f * share);
    const glm::vec4 centre(puff.location, kFirstRadius + kGrowth * std::sqrt(puff.age) * (0.8f + 0.4f * puff.seed));
    for (const glm::vec2& corner : kCorners) vertices.push_back({centre, {corner, puff.seed, density}});
  }
}

}  // namespace trocar
