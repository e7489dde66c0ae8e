// Presses one open jaw of the drawn grasper 5 mm into the liver of the demonstration scene and holds it there: the
// force in the session equals that of the implicit reference solver, whose contact points do not come from the session.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>

#include "deform/implicit_reference.hpp"
#include "geometry/hull_distance.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/session/cpu_backends.hpp"
#include "tests/deform/part_points.hpp"
#include "tests/sim/jaw_support.hpp"
#include "tests/sim/session_support.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Place;

constexpr double kDepth = 0.005;   // m
constexpr double kTrocar = 0.16;   // m  from the pressed point to the trocar
constexpr std::uint32_t kJaw = 1;  // the part that presses
constexpr double kPatch = 0.03;    // m  the surface around the pressed point that the jaw may touch

// Returns the barycentric weights of a point of a face.
dvec3 weights_of(const Triangle& t, const dvec3& p) {
  const dvec3 n = glm::cross(t.b - t.a, t.c - t.a);
  const double square = glm::dot(n, n);
  const double b = glm::clamp(glm::dot(glm::cross(p - t.a, t.c - t.a), n) / square, 0.0, 1.0);
  const double c = glm::clamp(glm::dot(glm::cross(t.b - t.a, p - t.a), n) / square, 0.0, 1.0 - b);
  return {1.0 - b - c, b, c};
}

// Where the jaw presses. `elevation`: of the shaft over the surface; `turn`: about the shaft, from the roll at which
// the other jaw and the shaft are farthest from the surface.
struct Press {
  const char* name;
  dvec3 near;  // m
  double elevation_deg, turn_deg, aperture;

  friend void PrintTo(const Press& press, std::ostream* out) { *out << press.name; }
};

// On the dome with the jaws wide open, right of it nearly flat, and on the left lobe with an edge of the jaw.
constexpr Press kPresses[] = {{"dome", {-0.076, 0.090, 0.176}, 10.0, 0.0, 1.0},
                              {"flat", {-0.110, 0.060, 0.150}, 20.0, 0.0, 0.3},
                              {"edge", {0.002, 0.082, 0.177}, 40.0, 40.0, 0.6}};

std::vector<glm::uvec3> faces_near(const Organ& organ, const dvec3& point) {
  std::vector<glm::uvec3> faces;
  for (const glm::uvec3& face : organ.mesh.faces)
    if (glm::distance(dvec3(organ.positions[face.x]), point) < kPatch) faces.push_back(face);
  return faces;
}

// The instrument at a pose, and its end pose in the scene's terms.
struct Pressing {
  const Organ& organ;
  const Press& press;
  Place place;
  std::vector<glm::uvec3> faces;
  InstrumentBody body;
  DevicePose end;

  Pressing(const Organ& o, const Press& p, const Instrument& grasper)
      : organ(o),
        press(p),
        place(test::place_near(o, p.near)),
        faces(faces_near(o, place.point)),
        body(InstrumentKind::Grasper, grasper.radius, grasper.limits) {
    const dvec3 away = std::abs(place.normal.y) < 0.9 ? dvec3(0, -1, 0) : dvec3(1, 0, 0);
    const dvec3 along = glm::normalize(away - glm::dot(away, place.normal) * place.normal);
    const double e = glm::radians(press.elevation_deg);
    const dvec3 shaft = std::cos(e) * along + std::sin(e) * place.normal;
    end = {place.point + kTrocar * shaft, place.point, 0.0, press.aperture};
    double best = -1.0;
    DevicePose turned = end;
    for (turned.roll_deg = 0.0; turned.roll_deg < 360.0; turned.roll_deg += 5.0) {
      move_to(turned);
      const double ahead = std::min(lowest(2), shaft_height()) - lowest(kJaw);
      if (ahead > best) best = ahead, end.roll_deg = turned.roll_deg;
    }
    end.roll_deg += press.turn_deg;
    for (int round = 0; round < 6; ++round) {
      move_to(end);
      end.tip -= (kDepth - lift()) * place.normal;
    }
    move_to(end);
  }

  void move_to(const DevicePose& pose) {
    body.move(nullptr, {{pose.pivot, pose.tip, 0.0025}, pose.roll_deg, pose.grip}, ToolMode::Swept, Cover::Capsule);
  }
  PosedPart posed(std::uint32_t part) const {
    const PartShape& shape = body.shapes()[part - 1];
    return PosedPart(shape, frame_at(body.motion(), shape, 1.0));
  }
  double lowest(std::uint32_t part) const {
    double height = 1.0;
    const PosedPart at = posed(part);
    for (const dvec3& corner : at.corners()) height = std::min(height, glm::dot(corner - place.point, place.normal));
    return height;
  }
  double shaft_height() const { return glm::dot(body.step(kShaftPart).tip_after - place.point, place.normal) - 0.0025; }
  bool touches_when_lifted(double by) const {
    const PosedPart jaw = posed(kJaw);
    const double radius = body.shapes()[kJaw - 1].radius;
    return std::any_of(faces.begin(), faces.end(), [&](const glm::uvec3& face) {
      const Triangle t = triangle_of(organ.mesh.positions, face);
      const dvec3 down = by * place.normal;
      const std::array<dvec3, 3> corners{t.a - down, t.b - down, t.c - down};
      return hull_distance(jaw.corners(), corners).distance < radius;
    });
  }
  // Returns how far the jaw must be lifted along the normal until it just touches the surface from above.
  double lift() const {
    double high = 0.03;
    while (!touches_when_lifted(high) && high > -0.03) high -= 0.001;
    double low = high;
    high += 0.001;
    for (int k = 0; k < 20; ++k) {
      const double middle = 0.5 * (low + high);
      (touches_when_lifted(middle) ? low : high) = middle;
    }
    return high;
  }
};

