// Tests the comparison of faces with the double reference: correct answers give no disagreement, every kind of wrong
// answer is found within a second of frames, one face a frame suffices without spare time, and nothing allocates.
#include "sim/session/answer_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "cpu_collision/queries.hpp"
#include "cpu_collision/reference.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::reference_sample_test {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 611;
constexpr int kSecond = 60;  // frames

// A tool that moves over a ball, and the correct answer of `scan`.
struct Wandering {
  TriangleMesh mesh;
  FacesAround around;
  std::unique_ptr<TouchQuery> query = make_scan_query();
  dvec3 middle;
  double size;
  ToolVolume tool;
  std::vector<Touch> touches;

  explicit Wandering(double size_of = 0.1, dvec3 middle_at = dvec3(0.0)) : middle(middle_at), size(size_of) {
    mesh = shapes::icosphere(4, 1.f);
    for (glm::vec3& p : mesh.positions) p = glm::vec3(middle + size * dvec3(p));
    around = faces_around(mesh.faces, mesh.positions.size());
    query->rebuild(mesh.view());
  }
  dvec3 tip(int frame) const {
    const double t = 0.02 * frame;
    const dvec3 out(std::sin(t) * std::cos(0.37 * t), std::sin(0.71 * t), std::cos(t));
    return middle + (0.9 + 0.08 * std::sin(3.0 * t)) * size * glm::normalize(out);
  }
  void step(int frame) {
    const ToolStep step{middle + dvec3(0.0, 0.0, 2.5 * size), tip(frame), tip(frame + 1), 0.03 * size};
    tool = swept_volume(step, Cover::Capsule);
    const TouchList list = query->touched(std::span(&tool, 1), TouchSet::Exact);
    touches.assign(list.touches.begin(), list.touches.end());
  }
  SampledAnswer asked(std::span<const Touch> told) const { return {mesh.view(), around, tool, told}; }
  double inside_by(const Touch& touch) const {
    const ToolStep& step = tool.step;
    return step.radius - reference_distance(triangle_of(mesh.positions, mesh.faces[index(touch.face)]),
                                            {step.pivot, step.tip_before, step.tip_after});
  }
};

void hold_frame(ReferenceSample& sample, const SampledAnswer& asked, bool more) {
  sample.open_frame(asked.mesh.faces.size(), more);
  while (sample.wants_more()) sample.hold(0, asked);
}

TEST(ReferenceSample, CorrectAnswersGiveNoDisagreement) {
  const std::pair<double, double> sizes_and_distances[] = {
      {0.1, 0.0}, {0.001, 0.0}, {0.1, 30.0}, {10.0, 300.0}, {0.1, 990.0}};
  for (const auto& [size, distance] : sizes_and_distances) {
    Wandering made(size, dvec3(0.0, distance, 0.0));
    ReferenceSample sample(1, {.budget_ms = 1e4});
    std::size_t touched = 0;
    for (int frame = 0; frame < 10 * kSecond; ++frame) {
      made.step(frame);
      touched += made.touches.size();
      hold_frame(sample, made.asked(made.touches), true);
    }
    EXPECT_EQ(sample.total().disagreements, 0u) << size << " m, " << distance << " m from the origin";
    EXPECT_GT(touched, 1000u);
    EXPECT_EQ(sample.total().faces, 10u * kSecond * 32);
    EXPECT_NEAR(double(sample.total().culled) / double(sample.total().faces), 0.5, 0.1);
    EXPECT_EQ(sample.total().of, 10u * kSecond * made.mesh.faces.size());
  }
}

// Tests random steps of every kind over a triangle soup, which reach all branches of the refinement.
TEST(ReferenceSample, CorrectRecordsAreSound) {
  std::printf("seed %u\n", kSeed);
  Dice dice(kSeed);
  const TriangleMesh mesh = shapes::joined(shapes::icosphere(4, 0.1f), shapes::random_soup(kSeed, 2000, 0.4f, 0.05f));
  const auto query = make_scan_query();
  query->rebuild(mesh.view());
  int touched = 0, later = 0;
  for (int k = 0; k < 12000; ++k) {
    const ToolVolume tool = swept_volume(test::random_step(dice), Cover::Capsule);
    for (const Touch& touch : query->touched(std::span(&tool, 1), TouchSet::Exact).touches) {
      const Triangle face = triangle_of(mesh.positions, mesh.faces[index(touch.face)]);
      ASSERT_TRUE(sound_record(tool.step, face, touch, dice.uniform(0.0, 0.999))) << "step " << k;
      ++touched;
      later += touch.time > 0.f;
    }
  }
  std::printf("%d records, %d of them at times above 0\n", touched, later);
  EXPECT_GT(touched, 10000);
  EXPECT_GT(later, 1000);
}

