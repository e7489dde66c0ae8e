#include "geometry/closest.hpp"

#include <array>
#include <cmath>

namespace trocar {

ClosestPoints closest_segment_triangle(const glm::dvec3& p, const glm::dvec3& q, const Triangle& face) {
  const closest::Segment axis = closest::segment(p, q);
  const closest::AxisPair pair = closest::closest_axis_face(axis, closest::face(face));
  return {axis.p + pair.u * axis.d, pair.on_face, std::sqrt(pair.squared)};
}

// The shortest connection of two triangles always ends on an edge of at least one of them.
ClosestPoints closest_triangles(const Triangle& first, const Triangle& second) {
  const closest::Face one = closest::face(first), two = closest::face(second);
  ClosestPoints best{{}, {}, -1.0};
  double best_squared = INFINITY;
  for (int side = 0; side < 3; ++side) {
    const closest::AxisPair pair = closest::closest_axis_face(one.side[side], two);
    if (pair.squared < best_squared) {
      best_squared = pair.squared;
      best = {one.side[side].p + pair.u * one.side[side].d, pair.on_face, std::sqrt(pair.squared)};
    }
  }
  for (int side = 0; side < 3; ++side) {
    const closest::AxisPair pair = closest::closest_axis_face(two.side[side], one);
    if (pair.squared < best_squared) {
      best_squared = pair.squared;
      best = {pair.on_face, two.side[side].p + pair.u * two.side[side].d, std::sqrt(pair.squared)};
    }
  }
  return best;
}

namespace {

// Two lines in one plane meet when their distance is below this fraction of the coordinates.
constexpr double kSamePoint = 1e-14;
// When a line's rise over a triangle's plane is below this fraction of its terms, the rise is only rounding error, and
// so is the intersection point: the line lies in the plane, or the triangle is a needle.
constexpr double kFlatRise = 1e-14;

double size_of(const glm::dvec3& p) { return std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}); }

// Returns the length of the line, in units of `direction`, that can meet the triangle; the line itself may be infinite.
double useful_length(const glm::dvec3& origin, const glm::dvec3& direction, const Triangle& face) {
  const double length = glm::length(direction);
  if (!(length > 0.0)) return 0.0;
  const double far =
      std::max({glm::distance(origin, face.a), glm::distance(origin, face.b), glm::distance(origin, face.c)});
  return 2.0 * far / length;
}

double near_to(const glm::dvec3& origin, const glm::dvec3& step, const Triangle& face) {
  return kSamePoint * (size_of(origin) + size_of(step) + size_of(face.a) + size_of(face.b) + size_of(face.c));
}

bool lies_on(const glm::dvec3& point, const Triangle& face, double near) {
  return closest_segment_triangle(point, point, face).distance <= near;
}

// Returns the parameter on the first of two coplanar segments at which they meet. For nearly parallel segments the
// closest points lose digits; the cross product does not.
std::optional<double> meet_segments(const closest::Segment& first, const closest::Segment& second, double near) {
  const closest::SegmentPair pair = closest::closest_segments(first, second);
  if (std::sqrt(pair.squared) <= near) return pair.u;
  const glm::dvec3 r = first.p - second.p, n = glm::cross(first.d, second.d);
  const double nn = glm::dot(n, n);
  if (!(nn > 0.0)) return std::nullopt;
  const double u = closest::clamp01(-glm::dot(glm::cross(r, second.d), n) / nn);
  const double v = closest::clamp01(glm::dot(second.d, r + u * first.d) / second.squared_length);
  return glm::length(r + u * first.d - v * second.d) <= near ? std::optional(u) : std::nullopt;
}

// Returns the first common point of a coplanar segment and triangle: the start if inside, or a crossing with a side.
std::optional<double> meet_in_plane(const glm::dvec3& origin, const glm::dvec3& step, const Triangle& face) {
  const double near = near_to(origin, step, face);
  if (lies_on(origin, face, near)) return 0.0;
  std::optional<double> first;
  const closest::Segment line = closest::segment(origin, origin + step);
  const glm::dvec3 corner[] = {face.a, face.b, face.c};
  for (int k = 0; k < 3; ++k) {
    const auto u = meet_segments(line, closest::segment(corner[k], corner[(k + 1) % 3]), near);
    if (u && (!first || *u < *first)) first = u;
  }
  return first;
}

}  // namespace

