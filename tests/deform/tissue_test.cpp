// Tests the model and the time step of the tissue: springs, mass, embedding, substeps, ligaments, breathing, invalid
// input, a golden run, forces in every instruction set, crushed cells, and violent loads.
#include <glm/gtc/quaternion.hpp>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"
#include "deform/solid/lattice.hpp"
#include "deform/solid/tissue.hpp"
#include "deform/step.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

using test::sentence_of;

const Attachment kBall{{0.f, 0.1f, 0.f}, 0.05f};

TissueModel sphere_tissue(float spacing = 0.015f) {
  TissueParams params;
  params.node_spacing = spacing;
  const TriangleMesh mesh = shapes::icosphere(4);
  return make_tissue(mesh.view(), params, {&kBall, 1});
}

TEST(Tissue, RowsArePaddedWithSpringsOfZeroStiffness) {
  const TissueModel model = sphere_tissue();
  std::size_t entries = 0;
  for (const SpringRow& row : model.spring_rows) {
    EXPECT_EQ(row.first, entries);
    EXPECT_EQ(row.count % kLanes, 0u);
    entries += row.count;
  }
  EXPECT_EQ(entries, model.stiffness.size());
  entries = 0;
  for (const CellRow& row : model.cell_rows) {
    EXPECT_EQ(row.first, entries);
    EXPECT_EQ(model.bulk[row.first + row.count - 1], 0.f);
    entries += row.count;
  }
  EXPECT_EQ(entries, model.bulk.size());
  std::set<std::uint32_t> taken(model.bulk_index.begin(), model.bulk_index.end());
  EXPECT_EQ(taken.size(), model.lattice.cells.size());
}

TEST(Tissue, SpringsJoinNodesAtTheirRestLengthAndNoPairTwice) {
  const TissueModel model = sphere_tissue();
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for_each_spring(model, [&](const Spring& s) {
    EXPECT_LT(s.a, s.b);
    EXPECT_GT(s.stiffness, 0.f);
    EXPECT_NEAR(glm::distance(model.rest[s.a], model.rest[s.b]), s.rest_length, 1e-7f);
    EXPECT_TRUE(pairs.insert({s.a, s.b}).second);
  });
  EXPECT_EQ(pairs.size(), spring_count(model));
}

TEST(Tissue, HasTheMassOfTheOrgan) {
  const TriangleMesh mesh = shapes::icosphere(4);
  const TissueModel model = sphere_tissue();
  double mass = 0.0;
  for (const float m : model.mass) mass += m;
  EXPECT_NEAR(mass / (1060.0 * closed_volume(mesh.view())), 1.0, 1e-5);
}

TEST(Tissue, EmbeddingReproducesTheSurfaceAtRest) {
  const TriangleMesh mesh = shapes::torus(48, 24);
  for (const float spacing : {0.004f, 0.01f, 0.05f}) {
    TissueParams params;
    params.node_spacing = spacing;
    const TissueModel model = make_tissue(mesh.view(), params, {});
    std::vector<glm::vec3> positions(mesh.positions.size());
    embed_surface(model, model.rest, positions);
    for (std::size_t v = 0; v < positions.size(); ++v) {
      EXPECT_LT(glm::distance(positions[v], mesh.positions[v]), 1e-7f);
      float sum = 0.f;
      for (const float w : model.embedding[v].weight) {
        EXPECT_GE(w, -1e-6f);
        sum += w;
      }
      EXPECT_NEAR(sum, 1.f, 1e-6f);
    }
  }
}

TEST(Tissue, EmbeddingHasAPlainTwin) {
  const TissueModel model = sphere_tissue();
  std::mt19937 random(11);
  std::uniform_real_distribution<float> shake(-0.01f, 0.01f);
  std::vector<glm::vec3> nodes = model.rest, fast(model.embedding.size()), plain(fast);
  for (glm::vec3& p : nodes) p += glm::vec3(shake(random), shake(random), shake(random));
  const PositionBox box = embed_surface(model, nodes, fast), plain_box = embed_surface_plainly(model, nodes, plain);
  EXPECT_EQ(fast, plain);
  EXPECT_EQ(box.low, plain_box.low);
  EXPECT_EQ(box.high, plain_box.high);
  EXPECT_EQ(box.low.y, std::min_element(plain.begin(), plain.end(), [](auto& a, auto& b) { return a.y < b.y; })->y);
  EXPECT_EQ(box.high.z, std::max_element(plain.begin(), plain.end(), [](auto& a, auto& b) { return a.z < b.z; })->z);
}

