// Tests surfaces that change: any sequence of frames gives the surfaces that the rows describe, and damaged rows are
// refused.
#include "sim/hdf5/surface_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

namespace trocar {
namespace {

constexpr std::uint32_t kNodes = 64;

struct Dice {
  std::mt19937 random;
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); }

  Embedding embedding() {
    Embedding embedding;
    for (std::uint32_t k = 0; k < 8; k += 2) {
      embedding.node[k] = below(kNodes - 1);
      embedding.node[k + 1] = embedding.node[k] + 1;
      embedding.weight[k] = static_cast<float>(below(100));
      embedding.weight[k + 1] = static_cast<float>(below(100));
    }
    return embedding;
  }
  glm::uvec3 face(std::uint32_t vertices) { return {below(vertices), below(vertices), below(vertices)}; }
  glm::vec3 point() { return {below(1000), below(1000), below(1000)}; }
};

void add_vertices(SurfaceHistory& history, Dice& dice, std::uint32_t count, std::uint32_t frame) {
  for (std::uint32_t k = 0; k < count; ++k) {
    history.rest.push_back(dice.point());
    history.embedding.push_back(dice.embedding());
    history.vertex_born.push_back(frame);
  }
}

void add_faces(SurfaceHistory& history, Dice& dice, std::uint32_t count, std::uint32_t frame) {
  for (std::uint32_t k = 0; k < count; ++k) {
    history.faces.push_back(dice.face(static_cast<std::uint32_t>(history.rest.size())));
    history.face_born.push_back(frame);
  }
}

// Faces are removed at random, also in the frame in which they were added; vertices get a new embedding, some twice in
// a frame.
SurfaceHistory random_history(Dice& dice, std::uint32_t frames) {
  SurfaceHistory history;
  add_vertices(history, dice, 12, 0);
  add_faces(history, dice, 20, 0);
  std::vector<std::uint32_t> living;
  for (std::uint32_t id = 0; id < 20; ++id) living.push_back(id);
  for (std::uint32_t frame = 0; frame < frames; ++frame) {
    if (dice.below(3) > 0) continue;
    if (frame > 0) add_vertices(history, dice, dice.below(4), frame);
    for (std::uint32_t k = frame > 0 ? dice.below(6) : 0; k > 0; --k) {
      living.push_back(static_cast<std::uint32_t>(history.faces.size()));
      add_faces(history, dice, 1, frame);
    }
    for (std::uint32_t k = dice.below(6); k > 0 && !living.empty(); --k) {
      std::swap(living[dice.below(static_cast<std::uint32_t>(living.size()))], living.back());
      history.removed.push_back(FaceId(living.back()));
      history.removed_frame.push_back(frame);
      living.pop_back();
    }
    for (std::uint32_t k = dice.below(4); k > 0; --k) {
      history.carried.push_back(dice.below(static_cast<std::uint32_t>(history.rest.size())));
      history.carried_embedding.push_back(dice.embedding());
      history.carried_frame.push_back(frame);
    }
  }
  return history;
}

bool same(const Embedding& a, const Embedding& b) {
  return std::equal(a.node, a.node + 8, b.node) && std::equal(a.weight, a.weight + 8, b.weight);
}

// Computes the surface slowly, from every row.
OrganSurface surface_at(const SurfaceHistory& history, std::uint32_t frame) {
  OrganSurface surface;
  for (std::uint32_t id = 0; id < history.faces.size(); ++id) {
    bool lives = history.face_born[id] <= frame;
    for (std::size_t row = 0; row < history.removed.size(); ++row)
      if (index(history.removed[row]) == id && history.removed_frame[row] <= frame) lives = false;
    if (!lives) continue;
    surface.ids.push_back(FaceId(id));
    surface.faces.push_back(history.faces[id]);
  }
  for (std::uint32_t vertex = 0; vertex < history.rest.size(); ++vertex) {
    if (history.vertex_born[vertex] > frame) continue;
    surface.rest.push_back(history.rest[vertex]);
    surface.tissue.embedding.push_back(history.embedding[vertex]);
    for (std::size_t row = 0; row < history.carried.size(); ++row)
      if (history.carried[row] == vertex && history.carried_frame[row] <= frame)
        surface.tissue.embedding.back() = history.carried_embedding[row];
  }
  return surface;
}

