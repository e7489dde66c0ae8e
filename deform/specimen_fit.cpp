#include "deform/specimen_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deform/matrix.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr float kTrialModulus = 1e4f;  // Pa, any: forces are proportional to it
constexpr double kTolerance = 0.1;     // of the force
constexpr int kMostFitSteps = 10;
// The search ends when neither stiffening changes by more than this. kProbe: the step of the difference quotients.
constexpr double kFitSettled = 0.005, kProbe = 0.05;
// What stiffening counts as besides errors, in tolerances: kCostOfStiffening asinh(s) and kCostOfLate r. Of the
// materials that reproduce a curve within its tolerance this chooses one near the neo-Hookean solid; otherwise the
// slack of plates at small strain, which a curve up to 20 % shows, becomes a stiffening that is far off at 35 %.
constexpr double kCostOfStiffening = 1.0, kCostOfLate = 1.0;

using Rises = glm::dvec2;  // stiffening, late stiffening

// The best modulus for one pair, and the errors that remain, in tolerances.
struct Trial {
  double modulus = 0.0;  // Pa
  std::vector<double> errors;

  double square() const {
    double sum = 0.0;
    for (const double e : errors) sum += e * e;
    return sum;
  }
};

Rises limited(const Rises& pair) {
  return glm::clamp(pair, Rises(kLeastStiffening, 0.0), Rises(kMostStiffening, kMostLateStiffening));
}

double asinh_of(double x) { return std::copysign(elementary::log(std::abs(x) + std::sqrt(x * x + 1.0)), x); }

class Fit {
 public:
  Fit(const CurveTest& test, const TissueParams& params, std::span<const CurvePoint> points)
      : test_(test), params_(params), points_(points) {}

  Trial at(const Rises& pair) const {
    TissueParams params = params_;
    params.youngs_modulus = kTrialModulus;
    params.stiffening = static_cast<float>(pair.x), params.late_stiffening = static_cast<float>(pair.y);
    const std::vector<double> force = curve_of(test_, params, points_);
    double across = 0.0, square = 0.0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double g = force[i] / tolerance_of(points_[i]), f = points_[i].force / tolerance_of(points_[i]);
      across += f * g, square += g * g;
    }
    Trial trial{kTrialModulus * across / square, {}};
    for (std::size_t i = 0; i < points_.size(); ++i)
      trial.errors.push_back((force[i] * across / square - points_[i].force) / tolerance_of(points_[i]));
    trial.errors.push_back(kCostOfStiffening * asinh_of(pair.x)), trial.errors.push_back(kCostOfLate * pair.y);
    return trial;
  }
  // Gauss and Newton's step. At the limit 0 the late stiffening stays when the step would make it negative.
  Rises step(const Rises& pair, const Trial& here) const {
    glm::dmat2 square(0.0);
    Rises across(0.0);
    const Trial beside[2] = {at(pair + Rises(kProbe, 0.0)), at(pair + Rises(0.0, kProbe))};
    for (std::size_t i = 0; i < here.errors.size(); ++i) {
      const Rises slope = Rises(beside[0].errors[i] - here.errors[i], beside[1].errors[i] - here.errors[i]) / kProbe;
      square += glm::outerProduct(slope, slope), across -= here.errors[i] * slope;
    }
    const Rises both = glm::inverse(square) * across;
    return pair.y + both.y >= 0.0 || pair.y > 0.0 ? both : Rises(across.x / square[0][0], 0.0);
  }

 private:
  const CurveTest& test_;
  const TissueParams& params_;
  std::span<const CurvePoint> points_;
};

}  // namespace

double tolerance_of(const CurvePoint& point) { return std::max(kTolerance * std::abs(point.force), point.spread); }

std::vector<double> curve_of(const CurveTest& test, const TissueParams& params, std::span<const CurvePoint> points) {
  const Specimen specimen = make_specimen(test.mesh, params, test.turn);
  SpecimenSolver solver(specimen);
  std::vector<double> force;
  for (const CurvePoint& point : points) {
    SpecimenLoad load = test.load;
    load.press = test.sign * point.strain * specimen.height;
    const SpecimenAnswer answer = solver.solve(load, false);
    if (!answer.fault.empty())
      throw RunError(fmt::format("at a strain of {:g} and a stiffening of {:g}: {}", point.strain, params.stiffening,
                                 answer.fault));
    force.push_back(test.sign * answer.reference.push);
  }
  return force;
}

TissueParams fit_curve(const CurveTest& test, TissueParams params, std::span<const CurvePoint> points) {
  params.law = TissueLaw::Rising;
  const Fit fit(test, params, points);
  Rises pair(0.0);
  Trial best = fit.at(pair);
  for (int i = 0; i < kMostFitSteps; ++i) {
    const Rises step = fit.step(pair, best);
    bool better = false;
    for (double share = 1.0; !better; share *= 0.5) {
      const Rises tried = limited(pair + share * step);
      if (glm::length(tried - pair) < kFitSettled) break;
      const Trial next = fit.at(tried);
      better = next.square() < best.square();
      if (better) pair = tried, best = next;
    }
    if (!better) break;
  }
  params.youngs_modulus = static_cast<float>(best.modulus);
  params.stiffening = static_cast<float>(pair.x), params.late_stiffening = static_cast<float>(pair.y);
  return params;
}

}  // namespace trocar
