// Compares every record of compute_clip.comp and every entry of the work list of compute_cull.comp with twins in
// double, and the counters that compute_finish.comp leaves. The twins evaluate heights at the few points where the
// smallest height of a segment can be largest; they do not clip. A face that the backend records without need, or
// without its certain bit, costs time and changes no answer: only these tests notice it.
#include <glad/gl.h>

#include <algorithm>

#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/shader_runs.hpp"
#include "tests/gpu_collision/shader_scenes.hpp"

namespace trocar {
namespace {

using namespace shaders;

class ComputeFinish : public ComputeGlTest {};

constexpr std::uint32_t kSeed = 4242;
constexpr double kRelativeSlack = 1e-6;  // as in the shaders

// ---- twin of compute_clip.comp ----

enum class Answer { Out, Uncertain, Certain };

double least(const Heights& heights, const glm::dvec3& weights, std::size_t skip) {
  double result = 1e30;
  for (std::size_t k = 0; k < heights.size(); ++k)
    if (k != skip) result = std::min(result, glm::dot(heights[k], weights));
  return result;
}

// Returns the largest value, over the segment from weights p to weights q, of the smallest height over all planes but
// `skip`: it lies at an end or where two heights are equal.
double best_between(const Heights& heights, const glm::dvec3& p, const glm::dvec3& q, std::size_t skip) {
  double best = std::max(least(heights, p, skip), least(heights, q, skip));
  for (std::size_t i = 0; i < heights.size(); ++i) {
    for (std::size_t j = i + 1; j < heights.size(); ++j) {
      if (i == skip || j == skip) continue;
      const glm::dvec3 difference = heights[i] - heights[j];
      const double at_p = glm::dot(difference, p), at_q = glm::dot(difference, q);
      if (!(at_p * at_q < 0.0)) continue;
      best = std::max(best, least(heights, glm::mix(p, q, at_p / (at_p - at_q)), skip));
    }
  }
  return best;
}

glm::dvec3 corner(int k) { return {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}; }

double best_on_edges(const Heights& heights) {
  const std::size_t none = heights.size();
  return std::max({best_between(heights, corner(0), corner(1), none), best_between(heights, corner(1), corner(2), none),
                   best_between(heights, corner(2), corner(0), none)});
}

// Returns the largest of best_between over the lines in which the face crosses a plane moved outwards by `slack`.
double best_on_crossings(const Heights& heights, double slack) {
  double best = -1e30;
  for (std::size_t k = 0; k < heights.size(); ++k) {
    std::vector<glm::dvec3> ends;
    for (int from = 0; from < 3; ++from) {
      const int to = (from + 1) % 3;
      const double h = heights[k][from] + slack, g = heights[k][to] + slack;
      if ((h < 0.0) != (g < 0.0)) ends.push_back(glm::mix(corner(from), corner(to), h / (h - g)));
    }
    if (ends.size() == 2) best = std::max(best, best_between(heights, ends[0], ends[1], k));
  }
  return best;
}

Answer clip_twin(const Heights& heights, double slack, bool exact_clip) {
  for (const glm::dvec3& h : heights)
    if (std::max({h.x, h.y, h.z}) < -slack) return Answer::Out;
  const std::size_t none = heights.size();
  double inside = -1e30;
  for (int k = 0; k < 3; ++k) inside = std::max(inside, least(heights, corner(k), none));
  if (inside >= slack) return Answer::Certain;
  if (!exact_clip) return Answer::Uncertain;
  const double on_edges = best_on_edges(heights);
  if (on_edges >= slack) return Answer::Certain;
  if (on_edges >= -2.0 * slack || best_on_crossings(heights, slack) >= -2.0 * slack) return Answer::Uncertain;
  return Answer::Out;
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
  int out = 0, out_by_clip = 0, uncertain = 0, certain = 0, unclear = 0;
};

// Compares the records of the faces in `slots` for one tool; `records` are all records.
void compare_clip(const ComputeOutput& output, const Faces& faces, std::span<const Tool> tools, std::uint32_t tool,
                  std::size_t slot, bool exact_clip, double rounding, Counts& counts) {
  const Heights heights = heights_of(faces, slot, tools[tool]);
  const double slack = slack_of(faces, slot, tools[tool]);
  const Answer low = clip_twin(shifted(heights, -rounding), slack, exact_clip);
  const Answer high = clip_twin(shifted(heights, rounding), slack, exact_clip);
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
  counts.out_by_clip += low == Answer::Out && clip_twin(heights, slack, false) != Answer::Out;
}

class ShaderClip : public ComputeGlTest, public ::testing::WithParamInterface<bool> {
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

TEST_P(ShaderClip, RecordsWhatTheTwinRecords) {
  for (const Scene& scene : {kNear, kFar}) {
    SCOPED_TRACE(scene.name);
    Dice dice(kSeed);
    const std::vector<Tool> tools = scene_tools(dice, scene);
    const Faces faces = random_faces(dice, 1000, scene.centre);  // the last block is short
    const ComputeOutput output = run_clip_all(GetParam(), faces, tools, 77, 4 * faces.corners.size());
    EXPECT_EQ(output.records, output.pairs.size());
    EXPECT_EQ(output.call_done, 77u);
    EXPECT_EQ(output.groups[0], 0u);
    Counts counts;
    for (std::uint32_t tool = 0; tool < 5; ++tool)
      for (std::size_t slot = 0; slot < faces.corners.size(); ++slot)
        compare_clip(output, faces, tools, tool, slot, GetParam(), scene.rounding, counts);
    for (const Pair& pair : output.pairs) EXPECT_TRUE(pair.tool < 5 && pair.item < 1000);
    EXPECT_GT(counts.out, 300);
    EXPECT_GT(counts.certain, 300);
    EXPECT_GT(counts.uncertain, 60);
    if (GetParam()) {
      EXPECT_GT(counts.out_by_clip, 40);
    }
    EXPECT_LT(counts.unclear, 200);
  }
}

// Faces just before and just behind the change of the answer: the twin's slacks must be the shader's. Some corners are
// kilometres away, so that the slack depends on the corner with the largest coordinates.
TEST_P(ShaderClip, ChangesItsAnswerWhereTheTwinDoes) {
  for (const bool far_corners : {false, true}) {
    Dice dice(kSeed + 4);
    std::vector<Tool> tools = scene_tools(dice, kNear);
    if (far_corners)
      for (Tool& tool : tools) tool.slack = 0.f;
    const double longest = far_corners ? 5e4 : 6.0, rounding = far_corners ? 0.012 : kNear.rounding;
    Faces faces;
    for (const Tool& tool : tools) {
      const auto answer_of = [&](const Faces& all, std::size_t slot) {
        return clip_twin(heights_of(all, slot, tool), slack_of(all, slot, tool), GetParam());
      };
      add_faces_at_changes(dice, 400, kNear.centre, longest, 1.5 * rounding, far_corners ? 0.03 : 0.01, answer_of,
                           faces);
    }
    const ComputeOutput output = run_clip_all(GetParam(), faces, tools, 1, 10000);
    Counts counts;
    for (std::uint32_t tool = 0; tool < 5; ++tool)
      for (std::size_t slot = 0; slot < faces.corners.size(); ++slot)
        compare_clip(output, faces, tools, tool, slot, GetParam(), rounding, counts);
    EXPECT_GT(counts.out, 600);
    EXPECT_GT(counts.certain, 600);
    EXPECT_GT(counts.uncertain, 200);
  }
}

// The culled variant records the pairs of its work list, in any order, and no others.
TEST_P(ShaderClip, RecordsThePairsOfTheWorkList) {
  Dice dice(kSeed + 1);
  const std::vector<Tool> tools = scene_tools(dice, kNear);
  const Faces faces = random_faces(dice, 200, kNear.centre);
  const std::vector<Pair> work{{3, 4}, {0, 2}, {2, 0}, {0, 1}, {1, 3}, {3, 0}};
  const ComputeOutput output = run_clip_culled(GetParam(), faces, tools, work, 1000);
  EXPECT_EQ(output.records, output.pairs.size());
  Counts counts;
  std::size_t listed = 0;
  for (const Pair& pair : work) {
    for (std::size_t slot = 64 * pair.item; slot < std::min<std::size_t>(64 * pair.item + 64, 200); ++slot) {
      compare_clip(output, faces, tools, pair.tool, slot, GetParam(), kNear.rounding, counts);
      listed += std::count_if(output.pairs.begin(), output.pairs.end(), [&](const Pair& record) {
        return record.item == faces.numbers[slot] && record.tool == pair.tool;
      });
    }
  }
  EXPECT_EQ(listed, output.pairs.size());
  EXPECT_GT(counts.certain + counts.uncertain, 60);
}

// Records beyond the array are counted and not written.
TEST_P(ShaderClip, CountsRecordsBeyondTheArray) {
  Dice dice(kSeed + 2);
  const std::vector<Tool> tools = scene_tools(dice, kNear);
  const Faces faces = random_faces(dice, 64, kNear.centre);
  const ComputeOutput all = run_clip_all(GetParam(), faces, tools, 1, 400);
  ASSERT_GT(all.records, 60u);
  for (const std::uint32_t capacity : {1u, 20u, all.records - 1, all.records}) {
    const ComputeOutput some = run_clip_all(GetParam(), faces, tools, 1, capacity);
    EXPECT_EQ(some.records, all.records);
    EXPECT_EQ(some.pairs.size(), capacity);
    for (const Pair& pair : some.pairs) EXPECT_EQ(std::count(all.pairs.begin(), all.pairs.end(), pair), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, ShaderClip, ::testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "GpuClip" : "HostClip"); });

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

TEST_F(ComputeFinish, RepliesAndResetsTheCounters) {
  const FinishOutput output = run_finish(123, 456, 789);
  EXPECT_EQ(output.reply_count, 123u);
  EXPECT_EQ(output.reply_call, 456u);
  EXPECT_EQ(output.record_count, 0u);
  EXPECT_EQ(output.groups, glm::uvec3(0, 1, 1));
}

}  // namespace
}  // namespace trocar
