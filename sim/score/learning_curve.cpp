#include "sim/score/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/elementary.hpp"
#include "sim/score/motion.hpp"

namespace trocar {
namespace {

class Curves {
 public:
  explicit Curves(std::size_t attempts) : attempts_(attempts) {}

  void add(std::size_t attempt, const std::string& instrument, const Metric& metric) {
    const auto same = [&](const MetricCurve& curve) { return curve.id == metric.id && curve.instrument == instrument; };
    auto at = std::find_if(list_.begin(), list_.end(), same);
    if (at == list_.end())
      at = list_.insert(at, {instrument, metric.id, metric.label, metric.unit, std::vector(attempts_, kUndefined), {}});
    at->values[attempt] = metric.value;
  }

  std::vector<MetricCurve> fitted() {
    for (MetricCurve& curve : list_) curve.fit = fit_practice(curve.values);
    return std::move(list_);
  }

 private:
  std::size_t attempts_;
  std::vector<MetricCurve> list_;
};

constexpr double kSlowest = 0.05, kFastest = 5.0;  // rates that are tried
constexpr std::size_t kFewest = 3, kFewestForRate = 5;

struct Observed {
  double attempt, value;
};

// The best limit and gain for a rate, and the sum of the squared differences that remains.
struct Candidate {
  PracticeCurve curve;
  double squares = 0.0;
};

Candidate best_for(double rate, std::span<const Observed> observed, bool never_negative) {
  const double n = static_cast<double>(observed.size());
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (const Observed& o : observed) {
    const double share = elementary::pow(o.attempt, -rate);
    x += share, y += o.value, xx += share * share, xy += share * o.value;
  }
  const double spread = xx - x * x / n;
  Candidate best;
  best.curve.rate = rate;
  best.curve.gain = spread > 0.0 ? (xy - x * y / n) / spread : 0.0;
  best.curve.limit = (y - best.curve.gain * x) / n;
  if (never_negative && best.curve.limit < 0.0) best.curve.limit = 0.0, best.curve.gain = xy / xx;
  for (const Observed& o : observed) {
    const double off = o.value - best.curve.at(o.attempt);
    best.squares += off * off;
  }
  return best;
}

// Searches the rate on a grid of equal factors, then ever closer around the best.
Candidate best_of_all(std::span<const Observed> observed, bool never_negative) {
  double low = elementary::log(kSlowest), high = elementary::log(kFastest);
  const double least = low, most = high;
  Candidate best{{}, std::numeric_limits<double>::infinity()};
  constexpr int kSteps = 40, kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    const double step = (high - low) / kSteps;
    for (int k = 0; k <= kSteps; ++k) {
      const Candidate tried = best_for(elementary::exp(low + k * step), observed, never_negative);
      if (tried.squares < best.squares) best = tried;
    }
    const double middle = elementary::log(best.curve.rate);
    low = std::max(least, middle - step), high = std::min(most, middle + step);
  }
  return best;
}

}  // namespace

double PracticeCurve::at(double attempt) const { return limit + gain * elementary::pow(attempt, -rate); }

std::optional<PracticeCurve> fit_practice(std::span<const double> values) {
  std::vector<Observed> observed;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (std::isfinite(values[k])) observed.push_back({static_cast<double>(k + 1), values[k]});
  if (observed.size() < kFewest) return {};
  const bool never_negative =
      std::all_of(observed.begin(), observed.end(), [](const Observed& o) { return o.value >= 0.0; });
  Candidate best = observed.size() < kFewestForRate ? best_for(1.0, observed, never_negative)
                                                    : best_of_all(observed, never_negative);
  double mean = 0.0, total = 0.0, largest = 0.0;
  for (const Observed& o : observed) {
    mean += o.value / static_cast<double>(observed.size());
    largest = std::max(largest, std::abs(o.value));
  }
  for (const Observed& o : observed) total += (o.value - mean) * (o.value - mean);
  // Constant values are fitted exactly.
  const bool flat = total <= 1e-20 * largest * largest;
  best.curve.explained = flat ? 1.0 : std::max(0.0, 1.0 - best.squares / total);
  return best.curve;
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