std::optional<double> line_meets_triangle(const glm::dvec3& origin, const glm::dvec3& direction, double most,
                                          const Triangle& face) {
  const glm::dvec3 a = face.a - origin, b = face.b - origin, c = face.c - origin;
  const glm::dvec3 normal = glm::cross(b - a, c - a);
  const double height = glm::dot(normal, a), rise = glm::dot(normal, direction);
  const double size = size_of(a) + size_of(b) + size_of(c), edge = size_of(b - a) + size_of(c - a);
  const double rounding = kFlatRise * size * edge;
  if (std::abs(rise) <= rounding * size_of(direction)) {
    // The line stays off the plane over the whole triangle.
    if (std::abs(height) > 4.0 * rounding * size) return std::nullopt;
    const double length = useful_length(origin, direction, face);
    const auto share = meet_in_plane(origin, length * direction, face);
    return share && *share * length <= most ? std::optional(*share * length) : std::nullopt;
  }
  const double t = height / rise;
  if (!(t >= 0.0) || !(t <= most)) return std::nullopt;
  const double ab = glm::dot(direction, glm::cross(a, b)), bc = glm::dot(direction, glm::cross(b, c)),
               ca = glm::dot(direction, glm::cross(c, a));
  const bool same_side = (ab >= 0.0 && bc >= 0.0 && ca >= 0.0) || (ab <= 0.0 && bc <= 0.0 && ca <= 0.0);
  return same_side ? std::optional(t) : std::nullopt;
}

namespace {

using glm::dvec3;

constexpr int kMostRounds = 128;
// Hulls nearer than this share a point.
constexpr double kMeeting = 1e-12;  // m
// The search ends when the proven lower bound is this close to the distance.
constexpr double kEnough = 1e-11;  // m
constexpr int kMostExitSteps = 64;
// A tetrahedron whose height is at most this fraction of its edges counts as flat.
constexpr double kFlat = 1e-10;

// A point of the difference of the hulls: first[a] - second[b].
struct Vertex {
  dvec3 at;
  std::size_t a, b;
};

// Up to four vertices and the weights of their point closest to the origin.
struct Simplex {
  std::array<Vertex, 4> vertex;
  std::array<double, 4> weight{};
  int count = 0;

  dvec3 closest() const {
    dvec3 sum(0.0);
    for (int i = 0; i < count; ++i) sum += weight[i] * vertex[i].at;
    return sum;
  }
};

Simplex of_one(const Vertex& a) { return {{a}, {1.0}, 1}; }

Simplex of_two(const Vertex& a, const Vertex& b) {
  const dvec3 ab = b.at - a.at;
  const double along = -glm::dot(a.at, ab), square = glm::dot(ab, ab);
  if (!(along > 0.0)) return of_one(a);
  if (!(along < square)) return of_one(b);
  const double t = along / square;
  return {{a, b}, {1.0 - t, t}, 2};
}

double squared(const Simplex& simplex) {
  const dvec3 at = simplex.closest();
  return glm::dot(at, at);
}

Simplex nearest_side(const Vertex& a, const Vertex& b, const Vertex& c) {
  Simplex best = of_two(a, b);
  double least = squared(best);
  for (const Simplex& other : {of_two(b, c), of_two(c, a)}) {
    const double square = squared(other);
    if (square < least) best = other, least = square;
  }
  return best;
}

// Inside the triangle its plane decides, otherwise a side.
Simplex of_three(const Vertex& a, const Vertex& b, const Vertex& c) {
  const dvec3 n = glm::cross(b.at - a.at, c.at - a.at);
  const double square = glm::dot(n, n);
  if (square > 0.0) {
    const double u = glm::dot(n, glm::cross(b.at, c.at)), v = glm::dot(n, glm::cross(c.at, a.at)),
                 w = glm::dot(n, glm::cross(a.at, b.at)), sum = u + v + w;
    if (u > 0.0 && v > 0.0 && w > 0.0) return {{a, b, c}, {u / sum, v / sum, w / sum}, 3};
  }
  return nearest_side(a, b, c);
}

// The origin inside a tetrahedron: each corner's weight is the volume opposite to it.
Simplex of_origin(const std::array<Vertex, 4>& p) {
  const auto volume = [](const dvec3& a, const dvec3& b, const dvec3& c) {
    return std::abs(glm::dot(a, glm::cross(b, c)));
  };
  Simplex all{p,
              {volume(p[1].at, p[2].at, p[3].at), volume(p[0].at, p[2].at, p[3].at), volume(p[0].at, p[1].at, p[3].at),
               volume(p[0].at, p[1].at, p[2].at)},
              4};
  const double sum = all.weight[0] + all.weight[1] + all.weight[2] + all.weight[3];
  for (double& weight : all.weight) weight /= sum;
  return all;
}

// Returns a simplex of four vertices when the origin is inside the tetrahedron.
Simplex of_four(const std::array<Vertex, 4>& p) {
  constexpr int kSide[4][4] = {
      {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};  // a side, and the vertex opposite
  Simplex best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [i, j, k, opposite] : kSide) {
    const dvec3 n = glm::cross(p[j].at - p[i].at, p[k].at - p[i].at);
    const dvec3 edge = p[opposite].at - p[i].at;
    const double to_origin = -glm::dot(n, p[i].at), to_opposite = glm::dot(n, edge);
    // In a flat tetrahedron rounding decides the side of the fourth corner, so all its sides count.
    const bool flat = std::abs(to_opposite) <= kFlat * glm::length(n) * glm::length(edge);
    if (!flat && (to_opposite > 0.0 ? to_origin >= 0.0 : to_origin <= 0.0)) continue;
    const Simplex side = of_three(p[i], p[j], p[k]);
    const double square = squared(side);
    if (square < least) best = side, least = square;
  }
  return best.count == 0 ? of_origin(p) : best;
}

// Of two vertices or more.
Simplex closest_simplex(const Simplex& s) {
  switch (s.count) {
    case 2:
      return of_two(s.vertex[0], s.vertex[1]);
    case 3:
      return of_three(s.vertex[0], s.vertex[1], s.vertex[2]);
    default:
      return of_four(s.vertex);
  }
}

// Returns the index of the point farthest along `direction`.
std::size_t support(std::span<const dvec3> points, const dvec3& direction) {
  std::size_t best = 0;
  double most = glm::dot(points[0], direction);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double along = glm::dot(points[i], direction);
    if (along > most) most = along, best = i;
  }
  return best;
}

