// Tests rigid bodies against closed forms that know nothing of substeps and contacts: free fall, sliding, rolling,
// free rotation, a top, impacts, a stack, a grip. And against slow twins: all pairs, and much shorter substeps.
#include "deform/rigid/rigid.hpp"

#include "geometry/error.hpp"
#include "geometry/units.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar::rigid_test {
namespace {

constexpr double kG = 9.81, kFrame = 1.0 / 60.0, kPi = 0.5 * kFullTurn;
constexpr std::uint32_t kSeed = 5050;

struct World {
  RigidModel model;
  RigidState state;
  RigidScratch scratch;
  std::vector<RigidFrame> frames;
  std::vector<RigidBody> bodies;
  RigidStepParams params{.sleeps_after = INFINITY};  // what rests shows how it rests

  std::size_t add(const RigidBody& body, const RigidFrame& frame) {
    bodies.push_back(body), frames.push_back(frame);
    return bodies.size() - 1;
  }
  void start() {
    model = make_rigid(params, bodies);
    state = rest_state(model, frames);
  }
  void advance(double seconds, double dt = kFrame) {
    for (int k = 0; k < static_cast<int>(seconds / dt + 0.5); ++k) step(model, state, {}, dt, scratch);
  }
  RigidMotion& of(std::size_t body) { return state.bodies[body]; }
};

RigidParams rubbing(double friction, double restitution = 0.0) {
  return {.friction = friction, .restitution = restitution};
}
RigidBody ball(double radius, const RigidParams& params) {
  return make_body(params, std::array{ball_piece(radius)}, mass_of_ball(radius, params.density));
}
RigidBody box(const glm::dvec3& size, const RigidParams& params, double round = 1e-3) {
  return make_body(params, std::array{box_piece(size, round)}, mass_of_box(size, params.density));
}
RigidBody ground(double friction) {
  return make_body({.friction = friction, .fixed = true}, std::array{box_piece({4.0, 4.0, 0.1}, 1e-3)}, {});
}
glm::dmat3 about_y(double angle) { return glm::mat3_cast(turn_about({0.0, 1.0, 0.0}, angle)); }

// A slope down along x, through the origin: its surface is at 0.
RigidFrame on_slope(double angle, double above) {
  const glm::dmat3 axes = about_y(angle);
  return {axes, axes * glm::dvec3(0.0, 0.0, above)};
}
glm::dvec3 downhill(double angle) { return about_y(angle) * glm::dvec3(1.0, 0.0, 0.0); }

TEST(Rigid, RefusesWhatIsNoBody) {
  const std::array piece{ball_piece(0.01)};
  const MassProperties mass = mass_of_ball(0.01, 1000.0);
  const auto refuses = [&](const RigidParams& params, const MassProperties& m) {
    EXPECT_THROW(make_body(params, piece, m), InputError);
  };
  refuses({.friction = -0.1}, mass);
  refuses({.friction = NAN}, mass);
  refuses({.friction = INFINITY}, mass);
  refuses({.density = 0.0}, mass);
  refuses({.density = -1.0}, mass);
  refuses({.restitution = 1.5}, mass);
  refuses({.restitution = NAN}, mass);
  refuses({}, {});
  refuses({}, {NAN, glm::dvec3(0.0), glm::dmat3(1.0)});
  refuses({}, {1.0, glm::dvec3(0.0), glm::dmat3(0.0)});
  refuses({}, {1.0, glm::dvec3(0.0), glm::dmat3(NAN)});
  EXPECT_THROW(make_body({}, {}, mass), InputError);
  EXPECT_NO_THROW(make_body({.fixed = true}, piece, {}));
  EXPECT_THROW(make_rigid({.gravity = {0.0, NAN, 0.0}}, {}), InputError);
  EXPECT_THROW(make_rigid({.substep = 0.0}, {}), InputError);
  EXPECT_THROW(make_rigid({.substep = NAN}, {}), InputError);
  EXPECT_THROW(
      make_rigid(
          {}, {},
          {RigidTool{piece.size() ? std::vector<ConvexPiece>{piece[0]} : std::vector<ConvexPiece>{}, {}, {}, {}}}),
      InputError);
}

TEST(Rigid, NothingMovesInAStepWithoutTime) {
  World world;
  world.add(ball(0.01, {}), {});
  world.start();
  for (const double dt : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    step(world.model, world.state, {}, dt, world.scratch);
  EXPECT_EQ(world.of(0).x, glm::dvec3(0.0));
  EXPECT_EQ(world.of(0).v, glm::dvec3(0.0));
  World empty;
  empty.start();
  empty.advance(0.1);
}

TEST(Rigid, MassOfASurfaceIsThatOfTheBox) {
  TriangleMesh mesh;
  const glm::dvec3 size(0.01, 0.02, 0.03), at(0.1, -0.2, 0.05);
  for (int k = 0; k < 8; ++k)
    mesh.positions.push_back(at + 0.5 * size * glm::dvec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1));
  mesh.faces = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  const MassProperties found = mass_of(mesh.view(), 1100.0), box = mass_of_box(size, 1100.0);
  EXPECT_NEAR(found.mass / box.mass, 1.0, 1e-6);
  EXPECT_NEAR(glm::distance(found.centre, at), 0.0, 1e-7);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(found.inertia[i][j], box.inertia[i][j], 1e-5 * box.inertia[0][0]);
  for (glm::uvec3& face : mesh.faces) std::swap(face.x, face.y);
  EXPECT_THROW(mass_of(mesh.view(), 1100.0), InputError);
  mesh.faces.clear();
  EXPECT_THROW(mass_of(mesh.view(), 1100.0), InputError);
}

// The sum over substeps of h is x = -g h^2 n (n + 1) / 2: the parabola and h / t of it more.
TEST(Rigid, FreeFall) {
  World world;
  world.add(box({0.01, 0.02, 0.03}, {}), {});
  world.start();
  world.of(0).v = {0.3, 0.0, 1.0};
  world.advance(0.4);
  const double h = kFrame / 17.0, t = 0.4;
  EXPECT_NEAR(world.of(0).x.z, 1.0 * t - 0.5 * kG * t * (t + h), 1e-12);
  EXPECT_NEAR(world.of(0).x.z, 1.0 * t - 0.5 * kG * t * t, 0.5 * kG * t * 1.01e-3);
  EXPECT_NEAR(world.of(0).x.x, 0.3 * t, 1e-12);
  EXPECT_EQ(world.of(0).q, glm::dquat(1.0, 0.0, 0.0, 0.0));
}

TEST(Rigid, ABodyThatFallsOutOfTheSceneStops) {
  World world;
  world.add(ball(0.01, {}), {});
  world.start();
  world.advance(2.0);
  EXPECT_TRUE(world.of(0).lost);
  EXPECT_EQ(world.of(0).v, glm::dvec3(0.0));
  EXPECT_NEAR(world.of(0).x.z, -1.0, 0.1);
}

TEST(Rigid, ABoxSlidesDownASlope) {
  for (const double degrees : {20.0, 30.0, 45.0})
    for (const double mu : {0.0, 0.1, 0.3}) {
      const double a = degrees * kPi / 180.0;
      World world;
      world.add(ground(mu), on_slope(a, -0.05));
      const std::size_t body = world.add(box({0.03, 0.02, 0.01}, rubbing(mu)), on_slope(a, 0.005));
      world.start();
      world.advance(0.5);
      const double expected = kG * (std::sin(a) - mu * std::cos(a));
      EXPECT_NEAR(glm::dot(world.of(body).v, downhill(a)) / 0.5, expected, 2e-3 * expected) << degrees << " " << mu;
      EXPECT_NEAR(glm::length(world.of(body).w), 0.0, 1e-3);
    }
}

TEST(Rigid, ABoxRestsBelowTheAngleOfFriction) {
  for (const double mu : {0.3, 0.6})
    for (const double share : {0.5, 0.98}) {
      const double a = std::atan(mu) * share;
      World world;
      world.add(ground(mu), on_slope(a, -0.05));
      const std::size_t body = world.add(box({0.03, 0.02, 0.01}, rubbing(mu)), on_slope(a, 0.005));
      world.start();
      world.advance(1.0);
      const glm::dvec3 settled = world.of(body).x;
      world.advance(30.0);
      EXPECT_LT(glm::distance(world.of(body).x, settled), 1e-6) << mu << " " << share;
      EXPECT_LT(glm::distance(settled, on_slope(a, 0.005).origin), 2e-5);
    }
}

TEST(Rigid, BallsAndCylindersRollDownASlope) {
  const double a = 20.0 * kPi / 180.0, r = 0.01;
  {
    World world;
    world.add(ground(0.5), on_slope(a, -0.05));
    const std::size_t body = world.add(ball(r, rubbing(0.5)), on_slope(a, r));
    world.start();
    world.advance(0.5);
    const double expected = 5.0 / 7.0 * kG * std::sin(a);
    EXPECT_NEAR(glm::dot(world.of(body).v, downhill(a)) / 0.5, expected, 2e-3 * expected);
    EXPECT_NEAR(world.of(body).w.y, glm::length(world.of(body).v) / r, 0.05);
  }
  {
    // A capsule with the moments of a cylinder.
    const double m = 0.01, length = 0.04;
    const double along = 0.5 * m * r * r, across = m * (3.0 * r * r + length * length) / 12.0;
    const RigidBody cylinder = make_body(rubbing(0.5), std::array{capsule_piece({0, -0.02, 0}, {0, 0.02, 0}, r)},
                                         {m, glm::dvec3(0.0), {across, 0, 0, 0, along, 0, 0, 0, across}});
    World world;
    world.add(ground(0.5), on_slope(a, -0.05));
    const std::size_t body = world.add(cylinder, on_slope(a, r));
    world.start();
    world.advance(0.5);
    const double expected = 2.0 / 3.0 * kG * std::sin(a);
    EXPECT_NEAR(glm::dot(world.of(body).v, downhill(a)) / 0.5, expected, 2e-3 * expected);
    EXPECT_NEAR(world.of(body).x.y, 0.0, 1e-6);
  }
  {
    // Too smooth to roll: it slides at g (sin - mu cos) and turns at 5 mu g cos / 2 r.
    const double mu = 0.05;
    World world;
    world.add(ground(mu), on_slope(a, -0.05));
    const std::size_t body = world.add(ball(r, rubbing(mu)), on_slope(a, r));
    world.start();
    world.advance(0.5);
    const double slides = kG * (std::sin(a) - mu * std::cos(a)), turns = 2.5 * mu * kG * std::cos(a) / r;
    EXPECT_NEAR(glm::dot(world.of(body).v, downhill(a)) / 0.5, slides, 2e-3 * slides);
    EXPECT_NEAR(world.of(body).w.y / 0.5, turns, 2e-3 * turns);
  }
}

// A ball that is thrown without spin slides for 2 v / 7 mu g and then rolls at 5/7 of its speed.
TEST(Rigid, ABallThatSlidesBeginsToRoll) {
  const double mu = 0.3, r = 0.01, v = 0.5;
  World world;
  world.add(ground(mu), {glm::dmat3(1.0), {0, 0, -0.05}});
  const std::size_t body = world.add(ball(r, rubbing(mu)), {glm::dmat3(1.0), {0, 0, r}});
  world.start();
  world.of(body).v = {0.0, v, 0.0};
  const double rolls = 2.0 * v / (7.0 * mu * kG);
  world.advance(0.04, 0.002);
  ASSERT_LT(0.04, rolls);
  EXPECT_NEAR(world.of(body).v.y, v - mu * kG * 0.04, 2e-3);
  world.advance(0.5);
  EXPECT_NEAR(world.of(body).v.y, 5.0 / 7.0 * v, 2e-3);
  EXPECT_NEAR(world.of(body).w.x, -5.0 / 7.0 * v / r, 0.2);
}

// Moments a < b < c.
RigidBody racket() { return box({0.035, 0.02, 0.01}, {}); }

TEST(Rigid, AFreeBodyKeepsAngularMomentumAndEnergy) {
  std::cout << "seed " << kSeed << "\n";
  std::mt19937 generator(kSeed);
  const auto number = [&] { return static_cast<double>(generator()) / 2147483647.5 - 1.0; };
  for (int trial = 0; trial < 10; ++trial) {
    World world;
    world.params.gravity = glm::dvec3(0.0);
    world.add(racket(), {});
    world.start();
    const double x = number(), y = number(), z = number();
    world.of(0).w = 60.0 * glm::dvec3(x, y, z);
    const glm::dvec3 spin = spin_of(world.model.bodies[0], world.of(0));
    const double energy = energy_of(world.model.bodies[0], world.of(0));
    world.advance(10.0);
    EXPECT_LT(glm::distance(spin_of(world.model.bodies[0], world.of(0)), spin), 1e-11 * glm::length(spin)) << trial;
    EXPECT_NEAR(energy_of(world.model.bodies[0], world.of(0)) / energy, 1.0, 1e-4) << trial;
  }
}

// About its middle axis a body turns over: a small deviation grows as cosh(rate t),
// rate = w sqrt((b - a)(c - b) / (a c)). About the others it stays.
TEST(Rigid, ATennisRacketTurnsOver) {
  const RigidBody body = racket();
  const double a = body.inertia[0][0], b = body.inertia[1][1], c = body.inertia[2][2];
  ASSERT_LT(a, b);
  ASSERT_LT(b, c);
  const double w = 20.0, small = 1e-4, rate = w * std::sqrt((b - a) * (c - b) / (a * c));
  World world;
  world.params.gravity = glm::dvec3(0.0);
  world.add(body, {});
  world.start();
  world.of(0).w = {w * small, w, 0.0};
  const double t = 0.25;
  world.advance(t, 1.0 / 480.0);
  const glm::dvec3 own = world.of(0).w * glm::mat3_cast(world.of(0).q);
  EXPECT_NEAR(own.x, w * small * std::cosh(rate * t), 2e-3 * w * small * std::cosh(rate * t));
  world.advance(2.0);
  double least = w;
  for (int k = 0; k < 240; ++k) {
    world.advance(kFrame);
    least = std::min(least, (world.of(0).w * glm::mat3_cast(world.of(0).q)).y);
  }
  EXPECT_LT(least, -0.9 * w);
  for (const glm::dvec3& axis : {glm::dvec3(1, 0, 0), glm::dvec3(0, 0, 1)}) {
    world.start();
    world.of(0).w = w * axis + glm::dvec3(w * small, w * small, w * small);
    world.advance(5.0);
    EXPECT_GT(glm::dot(world.of(0).w * glm::mat3_cast(world.of(0).q), axis), 0.999 * w);
  }
}

// A fast top precesses at m g l / (C w): l from its tip to its centre, C about its axis.
TEST(Rigid, AFastTopPrecesses) {
  const double m = 0.02, l = 0.02, across = 3e-6, along = 4e-6, spin = 400.0, lean = 0.3;
  const std::array pieces{ball_piece(1e-4)};
  const RigidBody top = make_body(rubbing(4.0), pieces, {m, {0.0, 0.0, l}, {across, 0, 0, 0, across, 0, 0, 0, along}});
  World world;
  world.params.substep = 2e-4;
  world.add(ground(4.0), {glm::dmat3(1.0), {0, 0, -0.05}});
  const std::size_t body = world.add(top, {about_y(lean), {0, 0, 1e-4}});
  world.start();
  const glm::dvec3 axis = about_y(lean) * glm::dvec3(0, 0, 1);
  const double rate = m * kG * l / (along * spin);
  // With the precession it starts without nodding.
  world.of(body).w = spin * axis + glm::dvec3(0.0, 0.0, rate);
  world.of(body).v = glm::cross(world.of(body).w, l * axis);
  double turned = 0.0, before = 0.0;
  for (int k = 0; k < 60; ++k) {
    world.advance(kFrame);
    const glm::dvec3 now = glm::mat3_cast(world.of(body).q) * glm::dvec3(0, 0, 1);
    const double angle = std::atan2(now.y, now.x);
    turned += std::remainder(angle - before, 2.0 * kPi);
    before = angle;
  }
  EXPECT_NEAR(turned, rate, 0.03 * rate);
}

// Balls farther apart than they move in a substep: the last one leaves with the speed of the first; the others rest.
// Nearer ones meet within one substep and share the impact: momentum stays, energy does not grow.
TEST(Rigid, NewtonsCradlePassesAnImpactOn) {
  for (const double apart : {1e-3, 0.0}) {
    World world;
    world.params.gravity = glm::dvec3(0.0);
    const double r = 0.01, v = 0.5;
    for (int k = 0; k < 5; ++k)
      world.add(ball(r, rubbing(0.0, 1.0)), {glm::dmat3(1.0), {k * (2.0 * r + apart) + (k == 0 ? -0.01 : 0.0), 0, 0}});
    world.start();
    world.of(0).v = {v, 0.0, 0.0};
    world.advance(0.2);
    double momentum = 0.0, energy = 0.0;
    for (int k = 0; k < 5; ++k) momentum += world.of(k).v.x, energy += world.of(k).v.x * world.of(k).v.x;
    EXPECT_NEAR(momentum, v, 1e-9);
    EXPECT_LT(energy, v * v * (1.0 + 1e-6));
    if (apart == 0.0) continue;
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(world.of(k).v.x, 0.0, 1e-3) << k;
    EXPECT_NEAR(world.of(4).v.x, v, 1e-3);
  }
}

TEST(Rigid, AnImpactReturnsItsShareOfSpeed) {
  for (const double e : {0.0, 0.5, 0.9}) {
    World world;
    world.add(ground(0.3), {glm::dmat3(1.0), {0, 0, -0.05}});
    const std::size_t body = world.add(ball(0.01, rubbing(0.3, e)), {glm::dmat3(1.0), {0, 0, 0.11}});
    world.start();
    world.advance(std::sqrt(2.0 * 0.1 / kG));
    double highest = 0.0;
    for (int k = 0; k < 40; ++k) {
      world.advance(0.005, 0.005);
      if (k > 8) highest = std::max(highest, world.of(body).x.z - 0.01);
    }
    EXPECT_NEAR(highest, e * e * 0.1, 2e-3) << e;
  }
}

TEST(Rigid, AStackOfSixRestsForAMinute) {
  World world;
  world.add(ground(0.5), {glm::dmat3(1.0), {0, 0, -0.05}});
  for (int k = 0; k < 6; ++k)
    world.add(box({0.02, 0.02, 0.01}, rubbing(0.5)), {about_y(0.0), {1e-3 * (k % 2), 0, 0.005 + 0.01 * k}});
  world.start();
  world.advance(1.0);
  const RigidState settled = world.state;
  for (int k = 1; k <= 6; ++k) EXPECT_NEAR(settled.bodies[k].x.z, 0.005 + 0.01 * (k - 1), 1e-5);
  world.advance(60.0);
  double creep = 0.0;
  for (int k = 1; k <= 6; ++k) creep = std::max(creep, glm::distance(world.of(k).x, settled.bodies[k].x));
  std::cout << "creep in a minute: " << 1e3 * creep << " mm\n";
  EXPECT_LT(creep, 1e-5);
  // And from a fall of 2 mm each.
  for (int k = 1; k <= 6; ++k) world.frames[k].origin.z = 0.007 + 0.012 * (k - 1);
  world.start();
  world.advance(2.0);
  const RigidState fallen = world.state;
  for (int k = 1; k <= 6; ++k) EXPECT_NEAR(fallen.bodies[k].x.z, 0.005 + 0.01 * (k - 1), 1e-4);
  world.advance(10.0);
  for (int k = 1; k <= 6; ++k) EXPECT_LT(glm::distance(world.of(k).x, fallen.bodies[k].x), 1e-5);
}

// An instrument with two flat jaws, 20 mm long, which touch when closed.
RigidTool grasper(double friction) {
  RigidTool tool;
  for (const double side : {1.0, -1.0}) {
    std::vector<glm::dvec3> corners;
    for (int k = 0; k < 8; ++k)
      corners.push_back({k & 1 ? 2e-3 : -2e-3, side * (k & 2 ? 2.5e-3 : 5e-4), k & 4 ? 0.019 : 0.0});
    tool.pieces.push_back(make_piece(corners, 5e-4));
    tool.hinge_z.push_back(0.02), tool.side.push_back(side), tool.friction.push_back(friction);
  }
  return tool;
}

// Points along -x from the trocar; the jaws open along y (roll 0 or 90 degrees).
struct Grip {
  InstrumentPose pose;
  InstrumentMotion motion;
  double commanded = 0.0, before = 0.0, torque = 0.0;