TEST(Tissue, AttachedNodesNeverMove) {
  const TissueModel model = sphere_tissue();
  SteppedTissue state = rest_state(model);
  const TissueHold pull{model.embedding[40], glm::vec3(0.f), glm::vec3(0.3f), 10.f};
  for (int frame = 0; frame < 30; ++frame) step(model, state, {{}, {}, {&pull, 1}}, 1.f / 60.f);
  int fixed = 0;
  for (std::size_t i = 0; i < model.rest.size(); ++i) {
    const bool inside = glm::distance(model.rest[i], kBall.centre) <= kBall.radius;
    EXPECT_EQ(model.inverse_mass[i] == 0.f, inside);
    if (!inside) continue;
    ++fixed;
    EXPECT_EQ(state.x[i], model.rest[i]);
  }
  EXPECT_GT(fixed, 3);
}

TEST(Tissue, StaysAtRestWithoutLoads) {
  const TissueModel model = sphere_tissue();
  SteppedTissue state = rest_state(model);
  for (int frame = 0; frame < 600; ++frame) EXPECT_EQ(step(model, state, {}, 1.f / 60.f), glm::vec3(0.f));
  EXPECT_LT(test::farthest_from_rest(model, state), 2e-5f);
}

TEST(Tissue, StiffTissueAndLongStepsNeedMoreSubsteps) {
  TissueModel model = sphere_tissue();
  EXPECT_GE(substep_count(model, 1.f / 60.f), 5);
  EXPECT_EQ(substep_count(model, 1e-4f), model.params.substeps);
  TissueParams stiff = model.params;
  stiff.youngs_modulus *= 16.f;
  stiff.damping_time = model.params.damping_time / 4.f;
  const TissueModel harder = make_tissue(shapes::icosphere(4).view(), stiff, {&kBall, 1});
  EXPECT_NEAR(substep_count(harder, 1.f / 60.f), 4 * substep_count(model, 1.f / 60.f), 4);
  EXPECT_EQ(substep_count(harder, 0.f), 1);
}

// Just below the longest substep a shaken lattice comes to rest; at 1.4 times it must not.
TEST(Tissue, LongestSubstepIsStableAndNotMuchTooShort) {
  for (const float beyond : {1.f, 1.4f}) {
    TissueModel model = sphere_tissue();
    SteppedTissue state = rest_state(model);
    for (std::size_t i = 0; i < state.x.size(); ++i)
      if (model.inverse_mass[i] > 0.f) state.x[i].x += 1e-5f * static_cast<float>(static_cast<int>(i * 7919 % 13) - 6);
    model.longest_substep *= beyond;
    for (int i = 0; i < 3000; ++i) step(model, state, {}, 0.999f * model.longest_substep);
    const float left = test::farthest_from_rest(model, state);
    EXPECT_TRUE(beyond == 1.f ? left < 2e-6f : left > 1e-4f) << beyond << " " << left;
  }
}

TEST(Tissue, IgnoresInvalidContactsAndTimes) {
  const TissueModel model = sphere_tissue();
  SteppedTissue state = rest_state(model);
  const auto vertices = static_cast<std::uint32_t>(model.embedding.size());
  const ToolStep tool{{0.0, 0.0, 0.5}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.2};
  const TissueContact contacts[] = {{0, 0, {0.f, NAN, 1.f}},
                                    {0, 1, {0.f, 0.f, 1.f}, 0, 0, INFINITY},
                                    {0, vertices, {0.f, 0.f, 1.f}},
                                    {1, 5, {0.f, 0.f, 1.f}}};
  const TissueHold holds[] = {{model.embedding[3], glm::vec3(NAN), glm::vec3(0.f), 1.f},
                              {model.embedding[3], glm::vec3(0.f), glm::vec3(0.f), 0.f}};
  EXPECT_EQ(step(model, state, {{&tool, 1}, contacts, holds}, 1.f / 60.f), glm::vec3(0.f));
  EXPECT_LT(test::farthest_from_rest(model, state), 1e-6f);
  const TissueContact sound{0, 5, {0.f, 0.f, 1.f}};
  for (const float dt : {0.f, -1.f, NAN, INFINITY})
    EXPECT_EQ(step(model, state, {{&tool, 1}, {&sound, 1}, {}}, dt), glm::vec3(0.f));
  EXPECT_LT(test::farthest_from_rest(model, state), 1e-6f);
}

// 500 steps of an intermittent press and pull give the same bits on every run.
TEST(Tissue, GoldenRun) {
  const auto run = [] {
    const TissueModel model = sphere_tissue();
    SteppedTissue state = rest_state(model);
    const TriangleMesh mesh = shapes::icosphere(4);
    for (int frame = 0; frame < 500; ++frame) {
      const double z = 0.0005 * std::abs(frame % 50 - 25);
      const ToolStep tool{{0.0, 0.0, 0.3}, {0.0, 0.0, 0.098 + z}, {0.0, 0.0, 0.098 + z}, 0.005};
      std::vector<TissueContact> contacts;
      for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
        if (mesh.positions[v].z > 0.095f) contacts.push_back({0, v, {0.f, 0.f, 1.f}});
      const glm::vec3 held = mesh.positions[100] + glm::vec3(0.0002f * static_cast<float>(frame % 90));
      const TissueHold hold{model.embedding[100], held, held, 2.f};
      step(model, state, {{&tool, 1}, contacts, std::span(&hold, frame % 90 < 60 ? 1 : 0)}, 1.f / 60.f);
    }
    return test::hash_of(state);
  };
  EXPECT_EQ(run(), run());
}

