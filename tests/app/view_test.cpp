// Renders the view off-screen and tests that objects of the scene appear at their expected positions in the picture.
#include "app/view/view.hpp"

#include <glad/gl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/compare/backends.hpp"
#include "app/view/gl_shape.hpp"
#include "sim/device/tool_shape.hpp"
#include "tests/gpu_collision/gl_call_count.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(VertexNormals, PointOutwardOnASphere) {
  const TriangleMesh sphere = shapes::icosphere(3, 0.1f);
  std::vector<glm::vec3> normals(sphere.positions.size());
  vertex_normals(sphere.view(), normals);
  for (std::size_t k = 0; k < normals.size(); ++k) {
    EXPECT_GT(glm::dot(normals[k], glm::normalize(sphere.positions[k])), 0.999f);
  }
}

TEST(VertexNormals, AnIsolatedVertexHasANormal) {
  TriangleMesh mesh;
  mesh.positions = {{1, 2, 3}};
  std::vector<glm::vec3> normals(1);
  vertex_normals(mesh.view(), normals);
  EXPECT_EQ(normals[0], glm::vec3(0, 0, 1));
}

struct Picture {
  int width = 0, height = 0;
  std::vector<glm::u8vec3> pixels;

  // Returns the pixel at a position in half heights.
  glm::ivec3 at(const glm::dvec2& seen) const {
    const auto column = static_cast<int>(std::floor(0.5 * (width + seen.x * height)));
    const auto row = static_cast<int>(std::floor(0.5 * (1.0 + seen.y) * height));
    if (column < 0 || row < 0 || column >= width || row >= height) return glm::ivec3(-1);
    return glm::ivec3(pixels[static_cast<std::size_t>(row * width + column)]);
  }
  // Pixels that differ, and their centroid, in half heights.
  std::size_t changed(const Picture& other, glm::dvec2& middle) const {
    glm::dvec2 sum(0.0);
    std::size_t count = 0;
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const glm::ivec3 by = glm::abs(glm::ivec3(pixels[k]) - glm::ivec3(other.pixels[k]));
      if (by.x + by.y + by.z < 24) continue;
      const auto wide = static_cast<std::size_t>(width);
      const std::size_t column = k % wide, row = k / wide;
      sum += glm::dvec2((2.0 * double(column) + 1.0 - width) / height, (2.0 * double(row) + 1.0) / height - 1.0);
      ++count;
    }
    middle = sum / static_cast<double>(std::max<std::size_t>(count, 1));
    return count;
  }
  std::size_t changed(const Picture& other) const {
    glm::dvec2 ignored;
    return changed(other, ignored);
  }
};

// A sphere at the origin, seen from the front.
class ViewTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!backends_.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends_.why_no_context() << ")";
    organs_.push_back({sphere_.view(), {0.4f, 0.08f, 0.06f}, sphere_.positions, {}, 0});
    view_.emplace(*backends_.context(), organs_);
    scope_ = scope_looking_at({0, 0, 0.15}, {0, 0, 0}, 0.0, 0.0, 0.1);
    scope_.field_of_view_deg = 50.0;
  }

  Picture draw(int width = 320, int height = 240) {
    PictureTarget target(width, height);
    target.bind();
    view_->draw(organs_, tools_, bonds_, scope_, lens_, marks_, settings_, width, height);
    return {width, height, target.pixels()};
  }

  static DrawnTool tool(InstrumentKind kind, const glm::dvec3& tip) {
    DrawnTool drawn;
    drawn.kind = kind;
    drawn.pose = {tip + glm::dvec3(0.12, 0.06, 0.05), tip, 0.0025};
    return drawn;
  }

  Backends backends_;
  TriangleMesh sphere_ = shapes::icosphere(4, 0.05f);
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  DrawnBonds bonds_;
  std::optional<View> view_;
  ScopePose scope_;
  Lens lens_;
  DrawnMarks marks_;
  ViewSettings settings_;
};

