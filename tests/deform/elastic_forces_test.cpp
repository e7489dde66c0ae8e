// Compares the vector loops with each other bit for bit, and with the gradient of the energy in double.
#include <bit>
#include <cmath>
#include <random>

#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

NodeColumns columns(const std::vector<glm::vec3>& nodes) {
  NodeColumns c;
  for (auto* axis : {&c.x, &c.y, &c.z}) axis->assign(nodes.size() + 2 * kLanes, 0.f);
  for (std::size_t i = 0; i < nodes.size(); ++i) c.x[i] = nodes[i].x, c.y[i] = nodes[i].y, c.z[i] = nodes[i].z;
  return c;
}

std::vector<glm::vec3> shaken(const TissueModel& model, float by, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> offset(-by, by);
  std::vector<glm::vec3> nodes = model.rest;
  for (glm::vec3& p : nodes) p += glm::vec3(offset(random), offset(random), offset(random));
  return nodes;
}

// Spring by spring and cell by cell, by the formulas in tissue.hpp.
std::vector<glm::dvec3> forces_by_definition(const TissueModel& model, const std::vector<glm::vec3>& nodes) {
  std::vector<glm::dvec3> f(nodes.size());
  for_each_spring(model, [&](const Spring& s) {
    const glm::dvec3 d = glm::dvec3(nodes[s.b]) - glm::dvec3(nodes[s.a]);
    const double length = glm::length(d);
    const glm::dvec3 pull = static_cast<double>(s.stiffness) * (length - s.rest_length) / length * d;
    f[s.a] += pull, f[s.b] -= pull;
  });
  const double h = model.params.node_spacing;
  for (const LatticeCell& cell : model.lattice.cells) {
    glm::dmat3 edges(0.0);
    for (int i = 0; i < 8; ++i)
      for (int axis = 0; axis < 3; ++axis)
        edges[axis] += 0.25 * (i >> axis & 1 ? 1.0 : -1.0) * glm::dvec3(nodes[cell.node[i]]);
    const double press = cell.fullness * volume_modulus(model.params) * (1.0 - glm::determinant(edges) / (h * h * h));
    const glm::dvec3 side[3] = {glm::cross(edges[1], edges[2]), glm::cross(edges[2], edges[0]),
                                glm::cross(edges[0], edges[1])};
    for (int i = 0; i < 8; ++i)
      for (int axis = 0; axis < 3; ++axis) f[cell.node[i]] += 0.25 * (i >> axis & 1 ? press : -press) * side[axis];
  }
  return f;
}

TEST(ElasticForces, AreTheGradientOfTheEnergy) {
  const TriangleMesh liver = make_liver({});
  TissueParams params;
  params.node_spacing = 0.012f;
  const TissueModel model = make_tissue(liver.view(), params, {});
  for (const unsigned seed : {1u, 2u, 3u}) {
    const std::vector<glm::vec3> nodes = shaken(model, 0.0003f, seed);
    NodeColumns x = columns(nodes), force = columns(std::vector<glm::vec3>(nodes.size()));
    add_elastic_forces(model, x, force);
    const std::vector<glm::dvec3> expected = forces_by_definition(model, nodes);
    double largest = 0.0, error = 0.0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      largest = std::max(largest, glm::length(expected[i]));
      error = std::max(error, glm::distance(expected[i], glm::dvec3(force.x[i], force.y[i], force.z[i])));
    }
    EXPECT_LT(error, 5e-5 * largest) << "seed " << seed << ", largest " << largest << " N";
  }
}

TEST(ElasticForces, EveryInstructionSetGivesTheSameBits) {
  TissueParams params;
  params.node_spacing = 0.01f;
  for (const glm::vec3 size : {glm::vec3(0.01f), glm::vec3(0.02f, 0.01f, 0.01f), glm::vec3(0.031f, 0.17f, 0.05f),
                               glm::vec3(0.5f, 0.02f, 0.02f)}) {
    const TissueModel model = make_tissue(test::block(size).view(), params, {});
    for (const float by : {0.f, 0.001f, 0.02f, 1.f}) {
      NodeColumns x = columns(shaken(model, by, 7)), a = columns(std::vector<glm::vec3>(model.rest.size())), b = a;
      add_elastic_forces(model, x, a);
      add_elastic_forces_sse2(model, x, b);
      for (std::size_t i = 0; i < a.x.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(a.x[i]), std::bit_cast<std::uint32_t>(b.x[i])) << i;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(a.y[i]), std::bit_cast<std::uint32_t>(b.y[i])) << i;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(a.z[i]), std::bit_cast<std::uint32_t>(b.z[i])) << i;
      }
    }
  }
}

TEST(ElasticForces, CollapsedTissueGivesFiniteForces) {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(test::block(glm::vec3(0.04f)).view(), params, {});
  NodeColumns x = columns(std::vector<glm::vec3>(model.rest.size())), force = x;
  add_elastic_forces(model, x, force);
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    EXPECT_TRUE(std::isfinite(force.x[i] + force.y[i] + force.z[i])) << i;
}

TEST(ElasticForces, RemovedCellsExertNoForce) {
  TissueParams params;
  params.node_spacing = 0.01f;
  TissueModel model = make_tissue(test::block(glm::vec3(0.04f)).view(), params, {});
  std::vector<std::uint32_t> all(model.lattice.cells.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  const std::vector<float> before = model.stiffness, bulk = model.bulk;
  std::vector<float> same;
  for (const LatticeCell& cell : model.lattice.cells) same.push_back(cell.fullness);
  set_fullness(model, all, same);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], model.stiffness[i], 1e-5f * before[i]);
  EXPECT_EQ(bulk, model.bulk);
  set_fullness(model, all, std::vector<float>(all.size(), 0.f));
  EXPECT_EQ(spring_count(model), 0u);
  for (const float mass : model.mass) EXPECT_EQ(mass, 0.f);
  SteppedTissue state = rest_state(model);
  step(model, state, {}, 0.01f);
  EXPECT_EQ(test::farthest_from_rest(model, state), 0.f);
}

}  // namespace
}  // namespace trocar
