// Tests contact between organs, and real organs.
#include <chrono>
#include <ctime>

#include "deform/contact/organ_contact.hpp"
#include "deform/solid/lattice.hpp"
#include "deform/solid/tissue.hpp"
#include "deform/step.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/organ_maker.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/sculpt_support.hpp"
#include "tests/geometry/slow_distance.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace organ_contact_test {

// Tests contact between organs: the distance field, the inverse of a deformed cell, the search (compared with brute
// force over all cells), blocks that rest on each other, collide and overlap, and the steps of several organs.

constexpr float kFrame = 1.f / 60.f;  // s

TissueParams soft(float spacing = 0.008f) {
  TissueParams params;
  params.node_spacing = spacing;
  return params;
}

// A free block `gap` above a block at rest. The lower one is fixed at its underside.
struct TwoBlocks {
  TriangleMesh below = test::fine_block({0.f, 0.f, 0.f}, {0.08f, 0.08f, 0.04f}, 0.005f);
  TriangleMesh above;
  explicit TwoBlocks(float gap) : above(test::fine_block({0.02f, 0.02f, 0.04f + gap}, glm::vec3(0.04f), 0.005f)) {}

  std::vector<TriangleMesh> meshes() const { return {below, above}; }
  std::vector<TissueModel> models(const TissueParams& params, bool fixed) const {
    std::vector<TissueModel> made = {make_tissue(below.view(), params, {}), make_tissue(above.view(), params, {})};
    for (std::size_t i = 0; fixed && i < made[0].rest.size(); ++i)
      if (made[0].rest[i].z < 1e-4f) made[0].inverse_mass[i] = 0.f;
    return made;
  }
};

std::array<glm::vec3, 8> random_cell(std::mt19937& random, float size, float wobble) {
  std::uniform_real_distribution<float> unit(-1.f, 1.f);
  std::array<glm::vec3, 8> corner;
  const glm::vec3 base = 0.3f * glm::vec3(unit(random), unit(random), unit(random));
  for (int k = 0; k < 8; ++k)
    corner[k] =
        base + size * (glm::vec3(corner_offset(k)) + wobble * glm::vec3(unit(random), unit(random), unit(random)));
  return corner;
}

TEST(TrilinearCell, InverseRecoversThePoint) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> inside(0.f, 1.f);
  const float size = 0.008f;
  int found = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::array<glm::vec3, 8> corner = random_cell(random, size, 0.2f);
    const CellInverse cell = cell_inverse(corner, size);
    const glm::vec3 s(inside(random), inside(random), inside(random));
    glm::vec3 p(0.f), local;
    for (int k = 0; k < 8; ++k) p += corner_weight(k, s) * corner[k];
    ASSERT_LT(glm::distance(p, cell.map.base + offset_at(cell.map, s)), 1e-7f) << "seed 11, cell " << i;
    ASSERT_TRUE(find_coordinates(cell, p, 1e-3f, local)) << "seed 11, cell " << i;
    glm::vec3 back(0.f);
    for (int k = 0; k < 8; ++k) back += corner_weight(k, local) * corner[k];
    EXPECT_LT(glm::distance(back, p), 2e-7f);
    if (glm::distance(local, s) < 1e-4f) ++found;
  }
  EXPECT_EQ(found, 5000);
}

TEST(TrilinearCell, GradientIsTheDifferenceQuotient) {
  std::mt19937 random(12);
  std::uniform_real_distribution<float> inside(0.f, 1.f);
  for (int i = 0; i < 200; ++i) {
    const TrilinearCell cell = trilinear_cell(random_cell(random, 1.f, 0.4f));
    const glm::vec3 s(inside(random), inside(random), inside(random));
    const glm::mat3 gradient = gradient_at(cell, s);
    for (int axis = 0; axis < 3; ++axis) {
      glm::vec3 step(0.f);
      step[axis] = 0.25f;  // the map is linear along an axis
      const glm::vec3 slope = (offset_at(cell, s + step) - offset_at(cell, s - step)) / 0.5f;
      EXPECT_LT(glm::distance(slope, gradient[axis]), 1e-5f) << "seed 12, cell " << i;
    }
  }
}

TEST(TrilinearCell, DegenerateCellsContainNoPoint) {
  const float size = 0.008f;
  glm::vec3 local;
  std::array<glm::vec3, 8> flat, point, turned;
  for (int k = 0; k < 8; ++k) {
    const glm::vec3 c(corner_offset(k));
    flat[k] = size * glm::vec3(c.x, c.y, 0.f);
    point[k] = glm::vec3(0.1f);
    turned[k] = size * glm::vec3(c.x, c.y, -c.z);
  }
  EXPECT_FALSE(find_coordinates(cell_inverse(flat, size), size * glm::vec3(0.5f, 0.5f, 0.f), 0.1f, local));
  EXPECT_FALSE(find_coordinates(cell_inverse(flat, size), size * glm::vec3(0.5f, 0.2f, 0.1f), 0.1f, local));
  EXPECT_FALSE(find_coordinates(cell_inverse(point, size), glm::vec3(0.1f, 0.1f, 0.101f), 0.1f, local));
  EXPECT_FALSE(find_coordinates(cell_inverse(turned, size), size * glm::vec3(0.3f, 0.3f, -0.3f), 0.1f, local));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 random(13);
  const CellInverse sound = cell_inverse(random_cell(random, size, 0.f), size);
  EXPECT_FALSE(find_coordinates(sound, glm::vec3(nan), 0.1f, local));
  EXPECT_FALSE(find_coordinates(sound, sound.map.base + 10.f * size, 0.1f, local));
  turned[3].x = nan;
  EXPECT_FALSE(find_coordinates(cell_inverse(turned, size), glm::vec3(0.f), 0.1f, local));
}

