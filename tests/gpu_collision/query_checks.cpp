#include "tests/gpu_collision/query_checks.hpp"

#include <glad/gl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <vector>

#include "mesh/triangle_mesh.hpp"
#include "tests/geometry/random_steps.hpp"
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
    if (set == TouchSet::Exact || i % 3 == 0)
      tools.push_back(swept_volume(step, Cover::Capsule));
    else if (i % 3 == 1)
      tools.push_back(swept_volume(step, Cover::Paper));
    else
      tools.push_back(static_volume({step.pivot, step.tip_after, step.radius}));
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
  for (std::size_t i = 0; i < steps.size(); i += stride)
    for (const Cover cover : {Cover::Capsule, Cover::Paper}) {
      const ToolVolume tool = swept_volume(steps[i], cover);
      expect_agreement(query, mesh.view(), std::span(&tool, 1), TouchSet::Volume, "step " + std::to_string(i));
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
  for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact})
    for (const int count : {1, 2, 3, 4, 5, 8, 11}) {
      const std::vector<ToolVolume> tools = random_tools(kSeed + 2, count, set);
      expect_agreement(query, mesh.view(), tools, set, std::to_string(count) + " tools");
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

namespace {

// Returns shapes with different numbers of faces and vertices; one is empty.
TriangleMesh some_mesh(Dice& dice) {
  const auto kind = dice.pick(7);
  if (kind == 0) return shapes::icosphere(dice.pick(4));
  if (kind == 1) return shapes::cube(0.15f);
  if (kind == 2) return shapes::torus(8 + dice.pick(20), 4 + dice.pick(10));
  if (kind == 3)
    return shapes::random_soup(static_cast<std::uint32_t>(dice.pick(1000)),
                               1 + static_cast<std::size_t>(dice.pick(400)), 0.2f, 0.05f);
  if (kind == 4) return dice.pick(2) ? TriangleMesh{} : shapes::icosphere(0);
  return shapes::icosphere(2 + dice.pick(2));
}

struct Answer {
  std::vector<Touch> touches;
  std::vector<std::uint32_t> first{0};

  Answer() = default;
  explicit Answer(const TouchList& list)
      : touches(list.touches.begin(), list.touches.end()), first(list.first.begin(), list.first.end()) {}
};

// One object and its current mesh.
class Sequence {
 public:
  Sequence(std::uint32_t seed, const QueryMaker& make, const QueryMaker& make_fresh)
      : dice_(seed), make_fresh_(make_fresh), query_(make()) {
    rebuild();
  }

  void call() {
    const int what = dice_.pick(12);
    if (what < 1) return rebuild();
    if (what < 4) return change_faces();
    if (what < 6) return update();
    touch();
  }

  std::size_t touches = 0, calls_that_touch = 0;
  std::string story;  // the calls so far, for the failure message

 private:
  void rebuild() {
    mesh_ = some_mesh(dice_);
    query_->rebuild(mesh_.view());
    story += " rebuild(" + std::to_string(mesh_.faces.size()) + ")";
  }

  void change_faces() {
    const std::vector<FaceId> removed = test::random_change(dice_, mesh_);
    query_->change_faces(mesh_.view(), removed);
    story += " change_faces(-" + std::to_string(removed.size()) + ", " + std::to_string(mesh_.faces.size()) + ")";
  }

  void update() {
    for (glm::vec3& p : mesh_.positions)
      p += 0.005f * glm::sin(30.f * glm::vec3(p.y, p.z, p.x) + float(dice_.uniform(0.0, 6.0)));
    query_->update(mesh_.positions);
    story += " update";
  }

  void touch() {
    const TouchSet set = dice_.pick(2) ? TouchSet::Exact : TouchSet::Volume;
    const int count = dice_.pick(4) == 0 ? 0 : 1 + dice_.pick(5);
    const auto tools = random_tools(static_cast<std::uint32_t>(dice_.pick(100000)), count, set);
    const int steps = dice_.pick(6);
    story += (steps < 2 ? " submit(" : " touched(") + std::to_string(count) + ")";
    if (steps < 2) query_->submit(tools, set);
    if (steps == 0) return;  // never collected
    const Answer answer(steps == 1 ? query_->collect() : query_->touched(tools, set));
    const auto fresh = make_fresh_();
    fresh->rebuild(mesh_.view());
    const Answer expected(fresh->touched(tools, set));
    ASSERT_EQ(expected.first.size(), tools.size() + 1) << story;
    touches += expected.touches.size();
    calls_that_touch += expected.touches.empty() ? 0 : 1;
    ASSERT_EQ(answer.first, expected.first) << story;
    ASSERT_TRUE(std::equal(answer.touches.begin(), answer.touches.end(), expected.touches.begin(),
                           expected.touches.end(), same))
        << story;
  }

  Dice dice_;
  const QueryMaker& make_fresh_;
  std::unique_ptr<TouchQuery> query_;
  TriangleMesh mesh_;
};

}  // namespace

void check_random_sequences(const std::string& what, const QueryMaker& make, const QueryMaker& make_fresh,
                            const SequencePlan& plan) {
  std::size_t touches = 0, calls_that_touch = 0;
  const auto last = plan.first_seed + static_cast<std::uint32_t>(plan.sequences);
  for (std::uint32_t seed = plan.first_seed; seed < last; ++seed) {
    SCOPED_TRACE(what + ", seed " + std::to_string(seed));
    Sequence sequence(seed, make, make_fresh);
    for (int i = 0; i < plan.calls && !::testing::Test::HasFatalFailure(); ++i) sequence.call();
    if (::testing::Test::HasFatalFailure()) return;
    touches += sequence.touches;
    calls_that_touch += sequence.calls_that_touch;
  }
  std::printf("%s: seeds %u..%u, %zu touches in %zu calls\n", what.c_str(), plan.first_seed, last - 1, touches,
              calls_that_touch);
  EXPECT_GT(calls_that_touch, static_cast<std::size_t>(plan.sequences * plan.calls / 6)) << what;
}

}  // namespace trocar::checks

