#include "sim/score/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

class Curves {
 public:
  explicit Curves(std::size_t attempts) : attempts_(attempts) {}

  void add(std::size_t attempt, const std::string& instrument, const Metric& metric) {
    const auto same = [&](const MetricCurve& curve) { return curve.id == metric.id && curve.instrument == instrument; };
    auto at = std::find_if(list_.begin(), list_.end(), same);
    if (at == list_.end())
      at = list_.insert(at, {instrument, metric.id, metric.label, metric.unit, std::vector(attempts_, kNone), {}});
    at->values[attempt] = metric.value;
  }

  std::vector<MetricCurve> fitted() {
    for (MetricCurve& curve : list_) curve.fit = fit_power_law(curve.values);
    return std::move(list_);
  }

 private:
  std::size_t attempts_;
  std::vector<MetricCurve> list_;
};

}  // namespace

double PowerLaw::at(double attempt) const { return first * elementary::pow(attempt, -rate); }

std::optional<PowerLaw> fit_power_law(std::span<const double> values) {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k]) || values[k] <= 0.0) continue;
    const double at = elementary::log(static_cast<double>(k + 1)), value = elementary::log(values[k]);
    n += 1.0;
    x += at;
    y += value;
    xx += at * at;
    xy += at * value;
    yy += value * value;
  }
  if (n < 3.0) return {};
  const double spread_x = xx - x * x / n, spread_y = yy - y * y / n, both = xy - x * y / n;
  const double slope = both / spread_x;
  // Constant values are fitted exactly.
  const bool flat = spread_y <= 1e-12 * std::max(1.0, yy);
  return PowerLaw{elementary::exp((y - slope * x) / n), -slope, flat ? 1.0 : both * both / (spread_x * spread_y)};
}

LearningCurve learning_curve(std::span<const Attempt> attempts) {
  LearningCurve curve;
  curve.order.resize(attempts.size());
  std::iota(curve.order.begin(), curve.order.end(), std::size_t{0});
  std::stable_sort(curve.order.begin(), curve.order.end(),
                   [&](std::size_t a, std::size_t b) { return attempts[a].date < attempts[b].date; });
  Curves curves(attempts.size());
  for (std::size_t k = 0; k < attempts.size(); ++k)
    if (const Attempt& attempt = attempts[curve.order[k]]; attempt.task) {
      curves.add(k, "", {"task_score", "Score", "", attempt.task->score, 100.0, 0.0, ""});
      for (const Metric& part : attempt.task->parts) curves.add(k, "", part);
    }
  for (std::size_t k = 0; k < attempts.size(); ++k) {
    const Attempt& attempt = attempts[curve.order[k]];
    curve.files.push_back(attempt.file);
    for (const Metric& metric : attempt.overall) curves.add(k, "", metric);
    for (const InstrumentScore& instrument : attempt.instruments)
      for (const Metric& metric : instrument.metrics) curves.add(k, instrument.name, metric);
  }
  curve.curves = curves.fitted();
  return curve;
}

}  // namespace trocar
