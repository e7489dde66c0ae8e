// Tests what the backends share: the list of touches, the set of faces, runs of neighbours, perpendiculars, memory,
// time.
#include "geometry/refine.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>
#include <thread>

#include "geometry/face_numbers.hpp"
#include "geometry/frame.hpp"
#include "geometry/machine.hpp"
#include "tests/geometry/random_faces.hpp"

namespace trocar {
namespace {

TEST(TouchBook, ListsTheToolsInOrder) {
  const std::vector<glm::vec3> positions{{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}, {9, 9, 9}, {10, 9, 9}, {9, 10, 9}};
  const std::vector<glm::uvec3> faces{{0, 1, 2}, {3, 4, 5}};
  const MeshView mesh{positions, faces};
  const std::vector<FaceId> candidates{FaceId{0}, FaceId{1}};
  const ToolVolume tool = static_volume({{0, 0, 1}, {0, 0, -1}, 0.1});
  TouchBook book;
  for (int call = 0; call < 2; ++call) {
    book.open();
    book.add_tool(tool, TouchSet::Volume, mesh, candidates);
    book.add_tool(tool, TouchSet::Exact, mesh, candidates);
    book.pad(3);
    EXPECT_EQ(book.list().of_tool(0).size(), 2u);  // the volume set is taken as given
    ASSERT_EQ(book.list().of_tool(1).size(), 1u);
    EXPECT_EQ(book.list().of_tool(1)[0].face, FaceId{0});
    EXPECT_TRUE(book.list().of_tool(2).empty());
  }
  const std::vector<Triangle> corners{triangle_of(positions, faces[0]), triangle_of(positions, faces[1])};
  book.open();
  book.add_tool(tool, TouchSet::Exact, std::span<const Triangle>(corners), candidates);
  EXPECT_EQ(book.list().touches.size(), 1u);
  EXPECT_GE(book.memory_bytes(), 3 * sizeof(Touch));
  EXPECT_TRUE(book.none(2).of_tool(1).empty());
  EXPECT_EQ(book.none(2).first.size(), 3u);
}

TEST(FaceSet, DrainsFacesInOrder) {
  FaceSet set;
  set.resize(300000);
  const std::vector<std::uint32_t> faces{299998, 0, 63, 64, 4095, 4096, 64, 200000};
  for (int round = 0; round < 2; ++round) {
    for (const std::uint32_t face : faces) {
      set.insert_if(true, face);
      set.insert_if(false, face + 1);
    }
    std::vector<std::uint32_t> drained;
    set.drain([&](std::uint32_t face) { drained.push_back(face); });
    EXPECT_EQ(drained, (std::vector<std::uint32_t>{0, 63, 64, 4095, 4096, 200000, 299998}));
  }
}

TEST(SpatialOrder, RunsAreNeighbours) {
  test::Dice dice(7);
  std::vector<glm::vec3> points;
  for (int i = 0; i < 1000; ++i) points.emplace_back(dice.uniform(0, 1), dice.uniform(0, 1), dice.uniform(0, 1));
  points.resize(1100, points.back());  // equal points
  std::vector<std::uint32_t> numbers(points.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  order_in_runs(numbers, points, 16);
  double size = 0.0;
  for (std::size_t first = 0; first < numbers.size(); first += 16) {
    const std::span run = std::span(numbers).subspan(first, std::min<std::size_t>(16, numbers.size() - first));
    EXPECT_TRUE(std::is_sorted(run.begin(), run.end()));
    glm::vec3 low = points[run[0]], high = low;
    for (const std::uint32_t n : run) low = glm::min(low, points[n]), high = glm::max(high, points[n]);
    size += glm::distance(low, high);
  }
  EXPECT_LT(size / 69.0, 0.6);  // a run of points in file order measures about 1.5
  std::sort(numbers.begin(), numbers.end());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], i);
}

TEST(Perpendicular, IsPerpendicularAndNeverShort) {
  test::Dice dice(8);
  for (int i = 0; i < 1000; ++i) {
    const glm::dvec3 d(dice.uniform(-1, 1), dice.uniform(-1, 1), i % 3 == 0 ? 0.0 : dice.uniform(-1, 1));
    const glm::dvec3 side = any_perpendicular(d);
    EXPECT_NEAR(glm::dot(side, d), 0.0, 1e-15);
    EXPECT_GE(glm::length(side), 0.8 * glm::length(d));
  }
}

TEST(Stopwatch, MeasuresMilliseconds) {
  const auto start = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(milliseconds_since(start), 5.0);
}

TEST(HeldBytes, CountsUnusedCapacity) {
  std::vector<double> numbers;
  numbers.reserve(10);
  EXPECT_EQ(held_bytes(numbers, std::vector<char>()), 80u);
}

// Equal points are ordered by number: the runs are those of one order, whatever the order before.
TEST(SpatialOrder, EqualPointsAreOrderedByNumber) {
  test::Dice dice(9);
  for (int round = 0; round < 50; ++round) {
    std::vector<glm::vec3> points;
    for (int i = 0; i < 200; ++i) points.emplace_back(dice.pick(4), dice.pick(2), round % 2 ? 0 : dice.pick(8));
    std::vector<std::uint32_t> first(points.size());
    std::iota(first.begin(), first.end(), 0u);
    std::vector<std::uint32_t> second(first.rbegin(), first.rend());
    order_in_runs(first, points, 8);
    order_in_runs(second, points, 8);
    ASSERT_EQ(first, second) << "round " << round;
  }
  const std::vector<glm::vec3> same(40, glm::vec3(1.f));
  std::vector<std::uint32_t> numbers(same.size());
  std::iota(numbers.rbegin(), numbers.rend(), 0u);
  order_in_runs(numbers, same, 4);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

// Points on a line of each axis: the runs follow it. The first half has the whole runs, the last run is short.
TEST(SpatialOrder, HalvesAlongTheLongestAxis) {
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<glm::vec3> points;
    for (int i = 0; i < 45; ++i) {
      glm::vec3 at(0.1f * static_cast<float>(i % 3), 0.1f * static_cast<float>(i % 2),
                   0.1f * static_cast<float>(i % 5));
      at[axis] = static_cast<float>((i * 7) % 45);
      points.push_back(at);
    }
    std::vector<std::uint32_t> numbers(points.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    order_in_runs(numbers, points, 10);
    for (std::size_t k = 0; k < numbers.size(); ++k)
      EXPECT_EQ(static_cast<std::size_t>(points[numbers[k]][axis]) / 10, k / 10) << "axis " << axis;
  }
}

TEST(FaceSet, HoldsOneBitPerFaceAndOnePerWord) {
  FaceSet set;
  EXPECT_EQ(set.memory_bytes(), 0u);
  set.resize(64 * 64 * 3);
  EXPECT_EQ(set.memory_bytes(), 8u * (64 * 3 + 3));
  FaceSet ragged;
  ragged.resize(64 * 64 + 1);
  EXPECT_EQ(ragged.memory_bytes(), 8u * (65 + 2));
}

// Every face of a small set alone, and all of them.
TEST(FaceSet, DrainsEveryFace) {
  constexpr std::uint32_t kFaces = 4096 + 70;
  FaceSet set;
  set.resize(kFaces);
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    set.insert(face);
    std::uint32_t count = 0, last = kFaces;
    set.drain([&](std::uint32_t drained) { ++count, last = drained; });
    ASSERT_EQ(count, 1u);
    ASSERT_EQ(last, face);
  }
  for (std::uint32_t face = 0; face < kFaces; ++face) set.insert(face);
  std::uint32_t next = 0;
  set.drain([&](std::uint32_t drained) { ASSERT_EQ(drained, next++); });
  EXPECT_EQ(next, kFaces);
  set.drain([&](std::uint32_t) { FAIL() << "the set is empty"; });
}

// On the axes too, in every sign, and for vectors of any length.
TEST(Perpendicular, OfTheAxes) {
  for (int axis = 0; axis < 3; ++axis) {
    for (const double length : {-1e-8, -1.0, 1.0, 1e8}) {
      glm::dvec3 d(0.0);
      d[axis] = length;
      EXPECT_EQ(glm::dot(any_perpendicular(d), d), 0.0);
      EXPECT_GE(glm::length(any_perpendicular(d)), 0.8 * std::abs(length));
    }
  }
}

TEST(Stopwatch, MeasuresNotMuchMore) {
  const auto start = Clock::now();
  EXPECT_LT(milliseconds_since(start), 1000.0);
  EXPECT_GE(milliseconds_since(start), 0.0);
}

// The processor's flags, as the kernel lists them.
TEST(Instructions, AreThoseOfTheProcessor) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags")) {
  }
  if (line.empty()) GTEST_SKIP() << "no list of flags";
  const auto has = [&](const char* flag) {
    return (line + " ").find(std::string(" ") + flag + " ") != std::string::npos;
  };
  const Instructions expected = has("avx2") && has("avx512f") && has("avx512vl") ? Instructions::Avx512
                                : has("avx2")                                    ? Instructions::Avx2
                                                                                 : Instructions::Plain;
  EXPECT_EQ(best_instructions(), expected);
  EXPECT_LE(instructions(), expected);
}

}  // namespace
}  // namespace trocar