namespace trocar {
namespace {

struct NamedEnum {
  const char* name;
  GLenum value;
};
#define NAMED(value) \
  NamedEnum { #value, value }

constexpr NamedEnum kSwitches[] = {NAMED(GL_RASTERIZER_DISCARD),
                                   NAMED(GL_SCISSOR_TEST),
                                   NAMED(GL_CULL_FACE),
                                   NAMED(GL_DEPTH_CLAMP),
                                   NAMED(GL_DEPTH_TEST),
                                   NAMED(GL_STENCIL_TEST),
                                   NAMED(GL_PRIMITIVE_RESTART),
                                   NAMED(GL_PROGRAM_POINT_SIZE),
                                   NAMED(GL_CLIP_DISTANCE0),
                                   NAMED(GL_CLIP_DISTANCE1),
                                   NAMED(GL_CLIP_DISTANCE2),
                                   NAMED(GL_CLIP_DISTANCE3),
                                   NAMED(GL_CLIP_DISTANCE4),
                                   NAMED(GL_CLIP_DISTANCE5),
                                   NAMED(GL_CLIP_DISTANCE6),
                                   NAMED(GL_CLIP_DISTANCE7),
                                   NAMED(GL_BLEND),
                                   NAMED(GL_MULTISAMPLE),
                                   NAMED(GL_POLYGON_OFFSET_FILL)};
constexpr NamedEnum kOldSwitches[] = {NAMED(GL_ALPHA_TEST),  NAMED(GL_LIGHTING),     NAMED(GL_NORMALIZE),
                                      NAMED(GL_FOG),         NAMED(GL_VERTEX_ARRAY), NAMED(GL_COLOR_ARRAY),
                                      NAMED(GL_NORMAL_ARRAY)};

struct NamedValues {
  const char* name;
  GLenum value;
  int count;
};
#define VALUES(value, count) \
  NamedValues { #value, value, count }

constexpr NamedValues kValues[] = {VALUES(GL_CURRENT_PROGRAM, 1),
                                   VALUES(GL_DRAW_FRAMEBUFFER_BINDING, 1),
                                   VALUES(GL_READ_FRAMEBUFFER_BINDING, 1),
                                   VALUES(GL_RENDERBUFFER_BINDING, 1),
                                   VALUES(GL_VERTEX_ARRAY_BINDING, 1),
                                   VALUES(GL_ARRAY_BUFFER_BINDING, 1),
                                   VALUES(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1),
                                   VALUES(GL_COPY_READ_BUFFER_BINDING, 1),
                                   VALUES(GL_COPY_WRITE_BUFFER_BINDING, 1),
                                   VALUES(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 1),
                                   VALUES(GL_VIEWPORT, 4),
                                   VALUES(GL_DEPTH_RANGE, 2),
                                   VALUES(GL_POLYGON_MODE, 2),
                                   VALUES(GL_CULL_FACE_MODE, 1),
                                   VALUES(GL_FRONT_FACE, 1),
                                   VALUES(GL_POINT_SIZE, 1),
                                   VALUES(GL_COLOR_WRITEMASK, 4),
                                   VALUES(GL_SCISSOR_BOX, 4),
                                   VALUES(GL_ACTIVE_TEXTURE, 1),
                                   VALUES(GL_TEXTURE_BINDING_2D, 1),
                                   VALUES(GL_TEXTURE_BINDING_BUFFER, 1)};
constexpr NamedValues kOldValues[] = {
    VALUES(GL_MATRIX_MODE, 1),           VALUES(GL_MODELVIEW_MATRIX, 16),    VALUES(GL_PROJECTION_MATRIX, 16),
    VALUES(GL_MODELVIEW_STACK_DEPTH, 1), VALUES(GL_ATTRIB_STACK_DEPTH, 1),   VALUES(GL_PROJECTION_STACK_DEPTH, 1),
    VALUES(GL_VERTEX_ARRAY_SIZE, 1),     VALUES(GL_COLOR_ARRAY_SIZE, 1),     VALUES(GL_CLIENT_ATTRIB_STACK_DEPTH, 1),
    VALUES(GL_CLIENT_ACTIVE_TEXTURE, 1), VALUES(GL_SELECTION_BUFFER_SIZE, 1)};
constexpr NamedValues kValues43[] = {VALUES(GL_DISPATCH_INDIRECT_BUFFER_BINDING, 1),
                                     VALUES(GL_SHADER_STORAGE_BUFFER_BINDING, 1)};
// Slots that `compute` uses; a renderer may use them too.
constexpr GLenum kFirstUnit = 10, kUnits = 6, kStorageBlocks[] = {4, 5, 6, 7};
constexpr NamedValues kValues45[] = {VALUES(GL_CLIP_ORIGIN, 1), VALUES(GL_CLIP_DEPTH_MODE, 1),
                                     VALUES(GL_PROGRAM_PIPELINE_BINDING, 1)};

void append(std::vector<std::string>& lines, std::span<const NamedEnum> switches) {
  for (const NamedEnum& entry : switches)
    lines.push_back(std::string(entry.name) + " = " + (glIsEnabled(entry.value) ? "on" : "off"));
}

void append(std::vector<std::string>& lines, std::span<const NamedValues> values) {
  for (const NamedValues& entry : values) {
    std::array<GLdouble, 16> numbers{};
    glGetDoublev(entry.value, numbers.data());
    std::string line = std::string(entry.name) + " =";
    for (int i = 0; i < entry.count; ++i) line += " " + std::to_string(numbers[i]);
    lines.push_back(line);
  }
}

constexpr const char* kVertexShader =
    "#version 330 core\nlayout(location = 3) in vec3 p;\nvoid main() { gl_Position = vec4(p + 9.0, 1); }\n";
constexpr const char* kFragmentShader = "#version 330 core\nout vec4 c;\nvoid main() { c = vec4(1); }\n";

gl::Program some_program() {
  const std::array<gl::ShaderStage, 2> stages{
      {{GL_VERTEX_SHADER, kVertexShader}, {GL_FRAGMENT_SHADER, kFragmentShader}}};
  return gl::make_program("some renderer", stages);
}

}  // namespace

HostileRenderer::HostileRenderer(const GlInfo& info)
    : compatibility_(info.compatibility_profile),
      program_(some_program()),
      vertex_array_(gl::make_vertex_array()),
      array_(gl::make_buffer()),
      feedback_(gl::make_buffer()),
      copy_read_(gl::make_buffer()),
      copy_write_(gl::make_buffer()),
      storage_(gl::make_buffer()) {
  if (compatibility_) set_fixed_function();
  glUseProgram(program_.name());
  glBindFramebuffer(GL_FRAMEBUFFER, target_.framebuffer());
  glGenRenderbuffers(1, &renderbuffer_);
  glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer_);
  bind_buffers();
  if (gl::at_least(info, 4, 3)) bind_storage();
  bind_textures();
  set_switches_and_values();
  if (!gl::at_least(info, 4, 5)) return;
  glClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE);
  glGenProgramPipelines(1, &pipeline_);
  glBindProgramPipeline(pipeline_);
}

void HostileRenderer::bind_buffers() {
  glBindVertexArray(vertex_array_.name());
  glBindBuffer(GL_ARRAY_BUFFER, array_.name());
  glBufferData(GL_ARRAY_BUFFER, 256, nullptr, GL_STATIC_DRAW);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, array_.name());
  glBindBuffer(GL_COPY_READ_BUFFER, copy_read_.name());
  glBindBuffer(GL_COPY_WRITE_BUFFER, copy_write_.name());
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, feedback_.name());
  glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 256, nullptr, GL_STATIC_DRAW);
  glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, feedback_.name(), 16, 64);
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, array_.name());
  if (!compatibility_) return;
  for (const GLenum array : {GL_VERTEX_ARRAY, GL_COLOR_ARRAY, GL_NORMAL_ARRAY}) glEnableClientState(array);
  glVertexPointer(2, GL_FLOAT, 0, nullptr);
  glColorPointer(3, GL_FLOAT, 0, nullptr);
}