// Behind the scope's eye neither the organ nor a part of the instrument is drawn.
TEST_F(ViewTest, DrawsOnlyWhatThePyramidMayContain) {
  settings_.quality = Quality::Low;
  const auto shapes_drawn = [&] {
    const CallCount calls;
    draw();
    const auto found = calls.by_name.find("glDrawElements");
    return found == calls.by_name.end() ? 0 : found->second;
  };
  draw();
  const int organ_only = shapes_drawn();
  tools_ = {tool(InstrumentKind::Grasper, {0.0, 0.02, 0.06})};
  const int all = shapes_drawn();
  scope_ = scope_looking_at({0, 0, 0.25}, {0, 0, 0.4}, 0.0, 0.0, 0.1);
  const int nothing = shapes_drawn();
  std::printf("shapes drawn: %d with organ and instrument, %d with the organ, %d looking away\n", all, organ_only,
              nothing);
  EXPECT_GT(all, organ_only + 1) << "an instrument has several parts";
  EXPECT_EQ(nothing, organ_only - 1);
}

TEST_F(ViewTest, TouchedFacesAreVisible) {
  std::vector<Touch> touches;
  for (std::uint32_t face = 0; face < sphere_.faces.size(); ++face) {
    if (sphere_.positions[sphere_.faces[face].x].z > 0.045f) touches.push_back({FaceId{face}, {}, {}, 0.f, 0.f});
  }
  const std::vector<std::uint32_t> first = {0, static_cast<std::uint32_t>(touches.size())};
  const Picture plain = draw(), again = draw();
  organs_[0].touches = {touches, first};
  const Picture touched = draw();
  EXPECT_EQ(plain.changed(again), 0u);
  EXPECT_GT(plain.changed(touched), 500u);
  settings_.show_touched = false;
  EXPECT_EQ(plain.changed(draw()), 0u);
}

// An organ without marks has no array for them; whatever value the context holds instead, the organ is neither charred
// nor wet. The first picture of a quality uses the program that draws marks.
TEST_F(ViewTest, AnOrganWithoutMarksLooksIntact) {
  glVertexAttrib1f(3, 1.f);
  glVertexAttrib2f(4, 1.f, 1.f);
  const Picture first = draw(), second = draw();
  EXPECT_EQ(first.changed(second), 0u);
  glVertexAttrib1f(3, 0.f);
  glVertexAttrib2f(4, 0.f, 0.f);
}

// A strand in front of the sphere changes the picture where it is, and is hidden behind the sphere.
TEST_F(ViewTest, StrandsAreVisibleInFront) {
  const Picture plain = draw();
  bonds_.strands = {{{-0.02f, 0.f, 0.06f}, {0.02f, 0.f, 0.06f}, 1e-3f}};
  glm::dvec2 middle;
  EXPECT_GT(plain.changed(draw(), middle), 100u);
  EXPECT_NEAR(glm::length(middle), 0.0, 0.08) << "the bundle is scattered";
  bonds_.strands = {{{-0.02f, 0.f, -0.06f}, {0.02f, 0.f, -0.06f}, 1e-3f}};
  EXPECT_EQ(plain.changed(draw()), 0u);
  bonds_.strands = {{{0.f, 0.f, 0.06f}, {0.f, 0.f, 0.06f}, 1e-3f}};
  EXPECT_EQ(plain.changed(draw()), 0u) << "a strand without length";
}

// So does a clip, across the view; it lies where its pose says.
TEST_F(ViewTest, ClipsAreVisibleInFront) {
  const Picture plain = draw();
  glm::dvec2 middle;
  bonds_.clips = {{{{0.f, 0.f, 0.06f}, {1.f, 0.f, 0.f}, {0.f, 1.f, 0.f}, 5e-4f}, 0.0085f}};
  EXPECT_GT(plain.changed(draw(), middle), 100u);
  EXPECT_NEAR(glm::length(middle), 0.0, 0.03);
  bonds_.clips[0].pose.centre.z = -0.06f;
  EXPECT_EQ(plain.changed(draw()), 0u);
}