// A ligament yields and pulls back; tissue attached to the diaphragm moves with the breath.
TEST(Tissue, LigamentsYieldAndTheDiaphragmBreathes) {
  const TriangleMesh mesh = shapes::icosphere(3, 0.05f);
  TissueParams params;
  params.node_spacing = 0.0125f;
  const Attachment ligament{{0.f, 0.05f, 0.f}, 0.03f, 100.f, true};
  const Breathing breathing{0.004f, 0.5f, {0.f, -2.f, 0.f}};
  const TissueModel model = make_tissue(mesh.view(), params, {&ligament, 1}, breathing);
  double stiffness = 0.0;
  for (const Tether& tether : model.tethers) stiffness += tether.stiffness;
  EXPECT_NEAR(stiffness, 100.0, 1e-3);
  SteppedTissue state = rest_state(model);
  float lowest = 0.f;
  for (int frame = 0; frame < 120; ++frame) {
    step(model, state, {}, 1.f / 60.f);
    float mean = 0.f;
    for (std::size_t i = 0; i < state.x.size(); ++i) mean += (state.x[i].y - model.rest[i].y) / state.x.size();
    lowest = std::min(lowest, mean);
  }
  EXPECT_NEAR(lowest, -0.004f, 0.001f);
  EXPECT_NEAR(state.time, 2.0, 1e-5);
  EXPECT_LT(glm::length(breath(breathing, 2.0)), 1e-6f);
}

// Where a ligament overlaps a rigid attachment of the diaphragm, the diaphragm moves the common nodes.
TEST(Tissue, LigamentOverTheDiaphragmKeepsItBreathing) {
  const TriangleMesh mesh = shapes::icosphere(3, 0.05f);
  TissueParams params;
  params.node_spacing = 0.0125f;
  const Attachment attachments[] = {{{0.f, 0.05f, 0.f}, 0.03f, 0.f, true}, {{0.f, 0.05f, 0.f}, 0.03f, 100.f, false}};
  const Breathing breathing{0.004f, 0.5f, {0.f, -1.f, 0.f}};
  const TissueModel model = make_tissue(mesh.view(), params, attachments, breathing);
  ASSERT_FALSE(model.diaphragm.empty());
  SteppedTissue state = rest_state(model);
  for (int frame = 0; frame < 60; ++frame) step(model, state, {}, 1.f / 60.f);
  for (const std::uint32_t node : model.diaphragm) EXPECT_NEAR(state.x[node].y - model.rest[node].y, -0.004f, 1e-5f);
}

TEST(Tissue, ReportsInvalidParameters) {
  const TriangleMesh mesh = shapes::cube(0.1f);
  const auto sentence = [&](auto change) {
    TissueParams params;
    change(params);
    return sentence_of([&] { make_tissue(mesh.view(), params, {}); });
  };
  EXPECT_NE(sentence([](TissueParams& p) { p.youngs_modulus = 0.f; }).find("youngs_modulus is 0"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.youngs_modulus = -5.f; }).find("-5"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.youngs_modulus = NAN; }).find("nan"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.density = 0.f; }).find("density"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.damping_time = -1.f; }).find("damping_time"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.poisson_ratio = 0.5f; }).find("poisson_ratio"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.poisson_ratio = 0.2f; }).find("0.25 and 0.49"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.node_spacing = 0.f; }).find("node_spacing"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.node_spacing = 0.2f; }).find("larger than the organ"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.substeps = 0; }).find("substeps"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.gravity = glm::vec3(INFINITY); }).find("gravity"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.drag = -1.f; }).find("drag"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.friction = -1.f; }).find("friction"), std::string::npos);
  EXPECT_EQ(sentence([](TissueParams&) {}), "");
}

TEST(Tissue, ReportsWhichAttachmentFixesNothing) {
  const TriangleMesh mesh = shapes::cube(0.1f);
  const Attachment good{{0.05f, 0.05f, 0.05f}, 0.02f}, far{{1.f, 0.f, 0.f}, 0.02f}, flat{{0.f, 0.f, 0.f}, 0.f};
  const Attachment lost{{NAN, 0.f, 0.f}, 0.02f};
  const auto sentence = [&](const Attachment& second) {
    const Attachment list[] = {good, second};
    return sentence_of([&] { make_tissue(mesh.view(), {}, list); });
  };
  EXPECT_NE(sentence(far).find("attachment 1"), std::string::npos);
  EXPECT_NE(sentence(far).find("fixes nothing"), std::string::npos);
  EXPECT_NE(sentence(flat).find("radius"), std::string::npos);
  EXPECT_NE(sentence(lost), "");
}

