// Tests contacts of tools and parts with the surface, and jaws and clips that hold tissue.
#include "deform/contact/contact.hpp"
#include "deform/contact/grasp.hpp"
#include "deform/join/bonds.hpp"
#include "deform/join/clip.hpp"
#include "deform/reference/implicit_reference.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/closest.hpp"
#include "mesh/tube_shape.hpp"
#include "tests/cpu_collision/random_parts.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace contact_test {

// Tests contacts of tools and parts with the surface: their points and normals, friction, allocations; tools in motion
// and pressed into an organ; which contacts remain of many; the damage that they do.

constexpr double kRadius = 0.0025;

// Returns a shaft that moves down the z axis onto the sphere's top at z = 0.1.
ToolStep down_to(double tip_z, double from_z, double x = 0.0) {
  return {{x, 0.0, 0.3}, {x, 0.0, from_z}, {x, 0.0, tip_z}, kRadius};
}

ContactList contacts_of(const ToolStep& tool, const TriangleMesh& mesh) {
  ContactList list;
  test::contacts_of(tool, test::touches_of(tool, mesh.view()), mesh.faces, mesh.positions, list);
  return list;
}

double from_axis(const ToolStep& tool, const glm::dvec3& p) {
  return closest_segment_triangle(tool.pivot, tool.tip_after, {p, p, p}).distance;
}

// A jaw of 3.6 x 2 x 16 mm.
PartShape shape_of_jaw() {
  PartShape shape;
  shape.radius = 2.5e-4;
  for (const double x : {-1.55e-3, 1.55e-3})
    for (const double y : {2.5e-4, 1.75e-3})
      for (const double z : {2.5e-4, 1.575e-2}) shape.corners.emplace_back(x, y, z);
  return shape;
}

// Faces, corners and edges near the end pose get contacts, each with the direction to the tool.
TEST(Contacts, EachPointFacesTheTool) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const ToolStep tool = down_to(0.1, 0.101);
  const ContactList list = contacts_of(tool, mesh);
  ASSERT_GT(list.contacts.size(), 5u);
  ASSERT_EQ(list.contacts.size(), list.face_of.size());
  double nearest = 1.0;
  for (const TissueContact& c : list.contacts) {
    EXPECT_EQ(c.tool, 0u);
    EXPECT_NEAR(glm::length(c.normal), 1.f, 1e-5f);
    const glm::dvec3 p(contact_position(c, mesh.positions));
    const double distance = from_axis(tool, p);
    EXPECT_LT(distance, kRadius + ContactParams{}.reach);
    EXPECT_NEAR(from_axis(tool, p + 0.5 * distance * glm::dvec3(c.normal)), 0.5 * distance, 1e-6);
    nearest = std::min(nearest, distance);
  }
  EXPECT_LT(nearest, 3e-4);
}

TEST(Contacts, HorizontalShaftIsKeptOffTheEdgesItCrosses) {
  const TriangleMesh mesh = test::block({0.1f, 0.1f, 0.1f});
  const ToolStep tool{{0.05, -0.1, 0.102}, {0.05, 0.05, 0.102}, {0.05, 0.05, 0.102}, kRadius};
  int edges = 0;
  for (const TissueContact& c : contacts_of(tool, mesh).contacts)
    if (c.u > 0.05f && c.u < 0.95f && c.third == c.vertex && c.v == 0.f) ++edges;
  EXPECT_GE(edges, 2);  // the front edge of the top and its diagonal
}

TEST(Contacts, FacesBetweenTheJawsAreSkipped) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const ToolStep tool = down_to(0.1, 0.101);
  ContactList list = contacts_of(tool, mesh);
  const glm::uvec3 face = mesh.faces[index(list.face_of[0])];
  const std::vector<std::uint32_t> held = {face.x, face.y, face.z};
  begin_contacts(list);
  add_contacts(tool, mesh.faces, mesh.positions, list, held);
  ASSERT_FALSE(list.contacts.empty());
  for (const FaceId id : list.face_of) EXPECT_NE(mesh.faces[index(id)], face);
}

TEST(Contacts, NoTouchGivesNoContact) {
  const TriangleMesh mesh = shapes::icosphere(4);
  EXPECT_TRUE(contacts_of(down_to(0.12, 0.12), mesh).contacts.empty());
}

// The tip moves 15 mm too deep within the step: the surface is still pushed ahead of the tool, not around it.
TEST(Contacts, PassedToolPushesAlongItsFirstTouch) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const ContactList list = contacts_of(down_to(0.085, 0.105), mesh);
  int ahead = 0;
  for (const TissueContact& c : list.contacts) ahead += c.normal.z > 0.9f ? 1 : 0;
  EXPECT_GE(ahead, 1);
}

TEST(Contacts, FaceThatLeftIsKeptWhileItIsNear) {
  const TriangleMesh mesh = shapes::icosphere(5);
  ContactList list;
  const auto frame = [&](const ToolStep& tool) {
    test::contacts_of(tool, test::touches_of(tool, mesh.view()), mesh.faces, mesh.positions, list);
    return list.contacts.size();
  };
  EXPECT_GT(frame(down_to(0.102, 0.102)), 0u);
  const double above = 0.1 + kRadius + 0.5 * ContactParams{}.reach;
  EXPECT_GT(frame(down_to(above, above)), 0u);
  const double far = 0.1 + kRadius + 2.0 * ContactParams{}.reach;
  EXPECT_EQ(frame(down_to(far, far)), 0u);
  const double away = 0.1 + kRadius + 2.0 * ContactParams{}.candidate_reach;
  EXPECT_EQ(frame(down_to(away, away)), 0u);
  EXPECT_EQ(frame(down_to(above, above)), 0u);
}

TEST(Contacts, ToolsKeepTheirOwnContactsAndForces) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const Attachment ball{{0.f, 0.f, -0.1f}, 0.04f};
  TissueParams params;
  params.node_spacing = 0.012f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  SteppedTissue state = rest_state(model);
  const ToolStep above = down_to(0.1, 0.101), idle = down_to(0.2, 0.2);
  const ToolStep beside{{0.3, 0.0, 0.0}, {0.101, 0.0, 0.0}, {0.1, 0.0, 0.0}, kRadius};
  ContactList list;
  const FacesAround around = faces_around(mesh.faces, mesh.positions.size());
  const ToolStep tools[] = {above, idle, beside};
  begin_candidates(list);
  for (const ToolStep& tool : tools)
    add_candidates(tool, test::touches_of(tool, mesh.view()), mesh.faces, around, mesh.positions, list);
  begin_contacts(list);
  for (const ToolStep& tool : tools) add_contacts(tool, mesh.faces, mesh.positions, list);
  ASSERT_EQ(list.first.size(), 4u);
  EXPECT_EQ(list.first[1], list.first[2]);
  const glm::vec3 total = step(model, state, {tools, list.contacts, {}}, 1.f / 60.f);
  const glm::vec3 first = contact_force(state, list.first[0], list.first[1]);
  const glm::vec3 second = contact_force(state, list.first[1], list.first[2]);
  const glm::vec3 third = contact_force(state, list.first[2], list.first[3]);
  EXPECT_GT(first.z, 0.01f);
  EXPECT_EQ(second, glm::vec3(0.f));
  EXPECT_GT(third.x, 0.01f);
  EXPECT_LT(glm::distance(total, first + third), 1e-4f * glm::length(total));
}

// A horizontal shaft pressed 3 mm in slides along itself: friction drags the surface along and pulls back with a
// fraction of the push.
TEST(Contacts, FrictionDragsAlongTheShaft) {
  for (const float friction : {0.f, 0.1f, 0.3f}) {
    TissueParams params;
    params.friction = friction;
    const test::Ellipsoid scene(params);
    test::Press press{scene.mesh, scene.model};
    glm::dvec3 tip(0.1, 0.0, 0.044), before = tip;
    glm::vec3 force(0.f);
    for (int frame = 0; frame < 90; ++frame, before = tip) {
      if (frame < 30) tip.z -= 1.5e-4;
      if (frame >= 30) tip.x += 3e-4;
      force = press.frame({{-0.3, 0.0, tip.z}, before, tip, kRadius}, 1.f / 60.f);
    }
    EXPECT_GT(force.z, 0.05f);
    EXPECT_NEAR(force.x / force.z, -friction, 0.1 * friction + 0.01) << friction;
    EXPECT_LT(std::abs(force.y), 0.15f * force.z);
  }
}

