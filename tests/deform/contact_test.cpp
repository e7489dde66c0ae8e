// Tests contacts of tools with the surface: their points and normals, several tools, faces between jaws, friction,
// allocations.
#include "deform/contact/contact.hpp"

#include <cmath>

#include "tests/deform/deform_support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar {
namespace {

constexpr double kRadius = 0.0025;

// Returns a shaft that moves down the z axis onto the sphere's top at z = 0.1.
ToolStep down_to(double tip_z, double from_z, double x = 0.0) {
  return {{x, 0.0, 0.3}, {x, 0.0, from_z}, {x, 0.0, tip_z}, kRadius};
}

glm::vec3 point_of(const TissueContact& c, std::span<const glm::vec3> positions) {
  return (1.f - c.u - c.v) * positions[c.vertex] + c.u * positions[c.second] + c.v * positions[c.third];
}

ContactList contacts_of(const ToolStep& tool, const TriangleMesh& mesh) {
  ContactList list;
  test::contacts_of(tool, test::touches_of(tool, mesh.view()), mesh.faces, mesh.positions, list);
  return list;
}

double from_axis(const ToolStep& tool, const glm::dvec3& p) {
  return closest_segment_triangle(tool.pivot, tool.tip_after, {p, p, p}).distance;
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
    const glm::dvec3 p(point_of(c, mesh.positions));
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
  TriangleMesh mesh = shapes::icosphere(5, 0.06f);
  for (glm::vec3& p : mesh.positions) p.z *= 0.667f;
  const Attachment under{{0.f, 0.f, -0.04f}, 0.035f};
  for (const float friction : {0.f, 0.1f, 0.3f}) {
    TissueParams params;
    params.friction = friction;
    const TissueModel model = make_tissue(mesh.view(), params, {&under, 1});
    test::Press press{mesh, model};
    glm::dvec3 tip(0.1, 0.0, 0.044), before = tip;
    glm::vec3 force(0.f);
    for (int frame = 0; frame < 90; ++frame, before = tip) {
      if (frame < 30) tip.z -= 1.5e-4;
      if (frame >= 30) tip.x += 3e-4;
      force = press.frame({{-0.3, 0.0, tip.z}, before, tip, kRadius}, 1.f / 60.f);
    }
    EXPECT_GT(force.z, 0.2f);
    EXPECT_NEAR(force.x / force.z, -friction, 0.1 * friction + 0.01) << friction;
    EXPECT_LT(std::abs(force.y), 0.15f * force.z);
  }
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
  std::uint64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    if (round == 1) before = allocations_so_far();
    for (std::size_t i = 0; i < tools.size(); ++i) {
      begin_candidates(list);
      add_candidates(tools[i], touches[i], mesh.faces, around, mesh.positions, list);
      begin_contacts(list);
      add_contacts(tools[i], mesh.faces, mesh.positions, list);
      step(model, state, {{&tools[i], 1}, list.contacts, {}}, 1.f / 60.f);
      embed_surface(model, state.x, positions);
    }
  }
  EXPECT_EQ(allocations_so_far(), before);
}

}  // namespace
}  // namespace trocar
