// Tests contact of real organ shapes: at rest nothing moves, and organs pressed together do not interpenetrate.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "mesh/mesh_io.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

constexpr float kFrame = 1.f / 60.f;  // s

TissueModel organ_model(const TriangleMesh& mesh, float modulus, std::span<const Attachment> attachments) {
  TissueParams params;
  params.youngs_modulus = modulus;
  params.node_spacing = 0.009f;
  return make_tissue(mesh.view(), params, attachments);
}

// Returns the organs with the poses of data/scenes/liver_and_stomach.toml.
test::OrganGroup scene_group() {
  const TriangleMesh liver = load_mesh(repository_file("data/organs/liver.obj"));
  const TriangleMesh stomach = load_mesh(repository_file("data/organs/stomach.obj"));
  const Attachment to_diaphragm{{-0.060f, 0.120f, 0.060f}, 0.045f}, to_gullet{{0.010f, 0.150f, 0.095f}, 0.030f};
  return {{liver, stomach},
          {organ_model(liver, 6e3f, {&to_diaphragm, 1}), organ_model(stomach, 4e3f, {&to_gullet, 1})}};
}

// Returns an attachment: a ball of the organ's tissue that is farthest from the other organ.
Attachment hold_far_side(const TriangleMesh& mesh, const glm::vec3& other) {
  Attachment hold{mesh.positions[0], 0.04f};
  for (const glm::vec3& p : mesh.positions)
    if (glm::distance(p, other) > glm::distance(hold.centre, other)) hold.centre = p;
  return hold;
}

glm::vec3 middle_of(const TriangleMesh& mesh) {
  glm::dvec3 sum(0.0);
  for (const glm::vec3& p : mesh.positions) sum += glm::dvec3(p);
  return glm::vec3(sum / static_cast<double>(mesh.positions.size()));
}

struct Times {
  double find_us = 0.0, solve_us = 0.0;
  std::size_t contacts = 0;
};

template <class Action>
double microseconds(Action action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// Times of the search and of the pushes in one substep, for the present state.
Times measure(test::OrganGroup& group) {
  constexpr int kRepeats = 20;
  Times times{1e9, 1e9, 0};
  for (int i = 0; i < kRepeats; ++i) times.find_us = std::min(times.find_us, microseconds([&] { group.find(kFrame); }));
  for (std::size_t k = 0; k < group.models.size(); ++k) begin_step(group.models[k], group.states[k], {});
  for (int i = 0; i < kRepeats; ++i)
    times.solve_us = std::min(times.solve_us, microseconds([&] {
                                solve_organ_contacts(group.model_list, group.state_list, 1e-3f, group.contacts);
                              }));
  times.contacts = group.contacts.contacts.size();
  return times;
}

void expect_no_motion_at_rest(test::OrganGroup& group) {
  std::vector<std::vector<glm::vec3>> rest;
  for (const SteppedTissue& state : group.states) rest.push_back(state.x);
  for (int frame = 0; frame < 20; ++frame) {
    group.frame(kFrame);
    ASSERT_TRUE(group.contacts.contacts.empty()) << "frame " << frame << ", " << group.contacts.contacts.size();
  }
  for (std::size_t k = 0; k < rest.size(); ++k) {
    float farthest = 0.f;
    for (std::size_t i = 0; i < rest[k].size(); ++i)
      farthest = std::max(farthest, glm::distance(group.states[k].x[i], rest[k][i]));
    EXPECT_LT(farthest, 1e-5f);
  }
}

// Pulls the second organ against the last of the others with `pull` m/s^2 for a second and a half.
void expect_they_hold_off(test::OrganGroup& group, float pull) {
  const std::uint32_t other = group.models.size() == 3 ? 2 : 0;
  const glm::vec3 towards = glm::normalize(glm::vec3(group.centre(other) - group.centre(1)));
  for (glm::vec3& g : group.models[1].gravity) g = pull * towards;
  const glm::dvec3 before = group.centre(other);
  float deepest = 0.f;
  glm::vec3 force(0.f), strongest(0.f);
  for (int frame = 0; frame < 90; ++frame) {
    group.frame(kFrame);
    deepest = std::max(deepest, group.deepest());
    force = organ_force(group.contacts, other, kFrame);
    if (glm::length(force) > glm::length(strongest)) strongest = force;
    glm::vec3 sum(0.f);
    for (std::uint32_t k = 0; k < group.models.size(); ++k) sum += organ_force(group.contacts, k, kFrame);
    EXPECT_LT(glm::length(sum), 1e-3f);
  }
  const float at_last = group.deepest();
  const Times times = measure(group);
  std::printf("pressed: force up to %.2f N, deepest overlap %.2f mm, final overlap %.2f mm, other moved %.2f mm\n",
              glm::length(force), deepest * 1e3f, at_last * 1e3f, glm::length(group.centre(other) - before) * 1e3);
  std::printf("pressed: search %.0f us a frame, pushes %.1f us a substep, %zu contacts, nodes at up to %.3f m/s\n",
              times.find_us, times.solve_us, times.contacts,
              *std::max_element(group.contacts.fastest.begin(), group.contacts.fastest.end()));
  EXPECT_GT(glm::dot(strongest, towards), 0.1f);
  EXPECT_GT(glm::dot(group.centre(other) - before, glm::dvec3(towards)), 0.0);
  EXPECT_LT(deepest, 4e-3f);
  EXPECT_LT(at_last, 1e-3f);
}

std::vector<TriangleMesh> openhelp() {
  std::vector<TriangleMesh> meshes;
  for (const char* name : {"Liver", "Stomach", "Duodenum"})
    if (const auto file = shared_file(std::string("organs/openhelp/") + name + ".stl"))
      meshes.push_back(load_mesh(*file));
  return meshes;
}

TEST(OrgansInContact, SceneAtRestDoesNotMove) {
  test::OrganGroup group = scene_group();
  expect_no_motion_at_rest(group);
  const Times times = measure(group);
  std::printf(
      "at rest: search %.0f us a frame, pushes %.1f us a substep, %zu contacts, lattices of %zu and %zu cells\n",
      times.find_us, times.solve_us, times.contacts, group.models[0].lattice.cells.size(),
      group.models[1].lattice.cells.size());
  for (glm::vec3& x : group.states[1].x) x += 1.f;
  embed_surface(group.models[1], group.states[1].x, group.surfaces[1]);
  std::printf("apart: search %.0f us a frame\n", measure(group).find_us);
}

TEST(OrgansInContact, SceneOrgansKeepEachOtherOut) {
  test::OrganGroup group = scene_group();
  expect_they_hold_off(group, 4.f);
}

TEST(OrgansInContact, OpenHelp) {
  const std::vector<TriangleMesh> meshes = openhelp();
  if (meshes.size() < 3) GTEST_SKIP() << "no shared organs here";
  std::vector<TissueModel> models;
  for (std::size_t k = 0; k < 3; ++k) {
    const Attachment hold = hold_far_side(meshes[k], middle_of(meshes[k == 1 ? 2 : 1]));
    models.push_back(organ_model(meshes[k], k == 0 ? 6e3f : 4e3f, {&hold, 1}));
  }
  test::OrganGroup group(meshes, std::move(models));
  float overlap = 0.f;
  for (const std::vector<float>& zero : group.contacts.zero)
    for (const float z : zero) overlap = std::min(overlap, z);
  std::printf("OpenHELP: overlap at rest %.1f mm\n", -overlap * 1e3f);
  EXPECT_LT(overlap, -0.010f);
  expect_no_motion_at_rest(group);
  expect_they_hold_off(group, 6.f);
}

}  // namespace
}  // namespace trocar
