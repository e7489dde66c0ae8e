// Computes a convex hull point by point: a point that sees faces replaces them by a cone over their horizon. Every
// visibility test is an exact sign, so the horizon is always one closed loop. Points in the plane of a face do not see
// it; the cone then adds coplanar faces, with flat edges between.
#include "cpu_collision/solids/convex_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "geometry/closest.hpp"
#include "geometry/error.hpp"
#include "geometry/exact_sign.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::solids {

double ConvexBody::volume() const {
  double sixfold = 0.0;
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    const Triangle t = corners(f);
    sixfold += glm::dot(t.a - centre, glm::cross(t.b - centre, t.c - centre));
  }
  return sixfold / 6.0;
}

ConvexBody triangle_body(const Triangle& triangle) {
  ConvexBody body;
  body.dimension = 2;
  body.vertices.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) body.edges.push_back({{i, (i + 1) % 3}, {0, 1}, false});
  body.faces = {{{0, 1, 2}, {0, 1, 2}, {}, 0.0}, {{0, 2, 1}, {2, 1, 0}, {}, 0.0}};
  body.first_incident_edge = {0, 2, 4, 6};
  body.incident_edges = {0, 2, 0, 1, 1, 2};
  reset_triangle(body, triangle);
  return body;
}

void reset_triangle(ConvexBody& body, const Triangle& triangle) {
  const glm::dvec3 &a = triangle.a, &b = triangle.b, &c = triangle.c;
  body.vertices[0] = a, body.vertices[1] = b, body.vertices[2] = c;
  const glm::dvec3 normal = glm::cross(b - a, c - a);
  const double length = glm::length(normal);
  const glm::dvec3 unit = length > 0.0 ? normal / length : glm::dvec3(0.0);
  // A face without area bounds nothing: see convex_hull().
  const double offset = length > 0.0 ? glm::dot(unit, a) : std::numeric_limits<double>::infinity();
  body.faces[0].normal = unit, body.faces[0].offset = offset;
  body.faces[1].normal = -unit, body.faces[1].offset = length > 0.0 ? -offset : offset;
  body.low = glm::min(glm::min(a, b), c), body.high = glm::max(glm::max(a, b), c);
  body.centre = (a + b + c) / 3.0;
  body.radius = std::max({glm::distance(a, body.centre), glm::distance(b, body.centre), glm::distance(c, body.centre)});
}

double height_above(const ConvexBody& body, const glm::dvec3& point, std::uint32_t& face) {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
    const double height = glm::dot(body.faces[f].normal, point) - body.faces[f].offset;
    if (height > highest) highest = height, face = f;
  }
  return highest;
}

namespace {

using glm::dvec3;
using glm::vec3;
using Corners = std::array<std::uint32_t, 3>;

class Hull {
 public:
  explicit Hull(std::vector<vec3> points) : points_(std::move(points)) { choose_start(); }

  int dimension() const { return dimension_; }
  const std::vector<vec3>& points() const { return points_; }

  std::vector<Corners> solid() {
    const auto [a, b, c, d] = start_;
    faces_ = {Corners{a, b, c}, Corners{a, c, d}, Corners{a, d, b}, Corners{b, d, c}};
    // Exact signs are positive below a face: the tetrahedron is oriented so that its inside is below.
    if (side(Corners{a, b, c}, d) < 0) {
      for (Corners& f : faces_) std::swap(f[1], f[2]);
    }
    for (std::uint32_t p = 0; p < points_.size(); ++p) {
      if (std::find(start_.begin(), start_.end(), p) == start_.end()) take_in(p);
    }
    return faces_;
  }

