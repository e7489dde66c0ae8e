#include "app/view/label_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trocar {
namespace {

constexpr float kStroke = 0.13f;                         // half width of a stroke; a digit is 1 wide and 1.5 high
constexpr float kMargin = 0.25f;                         // around a digit in its layer
constexpr float kSoft = 0.30f;                           // distance over which a byte changes from 255 to 0
constexpr float kRing = 1.35f;                           // radius of the ring, in radii of the target
constexpr float kLeastDisc = 0.036f, kDiscPixels = 9.f;  // half heights, pixels: the smallest radius of a disc
constexpr float kMostTowards = 0.01f;                    // m  labels lie at most so far in front of their target
constexpr float kDisc = 0.0022f;                         // m  smallest radius of a disc

using Stroke = std::vector<glm::vec2>;

// An arc as a polyline, counter-clockwise for a rising angle.
Stroke arc(const glm::vec2& centre, const glm::vec2& radii, float from_deg, float to_deg) {
  constexpr int kPieces = 20;
  Stroke stroke;
  for (int k = 0; k <= kPieces; ++k) {
    const float angle = glm::radians(from_deg + (to_deg - from_deg) * static_cast<float>(k) / kPieces);
    stroke.push_back(centre + radii * glm::vec2(std::cos(angle), std::sin(angle)));
  }
  return stroke;
}

Stroke turned(Stroke stroke) {
  for (glm::vec2& p : stroke) p = glm::vec2(1.f, 1.5f) - p;
  return stroke;
}

Stroke joined(Stroke first, const Stroke& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Stroke> strokes_of(int digit) {
  const Stroke loop = arc({0.5f, 0.46f}, {0.5f, 0.46f}, 0.f, 360.f);
  const Stroke stem = arc({0.95f, 0.46f}, {0.95f, 1.04f}, 100.f, 180.f);
  switch (digit) {
    case 0:
      return {arc({0.5f, 0.75f}, {0.5f, 0.75f}, 0.f, 360.f)};
    case 1:
      return {{{0.12f, 1.15f}, {0.55f, 1.5f}, {0.55f, 0.f}}};
    case 2:
      return {joined(arc({0.5f, 1.05f}, {0.48f, 0.45f}, 165.f, -30.f), {{0.f, 0.f}, {1.f, 0.f}})};
    case 3:
      return {arc({0.45f, 1.12f}, {0.48f, 0.38f}, 150.f, -90.f), arc({0.45f, 0.37f}, {0.55f, 0.37f}, 90.f, -150.f)};
    case 4:
      return {{{0.75f, 0.f}, {0.75f, 1.5f}, {0.f, 0.42f}, {1.f, 0.42f}}};
    case 5:
      return {
          joined({{0.92f, 1.5f}, {0.16f, 1.5f}, {0.09f, 0.83f}}, arc({0.45f, 0.48f}, {0.55f, 0.48f}, 132.f, -150.f))};
    case 6:
      return {loop, stem};
    case 7:
      return {{{0.f, 1.5f}, {1.f, 1.5f}, {0.35f, 0.f}}};
    case 8:
      return {arc({0.5f, 1.12f}, {0.42f, 0.38f}, 0.f, 360.f), arc({0.5f, 0.37f}, {0.5f, 0.37f}, 0.f, 360.f)};
    default:
      return {turned(loop), turned(stem)};
  }
}

float distance_from(const glm::vec2& p, const Stroke& stroke) {
  float least = 1e9f;
  for (std::size_t k = 0; k + 1 < stroke.size(); ++k) {
    const glm::vec2 axis = stroke[k + 1] - stroke[k];
    const float share = std::clamp(glm::dot(p - stroke[k], axis) / std::max(glm::dot(axis, axis), 1e-9f), 0.f, 1.f);
    least = std::min(least, glm::distance(p, stroke[k] + share * axis));
  }
  return least;
}

// Okabe and Ito's colours, as those of the marks on the tissue.
glm::vec4 label_paint(MarkState state) {
  switch (state) {
    case MarkState::Next:
      return {0.38f, 0.92f, 1.0f, 1.0f};
    case MarkState::Done:
      return {0.0f, 0.62f, 0.45f, 0.75f};
    case MarkState::Error:
      return {1.0f, 0.50f, 0.08f, 1.0f};
    default:
      return {0.96f, 0.96f, 0.93f, 0.85f};
  }
}

struct Label {
  glm::vec3 centre;
  float radius;
  glm::vec2 shift;
  float towards;
  LabelStyle style;
  int number;
  glm::vec4 paint;
};

void add_label(const Label& label, std::vector<LabelVertex>& vertices) {
  constexpr std::array<glm::vec2, 6> kCorners{{{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}}};
  for (const glm::vec2& corner : kCorners)
    vertices.push_back({{label.centre, label.radius},
                        {corner, static_cast<float>(label.style), static_cast<float>(label.number)},
                        {label.shift, label.towards, 0.f},
                        label.paint});
}

}  // namespace

void label_vertices(const DrawnMarks& marks, const ScopePose& scope, double time, float pixel,
                    std::vector<LabelVertex>& vertices) {
  vertices.clear();
  const glm::vec3 eye(scope.eye), forward(axes_of(scope).forward);
  const auto half_height =
      static_cast<float>(std::tan(0.5 * glm::radians(static_cast<double>(scope.field_of_view_deg))));
  for (const DrawnTarget& target : marks.targets) {
    const float depth = glm::dot(target.location - eye, forward);
    if (target.number < 1 || target.number > 99 || depth <= 0.f) continue;
    const bool now = target.state == MarkState::Next;
    const float beat = now ? 0.06f * static_cast<float>(std::sin(time * 2.0 * 3.14159265 / 1.2)) : 0.f;
    const float ring = target.radius * (kRing + beat);
    const float disc =
        std::max(kDisc, std::max(kLeastDisc, kDiscPixels * pixel) * depth * half_height) * (now ? 1.15f : 1.f);
    const glm::vec4 paint = label_paint(target.state);
    // In front of the tissue around the target, which may be steep.
    const float towards = std::min(2.f * target.radius, kMostTowards);
    if (now || target.state == MarkState::Error)
      add_label({target.location, ring, glm::vec2(0.f), towards, LabelStyle::Ring, 0, paint}, vertices);
    const glm::vec2 beside(0.7071f * (target.radius * kRing + disc));
    add_label({target.location, disc, beside, towards, LabelStyle::Number, target.number, paint}, vertices);
  }
}

std::vector<std::uint8_t> make_digits() {
  std::vector<std::uint8_t> texels;
  texels.reserve(static_cast<std::size_t>(kDigitTexels.x) * static_cast<std::size_t>(kDigitTexels.y) *
                 static_cast<std::size_t>(kDigitTexels.z));
  const glm::vec2 size(1.f + 2.f * kMargin, 1.5f + 2.f * kMargin);
  for (int digit = 0; digit < kDigitTexels.z; ++digit) {
    const std::vector<Stroke> strokes = strokes_of(digit);
    for (int y = 0; y < kDigitTexels.y; ++y) {
      for (int x = 0; x < kDigitTexels.x; ++x) {
        const glm::vec2 share((static_cast<float>(x) + 0.5f) / static_cast<float>(kDigitTexels.x),
                              (static_cast<float>(y) + 0.5f) / static_cast<float>(kDigitTexels.y));
        float least = 1e9f;
        for (const Stroke& stroke : strokes) least = std::min(least, distance_from(share * size - kMargin, stroke));
        const float byte = 128.f + 255.f * (kStroke - least) / kSoft;
        texels.push_back(static_cast<std::uint8_t>(std::clamp(byte, 0.f, 255.f)));
      }
    }
  }
  return texels;
}

}  // namespace trocar
