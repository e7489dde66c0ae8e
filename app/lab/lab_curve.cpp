#include "app/lab/lab_curve.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/lab/lab_course.hpp"

namespace trocar {
namespace {

// The quantile of sorted values, linear between them.
double quantile(std::span<const double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<PeerRange> peer_ranges(std::span<const std::vector<double>> others) {
  std::vector<PeerRange> ranges;
  for (std::size_t number = 0;; ++number) {
    std::vector<double> values;
    for (const std::vector<double>& one : others)
      if (number < one.size()) values.push_back(one[number]);
    if (values.size() < kFewestPeers) return ranges;
    std::ranges::sort(values);
    ranges.push_back({quantile(values, 0.25), quantile(values, 0.75)});
  }
}

std::optional<PassLine> pass_line(const Curriculum& curriculum, const LabAttempt& attempt, const std::string& metric) {
  for (const CourseStep& step : curriculum.steps) {
    if (scene_key(step.scene) != attempt.scene || step.level != attempt.level) continue;
    if (metric.empty() && step.pass.least_score > 0.0) return PassLine{step.pass.least_score, false};
    for (const MetricLimit& limit : step.pass.limits)
      if (!metric.empty() && limit.metric == course_metric(metric)) return PassLine{limit.value, limit.at_most};
  }
  return {};
}

}  // namespace

std::optional<double> value_of(const LabAttempt& attempt, const std::string& metric) {
  if (metric.empty()) return attempt.score;
  const auto found = attempt.metrics.find(metric);
  if (found == attempt.metrics.end() || !std::isfinite(found->second)) return {};
  return found->second;
}

std::vector<std::string> metrics_of(std::span<const LabAttempt> attempts) {
  std::set<std::string> metrics;
  for (const LabAttempt& attempt : attempts)
    for (const auto& [metric, value] : attempt.metrics) metrics.insert(metric);
  return {metrics.begin(), metrics.end()};
}

std::span<const PeerRange> shown_peers(const LabCurve& curve) {
  return std::span(curve.peers).first(std::min(curve.peers.size(), curve.values.size()));
}

CurveRange curve_range(std::span<const LabCurve> curves) {
  if (curves.empty() || curves.front().metric.empty()) return {};
  std::vector<double> values;
  for (const LabCurve& curve : curves) {
    values.insert(values.end(), curve.values.begin(), curve.values.end());
    for (const PeerRange& range : shown_peers(curve)) values.insert(values.end(), {range.low, range.high});
    if (curve.pass) values.push_back(curve.pass->value);
  }
  if (values.empty()) return {};
  CurveRange range{std::ranges::min(values), std::ranges::max(values)};
  if (range.high <= range.low) range.high = range.low + std::max(std::abs(range.low), 1.0);
  return range;
}

LabCurve lab_curve(const std::string& person, std::span<const LabAttempt> all, const std::string& metric,
                   const Curriculum& curriculum) {
  std::vector<const LabAttempt*> dated;
  for (const LabAttempt& attempt : all) dated.push_back(&attempt);
  std::ranges::stable_sort(dated, {}, [](const LabAttempt* attempt) { return attempt->started; });
  LabCurve curve{.metric = metric};
  std::map<std::string, std::vector<double>> others;
  for (const LabAttempt* attempt : dated) {
    const auto value = value_of(*attempt, metric);
    if (!value) continue;
    if (attempt->person != person) {
      others[attempt->person].push_back(*value);
      continue;
    }
    curve.attempts.push_back(*attempt);
    curve.values.push_back(*value);
  }
  if (!curve.attempts.empty()) curve.pass = pass_line(curriculum, curve.attempts.front(), metric);
  std::vector<std::vector<double>> values;
  for (auto& [id, one] : others) values.push_back(std::move(one));
  curve.peers = peer_ranges(values);
  return curve;
}

}  // namespace trocar