// Two shafts from opposite sides leave 3 mm for a ball of 24 mm. Cells turn inside out there and tremble, but neither
// shaft wins.
TEST(Contacts, OpposedToolsDoNotPushEverHarder) {
  const TriangleMesh mesh = shapes::icosphere(4, 0.012f);
  TissueParams params;
  params.node_spacing = 0.004f;
  const Attachment left{{-0.012f, 0.f, 0.f}, 0.004f}, right{{0.012f, 0.f, 0.f}, 0.004f};
  const TissueModel model = make_tissue(mesh.view(), params, std::array{left, right});
  SteppedTissue state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  const FacesAround around = faces_around(mesh.faces, mesh.positions.size());
  const std::vector<Touch> all = test::touches_of_all(mesh.faces.size());
  ContactList list;
  const auto shaft = [](int frame, double side) {
    const auto tip = [&](int k) { return glm::dvec3(0.0, 0.02, side * (0.015 - std::min(1e-4 * k, 0.011))); };
    return ToolStep{{0.0, -0.1, tip(frame + 1).z}, tip(frame), tip(frame + 1), kRadius};
  };
  float fastest = 0.f, force = 0.f;
  for (int frame = 0; frame < 240; ++frame) {
    const ToolStep tools[] = {shaft(frame, 1.0), shaft(frame, -1.0)};
    begin_candidates(list, state.dents);
    for (const ToolStep& tool : tools) add_candidates(tool, all, mesh.faces, around, positions, list);
    for (int number = 0; number < 4; ++number) {
      const ToolStep pieces[] = {piece_of(tools[0], number, 4), piece_of(tools[1], number, 4)};
      begin_contacts(list, {model.embedding, state.v, 1.0 / 240.0, state.dents});
      for (const ToolStep& piece : pieces) add_contacts(piece, mesh.faces, positions, list);
      step(model, state, {pieces, list.contacts, {}}, 1.f / 240.f);
      force = contact_force(state, list.first[0], list.first[1]).z;
      embed_surface(model, state.x, positions);
      for (const glm::vec3& v : state.v) fastest = std::max(fastest, glm::length(v));
    }
  }
  const std::uint64_t limited = state.scratch.held_back;
  std::printf("%llu pushes limited, fastest node %.2f m/s, %.2f N\n", static_cast<unsigned long long>(limited),
              static_cast<double>(fastest), static_cast<double>(force));
  EXPECT_EQ(limited, 0u);
  EXPECT_GT(std::abs(force), 0.3f);
  EXPECT_LT(std::abs(force), 5.f);
}

// Contacts are made as far as the tissue may come within the substep.
TEST(Contacts, FastTissueGetsContactsFromFartherAway) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const Attachment ball{{0.f, 0.f, -0.1f}, 0.04f};
  TissueParams params;
  params.node_spacing = 0.015f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  SteppedTissue state = rest_state(model);
  const ContactParams reaches;
  const double gap = 0.5 * (reaches.least_reach + reaches.reach), above = 0.1 + kRadius + gap;
  const ToolStep tool = down_to(above, above);
  const std::vector<Touch> all = test::touches_of_all(mesh.faces.size());
  const auto count = [&](float speed) {
    for (glm::vec3& v : state.v) v = {0.f, 0.f, speed};
    ContactList list;
    begin_candidates(list);
    add_candidates(tool, all, mesh.faces, faces_around(mesh.faces, mesh.positions.size()), mesh.positions, list);
    begin_contacts(list, {model.embedding, state.v, 1.0 / 240.0});
    add_contacts(tool, mesh.faces, mesh.positions, list);
    return list.contacts.size();
  };
  const float needed = static_cast<float>(240.0 * (gap - reaches.least_reach) / 2.0);
  EXPECT_EQ(count(0.f), 0u);
  EXPECT_EQ(count(0.9f * needed), 0u);
  EXPECT_GT(count(1.2f * needed), 0u);
}

// Of thousands of faces near a part few get contacts, the deepest among them.
TEST(Contacts, OfManySmallFacesFewGetContacts) {
  const TriangleMesh plane = shapes::grid(120, 120, 0.04f, 0.04f);
  const PartShape shape = shape_of_jaw();
  const ToolPose pose{{0.2, 0.0, 0.0015}, {-0.008, 0.0, 0.0015}, 0.0025};
  const InstrumentMotion motion = instrument_at_rest({pose, 0.3, 0.0});
  ToolStep step = motion.shaft;
  step.part = {&shape, &motion};
  const std::vector<Touch> all = test::touches_of_all(plane.faces.size());
  ContactList list;
  test::contacts_of(step, all, plane.faces, plane.positions, list);
  std::size_t in_reach = 0;
  double deepest = 1.0;
  const PressingTool tool(step);
  for (const glm::uvec3& face : plane.faces) {
    const double distance = tool.closest(triangle_of(plane.positions, face), 1.0).distance;
    in_reach += distance < tool.radius() + list.params.reach, deepest = std::min(deepest, distance);
  }
  std::printf("%zu faces in reach, %zu contacts\n", in_reach, list.contacts.size());
  EXPECT_GT(in_reach, 1000u);
  EXPECT_LE(list.contacts.size(), kManyContacts);
  EXPECT_GT(list.contacts.size(), 10u);
  EXPECT_NEAR(static_cast<double>(*std::min_element(list.gap.begin(), list.gap.end())), deepest, 1e-9);
}

TEST(Contacts, WarmFramesAllocateNothing) {
  const TriangleMesh mesh = shapes::icosphere(4);
  const Attachment ball{{0.f, 0.f, -0.1f}, 0.04f};
  TissueParams params;
  params.node_spacing = 0.015f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  SteppedTissue state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  std::vector<std::vector<Touch>> touches;
  std::vector<ToolStep> tools;
  for (int i = 0; i < 20; ++i) {
    tools.push_back(down_to(0.103 - 5e-4 * i, 0.103 - 5e-4 * (i - 1)));
    touches.push_back(test::touches_of(tools.back(), mesh.view()));
  }
  const FacesAround around = faces_around(mesh.faces, mesh.positions.size());
  ContactList list;
  list.reserve(1024);
  state.scratch.contacts.reserve(1024), state.scratch.active.reserve(1024);
  std::uint64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    if (round == 1) before = allocations_so_far();
    for (std::size_t i = 0; i < tools.size(); ++i) {
      begin_candidates(list, state.dents);
      add_candidates(tools[i], touches[i], mesh.faces, around, mesh.positions, list);
      begin_contacts(list, {model.embedding, state.v, 1.0 / 60.0, state.dents});
      add_contacts(tools[i], mesh.faces, mesh.positions, list);
      step(model, state, {{&tools[i], 1}, list.contacts, {}}, 1.f / 60.f);
      embed_surface(model, state.x, positions);
    }
  }
  EXPECT_EQ(allocations_so_far(), before);
}

}  // namespace contact_test