void HostileRenderer::bind_storage() {
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, storage_.name());
  glBufferData(GL_SHADER_STORAGE_BUFFER, 4096, nullptr, GL_STATIC_DRAW);
  bind_storage_slots(0);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, copy_read_.name());
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, feedback_.name());
}

// Binds ranges and whole buffers in turn, beginning with a range (0) or a buffer (1).
void HostileRenderer::bind_storage_slots(unsigned first) {
  for (unsigned i = 0; i < std::size(kStorageBlocks); ++i) {
    const GLintptr start = 256 * (i + 1);
    if ((i + first) % 2 == 0)
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, kStorageBlocks[i], storage_.name(), start, 1536 - start);
    else
      glBindBufferBase(GL_SHADER_STORAGE_BUFFER, kStorageBlocks[i], array_.name());
  }
}

void HostileRenderer::swap_slots(const GlInfo& info) {
  glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, feedback_.name());
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, array_.name());
  if (!gl::at_least(info, 4, 3)) return;
  bind_storage_slots(1);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, copy_read_.name());
}

// Binds a buffer texture in every unit that `compute` uses, and makes one of those units active.
void HostileRenderer::bind_textures() {
  glGenTextures(static_cast<GLsizei>(textures_.size()), textures_.data());
  for (GLenum i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glBindTexture(GL_TEXTURE_BUFFER, textures_[i]);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_R32F, array_.name());
  }
  glActiveTexture(GL_TEXTURE0 + kFirstUnit + 2);
  glBindTexture(GL_TEXTURE_2D, textures_.back());
}