// The search finds the same contacts as a test of every vertex in every cell. Only overlaps are compared: contacts
// nearby but outside depend on the look-ahead distance.
TEST(OrganContact, SearchAgreesWithBruteForce) {
  std::mt19937 random(21);
  std::normal_distribution<float> normal(0.f, 0.0008f);
  const TwoBlocks blocks(0.001f);
  test::OrganGroup group(blocks.meshes(), blocks.models(soft(), false));
  for (int trial = 0; trial < 10; ++trial) {
    const float bend = 0.4f * std::sin(static_cast<float>(trial));
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t i = 0; i < group.states[k].x.size(); ++i) {
        glm::vec3 p = group.models[k].rest[i];
        p.z += bend * (p.x - 0.04f) * p.y * 5.f - (k == 1 ? 0.001f * static_cast<float>(trial) : 0.f);
        group.states[k].x[i] = p + glm::vec3(normal(random), normal(random), normal(random));
      }
      embed_surface(group.models[k], group.states[k].x, group.surfaces[k]);
    }
    group.find(0.f);
    std::size_t next = 0, overlaps = 0;
    const std::vector<PairContact>& found = group.contacts.contacts;
    for (std::uint32_t a = 0; a < 2; ++a)
      for (std::uint32_t v = 0; v < group.surfaces[a].size(); ++v) {
        const TissueModel& solid = group.models[1 - a];
        float best = 1e-3f, gap = 0.f;
        for (const LatticeCell& cell : solid.lattice.cells) {
          std::array<glm::vec3, 8> corner;
          for (int k = 0; k < 8; ++k) corner[k] = group.states[1 - a].x[cell.node[k]];
          glm::vec3 s;
          if (!find_coordinates(cell_inverse(corner, 0.008f), group.surfaces[a][v], 1e-3f, s)) continue;
          const glm::vec3 side = glm::abs(s - 0.5f) - 0.5f;
          const float beyond = std::max({side.x, side.y, side.z});
          if (!(beyond < best)) continue;
          best = beyond;
          const glm::vec3 rest(solid.lattice.origin + solid.lattice.spacing * glm::dvec3(glm::vec3(cell.at) + s));
          gap = sample(group.contacts.field[1 - a], rest).distance;
        }
        if (!(gap < -1e-4f)) continue;
        ++overlaps;
        while (next < found.size() && (found[next].a != a || found[next].vertex != v)) ++next;
        ASSERT_LT(next, found.size()) << "seed 21, trial " << trial << ", vertex " << v << " of " << a;
        EXPECT_LT(found[next].gap, 0.f);
      }
    EXPECT_TRUE(trial < 5 || overlaps > 20) << overlaps;
  }
}

// A light block lies on a fixed one: the force between them is its weight, and they hardly overlap.
TEST(OrganContact, BlockRestsOnABlock) {
  const TwoBlocks blocks(0.0005f);
  std::vector<TissueModel> models = blocks.models(soft(), true);
  for (glm::vec3& g : models[1].gravity) g = {0.f, 0.f, -9.81f};
  test::OrganGroup group(blocks.meshes(), std::move(models));
  glm::vec3 up(0.f), down(0.f);
  for (int frame = 0; frame < 240; ++frame) {
    group.frame(kFrame);
    if (frame < 180) continue;
    up += organ_force(group.contacts, 1, kFrame) / 60.f;
    down += organ_force(group.contacts, 0, kFrame) / 60.f;
  }
  const double weight = 9.81 * group.mass(1);
  float fastest = 0.f;
  for (const glm::vec3& v : group.states[1].v) fastest = std::max(fastest, glm::length(v));
  std::printf("weight %.4f N, contact force %.4f N, deepest %.3f mm, fastest node %.4f m/s, %zu contacts\n", weight,
              up.z, group.deepest() * 1e3f, fastest, group.contacts.contacts.size());
  EXPECT_NEAR(up.z / weight, 1.0, 0.02);
  EXPECT_LT(glm::length(glm::vec2(up)), 0.02 * weight);
  EXPECT_EQ(up, -down);
  EXPECT_LT(group.deepest(), 1e-3f);
  EXPECT_GT(group.centre(1).z, 0.055);
  EXPECT_LT(glm::length(group.momentum(1)) / group.mass(1), 1e-3);
  EXPECT_LT(fastest, 0.05f);
}

// Two free blocks collide at 1 m/s: momentum is conserved, and they do not pass through each other.
TEST(OrganContact, BlocksCollideAtAMetreASecond) {
  const TwoBlocks blocks(0.006f);
  TissueParams params = soft();
  params.drag = 0.f;
  test::OrganGroup group(blocks.meshes(), blocks.models(params, false));
  for (glm::vec3& v : group.states[1].v) v = {0.f, 0.f, -1.f};
  const glm::dvec3 before = group.momentum(0) + group.momentum(1);
  float deepest = 0.f;
  for (int frame = 0; frame < 40; ++frame) {
    group.frame(kFrame);
    deepest = std::max(deepest, group.deepest());
    ASSERT_GT(group.centre(1).z, group.centre(0).z + 0.015) << "frame " << frame;
    const glm::dvec3 now = group.momentum(0) + group.momentum(1);
    ASSERT_LT(glm::length(now - before), 1e-4 * glm::length(before)) << "frame " << frame;
  }
  const glm::dvec3 apart = group.momentum(1) / group.mass(1) - group.momentum(0) / group.mass(0);
  std::printf("deepest %.2f mm, they separate at %.2f m/s\n", deepest * 1e3f, apart.z);
  EXPECT_LT(deepest, 0.004f);
  EXPECT_GT(apart.z, 0.0);
  EXPECT_LT(apart.z, 1.0);
}

