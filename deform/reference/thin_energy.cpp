#include "deform/reference/thin_energy.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/elementary.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

using glm::dvec2;
using glm::dvec3;

constexpr int kMost = 12;  // unknowns of an element
constexpr int kPairs = kMost * (kMost + 1) / 2;

// A number with its first derivatives by the unknowns of an element and, if B, its second ones.
template <bool B>
struct Jet {
  double value = 0.0;
  std::array<double, kMost> first{};            // [unknown]
  std::array<double, B ? kPairs : 0> second{};  // [pair] 00 10 11 20 21 22 30 ...

  Jet() = default;
  Jet(double v) : value(v) {}
  static Jet unknown(double v, int number) {
    Jet jet(v);
    jet.first[static_cast<std::size_t>(number)] = 1.0;
    return jet;
  }
};

// Sets every second derivative to of(pair, first unknown, second unknown).
template <bool B, class Of>
void set_second(Jet<B>& r, Of of) {
  if constexpr (B)
    for (std::size_t i = 0, pair = 0; i < kMost; ++i)
      for (std::size_t j = 0; j <= i; ++j, ++pair) r.second[pair] = of(pair, i, j);
}

// f(a): with f' and f'' there.
template <bool B>
[[gnu::noinline]] Jet<B> chain(const Jet<B>& a, double f, double slope, double bend) {
  Jet<B> r(f);
  for (std::size_t i = 0; i < kMost; ++i) r.first[i] = slope * a.first[i];
  set_second(r, [&](auto pair, auto i, auto j) { return slope * a.second[pair] + bend * a.first[i] * a.first[j]; });
  return r;
}

// u a + v b
template <bool B>
[[gnu::noinline]] Jet<B> mixed(double u, const Jet<B>& a, double v, const Jet<B>& b) {
  Jet<B> r(u * a.value + v * b.value);
  for (std::size_t i = 0; i < kMost; ++i) r.first[i] = u * a.first[i] + v * b.first[i];
  set_second(r, [&](auto pair, auto, auto) { return u * a.second[pair] + v * b.second[pair]; });
  return r;
}

template <bool B>
[[gnu::noinline]] Jet<B> operator*(const Jet<B>& a, const Jet<B>& b) {
  Jet<B> r(a.value * b.value);
  for (std::size_t i = 0; i < kMost; ++i) r.first[i] = a.value * b.first[i] + b.value * a.first[i];
  set_second(r, [&](auto pair, auto i, auto j) {
    return a.value * b.second[pair] + b.value * a.second[pair] + a.first[i] * b.first[j] + b.first[i] * a.first[j];
  });
  return r;
}

// The angle of the point (x, y).
template <bool B>
[[gnu::noinline]] Jet<B> angle_of(const Jet<B>& y, const Jet<B>& x) {
  const double u = x.value, v = y.value, square = u * u + v * v;
  const double same = 2.0 * u * v / (square * square), across = (v * v - u * u) / (square * square);
  Jet<B> a(elementary::atan2(v, u));
  for (std::size_t i = 0; i < kMost; ++i) a.first[i] = (u * y.first[i] - v * x.first[i]) / square;
  set_second(a, [&](auto pair, auto i, auto j) {
    return (u * y.second[pair] - v * x.second[pair]) / square +
           same * (x.first[i] * x.first[j] - y.first[i] * y.first[j]) +
           across * (x.first[i] * y.first[j] + y.first[i] * x.first[j]);
  });
  return a;
}