// Tests tools at the speed of fast hand motions: none tunnels through tissue, and the surface stays outside the tools.
namespace contact_motion_test {

constexpr double kRadius = 0.0025, kFrame = 1.0 / 60.0;

// Returns the largest depth of any face in the tool: its radius minus the distance from its axis.
double penetration(const ToolStep& tool, const test::Press& press) {
  double nearest = 1.0;
  for (const glm::uvec3& face : press.mesh.faces) {
    const Triangle t = triangle_of(press.met, face);
    if (std::abs(t.a.x - tool.tip_after.x) > 0.25) continue;
    nearest = std::min(nearest, closest_segment_triangle(tool.pivot, tool.tip_after, t).distance);
  }
  return tool.radius - nearest;
}

// Is a part of the axis inside the organ? Uses the winding number of the surface at points on the axis.
bool inside(const ToolStep& tool, const test::Press& press) {
  for (double share : {0.0, 0.05, 0.1}) {
    const glm::dvec3 p = glm::mix(tool.tip_after, tool.pivot, share);
    double solid_angle = 0.0;
    for (const glm::uvec3& face : press.mesh.faces) {
      const Triangle t = triangle_of(press.met, face);
      const glm::dvec3 a = t.a - p, b = t.b - p, c = t.c - p;
      const double la = glm::length(a), lb = glm::length(b), lc = glm::length(c);
      solid_angle += 2.0 * std::atan2(glm::dot(a, glm::cross(b, c)),
                                      la * lb * lc + glm::dot(a, b) * lc + glm::dot(b, c) * la + glm::dot(c, a) * lb);
    }
    if (solid_angle > 6.0) return true;
  }
  return false;
}

// 16 mm down, then 50 mm sideways, `tilt` radians off the vertical. Returns the deepest penetration after any frame.
double push_and_drag(double speed, double tilt) {
  static const test::Ellipsoid scene;
  test::Press press{scene.mesh, scene.model};
  const glm::dvec3 shaft(std::sin(tilt), 0.0, std::cos(tilt));
  glm::dvec3 tip(tilt > 1.2 ? -0.03 : 0.0, 0.0, 0.04 + kRadius + 0.001), before = tip;
  double deepest = 0.0;
  for (double travelled = 0.0; travelled < 0.066; travelled += speed * kFrame, before = tip) {
    if (travelled < 0.016)
      tip.z -= std::min(speed * kFrame, 0.016 - travelled);
    else
      tip.y += speed * kFrame;
    const ToolStep tool{tip + 0.2 * shaft, before, tip, kRadius};
    press.frame(tool, static_cast<float>(kFrame));
    deepest = std::max(deepest, penetration(tool, press));
    EXPECT_FALSE(inside(tool, press)) << "speed " << speed << ", tilt " << tilt << ", travelled " << travelled;
  }
  return deepest;
}

TEST(ContactInMotion, HalfAMillimetreAtTwentyCentimetresASecond) {
  for (const double tilt : {0.0, 0.5, 1.0, 1.4, 1.5708}) {
    const double deepest = push_and_drag(0.2, tilt);
    EXPECT_LT(deepest, 5e-4) << "tilt " << tilt;
    std::printf("0.2 m/s, tilt %.2f: %.3f mm\n", tilt, 1e3 * deepest);
  }
}

TEST(ContactInMotion, NoTunnellingAtAMetreASecond) {
  for (const double tilt : {0.0, 0.5, 1.0, 1.4, 1.5708}) {
    const double deepest = push_and_drag(1.0, tilt);
    EXPECT_LT(deepest, 1e-3) << "tilt " << tilt;
    std::printf("1 m/s, tilt %.2f: %.3f mm\n", tilt, 1e3 * deepest);
  }
}

TEST(ContactInMotion, SlowDragSticksAndSlipsButNeverPierces) {
  const double deepest = push_and_drag(0.05, 0.5);
  EXPECT_LT(deepest, 5e-4);
  std::printf("0.05 m/s, tilt 0.5: %.3f mm\n", 1e3 * deepest);
}

}  // namespace contact_motion_test

// Presses a tool into an organ, frame by frame as in the program, and tests that the surface stays outside the tool,
// the force is plausible, and the organ springs back.
namespace contact_press_test {

constexpr float kFrame = 1.f / 60.f;

double deepest_vertex(const ToolStep& tool, const test::Press& press) {
  double deepest = 0.0;
  for (const Touch& touch : press.touches)
    for (int corner = 0; corner < 3; ++corner) {
      const glm::dvec3 p(press.met[press.mesh.faces[index(touch.face)][corner]]);
      const ClosestPoints c = closest_segment_triangle(tool.pivot, tool.tip_after, {p, p, p});
      deepest = std::max(deepest, tool.radius - c.distance);
    }
  return deepest;
}

// The tip moves 20 mm down at 20 mm/s, `tilt` radians off the vertical, waits, and leaves.
void press_and_release(double tilt, double radius) {
  const test::Ellipsoid scene;
  test::Press press{scene.mesh, scene.model};
  const glm::dvec3 shaft(std::sin(tilt), 0.0, std::cos(tilt));
  const glm::dvec3 start = glm::dvec3(0.0, 0.0, 0.04 + radius + 0.001);
  const auto tip = [&](int frame) { return start - glm::dvec3(0.0, 0.0, std::min(frame * 0.02 * kFrame, 0.021)); };
  double worst = 0.0, jump = 0.0;
  glm::vec3 last(0.f);
  for (int frame = 1; frame <= 90; ++frame) {
    const ToolStep tool{tip(frame) + 0.2 * shaft, tip(frame - 1), tip(frame), radius};
    const glm::vec3 force = press.frame(tool, kFrame);
    ASSERT_TRUE(std::isfinite(force.x + force.y + force.z));
    worst = std::max(worst, deepest_vertex(tool, press));
    jump = std::max(jump, double(glm::distance(force, last)));
    last = force;
  }
  EXPECT_LT(worst, 1e-3);
  // The fine tip sinks in by eight radii, on a node: the cells under it buckle.
  EXPECT_LT(jump, 0.8);
  EXPECT_GT(last.z, 0.2f);
  EXPECT_LT(last.z, 5.f);
  float lowest = 0.f;
  for (std::size_t i = 0; i < press.positions.size(); ++i)
    lowest = std::max(lowest, glm::distance(press.positions[i], scene.mesh.positions[i]));
  EXPECT_GT(lowest, 0.008f);
  EXPECT_LT(lowest, 0.04f);

  for (int frame = 0; frame < 240; ++frame) step(scene.model, press.state, {}, kFrame);
  EXPECT_LT(test::farthest_from_rest(scene.model, press.state), 0.01f * 0.02f);
}

TEST(Press, FineTipDownTwentyMillimetres) { press_and_release(0.0, 0.0025); }
TEST(Press, TiltedShaftDownTwentyMillimetres) { press_and_release(1.0, 0.0025); }
TEST(Press, ThickShaftDownTwentyMillimetres) { press_and_release(0.4, 0.005); }

// A shaft at rest lies 0.5, 1 and 2 mm deep in an organ that floats freely: it is pushed out, and keeps the speed that
// it springs back with, not that of the push.
TEST(Press, AnOverlapGivesNoSpeed) {
  for (const double depth : {5e-4, 1e-3, 2e-3}) {
    TissueParams params;
    params.drag = 0.f;
    test::Ellipsoid scene(params);
    scene.model = make_tissue(scene.mesh.view(), params, {});
    test::Press press{scene.mesh, scene.model};
    const ToolStep tool{{0.2, 0.0, 0.0425 - depth}, {-0.1, 0.0, 0.0425 - depth}, {-0.1, 0.0, 0.0425 - depth}, 0.0025};
    float fastest = 0.f;
    glm::vec3 drift(0.f);
    for (int frame = 0; frame < 30; ++frame) {
      press.frame(tool, kFrame);
      float mass = 0.f;
      drift = glm::vec3(0.f);
      for (std::size_t i = 0; i < press.state.v.size(); ++i) {
        fastest = std::max(fastest, glm::length(press.state.v[i]));
        drift += scene.model.mass[i] * press.state.v[i], mass += scene.model.mass[i];
      }
      drift /= mass;
    }
    std::printf("%.1f mm deep: fastest node %.3f m/s, drift %.4f m/s, %.3f mm left\n", 1e3 * depth, fastest,
                glm::length(drift), 1e3 * deepest_vertex(tool, press));
    EXPECT_LT(fastest, 0.5f);
    EXPECT_LT(glm::length(drift), 0.04f);
    EXPECT_LT(deepest_vertex(tool, press), 2e-4);
    EXPECT_EQ(press.state.scratch.held_back, 0u);
  }
}

// A dent is local: the far side of the organ hardly moves.
TEST(Press, DentIsLocalAndSmooth) {
  const test::Ellipsoid scene;
  test::Press press{scene.mesh, scene.model};
  for (int frame = 1; frame <= 60; ++frame) {
    const double z = 0.0435 - 0.01 * std::min(frame / 30.0, 1.0),
                 before = 0.0435 - 0.01 * std::min((frame - 1) / 30.0, 1.0);
    press.frame({{0.0, 0.0, 0.3}, {0.0, 0.0, before}, {0.0, 0.0, z}, 0.0025}, kFrame);
  }
  for (std::size_t i = 0; i < press.positions.size(); ++i) {
    const glm::vec3& rest = scene.mesh.positions[i];
    const float moved = glm::distance(press.positions[i], rest);
    if (glm::length(glm::vec2(rest)) > 0.04f || rest.z < 0.f) {
      EXPECT_LT(moved, 0.003f);
    }
  }
  float steepest = 0.f;
  for (const glm::uvec3& face : scene.mesh.faces)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t a = face[corner], b = face[(corner + 1) % 3];
      const float apart =
          glm::distance(press.positions[a] - scene.mesh.positions[a], press.positions[b] - scene.mesh.positions[b]);
      steepest = std::max(steepest, apart / glm::distance(scene.mesh.positions[a], scene.mesh.positions[b]));
    }
  EXPECT_LT(steepest, 2.5f);
}

}  // namespace contact_press_test

