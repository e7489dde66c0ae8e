#include "tests/gpu_collision/query_checks.hpp"

#include <algorithm>

#include "tests/geometry/random_steps.hpp"
#include "tests/gpu_collision/guest_state.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::checks {
namespace {

using test::Dice;

// Returns a step with the pivot near the surface of the organ and the shaft through it: most tools touch some faces,
// some touch none.
ToolStep step_into_organ(Dice& dice) {
  const glm::dvec3 pivot = dice.uniform(0.08, 0.16) * dice.direction();
  const glm::dvec3 target = dice.in_cube(0.1);
  const double depth = dice.uniform(0.3, 1.2);
  const glm::dvec3 before = pivot + depth * (target - pivot);
  const glm::dvec3 motion = dice.pick(6) == 0 ? glm::dvec3(0.0) : dice.log_uniform(1e-6, 0.1) * dice.direction();
  return {pivot, before, before + motion, dice.log_uniform(1e-4, 0.02)};
}

// Returns a point near the volume; half of them on one of its planes.
glm::vec3 point_near(Dice& dice, const ToolVolume& tool) {
  const ToolStep& step = tool.step;
  const glm::dvec3 tip = glm::mix(step.tip_before, step.tip_after, dice.uniform(0.0, 1.0));
  glm::dvec3 at = glm::mix(step.pivot, tip, dice.uniform(-0.1, 1.1)) + dice.in_cube(2.0 * step.radius);
  if (dice.pick(2)) {
    const glm::dvec4 plane(tool.planes[dice.pick(tool.plane_count)]);
    at -= glm::dvec3(plane) * (glm::dot(glm::dvec3(plane), at) + plane.w);
  }
  return glm::vec3(at);
}

constexpr int kKindsOfFace = 8;

void add_face(TriangleMesh& mesh, Dice& dice, const ToolVolume& tool, int kind) {
  const glm::vec3 at = point_near(dice, tool);
  const auto aside = [&](double length) { return glm::vec3(glm::dvec3(at) + length * dice.direction()); };
  glm::vec3 a = at, b = at, c = at;
  switch (kind) {
    case 0:
      break;  // a point
    case 1:
      b = c = point_near(dice, tool);
      break;  // a line
    case 2:
      b = aside(0.1), c = glm::mix(a, b, float(dice.uniform(-1.0, 2.0)));
      break;  // corners nearly in line
    case 3:
      b = aside(1e-7), c = aside(1e-7);
      break;  // a few float steps
    case 4:
      b = aside(1e-4), c = aside(1e-4);
      break;
    case 5:
      a = aside(5.0), b = aside(5.0), c = aside(5.0);
      break;  // far larger than the volume
    case 6:
      b = aside(100.0), c = aside(1e-6);
      break;  // a needle
    default:
      b = point_near(dice, tool), c = point_near(dice, tool);
      break;
  }
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), {a, b, c});
  mesh.faces.push_back({first, first + 1, first + 2});
}

// Adds a face that the tool's camera sees edge-on: in planes that contain the viewing direction.
void add_edge_on(TriangleMesh& mesh, Dice& dice, const ToolVolume& tool) {
  const glm::dvec3 axis = tool.step.tip_after - tool.step.pivot;
  const glm::dvec3 at(point_near(dice, tool));
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  const glm::dvec3 side = glm::dvec3(dice.pick(2) ? glm::transpose(tool.view)[0] : glm::transpose(tool.view)[1]);
  mesh.positions.insert(mesh.positions.end(), {glm::vec3(at), glm::vec3(at + dice.uniform(-1.0, 1.0) * axis),
                                               glm::vec3(at + dice.uniform(-1.0, 1.0) * axis + 0.02 * side)});
  mesh.faces.push_back({first, first + 1, first + 2});
}

ToolVolume through_organ() { return static_volume({{0.0, 0.0, 0.2}, {0.01, 0.02, -0.2}, 0.004}); }

bool same(const Touch& a, const Touch& b) {
  return a.face == b.face && a.point == b.point && a.normal == b.normal && a.depth == b.depth && a.time == b.time;
}

std::vector<glm::vec3> wobbled(const TriangleMesh& mesh, float phase) {
  std::vector<glm::vec3> moved = mesh.positions;
  for (glm::vec3& p : moved) p += 0.01f * glm::sin(30.f * glm::vec3(p.y, p.z, p.x) + phase);
  return moved;
}

}  // namespace

