// Compares every point that the shaders of `occlusion` emit with a twin in double. A point without need costs time and
// changes no answer, because the host decides every face in double: only these tests notice it.
#include <glad/gl.h>

#include <algorithm>

#include "cpu_collision/reference.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/gpu_collision/shader_runs.hpp"
#include "tests/gpu_collision/shader_scenes.hpp"

namespace trocar {
namespace {

using namespace shaders;

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
  for (std::uint32_t slot = 0; slot < faces.corners.size(); ++slot) {
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

}  // namespace
}  // namespace trocar