namespace {

// Tests which contacts of a part remain: one of those at the same point, the deepest of those close together when there
// are many, all others in their order.

// A list with contacts at vertices 0 .. n - 1 with these gaps, caused by faces of the same numbers.
ContactList list_of(std::span<const float> gaps, std::span<const glm::vec3> normals) {
  ContactList list;
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    list.add({0, i, normals[i % normals.size()]}, static_cast<double>(gaps[i]));
    list.face_of.push_back(FaceId(i));
  }
  return list;
}

TEST(ContactThinning, KeepsOneContactOfAPoint) {
  const std::vector<glm::vec3> positions{{0, 0, 0}, {1e-7f, 0, 0}, {0, 2e-3f, 0}, {0, 0, 0}};
  const std::vector<float> gaps{1e-3f, 5e-4f, 0.f, 5e-4f};
  ContactList list = list_of(gaps, std::vector<glm::vec3>{{0, 0, 1}});
  thin_contacts(0, positions, list);
  ASSERT_EQ(list.contacts.size(), 2u);
  EXPECT_EQ(list.contacts[0].vertex, 1u) << "of equal gaps the first";
  EXPECT_EQ(list.contacts[1].vertex, 2u);
  EXPECT_EQ(list.face_of[0], FaceId(1));
  EXPECT_EQ(list.gap[1], 0.f);
}

TEST(ContactThinning, KeepsContactsOfDifferentNormalsAndEarlierTools) {
  const std::vector<glm::vec3> positions(4, glm::vec3(0.f));
  const std::vector<float> gaps(4, 0.f);
  ContactList list = list_of(gaps, std::vector<glm::vec3>{{0, 0, 1}, {0, 1, 0}});
  thin_contacts(2, positions, list);
  EXPECT_EQ(list.contacts.size(), 4u);
  thin_contacts(0, positions, list);
  EXPECT_EQ(list.contacts.size(), 2u);
}

// Many contacts on a plane: every one that was removed has a deeper one near it, and no two are closer than the
// spacing. The 2,000 are thinned to 0.5 mm, then to 1 mm.
TEST(ContactThinning, ThinsManyContactsToTheSpacing) {
  for (const std::size_t count : {kManyContacts, kManyContacts + 1, std::size_t{2000}}) {
    std::vector<glm::vec3> positions;
    std::vector<float> gaps;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t column = i % 45, row = i / 45;
      positions.emplace_back(static_cast<float>(column) * 2e-4f, static_cast<float>(row) * 2e-4f, 0.f);
      gaps.push_back(1e-6f * static_cast<float>((i * 7919) % 1009));
    }
    ContactList list = list_of(gaps, std::vector<glm::vec3>{{0, 0, 1}});
    thin_contacts(0, positions, list);
    std::printf("%zu contacts, %zu remain\n", count, list.contacts.size());
    if (count <= kManyContacts) {
      EXPECT_EQ(list.contacts.size(), count);
      continue;
    }
    EXPECT_LT(list.contacts.size(), std::min(count / 3, kManyContacts + 1));
    const float reach = count == 2000 ? 3.f * kContactSpacing : kContactSpacing;
    const auto distance = [&](std::uint32_t a, std::uint32_t b) { return glm::distance(positions[a], positions[b]); };
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto stands_for = [&](const TissueContact& kept) {
        return distance(kept.vertex, i) < reach && gaps[kept.vertex] <= gaps[i];
      };
      EXPECT_TRUE(std::any_of(list.contacts.begin(), list.contacts.end(), stands_for)) << i;
    }
    for (std::size_t i = 0; i < list.contacts.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        EXPECT_GE(distance(list.contacts[i].vertex, list.contacts[k].vertex), kContactSpacing);
        EXPECT_LT(list.contacts[k].vertex, list.contacts[i].vertex) << "the order is kept";
      }
  }
}

// The same by comparing all pairs of the contacts `order`.
std::vector<std::uint32_t> thinned_by_pairs(std::span<const glm::vec3> positions, const ContactList& list,
                                            float spacing, std::vector<std::uint32_t> order) {
  std::vector<std::uint32_t> kept;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return list.gap[a] < list.gap[b]; });
  for (const std::uint32_t i : order) {
    const auto stands_for = [&](std::uint32_t k) {
      const glm::vec3 apart = positions[k] - positions[i];
      return glm::dot(apart, apart) < spacing * spacing &&
             glm::dot(list.contacts[k].normal, list.contacts[i].normal) > kSameContactNormal;
    };
    if (std::none_of(kept.begin(), kept.end(), stands_for)) kept.push_back(i);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

TEST(ContactThinning, EqualsTheComparisonOfAllPairs) {
  std::mt19937 random(2230);
  std::printf("seed 2230\n");
  const auto uniform = [&] { return static_cast<float>(random() >> 8) / 16777216.f - 0.5f; };
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 400;
    const float size = round % 2 ? 4e-6f : 8e-3f;  // m
    const glm::vec3 centre = 0.3f * glm::vec3(uniform(), uniform(), uniform());
    std::vector<glm::vec3> positions, normals;
    std::vector<float> gaps;
    for (std::size_t i = 0; i < count; ++i) {
      positions.push_back(centre + size * glm::vec3(uniform(), uniform(), uniform()));
      normals.push_back(glm::normalize(glm::vec3(uniform(), uniform(), 1.f)));
      gaps.push_back(1e-5f * static_cast<float>(random() % 50));
    }
    ContactList list = list_of(gaps, normals);
    std::vector<std::uint32_t> expected(count);
    std::iota(expected.begin(), expected.end(), 0u);
    expected = thinned_by_pairs(positions, list, kSameContact, expected);
    for (float spacing = kContactSpacing; spacing <= kWidestSpacing; spacing *= 2.f)
      if (expected.size() > kManyContacts) expected = thinned_by_pairs(positions, list, spacing, expected);
    thin_contacts(0, positions, list);
    ASSERT_EQ(list.contacts.size(), expected.size()) << "round " << round;
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(list.contacts[i].vertex, expected[i]);
  }
}

// Presses parts of instruments into an organ, frame by frame as in the program: the surface stays outside the part,
// thin parts do not tunnel, the force is smooth, and both solvers agree.

