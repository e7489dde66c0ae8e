// Tests the view: its parts without OpenGL, and pictures rendered off-screen.
#include <glad/gl.h>

#include <initializer_list>

#include "app/compare/backends.hpp"
#include "app/view/drawn.hpp"
#include "app/view/drawn_ticks.hpp"
#include "app/view/frame_block.hpp"
#include "app/view/gl_shape.hpp"
#include "app/view/mark_layer.hpp"
#include "app/view/organ_layer.hpp"
#include "app/view/picture_file.hpp"
#include "app/view/tissue_light.hpp"
#include "app/view/tissue_texture.hpp"
#include "app/view/tool_layer.hpp"
#include "app/view/view.hpp"
#include "geometry/error.hpp"
#include "geometry/planar/polygon.hpp"
#include "mesh/organ_maker.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Renders the view and pictures of sessions off-screen and tests that objects of the scene appear at their expected
// positions; that each part of the look changes a picture; that Khronos's reference compiler accepts every shader; and
// the reader of PNG files: pictures that this file encodes itself come back pixel by pixel, damaged and unsuitable
// files are refused with one sentence that names them.

TEST(VertexNormals, PointOutwardOnASphere) {
  const TriangleMesh sphere = shapes::icosphere(3, 0.1f);
  std::vector<glm::vec3> normals(sphere.positions.size());
  vertex_normals(sphere.view(), normals);
  for (std::size_t k = 0; k < normals.size(); ++k)
    EXPECT_GT(glm::dot(normals[k], glm::normalize(sphere.positions[k])), 0.999f);
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
    drawn.kind = kind, drawn.pose = {tip + glm::dvec3(0.12, 0.06, 0.05), tip, 0.0025};
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
  for (std::uint32_t face = 0; face < sphere_.faces.size(); ++face)
    if (sphere_.positions[sphere_.faces[face].x].z > 0.045f) touches.push_back({FaceId{face}, {}, {}, 0.f, 0.f});
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

// Fog takes contrast and adds light inside the round field; the black around it stays.
TEST_F(ViewTest, FogBlursAndBrightens) {
  struct Measure {
    double light = 0.0, contrast = 0.0;
  };
  const auto measure = [&](const Picture& picture) {
    Measure sum;
    for (int row = 60; row < 180; ++row)
      for (int column = 100; column < 220; ++column) {
        const auto at = [&](int c) {
          return glm::dvec3(picture.pixels[static_cast<std::size_t>(row * picture.width + c)]);
        };
        sum.light += glm::dot(at(column), glm::dvec3(1.0));
        sum.contrast += glm::length(at(column + 1) - at(column));
      }
    return sum;
  };
  tools_ = {tool(InstrumentKind::Grasper, {0.0, 0.0, 0.06})};
  const Picture plain = draw();
  Measure before = measure(plain);
  for (const float fog : {0.15f, 0.4f, 0.85f}) {
    settings_.look.fog = fog;
    const Picture fogged = draw();
    const Measure now = measure(fogged);
    std::printf("fog %.2f: light %.2f, contrast %.2f of the picture without\n", static_cast<double>(fog),
                now.light / measure(plain).light, now.contrast / measure(plain).contrast);
    EXPECT_LT(now.contrast, before.contrast);
    EXPECT_GT(now.light, measure(plain).light);
    EXPECT_EQ(fogged.pixels.front(), glm::u8vec3(0)) << "outside the field";
    before = now;
  }
  settings_.look.fog = 0.f;
  EXPECT_EQ(plain.changed(draw()), 0u);
}

TEST_F(ViewTest, InItsPortTheScopeSeesNothing) {
  settings_.look.dark = 1.f;
  const Picture dark = draw();
  EXPECT_TRUE(std::ranges::all_of(dark.pixels, [](const glm::u8vec3& pixel) { return pixel.r < 8 && pixel.g < 8; }));
}

// A camera head that is turned turns the picture about its centre, clockwise.
TEST_F(ViewTest, ATurnedHeadTurnsThePicture) {
  const auto middle_of_tool = [&] {
    tools_.clear();
    const Picture without = draw();
    tools_ = {tool(InstrumentKind::Probe, {0.02, 0.0, 0.05})};
    glm::dvec2 middle;
    EXPECT_GT(without.changed(draw(), middle), 100u);
    return middle;
  };
  const glm::dvec2 level = middle_of_tool();
  settings_.look.turn_deg = 90.f;
  const glm::dvec2 turned = middle_of_tool();
  EXPECT_NEAR(turned.x, level.y, 0.05);
  EXPECT_NEAR(turned.y, -level.x, 0.05);
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

// A strand thinner than a pixel is fainter in proportion to its width, so that it does not flicker when it moves.
TEST_F(ViewTest, AThinStrandFades) {
  const Picture plain = draw();
  const auto light_of = [&](float radius, float shift) {
    bonds_.strands = {{{-0.02f, shift, 0.06f}, {0.02f, shift, 0.06f}, radius}};
    const Picture with = draw();
    double sum = 0.0;
    for (std::size_t k = 0; k < with.pixels.size(); ++k)
      sum += std::abs(static_cast<double>(with.pixels[k].g) - static_cast<double>(plain.pixels[k].g));
    return sum;
  };
  const double thin = light_of(4e-5f, 0.f), half = light_of(2e-5f, 0.f);
  std::printf("light of a strand: %.0f, with half the radius %.0f\n", thin, half);
  EXPECT_NEAR(half / thin, 0.5, 0.2);
  for (const float shift : {3e-5f, 7e-5f, 1.1e-4f}) EXPECT_NEAR(light_of(4e-5f, shift) / thin, 1.0, 0.25) << shift;
}

// Each look differs from the others; fat is yellower.
TEST_F(ViewTest, EveryLookIsDifferent) {
  std::vector<Picture> pictures;
  // Green over red, of the sphere beside its highlight.
  const auto yellow = [](const Picture& picture) {
    glm::dvec3 sum(0.0);
    for (double x = -0.65; x <= -0.4; x += 0.01)
      for (double y = -0.3; y <= 0.3; y += 0.01) sum += glm::dvec3(picture.at({x, y}));
    return sum.g / sum.r;
  };
  for (const TissueLook look : kTissueLooks) {
    organs_[0].look = look;
    pictures.push_back(draw());
  }
  for (std::size_t a = 0; a < pictures.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(pictures[a].pixels == pictures[b].pixels) << a << ' ' << b;
  EXPECT_GT(yellow(pictures[static_cast<std::size_t>(TissueLook::Fat)]), 1.3 * yellow(pictures[0]));
}

// The waves of the film flow with time; the same times give the same picture.
TEST_F(ViewTest, TheFilmFlows) {
  const Picture first = draw();
  settings_.time = 2.0;
  const Picture later = draw();
  EXPECT_GT(first.changed(later), 50u);
  settings_.time = 0.0;
  EXPECT_TRUE(draw().pixels == first.pixels);
}

// So does a clip, across the view; it lies where its pose says.
TEST_F(ViewTest, ClipsAreVisibleInFront) {
  const Picture plain = draw();
  glm::dvec2 middle;
  bonds_.clips = {{{{0.f, 0.f, 0.06f}, {1.f, 0.f, 0.f}, {0.f, 1.f, 0.f}, 5e-4f}, 0.0085f}};
  // It lies over the highlight, as bright as its steel, so some of its pixels differ little.
  EXPECT_GT(plain.changed(draw(), middle), 70u);
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
  tools_[1].ghost = true, tools_[1].pose.pivot.z = -0.2;
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
    settings_.quality = quality, settings_.round_field = true;
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
  for (const double spin : {0.0, 90.0, 220.0})
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

// The lens bends lines between vertices invisibly: tested at the middle of every drawn edge of shaft and cavity.
TEST_F(ViewTest, MeshesAreFineEnoughForTheLens) {
  scope_ = scope_looking_at({0, -0.105, 0.265}, {-0.018, 0.055, 0.15}, 0.0, 0.0, 0.16);
  const ToolPose pose{{-0.095, -0.075, 0.265}, {-0.06, 0.075, 0.178}, 0.0025};
  const auto worst = [&](const TriangleMesh& mesh, const glm::dmat4& world) {
    double error = 0.0;
    for (const glm::uvec3& face : mesh.faces)
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
    tools_[0].energy = energy ? Diathermy::Cut : Diathermy::Off, tools_[0].heats = energy;
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

// A jet starts at its source, goes first where it points, falls, thins out, and is thicker when more flows.
TEST(Blood, AJetFallsAndFollowsThePulse) {
  std::vector<DrawnStrand> none, weak, strong;
  add_jet({{}, {}, 0.04f, 1.f}, none);
  EXPECT_TRUE(none.empty()) << "a source without a surface has no direction";
  const glm::vec3 from(0.01f, 0.02f, 0.03f), towards(1.f, 0.f, 0.f);
  add_jet({from, towards, 0.04f, 0.4f}, weak);
  add_jet({from, towards, 0.04f, 1.6f}, strong);
  ASSERT_EQ(weak.size(), strong.size());
  EXPECT_EQ(strong.front().from, from);
  const auto fall = [&](const std::vector<DrawnStrand>& jet) { return from.z - jet.back().from.z; };
  EXPECT_GT(fall(strong), 0.f);
  EXPECT_NEAR(fall(weak) / fall(strong), 16.f, 0.01f) << "a quarter of the speed, four times the time";
  EXPECT_NEAR(strong.front().radius, 2.f * weak.front().radius, 1e-7f) << "the section goes with the flow";
  for (std::size_t k = 1; k < strong.size(); ++k) EXPECT_LT(strong[k].radius, strong[k - 1].radius);
  EXPECT_LE(strong.back().to.x, from.x + 0.0401f);
}

// A pool lies below the first source of blood at rest; its area is the volume over 1 mm.
TEST(Blood, APoolHasItsVolume) {
  const TriangleMesh ball = shapes::icosphere(2, 0.03f);
  const std::vector<MeshView> organs{ball.view(), ball.view()};
  const std::vector<BleedSource> sources{{0, 3, BleedKind::Perforation}, {1, 7, BleedKind::Vessel}};
  EXPECT_EQ(pool_below(0.0, sources, organs).radius, 0.f);
  EXPECT_EQ(pool_below(1e-6, std::span(sources).first(1), organs).radius, 0.f) << "bile";
  const DrawnPool pool = pool_below(10.0 * kMillilitre, sources, organs);
  EXPECT_EQ(pool.middle, glm::vec2(ball.positions[7]));
  EXPECT_NEAR(pool.radius * pool.radius * 3.14159265f * 1e-3f, 10e-6f, 1e-10f);
}

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

// A backdrop is lit and hides what is behind it, as an organ that does not move; marks and touches leave it alone.
TEST_F(SessionPictureTest, BackdropsAreSeenBehindTheOrgans) {
  step();
  std::vector<DrawnOrgan> organs;
  drawn_organs(*session_, organs);
  const ScopePose& scope = session_->scope().pose;
  const auto picture_of = [&](std::span<const DrawnOrgan> moving, std::vector<DrawnBackdrop> still) {
    View view(*backends_.context(), moving, std::move(still));
    return pixels_of([&] { view.draw(moving, {}, {}, scope, session_->scope().lens, {}, {}, kWidth, kHeight); });
  };
  const TriangleMesh ball =
      shapes::icosphere(3, 0.03f, glm::vec3(scope.eye + 0.3 * axes_of(scope).forward + 0.05 * axes_of(scope).right));
  std::vector<DrawnOrgan> both = organs;
  both.push_back({ball.view(), {0.6f, 0.3f, 0.2f}, ball.positions, {}, 0});
  both.back().look = TissueLook::Fat;
  const Pixels without = picture_of(organs, {}),
               with = picture_of(organs, {{ball, {0.6f, 0.3f, 0.2f}, TissueLook::Fat}});
  EXPECT_FALSE(with == without);
  // The cavity goes around the organs alone, so it differs.
  const Pixels as_organ = picture_of(both, {});
  const auto at = [](const Pixels& pixels, int x, int y) { return pixels[static_cast<std::size_t>(y * kWidth + x)]; };
  const SeenPoint seen =
      seen_point(scope, session_->scope().lens, scope.eye + 0.3 * axes_of(scope).forward + 0.05 * axes_of(scope).right);
  const int x = static_cast<int>(0.5 * kWidth + seen.location.x * 0.5 * kHeight),
            y = static_cast<int>(0.5 * kHeight + seen.location.y * 0.5 * kHeight);
  EXPECT_EQ(at(with, x, y), at(as_organ, x, y));
}

// At a tick the kept picture is that of the session at that tick; halfway between two it lies in the middle.
TEST(DrawnTicks, MovesFromTickToTick) {
  const TemporaryFolder folder;
  const Scene scene = load_scene(test::write_ball_task(folder));
  Backends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, "press"});
  });
  DrawnTicks ticks;
  std::vector<std::vector<glm::vec3>> surfaces;  // [tick][vertex]
  std::vector<glm::dvec3> tips;                  // [tick]
  for (std::uint64_t k = 0; k < 60; ++k) {
    session.step({k, static_cast<double>(k) / 60.0}, 1.0 / 60.0);
    surfaces.push_back(session.organs()[0].positions);
    tips.push_back(session.instruments()[0].pose.tip);
    ticks.keep(session, k, static_cast<double>(k) / 60.0);
  }
  EXPECT_NE(surfaces[58], surfaces[59]);
  for (const std::size_t tick : {58, 59}) {
    const DrawnMoment moment = ticks.at(static_cast<double>(tick));
    EXPECT_TRUE(std::ranges::equal(moment.organs[0].positions, surfaces[tick])) << tick;
    EXPECT_EQ(moment.tools[0].pose.tip, tips[tick]);
    EXPECT_EQ(moment.time, static_cast<double>(tick) / 60.0);
  }
  const DrawnMoment between = ticks.at(58.5);
  for (std::size_t v = 0; v < surfaces[58].size(); ++v)
    ASSERT_LT(glm::distance(between.organs[0].positions[v], 0.5f * (surfaces[58][v] + surfaces[59][v])), 1e-7f);
  EXPECT_LT(glm::distance(between.tools[0].pose.tip, 0.5 * (tips[58] + tips[59])), 1e-12);
  EXPECT_TRUE(std::ranges::equal(ticks.at(10.0).organs[0].positions, surfaces[58])) << "not kept any longer";
  EXPECT_TRUE(std::ranges::equal(ticks.at(70.0).organs[0].positions, surfaces[59])) << "not known yet";
  EXPECT_EQ(ticks.at(58.0).organs[0].touches.touches.size() > 0, session.touched() > 0);
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

// Draws a row of pixels with a formula of a shader, and returns what it computes. x: 0.5, 1.5, ... in the formula.
std::vector<glm::vec4> computed(GlContext& context, const std::string& formula, int count) {
  context.share();
  std::string head = "#version 330\n";
  for (const char* file : {"frame.glsl", "lamp.glsl"}) head += view_shader(file);
  const std::string vertex = head +
                             "void main() { vec2 p = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);\n"
                             "gl_Position = vec4(p * 2.0 - 1.0, 0.0, 1.0); }";
  const std::string fragment = head + std::string(view_shader("lighting.glsl")) +
                               "out vec4 result;\nvoid main() { float x = gl_FragCoord.x; result = " + formula + "; }";
  const gl::ShaderStage stages[] = {{GL_VERTEX_SHADER, vertex}, {GL_FRAGMENT_SHADER, fragment}};
  const gl::Program program = gl::make_program("formula", stages);
  glUniformBlockBinding(program.name(), glGetUniformBlockIndex(program.name(), "Frame"), kFrameBinding);
  FrameBlock block;
  block.right_pixel = {1.f, 0.f, 0.f, 0.01f}, block.up = {0.f, 1.f, 0.f, 1.f}, block.haze = {0.f, 0.f, 0.f, 1.f};
  const gl::Buffer buffer = gl::make_buffer();
  glBindBuffer(GL_UNIFORM_BUFFER, buffer.name());
  glBufferData(GL_UNIFORM_BUFFER, sizeof(block), &block, GL_STATIC_DRAW);
  glBindBufferBase(GL_UNIFORM_BUFFER, kFrameBinding, buffer.name());
  GLuint texture = 0, framebuffer = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, count, 1, 0, GL_RGBA, GL_FLOAT, nullptr);
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  const gl::VertexArray empty = gl::make_vertex_array();
  glBindVertexArray(empty.name());
  glViewport(0, 0, count, 1);
  glDisable(GL_DEPTH_TEST), glDisable(GL_BLEND), glDisable(GL_CULL_FACE);
  glUseProgram(program.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
  std::vector<glm::vec4> values(static_cast<std::size_t>(count));
  glReadPixels(0, 0, count, 1, GL_RGBA, GL_FLOAT, values.data());
  glUseProgram(0);
  glBindVertexArray(0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteTextures(1, &texture);
  return values;
}

// The formulas of lighting.glsl in C++.

// The light that leaves a round surface, for N.L = `facing` and spread = diffusion length times curvature.
float scattered(float facing, float spread) {
  const float width = std::min(2.f * spread + 0.02f, 1.f), y = std::clamp(facing + width, 0.f, 2.f * width);
  const float local = y * y / (4.f * width) + std::max(facing - width, 0.f);
  return glm::mix(0.318f, local, 1.f / (1.f + 1.6f * spread * spread));
}

// What scattered() approximates: the integral over the circle, with the profile exp(-r) of the dipole in the distance
// (r in diffusion lengths).
double integrated_scattering(double facing, double spread) {
  constexpr int kSteps = 4000;
  const double angle = std::acos(facing);
  double sum = 0.0, weights = 0.0;
  for (int k = 0; k < kSteps; ++k) {
    const double turn = 2.0 * std::numbers::pi * ((k + 0.5) / kSteps - 0.5);
    const double weight = std::exp(-2.0 * std::abs(std::sin(0.5 * turn)) / spread);
    sum += weight * std::max(std::cos(angle + turn), 0.0);
    weights += weight;
  }
  return sum / weights;
}

// The highlight of a surface with light and eye in one direction, relative to a white diffuse surface.
float highlight(float sine2, float alpha2, float f0) {
  const float t = sine2 * (1.f - alpha2) + alpha2;
  return 0.25f * f0 * alpha2 / (t * t);
}

TEST(ViewShaders, ComputeTheLightOfTheirTwins) {
  Backends backends;
  if (!backends.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends.why_no_context() << ")";
  constexpr int kCount = 200;
  const auto strengths = computed(*backends.context(), "vec4(lamp_strength(vec3(0.02, -0.01, 0.002 * x)))", kCount);
  const auto spreads = computed(*backends.context(), "scattered(vec2(x / 100.0 - 1.0), vec2(0.07, 0.6)).xyxy", kCount);
  const auto highlights = computed(*backends.context(), "vec4(highlight(x / 200.0, 0.07, 0.022))", kCount);
  for (int k = 0; k < kCount; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const float x = static_cast<float>(k) + 0.5f;
    EXPECT_NEAR(strengths[at].x, lamp_strength({0.02f, -0.01f, 0.002f * x}, {0.f, 0.f, -1.f}), 1e-5f);
    EXPECT_NEAR(spreads[at].x, scattered(x / 100.f - 1.f, 0.07f), 1e-5f);
    EXPECT_NEAR(spreads[at].y, scattered(x / 100.f - 1.f, 0.6f), 1e-5f);
    EXPECT_NEAR(highlights[at].x, highlight(x / 200.f, 0.07f, 0.022f), 1e-5f);
  }
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

// Tests the parts of the view that need no OpenGL: shadow, smoke, marks, noise, creases, vessels, automatic quality.

constexpr unsigned kSeed = 5;

DrawnTool tool_at(const glm::dvec3& pivot, const glm::dvec3& tip) {
  DrawnTool tool;
  tool.pose = {pivot, tip, 0.0025};
  return tool;
}

// The integral of the dipole's profile over the circle; the error is largest where the surface is as round as light
// spreads.
TEST(TissueLight, ScatteringApproximatesTheIntegral) {
  double worst = 0.0;
  for (const float spread : {0.02f, 0.05f, 0.1f, 0.2f, 0.4f, 0.8f, 1.5f})
    for (float facing = -1.f; facing <= 1.f; facing += 0.05f) {
      const double error = static_cast<double>(scattered(facing, spread)) -
                           integrated_scattering(static_cast<double>(facing), static_cast<double>(spread));
      worst = std::max(worst, std::abs(error));
      EXPECT_LT(std::abs(error), spread < 0.15f ? 0.012 : 0.06) << spread << ' ' << facing;
    }
  std::printf("largest error of the scattered light: %.4f\n", worst);
}

// A film's highlight peaks at F0 / (4 alpha^2), and reflects F0 in all: the distribution is normalised.
TEST(TissueLight, AHighlightKeepsItsEnergy) {
  for (const float alpha2 : {0.004f, 0.07f}) {
    EXPECT_NEAR(highlight(0.f, alpha2, 0.022f), 0.25f * 0.022f / alpha2, 1e-5f);
    double sum = 0.0;
    constexpr int kSteps = 20000;
    for (int k = 0; k < kSteps; ++k) {
      const double angle = 1.5707963 * (k + 0.5) / kSteps, sine = std::sin(angle);
      const double weight = 2.0 * sine * std::cos(angle) * 1.5707963 / kSteps;
      sum += weight * static_cast<double>(highlight(static_cast<float>(sine * sine), alpha2, 1.f));
    }
    EXPECT_NEAR(4.0 * sum, 1.0, 0.01) << alpha2;
  }
}

TEST(TissueLight, TheLampFallsWithTheSquareOfTheDistanceAndTheBeam) {
  const glm::vec3 axis(0.f, 0.f, -1.f);
  EXPECT_NEAR(lamp_strength({0.f, 0.f, 0.1f}, axis), 1.f, 1e-3f);
  EXPECT_NEAR(lamp_strength({0.f, 0.f, 0.2f}, axis) / lamp_strength({0.f, 0.f, 0.4f}, axis), 3.94f, 0.01f);
  EXPECT_LT(lamp_strength({0.f, 0.f, 0.001f}, axis), 12.2f) << "the floor";
  const glm::vec3 aside(0.1f * std::sin(0.5f), 0.f, 0.1f * std::cos(0.5f));
  EXPECT_NEAR(lamp_strength(aside, axis), std::pow(std::cos(0.5f), 4.f), 1e-3f);
  EXPECT_EQ(lamp_strength({0.f, 0.f, -0.1f}, axis), 0.f) << "behind the lamp";
}

TEST(TissueLight, ASphereHasTheCurvatureOfItsRadius) {
  for (const float radius : {0.003f, 0.02f, 0.05f}) {
    const TriangleMesh sphere = shapes::icosphere(3, radius);
    std::vector<glm::vec3> normals(sphere.positions.size());
    std::vector<float> curvatures(sphere.positions.size());
    vertex_normals(sphere.view(), normals);
    vertex_curvatures(sphere.view(), normals, curvatures);
    for (const float curvature : curvatures) EXPECT_NEAR(curvature * radius, 1.f, 0.03f);
  }
  const TriangleMesh tiny = shapes::icosphere(2, 1e-4f);
  std::vector<glm::vec3> normals(tiny.positions.size());
  std::vector<float> curvatures(tiny.positions.size());
  vertex_normals(tiny.view(), normals);
  vertex_curvatures(tiny.view(), normals, curvatures);
  EXPECT_LE(std::ranges::max(curvatures), kMostCurvature);
}

// The picture is metered without what lies behind other tissue.
TEST(LightMeter, SeesTheNearestTissue) {
  const ScopePose scope = scope_looking_at({0, 0, 0.15}, {0, 0, 0}, 0.0, 0.0, 0.1);
  const glm::mat4 clip = frame_block(scope, {}, {}, 400, 300).clip_from_world;
  const TriangleMesh front = shapes::icosphere(4, 0.05f);
  std::vector<glm::vec3> normals(front.positions.size()), behind = front.positions;
  vertex_normals(front.view(), normals);
  for (glm::vec3& p : behind) p.z -= 0.2f;
  LightMeter meter;
  const auto mean_of = [&](const std::vector<const std::vector<glm::vec3>*>& shapes) {
    meter.start(clip, 4.f / 3.f, 1.f, glm::vec3(scope.eye), {0.f, 0.f, -1.f});
    for (const auto* positions : shapes) meter.add(*positions, normals, 0.2f);
    return meter.mean();
  };
  const float lone = mean_of({&front.positions}), distant = mean_of({&behind});
  EXPECT_GT(lone, 4.f * distant);
  EXPECT_EQ(mean_of({&front.positions, &behind}), lone);
  EXPECT_EQ(mean_of({&behind, &front.positions}), lone);
}

// The camera follows within its time constant; a jump and a still picture start at the goal.
TEST(Exposure, FollowsTheBrightness) {
  const glm::mat4 view(1.f), other(2.f);
  Exposure exposure;
  const float dark = exposure.advance(0.05f, view, 0.0);
  Exposure bright;
  const float goal = bright.advance(0.10f, view, 0.0);
  EXPECT_NEAR(dark / goal, 2.f, 1e-4f);
  float gain = dark;
  for (int k = 1; k <= 9; ++k) gain = exposure.advance(0.10f, view, k / 30.0);
  EXPECT_NEAR(std::log(gain / goal) / std::log(dark / goal), std::exp(-1.0), 1e-3) << "after 0.3 s";
  EXPECT_EQ(exposure.advance(0.05f, view, 0.3), gain) << "the same moment";
  EXPECT_NEAR(exposure.advance(0.10f, other, 0.3), goal, 1e-5f) << "another view at the same moment";
  EXPECT_NEAR(exposure.advance(0.05f, view, 9.0), dark, 1e-5f) << "a jump";
  EXPECT_NEAR(exposure.advance(0.10f, view, 2.0), goal, 1e-5f) << "back";
  EXPECT_GT(Exposure{}.advance(0.f, view, 0.0), 1.f);
  EXPECT_LE(Exposure{}.advance(0.f, view, 0.0), 10.f) << "limited";
}

TEST(Haze, FillsWhileTissueBurnsAndClears) {
  float haze = 0.f;
  EXPECT_EQ(haze_after(haze, 0, 5.0), 0.f);
  for (int k = 0; k < 600; ++k) haze = haze_after(haze, 1, 1.0 / 60);
  EXPECT_GT(haze, 0.2f);
  EXPECT_LT(haze, 1.f);
  EXPECT_LT(haze_after(haze, 0, 30.0), 0.05f);
}

// Red, green and blue of the volume are the slope of its height, turned into the organ's frame.
TEST(Lobules, SlopesBelongToTheHeights) {
  const std::vector<std::uint8_t> volume = make_lobule_volume();
  ASSERT_EQ(volume.size(), std::size_t{4} * kLobuleSide * kLobuleSide * kLobuleSide);
  EXPECT_EQ(volume, make_lobule_volume());
  const auto at = [&](glm::ivec3 p, int part) {
    p = (p + kLobuleSide) % kLobuleSide;
    return static_cast<float>(
        volume[static_cast<std::size_t>(4 * ((p.z * kLobuleSide + p.y) * kLobuleSide + p.x) + part)]);
  };
  int low = 0, high = 0, agree = 0, steep = 0;
  for (int k = 0; k < 20000; ++k) {
    const glm::ivec3 p(k * 7 % 64, k * 13 / 5 % 64, k * 29 / 11 % 64);
    low += at(p, 3)<60.f, high += at(p, 3)> 180.f;
    const glm::vec3 rise(at(p + glm::ivec3(1, 0, 0), 3) - at(p - glm::ivec3(1, 0, 0), 3),
                         at(p + glm::ivec3(0, 1, 0), 3) - at(p - glm::ivec3(0, 1, 0), 3),
                         at(p + glm::ivec3(0, 0, 1), 3) - at(p - glm::ivec3(0, 0, 1), 3));
    const glm::vec3 slope = turned(glm::vec3(at(p, 0), at(p, 1), at(p, 2)) - 127.5f);
    if (glm::length(rise) < 40.f) continue;
    ++steep;
    agree += glm::dot(glm::normalize(slope), glm::normalize(rise)) < -0.8f;
  }
  EXPECT_GT(low, 500);
  EXPECT_GT(high, 1000);
  EXPECT_GT(steep, 1000);
  EXPECT_GT(agree, 0.9 * steep);
}

// Red spreads farther than green and blue, so a shadow has a red edge: beyond it red is darker, within it brighter.
TEST(Shadow, SpreadsInTheTissue) {
  const ShadowCapsule shaft[] = {{{-0.1f, 0, 0.05f}, {0.1f, 0, 0.05f}, 0.0025f}};
  const glm::vec3 lamp(0, 0, 0.15f);
  int redder = 0, bluer = 0;
  for (int k = 0; k < 200; ++k) {
    const glm::vec3 p(0.f, 5e-5f * static_cast<float>(k), 0.f);
    const float red = lit_share(p, lamp, shaft, 0.0015f), blue = lit_share(p, lamp, shaft, 0.0002f);
    redder += red > blue + 0.01f, bluer += blue > red + 0.01f;
  }
  EXPECT_GT(redder, 5);
  EXPECT_GT(bluer, 5);
}

TEST(Shadow, IsFullUnderTheShaftAndAbsentBesideIt) {
  const ShadowCapsule shaft[] = {{{-0.1f, 0, 0.05f}, {0.1f, 0, 0.05f}, 0.0025f}};
  const glm::vec3 lamp(0, 0, 0.15f);
  EXPECT_LT(lit_share({0, 0, 0}, lamp, shaft), 0.4f);
  EXPECT_NEAR(lit_share({0, 0.03f, 0}, lamp, shaft), 1.f, 1e-3f);
  // The point is nearer to the lamp than the shaft, so nothing occludes it.
  EXPECT_NEAR(lit_share({0, 0, 0.08f}, lamp, shaft), 1.f, 1e-3f);
}

// Compares the shadow with a march along the ray: in the middle of the penumbra the lamp's centre is just occluded.
TEST(Shadow, EdgeIsWhereTheRayGrazesTheCapsule) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> coordinate(-0.04f, 0.04f);
  const ShadowCapsule capsule[] = {{{-0.02f, -0.01f, 0.04f}, {0.06f, 0.03f, 0.07f}, 0.003f}};
  const glm::vec3 lamp(0.005f, 0.004f, 0.16f);
  int hidden = 0;
  for (int k = 0; k < 4000; ++k) {
    const glm::vec3 p(coordinate(random), coordinate(random), 0.f);
    float nearest = 1.f;
    for (int step = 0; step <= 2000; ++step) {
      const glm::vec3 q = glm::mix(p, lamp, static_cast<float>(step) / 2000.f);
      const glm::vec3 axis = capsule[0].end - capsule[0].begin;
      const float t = std::clamp(glm::dot(q - capsule[0].begin, axis) / glm::dot(axis, axis), 0.f, 1.f);
      nearest = std::min(nearest, glm::distance(q, capsule[0].begin + t * axis) - capsule[0].radius);
    }
    if (std::abs(nearest) < 2e-4f) continue;
    hidden += nearest < 0.f;
    EXPECT_EQ(lit_share(p, lamp, capsule) < 0.64f, nearest < 0.f) << nearest << " m";
  }
  EXPECT_GT(hidden, 100);
}

TEST(Shadow, PickedFacesContainEveryDarkPoint) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> coordinate(-0.06, 0.06);
  const TriangleMesh sphere = shapes::icosphere(4, 0.05f);
  float edge = 0.f;
  for (const glm::uvec3& f : sphere.faces)
    edge = std::max(edge, glm::distance(sphere.positions[f.x], sphere.positions[f.y]));
  std::vector<std::uint8_t> flags;
  std::vector<glm::uvec3> faces;
  std::size_t dark = 0, picked = 0, passed = 0;
  for (int k = 0; k < 40; ++k) {
    const glm::vec3 lamp(0.01f, 0.006f, 0.16f);
    const auto capsules = shadow_capsules(tool_at({0.12 + coordinate(random), coordinate(random), 0.15},
                                                  {coordinate(random), coordinate(random), 0.055}));
    faces_in_shade(sphere.view(), lamp, capsules, edge, flags, faces);
    picked += faces.size();
    const BoundingSphere all = bounding_sphere(sphere.positions);
    EXPECT_TRUE(faces.empty() || may_shade(capsules, lamp, all, edge));
    passed += may_shade(capsules, lamp, {{0.0, 0.12, 0.0}, 0.01}, edge);
    for (const glm::uvec3& face : sphere.faces) {
      const glm::vec3 a = sphere.positions[face.x], b = sphere.positions[face.y], c = sphere.positions[face.z];
      if (glm::dot(glm::cross(b - a, c - a), lamp - a) <= 0.f || lit_share((a + b + c) / 3.f, lamp, capsules) > 0.97f)
        continue;
      ++dark;
      EXPECT_TRUE(std::find(faces.begin(), faces.end(), face) != faces.end());
    }
  }
  EXPECT_GT(dark, 500u);
  EXPECT_LT(picked, 40 * sphere.faces.size() / 4);
  EXPECT_LT(passed, 20u) << "spheres beside the shadow";
}

TEST(Smoke, RisesFromABurningTipAndFades) {
  DrawnTool hook = tool_at({0.1, 0, 0.2}, {0, 0, 0});
  hook.kind = InstrumentKind::Hook;
  const auto alive = [](const SmokeState& s) {
    return std::count_if(s.puffs.begin(), s.puffs.end(), [](const SmokePuff& p) { return p.life > 0.f; });
  };
  SmokeState smoke;
  const auto run = [&](double from, double to) {
    for (double t = from; t < to; t += 1.0 / 30.0) advance(smoke, std::span(&hook, 1), t);
  };
  run(0.0, 1.0);
  EXPECT_EQ(alive(smoke), 0);  // without the pedal, no smoke
  hook.energy = Diathermy::Cut;
  run(1.0, 2.0);
  EXPECT_EQ(alive(smoke), 0);  // without tissue at the wire, no smoke
  hook.heats = true;
  run(2.0, 4.0);
  EXPECT_GT(alive(smoke), 15);
  float highest = 0.f;
  for (const SmokePuff& puff : smoke.puffs) highest = std::max(highest, puff.location.z);
  EXPECT_GT(highest, 0.01f);
  std::vector<SmokeVertex> vertices;
  smoke_vertices(smoke, vertices);
  EXPECT_EQ(vertices.size(), 6u * static_cast<std::size_t>(alive(smoke)));
  hook.energy = Diathermy::Off, hook.heats = false;
  run(4.0, 8.0);
  EXPECT_EQ(alive(smoke), 0);
}

TEST(Smoke, IsReproducibleAndClearsWhenTimeJumps) {
  DrawnTool hook = tool_at({0.1, 0, 0.2}, {0, 0, 0});
  hook.energy = Diathermy::Cut, hook.heats = true;
  const auto after = [&](double seconds) {
    SmokeState smoke;
    for (int k = 0; k <= static_cast<int>(seconds * 60.0); ++k) advance(smoke, std::span(&hook, 1), k / 60.0);
    return smoke;
  };
  SmokeState once = after(1.5);
  const SmokeState again = after(1.5);
  for (std::size_t k = 0; k < once.puffs.size(); ++k) EXPECT_EQ(once.puffs[k].location, again.puffs[k].location);
  advance(once, {}, 0.2);
  EXPECT_EQ(once.born, 0u);
}

TEST(Marks, StatesDifferInStyleAndPaint) {
  DrawnMarks marks;
  for (const MarkState state : {MarkState::Waiting, MarkState::Next, MarkState::Done, MarkState::Error})
    marks.targets.push_back({{0, 0, 0}, 0.004f, state});
  std::vector<DecalSegment> segments;
  mark_segments(marks, 0.0, segments);
  ASSERT_EQ(segments.size(), 4u);
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = a + 1; b < 4; ++b) {
      EXPECT_NE(segments[a].style, segments[b].style);
      EXPECT_GT(glm::distance(segments[a].paint, segments[b].paint), 0.3f);
    }
}

TEST(Marks, TheFinishedPartOfAPathHasItsOwnPaint) {
  const std::vector<glm::vec3> points = {{0, 0, 0}, {0.01f, 0, 0}, {0.02f, 0, 0}, {0.03f, 0, 0}};
  DrawnMarks marks;
  marks.paths.push_back({points, 0.002f, 2, MarkState::Next});
  std::vector<DecalSegment> segments;
  mark_segments(marks, 0.0, segments);
  ASSERT_EQ(segments.size(), 6u);  // three of the rim, three of the ribbon
  EXPECT_NE(segments[3].paint, segments[4].paint);
  EXPECT_EQ(segments[4].paint, segments[5].paint);
}

// The digits are strokes: none is empty, none fills its layer, no two are alike, and none touches the border.
TEST(Labels, TheDigitsAreDistinct) {
  const std::vector<std::uint8_t> digits = make_digits();
  const auto layer = static_cast<std::size_t>(kDigitTexels.x * kDigitTexels.y);
  ASSERT_EQ(digits.size(), 10 * layer);
  const auto ink = [&](std::size_t digit, std::size_t k) { return digits[digit * layer + k] >= 128; };
  for (std::size_t a = 0; a < 10; ++a) {
    std::size_t strokes = 0, border = 0;
    for (std::size_t k = 0; k < layer; ++k) {
      const auto x = k % static_cast<std::size_t>(kDigitTexels.x), y = k / static_cast<std::size_t>(kDigitTexels.x);
      strokes += ink(a, k) ? 1 : 0;
      border += ink(a, k) && (x == 0 || y == 0 || x == 31 || y == 47) ? 1 : 0;
    }
    EXPECT_GT(strokes, layer / 12) << a;
    EXPECT_LT(strokes, layer / 2) << a;
    EXPECT_EQ(border, 0u) << a;
    for (std::size_t b = a + 1; b < 10; ++b) {
      std::size_t differing = 0;
      for (std::size_t k = 0; k < layer; ++k) differing += ink(a, k) != ink(b, k) ? 1 : 0;
      EXPECT_GT(differing, layer / 30) << a << " and " << b;
    }
  }
}

TEST(Labels, TargetsInFrontWithANumberHaveOne) {
  const ScopePose scope = scope_looking_at({0, 0, 0.15}, {0, 0, 0}, 0.0, 0.0, 0.1);
  std::vector<LabelVertex> vertices;
  DrawnMarks marks;
  label_vertices(marks, {}, scope, 0.0, 0.003f, vertices);
  EXPECT_TRUE(vertices.empty());
  marks.targets = {{{0, 0, 0}, 0.004f, MarkState::Next, 0},
                   {{0, 0, 0}, 0.004f, MarkState::Waiting, 100},
                   {{0, 0, 0.2f}, 0.004f, MarkState::Next, 1}};
  label_vertices(marks, {}, scope, 0.0, 0.003f, vertices);
  EXPECT_TRUE(vertices.empty()) << "no number, a number without space, behind the eye";
  marks.targets = {{{0, 0, 0}, 0.004f, MarkState::Waiting, 7}};
  label_vertices(marks, {}, scope, 0.0, 0.003f, vertices);
  EXPECT_EQ(vertices.size(), 6u);
  EXPECT_EQ(vertices[0].corner_style_number.w, 7.f);
  marks.targets[0].state = MarkState::Next;
  label_vertices(marks, {}, scope, 0.0, 0.003f, vertices);
  EXPECT_EQ(vertices.size(), 12u) << "with a ring";
}

// The number stands at the upper right of its target; a tip there is seen through it, one elsewhere changes nothing.
TEST(Labels, ATipIsSeenThroughANumber) {
  const ScopePose scope = scope_looking_at({0, 0, 0.15}, {0, 0, 0}, 0.0, 0.0, 0.1);
  const ScopeAxes axes = axes_of(scope);
  DrawnMarks marks;
  marks.targets = {{{0, 0, 0}, 0.004f, MarkState::Waiting, 7}};
  const auto opacity = [&](const std::vector<glm::vec3>& tips) {
    std::vector<LabelVertex> vertices;
    label_vertices(marks, tips, scope, 0.0, 0.003f, vertices);
    return vertices.at(0).paint.a;
  };
  std::vector<LabelVertex> label;
  label_vertices(marks, {}, scope, 0.0, 0.003f, label);
  const glm::vec4 shift = label.at(0).shift_towards;
  const glm::vec3 middle = shift.x * glm::vec3(axes.right) + shift.y * glm::vec3(axes.up);
  const float usual = opacity({});
  EXPECT_LT(opacity({middle}), 0.5f * usual);
  EXPECT_LT(opacity({middle + 0.3f * (glm::vec3(scope.eye) - middle)}), 0.5f * usual) << "nearer to the eye";
  EXPECT_EQ(opacity({-middle}), usual);
  EXPECT_EQ(opacity({middle + 3.f * (glm::vec3(scope.eye) - middle)}), usual) << "behind the eye";
}

// Every surface point within the radius lies on a returned face; far faces are not returned.
TEST(Marks, DecalsCoverTheNearSurface) {
  const TriangleMesh sphere = shapes::icosphere(4, 0.05f);
  const std::vector<DecalSegment> segments = {{{0, 0, 0.05f}, {0, 0, 0.05f}, 0.006f, MarkStyle::Waiting, glm::vec4(1)}};
  std::vector<DecalVertex> vertices;
  add_decals(segments, sphere.view(), vertices);
  for (const glm::vec3& p : sphere.positions) {
    const bool given =
        std::any_of(vertices.begin(), vertices.end(), [&](const DecalVertex& vertex) { return vertex.position == p; });
    const float distance = glm::distance(p, segments[0].begin);
    if (distance < 0.006f || distance > 0.016f) {
      EXPECT_EQ(given, distance < 0.01f);
    }
  }
}

TEST(Marks, AZoneIsCoveredOnceByShortTriangles) {
  const std::vector<glm::dvec2> outline = {{-0.5, -0.5}, {0.6, -0.4}, {0.5, 0.5}, {0.0, 0.0}, {-0.5, 0.4}};
  const ZoneShape shape = make_zone_shape(outline);
  double area = 0.0;
  for (std::size_t k = 0; k < shape.inside.size(); k += 3) {
    const glm::dvec2 a = shape.inside[k].location, b = shape.inside[k + 1].location, c = shape.inside[k + 2].location;
    EXPECT_LT(glm::distance(a, b), 0.121);
    area += 0.5 * std::abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
  }
  EXPECT_NEAR(area, std::abs(planar::signed_area(outline)), 1e-5);
  EXPECT_FALSE(shape.outline.empty());
  EXPECT_TRUE(make_zone_shape(std::vector<glm::dvec2>{{0, 0}, {1, 1}, {1, 0}, {0, 1}}).inside.empty());
}

TEST(RandomShare, IsSpreadEvenlyAndDependsOnEveryArgument) {
  double sum = 0.0;
  int changed = 0;
  for (std::uint32_t k = 0; k < 1000; ++k) {
    const float share = random_share(k, 3, 5, 7);
    EXPECT_TRUE(share >= 0.f && share < 1.f);
    sum += share;
    for (const float other : {random_share(k, 4, 5, 7), random_share(k, 3, 6, 7), random_share(k, 3, 5, 8)})
      changed += std::abs(other - share) > 1e-4f;
  }
  EXPECT_NEAR(sum / 1000.0, 0.5, 0.03);
  EXPECT_GT(changed, 2950);
}

TEST(NoiseVolume, FillsItsRangeAndRepeatsSeamlessly) {
  const std::vector<std::uint8_t> volume = make_noise_volume();
  const auto at = [&](int x, int y, int z, int channel) {
    const int n = kNoiseSide;
    return static_cast<int>(volume[static_cast<std::size_t>((((z % n) * n + y % n) * n + x % n) * 4 + channel)]);
  };
  for (int channel = 0; channel < 4; ++channel) {
    double sum = 0.0, inside = 0.0, seam = 0.0;
    for (int y = 0; y < kNoiseSide; ++y)
      for (int z = 0; z < kNoiseSide; ++z) {
        sum += at(y, z, y + z, channel);
        inside += std::abs(at(20, y, z, channel) - at(21, y, z, channel));
        seam += std::abs(at(kNoiseSide - 1, y, z, channel) - at(kNoiseSide, y, z, channel));
      }
    EXPECT_NEAR(sum / (kNoiseSide * kNoiseSide), 127.0, 25.0);
    EXPECT_LT(seam, 2.0 * inside);
  }
}

TEST(Creases, ACubeKeepsSharpEdgesAndABallHasNone) {
  const TriangleMesh ball = shapes::icosphere(3, 0.1f);
  const CreasedMesh smooth = with_creases(ball.view(), 40.0);
  for (std::size_t k = 0; k < smooth.normals.size(); ++k)
    EXPECT_GT(glm::dot(smooth.normals[k], glm::normalize(smooth.mesh.positions[k])), 0.999f);
  TriangleMesh wedge;  // two faces at a right angle
  wedge.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, wedge.faces = {{0, 1, 2}, {1, 0, 3}};
  const CreasedMesh sharp = with_creases(wedge.view(), 40.0);
  EXPECT_EQ(sharp.normals[0], glm::vec3(0, 0, 1));
  EXPECT_EQ(sharp.normals[3], glm::vec3(0, 1, 0));
}

TEST(Encloses, AcceptsABallRejectsASheetAndAnInvertedBall) {
  TriangleMesh ball = shapes::icosphere(2, 0.1f);
  EXPECT_TRUE(encloses(ball.view()));
  for (glm::uvec3& face : ball.faces) std::swap(face.x, face.y);
  EXPECT_FALSE(encloses(ball.view()));
  ball.faces.pop_back();
  EXPECT_FALSE(encloses(ball.view()));
}

// The definition: the sides of all faces, each once, are their own reverses.
bool encloses_by_definition(const TriangleMesh& mesh) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sides, back;
  double volume = 0.0;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    volume += glm::dot(t.a, glm::cross(t.b, t.c));
    for (int corner = 0; corner < 3; ++corner) {
      sides.emplace_back(face[corner], face[(corner + 1) % 3]);
      back.emplace_back(face[(corner + 1) % 3], face[corner]);
    }
  }
  std::sort(sides.begin(), sides.end());
  std::sort(back.begin(), back.end());
  return volume > 0.0 && sides == back && std::adjacent_find(sides.begin(), sides.end()) == sides.end();
}

TEST(Encloses, FollowsTheDefinitionOnDamagedMeshes) {
  std::mt19937 random(4);
  const auto pick = [&](std::size_t count) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<std::size_t>(0, count - 1)(random));
  };
  int closed = 0;
  for (int round = 0; round < 5000; ++round) {
    TriangleMesh mesh = shapes::icosphere(0);
    for (std::uint32_t k = pick(4); k > 0; --k)
      if (pick(2))
        mesh.faces.erase(mesh.faces.begin() + pick(mesh.faces.size()));
      else if (pick(2))
        mesh.faces.push_back({pick(mesh.positions.size()), pick(mesh.positions.size()), pick(mesh.positions.size())});
      else
        mesh.faces.push_back(mesh.faces[pick(mesh.faces.size())]);
    const bool expected = encloses_by_definition(mesh);
    ASSERT_EQ(encloses(mesh.view()), expected) << "seed 4, round " << round;
    closed += expected;
  }
  EXPECT_GT(closed, 500);
}

