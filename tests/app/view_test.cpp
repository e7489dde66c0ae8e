// Renders the view and pictures of sessions off-screen and tests that objects of the scene appear at their expected
// positions; that each part of the look changes a picture; that Khronos's reference compiler accepts every shader; and
// the reader of PNG files: pictures that this file encodes itself come back pixel by pixel, damaged and unsuitable
// files are refused with one sentence that names them.
#include <glad/gl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "app/compare/backends.hpp"
#include "app/view/gl_shape.hpp"
#include "app/view/picture_file.hpp"
#include "app/view/view.hpp"
#include "geometry/error.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

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

using Pixels = std::vector<glm::u8vec3>;

constexpr int kWidth = 160, kHeight = 120;

// The task of a ball, after some frames.
class SessionPictureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!backends_.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends_.why_no_context() << ")";
    session_.emplace(scene_, backends_, "scan", std::vector<CheckPlan>{}, [](const InstrumentScene& instrument) {
      return make_script_device({instrument.pivot, instrument.tip, "press"});
    });
    task_.emplace(*scene_.task, stage_of(*session_));
    picture_.emplace(*backends_.context(), *session_);
  }

  void step() {
    for (std::uint64_t k = 0; k < 3; ++k, ++frame_)
      session_->step({frame_, static_cast<double>(frame_) / 60.0}, 1.0 / 60.0);
  }

  template <typename Draw>
  static Pixels pixels_of(const Draw& draw) {
    PictureTarget target(kWidth, kHeight);
    target.bind();
    draw();
    Pixels pixels = target.pixels();
    PictureTarget::unbind();
    return pixels;
  }
  Pixels draw(const SessionLook& look) {
    return pixels_of([&] { picture_->draw(*session_, look, kWidth, kHeight); });
  }

  TemporaryFolder folder_;
  Scene scene_ = load_scene(test::write_ball_task(folder_));
  Backends backends_;
  std::optional<Session> session_;
  std::optional<TaskRun> task_;
  std::optional<SessionPicture> picture_;
  std::uint64_t frame_ = 0;
};

TEST_F(SessionPictureTest, EqualsTheViewsPictureOfTheSameObjects) {
  step();
  std::vector<DrawnOrgan> organs;
  std::vector<DrawnTool> tools;
  DrawnBonds bonds;
  DrawnMarks marks;
  drawn_organs(*session_, organs);
  drawn_tools(*session_, tools);
  drawn_bonds(*session_, bonds);
  task_->draw(marks);
  View view(*backends_.context(), organs);
  const Pixels expected = pixels_of([&] {
    view.draw(organs, tools, bonds, session_->scope().pose, session_->scope().lens, marks, {}, kWidth, kHeight);
  });
  EXPECT_TRUE(draw({.task = &*task_}) == expected);
  EXPECT_TRUE(draw({.task = &*task_}) == expected) << "the second picture keeps nothing of the first";
}

TEST_F(SessionPictureTest, EachPartOfTheLookChangesIt) {
  const Pixels before = draw({});
  EXPECT_TRUE(draw({.task = &*task_}) == before) << "the marks of a task appear with its first frame";
  step();
  const Pixels plain = draw({});
  EXPECT_FALSE(draw({.task = &*task_}) == plain) << "marks";
  ScopePose nearer = session_->scope().pose;
  nearer.field_of_view_deg *= 0.7;
  EXPECT_FALSE(draw({.scope = nearer}) == plain) << "scope";
  Lens lens = session_->scope().lens;
  lens.barrel += 0.1;
  EXPECT_FALSE(draw({.lens = lens}) == plain) << "lens";
  std::vector<DrawnTool> ghosts;
  drawn_tools(*session_, ghosts);
  ghosts[0].pose.tip += glm::dvec3(0.03, 0.0, 0.0);
  EXPECT_FALSE(draw({.ghosts = ghosts}) == plain) << "ghosts";
  EXPECT_TRUE(draw({}) == plain) << "nothing of the look is kept";
}

TEST(ViewShaders, TheReferenceCompilerAcceptsThem) {
  Backends backends;
  if (!backends.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends.why_no_context() << ")";
  const ShaderSources shaders;
  const TriangleMesh sphere = shapes::icosphere(2, 0.05f);
  const std::vector<DrawnOrgan> organs{{sphere.view(), {0.4f, 0.08f, 0.06f}, sphere.positions, {}, 0}};
  View view(*backends.context(), organs);
  ScopePose scope = scope_looking_at({0, 0, 0.15}, {0, 0, 0}, 0.0, 0.0, 0.1);
  PictureTarget target(64, 48);
  target.bind();
  for (const Quality quality : {Quality::Low, Quality::Medium, Quality::High}) {
    ViewSettings settings;
    settings.quality = quality;
    view.draw(organs, {}, {}, scope, {}, {}, settings, 64, 48);
  }
  const TemporaryFolder folder;
  EXPECT_EQ(shaders.complaints(folder.path()), "");
  std::printf("%zu different shaders\n", shaders.sources.size());
  EXPECT_GE(shaders.sources.size(), 20u);
}

void put_number(std::string& to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(number >> shift & 0xff);
}

// CRC-32 of ISO/IEC 15948, annex D, bit by bit.
std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

std::uint32_t adler_of(const std::string& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) a = (a + static_cast<unsigned char>(byte)) % 65521, b = (b + a) % 65521;
  return b << 16 | a;
}

