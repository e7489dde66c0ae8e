// Tests what `trocar doctor SCENE` computes: times and verdicts, ranges of forces, thin places, and a trial of a scene.
#include "sim/trial/scene_trial.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "deform/point_loads.hpp"
#include "deform/reference/specimen.hpp"
#include "sim/trial/force_range.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

PhaseTimes phase(double median, double high) {
  PhaseTimes phase;
  phase.total = {median, high, high};
  return phase;
}

TEST(SceneTrial, SpreadIsMedianNinetyNineOfAHundredAndLargest) {
  std::vector<float> values;
  for (int k = 200; k > 0; --k) values.push_back(static_cast<float>(k));
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.median, 100.0);
  EXPECT_EQ(spread.high, 198.0);
  EXPECT_EQ(spread.largest, 200.0);
  EXPECT_EQ(spread_of({}).largest, 0.0);
}

TEST(SceneTrial, AFrameIsTheSumOfItsStages) {
  StageMs quick{}, slow{};
  quick[kTissue] = 3.f, quick[kQuery] = 1.f;
  slow[kTissue] = 10.f, slow[kContacts] = 8.f;
  const PhaseTimes times = phase_times(std::vector<StageMs>{quick, slow, quick, quick}, 16.7);
  EXPECT_EQ(times.total.median, 4.0);
  EXPECT_EQ(times.total.largest, 18.0);
  EXPECT_EQ(times.stage[kTissue].largest, 10.0);
  EXPECT_NEAR(times.late, 0.25, 1e-12);
}

TEST(SceneTrial, VerdictByMedianAndNinetyNineOfAHundred) {
  EXPECT_EQ(frame_verdict(phase(3, 5), phase(8, 16), 16.7), FrameVerdict::Fits);
  EXPECT_EQ(frame_verdict(phase(3, 5), phase(8, 17), 16.7), FrameVerdict::Tight);
  EXPECT_EQ(frame_verdict(phase(3, 17), phase(8, 9), 16.7), FrameVerdict::Tight);
  EXPECT_EQ(frame_verdict(phase(3, 5), phase(17, 30), 16.7), FrameVerdict::TooHeavy);
}

TEST(SceneTrial, ACoarserLatticeSavesWhatIsMissing) {
  EXPECT_EQ(coarser_by(0.0, 0.5, true), 1.0);
  EXPECT_FALSE(coarser_by(0.5, 0.5, true).has_value());
  const double factor = coarser_by(0.3, 0.6, true).value();
  EXPECT_NEAR(0.6 - 0.6 / std::pow(factor, 4.0), 0.3, 1e-12);
  EXPECT_GT(coarser_by(0.3, 0.6, false).value(), factor);
}

// A row of the table of balls in docs/results.md, "Touch at places of a cell".
struct MeasuredBall {
  double radius, spacing, block;        // mm
  std::array<ForceBounds, 5> at_fifth;  // at a fifth of the radius, two fifths ...
};

std::vector<MeasuredBall> measured_balls() {
  std::ifstream in(repository_file("docs/results.md"));
  std::vector<MeasuredBall> balls;
  const auto is_mark = [](char c) { return c == '|' || c == ','; };
  bool reached = false;
  for (std::string line; std::getline(in, line);) {
    reached = reached || line == "## Touch at places of a cell";
    std::replace_if(line.begin(), line.end(), is_mark, ' ');
    std::istringstream numbers(line);
    MeasuredBall ball{};
    numbers >> ball.radius >> ball.spacing >> ball.block;
    double median = 0.0;
    for (ForceBounds& bounds : ball.at_fifth) numbers >> bounds.low >> median >> bounds.high;
    if (reached && numbers) balls.push_back(ball);
  }
  return balls;
}

// The bounds of the law `springs` hold for every ball that was measured, and some ball reaches each of them.
TEST(ForceRange, BoundsAreThoseOfTheTableInTheDocuments) {
  const std::vector<MeasuredBall> balls = measured_balls();
  ASSERT_EQ(balls.size(), 16u);
  for (const bool thick : {true, false})
    for (const double most : {0.5, 1.0})
      for (int k = 0; k < 5; ++k) {
        ForceBounds reached{INFINITY, -INFINITY}, stated;
        for (const MeasuredBall& ball : balls) {
          const double ratio = ball.radius / ball.spacing;
          if (thick != (ball.block >= 2.0 * ball.spacing) || ratio > most || ratio <= most - 0.5) continue;
          const ForceBounds& measured = ball.at_fifth[static_cast<std::size_t>(k)];
          reached = {std::min(reached.low, measured.low), std::max(reached.high, measured.high)};
          stated = ball_bounds({TissueLaw::Springs, 1e-3 * ball.spacing, thick}, 1e-3 * ball.radius,
                               1e-3 * ball.radius * (k + 1) / 5.0)
                       .value();
        }
        EXPECT_NEAR(stated.low, reached.low, 1e-9) << thick << ' ' << most << ' ' << k;
        EXPECT_NEAR(stated.high, reached.high, 1e-9) << thick << ' ' << most << ' ' << k;
      }
}

