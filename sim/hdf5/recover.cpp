// trocar recover: copies the complete frames of a recording that a killed process left behind into a plain file.
// Interface: recording.hpp.   Tested in tests/sim/recording_faults_test.cpp
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/complete_rows.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_lock.hpp"
#include "sim/support/output_file.hpp"

namespace trocar {
namespace {

// Rows are copied through a buffer of this size.
constexpr std::uint64_t kPieceBytes = 8 << 20;

void copy_rows(const H5Table& from, H5Table& to, std::uint64_t rows) {
  const std::uint64_t piece = std::max<std::uint64_t>(1, kPieceBytes / std::max<std::size_t>(1, from.row_bytes()));
  std::vector<std::byte> memory;
  for (std::uint64_t row = 0; row < rows; row += piece) {
    const std::uint64_t count = std::min(piece, rows - row);
    memory.resize(count * from.row_bytes());
    from.read(row, memory);
    to.append(memory);
  }
}

void copy_table(const H5File& from, H5File& to, const std::string& path, Cell cell, std::uint64_t rows) {
  const H5Table source = from.table(path, cell);
  const GrowingTable kind{path, cell, source.row_shape()};
  H5Table copy = to.make_table(path, cell, kind.row_shape, rows_per_chunk(kind));
  copy_rows(source, copy, std::min(rows, source.rows()));
}

constexpr std::uint64_t kAllRows = ~std::uint64_t{0};

void copy_tips(const H5File& from, H5File& to, const std::string& organ, std::size_t tools, std::uint64_t frames,
               std::uint64_t touches) {
  auto kinds = organ_later_tables(organ, tools);
  if (!from.has_table(kinds[kTipFirst].path)) return;
  const std::uint64_t faces =
      from.table(kinds[kTipFirst].path, Cell::U64).read_rows<std::uint64_t>(frames - 1, 1).back();
  if (!from.has_table(kinds[kTouchPart].path)) kinds.resize(kTouchPart);
  for (const auto& kind : kinds) {
    const std::uint64_t rows = kind.rows == RowOf::Frame ? frames : kind.rows == RowOf::Touch ? touches : faces;
    copy_table(from, to, kind.path, kind.cell, rows);
  }
}

// Returns the number of touches.
std::uint64_t copy_organ(const H5File& from, H5File& to, const std::string& name, std::size_t tools,
                         std::uint64_t frames) {
  to.make_group(std::string(kOrganGroup) + "/" + name);
  const auto kinds = organ_tables(name, 0, tools);
  const RowCounts rows = rows_of(open_tables(from, kinds), frames);
  for (const auto& kind : kinds) copy_table(from, to, kind.path, kind.cell, rows[kind.rows]);
  copy_tips(from, to, name, tools, frames, rows[RowOf::Touch]);
  return rows[RowOf::Touch];
}

void copy_fibres(const H5File& from, H5File& to, std::uint64_t frames) {
  auto kinds = fibre_tables();
  if (!from.has_table(kinds.front().path)) return;
  if (!from.has_table(kinds[kFibreGroup].path)) kinds.resize(kFibreGroup);
  const std::uint64_t broken = broken_rows(open_tables(from, kinds), frames);
  for (const auto& kind : kinds)
    copy_table(from, to, kind.path, kind.cell, kind.rows == RowOf::Broken ? broken : kAllRows);
}

void copy_clips(const H5File& from, H5File& to, std::uint64_t frames) {
  const auto kinds = clip_tables();
  if (!from.has_table(kinds.front().path)) return;
  const ClipRows rows = clip_rows(open_tables(from, kinds), frames);
  for (const auto& kind : kinds)
    copy_table(from, to, kind.path, kind.cell,
               kind.rows == RowOf::Clip       ? rows.clips
               : kind.rows == RowOf::LostClip ? rows.lost
                                              : rows.tubes);
}

void copy_bleeding(const H5File& from, H5File& to, std::uint64_t frames) {
  const auto kinds = bleed_tables(0);
  if (!from.has_table(kinds.front().path)) return;
  const BleedRows rows = bleed_rows(open_tables(from, kinds), frames);
  for (const auto& kind : kinds)
    copy_table(from, to, kind.path, kind.cell,
               kind.rows == RowOf::Frame         ? frames
               : kind.rows == RowOf::BleedSource ? rows.sources
                                                 : rows.changes);
}

// Copies the complete frames. Throws RunError when a write fails.
void write_copy(const Recording& damaged, const H5File& from, H5File& to, RecoverResult& result) {
  for (const char* attribute : kTextAttributes) to.set_text(attribute, from.text(attribute));
  to.make_group("/session");
  to.make_group(kOrganGroup);
  for (const char* path : {kToolRadiusPath, kToolBeforePath, kToolBeforeJointsPath})
    if (from.has_table(path)) copy_table(from, to, path, Cell::F64, kAllRows);
  copy_fibres(from, to, result.frames);
  copy_clips(from, to, result.frames);
  copy_bleeding(from, to, result.frames);
  for (const auto& kind : clash_tables(damaged.tools().size()))
    if (from.has_table(kind.path)) copy_table(from, to, kind.path, kind.cell, result.frames);
  for (const auto& kind : later_tables(0))
    if (from.has_table(kind.path)) copy_table(from, to, kind.path, kind.cell, result.frames);
  for (const auto& kind : session_tables(0, 0)) copy_table(from, to, kind.path, kind.cell, result.frames);
  for (const auto& organ : damaged.organs())
    result.touches += copy_organ(from, to, organ.name, damaged.tools().size(), result.frames);
}

// Writes the renamed entry of the folder to the disk, so that it survives a loss of power.
void sync_folder(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

void replace_original(const std::filesystem::path& partial, const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::permissions(partial, std::filesystem::status(path).permissions(), error);
  std::filesystem::rename(partial, path, error);
  if (error) throw RunError(fmt::format("{}: the recovered copy could not be renamed to this name", path.string()));
  sync_folder(path);
}

// Removes the partial copy of a killed recovery.
void remove_killed_copy(const std::filesystem::path& partial) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(partial, none))) return;
  const RecordingLock lock(partial);
  if (std::filesystem::file_size(partial, none) == 0 || is_hdf5(partial)) std::filesystem::remove(partial, none);
}

}  // namespace