using glm::dvec3;

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
  shape.radius = 4.5e-4, shape.corners = {{0.0, -4e-3, 4.5e-4}, {0.0, 4e-3, 4.5e-4}};
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
  for (const glm::vec3& p : press.met) {
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
  const test::Ellipsoid scene;
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
  test::Ellipsoid scene;
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
  // The pull with which the jaw pays for its dent as the place changes acts on the jaw alone (tool_dents.cpp). At ten
  // places on the body it is 0 to 6 % of the impulse and 1 to 11 % of the angular one.
  EXPECT_LT(glm::length(gained.linear - before.linear + impulse), 0.06 * glm::length(impulse));
  EXPECT_LT(glm::length(gained.angular - before.angular + turned), 0.12 * glm::length(turned));
  // The jaw touches within 16 mm of its end, 200 mm from the trocar.
  EXPECT_LT(glm::length(lever - turned), 0.08 * glm::length(turned));
}

// The jaw held 5 mm deep, without friction: the force of the real-time solver, and of the implicit solver at rest.
TEST(PartContact, ForceAgreesWithTheImplicitReference) {
  TissueParams params;
  params.friction = 0.f;
  const test::Ellipsoid scene(params);
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
  // The reference has no dents: the jaw stands where the contacts of the lattice see it.
  const dvec3 seen = tip(120) + dvec3(press.state.dents[0].shift);
  tool = part.to(seen, seen);
  ImplicitState state = implicit_rest(scene.model);
  for (std::size_t i = 0; i < state.x.size(); ++i) state.x[i] = dvec3(press.state.x[i]);
  const PosedPart posed(part.shape, frame_at(part.motion, part.shape, 1.0));
  const std::vector<TissueContact> contacts = test::part_grid(posed, scene.mesh.faces, press.positions);
  const ImplicitResult answer = implicit_equilibrium(scene.model, state, {{&tool, 1}, contacts, {}});
  const double expected = glm::length(answer.tool_force[0]), found = static_cast<double>(glm::length(force));
  std::printf("%.3f N, implicit reference %.3f N\n", found, expected);
  EXPECT_NEAR(found / expected, 1.0, 0.1);
}

// Tests the quick refusals of a pressing tool against its exact answers, and that the contacts around a part are
// complete without being counted twice.

constexpr double kFar = std::numeric_limits<double>::infinity();  // m

// What a tool meets is never refused: a point in range is not beyond it, and a touched face may have been touched.
TEST(PressingTool, RefusesNothingThatItMeets) {
  int in_range = 0, beyond = 0, touched = 0, excluded = 0, faced = 0;
  test::for_every_motion(2210, 4000, [&](test::Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    ToolStep step = motion.shaft;
    step.part = {&shape, &motion};
    const PressingTool tool(step);
    const dvec3 near = frame_at(motion, shape, 1.0).to_world(shape.corners[0]);
    for (int i = 0; i < 10; ++i) {
      const dvec3 at = near + dice.in_cube(dice.log_uniform(1e-4, 0.03));
      const double range = dice.log_uniform(1e-4, 0.02);
      const bool close = tool.closest(at, kFar).distance <= range;
      EXPECT_FALSE(close && tool.is_beyond(at, range)) << test::words(motion);
      in_range += close, beyond += tool.is_beyond(at, range);
      const Triangle face{at, at + dice.in_cube(0.003), at + dice.in_cube(0.003)};
      Touch touch;
      const bool meets = tool.touches(face, touch), may = tool.may_have_touched(tool.closest(face, kFar).distance);
      EXPECT_FALSE(meets && !may) << test::words(motion);
      const double reach = dice.log_uniform(1e-4, 0.02), most = tool.contact_range(reach);
      const double distance = tool.closest(face, kFar).distance;
      EXPECT_FALSE((may || distance < tool.radius() + reach) && distance > most) << test::words(motion);
      touched += meets, excluded += !may;
      const ToolTissue end = tool.closest(face, kFar);
      if (!meets || !(end.distance > 1e-9)) continue;
      const dvec3 normal = (end.on_tool - end.on_tissue) / end.distance;
      for (const double cosine : {0.1, 0.5, 0.9}) {
        const bool faces = tool.faces_all_along(face, normal, end.distance, cosine);
        EXPECT_FALSE(faces && glm::dot(normal, dvec3(touch.normal)) < cosine - 1e-5) << test::words(motion);
        faced += faces;
      }
    }
  });
  std::printf("%d points in range, %d beyond; %d faces touched, %d excluded, %d faced all along\n", in_range, beyond,
              touched, excluded, faced);
  EXPECT_GT(faced, 1000);
  EXPECT_GT(in_range, 1000);
  EXPECT_GT(beyond, 1000);
  EXPECT_GT(touched, 1000);
  EXPECT_GT(excluded, 1000);
}

// A jaw of 3.6 x 2 x 16 mm along x, rolled, with its lower side about `gap` above the plane z = 0.
struct Jaw {
  PartShape shape;
  InstrumentMotion motion;
  ToolStep step;

  Jaw(double gap, double roll) : shape(contact_test::shape_of_jaw()) {
    const ToolPose shaft{{0.2, 0.0, gap + 0.0018}, {-0.008, 0.0, gap + 0.0018}, 0.0025};
    motion = instrument_at_rest({shaft, roll, 0.0});
    step = motion.shaft;
    step.part = {&shape, &motion};
  }
};

// A jaw whose lower side lies at this height: only what is below a face counts, up to its highest side.
TEST(PressingTool, DepthBehindAFace) {
  const Triangle up{{0, 0, 0}, {1e-3, 0, 0}, {0, 1e-3, 0}}, down{{0, 0, 0}, {0, 1e-3, 0}, {1e-3, 0, 0}};
  for (const double gap : {-1e-3, -4e-4, 5e-4}) {
    const Jaw jaw(gap, 0.0);
    const PressingTool tool(jaw.step);
    double lowest = kFar, highest = -kFar;
    for (const dvec3& corner : jaw.shape.corners) {
      const double z = frame_at(jaw.motion, jaw.shape, 1.0).to_world(corner).z;
      lowest = std::min(lowest, z), highest = std::max(highest, z);
    }
    EXPECT_NEAR(tool.depth_behind(up), std::max(-lowest, 0.0), 1e-12);
    EXPECT_NEAR(tool.depth_behind(down), std::max(highest, 0.0), 1e-12);
  }
}

dvec3 point_of(const TissueContact& c, std::span<const glm::vec3> positions) {
  const double u = static_cast<double>(c.u), v = static_cast<double>(c.v);
  return (1.0 - u - v) * dvec3(positions[c.vertex]) + u * dvec3(positions[c.second]) + v * dvec3(positions[c.third]);
}

bool lies_on(const TissueContact& c, const glm::uvec3& face) {
  const auto has = [&](std::uint32_t vertex) { return face.x == vertex || face.y == vertex || face.z == vertex; };
  return (has(c.vertex) || c.u + c.v >= 1.f) && (has(c.second) || c.u <= 0.f) && (has(c.third) || c.v <= 0.f);
}