  explicit Grip(const glm::dvec3& end, double torque_on_jaws, double from = 1.0) : torque(torque_on_jaws) {
    pose.shaft = {end + glm::dvec3(0.3 * from, 0.0, 0.0), end + glm::dvec3(2.5e-3 * from, 0.0, 0.0), 2.5e-3};
    motion = instrument_at_rest(pose);
  }
  // Where the frame's axes are: 0 along the hinge, 1 along which the jaws open.
  glm::dvec3 axis(int k) const { return frame_at(motion, 0.0).axes[k]; }
  void roll_to(const glm::dvec3& open_along) {
    const RigidFrame frame = frame_at(motion, 0.0);
    const double sine = glm::dot(glm::cross(frame.axes[1], open_along), frame.axes[2]);
    const double cosine = glm::dot(frame.axes[1], open_along);
    pose.roll = -std::atan2(sine, cosine);
    motion = instrument_at_rest(pose);
    if (glm::dot(axis(1), open_along) < 0.99) pose.roll = -pose.roll, motion = instrument_at_rest(pose);
  }
  RigidToolStep step() const { return {&motion, before, commanded, 1e3, torque}; }
};

void hold(World& world, std::span<Grip> grips, double seconds) {
  for (int k = 0; k < static_cast<int>(seconds / kFrame + 0.5); ++k) {
    std::vector<RigidToolStep> tools;
    for (Grip& grip : grips) tools.push_back(grip.step());
    step(world.model, world.state, tools, kFrame, world.scratch);
    for (Grip& grip : grips) grip.before = grip.commanded, grip.motion = instrument_at_rest(grip.pose);
  }
}

// A bar across the jaws, `arm` from the hinge, pulled along the hinge by gravity. The shared opening balances the
// handle's torque with N = torque / arm on each jaw. The jaws make a wedge of half angle b, so that friction also keeps
// the bar in: it holds while m g < 2 N sqrt(mu^2 - tan(b)^2).
TEST(Rigid, AGripHoldsByFrictionAndSlipsBelowIt) {
  const double mu = 0.5, r = 1e-3, arm = 0.012, torque = 6e-3, n = torque / arm;
  const double half = std::asin(r / arm), most = 2.0 * n * std::sqrt(mu * mu - std::tan(half) * std::tan(half));
  for (const double share : {0.5, 0.95, 1.06, 1.5}) {
    const double m = share * most / kG;
    Grip grip({0.0, 0.0, 0.0}, torque);
    grip.roll_to({0.0, 1.0, 0.0});
    ASSERT_NEAR(std::abs(grip.axis(0).z), 1.0, 1e-9);
    World world;
    const double i = 0.4 * m * 1e-4;
    const RigidBody bar = make_body(rubbing(mu), std::array{capsule_piece({0, 0, -0.03}, {0, 0, 0.03}, r)},
                                    {m, glm::dvec3(0.0), {i, 0, 0, 0, i, 0, 0, 0, i}});
    world.add(bar, {glm::dmat3(1.0), {0.02 - arm, 0.0, 0.0}});
    world.model = make_rigid({}, world.bodies, {grasper(mu)});
    world.state = rest_state(world.model, world.frames);
    world.state.opening[0] = 2.0 * half + 1e-3;
    hold(world, std::span(&grip, 1), 0.5);
    const double fallen = -world.of(0).x.z;
    if (share < 1.0) {
      EXPECT_LT(fallen, 2e-4) << share;
      EXPECT_EQ(world.scratch.touches[0].held, 0u);
      EXPECT_NEAR(world.scratch.touches[0].force.z, -m * kG, 1e-3 * m * kG);
      EXPECT_NEAR(world.state.opening[0], 2.0 * half, 2e-3);
      const glm::dvec3 settled = world.of(0).x;
      hold(world, std::span(&grip, 1), 20.0);
      EXPECT_LT(glm::distance(world.of(0).x, settled), 1e-5) << "creep " << share;
    } else {
      EXPECT_GT(fallen, 0.02) << share;
    }
  }
}

// A ball with a heavy rod, held at the ball by two flat jaws, swings about the line between them:
// period 2 pi sqrt(I / m g l), I about that line.
TEST(Rigid, ABodyTurnsAboutItsGrip) {
  const double m = 5e-3, l = 0.02, i = 2e-7;
  Grip grip({0.0, 0.0, 0.0}, 0.05);
  grip.roll_to({0.0, 1.0, 0.0});
  const RigidBody pendulum =
      make_body(rubbing(1.0), std::array{ball_piece(2e-3), capsule_piece({0, 0, -0.01}, {0, 0, -0.03}, 1e-3)},
                {m, {0.0, 0.0, -l}, {i, 0, 0, 0, i, 0, 0, 0, i}});
  World world;
  world.add(pendulum, {about_y(0.1), {0.005, 0.0, 0.0}});
  world.model = make_rigid({}, world.bodies, {grasper(1.0)});
  world.state = rest_state(world.model, world.frames);
  world.state.opening[0] = 0.28;
  std::vector<double> crossings;
  double before = 0.0, time = 0.0;
  for (int k = 0; k < 120; ++k) {
    hold(world, std::span(&grip, 1), kFrame);
    const double swing = (glm::mat3_cast(world.of(0).q) * glm::dvec3(0, 0, 1)).x;
    time += kFrame;
    if (before > 0.0 && swing <= 0.0) crossings.push_back(time - kFrame * swing / (swing - before));
    before = swing;
  }
  ASSERT_GE(crossings.size(), 3u);
  const double expected = 2.0 * kPi * std::sqrt((i + m * l * l) / (m * kG * l));
  EXPECT_NEAR((crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1), expected,
              0.02 * expected);
  EXPECT_LT(glm::distance(frame_of(world.model.bodies[0], world.of(0)).origin, glm::dvec3(0.005, 0, 0)), 1.5e-3);
}

TEST(Rigid, ABodyIsHandedOverAndDropped) {
  std::array<Grip, 2> grips{Grip({0.0, 0.0, 0.0}, 0.05), Grip({0.0, 0.0, 0.0}, 0.05, -1.0)};
  for (Grip& grip : grips) grip.roll_to({0.0, 1.0, 0.0});
  World world;
  world.add(box({0.03, 0.005, 0.01}, rubbing(0.7)), {glm::dmat3(1.0), {0.0, 0.0, 0.0}});
  world.model = make_rigid({}, world.bodies, {grasper(0.6), grasper(0.6)});
  world.state = rest_state(world.model, world.frames);
  // The ends of the instruments stand 5 mm apart, and each holds an end of the bar.
  grips[0] = Grip({0.005, 0.0, 0.0}, 0.05), grips[1] = Grip({-0.005, 0.0, 0.0}, 0.05, -1.0);
  for (Grip& grip : grips) grip.roll_to({0.0, 1.0, 0.0});
  world.state.opening = {0.4, 0.9};
  grips[1].commanded = grips[1].before = 0.9;
  hold(world, grips, 0.5);
  EXPECT_EQ(world.scratch.touches[0].held, 0u);
  EXPECT_EQ(world.scratch.touches[1].held, kNoBody);
  EXPECT_LT(glm::distance(world.of(0).x, glm::dvec3(0.0)), 3e-3);
  grips[1].commanded = 0.0;
  hold(world, grips, 0.5);
  EXPECT_EQ(world.scratch.touches[0].held, 0u);
  EXPECT_EQ(world.scratch.touches[1].held, 0u);
  grips[0].commanded = 0.9;
  hold(world, grips, 0.5);
  EXPECT_EQ(world.scratch.touches[0].held, kNoBody);
  EXPECT_EQ(world.scratch.touches[1].held, 0u);
  EXPECT_LT(std::abs(world.of(0).x.z), 6e-3);
  grips[1].commanded = 0.9;
  hold(world, grips, 0.2);
  EXPECT_EQ(world.scratch.touches[1].held, kNoBody);
  EXPECT_LT(world.of(0).x.z, -0.05);
}

// A tool presses a body on the ground, which neither yields to, then goes back: the body must not be thrown.
TEST(Rigid, APressedBodyIsNotThrown) {
  RigidTool probe;
  probe.pieces.push_back(capsule_piece({0, 0, 2.5e-3}, {0, 0, 0.3}, 2.5e-3));
  probe.hinge_z = {0.0}, probe.side = {0.0}, probe.friction = {0.2};
  World world;
  world.add(ground(0.5), {glm::dmat3(1.0), {0, 0, -0.05}});
  world.add(box({0.02, 0.02, 0.01}, rubbing(0.5)), {glm::dmat3(1.0), {0, 0, 0.005}});
  world.model = make_rigid({}, world.bodies, {probe});
  world.state = rest_state(world.model, world.frames);
  const auto pose_at = [](double z) {
    return InstrumentPose{{{0.002, 0.001, 0.3}, {0.002, 0.001, z + 2.5e-3}, 2.5e-3}, 0.0, 0.0};
  };
  double z = 0.015, fastest = 0.0, strongest = 0.0;
  const auto move_to = [&](double next) {
    const InstrumentMotion motion = instrument_motion(pose_at(z), pose_at(next));
    const RigidToolStep tool{&motion};
    step(world.model, world.state, std::span(&tool, 1), kFrame, world.scratch);
    z = next;
    fastest = std::max(fastest, glm::length(world.of(1).v));
    strongest = std::max(strongest, glm::length(world.scratch.touches[0].force));
  };
  for (int k = 0; k < 60; ++k) move_to(z - 1.5e-4);
  for (int k = 0; k < 30; ++k) move_to(z);
  for (int k = 0; k < 60; ++k) move_to(z + 2e-3);
  for (int k = 0; k < 60; ++k) move_to(z);
  EXPECT_LT(fastest, 0.3);
  EXPECT_LT(strongest, 25.0);
  EXPECT_NEAR(world.of(1).x.z, 0.005, 1e-4);
  EXPECT_LT(glm::length(world.of(1).v), 1e-6);
}

// Bodies of several pieces that fall onto each other.
World heap(std::uint32_t seed, int count) {
  std::mt19937 generator(seed);
  const auto number = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(generator()) / 4294967295.0;
  };
  World world;
  world.add(ground(0.5), {glm::dmat3(1.0), {0, 0, -0.05}});
  for (int k = 0; k < count; ++k) {
    const double x = number(-0.01, 0.01), y = number(-0.01, 0.01), angle = number(0.0, 3.0), lean = number(-1.0, 1.0);
    const std::array pieces{capsule_piece({-0.01, 0, 0}, {0.01, 0, 0}, 2e-3), box_piece({0.008, 0.012, 0.006}, 1e-3)};
    const RigidBody body = make_body(rubbing(0.4), pieces, mass_of_box({0.02, 0.012, 0.006}, 1100.0));
    const glm::dvec3 axis = glm::normalize(glm::dvec3(lean, 0.3, 1.0));
    world.add(body, {glm::mat3_cast(turn_about(axis, angle)), {x, y, 0.02 + 0.02 * k}});
  }
  world.start();
  return world;
}