template <bool B>
Jet<B> operator+(const Jet<B>& a, const Jet<B>& b) {
  return mixed(1.0, a, 1.0, b);
}
template <bool B>
Jet<B> operator-(const Jet<B>& a, const Jet<B>& b) {
  return mixed(1.0, a, -1.0, b);
}
template <bool B>
Jet<B> operator*(double k, const Jet<B>& a) {
  return mixed(k, a, 0.0, a);
}
template <bool B>
Jet<B> operator+(Jet<B> a, double b) {
  a.value += b;
  return a;
}
template <bool B>
Jet<B> inverse(const Jet<B>& a) {
  const double i = 1.0 / a.value;
  return chain(a, i, -i * i, 2.0 * i * i * i);
}
template <bool B>
Jet<B> root(const Jet<B>& a) {
  const double r = std::sqrt(a.value);
  return chain(a, r, 0.5 / r, -0.25 / (r * a.value));
}
template <bool B>
Jet<B> cosine(const Jet<B>& a) {
  const double c = elementary::cos(a.value);
  return chain(a, c, -elementary::sin(a.value), -c);
}
template <bool B>
Jet<B> sine(const Jet<B>& a) {
  const double s = elementary::sin(a.value);
  return chain(a, s, elementary::cos(a.value), -s);
}
template <bool B>
Jet<B> tangent(const Jet<B>& a) {
  const double t = elementary::tan(a.value), slope = 1.0 + t * t;
  return chain(a, t, slope, 2.0 * t * slope);
}
template <bool B>
Jet<B> logarithm(const Jet<B>& a) {
  return chain(a, elementary::log(a.value), 1.0 / a.value, -1.0 / (a.value * a.value));
}
template <bool B>
Jet<B> power(const Jet<B>& a, double p) {
  const double f = elementary::pow(a.value, p);
  return chain(a, f, p * f / a.value, p * (p - 1.0) * f / (a.value * a.value));
}
template <bool B>
using Vec = std::array<Jet<B>, 3>;

