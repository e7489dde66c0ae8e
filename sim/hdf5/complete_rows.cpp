#include "sim/hdf5/complete_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "geometry/error.hpp"

namespace trocar {
namespace {

bool has_shape(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& wanted) {
  return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(),
                    [](std::uint64_t has, std::uint64_t wants) { return wants == 0 || has == wants; });
}

H5Table open_column(const H5File& file, const std::string& path, const Column& kind, const RowSizes& sizes) {
  H5Table table = file.table(path, kind.cell);
  if (!has_shape(table.row_shape(), row_shape(kind, sizes)))
    throw InputError(fmt::format("{}: table {} has rows of another shape; the file is not a Trocar recording",
                                 file.path().string(), path));
  return table;
}

// `needed`: the frames of rows that take effect then, in ascending order; other tables have `rows` of these rows.
// Returns the number of frames, at most `frames`, before the first one that needs a missing row.
std::uint64_t frames_before_gap(const H5Table& needed, std::uint64_t rows, std::uint64_t frames) {
  if (needed.rows() <= rows) return frames;
  const std::uint64_t missed = needed.read_rows<std::uint32_t>(rows, 1).front();
  return std::min(frames, missed == 0 ? 0 : missed - 1);
}

// Returns the number of rows that take effect up to frame `frames`: they were written with the frames before it.
std::uint64_t rows_up_to(const H5Table& effect, std::uint64_t frames) {
  const auto all = effect.read_all<std::uint32_t>();
  return static_cast<std::uint64_t>(std::upper_bound(all.begin(), all.end(), frames) - all.begin());
}

// Recordings of format 4.0 have no dents, and neither have those of a session without tools.
bool is_there(const H5File& file, const std::string& path, const Column& kind, const RowSizes& sizes) {
  if (!kind.shape.empty() && kind.shape.front() == kPerDent) return file.has_table(path);
  return has_column(kind, sizes);
}

bool is_optional(ColumnGroup group) {
  return group == ColumnGroup::Fibres || group == ColumnGroup::Clips || group == ColumnGroup::Bleeding;
}

// Rows of these kinds are counted by a column of their starts.
constexpr std::pair<RowOf, OrganColumn> kStarts[] = {{RowOf::Touch, kTouchFirst}, {RowOf::TipFace, kTipFirst}};

}  // namespace

OpenColumns::OpenColumns(const H5File& file, ColumnGroup group, const RowSizes& sizes, RecordingForm form,
                         const std::string& organ)
    : group_(group) {
  if (is_optional(group) && !file.has_table(path_of(group, 0, organ))) return;
  tables_.resize(kinds().size());
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    const Column& kind = kinds()[k];
    const std::string path = path_of(group, k, organ);
    if (kind.is_in(form) && is_there(file, path, kind, sizes)) tables_[k].emplace(open_column(file, path, kind, sizes));
  }
}

std::optional<std::size_t> OpenColumns::effect_of(RowOf kind) const {
  for (std::size_t k = 0; k < tables_.size(); ++k)
    if (kinds()[k].effect && kinds()[k].rows == kind) return k;
  return {};
}

std::uint64_t OpenColumns::shortest(RowOf kind) const {
  std::uint64_t rows = ~std::uint64_t{0};
  for (std::size_t k = 0; k < tables_.size(); ++k)
    if (has(k) && kinds()[k].rows == kind && !kinds()[k].effect) rows = std::min(rows, tables_[k]->rows());
  return rows;
}

std::uint64_t OpenColumns::complete_frames(std::uint64_t frames) const {
  if (empty()) return frames;
  frames = std::min(frames, shortest(RowOf::Frame));
  for (std::size_t k = 0; k < tables_.size(); ++k)
    if (kinds()[k].effect) frames = frames_before_gap(*tables_[k], shortest(kinds()[k].rows), frames);
  if (group_ != ColumnGroup::Organ) return frames;
  for (const auto& [kind, starts] : kStarts) {
    const std::uint64_t rows = shortest(kind);
    while (frames > 0 && tables_[starts]->read_rows<std::uint64_t>(frames - 1, 1).back() > rows) --frames;
  }
  return frames;
}

std::uint64_t OpenColumns::rows(RowOf kind, std::uint64_t frames) const {
  if (kind == RowOf::Frame) return frames;
  if (kind == RowOf::Tool || kind == RowOf::Run) return ~std::uint64_t{0};
  if (const auto effect = effect_of(kind)) return rows_up_to(*tables_[*effect], frames);
  for (const auto& [counted, starts] : kStarts)
    if (kind == counted) return tables_[starts]->read_rows<std::uint64_t>(frames - 1, 1).back();
  return shortest(kind);
}

std::size_t rows_until(const std::vector<std::uint32_t>& frames, std::size_t frame) {
  return static_cast<std::size_t>(std::upper_bound(frames.begin(), frames.end(), frame) - frames.begin());
}

bool starts_fit(const H5Table& starts, std::uint64_t frames, std::uint64_t rows) {
  const auto all = starts.read_rows<std::uint64_t>(0, frames);
  const std::size_t columns = starts.row_cells();
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const std::span row = std::span(all).subspan(frame * columns, columns);
    if (!std::is_sorted(row.begin(), row.end()) || row.back() > rows) return false;
  }
  return true;
}

}  // namespace trocar