// The search by boxes leaves out no pair of which some pieces are within reach: all pairs, one by one.
TEST(Rigid, PairsOutsideTheListAreApart) {
  std::cout << "seed " << kSeed + 1 << "\n";
  for (std::uint32_t trial = 0; trial < 3; ++trial) {
    World world = heap(kSeed + 1 + trial, 10);
    for (int frame = 0; frame < 60; ++frame) {
      world.advance(kFrame);
      const std::vector<RigidObject>& objects = world.scratch.objects;
      for (std::uint32_t i = 0; i < objects.size(); ++i)
        for (std::uint32_t j = i + 1; j < objects.size(); ++j) {
          const bool listed = std::any_of(world.scratch.pairs.begin(), world.scratch.pairs.end(),
                                          [&](const RigidPair& p) { return p.first == i && p.second == j; });
          for (std::uint32_t a = 0; !listed && a < objects[i].pieces; ++a)
            for (std::uint32_t b = 0; b < objects[j].pieces; ++b)
              EXPECT_EQ(meet(world.scratch.pieces[objects[i].first_piece + a],
                             world.scratch.pieces[objects[j].first_piece + b], 5e-4)
                            .count,
                        0);
        }
    }
  }
}

// Bodies at rest sleep without a contact; one that falls on the upper wakes both, and all sleep again.
TEST(Rigid, BodiesAtRestSleepUntilSomethingComesNear) {
  World world;
  world.params.sleeps_after = 0.5;
  world.add(ground(0.5), {glm::dmat3(1.0), {0.0, 0.0, -0.05}});
  for (const double z : {0.01, 0.03, 0.6})
    world.add(box(glm::dvec3(0.02), rubbing(0.5)), {glm::dmat3(1.0), {0.0, 0.0, z}});
  world.start();
  world.of(3).v.z = 4.0;
  world.advance(0.85);
  EXPECT_TRUE(world.scratch.asleep[1] && world.scratch.asleep[2]);
  EXPECT_FALSE(world.scratch.asleep[3]);
  EXPECT_TRUE(world.scratch.contacts.empty());
  bool woken = false;
  for (int frame = 0; frame < 300; ++frame) {
    world.advance(kFrame);
    woken = woken || !world.scratch.asleep[2];
  }
  EXPECT_TRUE(woken);
  for (std::size_t k = 1; k <= 3; ++k) {
    EXPECT_TRUE(world.scratch.asleep[k]) << k;
    EXPECT_GT(world.of(k).x.z, 0.009) << k;
  }
  world.params.sleeps_after = 0.0;
  EXPECT_THROW(world.start(), InputError);
}

