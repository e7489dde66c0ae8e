#include "sim/session/cpu_backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cpu_collision/queries.hpp"
#include "geometry/error.hpp"

namespace trocar {

const std::vector<std::string>& CpuBackends::names() const {
  static const std::vector<std::string> names{"scan", "aabb-refit", "aabb", "obb-refit", "obb"};
  return names;
}

std::unique_ptr<TouchQuery> CpuBackends::make(std::string_view name) {
  if (name == "scan") return make_scan_query();
  if (const auto plan = tree_plan(name)) return make_surface_tree(*plan);
  throw InputError(fmt::format("unknown backend '{}'; choose auto or one of {}", name, fmt::join(names(), ", ")));
}

BackendChoice CpuBackends::resolve(std::string_view name, std::span<const MeshView>) {
  if (name == "auto") return {"scan", "the fastest on a CPU"};
  make(name);
  return {std::string(name), "named by the caller"};
}

}  // namespace trocar
