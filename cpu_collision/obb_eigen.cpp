#include "cpu_collision/obb_eigen.hpp"

#include <cmath>
#include <utility>

namespace trocar {
namespace {

// Cyclic Jacobi converges quadratically: four sweeps reach float precision from any start, the fifth is a reserve.
constexpr int kSweeps = 5;
// Off-diagonals below this part of the trace turn the axes by less than boxes can show.
constexpr float kSmallestOffDiagonal = 1e-6f;

// Rotates rows and columns p and q of a symmetric matrix so that its element pq becomes 0; r is the third index.
void rotate(float& pp, float& qq, float& pq, float& pr, float& qr, glm::vec3& axis_p, glm::vec3& axis_q) {
  if (!(std::abs(pq) > kSmallestOffDiagonal)) return;
  const float half_cotangent = 0.5f * (qq - pp) / pq;
  const float t = std::copysign(1.f, half_cotangent) /
                  (std::abs(half_cotangent) + std::sqrt(1.f + half_cotangent * half_cotangent));
  const float c = 1.f / std::sqrt(1.f + t * t), s = t * c;
  pp -= t * pq;
  qq += t * pq;
  pq = 0.f;
  const float old_pr = pr;
  pr = c * old_pr - s * qr;
  qr = s * old_pr + c * qr;
  const glm::vec3 old_p = axis_p;
  axis_p = c * old_p - s * axis_q;
  axis_q = s * old_p + c * axis_q;
}

}  // namespace

PrincipalAxes principal_axes(const SymmetricMatrix3& matrix) {
  PrincipalAxes result{{glm::vec3(1, 0, 0), glm::vec3(0, 1, 0), glm::vec3(0, 0, 1)}, glm::vec3(0.f)};
  const float scale = std::abs(matrix.xx) + std::abs(matrix.yy) + std::abs(matrix.zz);
  if (scale == 0.f) return result;
  const float unit = 1.f / scale;
  float xx = matrix.xx * unit, yy = matrix.yy * unit, zz = matrix.zz * unit;
  float xy = matrix.xy * unit, xz = matrix.xz * unit, yz = matrix.yz * unit;
  auto& [a, b, c] = result.axis;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    if (std::abs(xy) + std::abs(xz) + std::abs(yz) <= kSmallestOffDiagonal) break;
    rotate(xx, yy, xy, xz, yz, a, b);
    rotate(xx, zz, xz, xy, yz, a, c);
    rotate(yy, zz, yz, xy, xz, b, c);
  }
  // Largest first; then straighten what rounding bent.
  if (xx < yy) std::swap(xx, yy), std::swap(a, b);
  if (yy < zz) std::swap(yy, zz), std::swap(b, c);
  if (xx < yy) std::swap(xx, yy), std::swap(a, b);
  a = glm::normalize(a);
  b = glm::normalize(b - glm::dot(a, b) * a);
  c = glm::cross(a, b);
  result.value = scale * glm::vec3(xx, yy, zz);
  return result;
}

}  // namespace trocar