  // The boundary of a flat point set, once around.
  std::vector<std::uint32_t> flat() const {
    const int axis = projection_axis(points_[start_[0]], points_[start_[1]], points_[start_[2]]);
    const auto turn = [&](std::uint32_t i, std::uint32_t j, std::uint32_t k) {
      return planar::side_of_line(without(points_[i], axis), without(points_[j], axis), without(points_[k], axis));
    };
    std::vector<std::uint32_t> order(points_.size()), rim;
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
      const glm::dvec2 p = without(points_[i], axis), q = without(points_[j], axis);
      return p.x != q.x ? p.x < q.x : p.y < q.y;
    });
    for (int pass = 0; pass < 2; ++pass) {
      const std::size_t from = rim.size();
      for (const std::uint32_t p : order) {
        while (rim.size() >= from + 2 && turn(rim[rim.size() - 2], rim.back(), p) <= 0) rim.pop_back();
        rim.push_back(p);
      }
      rim.pop_back();
      std::reverse(order.begin(), order.end());
    }
    return rim;
  }

  // The two ends of collinear points.
  std::array<std::uint32_t, 2> segment() const {
    const auto less = [](const vec3& p, const vec3& q) {
      return p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : p.z < q.z;
    };
    const auto [low, high] = std::minmax_element(points_.begin(), points_.end(), less);
    return {static_cast<std::uint32_t>(low - points_.begin()), static_cast<std::uint32_t>(high - points_.begin())};
  }

 private:
  // +1: the point is on the inner side, -1: it sees the face.
  int side(const Corners& f, std::uint32_t p) const {
    return exact_orientation(points_[f[0]], points_[f[1]], points_[f[2]], points_[p]);
  }

  // Starts with far corners, so that most other points are inside from the beginning.
  void choose_start() {
    const auto farthest = [this](auto measure) {
      std::uint32_t best = 0;
      double most = -1.0;
      for (std::uint32_t p = 0; p < points_.size(); ++p) {
        const double value = measure(dvec3(points_[p]));
        if (value > most) most = value, best = p;
      }
      return best;
    };
    const dvec3 p0(points_[0]);
    start_[0] = farthest([&](const dvec3& p) { return glm::distance(p, p0); });
    const dvec3 a(points_[start_[0]]);
    start_[1] = farthest([&](const dvec3& p) { return glm::distance(p, a); });
    if (points_.size() == 1) return;
    dimension_ = 1;
    const dvec3 ab = dvec3(points_[start_[1]]) - a;
    start_[2] = farthest([&](const dvec3& p) { return glm::length(glm::cross(ab, p - a)); });
    if (projection_axis(points_[start_[0]], points_[start_[1]], points_[start_[2]]) < 0) {
      if (!find(
              [this](std::uint32_t p) {
                return projection_axis(points_[start_[0]], points_[start_[1]], points_[p]) >= 0;
              },
              2))
        return;
    }
    dimension_ = 2;
    const dvec3 normal = glm::cross(ab, dvec3(points_[start_[2]]) - a);
    start_[3] = farthest([&](const dvec3& p) { return std::abs(glm::dot(normal, p - a)); });
    const Corners base{start_[0], start_[1], start_[2]};
    if (side(base, start_[3]) == 0 && !find([&](std::uint32_t p) { return side(base, p) != 0; }, 3)) return;
    dimension_ = 3;
  }

  template <class Fits>
  bool find(Fits fits, int corner) {
    for (std::uint32_t p = 0; p < points_.size(); ++p) {
      if (!fits(p)) continue;
      start_[corner] = p;
      return true;
    }
    return false;
  }

  void take_in(std::uint32_t p) {
    seen_.clear();
    rim_.clear();
    for (std::size_t f = 0; f < faces_.size();) {
      if (side(faces_[f], p) >= 0) {
        ++f;
        continue;
      }
      seen_.push_back(faces_[f]);
      faces_[f] = faces_.back();
      faces_.pop_back();
    }
    for (const Corners& f : seen_) {
      for (int i = 0; i < 3; ++i) rim_.emplace_back(f[i], f[(i + 1) % 3]);
    }
    std::sort(rim_.begin(), rim_.end());
    for (const auto& [from, to] : rim_) {
      if (!std::binary_search(rim_.begin(), rim_.end(), std::pair(to, from))) faces_.push_back({from, to, p});
    }
  }

  std::vector<vec3> points_;
  int dimension_ = 0;
  std::array<std::uint32_t, 4> start_{};
  std::vector<Corners> faces_, seen_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rim_;
};

// Numbers the points that are hull corners and fills vertices, faces and edges.
class Assembly {
 public:
  Assembly(const std::vector<vec3>& points, ConvexBody& body) : points_(points), body_(body) {}

  std::uint32_t vertex(std::uint32_t point) {
    const auto [entry, is_new] = number_.try_emplace(point, static_cast<std::uint32_t>(body_.vertices.size()));
    if (is_new) body_.vertices.emplace_back(points_[point]);
    return entry->second;
  }

  // `sheet` separates the inner edges of the two sides of a flat body.
  void face(const Corners& f, int sheet) {
    const auto id = static_cast<std::uint32_t>(body_.faces.size());
    ConvexBody::Face made{};
    for (int i = 0; i < 3; ++i) made.vertex[i] = vertex(f[i]);
    for (int i = 0; i < 3; ++i) made.edge[i] = edge(made.vertex[i], made.vertex[(i + 1) % 3], id, sheet);
    const dvec3 a(points_[f[0]]), b(points_[f[1]]), c(points_[f[2]]);
    const dvec3 normal = glm::cross(b - a, c - a);
    const double length = glm::length(normal);
    // A face too thin for a normal in double is never the highest; its neighbours replace it.
    made.normal = length > 0.0 ? normal / length : dvec3(0.0);
    made.offset = length > 0.0 ? glm::dot(made.normal, a) : std::numeric_limits<double>::infinity();
    body_.faces.push_back(made);
    corners_.push_back(f);
  }