// On a plane of faces of 2 mm under a jaw, every face in reach that looks at the jaw has a contact where it is closest;
// a face parallel to the jaw has many such points. No two contacts are at one point.
TEST(PressingTool, ContactsAreCompleteAndNotCountedTwice) {
  const TriangleMesh plane = shapes::grid(16, 16, 0.04f, 0.04f);
  for (const double gap : {-0.0002, 0.0, 0.0005, 0.0015})
    for (const double roll : {0.0, 0.4}) {
      const Jaw jaw(gap, roll);
      ContactList list;
      const std::vector<Touch> all = test::touches_of_all(plane.faces.size());
      test::contacts_of(jaw.step, all, plane.faces, plane.positions, list);
      ASSERT_EQ(list.contacts.size(), list.face_of.size());
      std::vector<dvec3> points;
      for (const TissueContact& contact : list.contacts) points.push_back(point_of(contact, plane.positions));
      const auto contacts_at = [&](const dvec3& at) {
        return std::count_if(points.begin(), points.end(), [&](const dvec3& p) { return glm::distance(p, at) < 1e-7; });
      };
      for (const dvec3& point : points) EXPECT_EQ(contacts_at(point), 1) << "gap " << gap << " roll " << roll;
      const PressingTool tool(jaw.step);
      int in_reach = 0;
      for (const glm::uvec3& corners : plane.faces) {
        const ToolTissue closest = tool.closest(triangle_of(plane.positions, corners), kFar);
        const double above = closest.on_tool.z - closest.on_tissue.z;
        if (closest.distance >= tool.radius() + list.params.reach || above < 1e-6) continue;
        ++in_reach;
        double nearest = 1.0;
        for (std::size_t i = 0; i < points.size(); ++i)
          if (lies_on(list.contacts[i], corners)) nearest = std::min(nearest, tool.closest(points[i], kFar).distance);
        EXPECT_NEAR(nearest, closest.distance, 1e-8) << "gap " << gap << " roll " << roll;
      }
      EXPECT_GT(in_reach, 20);
      std::printf("gap %.1f mm, roll %.1f: %zu contacts of %d faces in reach\n", gap * 1e3, roll, points.size(),
                  in_reach);
    }
}

// Tests the damage of faces: pressure hardly depends on the mesh, damage only grows, and burnt faces are recorded.

struct PressResult {
  float peak = 0.f, integral = 0.f;  // Pa, Pa s
  float force = 0.f;                 // N, the largest
};

// A probe of radius 2.5 mm that moves in 20 frames from above a ball of 6 cm into its top, and back.
struct Stroke {
  glm::dvec3 pivot, first, last;  // m, of the tip
};
constexpr Stroke kTipDown{{0.0, 0.0, 0.3}, {0.0, 0.0, 0.062}, {0.0, 0.0, 0.052}};
constexpr Stroke kShaftDown{{0.3, 0.0, 0.1}, {-0.2, 0.0, 0.0392}, {-0.2, 0.0, 0.0258}};

// `checked` is called after each frame.
template <typename Checked>
PressResult pressed(int subdivisions, const Stroke& stroke, const Checked& checked) {
  const TriangleMesh mesh = shapes::icosphere(subdivisions, 0.06f);
  const Attachment under{{0.f, 0.f, -0.06f}, 0.04f};
  const TissueModel model = make_tissue(mesh.view(), {}, {&under, 1});
  test::Press press{mesh, model};
  std::vector<FaceId> ids;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) ids.push_back(FaceId(f));
  TissueDamage damage;
  damage.resize(mesh.faces.size());
  std::vector<float> pressure(mesh.faces.size());
  glm::dvec3 tip = stroke.first, before = tip;
  PressResult result;
  for (int frame = 0; frame < 40; ++frame, before = tip) {
    tip = glm::mix(stroke.first, stroke.last, frame < 20 ? (frame + 1) / 20.0 : (39 - frame) / 20.0);
    clear_pressure(press.list, pressure);
    const glm::vec3 force = press.frame({stroke.pivot, before, tip, 0.0025}, 1.f / 60.f);
    add_contact_damage(press.list, press.state, ids, press.positions, 1.f / 60.f, pressure, damage);
    result.force = std::max(result.force, glm::length(force));
    checked(damage, pressure);
  }
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    result.peak = std::max(result.peak, damage.peak[f]);
    result.integral = std::max(result.integral, damage.integral[f]);
  }
  clear_pressure(press.list, pressure);
  for (const float p : pressure) EXPECT_EQ(p, 0.f);
  return result;
}

TEST(Damage, PeaksStayAndIntegralsGrow) {
  float last = 0.f;
  const PressResult result = pressed(4, kTipDown, [&](const TissueDamage& damage, std::span<const float> pressure) {
    float total = 0.f;
    for (std::size_t f = 0; f < pressure.size(); ++f) {
      EXPECT_GE(damage.peak[f], pressure[f]);
      total += damage.integral[f];
    }
    EXPECT_GE(total, last);
    last = total;
  });
  EXPECT_GT(result.peak, 0.f);
  // No patch takes more than the whole force.
  EXPECT_LE(result.peak, 2.2f * result.force / ContactParams{}.patch_area);
}

// The same press, by the tip and by the shaft, on meshes of 1,280, 5,120 and 20,480 faces.
TEST(Damage, PressureHardlyDependsOnTheMesh) {
  const auto nothing = [](const TissueDamage&, std::span<const float>) {};
  for (const Stroke& stroke : {kTipDown, kShaftDown}) {
    const PressResult fine = pressed(5, stroke, nothing);
    std::cout << "20480 faces: " << fine.peak * 1e-3f << " kPa at " << fine.force << " N\n";
    for (const int subdivisions : {3, 4}) {
      const PressResult coarse = pressed(subdivisions, stroke, nothing);
      std::cout << shapes::icosphere(subdivisions).faces.size() << " faces: " << coarse.peak * 1e-3f << " kPa at "
                << coarse.force << " N\n";
      // Under a shaft, faces of 8 mm have too few contacts to spread the force evenly.
      const bool few = subdivisions == 3 && stroke.pivot == kShaftDown.pivot;
      EXPECT_NEAR(coarse.peak, fine.peak, (few ? 0.35f : 0.05f) * fine.peak);
    }
  }
}

std::vector<FaceLoad> even_loads(float spacing, int reach, float pressure) {
  std::vector<FaceLoad> loads;
  for (int i = -reach; i <= reach; ++i)
    for (int j = -reach; j <= reach; ++j)
      loads.push_back({0, spacing * glm::vec3(i, j, 0), pressure * spacing * spacing});
  return loads;
}

TEST(Damage, EvenLoadsGiveTheirPressureAndASingleOneTwiceItsShare) {
  const float area = 2e-5f, pressure = 30e3f;
  const glm::vec3 middle(0.f);
  for (const float spacing : {1.3e-4f, 3e-4f, 6e-4f})
    EXPECT_NEAR(patch_pressure(even_loads(spacing, 20, pressure), middle, area), pressure, 0.04f * pressure) << spacing;
  // A patch of a tenth of the disc.
  EXPECT_LT(patch_pressure(even_loads(1e-4f, 7, pressure), middle, area), 0.25f * pressure);
  const FaceLoad single{0, glm::vec3(0.01f), 1.f};
  EXPECT_FLOAT_EQ(patch_pressure({&single, 1}, single.point, area), 2.f / area);
  EXPECT_EQ(patch_pressure({&single, 1}, single.point + glm::vec3(0.f, 0.0026f, 0.f), area), 0.f);
  EXPECT_EQ(patch_pressure({}, single.point, area), 0.f);
}

TEST(Damage, RecordsBurntFaces) {
  TissueDamage damage;
  damage.resize(5);
  const FaceId burnt[] = {FaceId(1), FaceId(4)}, torn[] = {FaceId(4)};
  damage.mark(burnt, kBurnt);
  damage.mark(torn, kTorn);
  EXPECT_EQ(damage.marks, (std::vector<std::uint8_t>{0, kBurnt, 0, 0, kBurnt | kTorn}));
}

// Tests jaws that grip, squeeze, slip and tear, on a fold 5 mm thick that is fixed at its bottom, and clips on thin
// tissue.

using test::Fold;

TEST(Grasp, PointsBetweenJawsAndBack) {
  const test::Grasper tool;
  for (const double opening : {0.3, 0.5, 1.0})
    for (const double y : {-0.001, 0.0, 0.0015}) {
      const dvec3 local(0.001, y, 0.004);
      const JawPoint point = jaw_point(tool.jaws, opening, local);
      EXPECT_LT(glm::distance(position_of(tool.jaws, opening, point), local), 1e-12);
      EXPECT_TRUE(between_jaws(tool.jaws, 0.016, point, 1e-4));
    }
  EXPECT_FALSE(between_jaws(tool.jaws, 0.016, jaw_point(tool.jaws, 0.5, {0.003, 0.0, 0.004}), 0.0)) << "beside them";
  EXPECT_FALSE(between_jaws(tool.jaws, 0.016, jaw_point(tool.jaws, 0.5, {0.0, 0.0, -0.002}), 0.0)) << "before them";
  EXPECT_FALSE(between_jaws(tool.jaws, 0.006, jaw_point(tool.jaws, 0.5, {0.0, 0.0, 0.012}), 0.0)) << "beyond the reach";
}

