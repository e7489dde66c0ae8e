// Burns real organs: tests that they are closed after every burn, and measures the time of a burn.
#include <ctime>

#include "mesh/mesh_io.hpp"
#include "tests/deform/sculpt_support.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

double cpu_milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Times {
  double sum = 0.0, longest = 0.0;
  int count = 0;
  void add(double ms) {
    sum += ms;
    longest = std::max(longest, ms);
    ++count;
  }
  double mean() const { return count > 0 ? sum / count : 0.0; }
};

void burn_at_random(const TriangleMesh& mesh, std::uint32_t seed, int burns) {
  const Attachment hold{mesh.positions[0], 0.04f};
  TissueModel model = make_tissue(mesh.view(), {}, {&hold, 1});
  SteppedTissue state = rest_state(model);
  Sculpture sculpture = make_sculpture(mesh.view(), model);
  EXPECT_NEAR(test::voxel_volume(sculpture) / test::enclosed_volume(sculpture), 1.0, 0.005);

  test::Wander wander(seed);
  std::vector<glm::vec3> positions = mesh.positions;
  Times burning, idle;
  for (int i = 0; i < burns; ++i) {
    if (i % 100 == 0)
      for (std::size_t n = 0; n < state.x.size(); ++n)
        state.x[n] = model.rest[n] + 0.004f * static_cast<float>(i / 100) * wander.somewhere();
    positions.resize(sculpture.rest.size());
    embed_surface(model, state.x, positions);
    const HotSegment hot = wander.next(sculpture, positions, 0.004f);
    const test::Witness witness(sculpture, model);
    const double begin = cpu_milliseconds();
    const bool nothing = burn(sculpture, model, state, hot).nothing();
    (nothing ? idle : burning).add(cpu_milliseconds() - begin);
    if (nothing) continue;
    witness.check(sculpture, model);
    ASSERT_EQ(test::open_edges(faces(sculpture)), 0u) << "burn " << i;
  }
  test::check_carried(sculpture, model);
  const double taken = closed_volume(mesh.view()) - test::enclosed_volume(sculpture);
  std::printf("seed %u: %zu faces, %d burns took %.1f ml: mean %.2f ms, longest %.2f ms; unchanged: mean %.3f ms\n",
              seed, faces(sculpture).size(), burning.count, taken * 1e6, burning.mean(), burning.longest, idle.mean());
  EXPECT_GT(burning.count, burns / 4);
}

TEST(SculptOrgans, OurLiver) { burn_at_random(load_mesh(repository_file("data/organs/liver.obj")), 51, 300); }
TEST(SculptOrgans, OurStomach) { burn_at_random(load_mesh(repository_file("data/organs/stomach.obj")), 52, 300); }

TEST(SculptOrgans, OpenHelpLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "no shared organs here";
  burn_at_random(load_mesh(*file), 53, 300);
}

// Cuts off a lobe through the whole organ, plane by plane of burns, as in a resection.
TEST(SculptOrgans, LobeCutOff) {
  const TriangleMesh mesh = load_mesh(repository_file("data/organs/liver.obj"));
  glm::vec3 low(INFINITY), high(-INFINITY);
  for (const glm::vec3& p : mesh.positions) low = glm::min(low, p), high = glm::max(high, p);
  const Attachment hold{{low.x + 0.3f * (high.x - low.x), high.y, 0.5f * (low.z + high.z)}, 0.04f};
  TissueModel model = make_tissue(mesh.view(), {}, {&hold, 1});
  const SteppedTissue state = rest_state(model);
  Sculpture sculpture = make_sculpture(mesh.view(), model);
  const float x = low.x + 0.75f * (high.x - low.x);
  Times burning;
  std::size_t loose = 0;
  double parting = 0.0;
  for (float z = high.z; z > low.z - 0.004f; z -= 0.003f)
    for (float y = low.y; y < high.y; y += 0.003f) {
      const double begin = cpu_milliseconds();
      const SculptChange& change = burn(sculpture, model, state, {{x, y, z}, {x, y, z + 0.006f}, 0.004f});
      if (change.nothing()) continue;
      burning.add(cpu_milliseconds() - begin);
      if (!change.loose.empty()) parting = cpu_milliseconds() - begin;
      loose += change.loose.size();
    }
  EXPECT_EQ(test::open_edges(faces(sculpture)), 0u);
  EXPECT_GT(loose, 100u);
  for (std::uint32_t c = 0; c < sculpture.cells.size(); ++c)
    if (!sculpture.cells[c].dead) {
      EXPECT_EQ(sculpture.cells[c].loose, model.lattice.position(model.lattice.cells[c].node[0]).x > x - 0.004f);
    }
  std::printf("%zu cells fall; %d burns: mean %.2f ms, longest %.2f ms, the separating one %.2f ms\n", loose,
              burning.count, burning.mean(), burning.longest, parting);
}

}  // namespace
}  // namespace trocar
