#include "cpu_collision/trees/obb_eigen.hpp"

#include <initializer_list>

namespace trocar {
namespace {

// Below this part of the trace the matrix is a multiple of the identity, within float precision.
constexpr float kRound = 1e-7f;

Lanes4 select(Mask4 condition, Lanes4 yes, Lanes4 no) { return condition ? yes : no; }

Vectors select(Mask4 condition, const Vectors& yes, const Vectors& no) {
  return {select(condition, yes.x, no.x), select(condition, yes.y, no.y), select(condition, yes.z, no.z)};
}

Lanes4 dot(const Vectors& u, const Vectors& v) { return u.x * v.x + u.y * v.y + u.z * v.z; }

Vectors cross(const Vectors& u, const Vectors& v) {
  return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}

Vectors operator*(Lanes4 scale, const Vectors& v) { return {scale * v.x, scale * v.y, scale * v.z}; }
Vectors operator+(const Vectors& u, const Vectors& v) { return {u.x + v.x, u.y + v.y, u.z + v.z}; }

Vectors times(const SymmetricMatrices& m, const Vectors& v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}

SymmetricMatrices scaled(const SymmetricMatrices& m, Lanes4 scale) {
  return {m.xx * scale, m.yy * scale, m.zz * scale, m.xy * scale, m.xz * scale, m.yz * scale};
}

SymmetricMatrices shifted(const SymmetricMatrices& m, Lanes4 shift) {
  return {m.xx - shift, m.yy - shift, m.zz - shift, m.xy, m.xz, m.yz};
}

Lanes4 largest_element(const SymmetricMatrices& m) {
  return max(max(max(abs(m.xx), abs(m.yy)), max(abs(m.zz), abs(m.xy))), max(abs(m.xz), abs(m.yz)));
}

Lanes4 determinant(const SymmetricMatrices& m) {
  return m.xx * (m.yy * m.zz - m.yz * m.yz) - m.xy * (m.xy * m.zz - m.yz * m.xz) + m.xz * (m.xy * m.yz - m.yy * m.xz);
}

// Returns cos(acos(r) / 3) for r in [0, 1]: the largest root of 4 c^3 - 3 c = r, by two Newton steps from its chord.
Lanes4 third_of_angle(Lanes4 r) {
  Lanes4 c = 0.8660254f + 0.1339746f * r;
  for (int step = 0; step < 2; ++step) c -= (c * (4.f * c * c - 3.f) - r) / (12.f * c * c - 3.f);
  return c;
}

// Returns the null direction of a rank-2 matrix: the cross product of two of its rows, from the best-conditioned pair.
Vectors null_direction(const SymmetricMatrices& m) {
  const Vectors x{m.xx, m.xy, m.xz}, y{m.xy, m.yy, m.yz}, z{m.xz, m.yz, m.zz};
  Vectors best = cross(x, y);
  for (const Vectors& other : {cross(y, z), cross(z, x)})
    best = select(dot(other, other) > dot(best, best), other, best);
  return lanes(1.f) / sqrt(dot(best, best)) * best;
}

// Returns a unit vector perpendicular to a unit vector. Source: Duff et al., "Building an Orthonormal Basis,
// Revisited", JCGT 2017.
Vectors across(const Vectors& n) {
  const Lanes4 sign = with_sign_of(lanes(1.f), n.z), a = -1.f / (sign + n.z);
  return {1.f + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x};
}

// Returns the direction of the larger eigenvalue within the plane of u and v.
Vectors larger_in_plane(const SymmetricMatrices& m, const Vectors& u, const Vectors& v) {
  const Vectors mu = times(m, u), mv = times(m, v);
  const Lanes4 d = dot(u, mu) - dot(v, mv), b = 2.f * dot(u, mv), h = sqrt(d * d + b * b);
  const Lanes4 large = sqrt(0.5f + 0.5f * abs(d) / h), small = 0.5f * b / (h * large);
  const Lanes4 on_u = select(d >= 0.f, large, abs(small)), on_v = select(d >= 0.f, small, with_sign_of(large, b));
  // For two equal eigenvalues any direction is valid, and the squared residuals may be denormal.
  return select(h > kRound, on_u * u + on_v * v, u);
}

}  // namespace

PrincipalAxes principal_axes(const SymmetricMatrices& matrices) {
  // The matrices are scaled so that their eigenvalues are 2 cos(angle), 2 cos(angle +- 120 degrees): their sum is 0,
  // the sum of their squares 6.
  const Lanes4 mean = (matrices.xx + matrices.yy + matrices.zz) / 3.f;
  SymmetricMatrices m = shifted(matrices, mean);
  // The mean is rounded, so the trace of the remainder is not exactly 0. For three nearly equal values the remainder
  // may consist of rounding errors only; its trace is therefore made 0 as well.
  m = shifted(m, (m.xx + m.yy + m.zz) / 3.f);
  const Lanes4 largest = largest_element(m);
  const Mask4 has_axes = largest > kRound * abs(mean);
  m = scaled(m, 1.f / largest);
  const Lanes4 squares = m.xx * m.xx + m.yy * m.yy + m.zz * m.zz + 2.f * (m.xy * m.xy + m.xz * m.xz + m.yz * m.yz);
  m = scaled(m, sqrt(6.f / squares));

  // The code starts with the eigenvalue farthest from the other two: the largest when the determinant is positive, else
  // the smallest.
  const Lanes4 r = 0.5f * determinant(m);
  const Lanes4 apart = with_sign_of(2.f * third_of_angle(min(lanes(1.f), abs(r))), r);
  const Vectors alone = null_direction(shifted(m, apart)), u = across(alone);
  const Vectors larger = larger_in_plane(m, u, cross(alone, u)), other = cross(alone, larger);
  const Mask4 alone_first = apart > 0.f;
  const Lanes4 one = lanes(1.f), zero = lanes(0.f);
  return {select(has_axes, select(alone_first, alone, larger), {one, zero, zero}),
          select(has_axes, select(alone_first, larger, other), {zero, one, zero}),
          select(has_axes, select(alone_first, other, alone), {zero, zero, one})};
}

}  // namespace trocar
