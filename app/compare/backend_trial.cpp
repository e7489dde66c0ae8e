#include "app/compare/backend_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"

namespace trocar {
namespace {

constexpr int kWarmFrames = 3, kTimedFrames = 20, kFewFrames = 3;
constexpr double kMuchSlower = 4.0;  // times the best median so far
constexpr double kRadius = 0.0025;   // m

struct Box {
  glm::vec3 low{std::numeric_limits<float>::max()}, high{std::numeric_limits<float>::lowest()};
};

Box box_of(const MeshView& mesh) {
  Box box;
  for (const glm::vec3& p : mesh.positions) box = {glm::min(box.low, p), glm::max(box.high, p)};
  return box;
}

// Returns the volume of an instrument that comes from above and in frame `frame` has its tip on a short path around the
// centre of the organ's upper side.
ToolVolume volume_in(const Box& box, int frame) {
  const glm::dvec3 centre = 0.5 * (glm::dvec3(box.low) + glm::dvec3(box.high)), size(box.high - box.low);
  const auto tip = [&](int k) {
    return centre +
           glm::dvec3(0.2 * size.x * elementary::sin(0.3 * k), 0.25 * size.y, 0.2 * size.z * elementary::cos(0.3 * k));
  };
  return swept_volume({centre + glm::dvec3(0.0, 0.1 + size.y, 0.0), tip(frame), tip(frame + 1), kRadius},
                      Cover::Capsule);
}

// The queries of one backend, one for each organ.
class Trial {
 public:
  Trial(BackendMaker& backends, const std::string& name, std::span<const MeshView> organs) : organs_(organs) {
    for (const MeshView& organ : organs) {
      boxes_.push_back(box_of(organ));
      queries_.push_back(backends.make(name));
      queries_.back()->rebuild(organ);
    }
  }
  bool works() const {
    return std::all_of(queries_.begin(), queries_.end(),
                       [](const auto& query) { return query->fault() == TouchFault::None; });
  }
  double frame_ms(int frame) {
    volumes_.clear();
    for (const Box& box : boxes_) volumes_.push_back(volume_in(box, frame));
    const auto start = Clock::now();
    for (std::size_t k = 0; k < queries_.size(); ++k) {
      queries_[k]->update(organs_[k].positions);
      queries_[k]->submit({&volumes_[k], 1}, TouchSet::Exact);
    }
    for (const auto& query : queries_) query->collect();
    return milliseconds_since(start);
  }

 private:
  std::span<const MeshView> organs_;
  std::vector<Box> boxes_;
  std::vector<std::unique_ptr<TouchQuery>> queries_;
  std::vector<ToolVolume> volumes_;
};

double median_of(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

BackendTrial time_backend(BackendMaker& backends, const std::string& name, std::span<const MeshView> organs,
                          double best_ms) {
  try {
    Trial trial(backends, name, organs);
    for (int frame = 0; frame < kWarmFrames; ++frame) trial.frame_ms(frame);
    std::vector<double> times;
    while (static_cast<int>(times.size()) < kTimedFrames) {
      times.push_back(trial.frame_ms(static_cast<int>(times.size())));
      if (static_cast<int>(times.size()) == kFewFrames && median_of(times) > kMuchSlower * best_ms) break;
    }
    if (!trial.works()) return {name};
    return {name, median_of(times), static_cast<int>(times.size())};
  } catch (const InputError&) {  // not on this machine
    return {name};
  } catch (const RunError&) {  // the driver cannot compile its shaders
    return {name};
  }
}

}  // namespace

std::vector<BackendTrial> time_backends(BackendMaker& backends, std::span<const std::string> names,
                                        std::span<const MeshView> organs) {
  std::vector<BackendTrial> trials;
  double best_ms = std::numeric_limits<double>::max();
  for (const std::string& name : names) {
    trials.push_back(time_backend(backends, name, organs, best_ms));
    if (trials.back().frames > 0) best_ms = std::min(best_ms, trials.back().median_ms);
  }
  return trials;
}

BackendChoice fastest(std::span<const BackendTrial> trials) {
  const BackendTrial* best = nullptr;
  std::string times;
  for (const BackendTrial& trial : trials) {
    if (trial.frames == 0) continue;
    if (!best || trial.median_ms < best->median_ms) best = &trial;
    times += fmt::format("{}{} {:.3f}", times.empty() ? "" : ", ", trial.name, trial.median_ms);
  }
  if (!best) throw InputError("no backend works on this machine; run `trocar doctor`");
  return {best->name, fmt::format("the fastest on these organs (ms per frame: {})", times)};
}

}  // namespace trocar
