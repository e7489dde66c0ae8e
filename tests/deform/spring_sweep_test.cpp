#include "deform/spring_sweep.hpp"

#include <random>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

struct Columns {
  std::vector<float> x, y, z, before_x, before_y, before_z;

  SweepNodes nodes(const TissueModel& model) {
    return {x.data(), y.data(), z.data(), before_x.data(), before_y.data(), before_z.data(), model.inverse_mass.data()};
  }
};

// Nodes shaken by up to 40 % of the spacing, one spring collapsed to a point.
Columns shaken(const TissueModel& model, std::uint32_t seed) {
  std::mt19937 random(seed);
  const float reach = 0.4f * model.params.node_spacing;
  std::uniform_real_distribution<float> shake(-reach, reach);
  Columns c;
  for (const glm::vec3& p : model.rest) {
    c.before_x.push_back(p.x + shake(random));
    c.before_y.push_back(p.y + shake(random));
    c.before_z.push_back(p.z + shake(random));
    c.x.push_back(p.x + shake(random));
    c.y.push_back(p.y + shake(random));
    c.z.push_back(p.z + shake(random));
  }
  const Spring& s = model.springs[model.springs.size() / 2];
  c.x[s.a] = c.x[s.b], c.y[s.a] = c.y[s.b], c.z[s.a] = c.z[s.b];
  return c;
}

TEST(SpringSweep, EveryPathGivesTheSameBits) {
  const std::uint32_t seed = 31;
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", instructions " << sweep_instructions());
  const TriangleMesh mesh = shapes::joined(shapes::icosphere(3), shapes::torus(24, 12, 0.2f, 0.02f));
  const Attachment ball{{0.f, 0.1f, 0.f}, 0.04f};
  for (const float spacing : {0.006f, 0.011f, 0.03f}) {
    TissueParams params;
    params.node_spacing = spacing;
    const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
    Columns fast = shaken(model, seed), sse2 = fast, plain = fast;
    for (int sweep = 0; sweep < 3; ++sweep) {
      sweep_springs(model, fast.nodes(model), {1.f / 360.f, 0.5f});
      sweep_springs_sse2(model, sse2.nodes(model), {1.f / 360.f, 0.5f});
      sweep_springs_plainly(model, plain.nodes(model), {1.f / 360.f, 0.5f});
    }
    EXPECT_EQ(fast.x, plain.x);
    EXPECT_EQ(fast.y, plain.y);
    EXPECT_EQ(fast.z, plain.z);
    EXPECT_EQ(sse2.x, plain.x);
    EXPECT_EQ(sse2.y, plain.y);
    EXPECT_EQ(sse2.z, plain.z);
  }
}

// A lone spring with full relaxation takes the step of implicit Euler, worked out here in double.
TEST(SpringSweep, LoneSpringTakesTheImplicitStep) {
  const double k = 20.0, wa = 1.0 / 5e-4, wb = 1.0 / 3e-4, rest = 0.008, dt = 1.0 / 240.0, stretched = 0.0095;
  TissueModel model;
  model.inverse_mass = {static_cast<float>(wa), static_cast<float>(wb)};
  model.springs = {{0, 1, static_cast<float>(rest), static_cast<float>(k)}};
  model.damping = {0.f};
  Columns c{{0.f, static_cast<float>(stretched)}, {0.f, 0.f}, {0.f, 0.f},
            {0.f, static_cast<float>(stretched)}, {0.f, 0.f}, {0.f, 0.f}};
  sweep_springs_plainly(model, c.nodes(model), {static_cast<float>(dt), 1.f});
  const double expected = rest + (stretched - rest) / (1.0 + k * dt * dt * (wa + wb));
  EXPECT_NEAR(c.x[1] - c.x[0], expected, 1e-8);
  EXPECT_NEAR(c.x[0] / wa + c.x[1] / wb, stretched / wb, 1e-10);  // momentum
}

TEST(SpringSweep, KeepsMomentum) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const TissueModel model = make_tissue(mesh.view(), {}, {});
  Columns c = shaken(model, 5);
  const auto centre = [&] {
    glm::dvec3 sum(0.0);
    for (std::size_t i = 0; i < c.x.size(); ++i) sum += double(model.mass[i]) * glm::dvec3(c.x[i], c.y[i], c.z[i]);
    return sum;
  };
  const glm::dvec3 before = centre();
  sweep_springs(model, c.nodes(model), {1.f / 360.f, 0.5f});
  EXPECT_LT(glm::length(centre() - before), 1e-6);
}

}  // namespace
}  // namespace trocar
