// Compares every record of compute_faces.comp and every entry of the work list of compute_cull.comp with twins in
// double, and tests the counters that they leave. A face that the backend records without need, or without its certain
// bit, costs time and changes no answer: only these tests notice it.
#include <glad/gl.h>

#include "cpu_collision/reference.hpp"
#include "gpu_collision/compute.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/shader_runs.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Tests that the reference compiler of Khronos accepts every shader of the backends, in every variant.

TEST(ShaderCheck, TheReferenceCompilerAcceptsEveryShaderOfTheBackends) {
  std::string why;
  const auto context = make_offscreen_context(why);
  if (!context) GTEST_SKIP() << "SKIPPED: no OpenGL (" << why << ")";
  if (context->info().major * 10 + context->info().minor < 45) GTEST_SKIP() << "compute needs OpenGL 4.5";
  const ShaderSources shaders;
  const TriangleMesh mesh = shapes::icosphere(1);
  for (const bool culled : {false, true}) {
    const auto query = make_compute_query(*context, {.cull_blocks = culled});
    query->rebuild(mesh.view());
  }
  make_occlusion_query(*context)->rebuild(mesh.view());
  const TemporaryFolder folder;
  EXPECT_EQ(shaders.complaints(folder.path()), "");
  std::printf("%zu different shaders\n", shaders.sources.size());
  EXPECT_GE(shaders.sources.size(), 6u) << "faces in two variants, cull, and three stages of occlusion";
}

TEST(ShaderCheck, AFaultIsReported) {
  ShaderSources shaders;
  shaders.sources.emplace("frag", "#version 330\nvoid main() { missing = 1.0; }\n");
  const TemporaryFolder folder;
  EXPECT_NE(shaders.complaints(folder.path()).find("missing"), std::string::npos);
}

using namespace shaders;

constexpr std::uint32_t kSeed = 4242;
constexpr double kRelativeSlack = 1e-6;  // as in the shaders

// ---- twin of compute_faces.comp ----

enum class Answer { Out, Uncertain, Certain };

Answer twin(const Heights& heights, double slack) {
  glm::dvec3 lowest(1e30);  // of each corner, over the planes
  for (const glm::dvec3& h : heights) {
    if (std::max({h.x, h.y, h.z}) < -slack) return Answer::Out;
    lowest = glm::min(lowest, h);
  }
  return std::max({lowest.x, lowest.y, lowest.z}) >= slack ? Answer::Certain : Answer::Uncertain;
}

double slack_of(const Faces& faces, std::size_t slot, const Tool& tool) {
  return tool.slack + kRelativeSlack * size_of(faces, slot);
}

// A scene: its tools, its faces, and the rounding of a height in float, m.
struct Scene {
  const char* name;
  glm::dvec3 centre;
  float slack;
  double rounding;
};

// Near the origin the slack is the caller's; far away it is 6 to 8 cm of the coordinates'.
constexpr Scene kNear{"near the origin", {0.1, -0.2, 0.3}, 0.08f, 2e-5};
constexpr Scene kFar{"far from the origin", {2.5e4, -3.2e4, 1.3e4}, 0.f, 0.012};

struct Counts {
  int out = 0, uncertain = 0, certain = 0, unclear = 0;
};

// Compares the records of the faces in `slots` for one tool; `records` are all records.
void compare(const ComputeOutput& output, const Faces& faces, std::span<const Tool> tools, std::uint32_t tool,
             std::size_t slot, double rounding, Counts& counts) {
  const Heights heights = heights_of(faces, slot, tools[tool]);
  const double slack = slack_of(faces, slot, tools[tool]);
  const Answer low = twin(shifted(heights, -rounding), slack);
  const Answer high = twin(shifted(heights, rounding), slack);
  if (low != high) {
    ++counts.unclear;
    return;
  }
  const std::uint32_t face = faces.numbers[slot];
  const auto is_of = [&](const Pair& pair) { return pair.item == face && pair.tool == tool; };
  const auto found = std::find_if(output.pairs.begin(), output.pairs.end(), is_of);
  const auto records = std::count_if(output.pairs.begin(), output.pairs.end(), is_of);
  ASSERT_EQ(records, low == Answer::Out ? 0 : 1) << "face " << face << ", tool " << tool << ", seed " << kSeed;
  if (records > 0) {
    ASSERT_EQ(found->certain, low == Answer::Certain) << "face " << face << ", tool " << tool << ", seed " << kSeed;
  }
  ++(low == Answer::Certain ? counts.certain : low == Answer::Uncertain ? counts.uncertain : counts.out);
}

