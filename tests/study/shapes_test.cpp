// Tests superquadrics: they are sound for all exponents, every vertex is on the surface, volume and area equal the
// closed forms, face counts are as requested, triangles are even, and points are equally spaced along the curves.
#include "geometry/error.hpp"
#include "mesh/mesh_report.hpp"
#include "study/planar/circle.hpp"
#include "study/shapes/superquadric.hpp"
#include "tests/geometry/planar_random.hpp"
#include "tests/support/test.hpp"

namespace trocar::planar {
namespace {

// Compares the circle functions with slow versions that share no formula with them: a convex search along the motion, a
// search for the distance, and the source's four tests for boxes. Where the smallest gap of a motion is below 1e-9 of
// its size, either answer is accepted, because the search is not more accurate.

using namespace test;

constexpr double kBand = 1e-9;  // of the size

// A circle near a segment: touching it, through an end, centred on it or anywhere; possibly a point.
struct Case {
  Circle circle;
  Segment segment;
  dvec2 step;
  double size;
  bool degenerate;
};

Case random_case(Dice& dice) {
  const std::int64_t reach = dice.reach(1 << 20);
  const Whole a = dice.point(reach), b = dice.pick(20) ? dice.point(reach) : a, c = point_about(dice, a, b, reach);
  // The motion goes straight at an end, along the segment, perpendicular to it, or anywhere.
  const Whole along = b - a;
  Whole step = dice.point(2 * reach);
  const std::int64_t kind = dice.pick(8);
  if (kind == 0) step = 2 * (a - c);
  if (kind == 1) step = dice.within(2) * along;
  if (kind == 2) step = dice.within(2) * Whole{along.y, -along.x};
  if (kind == 3) step = {0, 0};
  const double scale = dice.scale();
  Case made{{scaled(c, scale), 0.0}, {scaled(a, scale), scaled(b, scale)}, scaled(step, scale), 0.0, false};
  const double unit = scale * static_cast<double>(reach);
  const std::int64_t radius = dice.pick(12);
  if (radius == 0) made.circle.radius = distance(made.segment, made.circle.centre);              // touches at the start
  if (radius == 1) made.circle.radius = distance(made.segment, made.circle.centre + made.step);  // touches at the end
  if (radius >= 2 && radius < 6) made.circle.radius = scale * static_cast<double>(dice.pick(reach + 1));
  if (radius >= 6 && radius < 11) made.circle.radius = unit * dice.log_uniform(1e-6, 2.0);
  made.size = 4.0 * unit + made.circle.radius, made.degenerate = a == b || kind < 4 || radius < 2 || side(a, b, c) == 0;
  return made;
}

struct Least {
  double at, value;
};

// Returns the minimum of a convex function on [low, high].
template <class F>
Least least(const F& f, double low, double high, int steps = 70) {
  constexpr double kGolden = 0.6180339887498949;
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low), fa = f(a), fb = f(b);
  for (int i = 0; i < steps; ++i)
    if (fa <= fb) {
      high = b, b = a, fb = fa;
      fa = f(a = high - kGolden * (high - low));
    } else {
      low = a, a = b, fa = fb;
      fb = f(b = low + kGolden * (high - low));
    }
  const double middle = 0.5 * (low + high);
  return {middle, f(middle)};
}

// Returns the first time in [0, 1] at which a convex function falls to zero; negative if it does not.
template <class F>
double first_zero(const F& f, const Least& smallest) {
  double low = 0.0, high = smallest.at;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (f(middle) > 0.0 ? low : high) = middle;
  }
  return high;
}

