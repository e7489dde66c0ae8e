#include "sim/device/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/units.hpp"
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

namespace {

constexpr double kSameTime = 1e-6;  // s

class ReplayDevice final : public Device {
 public:
  explicit ReplayDevice(Trajectory trajectory) : trajectory_(std::move(trajectory)) {}

  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock& clock) override {
    if (!started_) start_ = clock.time;
    started_ = true;
    const TrajectoryRow row = row_at(trajectory_, trajectory_.rows.front().time + (clock.time - start_));
    return {row.pivot, row.tip, row.roll_deg, row.grip, row.energy};
  }

 private:
  Trajectory trajectory_;
  double start_ = 0.0;  // s
  bool started_ = false;
};

}  // namespace

TrajectoryRow row_at(const Trajectory& trajectory, double time) {
  const auto& rows = trajectory.rows;
  const auto later = std::upper_bound(rows.begin(), rows.end(), time + kSameTime,
                                      [](double t, const TrajectoryRow& row) { return t < row.time; });
  if (later == rows.begin()) return rows.front();
  const TrajectoryRow& before = *(later - 1);
  if (later == rows.end() || time <= before.time + kSameTime) return before;
  const double share = (time - before.time) / (later->time - before.time);
  TrajectoryRow row = before;
  row.time = time;
  row.pivot += share * (later->pivot - before.pivot);
  row.tip += share * (later->tip - before.tip);
  row.roll_deg += share * (later->roll_deg - before.roll_deg);
  row.grip += share * (later->grip - before.grip);
  return row;
}

std::unique_ptr<Device> make_replay_device(Trajectory trajectory) {
  return std::make_unique<ReplayDevice>(std::move(trajectory));
}

namespace {

class TrajectoryDevice final : public Device {
 public:
  explicit TrajectoryDevice(Trajectory trajectory) : trajectory_(std::move(trajectory)) {}
  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock& clock) override {
    const std::size_t row = std::min<std::size_t>(clock.frame, trajectory_.rows.size() - 1);
    const TrajectoryRow& r = trajectory_.rows[row];
    return {r.pivot, r.tip, r.roll_deg, r.grip, r.energy};
  }

 private:
  Trajectory trajectory_;
};

// Returns a smooth step: 0 before `from`, 1 after `to`.
double eased(double t, double from, double to) {
  const double s = std::clamp((t - from) / (to - from), 0.0, 1.0);
  return s * s * (3.0 - 2.0 * s);
}

class ScriptDevice final : public Device {
 public:
  explicit ScriptDevice(const ScriptPath& path) : path_(path) {
    along_ = glm::normalize(path.target - path.pivot);
    const glm::dvec3 up = std::abs(along_.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0);
    right_ = glm::normalize(glm::cross(along_, up));
    up_ = glm::cross(right_, along_);
  }

  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock& clock) override {
    const double share = clock.time / path_.period, t = share - std::floor(share);
    if (path_.kind == "press") return press(t);
    if (path_.kind == "pull") return pull(t);
    if (path_.kind == "burn") return burn(t);
    return explore(kFullTurn * share);
  }

 private:
  DevicePose at(const glm::dvec3& offset, double grip, Diathermy energy = {}) const {
    return {path_.pivot, path_.target + offset, 0.0, grip, energy};
  }

  // The frequencies along the three directions differ, so the path takes long to repeat.
  DevicePose explore(double turn) const {
    const glm::dvec3 tip = path_.target +
                           path_.reach * (right_ * elementary::sin(turn) + up_ * 0.6 * elementary::sin(1.618 * turn)) +
                           path_.dip * along_ * elementary::sin(0.732 * turn - 0.25 * kFullTurn);
    return {path_.pivot, tip, 40.0 * elementary::sin(0.5 * turn), 0.75 + 0.25 * elementary::cos(turn)};
  }

  DevicePose press(double t) const {
    const double down = eased(t, 0.05, 0.45) - eased(t, 0.6, 0.95);
    return at(along_ * (down * (path_.reach + path_.dip) - path_.reach), 0.0);
  }

  DevicePose pull(double t) const {
    const double down = eased(t, 0.02, 0.2) - eased(t, 0.85, 0.98), back = eased(t, 0.35, 0.6) - eased(t, 0.75, 0.85);
    const double closed = eased(t, 0.22, 0.3) - eased(t, 0.72, 0.76);
    const double depth = (down - 1.0) * path_.reach + down * 0.002 - back * path_.reach;
    return at(along_ * depth, 1.0 - closed);
  }

  DevicePose burn(double t) const {
    const double down = eased(t, 0.02, 0.15) - eased(t, 0.84, 0.92);
    const double across = 2.0 * (eased(t, 0.2, 0.8) - eased(t, 0.9, 1.0)) - 1.0;
    const double depth = (down - 1.0) * path_.reach + 0.3 * down * path_.dip;
    return at(along_ * depth + right_ * (0.6 * across * path_.reach), 0.0,
              t > 0.18 && t < 0.82 ? Diathermy::Cut : Diathermy::Off);
  }

  ScriptPath path_;
  glm::dvec3 along_, right_, up_;
};

}  // namespace

std::unique_ptr<Device> make_trajectory_device(Trajectory trajectory) {
  return std::make_unique<TrajectoryDevice>(std::move(trajectory));
}

std::unique_ptr<Device> make_script_device(const ScriptPath& path) { return std::make_unique<ScriptDevice>(path); }

}  // namespace trocar