// Compares the vector loops with each other bit for bit, and with the gradient of the energy in double.

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
    const double press =
        cell.volume_fraction * volume_modulus(model.params) * (1.0 - glm::determinant(edges) / (h * h * h));
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
  for (const LatticeCell& cell : model.lattice.cells) same.push_back(cell.volume_fraction);
  set_volume_fractions(model, all, same);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], model.stiffness[i], 1e-5f * before[i]);
  EXPECT_EQ(bulk, model.bulk);
  set_volume_fractions(model, all, std::vector<float>(all.size(), 0.f));
  EXPECT_EQ(spring_count(model), 0u);
  for (const float mass : model.mass) EXPECT_EQ(mass, 0.f);
  SteppedTissue state = rest_state(model);
  step(model, state, {}, 0.01f);
  EXPECT_EQ(test::farthest_from_rest(model, state), 0.f);
}

}  // namespace

// Tests the forces that restore crushed cells: the nearest rotation, the flatness of a cell, and that the forces sum
// to zero.
namespace unfold_test {

NodeColumns columns(std::span<const glm::vec3> points) {
  NodeColumns c;
  for (auto* axis : {&c.x, &c.y, &c.z}) axis->assign(points.size() + 2 * kLanes, 0.f);
  for (std::size_t i = 0; i < points.size(); ++i) c.x[i] = points[i].x, c.y[i] = points[i].y, c.z[i] = points[i].z;
  return c;
}

float flattest(const TissueModel& model, const NodeColumns& x) {
  std::vector<float> flatness(model.bulk.size());
  measure_flatness(model, x, flatness);
  float least = INFINITY;
  for (const std::uint32_t entry : model.bulk_index) least = std::min(least, flatness[entry]);
  return least;
}

TissueModel single_cell(float poisson_ratio = TissueParams{}.poisson_ratio) {
  TissueParams params;
  params.poisson_ratio = poisson_ratio, params.node_spacing = 0.01f;
  const TriangleMesh mesh = test::block(glm::vec3(0.01f));
  return make_tissue(mesh.view(), params, {});
}

TEST(Unfold, NearestRotationIgnoresStretch) {
  const std::uint32_t seed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> coordinate(-1.f, 1.f), stretch(0.2f, 3.f);
  const auto point = [&] { return glm::vec3(coordinate(random), coordinate(random), coordinate(random)); };
  for (int i = 0; i < 500; ++i) {
    const glm::mat3 turn = glm::mat3_cast(glm::angleAxis(2.5f * coordinate(random), glm::normalize(point() + 1e-3f)));
    const glm::mat3 axes = glm::mat3_cast(glm::angleAxis(3.f * coordinate(random), glm::normalize(point() + 1e-3f)));
    glm::mat3 scale(0.f);
    for (int axis = 0; axis < 3; ++axis) scale[axis][axis] = stretch(random);
    const glm::mat3 found = nearest_rotation(turn * axes * scale * glm::transpose(axes));
    for (int axis = 0; axis < 3; ++axis) EXPECT_LT(glm::distance(found[axis], turn[axis]), 0.02f) << i;
  }
}

TEST(Unfold, NearestRotationIsNeverAReflection) {
  for (const float x : {-1.f, 0.f, 1.f})
    for (const float y : {-1.f, 0.f, 1.f})
      for (const float z : {-1.f, 0.f, 1.f}) {
        const glm::mat3 r = nearest_rotation(glm::mat3(x, 0.f, 0.f, 0.f, y, 0.f, 0.f, 0.f, z));
        EXPECT_NEAR(glm::determinant(r), 1.f, 1e-5f);
      }
}

TEST(Unfold, FlatnessAgreesWithThePlainSum) {
  const TriangleMesh mesh = shapes::icosphere(3);
  TissueParams params;
  params.node_spacing = 0.013f;
  const TissueModel model = make_tissue(mesh.view(), params, {});
  std::mt19937 random(4);
  std::uniform_real_distribution<float> shake(-0.006f, 0.006f);
  std::vector<glm::vec3> points = model.rest;
  for (glm::vec3& p : points) p += glm::vec3(shake(random), shake(random), shake(random));
  std::vector<float> flatness(model.bulk.size());
  measure_flatness(model, columns(points), flatness);
  for (std::size_t cell = 0; cell < model.lattice.cells.size(); ++cell) {
    float smallest = INFINITY;
    for (int corner = 0; corner < 8; ++corner) {
      const auto& nodes = model.lattice.cells[cell].node;
      const glm::vec3 p = points[nodes[corner]];
      const glm::vec3 x = points[nodes[corner ^ 1]] - p, y = points[nodes[corner ^ 2]] - p;
      const float volume = glm::dot(x, glm::cross(y, points[nodes[corner ^ 4]] - p));
      smallest = std::min(smallest, __builtin_parity(corner) ? -volume : volume);
    }
    EXPECT_NEAR(flatness[model.bulk_index[cell]], smallest / (0.013f * 0.013f * 0.013f), 1e-4f);
  }
}

TEST(Unfold, CellAtRestIsNotFlatAndHasNoForce) {
  const TissueModel model = single_cell();
  const NodeColumns x = columns(model.rest);
  EXPECT_NEAR(flattest(model, x), 1.f, 1e-5f);
  NodeColumns force = columns(std::vector<glm::vec3>(8));
  add_unfolding_forces(model, {{0, 2, 4, 6}, 1.f}, x, columns(model.rest), force);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_LT(glm::length(glm::vec3(force.x[i], force.y[i], force.z[i])), 1e-6f);
}

TEST(Unfold, ForcesSumToZero) {
  const TissueModel model = single_cell();
  std::vector<glm::vec3> points = model.rest;
  points[3] = -2.f * points[3];
  points[6] += glm::vec3(0.f, 0.02f, 0.f);
  NodeColumns force = columns(std::vector<glm::vec3>(8));
  add_unfolding_forces(model, {{0, 2, 4, 6}, 1.f}, columns(points), columns(points), force);
  glm::vec3 sum(0.f);
  float largest = 0.f;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const glm::vec3 f(force.x[i], force.y[i], force.z[i]);
    sum += f;
    largest = std::max(largest, glm::length(f));
  }
  EXPECT_GT(largest, 0.01f);
  EXPECT_LT(glm::length(sum), 1e-5f * largest);
}