class ShaderFaces : public ComputeGlTest {
 protected:
  void TearDown() override {
    if (context_) {
      EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    }
  }
};

std::vector<Tool> scene_tools(Dice& dice, const Scene& scene) {
  std::vector<Tool> tools;
  for (const int planes : {8, 3, 6, 7, 1}) {
    tools.push_back(random_tool(dice, planes, scene.centre, scene.slack));
    // The tools have different slacks.
    tools.back().slack *= static_cast<float>(1.0 + 0.2 * static_cast<double>(tools.size()));
  }
  return tools;
}

TEST_F(ShaderFaces, RecordsWhatTheTwinRecords) {
  for (const Scene& scene : {kNear, kFar}) {
    SCOPED_TRACE(scene.name);
    Dice dice(kSeed);
    const std::vector<Tool> tools = scene_tools(dice, scene);
    const Faces faces = random_faces(dice, 1000, scene.centre);  // the last block is short
    const ComputeOutput output = run_all_faces(faces, tools, 77, 4 * faces.corners.size());
    EXPECT_EQ(output.records, output.pairs.size());
    EXPECT_EQ(output.call_done, 77u);
    EXPECT_TRUE(output.counters_reset);
    EXPECT_EQ(output.wrong_corners, 0u);
    Counts counts;
    for (std::uint32_t tool = 0; tool < 5; ++tool)
      for (std::size_t slot = 0; slot < faces.corners.size(); ++slot)
        compare(output, faces, tools, tool, slot, scene.rounding, counts);
    for (const Pair& pair : output.pairs) EXPECT_TRUE(pair.tool < 5 && pair.item < 1000);
    EXPECT_GT(counts.out, 300);
    EXPECT_GT(counts.certain, 300);
    EXPECT_GT(counts.uncertain, 60);
    EXPECT_LT(counts.unclear, 200);
  }
}

// Faces just before and just behind the change of the answer: the twin's slacks must be the shader's. Some corners are
// kilometres away, so that the slack depends on the corner with the largest coordinates.
TEST_F(ShaderFaces, ChangesItsAnswerWhereTheTwinDoes) {
  for (const bool far_corners : {false, true}) {
    Dice dice(kSeed + 4);
    std::vector<Tool> tools = scene_tools(dice, kNear);
    if (far_corners)
      for (Tool& tool : tools) tool.slack = 0.f;
    const double longest = far_corners ? 5e4 : 6.0, rounding = far_corners ? 0.012 : kNear.rounding;
    Faces faces;
    for (const Tool& tool : tools) {
      const auto answer_of = [&](const Faces& all, std::size_t slot) {
        return twin(heights_of(all, slot, tool), slack_of(all, slot, tool));
      };
      add_faces_at_changes(dice, 400, kNear.centre, longest, 1.5 * rounding, far_corners ? 0.03 : 0.01, answer_of,
                           faces);
    }
    const ComputeOutput output = run_all_faces(faces, tools, 1, 10000);
    Counts counts;
    for (std::uint32_t tool = 0; tool < 5; ++tool)
      for (std::size_t slot = 0; slot < faces.corners.size(); ++slot)
        compare(output, faces, tools, tool, slot, rounding, counts);
    EXPECT_GT(counts.out, 600);
    EXPECT_GT(counts.certain, 600);
    EXPECT_GT(counts.uncertain, 200);
  }
}

