// Tests the parts of the view that need no OpenGL: shadow, smoke, marks, noise, creases, vessels, automatic quality.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "app/view/drawn.hpp"
#include "app/view/frame_block.hpp"
#include "app/view/gl_shape.hpp"
#include "app/view/mark_layer.hpp"
#include "app/view/organ_layer.hpp"
#include "app/view/tissue_texture.hpp"
#include "app/view/tool_layer.hpp"
#include "geometry/planar/polygon.hpp"
#include "mesh/organ_maker.hpp"
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
  params.end_radius = 0.0014f;
  params.most_radius = 0.0020f;
  params.clearance = 0.014f;
  params.shortest = 0.025f;
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