// Each corner of a cell in turn is pushed through the opposite one: without unfolding, springs keep it there. At a
// Poisson's ratio of 0.25 cells have no volume term of their own, and still unfold.
TEST(Unfold, CellTurnedInsideOutRecovers) {
  for (const float poisson_ratio : {TissueParams{}.poisson_ratio, 0.25f}) {
    const TissueModel model = single_cell(poisson_ratio);
    for (int corner = 0; corner < 8; ++corner) {
      SteppedTissue state = rest_state(model);
      const glm::vec3 centre = 0.5f * (model.rest[0] + model.rest[7]);
      state.x[corner] = centre - 1.4f * (model.rest[corner] - centre);
      for (int frame = 0; frame < 300; ++frame) step(model, state, {}, 1.f / 60.f);
      for_each_spring(model, [&](const Spring& s) {
        EXPECT_NEAR(glm::distance(state.x[s.a], state.x[s.b]), s.rest_length, 1e-4f) << "corner " << corner;
      });
      EXPECT_GT(flattest(model, columns(state.x)), 0.9f) << "Poisson's ratio " << poisson_ratio;
    }
  }
}

}  // namespace unfold_test

namespace {

// Tests that tissue stays finite under any load and returns to rest when the loads are removed.

// A tool that jumps, sweeps at 1 m/s or rests, and jaws that grasp points and pull them 200 mm away.
struct Violence {
  const TriangleMesh& mesh;
  const TissueModel& model;
  std::mt19937 random;
  float dt;
  ToolStep tool{{0.3, 0.0, 0.0}, {0.2, 0.0, 0.0}, {0.2, 0.0, 0.0}, 0.0025};
  std::vector<TissueHold> holds = {};

  double within(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }
  glm::dvec3 somewhere(double reach) { return {within(-reach, reach), within(-reach, reach), within(-reach, reach)}; }

  void move_tool() {
    const double choice = within(0.0, 1.0);
    tool.tip_before = tool.tip_after;
    if (choice < 0.1)
      tool.pivot = somewhere(0.15), tool.tip_before = somewhere(0.08), tool.radius = within(0.001, 0.01);
    if (choice < 0.3) tool.tip_after = somewhere(0.08);
    if (choice > 0.5) tool.tip_after += glm::normalize(somewhere(1.0) + 1e-3) * (1.0 * dt);
  }
  void grab_or_let_go(std::span<const glm::vec3> positions) {
    if (within(0.0, 1.0) < 0.5) return holds.clear();
    const glm::vec3 centre = positions[random() % positions.size()], pull(somewhere(0.2));
    const float limit = within(0.0, 1.0) < 0.1 ? 1000.f : 4.f;
    holds.clear();
    for (std::size_t v = 0; v < positions.size(); ++v)
      if (glm::distance(positions[v], centre) < 0.02f)
        holds.push_back({model.embedding[v], positions[v], positions[v] + pull, limit});
  }
};

void violate(float modulus, int steps, float dt, float rest_seconds, std::uint32_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", E " << modulus << " Pa, dt " << dt << " s");
  const TriangleMesh mesh = shapes::icosphere(2, 0.05f);
  const Attachment ball{{0.f, 0.05f, 0.f}, 0.035f};
  TissueParams params;
  params.youngs_modulus = modulus, params.node_spacing = 0.0125f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  test::Press press{mesh, model};
  Violence violence{mesh, model, std::mt19937(seed), dt};
  for (int i = 0; i < steps; ++i) {
    violence.move_tool();
    if (i % 30 == 0) violence.grab_or_let_go(press.positions);
    const glm::vec3 force = press.frame(violence.tool, dt, violence.holds);
    for (TissueHold& hold : violence.holds) hold.from = hold.to;
    ASSERT_TRUE(std::isfinite(force.x + force.y + force.z)) << "step " << i;
  }
  ASSERT_TRUE(std::isfinite(test::farthest_from_rest(model, press.state)));
  for (float t = 0.f; t < rest_seconds; t += dt) step(model, press.state, {}, dt);
  EXPECT_LT(test::farthest_from_rest(model, press.state), 0.01f * 0.1f);  // 1 % of the organ
}