TEST(PlanarCircle, LineAndSegmentAgreeWithSearch) {
  Dice dice(18);
  Tally tally{"circle against line and segment"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i, ++tally.cases) {
    const Case c = random_case(dice);
    tally.degenerate += c.degenerate;
    const auto away = [&](double u) { return glm::length(point_at(c.segment, u) - c.circle.centre); };
    const double near = std::min({away(0.0), away(1.0), least(away, 0.0, 1.0, 40).value});
    const Contact contact = circle_segment(c.circle, c.segment);
    wrong += std::abs(contact.gap - (near - c.circle.radius)) > 1e-8 * c.size;
    wrong += std::abs(glm::length(contact.normal) - 1.0) > 1e-12 || contact.touches != (contact.gap <= 0.0);
    wrong += glm::length(contact.point + (contact.gap + c.circle.radius) * contact.normal - c.circle.centre) >
             1e-13 * c.size;
    if (c.segment.a == c.segment.b) continue;
    // The line is tested as a segment that is long enough on both sides.
    const dvec2 along = glm::normalize(c.segment.b - c.segment.a);
    const auto off_line = [&](double u) { return glm::length(c.segment.a + u * along - c.circle.centre); };
    const Contact line = circle_line(c.circle, c.segment);
    const double least_off = least(off_line, -4.0 * c.size, 4.0 * c.size, 55).value;
    wrong += std::abs(line.gap - (least_off - c.circle.radius)) > 1e-8 * c.size;
    wrong += std::abs(glm::dot(line.normal, along)) > 1e-12;
    wrong += glm::length(line.point + (line.gap + c.circle.radius) * line.normal - c.circle.centre) > 1e-12 * c.size;
  }
  EXPECT_EQ(wrong, 0);
}

// Decides by the source's method in whole numbers: corners in the circle, centre in the box, else the centre beside a
// side.
bool box_twin(Whole c, std::int64_t r, Whole low, Whole high) {
  if (c.x + r < low.x || c.x - r > high.x || c.y + r < low.y || c.y - r > high.y) return false;
  for (const Whole& corner : {low, high, Whole{low.x, high.y}, Whole{high.x, low.y}})
    if (dot(corner - c, corner - c) <= Wide(r) * r) return true;
  return (c.x >= low.x && c.x <= high.x) || (c.y >= low.y && c.y <= high.y);
}

TEST(PlanarCircle, BoxAgreesWithTheSourcesTests) {
  Dice dice(19);
  Tally tally{"circle against box"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i, ++tally.cases) {
    const std::int64_t reach = dice.reach(1 << 20), radius = dice.pick(reach + 1);
    const double scale = dice.scale(), size = scale * static_cast<double>(4 * reach);
    const Whole p = dice.point(reach), q = dice.point(reach), centre = dice.point(2 * reach);
    const Whole low{std::min(p.x, q.x), std::min(p.y, q.y)}, high{std::max(p.x, q.x), std::max(p.y, q.y)};
    const Box box{scaled(low, scale), scaled(high, scale)};
    const Circle circle{scaled(centre, scale), scale * static_cast<double>(radius)};
    const Contact contact = circle_box(circle, box);
    wrong += contact.touches != box_twin(centre, radius, low, high);
    const std::array<dvec2, 4> ring{box.low, {box.high.x, box.low.y}, box.high, {box.low.x, box.high.y}};
    double outline = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 4; ++k)
      outline = std::min(outline, distance(Segment{ring[k], ring[(k + 1) % 4]}, circle.centre));
    const bool inside = glm::clamp(circle.centre, box.low, box.high) == circle.centre;
    wrong += std::abs(contact.gap - ((inside ? -outline : outline) - circle.radius)) > 1e-13 * size;
    wrong += std::abs(glm::length(contact.normal) - 1.0) > 1e-12;
    wrong += glm::length(contact.point + (contact.gap + circle.radius) * contact.normal - circle.centre) > 1e-12 * size;
    tally.degenerate += contact.gap == 0.0 || outline == 0.0 || low.x == high.x || low.y == high.y;
  }
  EXPECT_EQ(wrong, 0);
}