std::string chunk(const std::string& name, const std::string& content) {
  std::string text;
  put_number(text, static_cast<std::uint32_t>(content.size()));
  text += name + content;
  put_number(text, crc_of(name + content));
  return text;
}

struct Header {
  std::uint32_t width = 3, height = 2;
  unsigned char colour = 2;  // 2: red, green, blue; 6: and opacity
};

// Encodes rows of samples, from the top, as a PNG file whose compressed stream is one stored block.
std::string encode(const Header& header, const std::string& samples) {
  std::string rows;
  const std::size_t row = samples.size() / header.height;
  for (std::uint32_t k = 0; k < header.height; ++k) rows += '\0' + samples.substr(k * row, row);
  std::string head, stream = "\x78\x01\x01";
  put_number(head, header.width), put_number(head, header.height);
  head += '\x08', head += static_cast<char>(header.colour), head += std::string(3, '\0');
  const auto size = static_cast<std::uint16_t>(rows.size());
  for (const std::uint16_t half : {size, static_cast<std::uint16_t>(~size)})
    stream += static_cast<char>(half & 0xff), stream += static_cast<char>(half >> 8);
  stream += rows;
  put_number(stream, adler_of(rows));
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("IDAT", stream) + chunk("IEND", "");
}

class PictureFiles : public ::testing::Test {
 protected:
  // Returns the sentence of the error; "read" when there is none.
  std::string sentence(const std::string& content) {
    try {
      read_picture(folder_.write("p.png", content));
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  }

  TemporaryFolder folder_;
};

TEST_F(PictureFiles, PixelsComeBack) {
  std::mt19937 random(1401);
  for (const auto& [colour, parts] : {std::pair<unsigned char, int>{2, 3}, {6, 4}}) {
    const Header header{.width = 7, .height = 5, .colour = colour};
    std::string samples;
    for (int k = 0; k < 7 * 5 * parts; ++k) samples += k % parts == 3 ? '\xff' : static_cast<char>(random());
    const PictureFile picture = read_picture(folder_.write("p.png", encode(header, samples)));
    ASSERT_EQ(picture.size, glm::ivec2(7, 5));
    ASSERT_EQ(picture.pixels.size(), 35u);
    for (int row = 0; row < 5; ++row)
      for (int column = 0; column < 7; ++column)
        for (int part = 0; part < 3; ++part)
          EXPECT_EQ(picture.pixels[static_cast<std::size_t>((4 - row) * 7 + column)][part],
                    static_cast<unsigned char>(samples[static_cast<std::size_t>((row * 7 + column) * parts + part)]));
  }
}

TEST_F(PictureFiles, UnsuitableFilesAreOneSentence) {
  const std::string samples(18, 'x');
  EXPECT_EQ(sentence(encode({}, samples)), "read");
  for (const auto& [content, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "not a complete PNG file"},
           {"GIF89a" + samples + samples, "not a complete PNG file"},
           {encode({.width = 0}, samples), "not a complete PNG file"},
           {encode({.width = 1u << 31}, samples), "not a complete PNG file"},
           {encode({.width = 2049}, samples), "2049 x 2 pixels"},
           {encode({.colour = 3}, samples.substr(0, 6)), "not a complete PNG file"},  // no palette
           {std::string(kLargestPictureFile + 1, 'x'), "8 MiB"}}) {
    const std::string text = sentence(content);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("p.png"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  EXPECT_THROW(read_picture(folder_.path() / "missing.png"), InputError);
  EXPECT_THROW(read_picture(folder_.path()), InputError);
}

TEST_F(PictureFiles, AFileCutShortIsRefused) {
  const std::string whole = encode({}, std::string(18, 'x'));
  const std::size_t end = whole.size() - 12;  // without the last chunk, which is empty
  for (std::size_t size = 0; size < end; ++size) EXPECT_NE(sentence(whole.substr(0, size)), "read") << size;
}

TEST_F(PictureFiles, DamagedBytesNeverCrash) {
  const std::string whole = encode({.width = 30, .height = 20}, std::string(30 * 20 * 3, 'x'));
  std::mt19937 random(1402);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (unsigned k = 0; k < 1 + random() % 4; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string text = sentence(damaged);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST_F(PictureFiles, PicturesOfTheScenesAreRead) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(repository_file("data/scenes"))) {
    if (entry.path().extension() != ".png") continue;
    const PictureFile picture = read_picture(entry.path());
    EXPECT_EQ(picture.pixels.size(), std::size_t(picture.size.x) * std::size_t(picture.size.y)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 7);
}

}  // namespace

}  // namespace trocar