void HostileRenderer::set_switches_and_values() {
  for (const NamedEnum& entry : kSwitches) glEnable(entry.value);
  glDisable(GL_MULTISAMPLE);
  if (compatibility_)
    for (const NamedEnum& entry : kOldSwitches)
      if (entry.value != GL_VERTEX_ARRAY && entry.value != GL_COLOR_ARRAY && entry.value != GL_NORMAL_ARRAY)
        glEnable(entry.value);
  glPrimitiveRestartIndex(0);
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  glCullFace(GL_FRONT_AND_BACK);
  glFrontFace(GL_CW);
  glDepthRange(0.25, 0.75);
  glViewport(3, 5, 7, 11);
  glScissor(100, 100, 1, 1);
  glPointSize(3.f);
  glColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
}

void HostileRenderer::set_fixed_function() {
  const std::array<GLfloat, 16> matrix{2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 5, 6, 7, 1};
  glPushAttrib(GL_POINT_BIT);
  glPushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
  for (const GLenum mode : {GL_PROJECTION, GL_MODELVIEW}) {
    glMatrixMode(mode);
    glPushMatrix();
    glLoadMatrixf(matrix.data());
  }
  glMatrixMode(GL_TEXTURE);
  for (GLenum i = 0; i < 8; ++i) {
    const std::array<GLdouble, 4> nothing_passes{0.0, 0.0, 0.0, -1.0 - i};
    glClipPlane(GL_CLIP_PLANE0 + i, nothing_passes.data());
  }
  glAlphaFunc(GL_NEVER, 0.f);
  glSelectBuffer(static_cast<GLsizei>(selection_.size()), selection_.data());
  // Arrays of the default vertex array that must not be read: their pointers are invalid.
  const auto* nowhere = reinterpret_cast<const void*>(8);
  glBindVertexArray(0);
  glColorPointer(3, GL_FLOAT, 0, nowhere);
  glEnableClientState(GL_COLOR_ARRAY);
  glVertexPointer(2, GL_FLOAT, 0, nowhere);
  glEnableClientState(GL_VERTEX_ARRAY);
  glClientActiveTexture(GL_TEXTURE3);
  glTexCoordPointer(2, GL_FLOAT, 0, nowhere);
  glEnableClientState(GL_TEXTURE_COORD_ARRAY);
  glVertexAttribPointer(5, 3, GL_FLOAT, GL_FALSE, 0, nowhere);
  glEnableVertexAttribArray(5);
}

