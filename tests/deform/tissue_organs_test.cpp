// Tests the tissue of real organs: ours, and those of the shared test data if they are present.
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Builds the tissue, checks mass and embedding, presses it for half a second from above, and releases it.
void press_and_release(const TriangleMesh& mesh) {
  std::uint32_t top = 0, bottom = 0;
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v) {
    if (mesh.positions[v].z > mesh.positions[top].z) top = v;
    if (mesh.positions[v].z < mesh.positions[bottom].z) bottom = v;
  }
  const Attachment under{mesh.positions[bottom], 0.03f};
  const TissueModel model = make_tissue(mesh.view(), {}, {&under, 1});
  double mass = 0.0;
  for (const float m : model.mass) mass += m;
  EXPECT_NEAR(mass / (1060.0 * closed_volume(mesh.view())), 1.0, 1e-5);

  test::Press press{mesh, model};
  embed_surface(model, press.state.x, press.positions);
  for (std::size_t v = 0; v < press.positions.size(); ++v)
    EXPECT_LT(glm::distance(press.positions[v], mesh.positions[v]), 2e-7f);

  const glm::dvec3 start = glm::dvec3(mesh.positions[top]) + glm::dvec3(0.0, 0.0, 0.003);
  glm::vec3 force(0.f);
  for (int frame = 1; frame <= 30; ++frame) {
    const glm::dvec3 before = start - glm::dvec3(0.0, 0.0, 3e-4 * (frame - 1)),
                     after = start - glm::dvec3(0.0, 0.0, 3e-4 * frame);
    force = press.frame({start + glm::dvec3(0.0, 0.0, 0.2), before, after, 0.0025}, 1.f / 60.f);
  }
  EXPECT_GT(force.z, 0.01f);
  EXPECT_LT(glm::length(force), 3.f);
  EXPECT_GT(glm::distance(press.positions[top], mesh.positions[top]), 0.003f);
  for (int frame = 0; frame < 240; ++frame) step(model, press.state, {}, 1.f / 60.f);
  EXPECT_LT(test::farthest_from_rest(model, press.state), 2e-4f);
}

TEST(TissueOrgans, OurLiver) { press_and_release(load_mesh(repository_file("data/organs/liver.obj"))); }
TEST(TissueOrgans, OurStomach) { press_and_release(load_mesh(repository_file("data/organs/stomach.obj"))); }

TEST(TissueOrgans, OpenHelpLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "no shared organs here";
  press_and_release(load_mesh(*file));
}

TEST(TissueOrgans, ReportsTheHoleOfADirtyLiver) {
  const auto file = shared_file("organs/gallbladder/liver_visual.stl");
  if (!file) GTEST_SKIP() << "no shared organs here";
  const TriangleMesh mesh = load_mesh(*file);
  const std::string sentence = test::sentence_of([&] { make_tissue(mesh.view(), {}, {}); });
  EXPECT_NE(sentence.find("hole at edge"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace trocar