// Returns the number of steps, which the environment sets: TROCAR_STRESS_STEPS=1000000 takes half an hour.
int stress_steps() {
  const char* steps = std::getenv("TROCAR_STRESS_STEPS");
  return steps ? std::atoi(steps) : 3000;
}

TEST(TissueStress, ViolentSteps) { violate(6000.f, stress_steps(), 1.f / 60.f, 15.f, 1); }
TEST(TissueStress, StiffTissueInLongSteps) { violate(1e5f, 200, 1.f / 20.f, 5.f, 2); }
TEST(TissueStress, SoftTissueInShortSteps) { violate(1000.f, 2000, 1.f / 500.f, 8.f, 3); }

// Every free node starts at a random position with a large random velocity: all cells are torn inside out. This is the
// worst start: sometimes the tissue settles in a knot. Of 24 seeds, 22 recover the shape.
TEST(TissueStress, ScrambledTissueRecoversItsShape) {
  const TriangleMesh mesh = shapes::icosphere(2, 0.05f);
  const Attachment ball{{0.f, 0.05f, 0.f}, 0.035f};
  TissueParams params;
  params.node_spacing = 0.0125f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  int back = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    SteppedTissue state = rest_state(model);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> coordinate(-0.05f, 0.05f);
    for (std::size_t i = 0; i < state.x.size(); ++i)
      if (model.inverse_mass[i] > 0.f) {
        state.x[i] = glm::vec3(coordinate(random), coordinate(random), coordinate(random));
        state.v[i] = 100.f * glm::vec3(coordinate(random), coordinate(random), coordinate(random));
      }
    for (int frame = 0; frame < 900; ++frame) step(model, state, {}, 1.f / 60.f);
    const float farthest = test::farthest_from_rest(model, state);
    EXPECT_TRUE(std::isfinite(farthest)) << "seed " << seed;
    back += farthest < 0.001f;
  }
  std::printf("%d of 12 seeds back at rest\n", back);
  EXPECT_GE(back, 10);
}

// Tests the lattice of an organ: its cells and their volume fraction on known shapes, the triangle-box test, refused
// spacings, its report, and the highest frequency.

using test::block;

double filled_volume(const MeshView& organ, double spacing) {
  const Lattice lattice = make_lattice(organ, spacing);
  double sum = 0.0;
  for (const float share : measure_volume_fractions(organ, lattice)) sum += share;
  return sum * spacing * spacing * spacing;
}

TEST(Lattice, BlockOfWholeCellsHasExactlyTheseCells) {
  const TriangleMesh mesh = block({0.04f, 0.024f, 0.016f});
  const Lattice lattice = make_lattice(mesh.view(), 0.008);
  EXPECT_EQ(lattice.size, glm::ivec3(5, 3, 2));
  EXPECT_EQ(lattice.cells.size(), 30u);
  EXPECT_EQ(lattice.node_at.size(), 6u * 4u * 3u);
  for (const LatticeCell& cell : lattice.cells) EXPECT_NEAR(cell.volume_fraction, 1.f, 1e-4f);
}

TEST(Lattice, FullnessAddsUpToTheVolume) {
  for (const TriangleMesh& mesh : {shapes::icosphere(4), shapes::torus(48, 24), shapes::cube(0.093f)})
    for (const double spacing : {0.008, 0.013, 0.03})
      EXPECT_NEAR(filled_volume(mesh.view(), spacing) / closed_volume(mesh.view()), 1.0, 1e-5) << spacing;
}

// A block of 2.6 x 1.7 x 3.2 cells, in the middle of its lattice: the fraction of a cell is the product of three.
TEST(Lattice, FullnessOfABlockIsAProduct) {
  const Lattice lattice = make_lattice(block({0.026f, 0.017f, 0.032f}).view(), 0.01);
  const glm::dvec3 beside = 0.5 * (glm::dvec3(2.6, 1.7, 3.2) - glm::dvec3(1.0, 0.0, 2.0));
  for (const LatticeCell& cell : lattice.cells) {
    double wanted = 1.0;
    for (int k = 0; k < 3; ++k)
      if (cell.at[k] == 0 || cell.at[k] == lattice.size[k] - 1) wanted *= beside[k];
    EXPECT_NEAR(cell.volume_fraction, wanted, 1e-5);
  }
}

