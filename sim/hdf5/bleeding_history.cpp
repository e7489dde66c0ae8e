#include "sim/hdf5/bleeding_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/hdf5/complete_rows.hpp"

namespace trocar {
namespace {

// Sources change their states at most this many times; a reader allocates no more.
constexpr std::uint64_t kMostChanges = 1 << 22;

std::string fault_of_bleed_rows(const std::vector<H5Table>& tables, std::size_t organs) {
  if (tables[kBleedLost].row_cells() != 2 * organs) return "the table of lost fluids does not fit its organs";
  if (tables[kBleedSourceFrame].rows() > kMostBleedSources)
    return fmt::format("it has {} sources of blood, and the limit is {}", tables[kBleedSourceFrame].rows(),
                       kMostBleedSources);
  if (tables[kBleedChangeFrame].rows() > kMostChanges) return "its sources of blood change too often";
  return {};
}

std::vector<BleedSource> read_sources(const std::vector<H5Table>& tables, std::uint64_t rows) {
  const auto at = tables[kBleedSource].read_rows<std::uint32_t>(0, rows);
  const auto rate = tables[kBleedRate].read_rows<double>(0, rows);
  std::vector<BleedSource> sources(rows);
  for (std::size_t k = 0; k < rows; ++k)
    sources[k] = {at[3 * k],
                  at[3 * k + 1],
                  static_cast<BleedKind>(std::min(at[3 * k + 2], 255u)),
                  BleedState::Flows,
                  rate[2 * k],
                  rate[2 * k + 1],
                  0.0};
  return sources;
}

std::vector<FluidAmounts> read_fluids(const std::vector<H5Table>& tables, std::uint64_t frames) {
  const auto all = tables[kBleedFluids].read_rows<double>(0, frames);
  std::vector<FluidAmounts> fluids(frames);
  for (std::size_t f = 0; f < frames; ++f) {
    const double* row = &all[f * kFluidNumbers];
    fluids[f] = {{row[0], row[1], row[2]}, {row[3], row[4], row[5]}, {row[6], row[7], row[8]}, row[9]};
  }
  return fluids;
}

std::vector<RecordedBleedChange> read_changes(const std::vector<H5Table>& tables, std::uint64_t rows) {
  const auto all = tables[kBleedChange].read_rows<std::uint32_t>(0, rows);
  std::vector<RecordedBleedChange> changes(rows);
  for (std::size_t k = 0; k < rows; ++k)
    changes[k] = {all[3 * k], all[3 * k + 1], static_cast<BleedState>(std::min(all[3 * k + 2], 255u))};
  return changes;
}

// Does the vertex exist in this frame?
bool fits(std::uint32_t organ, std::uint32_t vertex, std::uint32_t frame,
          std::span<const SurfaceHistory* const> surfaces) {
  if (organ >= surfaces.size()) return false;
  const std::vector<std::uint32_t>& born = surfaces[organ]->vertex_born;
  return vertex < born.size() && born[vertex] <= frame;
}

}  // namespace

void sources_before(const BleedingHistory& history, std::size_t frame, std::vector<BleedSource>& now) {
  const std::size_t sources = rows_until(history.source_frame, frame);
  now.assign(history.sources.begin(), history.sources.begin() + static_cast<std::ptrdiff_t>(sources));
  for (std::size_t k = 0; k < rows_until(history.change_frame, frame); ++k) {
    const RecordedBleedChange& change = history.changes[k];
    now[change.source].vertex = change.vertex, now[change.source].state = change.state;
  }
}

BleedingHistory read_bleeding(const std::vector<H5Table>& tables, std::uint64_t frames,
                              std::span<const SurfaceHistory* const> surfaces, const std::string& file) {
  BleedingHistory history;
  std::string fault = fault_of_bleed_rows(tables, surfaces.size());
  if (fault.empty()) {
    const BleedRows rows = bleed_rows(tables, frames);
    for (const glm::dvec2& lost : tables[kBleedLost].read_rows<glm::dvec2>(0, frames))
      history.lost.push_back({lost.x, lost.y});
    history.fluids = read_fluids(tables, frames);
    history.sources = read_sources(tables, rows.sources);
    history.source_frame = tables[kBleedSourceFrame].read_rows<std::uint32_t>(0, rows.sources);
    history.changes = read_changes(tables, rows.changes);
    history.change_frame = tables[kBleedChangeFrame].read_rows<std::uint32_t>(0, rows.changes);
    fault = fault_of(history, surfaces);
  }
  if (!fault.empty()) throw InputError(fmt::format("{}: {}; the file is damaged", file, fault));
  return history;
}

std::string fault_of(const BleedingHistory& history, std::span<const SurfaceHistory* const> surfaces) {
  for (const auto* frames : {&history.source_frame, &history.change_frame})
    if (!std::is_sorted(frames->begin(), frames->end())) return "the frames of its bleeding are not in ascending order";
  for (std::size_t k = 0; k < history.sources.size(); ++k) {
    const BleedSource& source = history.sources[k];
    if (!fits(source.organ, source.vertex, history.source_frame[k], surfaces) || source.kind > BleedKind::Perforation)
      return fmt::format("source {} of its bleeding is not on an organ", k);
    if (!(source.rate >= 0.0 && source.half_time >= 0.0 && std::isfinite(source.rate + source.half_time)))
      return fmt::format("the rate of source {} of its bleeding is not a rate", k);
  }
  for (std::size_t k = 0; k < history.changes.size(); ++k) {
    const auto& [source, vertex, state] = history.changes[k];
    if (source >= history.sources.size() || history.source_frame[source] > history.change_frame[k] ||
        state > BleedState::Stopped || !fits(history.sources[source].organ, vertex, history.change_frame[k], surfaces))
      return fmt::format("source {} of its bleeding changes before it opens or does not exist", source);
  }
  for (const FluidLoss& lost : history.lost)
    if (!(lost.blood >= 0.0 && lost.bile >= 0.0 && std::isfinite(lost.blood + lost.bile)))
      return "the blood or bile that it lost is not a volume";
  return {};
}

}  // namespace trocar
