// Tests real organs, ours and those of the shared test data if they are present: contact, pressing, burning, cutting.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/sculpt_support.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace organ_contact_organs_test {

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

}  // namespace organ_contact_organs_test

namespace {

// Tests the tissue of real organs: ours, and those of the shared test data if they are present.

// Builds the tissue, checks mass and embedding, presses it for half a second from above, and releases it.
void press_and_release(const TriangleMesh& mesh) {
  std::uint32_t top = 0, bottom = 0;
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v) {
    if (mesh.positions[v].z > mesh.positions[top].z) top = v;
    if (mesh.positions[v].z < mesh.positions[bottom].z) bottom = v;
  }
  const Attachment under{mesh.positions[bottom], 0.03f};
  const TissueModel model = make_tissue(mesh.view(), {}, {&under, 1});
  double mass = 0.0;
  for (const float m : model.mass) mass += m;
  EXPECT_NEAR(mass / (1060.0 * closed_volume(mesh.view())), 1.0, 1e-5);

  test::Press press{mesh, model};
  embed_surface(model, press.state.x, press.positions);
  for (std::size_t v = 0; v < press.positions.size(); ++v)
    EXPECT_LT(glm::distance(press.positions[v], mesh.positions[v]), 2e-7f);

  const glm::dvec3 start = glm::dvec3(mesh.positions[top]) + glm::dvec3(0.0, 0.0, 0.003);
  glm::vec3 force(0.f);
  for (int frame = 1; frame <= 30; ++frame) {
    const glm::dvec3 before = start - glm::dvec3(0.0, 0.0, 3e-4 * (frame - 1)),
                     after = start - glm::dvec3(0.0, 0.0, 3e-4 * frame);
    force = press.frame({start + glm::dvec3(0.0, 0.0, 0.2), before, after, 0.0025}, 1.f / 60.f);
  }
  EXPECT_GT(force.z, 0.01f);
  EXPECT_LT(glm::length(force), 3.f);
  EXPECT_GT(glm::distance(press.positions[top], mesh.positions[top]), 0.003f);
  for (int frame = 0; frame < 240; ++frame) step(model, press.state, {}, 1.f / 60.f);
  EXPECT_LT(test::farthest_from_rest(model, press.state), 2e-4f);
}

TEST(TissueOrgans, OurLiver) { press_and_release(load_mesh(repository_file("data/organs/liver.obj"))); }
TEST(TissueOrgans, OurStomach) { press_and_release(load_mesh(repository_file("data/organs/stomach.obj"))); }

TEST(TissueOrgans, OpenHelpLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "no shared organs here";
  press_and_release(load_mesh(*file));
}

TEST(TissueOrgans, ReportsTheHoleOfADirtyLiver) {
  const auto file = shared_file("organs/gallbladder/liver_visual.stl");
  if (!file) GTEST_SKIP() << "no shared organs here";
  const TriangleMesh mesh = load_mesh(*file);
  const std::string sentence = test::sentence_of([&] { make_tissue(mesh.view(), {}, {}); });
  EXPECT_NE(sentence.find("hole at edge"), std::string::npos) << sentence;
}

// Burns real organs: tests that they are closed after every burn, and measures the time of a burn.

double cpu_milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Times {
  double sum = 0.0, longest = 0.0;
  int count = 0;
  void add(double ms) {
    sum += ms;
    longest = std::max(longest, ms);
    ++count;
  }
  double mean() const { return count > 0 ? sum / count : 0.0; }
};

void burn_at_random(const TriangleMesh& mesh, std::uint32_t seed, int burns) {
  const Attachment hold{mesh.positions[0], 0.04f};
  TissueModel model = make_tissue(mesh.view(), {}, {&hold, 1});
  SteppedTissue state = rest_state(model);
  Sculpture sculpture = make_sculpture(mesh.view(), model);
  EXPECT_NEAR(test::voxel_volume(sculpture) / test::enclosed_volume(sculpture), 1.0, 0.005);

  test::Wander wander(seed);
  std::vector<glm::vec3> positions = mesh.positions;
  Times burning, idle;
  for (int i = 0; i < burns; ++i) {
    if (i % 100 == 0)
      for (std::size_t n = 0; n < state.x.size(); ++n)
        state.x[n] = model.rest[n] + 0.004f * static_cast<float>(i / 100) * wander.somewhere();
    positions.resize(sculpture.rest.size());
    embed_surface(model, state.x, positions);
    const HotSegment hot = wander.next(sculpture, positions, 0.004f);
    const test::Witness witness(sculpture, model);
    const double begin = cpu_milliseconds();
    const bool nothing = burn(sculpture, model, state, hot).nothing();
    (nothing ? idle : burning).add(cpu_milliseconds() - begin);
    if (nothing) continue;
    witness.check(sculpture, model);
    ASSERT_EQ(test::open_edges(faces(sculpture)), 0u) << "burn " << i;
  }
  test::check_carried(sculpture, model);
  const double taken = closed_volume(mesh.view()) - test::enclosed_volume(sculpture);
  std::printf("seed %u: %zu faces, %d burns took %.1f ml: mean %.2f ms, longest %.2f ms; unchanged: mean %.3f ms\n",
              seed, faces(sculpture).size(), burning.count, taken * 1e6, burning.mean(), burning.longest, idle.mean());
  EXPECT_GT(burning.count, burns / 4);
}

TEST(SculptOrgans, OurLiver) { burn_at_random(load_mesh(repository_file("data/organs/liver.obj")), 51, 300); }
TEST(SculptOrgans, OurStomach) { burn_at_random(load_mesh(repository_file("data/organs/stomach.obj")), 52, 300); }