// Whatever the picture shows, in the field or up to the corners, is in the pyramid; most of space is not.
TEST(SeenPyramid, HoldsEveryPointThatThePictureShows) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> coordinate(-0.4, 0.4), barrel(0.0, 0.3);
  int shown = 0, outside = 0, all = 0;
  for (int k = 0; k < 20000; ++k) {
    const Lens lens{barrel(random), 1.16};
    const ScopePose pose{{0.0, 0.05, 0.3}, {coordinate(random), coordinate(random), 0.0}};
    const bool round_field = k % 2 == 0;
    const int width = k % 3 == 0 ? 768 : 1280, height = k % 3 == 0 ? 1024 : 720;
    const glm::dvec3 point(coordinate(random), coordinate(random), coordinate(random));
    const auto seen = seen_pyramid(pose, lens, round_field, width, height);
    const double aspect = double(width) / height;
    const glm::dvec4 clip = projection_matrix(pose, aspect, 0.005, 2.0) * view_matrix(pose) * glm::dvec4(point, 1.0);
    const glm::dvec2 at = seen_from_pinhole(lens, glm::dvec2(clip.x * aspect, clip.y) / clip.w);
    const bool in_picture = clip.w > 0.005 && std::abs(at.x) <= aspect && std::abs(at.y) <= 1.0 &&
                            (!round_field || glm::length(at) <= lens.field);
    EXPECT_TRUE(!in_picture || !seen || contains(*seen, point)) << k;
    shown += in_picture;
    outside += seen && !contains(*seen, point);
    ++all;
  }
  EXPECT_GT(shown, all / 40);
  EXPECT_GT(outside, all / 3);
}

