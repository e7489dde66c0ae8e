// Reads the scene of two objects with poses from a file, for the tests of solids and trees. Units: those of the file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <glm/glm.hpp>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/frame.hpp"
#include "geometry/refine.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::test {

struct PosedScene {
  struct Frame {
    glm::dvec3 at[2];
    glm::dmat3 turn[2];  // as the rows of the file
  };
  TriangleMesh objects[2];
  std::vector<Frame> frames;

  // Returns object `o` at its pose of frame `f`, rounded to float.
  TriangleMesh posed(int o, std::size_t f) const {
    TriangleMesh mesh = objects[o];
    for (glm::vec3& p : mesh.positions) p = glm::vec3(frames[f].turn[o] * glm::dvec3(p) + frames[f].at[o]);
    return mesh;
  }
};

// Returns the numbers between name=" and the next quote.
inline std::vector<double> numbers_of(const std::string& text, const std::string& name) {
  const std::size_t start = text.find(name + "=\"");
  if (start == std::string::npos) return {};
  const std::size_t from = start + name.size() + 2;
  std::istringstream in(text.substr(from, text.find('"', from) - from));
  std::vector<double> values;
  for (double value; in >> value;) values.push_back(value);
  return values;
}

// Reads the format <MODEL><OBJECT><GRID x y z/><TRIA g1 g2 g3/></OBJECT>...</MODEL><MOTION><FRAME obj1_pos obj1_dc
// .../></MOTION>
inline PosedScene load_posed_scene(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  PosedScene scene;
  int object = -1;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::string tag = text.substr(at, text.find('>', at) - at);
    if (tag.starts_with("<OBJECT")) ++object;
    if (tag.starts_with("<GRID"))
      scene.objects[object].positions.emplace_back(numbers_of(tag, " x")[0], numbers_of(tag, " y")[0],
                                                   numbers_of(tag, " z")[0]);
    if (tag.starts_with("<TRIA"))
      scene.objects[object].faces.push_back(
          glm::uvec3(numbers_of(tag, "g1")[0], numbers_of(tag, "g2")[0], numbers_of(tag, "g3")[0]) - 1u);
    if (tag.starts_with("<FRAME")) {
      PosedScene::Frame frame{};
      for (int o = 0; o < 2; ++o) {
        const std::string name = "obj" + std::to_string(o + 1);
        const auto pos = numbers_of(tag, name + "_pos"), turn = numbers_of(tag, name + "_dc");
        frame.at[o] = {pos[0], pos[1], pos[2]};
        for (int row = 0; row < 3; ++row)
          for (int column = 0; column < 3; ++column) frame.turn[o][column][row] = turn[row * 3 + column];
      }
      scene.frames.push_back(frame);
    }
  }
  return scene;
}

// Makes random convex bodies and poses, and measures the distance between two bodies by brute force over triangles.

inline glm::dmat3 rotation(const dvec3& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const dvec3 a = axis;
  const glm::dmat3 cross(0.0, a.z, -a.y, -a.z, 0.0, a.x, a.y, -a.x, 0.0);
  return glm::dmat3(c) + s * cross + (1.0 - c) * glm::outerProduct(a, a);
}

inline RigidFrame random_pose(Dice& dice, double extent) {
  const dvec3 axis = dice.direction();
  return {rotation(axis, dice.uniform(0.0, 3.14159)), dice.in_cube(extent)};
}

// Returns a point cloud of about `size`: round, boxy, thin, on a grid (many coplanar faces), a sheet, a segment or a
// point.
inline std::vector<glm::vec3> random_cloud(Dice& dice, double size, int most_points) {
  std::vector<glm::vec3> points(4 + dice.pick(most_points - 3));
  const int kind = dice.pick(12);
  const double thin = dice.log_uniform(1e-4, 1.0);
  const dvec3 direction = dice.direction();
  for (glm::vec3& p : points) switch (kind) {
      case 0:
        p = glm::vec3(size * thin * (dvec3{dice.pick(3), dice.pick(3), dice.pick(3)} - 1.0));
        break;
      case 1:
        p = glm::vec3(size * (dvec3{dice.pick(2), dice.pick(2), dice.pick(2)} - 0.5));
        break;
      case 2:
        p = glm::vec3(size * dvec3{dice.uniform(-1, 1), dice.uniform(-1, 1), 0.0});
        break;
      case 3:
        p = glm::vec3(size * dvec3(dice.uniform(-1, 1), 0.0, 0.0));
        break;
      case 4:
        p = glm::vec3(size * direction);
        break;
      case 5:
        p = glm::vec3(size * dice.in_cube(1.0) * dvec3(1.0, 1.0, thin));
        break;
      default:
        p = glm::vec3(size * (kind % 2 ? dice.direction() : dice.in_cube(1.0)));
    }
  return points;
}