bool holds(const Simplex& s, const Vertex& v) {
  for (int i = 0; i < s.count; ++i)
    if (s.vertex[i].a == v.a && s.vertex[i].b == v.b) return true;
  return false;
}

// The search for the closest points: each step comes closer, until it is proven or rounding ends it.
class Descent {
 public:
  Descent(std::span<const dvec3> first, std::span<const dvec3> second)
      : first_(first),
        second_(second),
        simplex_(of_one({first[0] - second[0], 0, 0})),
        to_origin_(simplex_.closest()) {}

  // Returns whether there may be closer points, at a distance of `range` or less.
  bool step(double range) {
    const double square = glm::dot(to_origin_, to_origin_);
    if (rounds_++ == kMostRounds || meets(square)) return false;
    const std::size_t a = support(first_, -to_origin_), b = support(second_, to_origin_);
    const Vertex next{first_[a] - second_[b], a, b};
    const double along = glm::dot(to_origin_, next.at), length = std::sqrt(square);
    least_ = along / length;
    if (is_beyond(range) || square - along <= kEnough * length || holds(simplex_, next)) return false;
    Simplex grown = simplex_;
    grown.vertex[grown.count++] = next;
    grown = closest_simplex(grown);
    const dvec3 at = grown.closest();
    // Rounding stops the descent: the simplex cannot be improved.
    if (!(glm::dot(at, at) < square)) return false;
    simplex_ = grown;
    to_origin_ = at;
    return true;
  }

  // Is the distance certainly above `range`, with every rounding?
  bool is_beyond(double range) const { return least_ > range + kDistanceError; }
  // Bounds of the distance, m.
  double at_least() const { return least_; }
  double at_most() const { return meets(glm::dot(to_origin_, to_origin_)) ? 0.0 : glm::length(to_origin_); }

  HullDistance points(double distance) const {
    HullDistance found;
    for (int i = 0; i < simplex_.count; ++i) {
      found.on_first += simplex_.weight[i] * first_[simplex_.vertex[i].a];
      found.on_second += simplex_.weight[i] * second_[simplex_.vertex[i].b];
    }
    found.distance = distance;
    return found;
  }

 private:
  bool meets(double square) const { return simplex_.count == 4 || !(square > kMeeting * kMeeting); }

  std::span<const dvec3> first_, second_;
  Simplex simplex_;
  dvec3 to_origin_;  // from the origin to the closest point of the difference of the hulls, as far as it is known
  double least_ = 0.0;
  int rounds_ = 0;
};

}  // namespace

HullDistance hull_distance(std::span<const dvec3> first, std::span<const dvec3> second, double range) {
  Descent descent(first, second);
  while (descent.step(range)) {
  }
  return descent.points(descent.is_beyond(range) ? descent.at_least() : descent.at_most());
}

// The distance of the moving point from the hull is convex, so Newton's method from beyond the hull descends to the
// last crossing without passing it.
double exit_distance(std::span<const dvec3> hull, double radius, const dvec3& point, const dvec3& direction) {
  double farthest = 0.0;
  for (const dvec3& corner : hull) farthest = std::max(farthest, glm::dot(corner - point, direction));
  double along = farthest + radius;
  for (int step = 0; step < kMostExitSteps; ++step) {
    const std::array<dvec3, 1> moved{point + along * direction};
    const HullDistance apart = hull_distance(hull, moved);
    const double excess = apart.distance - radius;
    if (!(excess > kDistanceError)) break;
    const double slope = glm::dot(moved[0] - apart.on_first, direction) / apart.distance;
    if (!(slope > 0.0)) return 0.0;
    along -= excess / slope;
    if (!(along > 0.0)) return 0.0;
  }
  return along;
}

}  // namespace trocar