using Fault = std::function<void(std::vector<Touch>& touches, const Wandering& made)>;

struct NamedFault {
  const char* name;
  Fault spoil;
};

void drop_if(std::vector<Touch>& touches, const std::function<bool(const Touch&)>& goes) {
  touches.erase(std::remove_if(touches.begin(), touches.end(), goes), touches.end());
}

const NamedFault kFaults[] = {
    {"nothing is touched", [](auto& touches, const Wandering&) { touches.clear(); }},
    {"one face in seven is lost",
     [](auto& touches, const Wandering&) {
       drop_if(touches, [](const Touch& touch) { return index(touch.face) % 7 == 0; });
     }},
    {"a third of the radius is lost",
     [](auto& touches, const Wandering& made) {
       drop_if(touches, [&](const Touch& touch) { return made.inside_by(touch) < 0.3 * made.tool.step.radius; });
     }},
    {"touches that begin in the step are lost",
     [](auto& touches, const Wandering&) { drop_if(touches, [](const Touch& touch) { return touch.time > 0.f; }); }},
    {"untouched faces are told",
     [](auto& touches, const Wandering& made) {
       if (touches.empty()) return;
       const auto last = static_cast<std::uint32_t>(made.mesh.faces.size()) - 1;
       while (index(touches.back().face) + 7 < last && touches.size() < 400)
         touches.push_back({FaceId{index(touches.back().face) + 7}, touches[0].point, touches[0].normal, 0.f, 0.f});
     }},
    {"points beside the face",
     [](auto& touches, const Wandering&) {
       for (Touch& t : touches) t.point.x += 1e-4f;
     }},
    {"times too late",
     [](auto& touches, const Wandering&) {
       for (Touch& t : touches) t.time = 1.f;
     }},
    {"depths halved",
     [](auto& touches, const Wandering&) {
       for (Touch& t : touches) t.depth *= 0.5f;
     }},
    {"normals turned over",
     [](auto& touches, const Wandering&) {
       for (Touch& t : touches) t.normal = -t.normal;
     }},
};

// Tests one face a frame, as on a machine without spare time, and the usual number of faces.
TEST(ReferenceSample, WrongAnswersAreFound) {
  for (const bool more : {false, true}) {
    for (const NamedFault& fault : kFaults) {
      int slowest = 0;
      for (int begin = 0; begin < 20; ++begin) {
        Wandering made;
        ReferenceSample sample(1, {.seed = kSeed + std::uint64_t(begin), .budget_ms = 1e4});
        int frames = 0;
        for (; frames < 10 * kSecond && sample.total().disagreements == 0; ++frames) {
          made.step(100 * begin + frames);
          fault.spoil(made.touches, made);
          hold_frame(sample, made.asked(made.touches), more);
        }
        slowest = std::max(slowest, frames);
      }
      std::printf("%-42s found within %d frames, %s\n", fault.name, slowest, more ? "32 faces each" : "1 face each");
      EXPECT_LE(slowest, more ? kSecond / 2 : 5 * kSecond) << fault.name << ", seed " << kSeed;
    }
  }
}

TEST(ReferenceSample, OneFaceWithoutTimeAndNoAllocation) {
  Wandering made;
  ReferenceSample sample(1);
  made.step(0);
  const std::uint64_t before = allocations_so_far();
  for (int frame = 0; frame < 100; ++frame) {
    hold_frame(sample, made.asked(made.touches), false);
    ASSERT_EQ(sample.now().faces, 1u);
  }
  const auto start = std::chrono::steady_clock::now();
  for (int frame = 0; frame < 1000; ++frame) {
    hold_frame(sample, made.asked(made.touches), true);
    ASSERT_GE(sample.now().faces, 1u);
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(allocations_so_far() - before, 0u);
  std::printf("%.4f ms and %.1f faces a frame\n", took.count() / 1000.0, double(sample.total().faces - 100) / 1000.0);
}

}  // namespace
}  // namespace trocar::reference_sample_test