TEST(ReducedPicture, ShowsEveryPointNearerToTheCentre) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> coordinate(-0.4, 0.4), barrel(0.0, 0.3), scale(0.2, 1.0);
  for (int k = 0; k < 5000; ++k) {
    const Lens lens{barrel(random), 1.16};
    const ScopePose pose{{0.0, 0.05, 0.3}, {coordinate(random), coordinate(random), 0.0}};
    const glm::dvec3 point(coordinate(random), coordinate(random), coordinate(random) - 0.1);
    const ReducedPicture small = reduced(pose, lens, k == 0 ? 1.0 : scale(random));
    const SeenPoint whole = seen_point(pose, lens, point), seen = seen_point(small.scope, small.lens, point);
    EXPECT_NEAR(glm::distance(seen.location, small.scale * whole.location), 0.0, 1e-9) << k;
    const bool at_the_edge = std::abs(glm::length(whole.location) - lens.field) < 1e-6;
    EXPECT_TRUE(at_the_edge || seen.visible == whole.visible) << k;
  }
}

TEST(ReducedPicture, HoldsTheRoundFieldAtAnyAspectRatio) {
  const Lens lens;
  for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}, {1024, 1366}, {720, 720}, {3840, 1080}}) {
    const double radius = 0.5 * height * lens.field * whole_field_scale(lens, width, height);  // pixels
    EXPECT_NEAR(radius, 0.5 * std::min(width, height), 1e-9) << width << " x " << height;
  }
}