// A block so fast that it crosses its own surface cells within a frame is still stopped.
TEST(OrganContact, NoPassageFromAnyDistance) {
  for (int start = 0; start < 6; ++start) {
    const TwoBlocks blocks(0.002f + 0.003f * static_cast<float>(start));
    test::OrganGroup group(blocks.meshes(), blocks.models(soft(), true));
    for (glm::vec3& v : group.states[1].v) v = {0.1f, 0.f, -1.f};
    for (int frame = 0; frame < 60; ++frame) {
      group.frame(kFrame);
      ASSERT_GT(group.centre(1).z, 0.04) << "start " << start << ", frame " << frame;
    }
    EXPECT_LT(group.deepest(), 1e-3f);
  }
}

TEST(OrganContact, OverlapAtRestIsAllowed) {
  const TwoBlocks blocks(-0.013f);
  test::OrganGroup group(blocks.meshes(), blocks.models(soft(), true));
  const std::vector<SteppedTissue> start = group.states;
  for (int frame = 0; frame < 30; ++frame) {
    group.frame(kFrame);
    EXPECT_TRUE(group.contacts.contacts.empty()) << frame;
  }
  test::OrganGroup alone(blocks.meshes(), blocks.models(soft(), true));
  for (int frame = 0; frame < 30; ++frame) alone.frame(kFrame, false);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(test::hash_of(group.states[k]), test::hash_of(alone.states[k]));
  // When they are pressed further together, they react.
  for (glm::vec3& v : group.states[1].v) v = {0.f, 0.f, -0.2f};
  const double height = group.centre(1).z;
  float deepest = 0.f;
  for (int frame = 0; frame < 30; ++frame) {
    group.frame(kFrame);
    deepest = std::max(deepest, group.deepest());
  }
  EXPECT_GT(group.centre(1).z, height - 0.003);
  EXPECT_LT(deepest, 1e-3f);
}

// A deep overlap is resolved slowly; the organs do not fly apart.
TEST(OrganContact, DeepOverlapsAreResolvedAtABoundedSpeed) {
  const TwoBlocks blocks(0.001f);
  test::OrganGroup group(blocks.meshes(), blocks.models(soft(), true));
  for (glm::vec3& p : group.states[1].x) p.z -= 0.012f;
  embed_surface(group.models[1], group.states[1].x, group.surfaces[1]);
  float fastest = 0.f;
  for (int frame = 0; frame < 60; ++frame) {
    group.frame(kFrame);
    for (const glm::vec3& v : group.states[1].v) fastest = std::max(fastest, glm::length(v));
    EXPECT_TRUE(frame > 0 || group.deepest() > 0.008f);
  }
  std::printf("fastest node %.3f m/s, deepest after 1 s %.3f mm\n", fastest, group.deepest() * 1e3f);
  EXPECT_LT(fastest, 1.f);
  EXPECT_LT(group.deepest(), 5e-4f);
}

TEST(OrganContact, FrictionSlowsSliding) {
  double slid[2];
  for (int rough = 0; rough < 2; ++rough) {
    const TwoBlocks blocks(0.0002f);
    std::vector<TissueModel> models = blocks.models(soft(), true);
    for (glm::vec3& g : models[1].gravity) g = {1.f, 0.f, -9.81f};
    OrganContactParams params;
    params.friction = rough ? 0.4f : 0.f;
    test::OrganGroup group(blocks.meshes(), std::move(models), params);
    const double start = group.centre(1).x;
    for (int frame = 0; frame < 30; ++frame) group.frame(kFrame);
    slid[rough] = group.centre(1).x - start;
  }
  std::printf("slid %.2f mm without friction, %.2f mm with\n", slid[0] * 1e3, slid[1] * 1e3);
  EXPECT_GT(slid[0], 0.01);
  EXPECT_LT(slid[1], 0.3 * slid[0]);
}

TEST(OrganContact, SameRunSameHashAndNoAllocation) {
  std::uint64_t hash[2];
  for (int run = 0; run < 2; ++run) {
    const TwoBlocks blocks(0.001f);
    std::vector<TissueModel> models = blocks.models(soft(), true);
    for (glm::vec3& g : models[1].gravity) g = {0.f, 0.f, -9.81f};
    test::OrganGroup group(blocks.meshes(), std::move(models));
    for (int frame = 0; frame < 30; ++frame) group.frame(kFrame);
    const std::uint64_t before = allocations_so_far();
    for (int frame = 0; frame < 5; ++frame) group.frame(kFrame);
    EXPECT_EQ(allocations_so_far(), before);
    hash[run] = test::hash_of(group.states[0]) ^ test::hash_of(group.states[1]);
  }
  EXPECT_EQ(hash[0], hash[1]);
}

// Removed tissue does not carry another organ, and vertices that were embedded in it have no contacts.
TEST(OrganContact, BurntTissueIsOutside) {
  const TwoBlocks blocks(0.0005f);
  std::vector<TissueModel> models = blocks.models(soft(), true);
  for (glm::vec3& g : models[1].gravity) g = {0.f, 0.f, -9.81f};
  test::OrganGroup group(blocks.meshes(), std::move(models));
  for (int frame = 0; frame < 60; ++frame) group.frame(kFrame);
  EXPECT_GT(group.contacts.contacts.size(), 20u);
  std::vector<std::uint32_t> cells;
  for (std::uint32_t c = 0; c < group.models[0].lattice.cells.size(); ++c) {
    const glm::ivec3& at = group.models[0].lattice.cells[c].at;
    if (at.z >= 3) cells.push_back(c);
  }
  set_volume_fractions(group.models[0], cells, std::vector<float>(cells.size(), 0.f));
  tissue_removed(group.model_list, 0, cells, group.contacts);
  group.find(kFrame);
  EXPECT_TRUE(group.contacts.contacts.empty());
  // It falls by the depth of the removed tissue, and rests there.
  for (int frame = 0; frame < 120; ++frame) group.frame(kFrame);
  EXPECT_NEAR(group.centre(1).z, 0.024 + 0.020, 0.003);
  EXPECT_LT(group.deepest(), 1e-3f);
}

