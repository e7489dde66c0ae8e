#include "app/view/clip_layer.hpp"

#include <algorithm>

#include "mesh/tube_shape.hpp"

namespace trocar {
namespace {

// Of a medium clip: length of the legs, radius of the wire, half the distance between the middles of the legs.
constexpr double kDrawnLegs = 0.0085, kWire = 0.0004, kApart = 0.00062;  // m

TriangleMesh bent_wire() {
  const double end = kDrawnLegs - kWire, bend = kApart + kWire;
  return tube_surface({{{0, kApart, end},
                        {0, kApart, 0.6 * end},
                        {0, kApart, bend},
                        {0, 0.71 * kApart, bend - 0.71 * kApart},
                        {0, 0, bend - kApart},
                        {0, -0.71 * kApart, bend - 0.71 * kApart},
                        {0, -kApart, bend},
                        {0, -kApart, 0.6 * end},
                        {0, -kApart, end}},
                       kWire});
}

}  // namespace

ClipLayer::ClipLayer() : shape_(make_rigid_shape(bent_wire().view())) {}

void ClipLayer::draw(std::span<const DrawnClip> clips) const {
  if (clips.empty()) return;
  metal_.use();
  metal_.set("colour", glm::vec3(0.66f, 0.66f, 0.69f));
  metal_.set("shine", 1.f);
  metal_.set("teeth", 0.f);
  metal_.set("heat", 0.f);
  for (const DrawnClip& clip : clips) {
    const ClipPose& pose = clip.pose;
    const float stretch = clip.length / static_cast<float>(kDrawnLegs);
    // Legs that tissue keeps apart are drawn further apart.
    const float open = 1.f + std::max(pose.gap - static_cast<float>(kApart), 0.f) / static_cast<float>(2.0 * kApart);
    const glm::vec3 aside = glm::cross(pose.across, pose.legs);
    glm::mat4 frame(1.f);
    frame[0] = glm::vec4(aside, 0.f);
    frame[1] = glm::vec4(open * pose.across, 0.f);
    frame[2] = glm::vec4(stretch * pose.legs, 0.f);
    frame[3] = glm::vec4(pose.centre - 0.5f * clip.length * pose.legs, 1.f);
    metal_.set("world_from_model", frame);
    shape_.draw();
  }
}

}  // namespace trocar
