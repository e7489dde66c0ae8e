#include "sim/task/avulsion_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trocar {
namespace {

constexpr std::uint32_t kNoJunction = ~0u;

}  // namespace

AvulsionWatch::AvulsionWatch(const TaskStage& stage, std::span<const char> wanted) : names_(stage.organs) {
  const auto is_tube = [&](std::uint32_t organ) { return organ < stage.lines.size() && !stage.lines[organ].empty(); };
  junction_of_.assign(stage.fibres.size(), kNoJunction);
  for (std::size_t f = 0; f < stage.fibres.size(); ++f) {
    const StageFibre& fibre = stage.fibres[f];
    if (wanted[f] || fibre.a == kWall || fibre.b == kWall || (!is_tube(fibre.a) && !is_tube(fibre.b))) continue;
    const bool from_duct = is_tube(fibre.a);
    auto junction = std::ranges::find(junctions_, fibre.group, &Junction::group);
    if (junction == junctions_.end())
      junction =
          junctions_.insert(junction, {fibre.group, from_duct ? fibre.a : fibre.b, from_duct ? fibre.b : fibre.a});
    ++junction->intact;
    junction_of_[f] = static_cast<std::uint32_t>(junction - junctions_.begin());
  }
}

void AvulsionWatch::step(const Observation& seen, const DuctWatch& ducts, TaskLog& log) {
  for (const std::uint32_t fibre : seen.fibres.broken) {
    if (junction_of_[fibre] == kNoJunction) continue;
    Junction& junction = junctions_[junction_of_[fibre]];
    if (--junction.intact > 0 || ducts.is_divided(junction.duct)) continue;
    log.critical(seen.time, fmt::format("the {} has come off the {}", names_[junction.duct], names_[junction.other]));
  }
}

}  // namespace trocar
