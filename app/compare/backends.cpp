#include "app/compare/backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "cpu_collision/queries.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "geometry/touch.hpp"
#include "study/bsp/bsp.hpp"
#include "study/trees/study_volumes.hpp"

namespace trocar {
namespace {

constexpr BackendRow kTable[] = {
    {"compute", "gpu_collision", "OpenGL 4.5", "a machine with a GPU: the simulator's first choice"},
    {"occlusion", "gpu_collision", "OpenGL 3.3", "a machine with an older OpenGL"},
    {"select", "gpu_collision", "OpenGL 3.3, compatibility profile", "comparison with the original method of 1999"},
    {"scan", "cpu_collision", "CPU", "a machine without a GPU: the fastest on a CPU at every size measured"},
    {"aabb-refit", "cpu_collision", "CPU",
     "rays, points and pairs besides touches: the fastest tree for a deforming mesh"},
    {"aabb", "cpu_collision", "CPU", "the same, after large changes of shape"},
    {"sphere-refit", "study", "CPU", "bodies that move rigidly: cheap tests, loose volumes"},
    {"sphere", "study", "CPU", "the same, after large changes of shape"},
    {"obb-refit", "cpu_collision", "CPU", "validation: its face test shares no code with compute and scan"},
    {"obb", "cpu_collision", "CPU", "validation; two surfaces close together and parallel"},
    {"kdop6-refit", "study", "CPU", "a check of aabb-refit: the same boxes by the code of the k-DOPs"},
    {"kdop6", "study", "CPU", "a check of aabb"},
    {"kdop14-refit", "study", "CPU", "pairs of surfaces: fewer tests than boxes, slower updates"},
    {"kdop14", "study", "CPU", "many queries on one shape"},
    {"kdop18-refit", "study", "CPU", "as kdop14-refit, tighter"},
    {"kdop18", "study", "CPU", "as kdop14, tighter"},
    {"kdop26-refit", "study", "CPU", "as kdop18-refit, tighter"},
    {"kdop26", "study", "CPU", "as kdop18, tighter"},
    {"quospo-refit", "study", "CPU", "as obb-refit: nearly as tight, with fewer axes to test"},
    {"quospo", "study", "CPU", "as obb: nearly as tight, with fewer axes to test"},
    {"bsp", "study", "CPU", "a solid at rest: inside or outside, faces front to back along a line"},
};

}  // namespace

std::span<const BackendRow> backend_table() { return kTable; }

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const BackendRow& row : kTable) list.emplace_back(row.name);
    return list;
  }();
  return names;
}

std::string backend_help() {
  std::string text = "Backends:\n";
  for (const BackendRow& row : kTable)
    text +=
        fmt::format("  {:<13} {}{}\n", row.name, row.use, row.needs == "CPU" ? "" : fmt::format(" ({})", row.needs));
  return text + "A tree's split follows a colon: aabb:median, aabb:mean, aabb:middle, aabb:octree-refit";
}

namespace {

bool known(std::string_view name) {
  return tree_plan(name, kAllTreeVolumes) ||
         std::find(backend_names().begin(), backend_names().end(), name) != backend_names().end();
}

void check_known(std::string_view name) {
  if (known(name)) return;
  throw InputError(
      fmt::format("unknown backend '{}'; choose auto or one of {} (a tree's split after a colon: aabb:median-refit)",
                  name, fmt::join(backend_names(), ", ")));
}

}  // namespace

GlContext* Backends::context() {
  if (adopted_) return adopted_;
  if (!tried_) {
    owned_ = make_offscreen_context(why_);
    tried_ = true;
  }
  return owned_.get();
}

GlContext& Backends::needed_context(std::string_view backend) {
  if (GlContext* found = context()) return *found;
  throw InputError(fmt::format("backend {}: no OpenGL on this machine ({}); use scan", backend, why_));
}

std::unique_ptr<TouchQuery> Backends::make(std::string_view name) {
  check_known(name);
  if (name == "scan") return make_scan_query();
  if (name == "bsp") return make_bsp_query();
  if (const auto plan = tree_plan(name, kAllTreeVolumes)) return make_surface_tree(*plan);
  GlContext& context = needed_context(name);
  if (name == "compute") return make_compute_query(context);
  return name == "occlusion" ? make_occlusion_query(context) : make_select_query(context);
}