RecoverResult recover_recording(const std::filesystem::path& given) {
  // Recovers the target of a symbolic link and keeps the link.
  std::error_code none;
  const auto path = std::filesystem::is_symlink(given, none) ? std::filesystem::canonical(given, none) : given;
  RecoverResult result;
  std::filesystem::path partial = path;
  partial += ".partial";
  const RecordingLock lock(path);
  const Recording damaged(path, &lock);
  result.was_clean = damaged.clean();
  result.frames = damaged.frame_count();
  result.seconds = damaged.times().back();
  if (result.was_clean) return result;
  if (damaged.format().minor > kFormatVersion.minor)
    throw InputError(fmt::format(
        "{}: has format {}.{}, and this version, which knows {}.{}, would lose its new tables; recover it with the "
        "version that recorded it ({})",
        path.string(), damaged.format().major, damaged.format().minor, kFormatVersion.major, kFormatVersion.minor,
        printable(damaged.text("version"))));
  remove_killed_copy(partial);
  H5File to = H5File::create(partial);
  try {
    write_copy(damaged, H5File::open(path, &lock), to, result);
    to.close();
    replace_original(partial, path);
  } catch (const std::exception& error) {
    const std::string what = to.fault().empty() ? error.what() : to.fault();
    std::filesystem::remove(partial, none);
    throw RunError(fmt::format("{}: writing the recovered copy {} failed: {}; the recording is unchanged",
                               path.string(), partial.filename().string(), what));
  }
  return result;
}

}  // namespace trocar