// After tissue is removed, the rest overlaps are those of the carved field, for all vertices.
TEST(OrganContact, RestOverlapsFollowTheTissue) {
  const TwoBlocks blocks(-0.013f);
  test::OrganGroup group(blocks.meshes(), blocks.models(soft(), true));
  std::vector<std::uint32_t> cells;
  for (std::uint32_t c = 0; c < group.models[0].lattice.cells.size(); ++c)
    if (group.models[0].lattice.cells[c].at.z == 4 && c % 2 == 0) cells.push_back(c);
  set_volume_fractions(group.models[0], cells, std::vector<float>(cells.size(), 0.f));
  group.models[0].embedding.push_back(group.models[0].embedding[5]);
  const std::vector<float> before = group.contacts.zero[1 * 2 + 0];
  tissue_removed(group.model_list, 0, cells, group.contacts);
  EXPECT_NE(group.contacts.zero[1 * 2 + 0], before);
  for (std::uint32_t a = 0; a < 2; ++a) {
    const std::vector<float>& zero = group.contacts.zero[a * 2 + 1 - a];
    const TissueModel& model = group.models[a];
    ASSERT_EQ(zero.size(), model.embedding.size());
    for (std::size_t v = 0; v < zero.size(); ++v) {
      glm::vec3 p(0.f);
      for (int i = 0; i < 8; ++i) p += model.embedding[v].weight[i] * model.rest[model.embedding[v].node[i]];
      EXPECT_NEAR(zero[v], std::min(sample(group.contacts.field[1 - a], p).distance, 0.f), 3e-5f);
    }
  }
  // The organs are at rest with the new overlaps, too.
  for (int frame = 0; frame < 10; ++frame) {
    group.frame(kFrame);
    EXPECT_TRUE(group.contacts.contacts.empty()) << frame;
  }
}

// Invalid states give no contacts and no crash.
TEST(OrganContact, InvalidStatesHaveNoContacts) {
  const TwoBlocks blocks(0.001f);
  test::OrganGroup group(blocks.meshes(), blocks.models(soft(), true));
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::mt19937 random(41);
  std::uniform_real_distribution<float> anywhere(-1.f, 1.f);
  for (int kind = 0; kind < 4; ++kind) {
    for (std::size_t i = 0; i < group.states[1].x.size(); ++i) {
      glm::vec3& p = group.states[1].x[i];
      if (kind == 0) p = glm::vec3(0.04f);
      if (kind == 1) p = glm::vec3(i % 3 ? 0.03f : nan);
      if (kind == 2) p = glm::vec3(i % 7 ? 0.03f : inf);
      if (kind == 3) p = 0.1f * glm::vec3(anywhere(random), anywhere(random), anywhere(random));
    }
    embed_surface(group.models[1], group.states[1].x, group.surfaces[1]);
    group.find(kFrame);
    for (const PairContact& c : group.contacts.contacts) {
      ASSERT_TRUE(std::isfinite(c.gap + c.offset + c.admittance + glm::dot(c.normal, c.normal))) << "kind " << kind;
      ASSERT_NEAR(glm::length(c.normal), 1.f, 1e-4f);
    }
  }
}

}  // namespace organ_contact_test

// Tests that a search of only those pairs of organs whose boxes overlap finds the same contacts as a search of all
// pairs.
namespace organ_pairs_test {

constexpr float kFrame = 1.f / 60.f;
constexpr std::uint32_t kSeed = 71, kOrgans = 3;

std::vector<OrganPair> pairs_that_meet(const OrganContacts& contacts) {
  std::vector<OrganPair> pairs;
  for (std::uint32_t a = 0; a < kOrgans; ++a)
    for (std::uint32_t b = a + 1; b < kOrgans; ++b) {
      const auto box = contact_box(contacts, a, kFrame), other = contact_box(contacts, b, kFrame);
      if (glm::all(glm::lessThanEqual(box.low, other.high)) && glm::all(glm::lessThanEqual(other.low, box.high)))
        pairs.push_back({a, b});
    }
  return pairs;
}

// Tests blocks in a row that drift at all distances and speeds.
TEST(OrganPairs, BoxesThatDoNotMeetHaveNoContacts) {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  for (std::uint32_t k = 0; k < kOrgans; ++k) {
    meshes.push_back(test::fine_block({0.f, 0.f, 0.044f * static_cast<float>(k)}, glm::vec3(0.04f), 0.01f));
    models.push_back(make_tissue(meshes[k].view(), {}, {}));
  }
  test::OrganGroup group(std::move(meshes), std::move(models));
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> even(-1.f, 1.f);
  std::size_t found = 0, left_out = 0;
  for (int k = 0; k < 400; ++k) {
    const float speed = std::pow(10.f, 1.5f * even(random) - 0.5f);
    for (std::size_t organ = 0; organ < kOrgans; ++organ) {
      const glm::vec3 by = 0.012f * glm::vec3(even(random), even(random), even(random));
      const glm::vec3 velocity = speed * glm::vec3(even(random), even(random), even(random));
      SteppedTissue& state = group.states[organ];
      for (std::size_t i = 0; i < state.x.size(); ++i) {
        state.x[i] = group.models[organ].rest[i] + by, state.v[i] = velocity * (0.5f + 0.5f * even(random));
      }
      embed_surface(group.models[organ], state.x, group.surfaces[organ]);
    }
    group.find(kFrame);
    const std::vector<PairContact> all = group.contacts.contacts;
    measure_organs(group.bodies, group.contacts);
    const std::vector<OrganPair> pairs = pairs_that_meet(group.contacts);
    Team alone(1);
    find_organ_contacts(group.bodies, pairs, kFrame, alone, group.contacts);
    ASSERT_EQ(group.contacts.contacts.size(), all.size()) << "seed " << kSeed << " case " << k;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const PairContact& c = group.contacts.contacts[i];
      ASSERT_TRUE(c.a == all[i].a && c.b == all[i].b && c.vertex == all[i].vertex && c.gap == all[i].gap &&
                  c.normal == all[i].normal);
    }
    found += all.size(), left_out += 3 - pairs.size();
  }
  std::printf("%zu contacts in 400 frames, %zu of 1200 pairs skipped\n", found, left_out);
  EXPECT_GT(found, 1000u);
  EXPECT_GT(left_out, 200u);
}

