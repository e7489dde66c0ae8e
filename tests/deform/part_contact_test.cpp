// Presses parts of instruments into an organ, frame by frame as in the program: the surface stays outside the part,
// thin parts do not tunnel, the force is smooth, and both solvers agree.
#include <array>
#include <cmath>

#include "deform/reference/implicit_reference.hpp"
#include "geometry/closest.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/part_points.hpp"

namespace trocar {
namespace {

using glm::dvec3;

struct Scene {
  TriangleMesh mesh;
  TissueModel model;
};

// Returns an ellipsoid of 12 x 12 x 8 cm on a fixed patch.
Scene ellipsoid(const TissueParams& params = {}) {
  Scene scene{shapes::icosphere(5, 0.06f), {}};
  for (glm::vec3& p : scene.mesh.positions) p.z *= 0.667f;
  const Attachment under{{0.f, 0.f, -0.04f}, 0.035f};
  scene.model = make_tissue(scene.mesh.view(), params, {&under, 1});
  return scene;
}

// A jaw: 3.6 x 2 x 16 mm with rounded edges, its end at the origin.
PartShape jaw() {
  PartShape shape;
  shape.radius = 2.5e-4;
  for (const double x : {-1.55e-3, 1.55e-3})
    for (const double y : {0.0, 1.5e-3})
      for (const double z : {2.5e-4, 1.575e-2}) shape.corners.emplace_back(x, y, z);
  return shape;
}

// A wire, 0.45 mm thick, across the shaft.
PartShape wire() {
  PartShape shape;
  shape.radius = 4.5e-4;
  shape.corners = {{0.0, -4e-3, 4.5e-4}, {0.0, 4e-3, 4.5e-4}};
  return shape;
}

// Moves a part with the shaft along `shaft`, from above, to `tip`.
struct Driven {
  PartShape shape;
  dvec3 shaft;
  InstrumentMotion motion = {};

