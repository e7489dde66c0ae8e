// Tests the model and the time step of the tissue: springs, mass, embedding, substeps, ligaments, breathing, invalid
// input, and a golden run.
#include "deform/tissue.hpp"

#include <cmath>
#include <random>
#include <set>

#include "mesh/mesh_report.hpp"
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

}  // namespace
}  // namespace trocar