  void rim_edge(std::uint32_t point, std::uint32_t next) {
    const std::uint32_t from = vertex(point), to = vertex(next);
    rim_.emplace_back(std::min(from, to), std::max(from, to));
  }

  void finish() {
    for (ConvexBody::Edge& e : body_.edges) e.flat = is_flat(e);
    fill_incident_edges();
    fit_sphere();
  }

 private:
  using Key = std::array<std::uint32_t, 3>;

  std::uint32_t edge(std::uint32_t v, std::uint32_t w, std::uint32_t face, int sheet) {
    const auto [low, high] = std::minmax(v, w);
    const bool on_rim = std::find(rim_.begin(), rim_.end(), std::pair(low, high)) != rim_.end();
    const Key key{low, high, on_rim ? 0u : static_cast<std::uint32_t>(sheet)};
    const auto [entry, is_new] = edge_number_.try_emplace(key, static_cast<std::uint32_t>(body_.edges.size()));
    if (is_new) {
      body_.edges.push_back({{v, w}, {face, ConvexBody::kNone}, false});
    } else {
      body_.edges[entry->second].face[1] = face;
    }
    return entry->second;
  }

  bool is_flat(const ConvexBody::Edge& e) const {
    if (e.face[0] == ConvexBody::kNone) return false;
    const Corners &f = corners_[e.face[0]], &g = corners_[e.face[1]];
    const bool one_plane = std::all_of(g.begin(), g.end(), [&](std::uint32_t p) {
      return exact_orientation(points_[f[0]], points_[f[1]], points_[f[2]], points_[p]) == 0;
    });
    return one_plane && glm::dot(body_.faces[e.face[0]].normal, body_.faces[e.face[1]].normal) > 0.0;
  }

  void fill_incident_edges() {
    body_.first_incident_edge.assign(body_.vertices.size() + 1, 0);
    for (const ConvexBody::Edge& e : body_.edges)
      ++body_.first_incident_edge[e.vertex[0] + 1], ++body_.first_incident_edge[e.vertex[1] + 1];
    for (std::size_t v = 1; v < body_.first_incident_edge.size(); ++v)
      body_.first_incident_edge[v] += body_.first_incident_edge[v - 1];
    body_.incident_edges.resize(2 * body_.edges.size());
    std::vector<std::uint32_t> next = body_.first_incident_edge;
    for (std::uint32_t e = 0; e < body_.edges.size(); ++e) {
      for (const std::uint32_t v : body_.edges[e].vertex) body_.incident_edges[next[v]++] = e;
    }
  }

  // Ritter's sphere, then the exact radius that contains all vertices.
  void fit_sphere() {
    const auto farthest = [&](const dvec3& from) {
      return *std::max_element(body_.vertices.begin(), body_.vertices.end(), [&](const dvec3& p, const dvec3& q) {
        return glm::distance(p, from) < glm::distance(q, from);
      });
    };
    const dvec3 p = farthest(body_.vertices[0]), q = farthest(p);
    body_.low = body_.high = p;
    for (const dvec3& v : body_.vertices) body_.low = glm::min(body_.low, v), body_.high = glm::max(body_.high, v);
    body_.centre = 0.5 * (p + q);
    double radius = 0.5 * glm::distance(p, q);
    for (const dvec3& v : body_.vertices) {
      const double d = glm::distance(v, body_.centre);
      if (d <= radius) continue;
      body_.centre += 0.5 * (d - radius) / d * (v - body_.centre);
      radius = 0.5 * (d + radius);
    }
    for (const dvec3& v : body_.vertices) body_.radius = std::max(body_.radius, glm::distance(v, body_.centre));
  }

  const std::vector<vec3>& points_;
  ConvexBody& body_;
  std::map<std::uint32_t, std::uint32_t> number_;
  std::map<Key, std::uint32_t> edge_number_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rim_;
  std::vector<Corners> corners_;
};

void add_sheet(Assembly& assembly, const std::vector<std::uint32_t>& rim) {
  for (std::size_t i = 0; i < rim.size(); ++i) assembly.rim_edge(rim[i], rim[(i + 1) % rim.size()]);
  for (std::size_t i = 2; i < rim.size(); ++i) {
    assembly.face({rim[0], rim[i - 1], rim[i]}, 1);
    assembly.face({rim[0], rim[i], rim[i - 1]}, 2);
  }
}

}  // namespace

