#include "mesh/exact_sign.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace trocar {
namespace {

constexpr double kHalfUlp = 0x1p-53;
// Error bounds of the determinants in double, relative to their sums of magnitudes (Shewchuk, section 4).
constexpr double kBound3 = (7.0 + 56.0 * kHalfUlp) * kHalfUlp;
constexpr double kBound2 = (3.0 + 16.0 * kHalfUlp) * kHalfUlp;

int sign_of(double value) { return (value > 0.0) - (value < 0.0); }

// A sum without rounding: parts that do not overlap and are not zero, smallest first.
class ExactSum {
 public:
  void add(double value) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const double sum = value + parts_[i];
      const double back = sum - value;
      const double error = (value - (sum - back)) + (parts_[i] - back);
      if (error != 0.0) parts_[kept++] = error;
      value = sum;
    }
    if (value != 0.0) parts_[kept++] = value;
    count_ = kept;
  }
  // Adds the product of three floats, given the product of two of them, which is exact in double.
  void add_product(double two, double third) {
    const double high = two * third;
    add(std::fma(two, third, -high));
    add(high);
  }
  int sign() const { return count_ == 0 ? 0 : sign_of(parts_[count_ - 1]); }

 private:
  std::array<double, 64> parts_{};  // 24 products of two parts each
  std::size_t count_ = 0;
};

// sign * p . (q x r)
void add_triple(ExactSum& sum, double sign, const glm::dvec3& p, const glm::dvec3& q, const glm::dvec3& r) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum.add_product(sign * p[i] * q[j], r[k]);
    sum.add_product(-sign * p[i] * q[k], r[j]);
  }
}

int summed_orientation(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c, const glm::dvec3& d) {
  ExactSum sum;
  add_triple(sum, 1.0, a, b, c);
  add_triple(sum, -1.0, d, b, c);
  add_triple(sum, -1.0, a, d, c);
  add_triple(sum, -1.0, a, b, d);
  return sum.sign();
}

int summed_orientation(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c) {
  ExactSum sum;
  for (double product : {a.x * b.y, -a.y * b.x, b.x * c.y, -b.y * c.x, c.x * a.y, -c.y * a.x}) sum.add(product);
  return sum.sign();
}

}  // namespace

int exact_orientation(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, const glm::vec3& d) {
  const glm::dvec3 u = glm::dvec3(a) - glm::dvec3(d), v = glm::dvec3(b) - glm::dvec3(d),
                   w = glm::dvec3(c) - glm::dvec3(d);
  const double vw_x = v.y * w.z, wv_x = v.z * w.y;
  const double vw_y = v.z * w.x, wv_y = v.x * w.z;
  const double vw_z = v.x * w.y, wv_z = v.y * w.x;
  const double determinant = u.x * (vw_x - wv_x) + u.y * (vw_y - wv_y) + u.z * (vw_z - wv_z);
  const double magnitude = std::abs(u.x) * (std::abs(vw_x) + std::abs(wv_x)) +
                           std::abs(u.y) * (std::abs(vw_y) + std::abs(wv_y)) +
                           std::abs(u.z) * (std::abs(vw_z) + std::abs(wv_z));
  if (std::abs(determinant) > kBound3 * magnitude) return sign_of(determinant);
  return summed_orientation(glm::dvec3(a), glm::dvec3(b), glm::dvec3(c), glm::dvec3(d));
}

int exact_orientation(const glm::vec2& a, const glm::vec2& b, const glm::vec2& c) {
  const glm::dvec2 u = glm::dvec2(a) - glm::dvec2(c), v = glm::dvec2(b) - glm::dvec2(c);
  const double left = u.x * v.y, right = u.y * v.x;
  if (std::abs(left - right) > kBound2 * (std::abs(left) + std::abs(right))) return sign_of(left - right);
  return summed_orientation(glm::dvec2(a), glm::dvec2(b), glm::dvec2(c));
}

bool collinear(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c) {
  return exact_orientation(glm::vec2(a.x, a.y), glm::vec2(b.x, b.y), glm::vec2(c.x, c.y)) == 0 &&
         exact_orientation(glm::vec2(a.y, a.z), glm::vec2(b.y, b.z), glm::vec2(c.y, c.z)) == 0 &&
         exact_orientation(glm::vec2(a.z, a.x), glm::vec2(b.z, b.x), glm::vec2(c.z, c.x)) == 0;
}

}  // namespace trocar
