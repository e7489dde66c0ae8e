// Tests the parts of the view that need no OpenGL: shadow, smoke, marks, noise, creases.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "app/view/frame_block.hpp"
#include "app/view/gl_shape.hpp"
#include "app/view/mark_layer.hpp"
#include "app/view/organ_layer.hpp"
#include "app/view/tissue_texture.hpp"
#include "app/view/tool_layer.hpp"
#include "geometry/planar/polygon.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr unsigned kSeed = 5;

DrawnTool tool_at(const glm::dvec3& pivot, const glm::dvec3& tip) {
  DrawnTool tool;
  tool.pose = {pivot, tip, 0.0025};
  return tool;
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
  std::size_t dark = 0, picked = 0;
  for (int k = 0; k < 40; ++k) {
    const glm::vec3 lamp(0.01f, 0.006f, 0.16f);
    const auto capsules = shadow_capsules(tool_at({0.12 + coordinate(random), coordinate(random), 0.15},
                                                  {coordinate(random), coordinate(random), 0.055}));
    faces_in_shade(sphere.view(), lamp, capsules, edge, flags, faces);
    picked += faces.size();
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
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) {
      EXPECT_NE(segments[a].style, segments[b].style);
      EXPECT_GT(glm::distance(segments[a].paint, segments[b].paint), 0.3f);
    }
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
  label_vertices(marks, scope, 0.0, 0.003f, vertices);
  EXPECT_TRUE(vertices.empty());
  marks.targets = {{{0, 0, 0}, 0.004f, MarkState::Next, 0},
                   {{0, 0, 0}, 0.004f, MarkState::Waiting, 100},
                   {{0, 0, 0.2f}, 0.004f, MarkState::Next, 1}};
  label_vertices(marks, scope, 0.0, 0.003f, vertices);
  EXPECT_TRUE(vertices.empty()) << "no number, a number without space, behind the eye";
  marks.targets = {{{0, 0, 0}, 0.004f, MarkState::Waiting, 7}};
  label_vertices(marks, scope, 0.0, 0.003f, vertices);
  EXPECT_EQ(vertices.size(), 6u);
  EXPECT_EQ(vertices[0].corner_style_number.w, 7.f);
  marks.targets[0].state = MarkState::Next;
  label_vertices(marks, scope, 0.0, 0.003f, vertices);
  EXPECT_EQ(vertices.size(), 12u) << "with a ring";
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
    for (int y = 0; y < kNoiseSide; ++y) {
      for (int z = 0; z < kNoiseSide; ++z) {
        sum += at(y, z, y + z, channel);
        inside += std::abs(at(20, y, z, channel) - at(21, y, z, channel));
        seam += std::abs(at(kNoiseSide - 1, y, z, channel) - at(kNoiseSide, y, z, channel));
      }
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
  wedge.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  wedge.faces = {{0, 1, 2}, {1, 0, 3}};
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
    for (std::uint32_t k = pick(4); k > 0; --k) {
      if (pick(2)) {
        mesh.faces.erase(mesh.faces.begin() + pick(mesh.faces.size()));
      } else if (pick(2)) {
        mesh.faces.push_back({pick(mesh.positions.size()), pick(mesh.positions.size()), pick(mesh.positions.size())});
      } else {
        mesh.faces.push_back(mesh.faces[pick(mesh.faces.size())]);
      }
    }
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

}  // namespace
}  // namespace trocar