// A part in the other table there: its greatest depth with a reference, the reference's force at it, and the bounds of
// each law over all spacings and depths.
struct MeasuredPart {
  double depth = 0.0, force = 0.0;        // mm, mN
  std::map<std::string, ForceBounds> at;  // [law]
  int rows = 0;
};

MeasuredPart measured_part(const std::string& name) {
  std::ifstream in(repository_file("docs/results.md"));
  MeasuredPart part;
  std::vector<double> depths;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| " + name + ",")) continue;
    std::istringstream cells(line.substr(2));
    std::string head, cell;
    std::getline(cells, head, '|');
    const std::string what = head.substr(name.size() + 2);
    std::vector<double> values;  // all numbers of the row
    std::size_t columns = 0;
    for (; std::getline(cells, cell, '|'); ++columns) {
      std::istringstream numbers(cell);
      for (double value; numbers >> value; numbers.ignore(1)) values.push_back(value);
      if (what.starts_with("depth")) depths = values;
      if (what.starts_with("reference") && !values.empty() && cell.find(';') != cell.npos)
        part.depth = depths.at(columns), part.force = values.at(values.size() - 2);
    }
    const bool of_law = what.find(',') != what.npos;
    if (!of_law || what.starts_with("reference") || what.starts_with("depth")) continue;
    std::string law = what.substr(what.find(',') + 2);
    law.erase(law.find_last_not_of(' ') + 1);
    ForceBounds& bounds = part.at.try_emplace(law, ForceBounds{INFINITY, -INFINITY}).first->second;
    for (const double value : values) bounds = {std::min(bounds.low, value), std::max(bounds.high, value)};
    ++part.rows;
  }
  return part;
}

TEST(ForceRange, BoundsOfPartsAreThoseOfTheTableInTheDocuments) {
  const std::pair<TipShape, std::string> parts[] = {
      {TipShape::Wire, "wire"}, {TipShape::Blade, "blade"}, {TipShape::Jaw, "jaw"}};
  for (const auto& [shape, name] : parts) {
    const MeasuredPart measured = measured_part(name);
    EXPECT_EQ(measured.rows, 4) << name;
    for (const TissueLaw law : kTissueLaws)
      for (const double spacing : {0.005, 0.009}) {
        const auto modulus = static_cast<double>(contact_modulus({}));
        const PartRange stated = part_range(shape, 0.0025, {law, spacing, true}, modulus).value();
        const ForceBounds& bounds = measured.at.at(name_of(law));
        EXPECT_NEAR(stated.within.low, bounds.low, 1e-9) << name << ' ' << name_of(law);
        EXPECT_NEAR(stated.within.high, bounds.high, 1e-9) << name << ' ' << name_of(law);
        EXPECT_NEAR(1e3 * stated.depth, measured.depth, 1e-9) << name;
        EXPECT_NEAR(1e3 * stated.force, measured.force, 1e-4) << name;
      }
  }
}

TEST(ForceRange, BoundsAreThoseThatWereMeasured) {
  const TouchedSolid thick{TissueLaw::Springs, 0.009, true}, layer{TissueLaw::Springs, 0.005, false};
  EXPECT_EQ(ball_bounds(thick, 0.0025, 0.0025).value().low, 0.83);
  EXPECT_EQ(ball_bounds(thick, 0.005, 0.005).value().low, 0.79);
  EXPECT_EQ(ball_bounds(layer, 0.005, 0.003).value().high, 1.58);
  EXPECT_NEAR(ball_bounds(thick, 0.0025, 0.00225).value().low, 0.5 * (0.92 + 0.83), 1e-12);
  EXPECT_FALSE(ball_bounds(thick, 0.0025, 0.003).has_value());  // deeper than the radius
  EXPECT_FALSE(ball_bounds(thick, 0.001, 0.0005).has_value());  // a ninth of a cell
  EXPECT_FALSE(ball_bounds(layer, 0.0075, 0.003).has_value());  // more than a cell
  EXPECT_EQ(ball_bounds({TissueLaw::Rising, 0.009, true}, 0.005, 0.005).value().low, 0.63);
}

TEST(ForceRange, ABallIsCloseToHertzUpToADepth) {
  const TouchedSolid thick{TissueLaw::Springs, 0.009, true};
  const BallRange range = ball_range(thick, 0.0025).value();
  EXPECT_GT(range.close_depth, 0.0023);
  EXPECT_LT(range.close_depth, 0.0025);
  EXPECT_EQ(range.within.low, 0.83);
  EXPECT_NEAR(range.within.error(), 0.17, 1e-12);
  EXPECT_NEAR(hertz_force(double(contact_modulus({})), 0.0025, 0.0025),
              4.0 / 3.0 * 6000.0 / (1.0 - 0.46 * 0.46) * 6.25e-6, 1e-8);
}