// Square of the radius minus square of the distance to the axis, of the piece for which it is largest.
double by_all_pieces(const std::vector<VesselPiece>& pieces, const glm::dvec3& p) {
  double most = -1e9;
  for (const VesselPiece& piece : pieces) {
    const glm::dvec3 from(piece.from), way = glm::dvec3(piece.to) - from;
    const double squared = glm::dot(way, way);
    const double share = squared > 0.0 ? std::clamp(glm::dot(p - from, way) / squared, 0.0, 1.0) : 0.0;
    const double radius = glm::mix(double{piece.from_radius}, double{piece.to_radius}, share);
    const double distance = glm::distance(p, from + share * way);
    most = std::max(most, radius * radius - distance * distance);
  }
  return most;
}

// Divides every face into four, `times` times.
TriangleMesh divided(TriangleMesh mesh, int times) {
  for (; times > 0; --times) {
    std::map<std::pair<unsigned, unsigned>, unsigned> middles;
    std::vector<glm::uvec3> faces;
    const auto middle = [&](unsigned a, unsigned b) {
      const auto [found, added] = middles.try_emplace(std::minmax(a, b), static_cast<unsigned>(mesh.positions.size()));
      if (added) mesh.positions.push_back(0.5f * (mesh.positions[a] + mesh.positions[b]));
      return found->second;
    };
    for (const glm::uvec3& f : mesh.faces) {
      const unsigned ab = middle(f.x, f.y), bc = middle(f.y, f.z), ca = middle(f.z, f.x);
      for (const glm::uvec3& part : {glm::uvec3(f.x, ab, ca), {ab, f.y, bc}, {ca, bc, f.z}, {ab, bc, ca}})
        faces.push_back(part);
    }
    mesh.faces = faces;
  }
  return mesh;
}

