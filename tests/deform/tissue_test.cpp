#include "deform/tissue.hpp"

#include <random>
#include <set>

#include "deform/closed_surface.hpp"
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

TEST(Tissue, SpringsOfAColourShareNoNode) {
  const TissueModel model = sphere_tissue();
  ASSERT_EQ(model.colours.front(), 0u);
  ASSERT_EQ(model.colours.back(), model.springs.size());
  for (std::size_t colour = 0; colour + 1 < model.colours.size(); ++colour) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = model.colours[colour]; i < model.colours[colour + 1]; ++i) {
      EXPECT_TRUE(seen.insert(model.springs[i].a).second);
      EXPECT_TRUE(seen.insert(model.springs[i].b).second);
    }
  }
}

TEST(Tissue, RunsHoldEverySpringOnce) {
  const TissueModel model = sphere_tissue();
  std::vector<int> seen(model.springs.size());
  for (const SpringRun& run : model.runs)
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const Spring& s = model.springs[run.first + i];
      ++seen[run.first + i];
      EXPECT_EQ(s.a, run.a + i * run.stride);
      EXPECT_EQ(s.b, run.b + i * run.stride);
      EXPECT_EQ(s.rest_length, run.rest_length);
      EXPECT_EQ(s.stiffness, model.stiffness[run.first + i]);
    }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(seen.size()));
}

TEST(Tissue, SpringsJoinNodesAtTheirRestLengthAndNoPairTwice) {
  const TissueModel model = sphere_tissue();
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Spring& s : model.springs) {
    EXPECT_LT(s.a, s.b);
    EXPECT_GT(s.stiffness, 0.f);
    EXPECT_NEAR(glm::distance(model.rest[s.a], model.rest[s.b]), s.rest_length, 1e-7f);
    EXPECT_TRUE(pairs.insert({s.a, s.b}).second);
  }
}

TEST(Tissue, WeighsWhatTheOrganWeighs) {
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
  embed_surface(model, nodes, fast);
  embed_surface_plainly(model, nodes, plain);
  EXPECT_EQ(fast, plain);
}

TEST(Tissue, AttachedNodesNeverMove) {
  const TissueModel model = sphere_tissue();
  TissueState state = rest_state(model);
  const TissueContact contact{40, {0.f, 0.f, 1.f}, 0.03f};
  for (int frame = 0; frame < 30; ++frame) step(model, state, {&contact, 1}, 1.f / 60.f);
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

TEST(Tissue, LeftAloneItStaysAtRest) {
  const TissueModel model = sphere_tissue();
  TissueState state = rest_state(model);
  for (int frame = 0; frame < 600; ++frame) EXPECT_EQ(step(model, state, {}, 1.f / 60.f), glm::vec3(0.f));
  EXPECT_LT(test::farthest_from_rest(model, state), 2e-5f);
}

TEST(Tissue, StiffTissueAndLongStepsTakeMoreSubsteps) {
  TissueModel model;
  EXPECT_GE(substep_count(model, 1.f / 60.f), model.params.substeps);
  EXPECT_EQ(substep_count(model, 1e-4f), model.params.substeps);
  const int soft = substep_count(model, 1.f / 60.f);
  model.params.youngs_modulus *= 16.f;
  EXPECT_NEAR(substep_count(model, 1.f / 60.f), 4 * soft, 4);
  model.params.youngs_modulus = 1e12f;
  EXPECT_EQ(substep_count(model, 1.f / 60.f), 64);
}

TEST(Tissue, IgnoresContactsAndTimesThatMakeNoSense) {
  const TissueModel model = sphere_tissue();
  TissueState state = rest_state(model);
  const auto vertices = static_cast<std::uint32_t>(model.embedding.size());
  const TissueContact contacts[] = {
      {0, {0.f, NAN, 1.f}, 0.01f}, {1, {0.f, 0.f, 1.f}, INFINITY}, {vertices, {0.f, 0.f, 1.f}, 0.01f}};
  EXPECT_EQ(step(model, state, contacts, 1.f / 60.f), glm::vec3(0.f));
  EXPECT_LT(test::farthest_from_rest(model, state), 1e-6f);
  const TissueContact sound{5, {0.f, 0.f, 1.f}, 0.01f};
  for (const float dt : {0.f, -1.f, NAN, INFINITY}) EXPECT_EQ(step(model, state, {&sound, 1}, dt), glm::vec3(0.f));
  EXPECT_LT(test::farthest_from_rest(model, state), 1e-6f);
}

// 500 steps of a press that comes and goes give the same bits on every run.
TEST(Tissue, GoldenRun) {
  const auto run = [] {
    const TissueModel model = sphere_tissue();
    TissueState state = rest_state(model);
    for (int frame = 0; frame < 500; ++frame) {
      const float depth = 0.001f * static_cast<float>(frame % 50 - 25);
      const TissueContact contacts[] = {{7, {0.f, -0.6f, 0.8f}, depth}, {100, {1.f, 0.f, 0.f}, 0.5f * depth}};
      step(model, state, std::span(contacts).first(frame % 90 < 60 ? 2 : 0), 1.f / 60.f);
    }
    return test::hash_of(state);
  };
  EXPECT_EQ(run(), run());
}

TEST(Tissue, SaysWhatIsWrongWithTheParameters) {
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
  EXPECT_NE(sentence([](TissueParams& p) { p.damping = 1.5f; }).find("damping"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.node_spacing = 0.f; }).find("node_spacing"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.node_spacing = 0.2f; }).find("larger than the organ"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.substeps = 0; }).find("substeps"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.gravity = INFINITY; }).find("gravity"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.drag = -1.f; }).find("drag"), std::string::npos);
  EXPECT_NE(sentence([](TissueParams& p) { p.friction = -1.f; }).find("friction"), std::string::npos);
  EXPECT_EQ(sentence([](TissueParams&) {}), "");
}

TEST(Tissue, SaysWhichAttachmentFixesNothing) {
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