TEST(OrganPairs, SingleOrganHasNoPairs) {
  const OrganContacts none;
  const auto box = contact_box(none, 0, kFrame);
  EXPECT_GT(box.low.x, box.high.x);
}

}  // namespace organ_pairs_test

namespace {

// Tests that organs stepped by one, two and four threads have the same bits, both apart and touching.

std::uint64_t hash_after(int threads, float apart) {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  for (int k = 0; k < 3; ++k) {
    meshes.push_back(test::fine_block({0.f, 0.f, (0.04f + apart) * k}, glm::vec3(0.04f), 0.008f));
    TissueParams params;
    params.youngs_modulus = 3000.f * (k + 1), params.gravity = {0.f, 0.f, k == 0 ? 0.f : -3.f};
    const Attachment floor{{0.02f, 0.02f, -0.3f}, 0.302f};
    models.push_back(make_tissue(meshes[k].view(), params, std::span(&floor, k == 0 ? 1 : 0)));
  }
  test::OrganGroup group(std::move(meshes), std::move(models));
  OrganStepper stepper(threads);
  Bonds no_bonds;
  const TissueHold pull{group.models[2].embedding[5], group.meshes[2].positions[5],
                        group.meshes[2].positions[5] + glm::vec3(0.01f), 0.5f};
  std::size_t met = 0;
  for (int frame = 0; frame < 40; ++frame) {
    group.find(1.f / 60.f);
    met += group.contacts.contacts.size();
    std::vector<SteppedOrgan> organs;
    for (std::size_t k = 0; k < 3; ++k)
      organs.push_back({&group.models[k], &group.states[k], {{}, {}, std::span(&pull, k == 2 ? 1 : 0)}});
    stepper.step(organs, group.contacts, no_bonds, 1.f / 60.f);
    for (std::size_t k = 0; k < 3; ++k) embed_surface(group.models[k], group.states[k].x, group.surfaces[k]);
  }
  EXPECT_EQ(met > 0, apart < 0.01f);
  std::uint64_t hash = 0;
  for (const SteppedTissue& state : group.states) hash = hash * 31 + test::hash_of(state);
  return hash;
}

TEST(OrganStepper, ThreadCountDoesNotChangeTheBits) {
  for (const float apart : {0.002f, 2.f}) {
    const std::uint64_t one = hash_after(1, apart);
    EXPECT_EQ(one, hash_after(1, apart)) << apart;
    EXPECT_EQ(one, hash_after(2, apart)) << apart;
    EXPECT_EQ(one, hash_after(4, apart)) << apart;
  }
}

// An organ that nothing joins with the others moves as if it were alone, while the others press on each other.
TEST(OrganStepper, AnOrganThatTouchesNothingHasItsOwnSubsteps) {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  for (const auto& [height, modulus] : {std::pair{0.f, 50000.f}, {0.041f, 3000.f}, {2.f, 3000.f}}) {
    meshes.push_back(test::fine_block({0.f, 0.f, height}, glm::vec3(0.04f), 0.008f));
    TissueParams params;
    params.youngs_modulus = modulus, params.gravity = {0.f, 0.f, -3.f};
    models.push_back(make_tissue(meshes.back().view(), params, {}));
  }
  models[0].gravity.assign(models[0].gravity.size(), glm::vec3(0.f));
  test::OrganGroup group(std::move(meshes), std::move(models));
  SteppedTissue alone = rest_state(group.models[2]);
  for (SteppedTissue* state : {&alone, &group.states[2]})
    for (std::size_t i = 0; i < state->x.size(); ++i) state->x[i] *= 1.f + 0.01f * static_cast<float>(i % 3);
  ASSERT_GT(substep_count(group.models[0], 1.f / 60.f), substep_count(group.models[2], 1.f / 60.f));
  OrganStepper stepper(2), single(1);
  OrganContacts none;
  Bonds no_bonds;
  std::size_t met = 0;
  for (int frame = 0; frame < 30; ++frame) {
    group.find(1.f / 60.f);
    met += group.contacts.contacts.size();
    std::vector<SteppedOrgan> organs;
    for (std::size_t k = 0; k < 3; ++k) organs.push_back({&group.models[k], &group.states[k], {}});
    stepper.step(organs, group.contacts, no_bonds, 1.f / 60.f);
    const SteppedOrgan same{&group.models[2], &alone, {}};
    single.step(std::span(&same, 1), none, no_bonds, 1.f / 60.f);
    for (std::size_t k = 0; k < 3; ++k) embed_surface(group.models[k], group.states[k].x, group.surfaces[k]);
    ASSERT_EQ(test::hash_of(group.states[2]), test::hash_of(alone)) << "frame " << frame;
  }
  EXPECT_GT(met, 0u);
}

TEST(OrganStepper, IgnoresInvalidTimes) {
  OrganStepper stepper(2);
  OrganContacts contacts;
  Bonds no_bonds;
  for (const float dt : {0.f, -1.f, NAN, INFINITY}) stepper.step({}, contacts, no_bonds, dt);
  stepper.step({}, contacts, no_bonds, 0.01f);
}

// Compares the distance field in rest space with the closest point of every face, and its sign with the solid angle.

RestDistance field_of(const TriangleMesh& mesh, double spacing) {
  return make_rest_distance(mesh.view(), make_lattice(mesh.view(), spacing));
}

double slow_distance(const MeshView& mesh, const glm::dvec3& p) {
  double best = INFINITY;
  for (const glm::uvec3& face : mesh.faces)
    best = std::min(best, test::slow_point_triangle(p, triangle_of(mesh.positions, face)));
  return best;
}

// Returns the winding number of the surface around the point. Source: van Oosterom, Strackee, "The solid angle of a
// plane triangle", IEEE Transactions on Biomedical Engineering 30, 1983.
double winding(const MeshView& mesh, const glm::dvec3& p) {
  double sum = 0.0;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    const glm::dvec3 a = t.a - p, b = t.b - p, c = t.c - p;
    const double la = glm::length(a), lb = glm::length(b), lc = glm::length(c);
    sum += std::atan2(glm::dot(a, glm::cross(b, c)),
                      la * lb * lc + glm::dot(a, b) * lc + glm::dot(b, c) * la + glm::dot(c, a) * lb);
  }
  return sum / (2.0 * std::numbers::pi);
}