// Checks one motion against one obstacle: `gap(time)` is convex, so a search alone finds its first zero.
template <class Gap>
void check_impact(const Case& c, const Impact& impact, const Gap& gap, Tally& tally, int& wrong) {
  const Least smallest = least(gap, 0.0, 1.0);
  const double lowest = std::min({gap(0.0), gap(1.0), smallest.value}), start = gap(0.0);
  // Touches at the start except for rounding: an approach must hit at once, a retreat may or may not.
  if (std::abs(start) < 1e-14 * c.size) {
    ++tally.in_band;
    wrong += lowest < -kBand * c.size && (!impact.hits || impact.time * glm::length(c.step) > 1e-6 * c.size);
    return;
  }
  if (start < 0.0) {
    wrong += !impact.hits || impact.time != 0.0;
    return;
  }
  if (std::abs(lowest) < kBand * c.size)
    ++tally.in_band;
  else
    wrong += impact.hits != (lowest < 0.0);
  if (!impact.hits) return;
  wrong += !(impact.time >= 0.0 && impact.time <= 1.0);
  wrong += glm::length(impact.centre - c.circle.centre - impact.time * c.step) > 1e-13 * c.size;
  wrong += std::abs(gap(impact.time)) > 1e-8 * c.size;
  wrong += glm::length(impact.point + c.circle.radius * impact.normal - impact.centre) > 1e-8 * c.size;
  // For a grazing circle the impact time is inaccurate; the gap then stays small along the whole motion.
  const double expected = first_zero(gap, smallest.value <= gap(1.0) ? smallest : Least{1.0, gap(1.0)});
  if (lowest < -kBand * c.size) wrong += std::abs(expected - impact.time) * glm::length(c.step) > 1e-4 * c.size;
  wrong += gap(0.5 * impact.time) < -1e-8 * c.size;
}

