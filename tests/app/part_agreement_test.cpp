// Compares every backend with the double-precision reference for the parts of instruments: all kinds of instruments,
// all apertures and rolls, slow and fast motion, at rest, and degenerate parts; both sets, and while faces change.
// Units: metres.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>

#include "app/compare/backends.hpp"
#include "cpu_collision/reference.hpp"
#include "geometry/part_volume.hpp"
#include "sim/device/tool_shape.hpp"
#include "tests/cpu_collision/random_parts.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::array kKinds = {InstrumentKind::Grasper, InstrumentKind::Hook, InstrumentKind::Scissors,
                               InstrumentKind::ClipApplier};
constexpr double kOrgan = 0.04;  // m, radius

// Parts and their motions, at addresses that do not change, and the volumes that point to them.
struct Tools {
  std::vector<std::unique_ptr<InstrumentBody>> bodies;
  std::vector<std::unique_ptr<PartShape>> shapes;
  std::vector<std::unique_ptr<InstrumentMotion>> motions;
  std::vector<ToolVolume> volumes;
};

InstrumentStance stance_at(Dice& dice, const dvec3& at, double reach) {
  const dvec3 back = dice.direction();
  return {{at + dice.uniform(0.05, 0.25) * back, at + reach * dice.direction(), 0.0025},
          dice.uniform(-180.0, 180.0),
          dice.pick(3) ? dice.uniform(0.0, 1.0) : 0.0};
}

void add_instrument(Dice& dice, const dvec3& at, Tools& tools) {
  const InstrumentKind kind = kKinds[static_cast<std::size_t>(dice.pick(kKinds.size()))];
  tools.bodies.push_back(std::make_unique<InstrumentBody>(kind, 0.0025, JointLimits{}));
  const InstrumentStance before = stance_at(dice, at, 0.008);
  InstrumentStance now = before;
  now.pose.tip += (dice.pick(4) ? dice.log_uniform(1e-5, 0.02) : 0.0) * dice.direction();
  now.roll_deg += dice.pick(2) ? dice.uniform(-20.0, 20.0) : 0.0;
  now.grip = dice.pick(2) ? dice.uniform(0.0, 1.0) : now.grip;
  tools.bodies.back()->move(dice.pick(8) ? &before : nullptr, now, ToolMode::Swept, Cover::Capsule);
  const auto volumes = tools.bodies.back()->volumes();
  tools.volumes.insert(tools.volumes.end(), volumes.begin(), volumes.end());
}

// A part of any kind, also degenerate ones, in any motion.
void add_random_part(Dice& dice, const dvec3& at, Tools& tools) {
  tools.shapes.push_back(std::make_unique<PartShape>(test::random_part(dice)));
  tools.motions.push_back(std::make_unique<InstrumentMotion>(test::usual_motion(dice, at + 0.1 * dice.direction())));
  const PartShape& shape = *tools.shapes.back();
  const InstrumentMotion& motion = *tools.motions.back();
  const int pieces = volume_count(shape, motion);
  for (int piece = 0; piece < pieces; ++piece)
    tools.volumes.push_back(
        part_volume(shape, motion, static_cast<double>(piece) / pieces, static_cast<double>(piece + 1) / pieces));
}

Tools random_tools(Dice& dice, const TriangleMesh& mesh) {
  Tools tools;
  for (int k = 0; k < 4; ++k) {
    const dvec3 at(mesh.positions[static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.positions.size())))]);
    if (k < 3) {
      add_instrument(dice, at, tools);
    } else {
      add_random_part(dice, at, tools);
    }
  }
  return tools;
}

// Removes faces and moves vertices: what burning and breathing do.
void change(Dice& dice, TriangleMesh& mesh, bool faces) {
  for (glm::vec3& p : mesh.positions) p += glm::vec3(dice.in_cube(2e-4));
  if (!faces) return;
  for (int k = 0; k < 40; ++k) mesh.faces.erase(mesh.faces.begin() + dice.pick(static_cast<int>(mesh.faces.size())));
}

struct Tally {
  std::uint64_t touched = 0, borderline = 0, disagreements = 0, volumes = 0;
};

TEST(PartAgreement, EveryBackendForEveryInstrument) {
  constexpr std::uint32_t kSeed = 1350;
  std::printf("seed %u\n", kSeed);
  Dice dice(kSeed);
  Backends backends;
  std::vector<std::unique_ptr<TouchQuery>> queries;
  for (const std::string& name : backend_list("all", backends)) queries.push_back(backends.make(name));
  ASSERT_GE(queries.size(), 18u);
  std::map<std::string, Tally> tallies;
  TriangleMesh mesh = shapes::icosphere(5, static_cast<float>(kOrgan));
  for (int round = 0; round < 12; ++round) {
    const bool faces = round % 3 == 0;
    change(dice, mesh, faces);
    const Tools tools = random_tools(dice, mesh);
    for (const auto& query : queries) {
      if (faces) query->rebuild(mesh.view());
      query->update(mesh.positions);
    }
    for (const TouchSet set : {TouchSet::Exact, TouchSet::Volume}) {
      std::vector<ReferenceAnswer> wanted;
      for (const ToolVolume& volume : tools.volumes) wanted.push_back(reference_touched(mesh.view(), volume, set));
      for (const auto& query : queries) {
        const TouchList list = query->touched(tools.volumes, set);
        Tally& tally = tallies[std::string(query->name())];
        for (std::size_t k = 0; k < tools.volumes.size(); ++k) {
          const Agreement agreement = compare_with_reference(wanted[k], list.of_tool(k));
          ++tally.volumes;
          tally.touched += agreement.in_both;
          tally.borderline += agreement.borderline;
          tally.disagreements += agreement.disagreements;
        }
      }
    }
  }
  for (const auto& [name, tally] : tallies) {
    std::printf("%-22s %llu volumes, %llu touched, %llu borderline, %llu disagreements\n", name.c_str(),
                static_cast<unsigned long long>(tally.volumes), static_cast<unsigned long long>(tally.touched),
                static_cast<unsigned long long>(tally.borderline),
                static_cast<unsigned long long>(tally.disagreements));
    EXPECT_EQ(tally.disagreements, 0u) << name;
    EXPECT_GT(tally.touched, 1000u) << name;
  }
}

}  // namespace
}  // namespace trocar