// The culled variant records the pairs of its work list, in any order, and no others.
TEST_F(ShaderFaces, RecordsThePairsOfTheWorkList) {
  Dice dice(kSeed + 1);
  const std::vector<Tool> tools = scene_tools(dice, kNear);
  const Faces faces = random_faces(dice, 200, kNear.centre);
  const std::vector<Pair> work{{3, 4}, {0, 2}, {2, 0}, {0, 1}, {1, 3}, {3, 0}};
  const ComputeOutput output = run_faces_of_work(faces, tools, work, 1000);
  EXPECT_EQ(output.records, output.pairs.size());
  EXPECT_EQ(output.wrong_corners, 0u);
  Counts counts;
  std::size_t listed = 0;
  for (const Pair& pair : work)
    for (std::size_t slot = 64 * pair.item; slot < std::min<std::size_t>(64 * pair.item + 64, 200); ++slot) {
      compare(output, faces, tools, pair.tool, slot, kNear.rounding, counts);
      listed += std::count_if(output.pairs.begin(), output.pairs.end(), [&](const Pair& record) {
        return record.item == faces.numbers[slot] && record.tool == pair.tool;
      });
    }
  EXPECT_EQ(listed, output.pairs.size());
  EXPECT_GT(counts.certain + counts.uncertain, 60);
}

// Records beyond the array are counted and not written.
TEST_F(ShaderFaces, CountsRecordsBeyondTheArray) {
  Dice dice(kSeed + 2);
  const std::vector<Tool> tools = scene_tools(dice, kNear);
  const Faces faces = random_faces(dice, 64, kNear.centre);
  const ComputeOutput all = run_all_faces(faces, tools, 1, 400);
  ASSERT_GT(all.records, 60u);
  for (const std::uint32_t capacity : {1u, 20u, all.records - 1, all.records}) {
    const ComputeOutput some = run_all_faces(faces, tools, 1, capacity);
    EXPECT_EQ(some.records, all.records);
    EXPECT_EQ(some.pairs.size(), capacity);
    for (const Pair& pair : some.pairs) EXPECT_EQ(std::count(all.pairs.begin(), all.pairs.end(), pair), 1);
  }
}

// ---- compute_cull.comp ----

// Does one plane exclude the box of the vertices, moved outwards by the slack?
bool excluded(const glm::dvec3& low, const glm::dvec3& high, const Tool& tool, double shift) {
  const glm::dvec3 centre = 0.5 * (low + high), half = 0.5 * (high - low);
  const double slack = tool.slack + kRelativeSlack * sum_of_sizes(glm::vec3(glm::abs(centre) + half));
  return std::any_of(tool.planes.begin(), tool.planes.end(), [&](const glm::vec4& plane) {
    double highest = plane.w;
    for (int axis = 0; axis < 3; ++axis)
      highest += std::max(double(plane[axis]) * low[axis], double(plane[axis]) * high[axis]);
    return highest + shift < -slack;
  });
}

using ShaderCull = ComputeGlTest;

struct Blocks {
  std::vector<glm::vec3> positions;
  std::vector<std::vector<std::uint32_t>> vertices;  // [block]
};

// Small blocks, at random positions about the centre; their vertices are spread over the whole array.
Blocks random_blocks(Dice& dice, std::uint32_t count, const glm::dvec3& centre) {
  Blocks blocks;
  const std::uint32_t entries = 6 * count;
  blocks.positions.resize(entries);
  for (std::uint32_t block = 0; block < count; ++block) {
    const glm::dvec3 middle = centre + dice.in_cube(2.0), half = glm::abs(dice.in_cube(0.7));
    std::vector<std::uint32_t>& list = blocks.vertices.emplace_back();
    const int vertices = 1 + dice.pick(6);
    for (int i = 0; i < vertices; ++i) {
      const std::uint32_t at = (block + static_cast<std::uint32_t>(i) * count + 5) % entries;
      blocks.positions[at] = glm::vec3(middle + half * dice.in_cube(1.0));
      list.push_back(at);
    }
  }
  return blocks;
}