HostileRenderer::~HostileRenderer() {
  glUseProgram(0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glBindVertexArray(0);
  glDeleteTextures(static_cast<GLsizei>(textures_.size()), textures_.data());
  glDeleteRenderbuffers(1, &renderbuffer_);
  if (pipeline_ != 0) glDeleteProgramPipelines(1, &pipeline_);
}

namespace {

std::string line_of(const std::string& name, std::initializer_list<GLint64> values) {
  std::string line = name + " =";
  for (const GLint64 value : values) line += " " + std::to_string(value);
  return line;
}

void append_slot(std::vector<std::string>& lines, const std::string& name, GLuint slot, GLenum binding, GLenum start,
                 GLenum size) {
  GLint buffer = 0;
  GLint64 first = 0, bytes = 0;
  glGetIntegeri_v(binding, slot, &buffer);
  glGetInteger64i_v(start, slot, &first);
  glGetInteger64i_v(size, slot, &bytes);
  lines.push_back(line_of(name, {buffer, first, bytes}));
}

void append_units(std::vector<std::string>& lines) {
  GLint active = 0;
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
  for (GLenum i = 0; i < kUnits; ++i) {
    GLint texture = 0;
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, &texture);
    lines.push_back(line_of("buffer texture of unit " + std::to_string(kFirstUnit + i), {texture}));
  }
  glActiveTexture(static_cast<GLenum>(active));
}

// The arrays of the default vertex array, queried while it is bound.
void append_default_arrays(std::vector<std::string>& lines) {
  GLint vertex_array = 0, enabled = 0, size = 0;
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array);
  glBindVertexArray(0);
  glGetVertexAttribiv(5, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
  glGetIntegerv(GL_VERTEX_ARRAY_SIZE, &size);
  lines.push_back(line_of("default positions", {glIsEnabled(GL_VERTEX_ARRAY), size}));
  lines.push_back(line_of("default colours", {glIsEnabled(GL_COLOR_ARRAY)}));
  lines.push_back(line_of("default attribute 5", {enabled}));
  GLint unit = 0;
  glGetIntegerv(GL_CLIENT_ACTIVE_TEXTURE, &unit);
  glClientActiveTexture(GL_TEXTURE3);
  lines.push_back(line_of("default texture coordinates 3", {glIsEnabled(GL_TEXTURE_COORD_ARRAY)}));
  glClientActiveTexture(static_cast<GLenum>(unit));
  glBindVertexArray(static_cast<GLuint>(vertex_array));
}

}  // namespace

std::vector<std::string> gl_snapshot(const GlInfo& info) {
  std::vector<std::string> lines;
  append(lines, kSwitches);
  append(lines, kValues);
  append_units(lines);
  append_slot(lines, "feedback slot 0", 0, GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, GL_TRANSFORM_FEEDBACK_BUFFER_START,
              GL_TRANSFORM_FEEDBACK_BUFFER_SIZE);
  if (gl::at_least(info, 4, 3)) {
    append(lines, kValues43);
    for (const GLuint block : kStorageBlocks)
      append_slot(lines, "storage block " + std::to_string(block), block, GL_SHADER_STORAGE_BUFFER_BINDING,
                  GL_SHADER_STORAGE_BUFFER_START, GL_SHADER_STORAGE_BUFFER_SIZE);
  }
  if (gl::at_least(info, 4, 5)) append(lines, kValues45);
  if (!info.compatibility_profile) return lines;
  append(lines, kOldSwitches);
  append(lines, kOldValues);
  for (GLenum i = 0; i < 8; ++i) {
    std::array<GLdouble, 4> plane{};
    glGetClipPlane(GL_CLIP_PLANE0 + i, plane.data());
    lines.push_back("clip plane " + std::to_string(i) + " = " + std::to_string(plane[0]) + " " +
                    std::to_string(plane[1]) + " " + std::to_string(plane[2]) + " " + std::to_string(plane[3]));
  }
  void* selection = nullptr;
  glGetPointerv(GL_SELECTION_BUFFER_POINTER, &selection);
  lines.push_back(line_of("selection buffer", {static_cast<GLint64>(reinterpret_cast<std::intptr_t>(selection))}));
  append_default_arrays(lines);
  return lines;
}

}  // namespace trocar