// The loops of the part of a surface whose corners are all `inside`: connected pieces minus Euler's number.
int loops_of(const TriangleMesh& mesh, const std::vector<bool>& inside) {
  std::vector<unsigned> leader(mesh.positions.size());
  std::iota(leader.begin(), leader.end(), 0u);
  const auto find = [&](unsigned v) {
    while (leader[v] != v) v = leader[v] = leader[leader[v]];
    return v;
  };
  int vertices = 0, pieces = 0, faces = 0;
  std::map<std::pair<unsigned, unsigned>, int> edges;
  for (const glm::uvec3& f : mesh.faces) {
    for (int k = 0; k < 3; ++k) {
      const unsigned a = f[k], b = f[(k + 1) % 3];
      if (!inside[a] || !inside[b]) continue;
      edges[std::minmax(a, b)] = 1;
      leader[find(a)] = find(b);
    }
    faces += inside[f.x] && inside[f.y] && inside[f.z];
  }
  for (unsigned v = 0; v < mesh.positions.size(); ++v)
    if (inside[v]) ++vertices, pieces += find(v) == v;
  return pieces - (vertices - static_cast<int>(edges.size()) + faces);
}

void expect_no_loops(const TriangleMesh& organ, const TriangleMesh& fine, VesselTreeParams params,
                     std::initializer_list<std::uint32_t> seeds) {
  for (const std::uint32_t seed : seeds) {
    params.seed = seed;
    const std::vector<VesselPiece> pieces = grow_vessels(organ.view(), params);
    ASSERT_GT(pieces.size(), 50u);
    std::vector<bool> inside;
    for (const glm::vec3& p : fine.positions) inside.push_back(by_all_pieces(pieces, glm::dvec3(p)) > 0.0);
    EXPECT_EQ(loops_of(fine, inside), 0) << "seed " << seed;
  }
}