TEST(ForceRange, PartsHoldWhereTheyWereMeasured) {
  const TouchedSolid thick{TissueLaw::Springs, 0.009, true};
  const auto modulus = static_cast<double>(contact_modulus({}));
  const double full = part_range(TipShape::Wire, 0.0025, thick, modulus).value().force;
  EXPECT_NEAR(part_range(TipShape::Wire, 0.0025, thick, 0.5 * modulus).value().force, 0.5 * full, 1e-9);
  EXPECT_FALSE(part_range(TipShape::Jaw, 0.005, thick, modulus).has_value());
  EXPECT_FALSE(part_range(TipShape::Jaw, 0.0025, {TissueLaw::Springs, 0.012, true}, modulus).has_value());
  EXPECT_FALSE(part_range(TipShape::Jaw, 0.0025, {TissueLaw::Springs, 0.009, false}, modulus).has_value());
  EXPECT_EQ(tip_shape(InstrumentKind::Probe), TipShape::Ball);
  EXPECT_EQ(tip_shape(InstrumentKind::ClipApplier), TipShape::Jaw);
}

TEST(Thickness, OfABallAndOfAPlate) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  const Thickness round = measure_thickness(ball.view());
  EXPECT_NEAR(round.thinnest, 0.1, 1e-3);
  EXPECT_EQ(round.below(0.09), 0.0);
  EXPECT_NEAR(round.below(0.11), 1.0, 1e-12);
  const TriangleMesh plate = make_block({0.06, 0.06, 0.01}, 0.005);
  const Thickness flat = measure_thickness(plate.view());
  EXPECT_NEAR(flat.thinnest, 0.01, 1e-6);
  // Two sides of 60 x 60 and four of 60 x 10.
  EXPECT_NEAR(flat.below(0.02), 7200.0 / 9600.0, 1e-6);
}

TEST(DepthInTool, OfAPointInAShaft) {
  const glm::dvec3 tip(0.0, 0.0, 0.05), pivot(0.0, 0.0, 0.2);
  const ToolStep tool{pivot, tip, tip, 0.0025};
  const glm::vec3 normal(0.f, 0.f, 1.f);  // from tissue below to the tool
  EXPECT_NEAR(depth_in_tool(tool, {0.f, 0.f, 0.048f}, normal), 0.0005, 1e-7);
  EXPECT_NEAR(depth_in_tool(tool, {0.f, 0.f, 0.047f}, normal), -0.0005, 1e-7);
  EXPECT_NEAR(depth_in_tool(tool, {0.f, 0.f, 0.051f}, normal), 0.0025, 1e-7);  // passed by the axis
}

class TrialTest : public test::BallScene {
 protected:
  SceneTrial run(const Scene& scene) {
    CpuBackends backends;
    return try_scene(scene, backends, "scan", {}, "", [](double) { return true; });
  }
};

TEST_F(TrialTest, PressesTheOrganTheSameWayEveryTime) {
  const SceneTrial trial = run(scene_), again = run(scene_);
  ASSERT_EQ(trial.presses.size(), 1u);
  EXPECT_TRUE(trial.complete);
  EXPECT_GT(trial.presses[0].force, 0.05);
  EXPECT_EQ(trial.presses[0].force, again.presses[0].force);
  EXPECT_EQ(trial.deepest.depth, again.deepest.depth);
  EXPECT_LT(trial.deepest.depth, 5e-4);
  EXPECT_EQ(trial.rest.frames, 120u);
  EXPECT_GT(trial.press.frames, 30u);
  EXPECT_GE(trial.contact_substeps, 4);
  EXPECT_EQ(trial.organs[0].rest.cause, SubstepCause::Elastic);
  EXPECT_GE(trial.organs[0].press.count, trial.contact_substeps);
  EXPECT_GT(trial.organs[0].nodes, 100u);
}

TEST_F(TrialTest, NamesWhatSetsTheSubsteps) {
  Scene scene = scene_;
  scene.organs[0].tissue.substeps = 30;
  const SceneTrial trial = run(scene);
  EXPECT_EQ(trial.organs[0].rest.cause, SubstepCause::Setting);
  EXPECT_EQ(trial.organs[0].rest.count, 30);
}

TEST_F(TrialTest, EndsWhenItIsAskedTo) {
  CpuBackends backends;
  const SceneTrial trial = try_scene(scene_, backends, "scan", {}, "", [](double time) { return time < 1.5; });
  EXPECT_FALSE(trial.complete);
  EXPECT_LT(trial.seconds, 1.6);
}

}  // namespace
}  // namespace trocar