// A ghost changes the picture less than the instrument, lets the touched faces shine through, casts no shadow, and is
// hidden behind the sphere.
TEST_F(ViewTest, AGhostIsTransparent) {
  const Picture plain = draw();
  tools_ = {tool(InstrumentKind::Probe, {0.0, 0.0, 0.058})};
  const Picture solid = draw();
  tools_[0].ghost = true;
  const Picture ghost = draw();
  EXPECT_GT(plain.changed(ghost), 300u);
  EXPECT_LT(plain.changed(ghost), plain.changed(solid)) << "no shadow";
  EXPECT_GT(solid.changed(ghost), 300u);
  tools_ = {tool(InstrumentKind::Probe, {0.0, 0.0, 0.058}), tool(InstrumentKind::Probe, {0.0, 0.0, -0.058})};
  tools_[1].ghost = true;
  tools_[1].pose.pivot.z = -0.2;
  EXPECT_EQ(solid.changed(draw()), 0u) << "behind the sphere";
}

// A label lies beside its target, and behind the sphere it is hidden.
TEST_F(ViewTest, LabelsAreVisibleInFront) {
  marks_.targets = {{{0.f, 0.f, 0.05f}, 0.004f, MarkState::Next, 0}};
  const Picture without = draw();
  marks_.targets[0].number = 12;
  glm::dvec2 middle;
  EXPECT_GT(without.changed(draw(), middle), 60u);
  EXPECT_GT(std::min(middle.x, middle.y), 0.0) << "right of the target and above it";
  EXPECT_LT(glm::length(middle), 0.3);
  marks_.targets = {{{0.f, 0.f, -0.05f}, 0.004f, MarkState::Next, 0}};
  const Picture hidden = draw();
  marks_.targets[0].number = 3;
  EXPECT_EQ(hidden.changed(draw()), 0u);
}

TEST_F(ViewTest, SavesAPicture) {
  const TemporaryFolder folder;
  PictureTarget target(64, 48);
  target.bind();
  view_->draw(organs_, {}, {}, scope_, lens_, {}, {}, 64, 48);
  target.save_png(folder.path() / "picture.png");
  EXPECT_TRUE(read_file(folder.path() / "picture.png").starts_with("\x89PNG"));
}

TEST_F(ViewTest, FieldIsRoundAndBlackOutside) {
  for (const Quality quality : {Quality::Low, Quality::Medium, Quality::High}) {
    settings_.quality = quality;
    settings_.round_field = true;
    const Picture picture = draw(1280, 720);
    for (int k = 0; k < 64; ++k) {
      const glm::dvec2 direction(std::cos(0.0982 * k), std::sin(0.0982 * k));
      const glm::ivec3 outside = picture.at(1.03 * lens_.field * direction),
                       within = picture.at(0.9 * lens_.field * direction);
      EXPECT_TRUE(outside.x == -1 || outside == glm::ivec3(0));
      EXPECT_TRUE(within.x == -1 || within.x > 8);
    }
    settings_.round_field = false;
    EXPECT_GT(draw(1280, 720).at({1.7, 0.9}).x, 0);
  }
}

// Small bright targets on the sphere appear where seen_point() predicts.
TEST_F(ViewTest, ObliqueScopeAgreesWithSeenPoint) {
  for (const double spin : {0.0, 90.0, 220.0}) {
    for (const double barrel : {0.0, 0.08, 0.3}) {
      scope_ = scope_looking_at({0.02, -0.05, 0.13}, {0, 0, 0}, 30.0, spin, 0.1);
      lens_.barrel = barrel;
      marks_ = {};
      const Picture plain = draw(640, 480);
      for (const glm::vec3& towards :
           {glm::vec3(0, 0, 1), glm::vec3(0.5f, -0.2f, 0.85f), glm::vec3(-0.4f, -0.6f, 0.7f)}) {
        const glm::vec3 point = 0.0499f * glm::normalize(towards);
        marks_.targets = {{point, 0.0025f, MarkState::Waiting}};
        glm::dvec2 middle;
        ASSERT_GT(plain.changed(draw(640, 480), middle), 20u);
        const SeenPoint seen = seen_point(scope_, lens_, point);
        ASSERT_TRUE(seen.visible);
        EXPECT_NEAR(glm::distance(middle, seen.location), 0.0, 2.0 / 240)
            << "half heights; spin " << spin << ", k " << barrel;
      }
    }
  }
}