TEST(PlanarCircle, MovingCircleAgainstSegmentAgreesWithSearch) {
  Dice dice(20);
  Tally tally{"moving circle against segment"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i, ++tally.cases) {
    const Case c = random_case(dice);
    tally.degenerate += c.degenerate;
    const auto gap = [&](double t) { return distance(c.segment, c.circle.centre + t * c.step) - c.circle.radius; };
    check_impact(c, moving_circle_segment(c.circle, c.step, c.segment), gap, tally, wrong);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarCircle, MovingCircleAgainstLineAgreesWithSearch) {
  Dice dice(21);
  Tally tally{"moving circle against line"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i, ++tally.cases) {
    Case c = random_case(dice);
    if (c.segment.a == c.segment.b) c.segment.b += dvec2(c.size, 0.0);
    tally.degenerate += c.degenerate;
    const dvec2 unit = glm::normalize(c.segment.b - c.segment.a);
    const auto gap = [&](double t) {
      return std::abs(cross(unit, c.circle.centre + t * c.step - c.segment.a)) - c.circle.radius;
    };
    check_impact(c, moving_circle_line(c.circle, c.step, c.segment), gap, tally, wrong);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarCircle, StopShortKeepsGapAndMovesAsFarAsAllowed) {
  Dice dice(22);
  Tally tally{"stop short of two walls"};
  int wrong = 0;
  long stopped = 0;
  for (int i = 0; i < kCases; ++i, ++tally.cases) {
    const Case c = random_case(dice);
    const std::array<Segment, 2> walls{c.segment,
                                       Segment{c.segment.a, c.segment.a + quarter_turn(c.segment.b - c.segment.a)}};
    const double keep = c.size * (dice.pick(3) ? dice.log_uniform(1e-6, 0.2) : 0.0);  // 0 in a third of the cases
    const double share = stop_short(c.circle, c.step, walls, keep);
    tally.degenerate += c.degenerate || keep == 0.0;
    stopped += share < 1.0;
    wrong += !(share >= 0.0 && share <= 1.0);
    double blocked = 1.0;
    bool marginal = false;
    for (const Segment& wall : walls) {
      const auto clearance = [&](double t) {
        return distance(wall, c.circle.centre + t * c.step) - c.circle.radius - keep;
      };
      const Least smallest = least(clearance, 0.0, 1.0, 45);
      const double start = clearance(0.0), lowest = std::min({start, clearance(1.0), smallest.value});
      // The circle must never be nearer than the gap or the starting distance.
      wrong += clearance(share) < std::min(start, 0.0) - 1e-8 * c.size;
      const double band = kBand * c.size, drop = start - lowest;
      const bool grazes = start > band && std::abs(lowest) < band, creeps = start < -band && drop > 0.0 && drop < band;
      marginal = marginal || std::abs(start) <= band || grazes || creeps;
      if (start > 0.0 && lowest < 0.0)
        blocked = std::min(
            blocked, first_zero(clearance, smallest.value <= clearance(1.0) ? smallest : Least{1.0, clearance(1.0)}));
      if (start <= 0.0 && lowest < start) blocked = 0.0;
    }
    // Starts at the edge of the gap, or grazes it: moving on and stopping are both correct within rounding.
    if (marginal)
      ++tally.in_band;
    else
      wrong += std::abs(share - blocked) * glm::length(c.step) > 1e-4 * c.size;
  }
  std::printf("    %ld stopped\n", stopped);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarCircle, BounceReversesNormalComponent) {
  Dice dice(23);
  Tally tally{"bounce"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i, ++tally.cases) {
    const double angle = dice.uniform(0.0, 6.283185307179586),
                 restitution = dice.pick(4) ? dice.uniform(0.0, 1.0) : dice.pick(2);
    const dvec2 normal(std::cos(angle), std::sin(angle)), along = quarter_turn(normal);
    const double into = dice.pick(10) ? dice.uniform(-3.0, 3.0) : 0.0, past = dice.uniform(-3.0, 3.0);
    const dvec2 after = bounce(into * normal + past * along, normal, restitution);
    const double expected = into < 0.0 ? -restitution * into : into;
    wrong += std::abs(glm::dot(after, normal) - expected) > 1e-14 || std::abs(glm::dot(after, along) - past) > 1e-14;
    tally.degenerate += into == 0.0 || restitution == 0.0 || restitution == 1.0;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarCircle, HandMadeCases) {
  const Segment wall{{0.0, 0.0}, {4.0, 0.0}};
  const Impact impact = moving_circle_segment({{1.0, 3.0}, 1.0}, {0.0, -8.0}, wall);  // jumps over the wall in one step
  EXPECT_TRUE(impact.hits);
  EXPECT_EQ(impact.time, 0.25);
  EXPECT_EQ(impact.point, dvec2(1.0, 0.0));
  EXPECT_EQ(impact.normal, dvec2(0.0, 1.0));
  EXPECT_EQ(bounce({3.0, -8.0}, impact.normal, 0.5), dvec2(3.0, 4.0));
  // The circle moves onto the end, straight along the wall, and bounces back. With the wall's own normal it would pass.
  const Impact end = moving_circle_segment({{8.0, 0.0}, 1.0}, {-6.0, 0.0}, wall);
  EXPECT_EQ(end.time, 0.5);
  EXPECT_EQ(end.normal, dvec2(1.0, 0.0));
  EXPECT_TRUE(circle_line({{0.0, 1.0}, 1.0}, wall).touches);
  EXPECT_EQ(circle_line({{2.0, 0.0}, 1.0}, wall).normal, dvec2(0.0, 1.0));  // centre on the line
  EXPECT_EQ(stop_short({{2.0, 4.0}, 0.0}, {0.0, -8.0}, {&wall, 1}, 1.0), 0.375);
  EXPECT_EQ(stop_short({{2.0, 0.0005}, 0.0}, {0.0, -1.0}, {&wall, 1}, 0.001), 0.0);  // never backwards
  EXPECT_EQ(stop_short({{2.0, 0.0005}, 0.0}, {0.0, 1.0}, {&wall, 1}, 0.001), 1.0);
  EXPECT_TRUE(circle_box({{300.0, 150.0}, 100.0}, {{0.0, 0.0}, {250.0, 300.0}}).touches);
}

}  // namespace
}  // namespace trocar::planar

namespace trocar {
namespace {

using std::numbers::pi;

constexpr SuperquadricKind kKinds[] = {SuperquadricKind::Ellipsoid, SuperquadricKind::Toroid};
constexpr double kExponents[] = {0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0};

SuperquadricParams params_of(SuperquadricKind kind, double e1, double e2, int faces,
                             const glm::dvec3& size = {0.05, 0.04, 0.03}) {
  return {kind, size, e1, e2, 0.3 * size.x, faces};
}

double volume_of(const TriangleMesh& mesh) { return mesh_report(mesh.view(), {.find_crossings = false}).volume; }
double area_of(const TriangleMesh& mesh) { return mesh_report(mesh.view(), {.find_crossings = false}).area; }

// How much rounding a vertex to float may change the inside-outside function: at a cusp up to a root of the rounding.
double rounding(const SuperquadricParams& p) {
  const double e = std::max({p.profile_exponent, p.outline_exponent, 2.0});
  return 2e-6 + 0.5 * e * std::pow(0x1p-22, 2.0 / e);
}

// Returns Barr's inside-outside function in its original form.
double barr(const SuperquadricParams& p, const glm::dvec3& point) {
  const auto power = [](double base, double e) { return std::pow(std::abs(base), e); };
  const double e1 = p.profile_exponent, e2 = p.outline_exponent;
  const double outline = power(point.x / p.size.x, 2.0 / e2) + power(point.y / p.size.y, 2.0 / e2);
  const double z = power(point.z / p.size.z, 2.0 / e1);
  if (p.kind == SuperquadricKind::Ellipsoid) return power(outline, e2 / e1) + z;
  const double half_width = 0.5 * (p.size.x - p.hole), middle = p.hole + half_width;
  return power((power(outline, 0.5 * e2) * p.size.x - middle) / half_width, 2.0 / e1) + z;
}

TEST(Superquadric, SoundForEveryExponentAndEveryVertexOnTheSurface) {
  for (const SuperquadricKind kind : kKinds)
    for (const double e1 : kExponents)
      for (const double e2 : kExponents)
        for (const int faces : {32, 200, 2000}) {
          SCOPED_TRACE(testing::Message() << int(kind) << ", exponents " << e1 << " " << e2 << ", faces " << faces);
          const SuperquadricParams params = params_of(kind, e1, e2, faces);
          const TriangleMesh mesh = make_superquadric(params);
          const MeshReport report = mesh_report(mesh.view());
          ASSERT_TRUE(report.sound());
          ASSERT_EQ(report.topology.components, 1u);
          ASSERT_EQ(report.topology.euler_characteristic, kind == SuperquadricKind::Ellipsoid ? 2 : 0);
          ASSERT_EQ(report.repeated_positions, 0u);
          ASSERT_EQ(report.topology.used_vertices, mesh.positions.size());
          for (const glm::vec3& p : mesh.positions)
            ASSERT_NEAR(superquadric_radius(params, glm::dvec3(p)), 1.0, rounding(params));
        }
}

TEST(Superquadric, SoundWhenFlatLongOrLarge) {
  for (const SuperquadricKind kind : kKinds)
    for (const double e1 : {0.1, 1.0, 4.0})
      for (const double e2 : {0.1, 1.0, 4.0}) {
        SCOPED_TRACE(testing::Message() << int(kind) << ", exponents " << e1 << " " << e2);
        for (const glm::dvec3& size : {glm::dvec3(0.1, 0.02, 0.001), glm::dvec3(0.01, 0.03, 1.0)})
          ASSERT_TRUE(mesh_report(make_superquadric(params_of(kind, e1, e2, 3000, size)).view()).sound());
        const MeshReport large =
            mesh_report(make_superquadric(params_of(kind, e1, e2, 200000)).view(), {.find_crossings = false});
        ASSERT_TRUE(large.sound());
      }
}

TEST(Superquadric, FaceCountIsMet) {
  for (const SuperquadricKind kind : kKinds)
    for (const double e1 : {0.2, 1.0, 3.0})
      for (const double e2 : {0.2, 1.0, 3.0})
        for (const int faces : {1000, 3333, 31000, 250000}) {
          const double made = double(make_superquadric(params_of(kind, e1, e2, faces)).faces.size());
          EXPECT_NEAR(made / faces, 1.0, 0.04) << int(kind) << " " << e1 << " " << e2 << " " << faces;
        }
  const double most = double(make_superquadric(params_of(SuperquadricKind::Toroid, 1, 1, 4000000)).faces.size());
  EXPECT_NEAR(most / 4e6, 1.0, 0.02);
}

TEST(Superquadric, VolumeByBetaFunctions) {
  for (const double e1 : kExponents)
    for (const double e2 : kExponents) {
      const SuperquadricParams params = params_of(SuperquadricKind::Ellipsoid, e1, e2, 40000);
      const double box = params.size.x * params.size.y * params.size.z;
      const double beta = 2.0 * box * e1 * e2 * std::beta(0.5 * e1 + 1.0, e1) * std::beta(0.5 * e2, 0.5 * e2);
      EXPECT_NEAR(superquadric_volume(params) / beta, 1.0, 1e-12);
      // The thinner the star, the more volume its chords add.
      EXPECT_NEAR(volume_of(make_superquadric(params)) / beta, 1.0, std::max(e1, e2) > 2.0 ? 0.01 : 0.002)
          << e1 << " " << e2;
    }
}

TEST(Superquadric, VolumeOfToroidsBySampling) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (const auto& [e1, e2] : {std::pair(1.0, 1.0), {0.3, 0.3}, {2.0, 0.5}, {0.5, 3.0}}) {
    const SuperquadricParams params = params_of(SuperquadricKind::Toroid, e1, e2, 40000);
    int inside = 0;
    constexpr int kSamples = 200000;
    for (int i = 0; i < kSamples; ++i) {
      const double x = uniform(random), y = uniform(random), z = uniform(random);
      inside += barr(params, params.size * glm::dvec3(x, y, z)) < 1.0;
    }
    const double sampled = 8.0 * params.size.x * params.size.y * params.size.z * inside / kSamples;
    EXPECT_NEAR(superquadric_volume(params) / sampled, 1.0, 0.02) << e1 << " " << e2;
    EXPECT_NEAR(volume_of(make_superquadric(params)) / superquadric_volume(params), 1.0, 0.004) << e1 << " " << e2;
  }
}

TEST(Superquadric, SphereSpheroidTorusAndBoxByClosedForm) {
  const double a = 0.05, c = 0.02, eccentricity = std::sqrt(1.0 - c * c / (a * a));
  const auto ellipsoid = [](const glm::dvec3& size, double e) {
    return make_superquadric(params_of(SuperquadricKind::Ellipsoid, e, e, 60000, size));
  };
  EXPECT_NEAR(area_of(ellipsoid(glm::dvec3(a), 1.0)) / (4.0 * pi * a * a), 1.0, 5e-4);
  const double oblate =
      2.0 * pi * a * a * (1.0 + (1.0 - eccentricity * eccentricity) / eccentricity * std::atanh(eccentricity));
  EXPECT_NEAR(area_of(ellipsoid({a, a, c}, 1.0)) / oblate, 1.0, 5e-4);
  EXPECT_NEAR(volume_of(ellipsoid({a, 0.03, c}, 1.0)) / (4.0 / 3.0 * pi * a * 0.03 * c), 1.0, 1e-3);
  // An octahedron is represented exactly.
  EXPECT_NEAR(area_of(ellipsoid(glm::dvec3(a), 2.0)) / (4.0 * std::sqrt(3.0) * a * a), 1.0, 1e-5);
  EXPECT_NEAR(volume_of(ellipsoid(glm::dvec3(a), 2.0)) / (4.0 / 3.0 * a * a * a), 1.0, 1e-5);

  SuperquadricParams ring{SuperquadricKind::Toroid, {0.05, 0.05, 0.01}, 1.0, 1.0, 0.03, 60000};
  const TriangleMesh torus = make_superquadric(ring);
  EXPECT_NEAR(volume_of(torus) / (2.0 * pi * pi * 0.04 * 0.01 * 0.01), 1.0, 1e-3);
  EXPECT_NEAR(area_of(torus) / (4.0 * pi * pi * 0.04 * 0.01), 1.0, 1e-3);
  ring.profile_exponent = ring.outline_exponent = 0.1;  // a square frame, nearly
  EXPECT_NEAR(superquadric_volume(ring) / (4.0 * (0.05 * 0.05 - 0.03 * 0.03) * 0.02), 1.0, 0.03);
}

TEST(Superquadric, InsideOutsideFunction) {
  const unsigned seed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  for (const SuperquadricKind kind : kKinds)
    for (const double e1 : kExponents)
      for (const double e2 : kExponents) {
        const SuperquadricParams params = params_of(kind, e1, e2, 100);
        for (int i = 0; i < 100; ++i) {
          const double x = uniform(random), y = uniform(random), z = uniform(random);
          const glm::dvec3 p = params.size * glm::dvec3(x, y, z);
          const double plain = std::pow(barr(params, p), 0.5 * e1);
          EXPECT_NEAR(superquadric_radius(params, p) / plain, 1.0, 1e-9);
        }
      }
  const SuperquadricParams sphere = params_of(SuperquadricKind::Ellipsoid, 1, 1, 100, glm::dvec3(0.1));
  EXPECT_EQ(superquadric_radius(sphere, glm::dvec3(0.0)), 0.0);
  EXPECT_NEAR(superquadric_radius(sphere, {0.0, 0.0, 0.2}), 2.0, 1e-12);
}

// Compares normals with the gradient of the inside-outside function at the face's centre.
TEST(Superquadric, EveryNormalLooksOutward) {
  for (const SuperquadricKind kind : kKinds)
    for (const double e1 : {0.5, 1.0, 1.5})
      for (const double e2 : {0.5, 1.0, 1.5}) {
        const SuperquadricParams params = params_of(kind, e1, e2, 8000);
        const TriangleMesh mesh = make_superquadric(params);
        for (const glm::uvec3& face : mesh.faces) {
          const Triangle t = triangle_of(mesh.positions, face);
          const glm::dvec3 centre = (t.a + t.b + t.c) / 3.0;
          glm::dvec3 gradient;
          for (int i = 0; i < 3; ++i) {
            glm::dvec3 step(0.0);
            step[i] = 1e-7;
            gradient[i] = superquadric_radius(params, centre + step) - superquadric_radius(params, centre - step);
          }
          ASSERT_GT(glm::dot(gradient, glm::cross(t.b - t.a, t.c - t.a)), 0.0) << int(kind) << " " << e1 << " " << e2;
        }
      }
}

struct Edges {
  double median, longest;  // m
};

Edges edges_of(const TriangleMesh& mesh) {
  std::vector<double> lengths;
  for (const glm::uvec3& f : mesh.faces)
    for (int i = 0; i < 3; ++i) lengths.push_back(glm::distance(mesh.positions[f[i]], mesh.positions[f[(i + 1) % 3]]));
  std::sort(lengths.begin(), lengths.end());
  return {lengths[lengths.size() / 2], lengths.back()};
}

// Equal steps of the angle leave a box's sides without vertices: the longest edge is then as long as the side.
TEST(Superquadric, EvenTriangles) {
  for (const double e : {0.1, 0.3, 1.0, 2.0}) {
    const SuperquadricParams params = params_of(SuperquadricKind::Ellipsoid, e, e, 20000, glm::dvec3(0.05));
    const Edges edges = edges_of(make_superquadric(params));
    EXPECT_LT(edges.longest, 3.0 * edges.median) << e;
    double longest_by_angle = 0.0;  // along the outline, 71 points a quarter as above
    for (int i = 0; i < 71; ++i) {
      const auto at = [e](int k) {
        return 0.05 * glm::dvec2(std::pow(std::cos(pi / 2 * k / 71), e), std::pow(std::sin(pi / 2 * k / 71), e));
      };
      longest_by_angle = std::max(longest_by_angle, glm::distance(at(i), at(i + 1)));
    }
    std::printf("exponents %.1f: longest edge %.2f medians; by equal angles %.1f\n", e, edges.longest / edges.median,
                longest_by_angle / edges.median);
  }
}

TEST(Superellipse, PiecesOfEqualLength) {
  for (const double n : {0.1, 0.5, 1.0, 1.7, 2.0, 4.0}) {
    const QuarterCurve curve({.a = 0.05, .b = 0.02, .exponent = n});
    const QuarterPoints quarter = curve.cut(5000);
    EXPECT_EQ(quarter.points.front(), glm::dvec2(1.0, 0.0));
    EXPECT_EQ(quarter.points.back(), glm::dvec2(0.0, 1.0));
    EXPECT_NEAR(quarter.points[quarter.corner].x, quarter.points[quarter.corner].y, 1e-15);
    double length = 0.0, longest = 0.0;
    for (std::size_t i = 0; i < 5000; ++i) {
      const glm::dvec2 size(0.05, 0.02);
      const double piece = glm::distance(size * quarter.points[i], size * quarter.points[i + 1]);
      length += piece;
      longest = std::max(longest, piece);
    }
    EXPECT_NEAR(length / curve.length(), 1.0, 1e-4) << n;
    EXPECT_LT(longest, 1.02 * length / 5000) << n;
  }
  const double quarter_circle = QuarterCurve({.a = 0.1, .b = 0.1, .exponent = 1.0}).length();
  EXPECT_NEAR(quarter_circle, 0.05 * pi, 1e-8);
  EXPECT_NEAR(QuarterCurve({.a = 0.03, .b = 0.04, .exponent = 2.0}).length(), 0.05, 1e-12);
}

TEST(Superquadric, InvalidParameters) {
  SuperquadricParams good = params_of(SuperquadricKind::Toroid, 1, 1, 100);
  const auto refused = [&good](auto change) {
    SuperquadricParams params = good;
    change(params);
    EXPECT_THROW(make_superquadric(params), InputError);
  };
  const double nan = std::nan("");
  refused([](auto& p) { p.faces = 31; });
  refused([](auto& p) { p.faces = 4000001; });
  refused([](auto& p) { p.size.x = 0.0; });
  refused([](auto& p) { p.size.z = -0.1; });
  refused([](auto& p) { p.size = {1.0, 0.001, 0.1}; });
  refused([=](auto& p) { p.size.y = nan; });
  refused([](auto& p) { p.profile_exponent = 0.05; });
  refused([](auto& p) { p.outline_exponent = 4.5; });
  refused([=](auto& p) { p.outline_exponent = nan; });
  refused([](auto& p) { p.hole = 0.05; });
  refused([=](auto& p) { p.hole = nan; });
  good.kind = SuperquadricKind::Ellipsoid;
  good.hole = nan;  // not used by an ellipsoid
  EXPECT_NO_THROW(make_superquadric(good));
}

}  // namespace
}  // namespace trocar