TEST(VesselTree, VesselsOfEverySeedHaveNoClosedLoop) {
  const TriangleMesh organ = make_gallbladder({.faces = 3000});
  // Edges of a third of a millimetre resolve the thinnest vessels.
  expect_no_loops(organ, divided(organ, 3), {}, {1, 2, 3, 4, 5, 6, 7, 8});
}

// Vessels that approach the same one from far away do not meet before it.
TEST(VesselTree, WideClearancesMakeNoLoops) {
  const TriangleMesh organ = make_stomach({.faces = 10000});
  VesselTreeParams params;
  params.end_radius = 0.0014f, params.most_radius = 0.0020f, params.clearance = 0.014f, params.shortest = 0.025f;
  expect_no_loops(organ, divided(organ, 2), params, {1, 2, 7, 8});
}

// The counter of loops finds the one of a belt.
TEST(VesselTree, ABeltAroundABallWouldBeALoop) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  std::vector<bool> belt, cap;
  for (const glm::vec3& p : ball.positions) belt.push_back(std::abs(p.z) < 0.01f), cap.push_back(p.z > 0.02f);
  EXPECT_EQ(loops_of(ball, belt), 1);
  EXPECT_EQ(loops_of(ball, cap), 0);
}

// One piece ends at each point, so the pieces form trees; the cubes of the radii of those that begin there add up.
TEST(VesselTree, RadiiFollowMurraysLaw) {
  const TriangleMesh organ = make_stomach({.faces = 6000});
  VesselTreeParams params;
  params.most_radius = 1.f;
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view(), params);
  const auto key = [](const glm::vec3& p) { return std::array{p.x, p.y, p.z}; };
  std::map<std::array<float, 3>, double> flows_on;  // cubes of the radii of the pieces that begin here
  std::map<std::array<float, 3>, int> comes_from;   // pieces that end here
  for (const VesselPiece& piece : pieces) {
    EXPECT_GE(piece.from_radius, piece.to_radius);
    flows_on[key(piece.from)] += std::pow(double{piece.to_radius}, 3.0);
    ++comes_from[key(piece.to)];
  }
  const double end = std::pow(double{params.end_radius}, 3.0);
  std::size_t joints = 0;
  for (const VesselPiece& piece : pieces) {
    EXPECT_EQ(comes_from[key(piece.to)], 1);
    const auto further = flows_on.find(key(piece.to));
    const double cube = std::pow(double{piece.to_radius}, 3.0);
    if (further == flows_on.end()) {
      EXPECT_NEAR(cube, end, 1e-6 * end);
    } else if (std::abs(further->second - cube) > 1e-4 * cube) {
      // A vessel that was an end before another one joined at its very end keeps its own share.
      EXPECT_NEAR(further->second + end, cube, 1e-4 * cube);
    }
    joints += further != flows_on.end() && further->second > 1.5 * end;
  }
  EXPECT_GT(joints, 20u);
}

