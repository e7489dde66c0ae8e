// Tests the voxels of an organ: which are tissue, which are connected, which are heated.
#include "deform/cut/voxels.hpp"

#include "tests/deform/sculpt_support.hpp"

namespace trocar {
namespace {

Voxels random_voxels(std::mt19937& random, const glm::ivec3& count, unsigned tenths) {
  Voxels voxels;
  voxels.per_cell = 1;
  voxels.size = 0.001;
  voxels.count = count;
  voxels.kind.assign(static_cast<std::size_t>(count.x) * count.y * count.z, Voxel::Outside);
  for (Voxel& kind : voxels.kind)
    if (random() % 10 < tenths) kind = Voxel::Tissue;
  return voxels;
}

// Voxel by voxel: the lowest voxel of each piece.
std::vector<std::uint32_t> pieces_plainly(const Voxels& voxels) {
  std::vector<std::uint32_t> lowest(voxels.kind.size(), kNoVoxel);
  for (std::uint32_t v = 0; v < lowest.size(); ++v)
    if (voxels.kind[v] == Voxel::Tissue) lowest[v] = v;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t v = 0; v < lowest.size(); ++v)
      for (int side = 0; side < 6 && lowest[v] != kNoVoxel; ++side) {
        const glm::ivec3 next = voxels.at(v) + side_offset(side);
        if (!voxels.is(Voxel::Tissue, next) || lowest[voxels.flat(next)] >= lowest[v]) continue;
        lowest[v] = lowest[voxels.flat(next)];
        changed = true;
      }
  }
  return lowest;
}

TEST(SculptVoxels, PiecesAgreeWithFloodFill) {
  constexpr std::uint32_t kSeed = 11;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    const glm::ivec3 count(1 + random() % 9, 1 + random() % 9, 1 + random() % 9);
    const Voxels voxels = random_voxels(random, count, random() % 11);
    const std::vector<std::uint32_t> lowest = pieces_plainly(voxels);
    std::vector<std::int32_t> piece_of;
    const std::int32_t pieces = label_pieces(voxels, piece_of);
    std::map<std::uint32_t, std::int32_t> expected;
    for (std::uint32_t v = 0; v < lowest.size(); ++v) {
      ASSERT_EQ(piece_of[v] < 0, lowest[v] == kNoVoxel);
      if (piece_of[v] >= 0) {
        ASSERT_EQ(expected.emplace(lowest[v], piece_of[v]).first->second, piece_of[v]);
      }
    }
    ASSERT_EQ(static_cast<std::int32_t>(expected.size()), pieces);
  }
}

TEST(SculptVoxels, EveryDivisionIsDetected) {
  constexpr std::uint32_t kSeed = 12;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  std::vector<std::int32_t> piece_of;
  int seen = 0, divided = 0;
  for (int round = 0; round < 2000; ++round) {
    Voxels voxels = random_voxels(random, {9, 9, 9}, 5 + random() % 5);
    const std::int32_t before = label_pieces(voxels, piece_of);
    std::vector<std::uint32_t> burnt;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t v = voxels.flat({3 + random() % 3, 3 + random() % 3, 3 + random() % 3});
      if (voxels.kind[v] != Voxel::Tissue) continue;
      voxels.kind[v] = Voxel::Burnt;
      burnt.push_back(v);
    }
    const bool more = label_pieces(voxels, piece_of) > before;
    const bool may = sides_of_burn(voxels, burnt).size() > 1;
    ASSERT_TRUE(may || !more) << "round " << round;
    seen += may;
    divided += more;
  }
  std::printf("%d divided, %d detected as possible\n", divided, seen);
  EXPECT_GT(divided, 20);
}

// Burns random tissue bit by bit. The pieces are those of a flood fill of all voxels, and remember what they were at
// first.
TEST(SculptVoxels, SeparatedPiecesAgreeWithFloodFill) {
  constexpr std::uint32_t kSeed = 14;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  int separated = 0;
  for (int round = 0; round < 60; ++round) {
    const int side = 3 + static_cast<int>(random() % 12);
    Voxels voxels = random_voxels(random, glm::ivec3(side), 7 + random() % 4);
    TissuePieces pieces = first_pieces(voxels);
    const std::vector<std::int32_t> at_first = pieces.of;
    std::vector<std::int32_t> piece_of, before;
    for (int burn = 0; burn < 30; ++burn) {
      std::vector<std::uint32_t> burnt;
      for (unsigned i = 0; i < 1 + random() % 40; ++i) {
        const auto v = static_cast<std::uint32_t>(random() % voxels.kind.size());
        if (voxels.kind[v] != Voxel::Tissue) continue;
        voxels.kind[v] = Voxel::Burnt;
        burnt.push_back(v);
      }
      before = pieces.of;
      const std::size_t known = pieces.first.size();
      const SeparatedPieces out = separate_pieces(voxels, burnt, pieces);
      ASSERT_EQ(pieces.first.size(), known + out.ends.size());
      std::map<std::int32_t, std::int32_t> number, back;
      label_pieces(voxels, piece_of);
      std::size_t renumbered = 0;
      for (std::size_t v = 0; v < piece_of.size(); ++v) {
        if (piece_of[v] < 0) continue;
        ASSERT_EQ(number.emplace(piece_of[v], pieces.of[v]).first->second, pieces.of[v]) << "round " << round;
        ASSERT_EQ(back.emplace(pieces.of[v], piece_of[v]).first->second, piece_of[v]) << "round " << round;
        ASSERT_EQ(pieces.first[static_cast<std::size_t>(pieces.of[v])], at_first[v]);
        renumbered += pieces.of[v] != before[v];
      }
      ASSERT_EQ(renumbered, out.voxels.size());
      separated += static_cast<int>(out.ends.size());
      for (std::size_t k = 0; k < out.ends.size(); ++k)
        for (const std::uint32_t voxel : out.piece(k)) ASSERT_EQ(static_cast<std::size_t>(pieces.of[voxel]), known + k);
    }
  }
  std::printf("%d pieces separated\n", separated);
  EXPECT_GT(separated, 500);
}

