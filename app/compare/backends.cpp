#include "app/compare/backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/compare/backend_trial.hpp"
#include "cpu_collision/queries.hpp"
#include "geometry/error.hpp"
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

}  // namespace trocar