// Inner walls anywhere in the cells and on lattice planes.
TEST(Lattice, HollowIsMeasured) {
  for (const float inner : {0.064f, 0.068f, 0.066f, 0.062f}) {
    const TriangleMesh mesh = shapes::joined(shapes::cube(0.096f), shapes::turned(shapes::cube(inner)));
    EXPECT_NEAR(filled_volume(mesh.view(), 0.008) / closed_volume(mesh.view()), 1.0, 1e-5) << inner;
  }
}

TEST(Lattice, FullnessOfASphereAgreesWithCounting) {
  const float radius = 0.05f;
  const TriangleMesh mesh = shapes::icosphere(5, radius);
  const Lattice lattice = make_lattice(mesh.view(), 0.02);
  const std::vector<float> volume_fraction = measure_volume_fractions(mesh.view(), lattice);
  constexpr int kCounts = 24;
  for (int z = 0; z < lattice.size.z; ++z)
    for (int y = 0; y < lattice.size.y; ++y)
      for (int x = 0; x < lattice.size.x; ++x) {
        int inside = 0;
        for (int i = 0; i < kCounts * kCounts * kCounts; ++i) {
          const glm::dvec3 sample(i % kCounts + 0.5, i / kCounts % kCounts + 0.5, i / kCounts / kCounts + 0.5);
          const glm::dvec3 p = lattice.origin + 0.02 * (glm::dvec3(x, y, z) + sample / double(kCounts));
          inside += glm::dot(p, p) < radius * radius;
        }
        EXPECT_NEAR(volume_fraction[lattice.flat({x, y, z})], inside / double(kCounts * kCounts * kCounts), 0.02);
      }
}

TEST(Lattice, EveryCellTouchedByAFaceExists) {
  const TriangleMesh mesh = shapes::torus(24, 12);
  const Lattice lattice = make_lattice(mesh.view(), 0.01);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    for (int i = 0; i < 20; ++i) {
      const double u = share(random), v = share(random) * (1.0 - u);
      const glm::dvec3 p = t.a + u * (t.b - t.a) + v * (t.c - t.a);
      const glm::dvec3 inside = glm::fract((p - lattice.origin) / lattice.spacing);
      const bool clear = glm::all(glm::greaterThan(inside, glm::dvec3(1e-3))) &&
                         glm::all(glm::lessThan(inside, glm::dvec3(1.0 - 1e-3)));
      if (clear) {
        EXPECT_GE(lattice.cell_of[lattice.flat(lattice.column_of(p))], 0);
      }
    }
  }
}

TEST(Lattice, TriangleBoxOverlapAgreesWithSampling) {
  const std::uint32_t seed = 20240611;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(-2.0, 2.0);
  const auto point = [&] { return glm::dvec3(coordinate(random), coordinate(random), coordinate(random)); };
  int touching = 0;
  for (int i = 0; i < 2000; ++i) {
    const Triangle t{point(), point(), point()};
    const glm::dvec3 half(0.7, 0.4, 0.5);
    double nearest = INFINITY;  // over sampled points, distance outside the box (largest coordinate)
    for (int u = 0; u <= 40; ++u)
      for (int v = 0; v + u <= 40; ++v) {
        const glm::dvec3 p = glm::abs(t.a + (t.b - t.a) * (u / 40.0) + (t.c - t.a) * (v / 40.0)) - half;
        nearest = std::min(nearest, std::max({p.x, p.y, p.z}));
      }
    const bool touches = triangle_touches_box(t, glm::dvec3(0.0), half);
    touching += touches;
    if (nearest <= 0.0) {
      EXPECT_TRUE(touches);
    }
    if (nearest > 0.12) {
      EXPECT_FALSE(touches);
    }
  }
  EXPECT_GT(touching, 200);
}

TEST(Lattice, NeighboursAlongXHaveConsecutiveNumbers) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const Lattice lattice = make_lattice(mesh.view(), 0.02);
  for (const LatticeCell& cell : lattice.cells)
    for (int corner = 0; corner < 8; corner += 2) EXPECT_EQ(cell.node[corner] + 1, cell.node[corner + 1]);
}

TEST(Lattice, RefusesInvalidSpacings) {
  const TriangleMesh mesh = shapes::cube(0.1f);
  EXPECT_NE(sentence_of([&] { make_lattice(mesh.view(), 0.11); }).find("larger than the organ"), std::string::npos);
  EXPECT_NE(sentence_of([&] { make_lattice(mesh.view(), 1e-5); }).find("too small"), std::string::npos);
}

// Tests the report on a lattice: a block whose numbers are known, separate pieces, half-full cells.