  ToolStep to(const dvec3& before, const dvec3& tip) {
    const dvec3 pivot = tip + 0.2 * shaft;
    motion = instrument_motion({{pivot, before, 0.0025}, 0.3, 0.0}, {{pivot, tip, 0.0025}, 0.3, 0.0});
    ToolStep step = motion.shaft;
    step.part = {&shape, &motion};
    return step;
  }
};

double deepest_vertex(const ToolStep& tool, const test::Press& press) {
  const PosedPart posed(*tool.part.shape, frame_at(*tool.part.motion, *tool.part.shape, 1.0));
  double deepest = 0.0;
  for (const glm::vec3& p : press.positions) {
    const std::array<dvec3, 1> at{dvec3(p)};
    deepest = std::max(deepest, tool.part.shape->radius - hull_distance(posed.corners(), at).distance);
  }
  return deepest;
}

struct Pressed {
  double deepest = 0.0, jump = 0.0, last = 0.0;  // m, N, N
};

// The part goes `depth` down at `speed` in ticks of `dt`, and waits there.
Pressed press_down(const PartShape& shape, const dvec3& shaft, double speed, double depth, double dt) {
  const Scene scene = ellipsoid();
  test::Press press{scene.mesh, scene.model};
  Driven part{shape, shaft};
  const dvec3 start(0.0, 0.0, 0.041 + 0.006);
  const auto tip = [&](int frame) { return start - dvec3(0.0, 0.0, std::min(frame * speed * dt, depth + 0.006)); };
  const int frames = static_cast<int>((depth + 0.006) / (speed * dt)) + static_cast<int>(0.1 / dt);
  Pressed found;
  glm::vec3 last(0.f);
  for (int frame = 1; frame <= frames; ++frame) {
    const ToolStep tool = part.to(tip(frame - 1), tip(frame));
    const glm::vec3 force = press.frame(tool, static_cast<float>(dt));
    EXPECT_TRUE(std::isfinite(force.x + force.y + force.z));
    found.deepest = std::max(found.deepest, deepest_vertex(tool, press));
    found.jump = std::max(found.jump, static_cast<double>(glm::distance(force, last)));
    found.last = static_cast<double>(force.z);
    last = force;
  }
  return found;
}

// At 0.2 m/s no part penetrates by more than half a millimetre.
TEST(PartContact, SurfaceStaysOutsideAJaw) {
  for (const double tilt : {0.0, 0.9, 1.5}) {
    const Pressed found = press_down(jaw(), {std::sin(tilt), 0.0, std::cos(tilt)}, 0.2, 0.008, 1.0 / 60.0);
    std::printf("jaw, %.1f rad from the vertical: at most %.3f mm deep, %.2f N\n", tilt, found.deepest * 1e3,
                found.last);
    EXPECT_LT(found.deepest, 5e-4);
    EXPECT_GT(found.last, 0.05);
    EXPECT_LT(found.last, 10.0);
  }
}

TEST(PartContact, AWireDoesNotTunnelAtOneMetrePerSecond) {
  for (const double tilt : {0.0, 0.9}) {
    const Pressed found = press_down(wire(), {std::sin(tilt), 0.0, std::cos(tilt)}, 1.0, 0.008, 1.0 / 60.0);
    std::printf("wire, %.1f rad from the vertical: at most %.3f mm deep, %.2f N\n", tilt, found.deepest * 1e3,
                found.last);
    EXPECT_GT(found.last, 0.05);
  }
}

// A haptic arm would feel a jump: below 0.1 N per millisecond.
TEST(PartContact, ForceIsSmoothAtAKilohertz) {
  const Pressed found = press_down(jaw(), {std::sin(0.9), 0.0, std::cos(0.9)}, 0.05, 0.006, 1e-3);
  std::printf("largest change of force in a millisecond: %.4f N of %.2f N\n", found.jump, found.last);
  EXPECT_LT(found.jump, 0.1);
}

// Momentum of a body, and its angular momentum about a point.
struct Momentum {
  dvec3 linear{0.0}, angular{0.0};  // kg m/s, kg m^2/s
};

Momentum momentum(const TissueModel& model, const SteppedTissue& state, const dvec3& about) {
  Momentum sum;
  for (std::size_t i = 0; i < state.x.size(); ++i) {
    const dvec3 p = static_cast<double>(model.mass[i]) * dvec3(state.v[i]);
    sum.linear += p;
    sum.angular += glm::cross(dvec3(state.x[i]) - about, p);
  }
  return sum;
}

// A jaw strikes a body that floats freely. Force and torque about the trocar are what the body gains in momentum and in
// angular momentum: internal forces add nothing to either.
TEST(PartContact, ForceAndTorqueAreTheMomentumThatABodyGains) {
  TissueParams params;
  params.drag = 0.f, params.damping_time = 0.f;
  Scene scene = ellipsoid();
  scene.model = make_tissue(scene.mesh.view(), params, {});
  test::Press press{scene.mesh, scene.model};
  Driven part{jaw(), {0.6, 0.0, 0.8}};
  constexpr double kDt = 1e-3;
  const dvec3 start(0.02, 0.01, 0.0375), pivot = start + 0.2 * part.shaft;
  dvec3 impulse(0.0), turned(0.0), lever(0.0);
  const Momentum before = momentum(scene.model, press.state, pivot);
  for (int frame = 0; frame < 60; ++frame) {
    const auto tip = [&](int k) { return start - dvec3(0.0, 0.0, 1.5e-4 * k); };
    part.motion =
        instrument_motion({{pivot, tip(frame), 0.0025}, 0.3, 0.0}, {{pivot, tip(frame + 1), 0.0025}, 0.3, 0.0});
    ToolStep tool = part.motion.shaft;
    tool.part = {&part.shape, &part.motion};
    test::contacts_of(tool, test::touches_of(tool, {press.positions, scene.mesh.faces}), scene.mesh.faces,
                      press.positions, press.list);
    const dvec3 force(step(scene.model, press.state, {{&tool, 1}, press.list.contacts, {}}, static_cast<float>(kDt)));
    embed_surface(scene.model, press.state.x, press.positions);
    impulse += kDt * force;
    turned += kDt * dvec3(contact_torque(press.state, 0, press.list.contacts.size(), glm::vec3(pivot)));
    lever += kDt * glm::cross(tip(frame + 1) - pivot, force);
  }
  const Momentum gained = momentum(scene.model, press.state, pivot);
  std::printf("impulse %.2e N s, angular %.2e N m s; errors %.2e and %.2e\n", glm::length(impulse), glm::length(turned),
              glm::length(gained.linear - before.linear + impulse),
              glm::length(gained.angular - before.angular + turned));
  EXPECT_GT(glm::length(impulse), 1e-3);
  EXPECT_LT(glm::length(gained.linear - before.linear + impulse), 0.01 * glm::length(impulse));
  EXPECT_LT(glm::length(gained.angular - before.angular + turned), 0.01 * glm::length(turned));
  // The jaw touches within 16 mm of its end, 200 mm from the trocar.
  EXPECT_LT(glm::length(lever - turned), 0.08 * glm::length(turned));
}

// The jaw held 5 mm deep, without friction: the force of the real-time solver, and of the implicit solver at rest.
TEST(PartContact, ForceAgreesWithTheImplicitReference) {
  TissueParams params;
  params.friction = 0.f;
  const Scene scene = ellipsoid(params);
  const double tilt = 1.3;
  Driven part{jaw(), {std::sin(tilt), 0.0, std::cos(tilt)}};
  test::Press press{scene.mesh, scene.model};
  const auto tip = [&](int frame) { return dvec3(0.006, 0.0, 0.041 - std::min(frame * 1e-4, 5e-3)); };
  glm::vec3 force(0.f);
  ToolStep tool;
  for (int frame = 1; frame <= 120; ++frame) {
    tool = part.to(tip(frame - 1), tip(frame));
    force = press.frame(tool, 1.f / 60.f);
  }
  ImplicitState state = implicit_rest(scene.model);
  for (std::size_t i = 0; i < state.x.size(); ++i) state.x[i] = dvec3(press.state.x[i]);
  const PosedPart posed(part.shape, frame_at(part.motion, part.shape, 1.0));
  const std::vector<TissueContact> contacts = test::part_grid(posed, scene.mesh.faces, press.positions);
  const ImplicitResult answer = implicit_equilibrium(scene.model, state, {{&tool, 1}, contacts, {}});
  const double expected = glm::length(answer.tool_force[0]), found = static_cast<double>(glm::length(force));
  std::printf("%.3f N, implicit reference %.3f N\n", found, expected);
  EXPECT_NEAR(found / expected, 1.0, 0.1);
}

}  // namespace
}  // namespace trocar