TEST(VesselTree, MostOfTheSurfaceHasAVesselNearby) {
  const TriangleMesh organ = make_stomach({.faces = 10000});
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view());
  std::size_t near = 0;
  for (const glm::vec3& p : organ.positions) near += by_all_pieces(pieces, glm::dvec3(p)) > -0.012 * 0.012;
  EXPECT_GT(static_cast<double>(near), 0.95 * static_cast<double>(organ.positions.size()));
}

TEST(VesselTree, TheSeedDecides) {
  const TriangleMesh organ = make_stomach({.faces = 4000});
  const auto grown = [&](std::uint32_t seed) {
    VesselTreeParams params;
    params.seed = seed;
    std::vector<std::array<float, 3>> ends;
    for (const VesselPiece& piece : grow_vessels(organ.view(), params))
      ends.push_back({piece.to.x, piece.to.y, piece.to.z});
    return ends;
  };
  EXPECT_EQ(grown(7), grown(7));
  EXPECT_NE(grown(7), grown(8));
}

// As when its file is in other units than it says.
TEST(VesselTree, AnOrganOfKilometresHasFewTrees) {
  TriangleMesh organ = make_stomach({.faces = 20000});
  for (glm::vec3& p : organ.positions) p *= 1e4f;
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view());
  std::set<std::array<float, 3>> begins, ends;
  for (const VesselPiece& piece : pieces) {
    begins.insert({piece.from.x, piece.from.y, piece.from.z});
    ends.insert({piece.to.x, piece.to.y, piece.to.z});
  }
  std::size_t roots = 0;
  for (const auto& begin : begins) roots += !ends.contains(begin);
  EXPECT_GT(roots, 0u);
  EXPECT_LE(roots, 12u);
}