TEST(Grasp, OpenJawsHoldNothing) {
  Fold fold;
  for (int i = 0; i < 5; ++i) fold.frame({0.0, 0.0, 0.013}, 1.0);
  EXPECT_FALSE(fold.grasp.holding());
  EXPECT_EQ(fold.grasp.pull, glm::vec3(0.f));
}

// Jaws that close beside the fold, with 4 mm of air between fold and jaw, hold nothing.
TEST(Grasp, AGripThroughAirHoldsNothing) {
  for (const double side : {0.0105, -0.0105}) {
    Fold fold(side);
    fold.close_to(0.0, {0.0, side, 0.013});
    EXPECT_FALSE(fold.grasp.holding());
  }
  Fold above;
  above.close_to(0.0, {0.0, 0.0, 0.024});
  EXPECT_FALSE(above.grasp.holding()) << "4 mm above the fold";
}

// Everything held lies between the jaws at the first grip, and stays there.
TEST(Grasp, HoldsTheFoldBetweenTheJaws) {
  Fold fold;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  const RigidFrame frame = frame_at(fold.tool.motion, 1.0);
  for (const GraspedPoint& held : fold.grasp.points) {
    EXPECT_LT(std::abs(fold.mesh.positions[held.vertex].x), 2.6e-3f);
    EXPECT_GT(fold.mesh.positions[held.vertex].z, 0.0120f);
    const dvec3 local = frame.to_local(dvec3(fold.positions[held.vertex]));
    EXPECT_TRUE(between_jaws(fold.tool.jaws, fold.params.reach,
                             jaw_point(fold.tool.jaws, fold.tool.motion.opening_after, local), 1e-3));
  }
  // 3.6 mm wide, 7 mm deep, on one side.
  EXPECT_NEAR(fold.grasp.area, 2.5e-5f, 1.2e-5f);
}

TEST(Grasp, VerticesWithoutFacesAreNotHeld) {
  Fold fold;
  std::vector<char> unused(fold.positions.size(), 1);
  fold.tool.move(Fold::at({0.0, 0.0, 0.013}, 0.45));
  fold.tool.move(Fold::at({0.0, 0.0, 0.013}, 0.44));
  grip(fold.params, fold.tool.jaws, fold.tool.motion,
       {fold.model, fold.positions, fold.mesh.faces, fold.around, unused}, fold.grasp);
  EXPECT_FALSE(fold.grasp.holding());
  grip(fold.params, fold.tool.jaws, fold.tool.motion, {fold.model, fold.positions, fold.mesh.faces, fold.around, {}},
       fold.grasp);
  EXPECT_TRUE(fold.grasp.holding());
}

// The jaws stop on the tissue: the further the handle closes, the thinner the tissue and the larger the squeeze, up to
// the handle's limit. Handle and tissue are in equilibrium.
TEST(Grasp, JawsStopOnTheTissueAndSqueezeFollowsTheHandle) {
  Fold fold;
  fold.close_to(0.35);
  ASSERT_TRUE(fold.grasp.holding());
  const double first = fold.grasp.first_opening;
  // The inner edge of a jaw reaches the top of the fold, 7 mm from the end of the jaws, first.
  EXPECT_NEAR(first, 2.0 * std::atan2(0.0025, 0.016 - 0.007), 0.05);
  double last_opening = first, last_squeeze = -1.0;
  for (const double aperture : {0.3, 0.25, 0.2, 0.1, 0.0}) {
    const double opening = solve_opening(fold.params, fold.tool.jaws, aperture * test::kWidest, fold.grasp);
    const double stretch = opening / first, squeeze = static_cast<double>(fold.grasp.squeeze);
    const double tissue =
        static_cast<double>(fold.grasp.area * fold.tissue.youngs_modulus) / 3.0 * (1.0 / (stretch * stretch) - stretch);
    std::printf("handle %.2f: jaws %.3f, squeeze %.2f N, tissue at %.0f %%\n", aperture, opening / test::kWidest,
                squeeze, 100.0 * stretch);
    EXPECT_NEAR(squeeze, tissue, 1e-3 * tissue + 1e-9);
    EXPECT_LT(opening, last_opening);
    EXPECT_GT(squeeze, last_squeeze);
    EXPECT_LE(squeeze, static_cast<double>(fold.params.squeeze));
    last_opening = opening, last_squeeze = squeeze;
  }
  EXPECT_GT(last_opening, 0.02 * first);
}

// A light grip has a third of the handle's force at the same aperture of the jaws, so the tissue stays thicker.
TEST(Grasp, ALightGripSqueezesLess) {
  Fold fold;
  fold.close_to(0.35);
  ASSERT_TRUE(fold.grasp.holding());
  for (const double aperture : {0.3, 0.15, 0.0}) {
    const double commanded = aperture * test::kWidest;
    const double firm = solve_opening(fold.params, fold.tool.jaws, commanded, fold.grasp);
    const double firm_squeeze = static_cast<double>(fold.grasp.squeeze);
    const double light = solve_opening(fold.params, fold.tool.jaws, commanded, fold.grasp, 1.0 / 3.0);
    const double squeeze = static_cast<double>(fold.grasp.squeeze), stretch = light / fold.grasp.first_opening;
    std::printf("handle %.2f: firm %.2f N, light %.2f N, tissue at %.0f %%\n", aperture, firm_squeeze, squeeze,
                100.0 * stretch);
    EXPECT_GT(light, firm);
    EXPECT_LT(squeeze, (aperture == 0.0 ? 0.5 : 1.0) * firm_squeeze);
    EXPECT_NEAR(squeeze, 4.0 / test::kWidest * (light - commanded), 1e-6);
  }
}

TEST(Grasp, HeldTissueFollowsAndIsReleased) {
  Fold fold;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  const std::uint32_t vertex = fold.grasp.points[0].vertex;
  const float before = fold.positions[vertex].z;
  for (int i = 1; i <= 60; ++i) fold.frame({0.0, 0.0, 0.013 + 0.003 * i / 60}, 0.0);
  EXPECT_NEAR(fold.positions[vertex].z - before, 0.003f, 6e-4f);
  EXPECT_LT(fold.grasp.pull.z, -0.02f);
  fold.frame({0.0, 0.0, 0.016}, 1.0);
  EXPECT_FALSE(fold.grasp.holding());
  for (int i = 0; i < 240; ++i) fold.frame({0.0, 0.0, 0.016}, 1.0);
  EXPECT_LT(glm::distance(fold.positions[vertex], fold.mesh.positions[vertex]), 4e-4f);
}

TEST(Grasp, SlipsAboveTheFrictionLimit) {
  Fold fold;
  fold.params.squeeze = 0.2f, fold.params.tear_from = 100.f;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  const float limit = 2.f * fold.params.friction * fold.grasp.squeeze;
  float most = 0.f;
  bool slipped = false;
  for (int i = 1; i <= 150; ++i) {
    fold.frame({0.0, 0.0, 0.013 + 0.03 * i / 150}, 0.0);
    most = std::max(most, glm::length(fold.grasp.pull));
    slipped = slipped || fold.grasp.slipping;
  }
  EXPECT_TRUE(slipped);
  EXPECT_LE(most, 1.001f * limit);
  EXPECT_GT(most, 0.5f * limit);
  EXPECT_FALSE(fold.grasp.holding());
}