struct Solid {
  const char* name;
  TriangleMesh mesh;
  double spacing;    // m, of the lattice
  double roundness;  // m, allowed rounding by the grid between its nodes
};

std::vector<Solid> solids() {
  return {{"sphere", shapes::icosphere(3, 0.05f, {0.02f, 0.f, 0.3f}), 0.009, 3e-4},
          {"torus", shapes::torus(40, 20, 0.06f, 0.02f), 0.009, 3e-4},
          {"block", test::fine_block({0.f, 0.f, 0.f}, {0.08f, 0.06f, 0.04f}, 0.01f), 0.008, 1.4e-3}};
}

TEST(RestDistance, IsTheDistanceToTheClosestPoint) {
  for (const Solid& solid : solids()) {
    const RestDistance field = field_of(solid.mesh, solid.spacing);
    std::mt19937 random(31);
    std::uniform_int_distribution<std::size_t> face(0, solid.mesh.faces.size() - 1);
    std::normal_distribution<double> beside(0.0, 0.4 * solid.spacing);
    double worst = 0.0, square = 0.0;
    constexpr int kPoints = 300;
    for (int i = 0; i < kPoints; ++i) {
      const Triangle t = triangle_of(solid.mesh.positions, solid.mesh.faces[face(random)]);
      const glm::dvec3 p((t.a + t.b + t.c) / 3.0 + glm::dvec3(beside(random), beside(random), beside(random)));
      const double distance = slow_distance(solid.mesh.view(), p);
      if (distance > 0.6 * solid.spacing) continue;  // the grid's margin
      const double expected = winding(solid.mesh.view(), p) > 0.5 ? -distance : distance;
      const double error = std::abs(sample(field, glm::vec3(p)).distance - expected);
      worst = std::max(worst, error), square += error * error;
      ASSERT_LT(error, solid.roundness) << solid.name << ", seed 31, point " << i;
    }
    std::printf("%s: distance error at most %.3f mm, %.3f mm rms\n", solid.name, worst * 1e3,
                std::sqrt(square / kPoints) * 1e3);
  }
}

// At its nodes the field is exact, including the sign.
TEST(RestDistance, NodesAreExact) {
  for (const Solid& solid : solids()) {
    const RestDistance field = field_of(solid.mesh, solid.spacing);
    std::mt19937 random(32);
    std::uniform_int_distribution<std::size_t> any(0, field.value.size() - 1);
    int checked = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::size_t node = any(random);
      const glm::ivec3 at(node % field.size.x, node / field.size.x % field.size.y, node / field.size.x / field.size.y);
      const glm::dvec3 p = field.origin + field.spacing * glm::dvec3(at);
      if (std::abs(field.value[node]) < 1e-9f) continue;  // on the surface
      const double inside = winding(solid.mesh.view(), p);
      if (field.value[node] < solid.spacing && checked++ < 200) {
        const double distance = slow_distance(solid.mesh.view(), p);
        EXPECT_NEAR(field.value[node], inside > 0.5 ? -distance : distance, 1e-7) << solid.name << ", seed 32";
      }
      EXPECT_EQ(field.value[node]<0.f, inside> 0.5) << solid.name << ", seed 32, node " << node;
    }
    EXPECT_GT(checked, 100) << solid.name;
  }
}

TEST(RestDistance, GradientPointsAwayFromTheSurface) {
  const Solid solid = solids()[0];
  const RestDistance field = field_of(solid.mesh, solid.spacing);
  std::mt19937 random(33);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> radius(0.035f, 0.060f);
  for (int i = 0; i < 1000; ++i) {
    const glm::vec3 direction = glm::normalize(glm::vec3(normal(random), normal(random), normal(random)));
    const DistanceSample at = sample(field, glm::vec3(0.02f, 0.f, 0.3f) + radius(random) * direction);
    EXPECT_GT(glm::dot(glm::normalize(at.gradient), direction), 0.99f) << "seed 33, point " << i;
    EXPECT_NEAR(glm::length(at.gradient), 1.f, 0.05f);
  }
}

