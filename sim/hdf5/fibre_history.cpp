#include "sim/hdf5/fibre_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/hdf5/complete_rows.hpp"

namespace trocar {
namespace {

// Recordings before format 2.6 have neither groups nor causes.
bool has_groups(const std::vector<H5Table>& tables) { return tables.size() > kFibreGroup; }

// Checks the numbers of rows before memory is allocated for them.
std::string fault_of_fibre_rows(const std::vector<H5Table>& tables) {
  const std::uint64_t fibres = tables[kFibreOrgan].rows();
  if (fibres > kMostFibres) return fmt::format("it has {} fibres, and the limit is {}", fibres, kMostFibres);
  for (std::size_t k = kFibreOrgan; k < kBrokenFibre; ++k)
    if (tables[k].rows() != fibres || (has_groups(tables) && tables[kFibreGroup].rows() != fibres))
      return "the tables of its fibres have different numbers of rows";
  if (std::max(tables[kBrokenFibre].rows(), tables[kBrokenFrame].rows()) > fibres)
    return "more fibres are broken than it has";
  return {};
}

std::vector<RecordedFibre> read_ends(const std::vector<H5Table>& tables) {
  const auto organ = tables[kFibreOrgan].read_all<std::uint32_t>(), node = tables[kFibreNode].read_all<std::uint32_t>();
  const auto weight = tables[kFibreWeight].read_all<float>();
  const auto point = tables[kFibrePoint].read_all<glm::vec3>();
  const auto length = tables[kFibreLength].read_all<glm::vec2>();
  const auto group =
      has_groups(tables) ? tables[kFibreGroup].read_all<std::uint32_t>() : std::vector<std::uint32_t>(length.size());
  std::vector<RecordedFibre> fibres(length.size());
  for (std::size_t f = 0; f < fibres.size(); ++f) {
    fibres[f].free_length = length[f].x;
    fibres[f].reference = length[f].y;
    fibres[f].group = group[f];
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t row = 2 * f + side;
      RecordedFibreEnd& end = side == 0 ? fibres[f].a : fibres[f].b;
      end.organ = organ[row];
      end.point = point[row];
      std::copy_n(&node[8 * row], 8, end.embedding.node);
      std::copy_n(&weight[8 * row], 8, end.embedding.weight);
    }
  }
  return fibres;
}

bool finite(const glm::vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

bool fits(const RecordedFibreEnd& end, const std::vector<std::size_t>& nodes) {
  if (end.organ == kWall) return finite(end.point);
  if (end.organ >= nodes.size()) return false;
  const auto& [node, weight] = end.embedding;
  return std::all_of(std::begin(node), std::end(node), [&](std::uint32_t n) { return n < nodes[end.organ]; }) &&
         std::all_of(std::begin(weight), std::end(weight), [](float w) { return std::isfinite(w); });
}

}  // namespace

std::span<const std::uint32_t> broken_before(const FibreHistory& history, std::size_t frame) {
  const auto& frames = history.broken_frame;
  const auto after = std::upper_bound(frames.begin(), frames.end(), frame);
  return std::span(history.broken).first(static_cast<std::size_t>(after - frames.begin()));
}

std::span<const std::uint32_t> broken_in(const FibreHistory& history, std::size_t frame) {
  return broken_before(history, frame + 1).subspan(broken_before(history, frame).size());
}

std::span<const FibreBreak> how_broken_in(const FibreHistory& history, std::size_t frame) {
  if (history.broken_how.empty()) return {};
  return std::span(history.broken_how).subspan(broken_before(history, frame).size(), broken_in(history, frame).size());
}

FibreHistory read_fibres(const std::vector<H5Table>& tables, std::uint64_t frames,
                         const std::vector<std::size_t>& nodes, const std::string& file) {
  FibreHistory history;
  std::string fault = fault_of_fibre_rows(tables);
  if (fault.empty()) {
    const std::uint64_t broken = broken_rows(tables, frames);
    history = {read_ends(tables),
               tables[kBrokenFibre].read_rows<std::uint32_t>(0, broken),
               {},
               tables[kBrokenFrame].read_rows<std::uint32_t>(0, broken)};
    if (has_groups(tables))
      for (const std::uint8_t how : tables[kBrokenHow].read_rows<std::uint8_t>(0, broken))
        history.broken_how.push_back(static_cast<FibreBreak>(how));
    fault = fault_of(history, nodes);
  }
  if (!fault.empty()) throw InputError(fmt::format("{}: {}; the file is damaged", file, fault));
  return history;
}

std::string fault_of(const FibreHistory& history, const std::vector<std::size_t>& nodes) {
  for (std::size_t f = 0; f < history.fibres.size(); ++f) {
    const RecordedFibre& fibre = history.fibres[f];
    if (!fits(fibre.a, nodes) || !fits(fibre.b, nodes)) return fmt::format("an end of fibre {} is not in an organ", f);
    if (!(fibre.free_length >= 0.f && fibre.reference > 0.f && std::isfinite(fibre.free_length + fibre.reference)))
      return fmt::format("the length of fibre {} is not a length", f);
  }
  if (!std::is_sorted(history.broken_frame.begin(), history.broken_frame.end()))
    return "the frames of its broken fibres are not in ascending order";
  std::vector<std::uint8_t> intact(history.fibres.size(), 1);
  for (const std::uint32_t fibre : history.broken) {
    if (fibre >= intact.size() || !intact[fibre]) return fmt::format("fibre {} breaks twice or does not exist", fibre);
    intact[fibre] = 0;
  }
  for (const FibreBreak how : history.broken_how)
    if (how > FibreBreak::Lost) return "the cause of a broken fibre is unknown";
  return {};
}

}  // namespace trocar
