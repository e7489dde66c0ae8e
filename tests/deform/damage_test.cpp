// Tests the damage of faces: pressure hardly depends on the mesh, damage only grows, and burnt faces are recorded.
#include "deform/contact/contact.hpp"

#include <iostream>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

struct PressResult {
  float peak = 0.f, integral = 0.f;  // Pa, Pa s
  float force = 0.f;                 // N, the largest
};

// A probe of radius 2.5 mm that moves in 20 frames from above a ball of 6 cm into its top, and back.
struct Stroke {
  glm::dvec3 pivot, first, last;  // m, of the tip
};
constexpr Stroke kTipDown{{0.0, 0.0, 0.3}, {0.0, 0.0, 0.062}, {0.0, 0.0, 0.052}};
constexpr Stroke kShaftDown{{0.3, 0.0, 0.1}, {-0.2, 0.0, 0.0392}, {-0.2, 0.0, 0.0258}};

// `checked` is called after each frame.
template <typename Checked>
PressResult pressed(int subdivisions, const Stroke& stroke, const Checked& checked) {
  const TriangleMesh mesh = shapes::icosphere(subdivisions, 0.06f);
  const Attachment under{{0.f, 0.f, -0.06f}, 0.04f};
  const TissueModel model = make_tissue(mesh.view(), {}, {&under, 1});
  test::Press press{mesh, model};
  std::vector<FaceId> ids;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) ids.push_back(FaceId(f));
  TissueDamage damage;
  damage.resize(mesh.faces.size());
  std::vector<float> pressure(mesh.faces.size());
  glm::dvec3 tip = stroke.first, before = tip;
  PressResult result;
  for (int frame = 0; frame < 40; ++frame, before = tip) {
    tip = glm::mix(stroke.first, stroke.last, frame < 20 ? (frame + 1) / 20.0 : (39 - frame) / 20.0);
    clear_pressure(press.list, pressure);
    const glm::vec3 force = press.frame({stroke.pivot, before, tip, 0.0025}, 1.f / 60.f);
    add_contact_damage(press.list, press.state, ids, press.positions, 1.f / 60.f, pressure, damage);
    result.force = std::max(result.force, glm::length(force));
    checked(damage, pressure);
  }
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    result.peak = std::max(result.peak, damage.peak[f]);
    result.integral = std::max(result.integral, damage.integral[f]);
  }
  clear_pressure(press.list, pressure);
  for (const float p : pressure) EXPECT_EQ(p, 0.f);
  return result;
}

TEST(Damage, PeaksStayAndIntegralsGrow) {
  float last = 0.f;
  const PressResult result = pressed(4, kTipDown, [&](const TissueDamage& damage, std::span<const float> pressure) {
    float total = 0.f;
    for (std::size_t f = 0; f < pressure.size(); ++f) {
      EXPECT_GE(damage.peak[f], pressure[f]);
      total += damage.integral[f];
    }
    EXPECT_GE(total, last);
    last = total;
  });
  EXPECT_GT(result.peak, 0.f);
  // No patch takes more than the whole force.
  EXPECT_LE(result.peak, 2.2f * result.force / ContactParams{}.patch_area);
}

// The same press, by the tip and by the shaft, on meshes of 1,280, 5,120 and 20,480 faces.
TEST(Damage, PressureHardlyDependsOnTheMesh) {
  const auto nothing = [](const TissueDamage&, std::span<const float>) {};
  for (const Stroke& stroke : {kTipDown, kShaftDown}) {
    const PressResult fine = pressed(5, stroke, nothing);
    std::cout << "20480 faces: " << fine.peak * 1e-3f << " kPa at " << fine.force << " N\n";
    for (const int subdivisions : {3, 4}) {
      const PressResult coarse = pressed(subdivisions, stroke, nothing);
      std::cout << shapes::icosphere(subdivisions).faces.size() << " faces: " << coarse.peak * 1e-3f << " kPa at "
                << coarse.force << " N\n";
      // Under a shaft, faces of 8 mm have too few contacts to spread the force evenly.
      const bool few = subdivisions == 3 && stroke.pivot == kShaftDown.pivot;
      EXPECT_NEAR(coarse.peak, fine.peak, (few ? 0.35f : 0.05f) * fine.peak);
    }
  }
}

std::vector<FaceLoad> even_loads(float spacing, int reach, float pressure) {
  std::vector<FaceLoad> loads;
  for (int i = -reach; i <= reach; ++i)
    for (int j = -reach; j <= reach; ++j)
      loads.push_back({0, spacing * glm::vec3(i, j, 0), pressure * spacing * spacing});
  return loads;
}

TEST(Damage, EvenLoadsGiveTheirPressureAndASingleOneTwiceItsShare) {
  const float area = 2e-5f, pressure = 30e3f;
  const glm::vec3 middle(0.f);
  for (const float spacing : {1.3e-4f, 3e-4f, 6e-4f})
    EXPECT_NEAR(patch_pressure(even_loads(spacing, 20, pressure), middle, area), pressure, 0.04f * pressure) << spacing;
  // A patch of a tenth of the disc.
  EXPECT_LT(patch_pressure(even_loads(1e-4f, 7, pressure), middle, area), 0.25f * pressure);
  const FaceLoad single{0, glm::vec3(0.01f), 1.f};
  EXPECT_FLOAT_EQ(patch_pressure({&single, 1}, single.point, area), 2.f / area);
  EXPECT_EQ(patch_pressure({&single, 1}, single.point + glm::vec3(0.f, 0.0026f, 0.f), area), 0.f);
  EXPECT_EQ(patch_pressure({}, single.point, area), 0.f);
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