// Returns the surface as triangles in the world; a segment or a point as a triangle without area.
inline std::vector<Triangle> surface_of(const solids::ConvexBody& body, const RigidFrame& pose) {
  std::vector<Triangle> surface;
  for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
    const Triangle t = body.corners(f);
    surface.push_back({pose.to_world(t.a), pose.to_world(t.b), pose.to_world(t.c)});
  }
  if (surface.empty()) {
    const dvec3 a = pose.to_world(body.vertices.front()), b = pose.to_world(body.vertices.back());
    surface.push_back({a, b, b});
  }
  return surface;
}

inline bool inside(const solids::ConvexBody& body, const RigidFrame& pose, const dvec3& point) {
  if (body.dimension < 3) return false;
  const dvec3 local = pose.to_local(point);
  return std::all_of(body.faces.begin(), body.faces.end(),
                     [&](const auto& f) { return glm::dot(f.normal, local) <= f.offset; });
}

struct SlowDistance {
  double distance;  // m; 0 when one contains the other
  double surfaces;  // m; between the surfaces
};

inline SlowDistance slow_distance(const solids::ConvexBody& a, const RigidFrame& at_a, const solids::ConvexBody& b,
                                  const RigidFrame& at_b) {
  double least = std::numeric_limits<double>::infinity();
  const auto second = surface_of(b, at_b);
  for (const Triangle& s : surface_of(a, at_a))
    for (const Triangle& t : second) least = std::min(least, closest_triangles(s, t).distance);
  const bool nested = inside(a, at_a, at_b.to_world(b.vertices[0])) || inside(b, at_b, at_a.to_world(a.vertices[0]));
  return {nested ? 0.0 : least, least};
}

// Checks convex hulls by exact signs.

}  // namespace trocar::test

namespace trocar::solids {

// Expects, by exact signs, that the hull is closed and convex, that every edge lies between two faces, and that the
// hull contains the points.
inline void expect_exact_hull(const std::vector<glm::vec3>& points, const ConvexBody& body) {
  ASSERT_GE(body.dimension, 2);
  EXPECT_EQ(body.vertices.size() + body.faces.size(), body.edges.size() + 2);
  for (std::uint32_t e = 0; e < body.edges.size(); ++e)
    for (const std::uint32_t f : body.edges[e].face) {
      ASSERT_LT(f, body.faces.size());
      const auto& edges = body.faces[f].edge;
      EXPECT_NE(std::find(edges, edges + 3, e), edges + 3);
    }
  for (const ConvexBody::Face& f : body.faces) {
    const glm::vec3 a(body.vertices[f.vertex[0]]), b(body.vertices[f.vertex[1]]), c(body.vertices[f.vertex[2]]);
    EXPECT_GE(projection_axis(a, b, c), 0);
    for (const glm::vec3& p : points) ASSERT_GE(exact_orientation(a, b, c, p), 0);
  }
  std::size_t incident_edges = 0;
  for (std::uint32_t v = 0; v < body.vertices.size(); ++v) {
    for (const std::uint32_t e : body.incident_edges_of(v)) {
      EXPECT_TRUE(body.edges[e].vertex[0] == v || body.edges[e].vertex[1] == v);
      ++incident_edges;
    }
    EXPECT_LE(glm::distance(body.vertices[v], body.centre), body.radius);
  }
  EXPECT_EQ(incident_edges, 2 * body.edges.size());
}

}  // namespace trocar::solids