TEST(Rigid, AHeapComesToRest) {
  std::cout << "seed " << kSeed + 4 << "\n";
  World world = heap(kSeed + 4, 10);
  world.advance(4.0);
  const RigidState settled = world.state;
  world.advance(10.0);
  for (std::size_t k = 1; k <= 10; ++k) {
    EXPECT_LT(glm::distance(world.of(k).x, settled.bodies[k].x), 1e-4) << k;
    EXPECT_LT(glm::length(world.of(k).v), 1e-4) << k;
    EXPECT_GT(world.of(k).x.z, 0.0) << k;
  }
}

// The slow twin: the same with substeps ten times shorter. The deviation is of the order of h.
TEST(Rigid, ShorterSubstepsChangeLittle) {
  std::array<glm::dvec3, 2> ends{};
  for (const int k : {0, 1}) {
    World world;
    world.params.substep = k == 0 ? 1e-3 : 1e-4;
    const double a = 25.0 * kPi / 180.0;
    world.add(ground(0.2), on_slope(a, -0.05));
    const std::size_t body = world.add(box({0.03, 0.02, 0.01}, rubbing(0.2)), on_slope(a, 0.015));
    world.start();
    world.of(body).v = {0.1, 0.2, 0.0};
    world.advance(0.4);
    ends[static_cast<std::size_t>(k)] = world.of(body).x;
  }
  EXPECT_LT(glm::distance(ends[0], ends[1]), 1.5e-3);
}

TEST(Rigid, AStateThatIsCopiedGoesOnWithTheSameBits) {
  World world = heap(kSeed + 9, 6);
  world.advance(0.3);
  World copy = world;
  copy.scratch = {};
  world.advance(0.5), copy.advance(0.5);
  for (std::size_t k = 0; k <= 6; ++k) {
    EXPECT_EQ(world.of(k).x, copy.of(k).x);
    EXPECT_EQ(world.of(k).q, copy.of(k).q);
    EXPECT_EQ(world.of(k).w, copy.of(k).w);
  }
}

}  // namespace
}  // namespace trocar::rigid_test