TEST(RestDistance, FarPointsAreOutsideAndFinite) {
  const Solid solid = solids()[0];
  const RestDistance field = field_of(solid.mesh, solid.spacing);
  for (const glm::vec3& p : {glm::vec3(10.f), glm::vec3(-10.f, 0.f, 0.3f), glm::vec3(0.02f, 0.f, 5.f)}) {
    const DistanceSample at = sample(field, p);
    EXPECT_GT(at.distance, 0.f);
    EXPECT_TRUE(std::isfinite(at.gradient.x + at.gradient.y + at.gradient.z));
  }
}

// A solid of two halves that pass through each other: points inside either half or both are inside.
TEST(RestDistance, SelfCrossingSurfacesAreFilled) {
  const TriangleMesh mesh = shapes::joined(test::fine_block({0.f, 0.f, 0.f}, glm::vec3(0.04f), 0.01f),
                                           test::fine_block({0.02f, 0.01f, 0.01f}, glm::vec3(0.04f), 0.01f));
  const RestDistance field = field_of(mesh, 0.008);
  std::mt19937 random(34);
  std::uniform_real_distribution<float> coordinate(0.f, 0.06f);
  for (int i = 0; i < 1000; ++i) {
    const glm::vec3 p(coordinate(random), coordinate(random), coordinate(random));
    const glm::vec3 from = glm::abs(p - 0.02f), beside = glm::abs(p - glm::vec3(0.04f, 0.03f, 0.03f));
    const float first = 0.02f - std::max({from.x, from.y, from.z});
    const float second = 0.02f - std::max({beside.x, beside.y, beside.z});
    if (std::abs(first) < 0.004f || std::abs(second) < 0.004f) continue;
    EXPECT_EQ(sample(field, p).distance<0.f, first> 0.f || second > 0.f) << "seed 34, point " << i;
  }
}

TEST(RestDistance, CarvedCellsAreOutside) {
  const Solid solid = solids()[2];
  const Lattice lattice = make_lattice(solid.mesh.view(), solid.spacing);
  RestDistance field = make_rest_distance(solid.mesh.view(), lattice);
  // The middle cell of the top layer.
  std::uint32_t cell = 0;
  while (lattice.cells[cell].at != glm::ivec3(lattice.size.x / 2, lattice.size.y / 2, lattice.size.z - 1)) ++cell;
  const glm::vec3 centre(lattice.origin + lattice.spacing * (glm::dvec3(lattice.cells[cell].at) + 0.5));
  const glm::vec3 under = centre - glm::vec3(0.f, 0.f, 0.008f);
  EXPECT_NEAR(sample(field, centre).distance, -0.004f, 2e-4f);
  EXPECT_NEAR(sample(field, under).distance, -0.012f, 2e-4f);
  carve(field, lattice, {&cell, 1});
  EXPECT_GT(sample(field, centre).distance, 0.0025f);
  EXPECT_NEAR(sample(field, under).distance, -0.004f, 5e-4f);
  EXPECT_GT(glm::normalize(sample(field, under).gradient).z, 0.99f);
}

TEST(RestDistance, LiverOfTheProject) {
  const TriangleMesh mesh = load_mesh(repository_file("data/organs/liver.obj"));
  const Lattice lattice = make_lattice(mesh.view(), 0.009);
  const auto start = std::chrono::steady_clock::now();
  const RestDistance field = make_rest_distance(mesh.view(), lattice);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double worst = 0.0;
  for (const glm::vec3& p : mesh.positions)
    worst = std::max(worst, std::abs(static_cast<double>(sample(field, p).distance)));
  std::printf("liver: %zu nodes in %.2f s, error at vertices at most %.3f mm\n", field.value.size(), seconds,
              worst * 1e3);
  EXPECT_LT(worst, 2e-3);
}

}  // namespace