// A thin slice off a large piece costs the slice: the search of the large piece ends early and keeps its number.
TEST(SculptVoxels, TheLargePieceKeepsItsNumber) {
  Voxels voxels;
  voxels.count = {100, 40, 40};
  voxels.kind.assign(100 * 40 * 40, Voxel::Tissue);
  TissuePieces pieces = first_pieces(voxels);
  std::vector<std::uint32_t> burnt;
  for (int y = 0; y < 40; ++y)
    for (int z = 0; z < 40; ++z) burnt.push_back(voxels.flat({2, y, z}));
  for (const std::uint32_t voxel : burnt) voxels.kind[voxel] = Voxel::Burnt;
  const SeparatedPieces out = separate_pieces(voxels, burnt, pieces);
  ASSERT_EQ(out.ends.size(), 1u);
  EXPECT_EQ(out.voxels.size(), 2u * 40 * 40);
  EXPECT_EQ(pieces.of[voxels.flat({99, 39, 39})], 0);
  EXPECT_EQ(pieces.of[voxels.flat({0, 0, 0})], 1);
  EXPECT_EQ(pieces.first, (std::vector<std::int32_t>{0, 0}));
  EXPECT_TRUE(separate_pieces(voxels, {}, pieces).ends.empty());
}

TEST(SculptVoxels, TissueFillsTheOrgan) {
  const TriangleMesh ball = shapes::icosphere(4, 0.04f);
  const Lattice lattice = make_lattice(ball.view(), 0.008);
  const Voxels voxels = make_voxels(ball.view(), lattice, 4, 20);
  std::size_t tissue = 0;
  for (std::uint32_t v = 0; v < voxels.kind.size(); ++v) {
    tissue += voxels.kind[v] == Voxel::Tissue;
    const double r = glm::length(voxels.centre(voxels.at(v)));
    if (r < 0.037) {
      EXPECT_EQ(voxels.kind[v], Voxel::Tissue);
    }
    if (r > 0.041) {
      EXPECT_EQ(voxels.kind[v], Voxel::Outside);
    }
  }
  EXPECT_NEAR(static_cast<double>(tissue) * std::pow(voxels.size, 3) / closed_volume(ball.view()), 1.0, 0.01);
}

// Compares the heated voxels with the distance of every voxel's centre, embedded like a surface vertex.
TEST(SculptVoxels, HeatBurnsWhatItTouches) {
  constexpr std::uint32_t kSeed = 13;
  std::printf("seed %u\n", kSeed);
  test::Wander wander(kSeed);
  const TriangleMesh mesh = test::block({0.04f, 0.032f, 0.024f});
  for (int round = 0; round < 20; ++round) {
    TissueModel model = make_tissue(mesh.view(), {}, {});
    SteppedTissue state = rest_state(model);
    // Every fourth round turns cells inside out.
    for (glm::vec3& x : state.x) x += (round % 4 == 3 ? 0.03f : 0.004f) * wander.somewhere();
    Sculpture sculpture = make_sculpture(mesh.view(), model, {.voxels_per_cell = 3, .smallest_piece = 0});
    const Voxels before = sculpture.voxels;
    const glm::vec3 from = glm::vec3(0.02f) + 0.04f * wander.somewhere();
    const HotSegment hot{from, round % 5 == 0 ? from : from + 0.02f * wander.somewhere(), 0.005f};
    std::vector<bool> expected;
    std::vector<bool> sure;
    for (std::uint32_t v = 0; v < before.kind.size(); ++v) {
      const Embedding e = embed(model.lattice, glm::vec3(before.centre(before.at(v))));
      glm::dvec3 now(0.0);
      for (int i = 0; i < 8; ++i) now += static_cast<double>(e.weight[i]) * glm::dvec3(state.x[e.node[i]]);
      double nearest = INFINITY;
      for (int i = 0; i <= 1000; ++i)
        nearest = std::min(nearest,
                           glm::distance(now, glm::dvec3(glm::mix(hot.from, hot.to, static_cast<float>(i) / 1000.f))));
      expected.push_back(before.kind[v] == Voxel::Tissue && nearest < static_cast<double>(hot.radius));
      sure.push_back(std::abs(nearest - static_cast<double>(hot.radius)) > 2e-5);
    }
    burn(sculpture, model, state, hot);
    // Separation burns additional whole cells, not single voxels by heat.
    for (std::uint32_t v = 0; v < before.kind.size(); ++v) {
      const bool burnt = before.kind[v] == Voxel::Tissue && sculpture.voxels.kind[v] == Voxel::Burnt;
      if (!sure[v]) continue;
      if (expected[v]) {
        EXPECT_TRUE(burnt);
      }
      if (burnt && sculpture.voxels.heat[v] < 1.f) {
        EXPECT_TRUE(expected[v]);
      }
    }
  }
}

}  // namespace
}  // namespace trocar