ConvexBody convex_hull(std::span<const vec3> points) {
  if (points.empty()) throw InputError("a convex hull needs at least one point; none was given");
  for (const vec3& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
      throw InputError("a convex hull needs finite coordinates; check the mesh for NaN and infinite values");
    }
  }
  std::vector<vec3> different;
  for (const std::uint32_t p : weld(points).point_of) different.push_back(points[p]);
  Hull hull(std::move(different));
  ConvexBody body;
  body.dimension = hull.dimension();
  Assembly assembly(hull.points(), body);
  switch (body.dimension) {
    case 3:
      for (const Corners& f : hull.solid()) assembly.face(f, 0);
      break;
    case 2:
      add_sheet(assembly, hull.flat());
      break;
    case 1: {
      const auto [from, to] = hull.segment();
      body.edges.push_back(
          {{assembly.vertex(from), assembly.vertex(to)}, {ConvexBody::kNone, ConvexBody::kNone}, false});
      break;
    }
    default:
      assembly.vertex(0);
  }
  assembly.finish();
  return body;
}

ConvexBody tidy_hull(std::span<const vec3> points, double thinnest) {
  ConvexBody body = convex_hull(points);
  for (;;) {
    std::vector<char> settled(body.vertices.size(), 0), dropped(body.vertices.size(), 0);
    bool any = false;
    for (const ConvexBody::Face& f : body.faces) {
      int longest = 0;
      double length = -1.0;
      for (int i = 0; i < 3; ++i) {
        const double side = glm::distance(body.vertices[f.vertex[i]], body.vertices[f.vertex[(i + 1) % 3]]);
        if (side > length) length = side, longest = i;
      }
      const std::uint32_t apex = f.vertex[(longest + 2) % 3];
      const dvec3 &a = body.vertices[f.vertex[longest]], &b = body.vertices[f.vertex[(longest + 1) % 3]];
      const double height = glm::length(glm::cross(b - a, body.vertices[apex] - a)) / length;
      if (height >= thinnest || settled[f.vertex[0]] || settled[f.vertex[1]] || settled[f.vertex[2]]) continue;
      for (const std::uint32_t v : f.vertex) settled[v] = 1;
      dropped[apex] = 1, any = true;
    }
    if (!any) return body;
    std::vector<vec3> kept;
    for (std::size_t v = 0; v < body.vertices.size(); ++v) {
      if (!dropped[v]) kept.emplace_back(body.vertices[v]);
    }
    body = convex_hull(kept);
  }
}

namespace {

// Removes, one after the other, the corner nearest to the hull of the other corners.
void leave_out_inner(std::vector<glm::dvec3>& corners) {
  std::vector<glm::dvec3> others;
  while (corners.size() > 1) {
    std::size_t nearest = corners.size();
    double least = kNearlyInside;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      others = corners;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const std::array<glm::dvec3, 1> alone{corners[i]};
      const double distance = hull_distance(others, alone).distance;
      if (distance < least) least = distance, nearest = i;
    }
    if (nearest == corners.size()) return;
    corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(nearest));
  }
}

}  // namespace

PartShape part_hull(std::span<const glm::vec3> points, double radius) {
  const ConvexBody drawn = convex_hull(points);
  const glm::dvec3 centre = 0.5 * (drawn.low + drawn.high), half = 0.5 * (drawn.high - drawn.low);
  PartShape shape;
  shape.radius = std::max(kSmallestRadius, std::min({radius, half.x, half.y, half.z}));
  glm::dvec3 scale(0.0);
  for (int axis = 0; axis < 3; ++axis)
    if (half[axis] > shape.radius) scale[axis] = 1.0 - shape.radius / half[axis];
  std::vector<glm::dvec3> corners;
  for (const glm::dvec3& vertex : drawn.vertices) corners.emplace_back(glm::vec3(centre + scale * (vertex - centre)));
  leave_out_inner(corners);
  if (corners.size() > kMostCorners) throw InputError("a part of an instrument has too many corners; draw it simpler");
  std::vector<glm::vec3> rounded;
  for (const glm::dvec3& corner : corners) rounded.emplace_back(corner);
  const ConvexBody core = convex_hull(rounded);
  shape.corners = core.vertices;
  for (const ConvexBody::Face& face : core.faces)
    shape.faces.emplace_back(face.vertex[0], face.vertex[1], face.vertex[2]);
  // A point or a segment has no faces: a degenerate triangle replaces them.
  if (shape.faces.empty()) shape.faces.emplace_back(0, 0, core.vertices.size() - 1);
  return shape;
}

}  // namespace trocar::solids