TEST(Grasp, TearsWhenHeldTooFirmlyAndPulledTooHard) {
  Fold fold;
  fold.params.tear_from = 0.4f;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  for (int i = 1; i <= 200 && !fold.grasp.torn; ++i) fold.frame({0.0, 0.0, 0.013 + 0.03 * i / 200}, 0.0);
  EXPECT_TRUE(fold.grasp.torn);
  EXPECT_GT(glm::length(fold.grasp.pull), fold.params.tear_from);
  std::vector<std::uint32_t> cells;
  held_cells(fold.model, fold.grasp, cells);
  EXPECT_FALSE(cells.empty());
  EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
}

TEST(Grasp, TurningTheInstrumentTwistsTheTissue) {
  Fold fold;
  fold.close_to(0.0);
  ASSERT_TRUE(fold.grasp.holding());
  std::uint32_t vertex = fold.grasp.points[0].vertex;
  for (const GraspedPoint& held : fold.grasp.points)
    if (std::abs(fold.positions[held.vertex].x) > std::abs(fold.positions[vertex].x)) vertex = held.vertex;
  const glm::dvec2 before(fold.positions[vertex]);
  for (int i = 1; i <= 30; ++i) fold.frame({0.0, 0.0, 0.013}, 0.0, 0.5 * i / 30);
  const glm::dvec2 after(fold.positions[vertex]);
  // The axis points down: a rotation about it is clockwise seen from above.
  EXPECT_NEAR(std::atan2(before.x * after.y - before.y * after.x, glm::dot(before, after)), -0.5, 0.2);
}

// Tests clips without a session: which points their struts join, their pose, the loss of struts, and that they do not
// shorten the substeps of a light organ by more than the documented share.

// Jaws with a hinge at z = 14 mm, and points between them: `count` pairs along the legs, 1 mm apart from the tips on.
struct HeldPoints {
  PartShape upper, lower;
  Jaws jaws{&upper, &lower, 0.7};
  Grasp grasp;

  HeldPoints() { upper.hinge_z = lower.hinge_z = 0.014; }
  void add(std::uint32_t vertex, double x, double from_hinge, double share) {
    GraspedPoint point{};
    point.vertex = vertex, point.between = {x, from_hinge, share};
    grasp.points.push_back(point);
  }
  void add_pairs(std::uint32_t count) {
    for (std::uint32_t k = 0; k < count; ++k) {
      add(2 * k, 0.0, 0.0135 - 1e-3 * k, 0.4);
      add(2 * k + 1, 2e-4, 0.0135 - 1e-3 * k, -0.4);
    }
  }
};

TEST(Clip, JoinsOppositePointsBetweenTheLegs) {
  HeldPoints held;
  held.add_pairs(12);
  held.add(100, 0.0, 0.010, 0.05);  // at the side of the duct
  held.add(101, 0.01, 0.010, 0.4);  // far from any point of the other jaw
  const Clip clip = clip_on(held.grasp, held.jaws, 0.0085);
  ASSERT_EQ(clip.count, 9u) << "the pairs at most 8.5 mm from the tips";
  for (std::size_t k = 0; k < clip.count; ++k) {
    EXPECT_EQ(clip.struts[k].b, clip.struts[k].a + 1);
    EXPECT_NEAR(double(clip.struts[k].at.x), 1e-4, 1e-9);
    const double from_hinge = 0.0135 - 5e-4 * static_cast<double>(clip.struts[k].a);
    EXPECT_NEAR(double(clip.struts[k].at.y), from_hinge - (0.014 - 0.0085 / 2), 1e-8) << "from the middle of the legs";
  }
}

TEST(Clip, HasAtMostSixteenStrutsAndNoneWithoutTissueOnBothSides) {
  HeldPoints held;
  EXPECT_EQ(clip_on(held.grasp, held.jaws, 0.0085).count, 0u);
  for (std::uint32_t k = 0; k < 40; ++k) held.add(k, 1e-4 * k, 0.012, 0.4);
  EXPECT_EQ(clip_on(held.grasp, held.jaws, 0.0085).count, 0u);
  held.add(40, 2e-3, 0.012, -0.4);
  const Clip clip = clip_on(held.grasp, held.jaws, 0.0085);
  EXPECT_EQ(clip.count, kMostStruts);
  EXPECT_LT(clip.struts[0].a, 5u);
  EXPECT_GT(clip.struts[kMostStruts - 1].a, 34u) << "evenly from all";
}

// Legs along +x, jaws that open along z; the struts' middles lie 1 mm beyond the middle of the legs.
TEST(Clip, PoseIsThatOfTheLegs) {
  Clip clip;
  clip.count = 3;
  std::vector<glm::vec3> positions;
  for (std::uint32_t k = 0; k < 3; ++k) {
    const float along = 1e-3f * static_cast<float>(k);
    clip.struts[k] = {2 * k, 2 * k + 1, {0.f, along}};
    positions.emplace_back(0.02f + along, 0.03f, 0.04f + 4e-4f);
    positions.emplace_back(0.02f + along, 0.03f, 0.04f - 4e-4f);
  }
  const ClipPose pose = pose_of(clip, positions);
  EXPECT_LT(glm::distance(pose.centre, glm::vec3(0.02f, 0.03f, 0.04f)), 1e-6f);
  EXPECT_LT(glm::distance(pose.legs, glm::vec3(1, 0, 0)), 1e-4f);
  EXPECT_LT(glm::distance(pose.across, glm::vec3(0, 0, 1)), 1e-4f);
  EXPECT_NEAR(double(pose.gap), 8e-4, 1e-6);
  EXPECT_NEAR(double(tension_of(clip, positions, 1000.f)), 0.8, 1e-3);
}

TEST(Clip, ASingleStrutStillHasAPose) {
  Clip clip;
  clip.count = 1, clip.struts[0] = {0, 1, {0.f, 0.f}};
  const ClipPose pose = pose_of(clip, std::vector<glm::vec3>{{0, 0, 0}, {0, 0, 0}});
  EXPECT_NEAR(double(glm::length(pose.legs)), 1.0, 1e-5);
  EXPECT_NEAR(double(glm::length(pose.across)), 1.0, 1e-5);
  EXPECT_NEAR(double(glm::dot(pose.legs, pose.across)), 0.0, 1e-5);
}

TEST(Clip, LosesStrutsWhoseEndsHaveNoFaces) {
  Clip clip;
  clip.count = 3;
  for (std::uint32_t k = 0; k < 3; ++k) clip.struts[k] = {2 * k, 2 * k + 1, {}};
  follow_change(std::vector<char>{0, 0, 0, 1, 0, 0}, clip);
  ASSERT_EQ(clip.count, 2u);
  EXPECT_EQ(clip.struts[1].a, 4u);
  follow_change(std::vector<char>{1, 0, 0, 0, 1, 0}, clip);
  EXPECT_EQ(clip.count, 0u);
}

// A very stiff clip on a light duct gets less stiff; a soft one keeps its stiffness.
TEST(Clip, KeepsSubstepsLong) {
  const TubeShape shape{{{0, 0, 0}, {0.04, 0, 0}}, 2e-3};
  const TriangleMesh mesh = tube_surface(shape);
  TissueParams params;
  params.node_spacing = 4e-3f, params.youngs_modulus = 6e4f;
  const TissueModel model = make_tissue(mesh.view(), params, {});
  Clip clip;
  clip.count = 4;
  for (std::uint32_t k = 0; k < 4; ++k) clip.struts[k] = {100 + k, 105 + k, {}};
  Bonds bonds;
  const TissueModel* models[] = {&model};
  EXPECT_FLOAT_EQ(add_struts(clip, model, 1e-3f, bonds), 1e-3f);
  bonds.struts.clear();
  EXPECT_LT(add_struts(clip, model, 1e9f, bonds), 1e6f);
  EXPECT_EQ(bonds.struts.size(), 4u);
  EXPECT_FALSE(bonds.empty());
  measure_slowdown(models, bonds);
  EXPECT_LT(bonds.slowdown[0], 1.51f);
  EXPECT_GT(bonds.slowdown[0], 1.f);
}

}  // namespace

}  // namespace trocar
