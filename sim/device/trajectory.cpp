#include "sim/device/trajectory.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/limits.hpp"

namespace trocar {
namespace {

constexpr std::array<std::string_view, 9> kColumns = {"t",     "pivot_x", "pivot_y",  "pivot_z", "tip_x",
                                                      "tip_y", "tip_z",   "roll_deg", "grip"};
constexpr std::size_t kRequiredColumns = 7;
constexpr FileKind kTrajectoryFile{"trajectory", std::uint64_t{1} << 30};  // a day at 100 rows a second
constexpr std::size_t kLongestLine = 4096;                                 // bytes

// Position of each known column in the file; the optional columns may be absent.
using ColumnIndices = std::array<std::optional<std::size_t>, kColumns.size()>;

ColumnIndices read_header(const std::string& file, const CsvReader& csv) {
  const std::vector<std::string>& cells = csv.header();
  const std::size_t line_number = csv.header_line();
  ColumnIndices indices;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (std::size_t column = 0; column < kColumns.size(); ++column) {
      if (cells[cell] != kColumns[column]) continue;
      if (indices[column])
        throw InputError(
            fmt::format("{}:{}: column '{}' appears twice; remove or rename one", file, line_number, kColumns[column]));
      indices[column] = cell;
    }
  }
  for (std::size_t column = 0; column < kRequiredColumns; ++column) {
    if (!indices[column]) {
      throw InputError(fmt::format("{}:{}: column '{}' is missing; the header must be {}", file, line_number,
                                   kColumns[column], "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z[,roll_deg,grip]"));
    }
  }
  return indices;
}

TrajectoryRow read_row(const std::string& file, CsvReader& csv, const ColumnIndices& indices) {
  const auto& cells = csv.cells();
  const std::size_t line_number = csv.line();
  std::array<double, kColumns.size()> values{};
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    if (!indices[column]) continue;
    if (*indices[column] >= cells.size()) {
      throw InputError(fmt::format("{}:{}: the row has {} cells, but column {} is number {}; complete the row", file,
                                   line_number, cells.size(), kColumns[column], *indices[column] + 1));
    }
    values[column] = csv.number(*indices[column], kColumns[column]);
  }
  TrajectoryRow row;
  row.time = values[0];
  row.pivot = glm::dvec3(values[1], values[2], values[3]) * kMillimetre;
  row.tip = glm::dvec3(values[4], values[5], values[6]) * kMillimetre;
  row.roll_deg = values[7];
  row.grip = values[8];
  for (std::size_t column = 1; column < kRequiredColumns; ++column)
    if (std::abs(values[column]) > kFarthestPosition / kMillimetre)
      throw InputError(fmt::format("{}:{}: {} in column {} is more than {:g} m from the origin; check the unit", file,
                                   line_number, values[column], kColumns[column], kFarthestPosition));
  if (const std::string fault = pose_fault({row.pivot, row.tip, ToolPose{}.radius}); !fault.empty()) {
    throw InputError(fmt::format("{}:{}: {}", file, line_number, fault));
  }
  return row;
}

// The step from the previous row uses the pivot of the new row, so the previous tip must differ from that pivot too.
void check_step(const std::string& file, std::size_t line_number, const Trajectory& so_far, const TrajectoryRow& row) {
  if (so_far.rows.empty()) return;
  const ToolStep step{row.pivot, so_far.rows.back().tip, row.tip, ToolPose{}.radius};
  if (const std::string fault = step_fault(step); !fault.empty()) {
    throw InputError(fmt::format("{}:{}: between this row and the previous one: {}", file, line_number, fault));
  }
}

}  // namespace

Trajectory load_trajectory(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::string content = read_whole_file(path, kTrajectoryFile);
  CsvReader csv(file, content, {kColumns, kRequiredColumns, kLongestLine, kTrajectoryFile.name});
  if (csv.header().empty())
    throw InputError(fmt::format("{}: the file is empty; it needs a header and one row per frame", file));
  const ColumnIndices indices = read_header(file, csv);
  Trajectory trajectory;
  while (csv.next_row()) {
    const std::size_t line_number = csv.line();
    const TrajectoryRow row = read_row(file, csv, indices);
    if (!trajectory.rows.empty() && row.time < trajectory.rows.back().time) {
      throw InputError(fmt::format("{}:{}: the time decreases from {} s to {} s; sort the rows by time", file,
                                   line_number, trajectory.rows.back().time, row.time));
    }
    if (!trajectory.rows.empty() && row.time - trajectory.rows.front().time > kLongestSession)
      throw InputError(fmt::format("{}:{}: the trajectory lasts longer than {:g} s (one day); split it", file,
                                   line_number, kLongestSession));
    check_step(file, line_number, trajectory, row);
    trajectory.rows.push_back(row);
  }
  if (trajectory.rows.empty())
    throw InputError(fmt::format("{}: there is no row after the header; add one row per frame", file));
  return trajectory;
}

Trajectory thinned(const Trajectory& trajectory, std::size_t stride) {
  Trajectory thin;
  for (std::size_t row = 0; row < trajectory.rows.size(); row += stride) thin.rows.push_back(trajectory.rows[row]);
  return thin;
}

void check_radius(double radius, const MeshView& organ) {
  if (!(radius > 0.0) || !std::isfinite(radius)) {
    throw InputError(
        fmt::format("radius {} mm: must be a positive number of millimetres, for example 2.5 for a 5 mm instrument",
                    radius / kMillimetre));
  }
  glm::vec3 low(std::numeric_limits<float>::max()), high(-std::numeric_limits<float>::max());
  for (const auto& position : organ.positions) {
    low = glm::min(low, position);
    high = glm::max(high, position);
  }
  const double size = organ.positions.empty() ? 0.0 : glm::length(glm::dvec3(high) - glm::dvec3(low));
  if (radius > size) {
    throw InputError(
        fmt::format("radius {} mm: is larger than the organ, which measures {:.3g} mm across; "
                    "check the units of both",
                    radius / kMillimetre, size / kMillimetre));
  }
}

}  // namespace trocar
