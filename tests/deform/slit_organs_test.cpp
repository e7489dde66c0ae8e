// Cuts our liver with blades, at rest and while it is bent: measures the error of the cut and its time.
#include <ctime>

#include "mesh/mesh_io.hpp"
#include "tests/deform/slit_support.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

double cpu_milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Bends the liver smoothly by up to `amount` metres.
void bend(const TissueModel& model, SteppedTissue& state, float amount) {
  for (std::size_t n = 0; n < state.x.size(); ++n) {
    const glm::vec3 p = model.rest[n];
    state.x[n] = p + amount * glm::vec3(std::sin(40.f * p.y), std::sin(50.f * p.z), std::sin(30.f * p.x));
  }
}

// Snips along the liver's lower edge, from the side of the edge towards the middle of the organ.
TEST(SlitOrgans, StraightCutsOfOurLiver) {
  const TriangleMesh mesh = load_mesh(repository_file("data/organs/liver.obj"));
  glm::vec3 low(INFINITY), high(-INFINITY);
  for (const glm::vec3& p : mesh.positions) low = glm::min(low, p), high = glm::max(high, p);
  const Attachment hold{0.5f * (low + high), 0.04f};
  for (const float amount : {0.f, 0.006f}) {
    TissueModel model = make_tissue(mesh.view(), {}, {&hold, 1});
    SteppedTissue state = rest_state(model);
    bend(model, state, amount);
    Sculpture sculpture = make_sculpture(mesh.view(), model);
    const double volume = test::enclosed_volume(sculpture);
    double largest = 0.0, sum = 0.0, time = 0.0, longest = 0.0;
    int cuts = 0;
    for (int i = 1; i < 16; ++i) {
      // The lowest point of the organ near this x.
      std::vector<glm::vec3> positions(sculpture.rest.size());
      embed_surface(model, state.x, positions);
      const float x = low.x + static_cast<float>(i) / 16.f * (high.x - low.x);
      glm::vec3 edge(0.f, INFINITY, 0.f);
      for (const glm::vec3& p : positions)
        if (std::abs(p.x - x) < 0.003f && p.y < edge.y) edge = p;
      const BladeCut cut =
          test::rectangle_cut(edge - glm::vec3(0.f, 0.004f, 0.f), {0.1f, 1.f, 0.05f}, {0.f, 0.f, 1.f}, 0.015f, 0.008f);
      const double begin = cpu_milliseconds();
      const bool nothing = snip(sculpture, model, state, cut).nothing();
      const double taken = cpu_milliseconds() - begin;
      ASSERT_EQ(test::open_edges(faces(sculpture)), 0u) << "cut " << i;
      if (nothing) continue;
      positions.resize(sculpture.rest.size());
      embed_surface(model, state.x, positions);
      const test::CutError error = test::cut_error(sculpture, positions, cut);
      largest = std::max(largest, error.largest), sum += error.mean;
      time += taken, longest = std::max(longest, taken);
      ++cuts;
    }
    std::printf(
        "bent by %.0f mm: %d cuts of %zu faces, error %.3f mm at most, mean %.4f mm; %.2f ms, at most %.2f ms\n",
        1e3 * static_cast<double>(amount), cuts, mesh.faces.size(), 1e3 * largest, 1e3 * sum / cuts, time / cuts,
        longest);
    EXPECT_GT(cuts, 10);
    EXPECT_LT(largest, 5e-4);
    EXPECT_NEAR(test::enclosed_volume(sculpture), volume, 1e-5 * volume);
    test::check_carried(sculpture, model);
    // The organ stays at rest and finite after the cuts.
    state.x = model.rest;
    for (int frame = 0; frame < 3; ++frame) step(model, state, {}, 1.f / 60.f);
    EXPECT_LT(test::farthest_from_rest(model, state), 1e-5f);
  }
}

}  // namespace
}  // namespace trocar