BackendChoice Backends::choose(std::span<const MeshView> organs) {
  if (!adopted_ && gl_was_forked()) return {"scan", "OpenGL was used before the fork of this process"};
  const GlContext* gl = context();
  if (!gl) return {"scan", fmt::format("no OpenGL on this machine ({})", why_)};
  const GlInfo& info = gl->info();
  if (info.software) return {"scan", fmt::format("{} renders in software; the CPU scan is faster", info.renderer)};
  if (!organs.empty()) {
    const std::string names[] = {"scan", "compute", "occlusion"};
    return fastest(time_backends(*this, names, organs));
  }
  if (info.major * 10 + info.minor >= 45)
    return {"compute", fmt::format("{} has compute shaders; a session times the backends", info.renderer)};
  return {"scan", fmt::format("{} has OpenGL {}.{}; compute needs 4.5", info.renderer, info.major, info.minor)};
}

BackendChoice Backends::resolve(std::string_view name, std::span<const MeshView> organs) {
  if (name == "auto") return choose(organs);
  check_known(name);
  return {std::string(name), "named by the user"};
}

void require_start(const TouchQuery& query) {
  if (query.fault() == TouchFault::None) return;
  throw InputError(fmt::format("backend {}: {}; use scan", query.name(), sentence_of(query.fault())));
}

void require_answer(const TouchQuery& query) {
  if (query.fault() == TouchFault::None) return;
  throw RunError(fmt::format("backend {}: {}; use scan", query.name(), sentence_of(query.fault())));
}

std::vector<std::string> backend_list(std::string_view text, Backends& backends) {
  std::vector<std::string> names;
  if (text == "all") {
    for (const auto& name : backend_names()) {
      try {
        backends.make(name);
        names.push_back(name);
      } catch (const InputError& error) {
        fmt::print(stderr, "skipped: {}\n", error.what());
      }
    }
    return names;
  }
  for (std::size_t start = 0; start <= text.size();) {
    const auto comma = std::min(text.find(',', start), text.size());
    const std::string name(text.substr(start, comma - start));
    const std::string resolved = backends.resolve(name, {}).name;
    if (std::find(names.begin(), names.end(), resolved) == names.end()) names.push_back(resolved);
    start = comma + 1;
  }
  return names;
}

std::string gl_description(Backends& backends) {
  const GlContext* gl = backends.context();
  if (!gl) return fmt::format("none ({})", backends.why_no_context());
  return fmt::format("{}, {}", gl->info().renderer, gl->info().version);
}

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

namespace {

// A vertical tool 5 mm thick passes through the first triangle and misses the second.
struct KnownCase {
  std::vector<glm::vec3> positions = {{-0.02f, 0.f, -0.02f}, {0.02f, 0.f, -0.02f}, {0.f, 0.f, 0.03f},
                                      {0.10f, 0.f, 0.f},     {0.12f, 0.f, 0.f},    {0.11f, 0.f, 0.02f}};
  std::vector<glm::uvec3> faces = {{0, 1, 2}, {3, 4, 5}};
  ToolStep tool{{0.0, 0.2, 0.0}, {0.0, -0.01, 0.0}, {0.0, -0.01, 0.0}, 0.0025};
};

}  // namespace

std::string verdict_on_known_case(BackendMaker& backends, std::string_view name) {
  const std::string known_name = backends.resolve(name, {}).name;
  try {
    const KnownCase known;
    const auto query = backends.make(known_name);
    query->rebuild({known.positions, known.faces});
    query->update(known.positions);
    const ToolVolume volume = swept_volume(known.tool, Cover::Capsule);
    const auto touches = query->touched({&volume, 1}, TouchSet::Exact).touches;
    if (query->fault() != TouchFault::None) return fmt::format("FAILS: {}", sentence_of(query->fault()));
    const bool right = touches.size() == 1 && index(touches.front().face) == 0;
    return right ? fmt::format("works ({:.3f} ms on two faces)", query->times().total_ms())
                 : "WRONG: the touched faces differ from the known answer";
  } catch (const InputError& error) {
    return fmt::format("not available: {}", error.what());
  } catch (const RunError& error) {
    return fmt::format("FAILS: {}", error.what());
  }
}

}  // namespace trocar
