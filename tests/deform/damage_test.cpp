// Tests the damage of faces: it adds up to the contact force, only grows, and records burnt faces.
#include "deform/damage.hpp"

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

// The pressures on the tip's faces times their areas add up to the force on the tool; peaks stay, integrals grow.
TEST(Damage, AddsUpToTheForceAndOnlyGrows) {
  TriangleMesh mesh = shapes::icosphere(4, 0.06f);
  const Attachment under{{0.f, 0.f, -0.06f}, 0.04f};
  const TissueModel model = make_tissue(mesh.view(), {}, {&under, 1});
  test::Press press{mesh, model};
  std::vector<FaceId> ids;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) ids.push_back(FaceId(f));
  TissueDamage damage;
  damage.resize(mesh.faces.size());
  std::vector<float> pressure(mesh.faces.size());
  glm::dvec3 tip(0.0, 0.0, 0.062), before = tip;
  float last = 0.f;
  for (int frame = 0; frame < 40; ++frame, before = tip) {
    tip.z += frame < 20 ? -4e-4 : 4e-4;
    clear_pressure(press.list, pressure);
    const glm::vec3 force = press.frame({{0.0, 0.0, 0.3}, before, tip, 0.0025}, 1.f / 60.f);
    add_contact_damage(press.list, press.state, mesh.faces, ids, press.positions, 1.f / 60.f, pressure, damage);
    double sum = 0.0, total = 0.0;
    for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
      const glm::vec3 a = press.positions[mesh.faces[f].x];
      const float area =
          0.5f * glm::length(glm::cross(press.positions[mesh.faces[f].y] - a, press.positions[mesh.faces[f].z] - a));
      sum += pressure[f] * std::max(area, ContactParams{}.smallest_area);
      total += damage.integral[f];
      EXPECT_GE(damage.peak[f], pressure[f]);
    }
    // The pressures are those of the frame's last contact substep, the force is the mean of the frame.
    if (frame < 20) {
      EXPECT_GE(sum, 0.9 * glm::length(force));
      EXPECT_LE(sum, 1.5 * glm::length(force) + 1e-6);
    }
    EXPECT_GE(total, last);
    last = static_cast<float>(total);
  }
  EXPECT_GT(last, 0.f);
  clear_pressure(press.list, pressure);
  for (const float p : pressure) EXPECT_EQ(p, 0.f);
}

TEST(Damage, RecordsBurntFaces) {
  TissueDamage damage;
  damage.resize(5);
  const FaceId burnt[] = {FaceId(1), FaceId(4)}, torn[] = {FaceId(4)};
  damage.mark(burnt, kBurnt);
  damage.mark(torn, kTorn);
  EXPECT_EQ(damage.marks, (std::vector<std::uint8_t>{0, kBurnt, 0, 0, kBurnt | kTorn}));
}

}  // namespace
}  // namespace trocar