std::vector<ToolVolume> random_tools(std::uint32_t seed, int count, TouchSet set) {
  Dice dice(seed);
  std::vector<ToolVolume> tools;
  for (int i = 0; i < count; ++i) {
    const ToolStep step = step_into_organ(dice);
    if (set == TouchSet::Exact || i % 3 == 0) {
      tools.push_back(swept_volume(step, Cover::Capsule));
    } else if (i % 3 == 1) {
      tools.push_back(swept_volume(step, Cover::Paper));
    } else {
      tools.push_back(static_volume({step.pivot, step.tip_after, step.radius}));
    }
  }
  return tools;
}

TriangleMesh hostile_faces(std::uint32_t seed, const ToolVolume& tool) {
  Dice dice(seed);
  TriangleMesh mesh;
  for (int i = 0; i < 40; ++i) {
    for (int kind = 0; kind < kKindsOfFace; ++kind) add_face(mesh, dice, tool, kind);
    add_edge_on(mesh, dice, tool);
  }
  const std::size_t once = mesh.faces.size();
  for (std::size_t i = 0; i < once; i += 7) mesh.faces.push_back(mesh.faces[i]);
  return mesh;
}

std::size_t expect_agreement(TouchQuery& query, const MeshView& mesh, std::span<const ToolVolume> tools, TouchSet set,
                             const std::string& what) {
  const TouchList list = query.touched(tools, set);
  EXPECT_EQ(list.first.size(), tools.size() + 1) << what;
  EXPECT_EQ(list.first.front(), 0u) << what;
  EXPECT_EQ(list.first.back(), list.touches.size()) << what;
  for (std::size_t tool = 0; tool < tools.size(); ++tool) {
    const ReferenceAnswer reference = reference_touched(mesh, tools[tool], set);
    const Agreement agreement = compare_with_reference(reference, list.of_tool(tool));
    EXPECT_EQ(agreement.disagreements, 0u) << query.name() << ", " << what << ", tool " << tool << ", seed " << kSeed
                                           << ": " << agreement.in_both << " in both, " << list.of_tool(tool).size()
                                           << " answered, " << reference.touched.size() << " in the reference";
  }
  return list.touches.size();
}

void check_random_tools(TouchQuery& query, TouchSet set, int tools) {
  const TriangleMesh mesh = shapes::joined(shapes::icosphere(3), shapes::random_soup(kSeed, 300, 0.2f, 0.05f));
  query.rebuild(mesh.view());
  std::size_t touches = 0;
  for (const ToolVolume& tool : random_tools(kSeed, tools, set))
    touches += expect_agreement(query, mesh.view(), std::span(&tool, 1), set, "random tools");
  EXPECT_GT(touches, static_cast<std::size_t>(tools));
}

void check_hostile_faces(TouchQuery& query, TouchSet set, int tools) {
  std::uint32_t seed = kSeed;
  std::size_t touches = 0;
  for (const ToolVolume& tool : random_tools(kSeed + 1, tools, set)) {
    const TriangleMesh mesh = hostile_faces(++seed, tool);
    query.rebuild(mesh.view());
    touches += expect_agreement(query, mesh.view(), std::span(&tool, 1), set, "difficult faces");
  }
  EXPECT_GT(touches, static_cast<std::size_t>(20 * tools));
}

void check_switches_of_case(TouchQuery& query) {
  Dice dice(kSeed + 9);
  const TriangleMesh mesh = shapes::joined(shapes::icosphere(2), shapes::random_soup(kSeed, 200, 0.4f, 0.1f));
  query.rebuild(mesh.view());
  const std::vector<ToolStep> steps = test::switch_steps(dice);
  const std::size_t stride = steps.size() / 150 + 1;
  for (std::size_t i = 0; i < steps.size(); i += stride) {
    for (const Cover cover : {Cover::Capsule, Cover::Paper}) {
      const ToolVolume tool = swept_volume(steps[i], cover);
      expect_agreement(query, mesh.view(), std::span(&tool, 1), TouchSet::Volume, "step " + std::to_string(i));
    }
  }
}

void check_tiny_volumes(TouchQuery& query) {
  Dice dice(kSeed + 10);
  const TriangleMesh mesh = shapes::icosphere(3);
  query.rebuild(mesh.view());
  std::size_t touches = 0;
  for (int i = 0; i < 60; ++i) {
    const glm::dvec3 skin(mesh.positions[dice.pick(static_cast<int>(mesh.positions.size()))]);
    const double size = dice.log_uniform(2e-6, 2e-4);
    const ToolStep step{skin, skin + size * dice.direction(), skin + size * dice.direction(),
                        dice.uniform(0.5, 1.0) * size};
    const ToolVolume tool =
        i % 2 ? swept_volume(step, Cover::Capsule) : static_volume({skin, step.tip_after, step.radius});
    touches += expect_agreement(query, mesh.view(), std::span(&tool, 1), TouchSet::Volume, "tiny volume");
  }
  EXPECT_GT(touches, 60u);
}