// The lens bends lines between vertices invisibly: tested at the middle of every drawn edge of shaft and cavity.
TEST_F(ViewTest, MeshesAreFineEnoughForTheLens) {
  scope_ = scope_looking_at({0, -0.105, 0.265}, {-0.018, 0.055, 0.15}, 0.0, 0.0, 0.16);
  const ToolPose pose{{-0.095, -0.075, 0.265}, {-0.06, 0.075, 0.178}, 0.0025};
  const auto worst = [&](const TriangleMesh& mesh, const glm::dmat4& world) {
    double error = 0.0;
    for (const glm::uvec3& face : mesh.faces) {
      for (int corner = 0; corner < 3; ++corner) {
        const glm::dvec3 a(world * glm::dvec4(mesh.positions[face[corner]], 1)),
            b(world * glm::dvec4(mesh.positions[face[(corner + 1) % 3]], 1));
        const SeenPoint from = seen_point(scope_, lens_, a), to = seen_point(scope_, lens_, b);
        if (!from.visible || !to.visible) continue;
        // The point of the straight line on the screen where the edge's own middle lies.
        const SeenPoint middle = seen_point(scope_, lens_, 0.5 * (a + b));
        const glm::dvec2 along = to.location - from.location;
        if (glm::dot(along, along) < 1e-12) continue;
        const double t = glm::dot(middle.location - from.location, along) / glm::dot(along, along);
        error = std::max(error, glm::distance(middle.location, from.location + t * along));
      }
    }
    return error;
  };
  for (const ToolPart& part : shaft_parts(InstrumentKind::Grasper, 0.0025))
    EXPECT_LT(worst(part.mesh, part_pose(pose, 0.0, 1.0, part)), 1.0 / 360) << "a pixel of 720 lines";
  for (const ToolPart& part : tip_parts(InstrumentKind::Grasper, 0.0025))
    EXPECT_LT(worst(part.mesh, part_pose(pose, 0.0, 1.0, part)), 1.0 / 360);
  EXPECT_LT(worst(make_cavity({0, 0.07f, 0.12f}, {0.33f, 0.26f, 0.24f}), glm::dmat4(1.0)), 1.0 / 360);
}

TEST_F(ViewTest, EveryInstrumentIsDrawn) {
  for (const InstrumentKind kind : kInstrumentKinds) {
    tools_.clear();
    const Picture without = draw();
    tools_ = {tool(kind, {0, 0.01, 0.06})};
    const Picture with = draw();
    EXPECT_GT(with.changed(without), 300u);
    const SeenPoint shaft = seen_point(
        scope_, lens_, tools_[0].pose.tip + 0.03 * glm::normalize(tools_[0].pose.pivot - tools_[0].pose.tip));
    const glm::ivec3 colour = with.at(shaft.location);
    EXPECT_LT(std::abs(colour.x - colour.z), 12) << "insulation is grey, tissue is red";
  }
}

TEST_F(ViewTest, ShadowsDarkenTheTissue) {
  tools_ = {tool(InstrumentKind::Probe, {0, 0, 0.056})};
  settings_.lamp_offset = {0.0f, 0.03f};
  const Picture with = draw();
  const auto brightness = [&](const Picture& picture, const glm::vec3& point) {
    const glm::ivec3 c = picture.at(seen_point(scope_, lens_, point).location);
    return c.x + c.y + c.z;
  };
  // Below the shaft (the lamp is above), beside the tip: darker than without the tool.
  tools_.clear();
  const Picture without = draw();
  int darker = 0;
  for (int k = 0; k < 40; ++k) {
    const glm::vec3 point = 0.05f * glm::normalize(glm::vec3(0.1f, -0.30f + 0.01f * static_cast<float>(k), 1.f));
    darker += brightness(with, point) < 0.8 * brightness(without, point);
  }
  EXPECT_GT(darker, 3);
}