struct Reference {
  double force = 0.0;    // N
  double deepest = 0.0;  // m  of any point of a face in the jaw
};

// Solves for the liver at rest under the jaw. The point of each face that is deepest in the jaw joins the contacts, and
// the solver starts again, until no face is deeper than 0.15 mm: contacts leave 0.1 mm.
Reference reference_of(const Pressing& pressing) {
  const Organ& organ = pressing.organ;
  const ToolStep& jaw = pressing.body.step(kJaw);
  ImplicitState state = implicit_rest(organ.tissue);
  for (std::size_t i = 0; i < state.x.size(); ++i) state.x[i] = dvec3(organ.state.x[i]);
  std::vector<TissueContact> contacts = test::part_grid(pressing.posed(kJaw), pressing.faces, organ.positions);
  std::vector<glm::vec3> positions = organ.positions;
  Reference found;
  const auto corners = pressing.posed(kJaw);
  for (int round = 0; round < 8; ++round) {
    const ImplicitResult answer =
        implicit_equilibrium(organ.tissue, state, {{&jaw, 1}, contacts, {}}, {.balance = 1e-5});
    EXPECT_TRUE(answer.balanced) << answer.unbalanced;
    found = {glm::length(answer.tool_force[0]), 0.0};
    const std::vector<glm::vec3> nodes(state.x.begin(), state.x.end());
    embed_surface(organ.tissue, nodes, positions);
    for (const glm::uvec3& face : pressing.faces) {
      const Triangle t = triangle_of(positions, face);
      const HullDistance closest = hull_distance(corners.corners(), std::array{t.a, t.b, t.c});
      const double depth = jaw.part.shape->radius - closest.distance;
      found.deepest = std::max(found.deepest, depth);
      if (depth < 1.5e-4) continue;
      const dvec3 w = weights_of(t, closest.on_second);
      test::add_part_point(corners, face, static_cast<float>(w.y), static_cast<float>(w.z), positions, contacts);
    }
    if (found.deepest < 1.5e-4) break;
  }
  return found;
}

// The reference at rest has no friction.
Scene without_friction() {
  Scene scene = test::liver_alone();
  scene.organs[0].tissue.friction = 0.f;
  return scene;
}

class JawPress : public ::testing::TestWithParam<Press> {
 protected:
  void step(int frames, const std::function<void(int)>& each = {}) {
    for (int i = 0; i < frames; ++i, ++frame_) {
      if (each) each(i);
      session_.step({frame_, static_cast<double>(frame_) * kFrame}, kFrame);
    }
  }

  CpuBackends backends_;
  Scene scene_ = without_friction();
  DevicePose pose_{scene_.instruments[0].pivot, scene_.instruments[0].tip};
  Session session_{
      scene_, backends_, "scan", {}, [this](const InstrumentScene&) { return std::make_unique<PosedDevice>(&pose_); }};
  std::size_t frame_ = 0;
};

// The jaw goes down 9 mm in a second, 5 mm of them in tissue, and waits. The force is the mean of half a second,
// because without friction the end of the jaw slides on the tissue under it.
TEST_P(JawPress, ForceOnALiverAgreesWithTheImplicitReference) {
  const Organ& liver = session_.organs()[0];
  const Instrument& grasper = session_.instruments()[0];
  const Pressing pressing(liver, GetParam(), grasper);
  EXPECT_NEAR(pressing.lift(), kDepth, 1e-5);
  pose_ = pressing.end;
  step(60, [&](int i) { pose_.tip = pressing.end.tip + (1.0 - (i + 1) / 60.0) * 0.009 * pressing.place.normal; });
  step(90);
  constexpr int kMean = 30;
  dvec3 force(0.0), torque(0.0);
  for (int i = 0; i < kMean; ++i) {
    step(1);
    force += dvec3(grasper.force) / double{kMean}, torque += dvec3(grasper.torque) / double{kMean};
  }
  const auto touches = [&](std::uint32_t part) {
    return liver.touched.part_first[part + 1] - liver.touched.part_first[part];
  };
  EXPECT_EQ(touches(kShaftPart) + touches(2), 0u) << "only one jaw presses";
  EXPECT_GT(touches(kJaw), 0u);
  const Reference expected = reference_of(pressing);
  EXPECT_LT(expected.deepest, 1.5e-4);
  std::printf("%s: jaw %.3f N, reference %.3f N, ratio %.3f\n", GetParam().name, glm::length(force), expected.force,
              glm::length(force) / expected.force);
  EXPECT_NEAR(glm::length(force) / expected.force, 1.0, 0.1);
  // A lever: the jaw touches within some millimetres of the pressed point.
  EXPECT_LT(glm::length(torque - glm::cross(pressing.place.point - pose_.pivot, force)), 0.1 * glm::length(torque));
}

INSTANTIATE_TEST_SUITE_P(Places, JawPress, ::testing::ValuesIn(kPresses));

}  // namespace
}  // namespace trocar