TEST(SculptOrgans, OpenHelpLiver) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) GTEST_SKIP() << "no shared organs here";
  burn_at_random(load_mesh(*file), 53, 300);
}

// Cuts off a lobe through the whole organ, plane by plane of burns, as in a resection.
TEST(SculptOrgans, LobeCutOff) {
  const TriangleMesh mesh = load_mesh(repository_file("data/organs/liver.obj"));
  glm::vec3 low(INFINITY), high(-INFINITY);
  for (const glm::vec3& p : mesh.positions) low = glm::min(low, p), high = glm::max(high, p);
  const Attachment hold{{low.x + 0.3f * (high.x - low.x), high.y, 0.5f * (low.z + high.z)}, 0.04f};
  TissueModel model = make_tissue(mesh.view(), {}, {&hold, 1});
  const SteppedTissue state = rest_state(model);
  Sculpture sculpture = make_sculpture(mesh.view(), model);
  const float x = low.x + 0.75f * (high.x - low.x);
  Times burning;
  std::size_t loose = 0;
  double parting = 0.0;
  for (float z = high.z; z > low.z - 0.004f; z -= 0.003f)
    for (float y = low.y; y < high.y; y += 0.003f) {
      const double begin = cpu_milliseconds();
      const SculptChange& change = burn(sculpture, model, state, {{x, y, z}, {x, y, z + 0.006f}, 0.004f});
      if (change.nothing()) continue;
      burning.add(cpu_milliseconds() - begin);
      if (!change.loose.empty()) parting = cpu_milliseconds() - begin;
      loose += change.loose.size();
    }
  EXPECT_EQ(test::open_edges(faces(sculpture)), 0u);
  EXPECT_GT(loose, 100u);
  for (std::uint32_t c = 0; c < sculpture.cells.size(); ++c)
    if (!sculpture.cells[c].dead) {
      EXPECT_EQ(sculpture.cells[c].loose, model.lattice.position(model.lattice.cells[c].node[0]).x > x - 0.004f);
    }
  std::printf("%zu cells fall; %d burns: mean %.2f ms, longest %.2f ms, the separating one %.2f ms\n", loose,
              burning.count, burning.mean(), burning.longest, parting);
}

// Cuts our liver with blades, at rest and while it is bent: measures the error of the cut and its time.

// Bends the liver smoothly by up to `amount` metres.
void bend(const TissueModel& model, SteppedTissue& state, float amount) {
  for (std::size_t n = 0; n < state.x.size(); ++n) {
    const glm::vec3 p = model.rest[n];
    state.x[n] = p + amount * glm::vec3(std::sin(40.f * p.y), std::sin(50.f * p.z), std::sin(30.f * p.x));
  }
}

// Snips along the liver's lower edge, from the side of the edge towards the middle of the organ.
TEST(SlitOrgans, StraightCutsOfOurLiver) {
  const TriangleMesh mesh = load_mesh(repository_file("data/organs/liver.obj"));
  glm::vec3 low(INFINITY), high(-INFINITY);
  for (const glm::vec3& p : mesh.positions) low = glm::min(low, p), high = glm::max(high, p);
  const Attachment hold{0.5f * (low + high), 0.04f};
  for (const float amount : {0.f, 0.006f}) {
    TissueModel model = make_tissue(mesh.view(), {}, {&hold, 1});
    SteppedTissue state = rest_state(model);
    bend(model, state, amount);
    Sculpture sculpture = make_sculpture(mesh.view(), model);
    const double volume = test::enclosed_volume(sculpture);
    double largest = 0.0, sum = 0.0, time = 0.0, longest = 0.0;
    int cuts = 0;
    for (int i = 1; i < 16; ++i) {
      // The lowest point of the organ near this x.
      std::vector<glm::vec3> positions(sculpture.rest.size());
      embed_surface(model, state.x, positions);
      const float x = low.x + static_cast<float>(i) / 16.f * (high.x - low.x);
      glm::vec3 edge(0.f, INFINITY, 0.f);
      for (const glm::vec3& p : positions)
        if (std::abs(p.x - x) < 0.003f && p.y < edge.y) edge = p;
      const BladeCut cut =
          test::rectangle_cut(edge - glm::vec3(0.f, 0.004f, 0.f), {0.1f, 1.f, 0.05f}, {0.f, 0.f, 1.f}, 0.015f, 0.008f);
      const double begin = cpu_milliseconds();
      const bool nothing = snip(sculpture, model, state, cut).nothing();
      const double taken = cpu_milliseconds() - begin;
      ASSERT_EQ(test::open_edges(faces(sculpture)), 0u) << "cut " << i;
      if (nothing) continue;
      positions.resize(sculpture.rest.size());
      embed_surface(model, state.x, positions);
      const test::CutError error = test::cut_error(sculpture, positions, cut);
      largest = std::max(largest, error.largest), sum += error.mean;
      time += taken, longest = std::max(longest, taken);
      ++cuts;
    }
    std::printf(
        "bent by %.0f mm: %d cuts of %zu faces, error %.3f mm at most, mean %.4f mm; %.2f ms, at most %.2f ms\n",
        1e3 * static_cast<double>(amount), cuts, mesh.faces.size(), 1e3 * largest, 1e3 * sum / cuts, time / cuts,
        longest);
    EXPECT_GT(cuts, 10);
    EXPECT_LT(largest, 5e-4);
    EXPECT_NEAR(test::enclosed_volume(sculpture), volume, 1e-5 * volume);
    test::check_carried(sculpture, model);
    // The organ stays at rest and finite after the cuts.
    state.x = model.rest;
    for (int frame = 0; frame < 3; ++frame) step(model, state, {}, 1.f / 60.f);
    EXPECT_LT(test::farthest_from_rest(model, state), 1e-5f);
  }
}

}  // namespace
}  // namespace trocar
