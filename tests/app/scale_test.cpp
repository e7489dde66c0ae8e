// Compares every backend with the double-precision reference over the whole range of scale: organs of 1 mm to 1 km, 0
// to 1 km from the origin, both sets. Vertices are floats, 61 micrometres apart at 1 km. These floats are the input, so
// the answer must be exact for them; the borderline limit is 1 micrometre, as at the origin. Units: metres.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "app/compare/backends.hpp"
#include "cpu_collision/reference.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 4000;
constexpr double kSizes[] = {1e-3, 0.03, 0.3, 10.0, 1000.0};          // m  radius of the organ
constexpr double kDistances[] = {0.0, 0.3, 3.0, 30.0, 300.0, 999.0};  // m  distance of its centre from the origin
constexpr int kTools = 6, kFacesAboutATool = 40;

struct Setting {
  double size, distance;
};

bool within_limits(const ToolStep& step) { return step_fault(step).empty(); }

// Returns a tool near a point of the organ: shafts up to the size of the organ, radii from 10 micrometres.
ToolStep step_about(Dice& dice, const dvec3& at, double size) {
  for (;;) {
    const double arm = dice.log_uniform(std::min(0.05 * size, 0.1), std::min(size, 1.0));
    const double motion = dice.pick(4) ? dice.log_uniform(1e-3, 1.0) * arm : 0.0;
    const dvec3 tip = at + 0.2 * arm * dice.direction(), pivot = tip + arm * dice.direction();
    const ToolStep step{pivot, tip, tip + motion * dice.direction(), dice.log_uniform(1e-5, 0.2 * arm + 2e-5)};
    if (within_limits(step)) return step;
  }
}

// The organ, and faces with a point exactly on the surface of each tool's sweep, which a rounded plane would miss.
struct Case {
  TriangleMesh mesh;
  std::vector<ToolStep> steps;
};

void add_faces_about(TriangleMesh& mesh, Dice& dice, const ToolStep& step, double size) {
  for (int k = 0; k < kFacesAboutATool; ++k) {
    const dvec3 at = test::point_of_sweep(dice, step) + dice.log_uniform(1e-7, 1e-3) * dice.direction();
    const Triangle face = test::random_face(dice, at, dice.log_uniform(1e-3, 1.0) * size);
    const dvec3 move = dice.pick(2) ? at - face.a : dvec3(0.0);
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (const dvec3& corner : {face.a, face.b, face.c}) mesh.positions.emplace_back(corner + move);
    mesh.faces.push_back({first, first + 1, first + 2});
  }
}

Case random_case(Dice& dice, const Setting& setting) {
  Case made;
  const dvec3 middle = setting.distance * dice.direction();
  const TriangleMesh unit =
      shapes::joined(shapes::icosphere(2, 1.f), shapes::random_soup(kSeed + dice.pick(1000), 200, 2.f, 0.4f));
  made.mesh.faces = unit.faces;
  for (const glm::vec3& p : unit.positions) made.mesh.positions.emplace_back(middle + setting.size * dvec3(p));
  const int vertices = static_cast<int>(made.mesh.positions.size());
  while (made.steps.size() < kTools) {
    const dvec3 at(made.mesh.positions[dice.pick(vertices)]);
    if (std::max({std::abs(at.x), std::abs(at.y), std::abs(at.z)}) > 0.999 * kLargestCoordinate) continue;
    made.steps.push_back(step_about(dice, at, setting.size));
    add_faces_about(made.mesh, dice, made.steps.back(), std::min(setting.size, 100.0));
  }
  return made;
}

std::vector<ToolVolume> volumes_of(const std::vector<ToolStep>& steps, TouchSet set) {
  std::vector<ToolVolume> volumes;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const ToolStep& step = steps[k];
    if (set == TouchSet::Exact || k % 3 == 0)
      volumes.push_back(swept_volume(step, Cover::Capsule));
    else if (k % 3 == 1)
      volumes.push_back(swept_volume(step, Cover::Paper));
    else
      volumes.push_back(static_volume({step.pivot, step.tip_after, step.radius}));
  }
  return volumes;
}

struct Tally {
  std::uint64_t touched = 0, borderline = 0, disagreements = 0, queries = 0;
};

class Scale : public testing::Test {
 protected:
  Backends backends;
  std::vector<std::unique_ptr<TouchQuery>> queries;
  std::map<std::string, Tally> tallies;

  void make_all() {
    for (const std::string& name : backend_list("all", backends)) queries.push_back(backends.make(name));
  }
  void check(const Case& made, std::uint32_t seed, const Setting& setting) {
    for (const auto& query : queries) query->rebuild(made.mesh.view());
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
      const std::vector<ToolVolume> tools = volumes_of(made.steps, set);
      std::vector<ReferenceAnswer> wanted;
      for (const ToolVolume& tool : tools) wanted.push_back(reference_touched(made.mesh.view(), tool, set));
      for (const auto& query : queries) {
        const TouchList list = query->touched(tools, set);
        Tally& tally = tallies[std::string(query->name())];
        for (std::size_t k = 0; k < tools.size(); ++k) {
          const Agreement agreement = compare_with_reference(wanted[k], list.of_tool(k));
          ++tally.queries;
          tally.touched += agreement.in_both;
          tally.borderline += agreement.borderline;
          tally.disagreements += agreement.disagreements;
          EXPECT_EQ(agreement.disagreements, 0u)
              << query->name() << ", set " << (set == TouchSet::Exact ? "exact" : "volume") << ", size " << setting.size
              << " m, " << setting.distance << " m from the origin, tool " << k << ", seed " << seed;
        }
      }
    }
  }
};

TEST_F(Scale, EveryBackendFromOneMillimetreToOneKilometre) {
  make_all();
  ASSERT_GE(queries.size(), 18u);
  std::uint32_t seed = kSeed;
  for (int round = 0; round < 12; ++round) {
    for (const double size : kSizes) {
      for (const double distance : kDistances) {
        Dice dice(++seed);
        check(random_case(dice, {size, distance}), seed, {size, distance});
      }
    }
  }
  for (const auto& [name, tally] : tallies) {
    std::printf("%-16s %llu queries, %llu touched, %llu borderline, %llu disagreements\n", name.c_str(),
                static_cast<unsigned long long>(tally.queries), static_cast<unsigned long long>(tally.touched),
                static_cast<unsigned long long>(tally.borderline),
                static_cast<unsigned long long>(tally.disagreements));
    EXPECT_GT(tally.touched, 20u * tally.queries) << name;
  }
  std::printf("seeds %u..%u\n", kSeed + 1, seed);
}

}  // namespace
}  // namespace trocar