void check_several_tools(TouchQuery& query) {
  const TriangleMesh mesh = shapes::icosphere(3);
  query.rebuild(mesh.view());
  for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
    for (const int count : {1, 2, 3, 4, 5, 8, 11}) {
      const std::vector<ToolVolume> tools = random_tools(kSeed + 2, count, set);
      expect_agreement(query, mesh.view(), tools, set, std::to_string(count) + " tools");
    }
  }
}

void check_nothing_to_do(TouchQuery& query) {
  const ToolVolume tool = through_organ();
  query.rebuild({});
  query.update({});
  EXPECT_EQ(expect_agreement(query, {}, std::span(&tool, 1), TouchSet::Volume, "no face"), 0u);
  const TriangleMesh mesh = shapes::icosphere(1);
  query.rebuild(mesh.view());
  EXPECT_EQ(expect_agreement(query, mesh.view(), {}, TouchSet::Volume, "no tool"), 0u);
  const ToolVolume elsewhere = static_volume({{1.0, 1.0, 1.0}, {1.1, 1.0, 1.0}, 0.005});
  EXPECT_EQ(expect_agreement(query, mesh.view(), std::span(&elsewhere, 1), TouchSet::Volume, "no touch"), 0u);
}

void check_single_faces(TouchQuery& query) {
  const ToolVolume tool = through_organ();
  TriangleMesh mesh;
  mesh.positions = {{0.f, 0.f, 0.f}, {0.1f, 0.f, 0.f}, {0.f, 0.1f, 0.f}};
  const glm::uvec3 faces[] = {{0, 1, 2}, {2, 1, 0}, {0, 0, 0}, {0, 1, 1}, {1, 1, 2}};
  for (const glm::uvec3& face : faces) {
    mesh.faces = {face};
    query.rebuild(mesh.view());
    expect_agreement(query, mesh.view(), std::span(&tool, 1), TouchSet::Volume, "one face");
  }
}

void check_everything_inside(TouchQuery& query) {
  // More hits than any initial size of a result buffer.
  const TriangleMesh mesh = shapes::sphere_of(6000, 0.01f);
  const ToolVolume tools[] = {
      static_volume({{0.0, 0.0, 0.2}, {0.0, 0.0, -0.2}, 0.02}),
      swept_volume({{0.0, 0.0, 0.2}, {-0.1, 0.0, -0.1}, {0.1, 0.0, -0.1}, 0.02}, Cover::Capsule)};
  query.rebuild(mesh.view());
  for (int frame = 0; frame < 2; ++frame) {
    const TouchList list = query.touched(tools, TouchSet::Volume);
    ASSERT_EQ(list.first.size(), 3u);
    for (std::size_t tool = 0; tool < 2; ++tool) {
      ASSERT_EQ(list.of_tool(tool).size(), mesh.faces.size());
      for (std::size_t i = 0; i < mesh.faces.size(); ++i) ASSERT_EQ(index(list.of_tool(tool)[i].face), i);
    }
  }
}

void check_new_positions(TouchQuery& query) {
  TriangleMesh mesh = shapes::icosphere(3);
  query.rebuild(mesh.view());
  const std::vector<ToolVolume> tools = random_tools(kSeed + 3, 2, TouchSet::Volume);
  const TriangleMesh rest = mesh;
  for (int frame = 0; frame < 5; ++frame) {
    mesh.positions = wobbled(rest, float(frame));
    query.update(mesh.positions);
    expect_agreement(query, mesh.view(), tools, TouchSet::Volume, "frame " + std::to_string(frame));
  }
}

void check_new_topology(TouchQuery& query) {
  const std::vector<ToolVolume> tools = random_tools(kSeed + 4, 2, TouchSet::Volume);
  const TriangleMesh meshes[] = {shapes::icosphere(3), shapes::cube(), shapes::torus(40, 20), shapes::icosphere(0)};
  for (const TriangleMesh& mesh : meshes) {
    query.rebuild(mesh.view());
    expect_agreement(query, mesh.view(), tools, TouchSet::Volume, "rebuilt");
  }
}