void expect_same(const OrganSurface& surface, const OrganSurface& wanted) {
  ASSERT_EQ(surface.ids, wanted.ids);
  ASSERT_EQ(surface.faces, wanted.faces);
  ASSERT_EQ(surface.rest, wanted.rest);
  ASSERT_TRUE(std::equal(surface.tissue.embedding.begin(), surface.tissue.embedding.end(),
                         wanted.tissue.embedding.begin(), wanted.tissue.embedding.end(), same));
}

TEST(SurfaceHistory, AnySequenceOfFramesGivesTheirSurfaces) {
  const unsigned seed = 20261121;
  std::printf("seed %u\n", seed);
  Dice dice{std::mt19937(seed)};
  int reshaped = 0, kept = 0;
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t frames = 1 + dice.below(40);
    const SurfaceHistory history = random_history(dice, frames);
    ASSERT_EQ(fault_of(history, kNodes), "");
    OrganSurface forward, jumping;
    for (std::uint32_t frame = 0; frame < frames; ++frame) {
      const OrganSurface before = forward;
      const bool told = go_to_frame(history, frame, forward);
      expect_same(forward, surface_at(history, frame));
      const bool same_shape =
          before.frames > 0 && before.ids == forward.ids && before.rest.size() == forward.rest.size();
      ASSERT_TRUE(told || same_shape) << "frame " << frame;
      (told ? reshaped : kept) += 1;
      const std::uint32_t other = dice.below(frames);
      go_to_frame(history, other, jumping);
      expect_same(jumping, surface_at(history, other));
    }
    ASSERT_FALSE(go_to_frame(history, frames - 1, forward));
  }
  std::printf("%d frames reshaped, %d not\n", reshaped, kept);
  EXPECT_GT(reshaped, 100);
  EXPECT_GT(kept, 100);
}

TEST(SurfaceHistory, AnEmptySurfaceIsValid) {
  OrganSurface surface;
  EXPECT_TRUE(go_to_frame({}, 3, surface));
  EXPECT_FALSE(go_to_frame({}, 4, surface));
  EXPECT_TRUE(surface.ids.empty());
  EXPECT_EQ(fault_of({}, 0), "");
}

TEST(SurfaceHistory, DamageIsReported) {
  Dice dice{std::mt19937(7)};
  SurfaceHistory sound;
  add_vertices(sound, dice, 4, 0);
  add_vertices(sound, dice, 1, 5);
  add_faces(sound, dice, 2, 0);
  sound.faces = {{0, 1, 2}, {1, 2, 3}};
  ASSERT_EQ(fault_of(sound, kNodes), "");
  const auto fault_with = [&](const auto& damage) {
    SurfaceHistory history = sound;
    damage(history);
    return fault_of(history, kNodes);
  };
  EXPECT_EQ(fault_with([](auto& h) {
              h.vertex_born = {0, 0, 5, 0, 5};
            }),
            "the frames of its surface changes are not in ascending order");
  EXPECT_EQ(fault_with([](auto& h) { h.faces[1].y = 5; }), "face 1 uses vertex 5 before the vertex exists");
  EXPECT_EQ(fault_with([](auto& h) { h.faces[1].y = 4; }), "face 1 uses vertex 4 before the vertex exists");
  EXPECT_EQ(fault_with([](auto& h) { h.removed = {FaceId{2}}, h.removed_frame = {1}; }),
            "face 2 is removed before it exists");
  EXPECT_EQ(fault_with([](auto& h) { h.carried = {4}, h.carried_embedding = {h.embedding[0]}, h.carried_frame = {4}; }),
            "vertex 4 gets a new embedding before it exists");
  EXPECT_NE(fault_with([](auto& h) { h.embedding[2].node[7] = kNodes; }), "");
  EXPECT_NE(fault_with([](auto& h) { h.embedding[2].node[1] += 1; }), "");
}

}  // namespace
}  // namespace trocar
