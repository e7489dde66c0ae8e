// Compares the local search for shreds with the search over all skin, on spheres with random holes and islands.
#include "deform/cut/sculpt_steps.hpp"
#include "tests/deform/sculpt_support.hpp"

namespace trocar {
namespace {

// Cuts rings of several widths around random vertices, so that islands of every size remain. Returns the vertices of
// the cut.
std::vector<std::uint32_t> cut_rings(Sculpture& sculpture, std::mt19937& random, int rings) {
  std::vector<std::uint32_t> cut;
  const auto any = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
  const glm::vec3 about = sculpture.rest[any(sculpture.rest.size())];
  for (int ring = 0; ring < rings; ++ring) {
    std::size_t at = any(sculpture.rest.size());
    // Most rings are near each other, as in one burn.
    for (int k = 0; k < 40 && ring % 4 != 3; ++k)
      if (const std::size_t other = any(sculpture.rest.size());
          glm::distance(sculpture.rest[other], about) < glm::distance(sculpture.rest[at], about))
        at = other;
    const float inner = std::uniform_real_distribution<float>(0.0005f, 0.012f)(random), outer = inner + 0.003f;
    for (std::size_t slot = 0; slot < sculpture.faces.size(); ++slot) {
      const glm::uvec3 f = sculpture.faces.corners[slot];
      const float apart = glm::distance(sculpture.rest[f.x], sculpture.rest[at]);
      if (apart < inner || apart > outer || sculpture.faces.removed[slot]) continue;
      sculpture.faces.removed[slot] = 1;
      cut.insert(cut.end(), {f.x, f.y, f.z});
    }
  }
  return cut;
}

TEST(SkinShreds, TheLocalSearchRemovesWhatTheSearchOverAllSkinRemoves) {
  const TriangleMesh mesh = shapes::icosphere(5, 0.03f);
  const TissueModel model = make_tissue(mesh.view(), {}, {});
  const Sculpture whole = make_sculpture(mesh.view(), model);
  int with_shreds = 0, all_skin = 0;
  constexpr std::uint32_t kFirst = 300, kLast = 420;
  for (std::uint32_t seed = kFirst; seed < kLast; ++seed) {
    std::mt19937 random(seed);
    Sculpture local = whole;
    const std::vector<std::uint32_t> cut = cut_rings(local, random, 1 + static_cast<int>(seed % 6));
    if (cut.empty()) continue;
    Sculpture global = local;
    const std::vector<char> before = local.faces.removed;
    drop_shreds(local, cut);
    drop_shreds_everywhere(global, cut);
    ASSERT_EQ(local.faces.removed, global.faces.removed) << "seed " << seed;
    with_shreds += local.faces.removed != before;
    all_skin += std::count(local.faces.removed.begin(), local.faces.removed.end(), 0) == 0;
  }
  std::printf("seeds %u..%u: shreds in %d cuts\n", kFirst, kLast - 1, with_shreds);
  EXPECT_GT(with_shreds, 20);
  EXPECT_EQ(all_skin, 0);
}

}  // namespace
}  // namespace trocar