template <bool B>
Vec<B> operator+(const Vec<B>& a, const Vec<B>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <bool B>
Vec<B> operator-(const Vec<B>& a, const Vec<B>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <bool B>
Vec<B> operator*(const Jet<B>& k, const Vec<B>& a) {
  return {k * a[0], k * a[1], k * a[2]};
}
template <bool B>
Vec<B> operator*(double k, const Vec<B>& a) {
  return {k * a[0], k * a[1], k * a[2]};
}
template <bool B>
Jet<B> dot(const Vec<B>& a, const Vec<B>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <bool B>
Vec<B> cross(const Vec<B>& a, const Vec<B>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <bool B>
Vec<B> unit(const Vec<B>& a) {
  return inverse(root(dot(a, a))) * a;
}
template <bool B>
Vec<B> constant(const dvec3& a) {
  return {Jet<B>(a.x), Jet<B>(a.y), Jet<B>(a.z)};
}
template <bool B>
dvec3 value_of(const Vec<B>& a) {
  return {a[0].value, a[1].value, a[2].value};
}

// `d` turned as the shortest rotation turns `from` into `to`, both unit (Rodrigues).
template <bool B>
Vec<B> carried(const Vec<B>& d, const Vec<B>& from, const Vec<B>& to) {
  const Vec<B> axis = cross(from, to);
  const Jet<B> c = dot(from, to);
  return c * d + cross(axis, d) + (dot(axis, d) * inverse(c + 1.0)) * axis;
}

// `d`, across the unit vector `axis`, turned about it.
template <bool B>
Vec<B> turned(const Vec<B>& d, const Vec<B>& axis, const Jet<B>& angle) {
  return cosine(angle) * d + sine(angle) * cross(axis, d);
}

// The signed angle from a to b about an axis, all unit, a and b across it.
template <bool B>
Jet<B> angle_between(const Vec<B>& a, const Vec<B>& b, const Vec<B>& axis) {
  return angle_of(dot(cross(a, b), axis), dot(a, b));
}

template <std::size_t N>
using Places = std::array<std::uint32_t, N>;  // numbers of an element's unknowns

// The unknowns of an element as jets.
template <bool B>
struct Element {
  std::span<const std::uint32_t> places;
  std::span<const double> unknowns;

  Jet<B> at(int k) const { return Jet<B>::unknown(unknowns[places[static_cast<std::size_t>(k)]], k); }
  Vec<B> point(int k) const { return {at(k), at(k + 1), at(k + 2)}; }
};

// The second derivatives without what is negative.
void keep_positive_part(Jet<true>& energy, Eigen::Index count) {
  Eigen::MatrixXd m(count, count);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      m(i, j) = m(j, i) = energy.second[static_cast<std::size_t>(i * (i + 1) / 2 + j)];
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
  m = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() * solver.eigenvectors().transpose();
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) energy.second[static_cast<std::size_t>(i * (i + 1) / 2 + j)] = m(i, j);
}

// Adds an element's energy, which a function returns from its unknowns.
template <class Of>
void add(std::span<const std::uint32_t> places, std::span<const double> unknowns, Curvature curvature, Of energy_of,
         ThinExpansion& out) {
  const auto add_first = [&](const auto& energy) {
    out.energy += energy.value;
    for (std::size_t i = 0; i < places.size(); ++i) out.slope[places[i]] += energy.first[i];
  };
  if (curvature == Curvature::None) return add_first(energy_of(Element<false>{places, unknowns}));
  Jet<true> energy = energy_of(Element<true>{places, unknowns});
  add_first(energy);
  if (curvature == Curvature::Convex) keep_positive_part(energy, static_cast<Eigen::Index>(places.size()));
  for (std::size_t i = 0, pair = 0; i < places.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j, ++pair)
      out.curvature.push_back({std::max(places[i], places[j]), std::min(places[i], places[j]), energy.second[pair]});
}

// Rods.

struct RodStiffness {
  double stretch, bend, twist;  // N, N m^2, N m^2
};
RodStiffness stiffness_of(const RodParams& p) {
  constexpr double kPi = 0.5 * kFullTurn;
  const double a2 = p.outer_radius * p.outer_radius, b2 = p.inner_radius * p.inner_radius;
  const double second_moment = kPi / 4.0 * (a2 - b2) * (a2 + b2);
  const double shear = p.youngs_modulus / (2.0 + 2.0 * p.poisson);
  return {p.youngs_modulus * kPi * (a2 - b2), p.youngs_modulus * second_moment, shear * 2.0 * second_moment};
}

dvec3 tangent_at(const RodState& s, std::size_t edge) { return glm::normalize(s.x[edge + 1] - s.x[edge]); }

// The frame of an edge without its angle, carried from a state.
template <bool B>
struct Frame {
  Vec<B> tangent, axis;

  Frame(const RodState& from, std::size_t edge, const Vec<B>& along)
      : tangent(unit(along)),
        axis(carried(constant<B>(from.axis[edge]), constant<B>(tangent_at(from, edge)), tangent)) {}
};

// The twist of the frames from an edge to the next; the turn nearest to that before.
template <bool B>
Jet<B> turn_between(const Frame<B>& a, const Frame<B>& b, double before) {
  const Jet<B> turn = angle_between(carried(a.axis, a.tangent, b.tangent), b.axis, b.tangent);
  return turn + kFullTurn * std::round((before - turn.value) / kFullTurn);
}

template <bool B>
Jet<B> bending_energy(const RodModel& model, const RodStiffness& stiffness, const RodState& from, std::size_t node,
                      const Element<B>& e) {
  const Frame<B> a(from, node - 1, e.point(4) - e.point(0)), b(from, node, e.point(8) - e.point(4));
  // Material axes of both edges.
  const Vec<B> a1 = turned(a.axis, a.tangent, e.at(3)), b1 = turned(b.axis, b.tangent, e.at(7));
  const Vec<B> a2 = cross(a.tangent, a1), b2 = cross(b.tangent, b1);
  // The curvature binormal, 2 tan(half of the angle) long, and its components in the mean frame.
  const Vec<B> binormal = (2.0 * inverse(dot(a.tangent, b.tangent) + 1.0)) * cross(a.tangent, b.tangent);
  const Jet<B> first = 0.5 * dot(binormal, a2 + b2) + -model.curvature[node].x;
  const Jet<B> second = -0.5 * dot(binormal, a1 + b1) + -model.curvature[node].y;
  const Jet<B> twist = turn_between(a, b, from.turn[node]) + e.at(7) - e.at(3) + -model.turn[node];
  const double share = std::min(model.whole[node - 1], model.whole[node]);
  const double scale = share * share / (model.length[node - 1] + model.length[node]);  // half over the mean length
  return scale * (stiffness.bend * (first * first + second * second) + stiffness.twist * (twist * twist));
}

// Sheets.

// The energy of Blatz and Ko's solid over mu, per volume, from the squares of the stretches in the sheet: I and their
// product J^2. The stretch across it is that which leaves no stress there.
template <bool B>
Jet<B> solid_energy(double poisson, const Jet<B>& sum, const Jet<B>& product) {
  if (poisson >= 0.5) return 0.5 * (sum + inverse(product) + -3.0);  // constant volume
  if (poisson <= 0.0) return 0.5 * (sum + -2.0) - 0.5 * logarithm(product);
  const double beta = poisson / (1.0 - 2.0 * poisson);
  const Jet<B> across = power(product, -beta / (1.0 + beta)), volume = product * across;  // squares
  return 0.5 * (sum + across + -3.0) + 0.5 / beta * (power(volume, -beta) + -1.0);
}

template <bool B>
Jet<B> membrane_energy(const SheetModel& model, const SheetElement& rest, const Element<B>& e) {
  const SheetParams& p = model.params;
  const Vec<B> a = e.point(3) - e.point(0), b = e.point(6) - e.point(0);
  // Products of the edges, in the metric of the sides at rest: C = R^-T (products) R^-1.
  const glm::dmat2 to_rest = glm::inverse(glm::dmat2(rest.corner[1] - rest.corner[0], rest.corner[2] - rest.corner[0]));
  const glm::dmat2 metric = to_rest * glm::transpose(to_rest);
  const Jet<B> aa = dot(a, a), ab = dot(a, b), bb = dot(b, b);
  const double determinant = glm::determinant(to_rest);
  const Jet<B> sum = metric[0][0] * aa + 2.0 * metric[0][1] * ab + metric[1][1] * bb;
  const Jet<B> product = determinant * determinant * (aa * bb - ab * ab);
  const double area = 0.5 / determinant, shear = p.youngs_modulus / (2.0 + 2.0 * p.poisson);
  return shear * p.thickness * area * rest.integrity * solid_energy(p.poisson, sum, product);
}

// The direction at the middle of an edge, carried from a state and turned.
template <bool B>
Vec<B> direction_of(const SheetModel& model, const SheetState& from, std::uint32_t edge, const Vec<B>& along,
                    const Jet<B>& turn) {
  const auto [first, last] = model.edges[edge];
  const Vec<B> before = constant<B>(glm::normalize(from.x[last] - from.x[first])), now = unit(along);
  return turned(carried(constant<B>(from.direction[edge]), before, now), now, turn);
}

template <bool B>
Jet<B> plate_energy(const SheetModel& model, const SheetState& from, std::size_t f, const Element<B>& e) {
  const SheetParams& p = model.params;
  const SheetFace& face = model.faces[f];
  const SheetElement& rest = model.elements[f];
  const Vec<B> normal = unit(cross(e.point(3) - e.point(0), e.point(6) - e.point(0)));
  Jet<B> xx, yy, xy;  // the integral of the curvature over the face at rest, m
  for (int k = 0; k < 3; ++k) {
    const std::uint32_t edge = face.edge[static_cast<std::size_t>(k)];
    const Vec<B> side = e.point(3 * ((k + 1) % 3)) - e.point(3 * k), out = unit(cross(side, normal));
    const bool same_way = model.edges[edge][0] == face.node[static_cast<std::size_t>(k)];
    const Vec<B> d = direction_of(model, from, edge, same_way ? side : -1.0 * side, e.at(9 + k));
    const Jet<B> slope = 2.0 * tangent(0.5 * angle_of(dot(d, out), dot(d, normal)));
    const Jet<B> bent = slope + -rest.turn[k];
    const dvec2 along = rest.corner[(k + 1) % 3] - rest.corner[k], outwards(along.y, -along.x);  // as long as the side
    const double length = glm::length(along);
    xx = xx + outwards.x * outwards.x / length * bent;
    yy = yy + outwards.y * outwards.y / length * bent;
    xy = xy + outwards.x * outwards.y / length * bent;
  }
  const double thickness = p.thickness, plate = p.bending * p.youngs_modulus * thickness * thickness * thickness /
                                                12.0 / (1.0 - p.poisson * p.poisson);
  const dvec2 a = rest.corner[1] - rest.corner[0], b = rest.corner[2] - rest.corner[0];
  const double area = 0.5 * (a.x * b.y - a.y * b.x);
  const Jet<B> trace = xx + yy;
  return plate * rest.integrity / (2.0 * area) * (trace * trace - 2.0 * (1.0 - p.poisson) * (xx * yy - xy * xy));
}

Places<9> corners_of(const SheetModel& model, std::size_t f) {
  Places<9> places;
  for (std::uint32_t k = 0; k < 3; ++k)
    for (std::uint32_t axis = 0; axis < 3; ++axis) places[3 * k + axis] = 3 * model.faces[f].node[k] + axis;
  return places;
}

Places<12> face_places(const SheetModel& model, std::size_t f) {
  const Places<9> corners = corners_of(model, f);
  const auto first_edge = static_cast<std::uint32_t>(3 * model.mass.size());
  Places<12> places;
  std::copy(corners.begin(), corners.end(), places.begin());
  for (std::uint32_t k = 0; k < 3; ++k) places[9 + k] = first_edge + model.faces[f].edge[k];
  return places;
}

template <bool B>
Vec<B> position_of(const SheetPoint& point, const Element<B>& e) {
  return point.weight[0] * e.point(0) + point.weight[1] * e.point(3) + point.weight[2] * e.point(6);
}

dvec3 node_of(std::span<const double> unknowns, std::size_t at) {
  return {unknowns[at], unknowns[at + 1], unknowns[at + 2]};
}

dvec3 across(const dvec3& d, const dvec3& axis) { return glm::normalize(d - glm::dot(d, axis) * axis); }

}  // namespace

std::vector<double> unknowns_of(const RodState& s) {
  std::vector<double> unknowns;
  for (std::size_t node = 0; node < s.x.size(); ++node) {
    unknowns.insert(unknowns.end(), {s.x[node].x, s.x[node].y, s.x[node].z});
    if (node < s.angle.size()) unknowns.push_back(s.angle[node]);
  }
  return unknowns;
}

std::vector<double> unknowns_of(const SheetState& s) {
  std::vector<double> unknowns;
  for (const dvec3& x : s.x) unknowns.insert(unknowns.end(), {x.x, x.y, x.z});
  unknowns.resize(unknowns.size() + s.direction.size(), 0.0);
  return unknowns;
}

RodState state_at(const RodModel& model, const RodState& from, std::span<const double> unknowns) {
  RodState s = from;
  for (std::size_t node = 0; node < s.x.size(); ++node) s.x[node] = node_of(unknowns, 4 * node);
  for (std::size_t e = 0; e < model.length.size(); ++e) {
    s.angle[e] = unknowns[4 * e + 3];
    const Frame<false> frame(from, e, constant<false>(s.x[e + 1] - s.x[e]));
    s.axis[e] = across(value_of(frame.axis), value_of(frame.tangent));
    if (e == 0) continue;
    const Frame<false> before(from, e - 1, constant<false>(s.x[e] - s.x[e - 1]));
    s.turn[e] = turn_between(before, frame, from.turn[e]).value;
  }
  return s;
}

SheetState state_at(const SheetModel& model, const SheetState& from, std::span<const double> unknowns) {
  SheetState s = from;
  for (std::size_t node = 0; node < s.x.size(); ++node) s.x[node] = node_of(unknowns, 3 * node);
  for (std::uint32_t e = 0; e < model.edges.size(); ++e) {
    const dvec3 along = s.x[model.edges[e][1]] - s.x[model.edges[e][0]];
    const Jet<false> turn(unknowns[3 * s.x.size() + e]);
    s.direction[e] =
        across(value_of(direction_of(model, from, e, constant<false>(along), turn)), glm::normalize(along));
  }
  return s;
}

void add_elastic(const RodModel& model, const RodState& from, std::span<const double> unknowns, Curvature curvature,
                 ThinExpansion& out) {
  const RodStiffness stiffness = stiffness_of(model.params);
  for (std::uint32_t edge = 0; edge < model.length.size(); ++edge) {
    const std::uint32_t a = 4 * edge;
    const auto stretching = [&]<bool B>(const Element<B>& e) {
      const Vec<B> along = e.point(3) - e.point(0);
      const Jet<B> longer = root(dot(along, along)) + -model.length[edge];
      return model.whole[edge] * stiffness.stretch / (2.0 * model.length[edge]) * (longer * longer);
    };
    const Places<6> places{a, a + 1, a + 2, a + 4, a + 5, a + 6};
    add(places, unknowns, curvature, stretching, out);
  }
  for (std::uint32_t node = 1; node < model.length.size(); ++node) {
    Places<11> places;
    for (std::uint32_t k = 0; k < 11; ++k) places[k] = 4 * (node - 1) + k;
    const auto bending = [&](const auto& e) { return bending_energy(model, stiffness, from, node, e); };
    add(places, unknowns, curvature, bending, out);
  }
}

void add_elastic(const SheetModel& model, const SheetState& from, std::span<const double> unknowns, Curvature curvature,
                 ThinExpansion& out) {
  for (std::size_t f = 0; f < model.faces.size(); ++f) {
    const Places<12> places = face_places(model, f);
    const auto membrane = [&](const auto& e) { return membrane_energy(model, model.elements[f], e); };
    const auto plate = [&](const auto& e) { return plate_energy(model, from, f, e); };
    add(places, unknowns, curvature, membrane, out);
    add(places, unknowns, curvature, plate, out);
  }
}

void add_spring(const RodSpring& spring, const RodState& from, std::span<const double> unknowns, Curvature curvature,
                ThinExpansion& out) {
  Places<7> places;
  for (std::uint32_t k = 0; k < 7; ++k) places[k] = 4 * spring.edge + k;
  const auto energy = [&]<bool B>(const Element<B>& e) {
    const Frame<B> frame(from, spring.edge, e.point(4) - e.point(0));
    const Vec<B> first = turned(frame.axis, frame.tangent, e.at(3)), second = cross(frame.tangent, first);
    const Vec<B> arm = spring.arm.x * frame.tangent + spring.arm.y * first + spring.arm.z * second;
    const Vec<B> on_edge = (1.0 - spring.share) * e.point(0) + spring.share * e.point(4);
    const Vec<B> off = on_edge + arm - constant<B>(spring.anchor);
    return 0.5 * spring.stiffness * dot(off, off);
  };
  add(places, unknowns, curvature, energy, out);
}

void add_pressure(const SheetModel& model, double pressure, std::span<const double> unknowns, Curvature curvature,
                  ThinExpansion& out) {
  const auto energy = [&](const auto& e) { return -pressure / 6.0 * dot(e.point(0), cross(e.point(3), e.point(6))); };
  for (std::size_t f = 0; f < model.faces.size(); ++f) add(corners_of(model, f), unknowns, curvature, energy, out);
}

void add_spring(const SheetModel& model, const SheetSpring& spring, std::span<const double> unknowns,
                Curvature curvature, ThinExpansion& out) {
  const double longest = spring.most / spring.stiffness;
  const auto energy = [&]<bool B>(const Element<B>& e) {
    const Vec<B> off = position_of(spring.point, e) - constant<B>(spring.anchor);
    const Jet<B> square = dot(off, off);
    if (square.value <= longest * longest) return 0.5 * spring.stiffness * square;
    return spring.most * (root(square) + -0.5 * longest);
  };
  add(corners_of(model, spring.point.face), unknowns, curvature, energy, out);
}

void add_support(const SheetModel& model, const SheetSupport& support, std::span<const double> unknowns,
                 Curvature curvature, ThinExpansion& out) {
  const auto energy = [&]<bool B>(const Element<B>& e) {
    const Vec<B> off = constant<B>(support.position) - position_of(support.point, e);
    const Jet<B> depth = dot(constant<B>(support.normal), off);
    return depth.value > 0.0 ? 0.5 * support.stiffness * (depth * depth) : Jet<B>();
  };
  add(corners_of(model, support.point.face), unknowns, curvature, energy, out);
}

}  // namespace trocar