void check_repeatable(TouchQuery& query) {
  const TriangleMesh mesh = shapes::icosphere(3);
  const std::vector<ToolVolume> tools = random_tools(kSeed + 5, 3, TouchSet::Exact);
  std::vector<Touch> golden;
  for (int run = 0; run < 2; ++run) {
    query.rebuild(mesh.view());
    std::vector<Touch> touches;
    int touching = 0;
    for (int frame = 0; frame < 100; ++frame) {
      query.update(wobbled(mesh, 0.1f * float(frame)));
      const TouchList list = query.touched(tools, TouchSet::Exact);
      touching += !list.touches.empty();
      touches.insert(touches.end(), list.touches.begin(), list.touches.end());
    }
    if (run == 0) golden = touches;
    EXPECT_GT(touching, 90) << "too few frames touch anything for this test to be meaningful";
    EXPECT_GT(touches.size(), 1000u);
    EXPECT_TRUE(std::equal(golden.begin(), golden.end(), touches.begin(), touches.end(), same));
  }
}

void check_no_allocation(TouchQuery& query) {
  const TriangleMesh mesh = shapes::sphere_of(1500);
  query.rebuild(mesh.view());
  const std::vector<ToolVolume> volumes = random_tools(kSeed + 6, 3, TouchSet::Volume);
  const std::vector<ToolVolume> capsules = random_tools(kSeed + 6, 3, TouchSet::Exact);
  const std::vector<glm::vec3> frames[] = {wobbled(mesh, 0.f), wobbled(mesh, 1.f), wobbled(mesh, 2.f)};
  const auto run = [&] {
    for (const std::vector<glm::vec3>& positions : frames) {
      query.update(positions);
      query.touched(volumes, TouchSet::Volume);
      query.touched(capsules, TouchSet::Exact);
    }
  };
  run();
  run();
  const std::uint64_t before = allocations_so_far();
  for (int i = 0; i < 5; ++i) run();
  EXPECT_EQ(allocations_so_far() - before, 0u);
}

void check_times(TouchQuery& query) {
  const TriangleMesh mesh = shapes::icosphere(4);
  query.rebuild(mesh.view());
  const std::vector<ToolVolume> tools = random_tools(kSeed + 7, 2, TouchSet::Volume);
  for (int frame = 0; frame < 5; ++frame) {
    query.update(mesh.positions);
    query.touched(tools, TouchSet::Volume);
    const StageTimes& times = query.times();
    EXPECT_GT(times.update_ms, 0.0);
    EXPECT_GT(times.submit_ms, 0.0);
    EXPECT_GE(times.gpu_ms, 0.0);
    EXPECT_GT(times.read_back_ms, 0.0);
    EXPECT_GT(times.refine_ms, 0.0);
    EXPECT_EQ(times.search_ms, 0.0);
  }
  EXPECT_GE(query.memory_bytes(), mesh.positions.size() * sizeof(glm::vec3));
}

void check_good_guest(const std::function<std::unique_ptr<TouchQuery>()>& make, const GlInfo& info) {
  TriangleMesh mesh = shapes::icosphere(3);
  const std::vector<ToolVolume> tools = random_tools(kSeed + 8, 5, TouchSet::Volume);
  const std::vector<std::string> usual = gl_snapshot(info);
  HostileRenderer renderer(info);
  const std::vector<std::string> before = gl_snapshot(info);
  // The renderer's values must differ from the defaults, or a restore to the default would pass.
  for (std::size_t i = 0; i < usual.size(); ++i) EXPECT_NE(usual[i], before[i]) << "the renderer must set it";
  const auto query = make();
  EXPECT_EQ(gl_snapshot(info), before) << "after construction";
  query->rebuild(mesh.view());
  EXPECT_EQ(gl_snapshot(info), before) << "after rebuild";
  mesh.positions = wobbled(mesh, 1.f);
  query->update(mesh.positions);
  EXPECT_EQ(gl_snapshot(info), before) << "after update";
  EXPECT_GT(expect_agreement(*query, mesh.view(), tools, TouchSet::Volume, "in the context of a renderer"), 0u);
  EXPECT_EQ(gl_snapshot(info), before) << "after touched";
  renderer.swap_slots(info);
  const std::vector<std::string> swapped = gl_snapshot(info);
  EXPECT_NE(swapped, before);
  EXPECT_GT(expect_agreement(*query, mesh.view(), tools, TouchSet::Volume, "in the context of a renderer"), 0u);
  EXPECT_EQ(gl_snapshot(info), swapped) << "after touched, with swapped slots";
}

}  // namespace trocar::checks