TEST(LatticeReport, MatchesABlock) {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TriangleMesh mesh = test::block({0.08f, 0.04f, 0.03f});
  const TissueModel model = make_tissue(mesh.view(), params, {});
  const LatticeReport report = lattice_report(model, mesh.positions);
  EXPECT_EQ(report.cells, 8u * 4 * 3);
  EXPECT_EQ(report.nodes, 9u * 5 * 4);
  EXPECT_EQ(report.springs, spring_count(model));
  EXPECT_NEAR(report.whole, 1.0, 1e-9);
  EXPECT_NEAR(report.volume, 96e-6, 1e-9);
  EXPECT_NEAR(report.organ_volume, 96e-6, 1e-9);
  EXPECT_NEAR(report.mass, 96e-6 * 1060.0, 1e-6);
  EXPECT_EQ(report.pieces, 1u);
  EXPECT_EQ(report.cells_across, 4);
  EXPECT_LT(report.worst_embedding, 1e-7);
  EXPECT_EQ(report.substeps_per_frame, substep_count(model, 1.f / 60.f));
}

TEST(LatticeReport, CountsPiecesAndHalfFullCells) {
  TriangleMesh two = test::block(glm::vec3(0.025f));
  const TriangleMesh other = test::block(glm::vec3(0.025f));
  const auto count = static_cast<std::uint32_t>(two.positions.size());
  for (const glm::vec3& p : other.positions) two.positions.push_back(p + glm::vec3(0.1f, 0.f, 0.f));
  for (const glm::uvec3& face : other.faces) two.faces.push_back(face + count);
  TissueParams params;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(two.view(), params, {});
  const LatticeReport report = lattice_report(model, two.positions);
  EXPECT_EQ(report.pieces, 2u);
  EXPECT_LT(report.whole, 0.5);
  EXPECT_NEAR(report.volume / report.organ_volume, 1.0, 0.05);
}

// Compares the highest frequency with a closed form, and tests its bound when cells are removed.

std::vector<std::uint32_t> all_cells(const TissueModel& model) {
  std::vector<std::uint32_t> cells(model.lattice.cells.size());
  std::iota(cells.begin(), cells.end(), 0u);
  return cells;
}

// Tests a single full cell whose eight corners move out and in: with u = s at every corner (s its signs), the edges
// contribute 4 k1/4 each along one axis, the face diagonals 2 k2/2, the body diagonals k3, and the volume K h 3^2 / 4.
TEST(Stability, FrequencyOfASingleCellMatchesTheClosedForm) {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(test::block(glm::vec3(0.01f)).view(), params, {});
  const double edge = spring_share(params, 1), face = spring_share(params, 2), body = spring_share(params, 3);
  // The force on a corner along x per unit of u comes from its edge along x (stretched by 2), two face diagonals and a
  // body diagonal.
  const double springs = 2.0 * edge + 2.0 * 2.0 * face + 2.0 * body;
  const double volume = volume_modulus(params) * params.node_spacing * 8.0 * 3.0 / 16.0;
  const double expected = std::sqrt((springs + volume) / (model.cell_mass / 8.0));
  EXPECT_NEAR(highest_frequency(model, all_cells(model)) / expected, 1.0, 0.01);
}

TEST(Stability, NoPieceIsFasterThanTheWhole) {
  const TissueModel model = make_tissue(shapes::icosphere(3, 0.05f).view(), {}, {});
  const std::vector<std::uint32_t> cells = all_cells(model);
  const double whole = highest_frequency(model, cells);
  for (std::size_t size : {1u, 8u, 60u})
    EXPECT_LE(highest_frequency(model, std::span(cells).first(size)), whole * 1.02);
}

TEST(Stability, DampingShortensTheSubstep) {
  TissueParams params;
  params.damping_time = 0.f;
  const float undamped = longest_substep(params, 1000.0);
  EXPECT_NEAR(undamped, std::sqrt(0.8f) * 2e-3f, 1e-6f);
  params.damping_time = 1e-3f;
  const float damped = longest_substep(params, 1000.0);
  EXPECT_LT(damped, undamped);
  // w^2 dt^2 + 2 beta w^2 dt = 4 * 0.8
  EXPECT_NEAR(1e6f * damped * damped + 2e3f * damped, 3.2f, 1e-3f);
  EXPECT_EQ(longest_substep(params, 0.0), INFINITY);
}

// Cells are removed one after another, some in the middle, some leaving isolated cells: the step stays stable.
TEST(Stability, SurvivesRemovalOfCells) {
  TissueParams params;
  params.node_spacing = 0.01f;
  TissueModel model = make_tissue(test::block(glm::vec3(0.05f)).view(), params, {});
  SteppedTissue state = rest_state(model);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t cell = i * 61 % static_cast<std::uint32_t>(model.lattice.cells.size());
    const float none = i % 3 == 0 ? 0.1f : 0.f;
    set_volume_fractions(model, {&cell, 1}, {&none, 1});
    for (std::size_t n = 0; n < state.x.size(); ++n) state.x[n].x += 1e-5f * (n % 2 == 0 ? 1.f : -1.f);
    for (int frame = 0; frame < 10; ++frame) step(model, state, {}, 1.f / 60.f);
  }
  EXPECT_LT(test::farthest_from_rest(model, state), 5e-3f);
}

}  // namespace

}  // namespace trocar