TEST(VesselTree, DegenerateMeshesHaveNoVesselsOrFew) {
  EXPECT_TRUE(grow_vessels({}).empty());
  const std::vector<glm::vec3> corners{{0, 0, 0},    {0.1f, 0, 0}, {0, 0.1f, 0},
                                       {0.1f, 0, 0}, {0, 0.1f, 0}, {0.1f, 0.1f, 0}};
  EXPECT_TRUE(grow_vessels({corners, {}}).empty());
  const std::vector<glm::uvec3> point{{0, 0, 0}}, line{{0, 1, 3}}, seam{{0, 1, 2}, {3, 5, 4}};
  EXPECT_TRUE(grow_vessels({corners, point}).empty());
  EXPECT_LE(grow_vessels({corners, line}).size(), 1u);
  EXPECT_LE(grow_vessels({corners, seam}).size(), 3u);
}

TEST(VesselVolume, IsTheDistanceToAllPieces) {
  const TriangleMesh organ = make_stomach({.faces = 4000});
  const std::vector<VesselPiece> pieces = grow_vessels(organ.view());
  const VesselVolume volume = make_vessel_volume(pieces, organ.positions);
  const double unit = double{kVesselReach} * double{kVesselReach}, cell = double{volume.cell};
  std::mt19937 random(11);
  std::normal_distribution<float> shift(0.f, 0.0008f);
  glm::vec3 low = organ.positions[0], high = low;
  for (const glm::vec3& p : organ.positions) low = glm::min(low, p), high = glm::max(high, p);
  int compared = 0, same_side = 0;
  for (int k = 0; k < 3000; ++k) {
    const VesselPiece& piece = pieces[random() % pieces.size()];
    const glm::vec3 p = glm::mix(piece.from, piece.to, 0.5f) + glm::vec3(shift(random), shift(random), shift(random));
    if (p != glm::clamp(p, low, high)) continue;
    const double exact = std::clamp(by_all_pieces(pieces, glm::dvec3(p)) / unit, -1.0, 1.0);
    // A squared distance between texels errs by at most cell^2 / 4 for each axis across; at kinks, where the nearest
    // piece changes or the range ends, by more.
    EXPECT_NEAR(double{volume.inside(p)}, exact, 1.5 * cell * cell / unit);
    ++compared;
    same_side += (volume.inside(p) > 0.f) == (exact > 0.0);
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(same_side, 0.93 * compared);
  EXPECT_FLOAT_EQ(volume.inside({1.f, 1.f, 1.f}), -1.f);
}

TEST(VesselVolume, KeepsItsLimitOfTexels) {
  const TriangleMesh ball = shapes::icosphere(3, 0.05f);
  for (const std::size_t most : {1000u, 100000u, 8000000u}) {
    const VesselVolume volume = make_vessel_volume({}, ball.positions, {.most_texels = most});
    EXPECT_LE(volume.texels.size(), most);
    EXPECT_EQ(volume.texels.size(), static_cast<std::size_t>(volume.size.x) * static_cast<std::size_t>(volume.size.y) *
                                        static_cast<std::size_t>(volume.size.z));
    EXPECT_GE(volume.cell, 0.0005f);
  }
  const std::vector<glm::vec3> rod{{0.f, 0.f, 0.f}, {2.f, 0.01f, 0.01f}};
  const VesselVolume narrow = make_vessel_volume({}, rod, {.most_side = 256});
  EXPECT_LE(narrow.size.x, 256);
  EXPECT_TRUE(make_vessel_volume({}, {}).texels.empty());
  EXPECT_FLOAT_EQ(VesselVolume().inside({0.f, 0.f, 0.f}), -1.f);
}

void draw(QualityKeeper& keeper, int pictures, double ms) {
  for (int k = 0; k < pictures; ++k) keeper.drawn(ms);
}

TEST(Quality, StartsHighAndStaysHighWhileFast) {
  QualityKeeper keeper;
  draw(keeper, 1000, 20.0);
  EXPECT_EQ(keeper.quality(), Quality::High);
}

TEST(Quality, OneSlowPictureChangesNothing) {
  QualityKeeper keeper;
  for (int k = 0; k < 100; ++k) {
    draw(keeper, 1, 400.0);
    draw(keeper, 1, 10.0);
  }
  EXPECT_EQ(keeper.quality(), Quality::High);
}

TEST(Quality, GoesDownStepByStep) {
  QualityKeeper keeper;
  const int wait = QualityParams{}.down_after;
  draw(keeper, wait - 1, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::High);
  draw(keeper, 1, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::Medium);
  draw(keeper, wait, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::Low);
  draw(keeper, 1000, 50.0);
  EXPECT_EQ(keeper.quality(), Quality::Low);
}

// Pictures that are quick, while the session loses time beside them.
TEST(Quality, GoesDownWhileTimeIsLost) {
  QualityKeeper keeper;
  for (int k = 0; k < QualityParams{}.down_after; ++k) keeper.drawn(5.0, true);
  EXPECT_EQ(keeper.quality(), Quality::Medium);
  for (int k = 0; k < 5000; ++k) keeper.drawn(5.0, true);
  EXPECT_EQ(keeper.quality(), Quality::Low);
  draw(keeper, 2 * QualityParams{}.up_after, 5.0);
  EXPECT_EQ(keeper.quality(), Quality::High);
}

TEST(Quality, RisesOnlyWhenDrawingIsFastEnough) {
  QualityKeeper keeper;
  draw(keeper, 40, 50.0);
  draw(keeper, 5000, 20.0);  // fast enough to stay, too slow to rise
  EXPECT_EQ(keeper.quality(), Quality::Low);
  draw(keeper, 2 * QualityParams{}.up_after, 5.0);
  EXPECT_EQ(keeper.quality(), Quality::High);
}

// A machine that draws Medium in 8 ms and High in 60 ms must not oscillate between them forever.
TEST(Quality, OscillatesLessAndLess) {
  QualityKeeper keeper;
  int ups = 0;
  Quality before = keeper.quality();
  for (int k = 0; k < 20000; ++k) {
    keeper.drawn(keeper.quality() == Quality::High ? 60.0 : 8.0);
    if (keeper.quality() > before) ++ups;
    before = keeper.quality();
  }
  EXPECT_GE(ups, 3);
  EXPECT_LE(ups, 9);  // 20000 / (240 + 20) would be 76
}

TEST(Quality, RepeatingTheSameChoiceChangesNothing) {
  QualityKeeper keeper;
  for (int k = 0; k < 40; ++k) {
    keeper.fix(std::nullopt);
    keeper.drawn(50.0);
  }
  EXPECT_EQ(keeper.quality(), Quality::Low);
}

TEST(Quality, TheUserCanFixIt) {
  QualityKeeper keeper;
  keeper.fix(Quality::Medium);
  draw(keeper, 500, 500.0);
  EXPECT_EQ(keeper.quality(), Quality::Medium);
  EXPECT_TRUE(keeper.fixed());
  keeper.fix(std::nullopt);
  EXPECT_EQ(keeper.quality(), Quality::Medium);
  draw(keeper, 40, 500.0);
  EXPECT_EQ(keeper.quality(), Quality::Low);
}

}  // namespace

}  // namespace trocar