TEST_F(ShaderCull, ListsTheBlocksThatNoPlaneExcludes) {
  for (const Scene& scene : {kNear, kFar}) {
    SCOPED_TRACE(scene.name);
    Dice dice(kSeed + 3);
    const std::vector<Tool> tools = scene_tools(dice, scene);
    const Blocks blocks = random_blocks(dice, 301, scene.centre);
    const ComputeOutput output = run_cull(blocks.positions, blocks.vertices, tools, 99);
    EXPECT_EQ(output.groups[0], output.pairs.size());
    EXPECT_EQ(output.groups[1], 1u);
    EXPECT_EQ(output.groups[2], 1u);
    EXPECT_EQ(output.records, 0u);
    EXPECT_EQ(output.call_done, 99u);
    int counts[3] = {};
    for (std::uint32_t block = 0; block < 301; ++block) {
      glm::dvec3 low(1e30), high(-1e30);
      for (const std::uint32_t vertex : blocks.vertices[block]) {
        low = glm::min(low, glm::dvec3(blocks.positions[vertex]));
        high = glm::max(high, glm::dvec3(blocks.positions[vertex]));
      }
      for (std::uint32_t tool = 0; tool < 5; ++tool) {
        const auto listed = std::count(output.pairs.begin(), output.pairs.end(), Pair{block, tool, false});
        const bool out = excluded(low, high, tools[tool], scene.rounding);
        if (out != excluded(low, high, tools[tool], -scene.rounding)) {
          ++counts[2];
          continue;
        }
        ASSERT_EQ(listed, out ? 0 : 1) << "block " << block << ", tool " << tool << ", seed " << kSeed + 3;
        ++counts[out];
      }
    }
    EXPECT_GT(counts[0], 200);
    EXPECT_GT(counts[1], 200);
    EXPECT_LT(counts[2], 60);
  }
}

// Every block has its own vertices: the first and the second block begin where they should.
TEST_F(ShaderCull, GivesEveryBlockItsOwnVertices) {
  const std::vector<glm::vec3> positions{{2.f, 0.f, 0.f}, {-2.f, 0.f, 0.f}, {-1.f, 1.f, 0.f}, {-3.f, 0.f, 1.f}};
  const std::vector<std::vector<std::uint32_t>> blocks{{0, 1}, {1, 2}, {3}, {3, 0}};
  const std::vector<Tool> tools{{{{1.f, 0.f, 0.f, -1.f}}, 0.f}};  // x >= 1
  const std::vector<Pair> listed{{0, 0, false}, {3, 0, false}};
  EXPECT_EQ(run_cull(positions, blocks, tools, 1).pairs, listed);
}

// The slack grows with the largest coordinates of the box, not with those of its centre: 6 cm here, although the centre
// is the origin.
TEST_F(ShaderCull, AllowsForTheRoundingOfTheFarthestVertex) {
  const std::vector<glm::vec3> positions{{3e4f, -2e4f, 1.f}, {-3e4f, 2e4f, -1.f}};
  const std::vector<std::vector<std::uint32_t>> blocks{{0, 1}};
  const auto listed_above = [&](float height) {
    const std::vector<Tool> tools{{{{0.f, 0.f, 1.f, -height}}, 0.f}};
    return run_cull(positions, blocks, tools, 1).pairs.size();
  };
  EXPECT_EQ(listed_above(1.045f), 1u);
  EXPECT_EQ(listed_above(1.055f), 0u);
}

// More tools than one pass has; the last workgroup of the last pass replies.
TEST_F(ShaderFaces, RecordsTheToolsOfEveryPass) {
  Dice dice(kSeed + 6);
  std::vector<Tool> tools;
  for (int k = 0; k < 150; ++k) tools.push_back(random_tool(dice, 1 + k % 8, kNear.centre, kNear.slack));
  const Faces faces = random_faces(dice, 300, kNear.centre);
  const ComputeOutput output = run_all_faces(faces, tools, 5, tools.size() * faces.corners.size());
  EXPECT_EQ(output.records, output.pairs.size());
  EXPECT_EQ(output.call_done, 5u);
  Counts counts;
  for (std::uint32_t tool = 0; tool < tools.size(); ++tool)
    for (std::size_t slot = 0; slot < faces.corners.size(); ++slot)
      compare(output, faces, tools, tool, slot, kNear.rounding, counts);
  EXPECT_GT(counts.certain, 300);
}

