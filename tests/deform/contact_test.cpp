#include "deform/contact.hpp"

#include "tests/deform/deform_support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar {
namespace {

constexpr double kRadius = 0.0025;

// A shaft coming down the z axis onto the sphere's top at z = 0.1.
ToolStep down_to(double tip_z, double from_z, double x = 0.0) {
  return {{x, 0.0, 0.3}, {x, 0.0, from_z}, {x, 0.0, tip_z}, kRadius};
}

glm::vec3 point_of(const TissueContact& c, std::span<const glm::vec3> positions) {
  return (1.f - c.u - c.v) * positions[c.vertex] + c.u * positions[c.second] + c.v * positions[c.third];
}

ContactList contacts_of(const ToolStep& tool, const TriangleMesh& mesh) {
  ContactList list;
  list.begin_frame();
  contacts_from_touches(tool, test::touches_of(tool, mesh.view()), mesh.faces, mesh.positions, list);
  return list;
}

TEST(Contacts, MovedByItsDepthEachPointTouchesTheEndPose) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const ToolStep tool = down_to(0.1, 0.101);
  const ContactList list = contacts_of(tool, mesh);
  ASSERT_GT(list.contacts.size(), 5u);
  double deepest = 0.0;
  for (const TissueContact& c : list.contacts) {
    EXPECT_NEAR(glm::length(c.normal), 1.f, 1e-5f);
    const glm::dvec3 p = glm::dvec3(point_of(c, mesh.positions)) - double(c.depth) * glm::dvec3(c.normal);
    const double distance =
        p.z > tool.tip_after.z ? glm::length(glm::dvec2(p.x, p.y)) : glm::distance(p, tool.tip_after);
    EXPECT_NEAR(distance, kRadius - kContactSlack, 1e-6);
    deepest = std::max(deepest, double(c.depth));
  }
  EXPECT_NEAR(deepest, kRadius - kContactSlack, 3e-4);
}

TEST(Contacts, NoTouchNoContact) {
  const TriangleMesh mesh = shapes::icosphere(4);
  EXPECT_TRUE(contacts_of(down_to(0.12, 0.12), mesh).contacts.empty());
}

TEST(Contacts, ToolThatPassedPushesAlongItsFirstTouch) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const ContactList list = contacts_of(down_to(0.085, 0.105), mesh);
  float deepest = 0.f;
  for (const TissueContact& c : list.contacts)
    if (c.depth > deepest && c.normal.z > 0.9f) deepest = c.depth;
  EXPECT_NEAR(deepest, 0.1 - 0.085 + kRadius - kContactSlack, 1e-3);
}

TEST(Contacts, FaceThatLeftIsRememberedWhileInReach) {
  const TriangleMesh mesh = shapes::icosphere(5);
  ContactList list;
  const auto frame = [&](const ToolStep& tool) {
    list.begin_frame();
    contacts_from_touches(tool, test::touches_of(tool, mesh.view()), mesh.faces, mesh.positions, list);
    return list.contacts.size();
  };
  EXPECT_GT(frame(down_to(0.102, 0.102)), 0u);
  const double above = 0.1 + kRadius + 0.5 * kContactReach;
  EXPECT_GT(frame(down_to(above, above)), 0u);
  for (const TissueContact& c : list.contacts) EXPECT_LT(c.depth, 0.f);
  const double far = 0.1 + kRadius + 2.0 * kContactReach;
  EXPECT_EQ(frame(down_to(far, far)), 0u);
  EXPECT_EQ(frame(down_to(above, above)), 0u);
}

TEST(Contacts, ToolsKeepTheirOwnContactsAndForces) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const Attachment ball{{0.f, 0.f, -0.1f}, 0.04f};
  TissueParams params;
  params.node_spacing = 0.012f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  TissueState state = rest_state(model);
  const ToolStep above = down_to(0.1, 0.101), idle = down_to(0.2, 0.2);
  const ToolStep beside{{0.3, 0.0, 0.0}, {0.101, 0.0, 0.0}, {0.1, 0.0, 0.0}, kRadius};
  ContactList list;
  list.begin_frame();
  for (const ToolStep& tool : {above, idle, beside})
    contacts_from_touches(tool, test::touches_of(tool, mesh.view()), mesh.faces, mesh.positions, list);
  ASSERT_EQ(list.first.size(), 4u);
  EXPECT_EQ(list.first[1], list.first[2]);
  const glm::vec3 total = step(model, state, list.contacts, 1.f / 60.f);
  const glm::vec3 first = contact_force(state, list.first[0], list.first[1]);
  const glm::vec3 second = contact_force(state, list.first[1], list.first[2]);
  const glm::vec3 third = contact_force(state, list.first[2], list.first[3]);
  EXPECT_GT(first.z, 0.01f);
  EXPECT_EQ(second, glm::vec3(0.f));
  EXPECT_GT(third.x, 0.01f);
  EXPECT_LT(glm::distance(total, first + third), 1e-4f * glm::length(total));
}

TEST(Contacts, MaterialBesideTheShaftMovesWithIt) {
  const TriangleMesh mesh = shapes::icosphere(5);
  const glm::dvec3 drag(0.002, 0.0, 0.0);
  const ToolStep swing{{0.0, 0.0, 0.3}, {0.0, 0.0, 0.1}, glm::dvec3(0.0, 0.0, 0.1) + drag, kRadius};
  const ContactList swung = contacts_of(swing, mesh);
  ASSERT_FALSE(swung.contacts.empty());
  for (const TissueContact& c : swung.contacts) EXPECT_LT(glm::distance(c.slide, glm::vec3(drag)), 2e-4f);
  for (const TissueContact& c : contacts_of(down_to(0.1, 0.101), mesh).contacts)
    EXPECT_LT(glm::distance(c.slide, glm::vec3(0.f, 0.f, -0.001f)), 1e-6f);
}

TEST(Contacts, WarmFramesAllocateNothing) {
  const TriangleMesh mesh = shapes::icosphere(4);
  const Attachment ball{{0.f, 0.f, -0.1f}, 0.04f};
  TissueParams params;
  params.node_spacing = 0.015f;
  const TissueModel model = make_tissue(mesh.view(), params, {&ball, 1});
  TissueState state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  std::vector<std::vector<Touch>> touches;
  std::vector<ToolStep> tools;
  for (int i = 0; i < 20; ++i) {
    tools.push_back(down_to(0.103 - 5e-4 * i, 0.103 - 5e-4 * (i - 1)));
    touches.push_back(test::touches_of(tools.back(), mesh.view()));
  }
  ContactList list;
  std::uint64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    if (round == 1) before = allocations_so_far();
    for (std::size_t i = 0; i < tools.size(); ++i) {
      list.begin_frame();
      contacts_from_touches(tools[i], touches[i], mesh.faces, mesh.positions, list);
      step(model, state, list.contacts, 1.f / 60.f);
      embed_surface(model, state.x, positions);
    }
  }
  EXPECT_EQ(allocations_so_far(), before);
}

}  // namespace
}  // namespace trocar