TEST_F(ViewTest, BurningSmokes) {
  tools_ = {tool(InstrumentKind::Hook, {0, -0.01, 0.05})};
  tools_[0].touching = true;
  const auto last_of = [&](bool energy) {
    tools_[0].energy = energy ? Diathermy::Cut : Diathermy::Off;
    tools_[0].heats = energy;
    settings_.time = 0.0;
    draw();
    Picture picture;
    for (int k = 1; k <= 30; ++k) {
      settings_.time = k / 20.0;
      picture = draw();
    }
    return picture;
  };
  const Picture clear = last_of(false), smoky = last_of(true);
  EXPECT_GT(clear.changed(smoky), 1000u);
  EXPECT_EQ(smoky.changed(last_of(true)), 0u);  // a repetition
}

TEST_F(ViewTest, MarksAndZonesAreVisibleAndTissueHidesMarks) {
  const Picture plain = draw();
  marks_.targets = {{{0, 0, 0.05f}, 0.005f, MarkState::Next}};
  EXPECT_GT(plain.changed(draw()), 100u);
  marks_.targets = {{{0, 0, -0.05f}, 0.005f, MarkState::Next}};
  EXPECT_EQ(plain.changed(draw()), 0u);
  marks_.targets.clear();
  const std::vector<glm::vec3> path = {{-0.02f, 0, 0.046f}, {0, 0, 0.05f}, {0.02f, 0, 0.046f}};
  marks_.paths = {{path, 0.002f, 1, MarkState::Next}};
  EXPECT_GT(plain.changed(draw()), 100u);
  marks_.paths.clear();
  const std::vector<glm::dvec2> outline = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
  marks_.zones = {{outline, false}};
  const Picture zone = draw();
  EXPECT_GT(plain.changed(zone), 2000u);
  EXPECT_EQ(glm::length(glm::dvec3(zone.at({0.8, 0.0}) - plain.at({0.8, 0.0}))), 0.0);
  marks_.zones[0].violated = true;
  EXPECT_GT(zone.changed(draw()), 2000u);
}

TEST_F(ViewTest, DrawsOnAScreenOfFourThousandColumns) {
  for (const Quality quality : {Quality::Low, Quality::High}) {
    settings_.quality = quality;
    const Picture large = draw(3840, 2160), small = draw(320, 180);
    for (const glm::dvec2& position : {glm::dvec2(0.1, 0.2), glm::dvec2(-0.3, -0.3), glm::dvec2(0.8, 0.4)})
      EXPECT_LT(glm::length(glm::dvec3(large.at(position) - small.at(position))), 60.0);
  }
}

// Draws into a window of size 0, as when it is minimised: there is no OpenGL error, and the next picture is correct.
TEST_F(ViewTest, DrawsIntoPicturesOfNoSize) {
  for (const Quality quality : {Quality::Low, Quality::High})
    for (const glm::ivec2& size : {glm::ivec2(0, 0), {0, 1}, {1, 0}, {1, 1}, {300, 0}, {1, 300}, {300, 1}}) {
      while (glGetError() != GL_NO_ERROR) {
      }
      PictureTarget target(size.x, size.y);
      target.bind();
      ViewSettings settings;
      settings.quality = quality;
      view_->draw(organs_, {}, {}, scope_, {}, {}, settings, size.x, size.y);
      EXPECT_EQ(target.pixels().size(), static_cast<std::size_t>(std::max(size.x, 1) * std::max(size.y, 1)));
      PictureTarget::unbind();
      EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR)) << size.x << " x " << size.y;
    }
}

}  // namespace
}  // namespace trocar