namespace organ_contact_organs_test {

// Tests real organs, ours and those of the shared test data if they are present: contact, pressing, burning, cutting.

constexpr float kFrame = 1.f / 60.f;  // s

TissueModel organ_model(const TriangleMesh& mesh, float modulus, std::span<const Attachment> attachments) {
  TissueParams params;
  params.youngs_modulus = modulus, params.node_spacing = 0.009f;
  return make_tissue(mesh.view(), params, attachments);
}

// Returns the organs with the poses of data/scenes/liver_and_stomach.toml.
test::OrganGroup scene_group() {
  const TriangleMesh liver = load_mesh(repository_file("data/organs/liver.obj"));
  const TriangleMesh stomach = load_mesh(repository_file("data/organs/stomach.obj"));
  const Attachment to_diaphragm{{-0.060f, 0.120f, 0.060f}, 0.045f}, to_gullet{{0.010f, 0.150f, 0.095f}, 0.030f};
  return {{liver, stomach},
          {organ_model(liver, 6e3f, {&to_diaphragm, 1}), organ_model(stomach, 4e3f, {&to_gullet, 1})}};
}

// Returns an attachment: a ball of the organ's tissue that is farthest from the other organ.
Attachment hold_far_side(const TriangleMesh& mesh, const glm::vec3& other) {
  Attachment hold{mesh.positions[0], 0.04f};
  for (const glm::vec3& p : mesh.positions)
    if (glm::distance(p, other) > glm::distance(hold.centre, other)) hold.centre = p;
  return hold;
}

glm::vec3 middle_of(const TriangleMesh& mesh) {
  glm::dvec3 sum(0.0);
  for (const glm::vec3& p : mesh.positions) sum += glm::dvec3(p);
  return glm::vec3(sum / static_cast<double>(mesh.positions.size()));
}

struct Times {
  double find_us = 0.0, solve_us = 0.0;
  std::size_t contacts = 0;
};

template <class Action>
double microseconds(Action action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// Times of the search and of the pushes in one substep, for the present state.
Times measure(test::OrganGroup& group) {
  constexpr int kRepeats = 20;
  Times times{1e9, 1e9, 0};
  for (int i = 0; i < kRepeats; ++i) times.find_us = std::min(times.find_us, microseconds([&] { group.find(kFrame); }));
  for (std::size_t k = 0; k < group.models.size(); ++k) begin_step(group.models[k], group.states[k], {});
  for (int i = 0; i < kRepeats; ++i)
    times.solve_us = std::min(times.solve_us, microseconds([&] {
                                solve_organ_contacts(group.model_list, group.state_list, 1e-3f, group.contacts);
                              }));
  times.contacts = group.contacts.contacts.size();
  return times;
}

void expect_no_motion_at_rest(test::OrganGroup& group) {
  std::vector<std::vector<glm::vec3>> rest;
  for (const SteppedTissue& state : group.states) rest.push_back(state.x);
  for (int frame = 0; frame < 20; ++frame) {
    group.frame(kFrame);
    ASSERT_TRUE(group.contacts.contacts.empty()) << "frame " << frame << ", " << group.contacts.contacts.size();
  }
  for (std::size_t k = 0; k < rest.size(); ++k) {
    float farthest = 0.f;
    for (std::size_t i = 0; i < rest[k].size(); ++i)
      farthest = std::max(farthest, glm::distance(group.states[k].x[i], rest[k][i]));
    EXPECT_LT(farthest, 1e-5f);
  }
}

// Pulls the second organ against the last of the others with `pull` m/s^2 for a second and a half.
void expect_they_hold_off(test::OrganGroup& group, float pull) {
  const std::uint32_t other = group.models.size() == 3 ? 2 : 0;
  const glm::vec3 towards = glm::normalize(glm::vec3(group.centre(other) - group.centre(1)));
  for (glm::vec3& g : group.models[1].gravity) g = pull * towards;
  const glm::dvec3 before = group.centre(other);
  float deepest = 0.f;
  glm::vec3 force(0.f), strongest(0.f);
  for (int frame = 0; frame < 90; ++frame) {
    group.frame(kFrame);
    deepest = std::max(deepest, group.deepest());
    force = organ_force(group.contacts, other, kFrame);
    if (glm::length(force) > glm::length(strongest)) strongest = force;
    glm::vec3 sum(0.f);
    for (std::uint32_t k = 0; k < group.models.size(); ++k) sum += organ_force(group.contacts, k, kFrame);
    EXPECT_LT(glm::length(sum), 1e-3f);
  }
  const float at_last = group.deepest();
  const Times times = measure(group);
  std::printf("pressed: force up to %.2f N, deepest overlap %.2f mm, final overlap %.2f mm, other moved %.2f mm\n",
              glm::length(force), deepest * 1e3f, at_last * 1e3f, glm::length(group.centre(other) - before) * 1e3);
  std::printf("pressed: search %.0f us a frame, pushes %.1f us a substep, %zu contacts, nodes at up to %.3f m/s\n",
              times.find_us, times.solve_us, times.contacts,
              *std::max_element(group.contacts.fastest.begin(), group.contacts.fastest.end()));
  EXPECT_GT(glm::dot(strongest, towards), 0.1f);
  EXPECT_GT(glm::dot(group.centre(other) - before, glm::dvec3(towards)), 0.0);
  EXPECT_LT(deepest, 4e-3f);
  EXPECT_LT(at_last, 1e-3f);
}

std::vector<TriangleMesh> openhelp() {
  std::vector<TriangleMesh> meshes;
  for (const char* name : {"Liver", "Stomach", "Duodenum"})
    if (const auto file = shared_file(std::string("organs/openhelp/") + name + ".stl"))
      meshes.push_back(load_mesh(*file));
  return meshes;
}

TEST(OrgansInContact, SceneAtRestDoesNotMove) {
  test::OrganGroup group = scene_group();
  expect_no_motion_at_rest(group);
  const Times times = measure(group);
  std::printf(
      "at rest: search %.0f us a frame, pushes %.1f us a substep, %zu contacts, lattices of %zu and %zu cells\n",
      times.find_us, times.solve_us, times.contacts, group.models[0].lattice.cells.size(),
      group.models[1].lattice.cells.size());
  for (glm::vec3& x : group.states[1].x) x += 1.f;
  embed_surface(group.models[1], group.states[1].x, group.surfaces[1]);
  std::printf("apart: search %.0f us a frame\n", measure(group).find_us);
}

TEST(OrgansInContact, SceneOrgansKeepEachOtherOut) {
  test::OrganGroup group = scene_group();
  expect_they_hold_off(group, 4.f);
}

TEST(OrgansInContact, OpenHelp) {
  const std::vector<TriangleMesh> meshes = openhelp();
  if (meshes.size() < 3) GTEST_SKIP() << "no shared organs here";
  std::vector<TissueModel> models;
  for (std::size_t k = 0; k < 3; ++k) {
    const Attachment hold = hold_far_side(meshes[k], middle_of(meshes[k == 1 ? 2 : 1]));
    models.push_back(organ_model(meshes[k], k == 0 ? 6e3f : 4e3f, {&hold, 1}));
  }
  test::OrganGroup group(meshes, std::move(models));
  float overlap = 0.f;
  for (const std::vector<float>& zero : group.contacts.zero)
    for (const float z : zero) overlap = std::min(overlap, z);
  std::printf("OpenHELP: overlap at rest %.1f mm\n", -overlap * 1e3f);
  EXPECT_LT(overlap, -0.010f);
  expect_no_motion_at_rest(group);
  expect_they_hold_off(group, 6.f);
}

}  // namespace organ_contact_organs_test

namespace {

// Tests the tissue of real organs: ours, and those of the shared test data if they are present.

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

// Burns real organs: tests that they are closed after every burn, and measures the time of a burn.

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

// Cuts our liver with blades, at rest and while it is bent: measures the error of the cut and its time.

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