// Compares every point that the shaders of `occlusion` emit with a twin in double. A point without need costs time and
// changes no answer, because the host decides every face in double: only these tests notice it.

namespace shader_occlusion_test {

constexpr std::uint32_t kSeed = 777;
constexpr double kSlackPerMetre = 4e-6;  // as in occlusion.vert

enum class Kind { Rejected, Accepted, ClippedAway, Kept };

double corner_slack(const Faces& faces, std::size_t slot, int k) {
  return kSlackPerMetre * sum_of_sizes(faces.positions[faces.corners[slot][k]]);
}

// The margin of the face with respect to the planes that a corner is outside of, by the reference.
double margin_of_crossed(const Faces& faces, std::size_t slot, const Tool& tool, const std::vector<bool>& crossed) {
  ToolVolume volume;
  for (std::size_t k = 0; k < tool.planes.size(); ++k)
    if (crossed[k]) volume.planes[static_cast<std::size_t>(volume.plane_count++)] = tool.planes[k];
  const glm::uvec3 corner = faces.corners[slot];
  return reference_margin(volume, {glm::dvec3(faces.positions[corner.x]), glm::dvec3(faces.positions[corner.y]),
                                   glm::dvec3(faces.positions[corner.z])});
}

// `shift`, m, is added to every height.
Kind twin(const Faces& faces, std::size_t slot, const Tool& tool, double shift) {
  const Heights heights = shifted(heights_of(faces, slot, tool), shift);
  std::array<bool, 3> inside{true, true, true};
  std::vector<bool> crossed(tool.planes.size(), false);
  double slack = 0.0;
  bool rejected = false;
  for (int i = 0; i < 3; ++i) slack = std::max(slack, corner_slack(faces, slot, i));
  for (std::size_t k = 0; k < heights.size(); ++k) {
    int beyond = 0;
    for (int i = 0; i < 3; ++i) {
      if (heights[k][i] >= -corner_slack(faces, slot, i)) continue;
      inside[static_cast<std::size_t>(i)] = false;
      crossed[k] = true;
      ++beyond;
    }
    rejected = rejected || beyond == 3;
  }
  if (inside[0] || inside[1] || inside[2]) return Kind::Accepted;
  if (rejected) return Kind::Rejected;
  return margin_of_crossed(faces, slot, tool, crossed) + shift >= -slack ? Kind::Kept : Kind::ClippedAway;
}

bool emits(Kind kind) { return kind == Kind::Accepted || kind == Kind::Kept; }

class ShaderOcclusion : public GlTest {
 protected:
  void TearDown() override {
    if (context_) {
      EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    }
  }
};

// Emits a point for each face and tool that the twin keeps; checks the number of each kind.
void expect_the_twins_points(const Faces& faces, std::span<const Tool> tools, double rounding, int least) {
  const OcclusionOutput output = run_occlusion(faces, tools);
  EXPECT_EQ(output.samples, output.hits.size());
  int counts[4] = {}, unclear = 0;
  std::size_t listed = 0;
  for (std::uint32_t slot = 0; slot < faces.corners.size(); ++slot)
    for (std::uint32_t tool = 0; tool < tools.size(); ++tool) {
      const auto hits = std::count(output.hits.begin(), output.hits.end(), Pair{slot, tool, false});
      listed += static_cast<std::size_t>(hits);
      const Kind kind = twin(faces, slot, tools[tool], rounding);
      if (emits(kind) != emits(twin(faces, slot, tools[tool], -rounding))) {
        ++unclear;
        continue;
      }
      ASSERT_EQ(hits, emits(kind) ? 1 : 0) << "face " << slot << ", tool " << tool << " of " << tools.size();
      ++counts[static_cast<int>(kind)];
    }
  EXPECT_EQ(listed, output.hits.size());
  for (const int count : counts) EXPECT_GT(count, least);
  EXPECT_LT(static_cast<std::size_t>(unclear), faces.corners.size() * tools.size() / 10);
}

TEST_F(ShaderOcclusion, EmitsThePointsOfTheTwin) {
  for (const std::size_t count : {1u, 2u, 3u, 4u}) {
    Dice dice(kSeed + static_cast<std::uint32_t>(count));
    SCOPED_TRACE(testing::Message() << count << " tools, seed " << kSeed << " + " << count);
    const glm::dvec3 centre(0.1, -0.2, 0.3);
    std::vector<Tool> tools;
    for (const int planes : {8, 6, 7, 8}) tools.push_back(random_tool(dice, planes, centre, 0.f));
    expect_the_twins_points(random_faces(dice, 600, centre), std::span(tools).first(count), 3e-5, 15);
  }
}

// Kilometres from the origin, where the slack is 10 to 15 cm.
TEST_F(ShaderOcclusion, AllowsForTheRoundingOfFarCoordinates) {
  Dice dice(kSeed + 10);
  const glm::dvec3 centre(9e3, -6e3, 1.4e4);
  std::vector<Tool> tools;
  for (const int planes : {6, 4, 8, 7}) tools.push_back(random_tool(dice, planes, centre, 0.f));
  expect_the_twins_points(random_faces(dice, 800, centre), tools, 0.006, 15);
}

// Faces just before and just behind the change of the answer, with some corners kilometres away: the slack is then that
// of the farthest corner, in the clip, and that of each corner, where all corners lie outside one plane.
TEST_F(ShaderOcclusion, ChangesItsAnswerWhereTheTwinDoes) {
  for (const bool far_corners : {false, true}) {
    Dice dice(kSeed + 20);
    const glm::dvec3 centre = far_corners ? glm::dvec3(0.0) : glm::dvec3(9e3, -6e3, 1.4e4);
    const double rounding = 0.006;
    std::vector<Tool> tools;
    for (const int planes : {6, 8, 5, 7}) tools.push_back(random_tool(dice, planes, centre, 0.f));
    Faces faces;
    for (const Tool& tool : tools) {
      const auto answer_of = [&](const Faces& all, std::size_t slot) { return emits(twin(all, slot, tool, 0.0)); };
      add_faces_at_changes(dice, 200, centre, far_corners ? 3e4 : 6.0, 1.5 * rounding, 0.03, answer_of, faces);
    }
    expect_the_twins_points(faces, tools, rounding, 100);
  }
}

// The clip would compute with infinities here: a right answer shows that it is not done, or not for that plane.
class ShaderOcclusionShortcuts : public ShaderOcclusion {
 protected:
  std::size_t points(const std::array<glm::dvec3, 3>& corners, const Tool& tool) {
    Faces faces;
    add_face(faces, corners);
    return run_occlusion(faces, std::vector<Tool>{tool}).hits.size();
  }
};

TEST_F(ShaderOcclusionShortcuts, AcceptsAFaceWithACornerInsideWithoutAClip) {
  const Tool tool{{{1.f, 0.f, 0.f, -1e38f}}, 0.f};
  const glm::dvec3 inside(2e38, 0, 0), b(-3e38, 1e30, 0), c(-3e38, 0, 1e30);  // heights -inf
  EXPECT_EQ(points({inside, b, c}, tool), 1u);
  EXPECT_EQ(points({b, inside, c}, tool), 1u);
  EXPECT_EQ(points({b, c, inside}, tool), 1u);
  EXPECT_EQ(points({b, c, b}, tool), 0u);
}

TEST_F(ShaderOcclusionShortcuts, ClipsOnlyByPlanesThatTheFaceCrosses) {
  const glm::vec4 left(1.f, 0.f, 0.f, 0.f), above(0.f, 0.f, 1.f, 5e35f), everything(0.f, 1.f, 0.f, 3e38f);
  const std::array<glm::dvec3, 3> face{
      {{-1e36, 1e38, 1e36}, {1e36, 1e38, -1e36}, {-1e36, 1e38, 1e36}}};  // height inf over `everything`
  EXPECT_EQ(points(face, {{left, above}, 0.f}), 1u);
  EXPECT_EQ(points(face, {{left, everything, above}, 0.f}), 1u);
  EXPECT_EQ(points(face, {{everything, left, everything, above}, 0.f}), 1u);
}

}  // namespace shader_occlusion_test

}  // namespace
}  // namespace trocar
