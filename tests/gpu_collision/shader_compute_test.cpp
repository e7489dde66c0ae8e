// Compares every record of compute_faces.comp and every entry of the work list of compute_cull.comp with twins in
// double, and tests the counters that they leave. A face that the backend records without need, or without its certain
// bit, costs time and changes no answer: only these tests notice it.
#include <glad/gl.h>

#include <algorithm>

#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/shader_runs.hpp"
#include "tests/gpu_collision/shader_scenes.hpp"

namespace trocar {
namespace {

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
  for (const Pair& pair : work) {
    for (std::size_t slot = 64 * pair.item; slot < std::min<std::size_t>(64 * pair.item + 64, 200); ++slot) {
      compare(output, faces, tools, pair.tool, slot, kNear.rounding, counts);
      listed += std::count_if(output.pairs.begin(), output.pairs.end(), [&](const Pair& record) {
        return record.item == faces.numbers[slot] && record.tool == pair.tool;
      });
    }
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

}  // namespace
}  // namespace trocar
