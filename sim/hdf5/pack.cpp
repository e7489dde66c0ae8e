#include "sim/hdf5/pack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "geometry/error.hpp"
#include "sim/hdf5/complete_rows.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_bytes.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/support/files.hpp"

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

// Where a copy comes from, where it goes to, and how its tables are stored there.
struct Copy {
  const H5File& from;
  H5File& to;
  RecordingForm source, target;
  Storage storage;
};

void copy_table(const Copy& copy, const std::string& path, Cell cell, std::uint64_t rows) {
  const H5Table source = copy.from.table(path, cell);
  H5Table target =
      copy.to.make_table(path, cell, source.row_shape(), rows_per_chunk(source.row_shape(), cell), copy.storage);
  copy_rows(source, target, std::min(rows, source.rows()));
}

// Copies the rows of the first `frames` frames of all columns of a group that both forms hold in the same way.
OpenColumns copy_group(const Copy& copy, ColumnGroup group, const RowSizes& sizes, std::uint64_t frames,
                       const std::string& organ = "") {
  OpenColumns columns(copy.from, group, sizes, copy.source, organ);
  for (std::size_t k = 0; k < columns_of(group).size(); ++k)
    if (const Column& kind = columns_of(group)[k]; columns.has(k) && kind.is_in(copy.target))
      copy_table(copy, path_of(group, k, organ), kind.cell, columns.rows(kind.rows, frames));
  return columns;
}

void copy_texts(const Copy& copy) {
  for (const auto& [name, ignored] : text_attributes())
    copy.to.set_text(name, name == std::string_view(kFormAttribute) ? name_of(copy.target) : copy.from.text(name));
}

}  // namespace

std::uint64_t copy_recording(const Recording& recording, const H5File& from, H5File& to, RecordingForm form) {
  const std::uint64_t frames = recording.frame_count();
  const Copy copy{from, to, recording.form(), form, form == RecordingForm::Full ? Storage::Plain : Storage::Deflated};
  const RowSizes sizes{recording.tools().size(), recording.stages().size(), 0, 0};
  copy_texts(copy);
  to.make_group("/session");
  to.make_group(kOrganGroup);
  for (const ColumnGroup group :
       {ColumnGroup::Tools, ColumnGroup::Fibres, ColumnGroup::Clips, ColumnGroup::Bleeding, ColumnGroup::Session})
    copy_group(copy, group, sizes, frames);
  std::uint64_t touches = 0;
  for (const auto& organ : recording.organs()) {
    to.make_group(std::string(kOrganGroup) + "/" + organ.name);
    touches += copy_group(copy, ColumnGroup::Organ, sizes, frames, organ.name).rows(RowOf::Touch, frames);
  }
  return touches;
}

namespace {

void require_going_on(const GoOn& go_on) {
  if (go_on && !go_on()) throw RunError("stopped before the recording was packed; it is unchanged");
}

// The nodes of one organ, block by block.
void copy_nodes(const Recording& recording, const H5File& from, H5File& to, std::size_t organ, RecordingForm target,
                const GoOn& go_on) {
  const std::string& name = recording.organs()[organ].name;
  const OrganColumn read = nodes_column(recording.form());
  const bool packs = target == RecordingForm::Packed;
  const H5Table source = from.table(path_of(ColumnGroup::Organ, read, name), columns_of(ColumnGroup::Organ)[read].cell);
  H5Table table = make_column(to, ColumnGroup::Organ, nodes_column(target), {.nodes = recording.organs()[organ].nodes},
                              packs ? Storage::Deflated : Storage::Plain, name, packs ? kBlockFrames : 0);
  std::vector<std::uint32_t> block;
  for (std::size_t frame = 0; frame < recording.frame_count(); frame += kBlockFrames) {
    require_going_on(go_on);
    const std::size_t frames = std::min(kBlockFrames, recording.frame_count() - frame);
    block.resize(frames * source.row_cells());
    source.read(frame, std::as_writable_bytes(std::span(block)));
    packs ? pack_block(block, source.row_cells()) : unpack_block(block, source.row_cells());
    table.append(std::as_bytes(std::span(block)));
  }
}

void write_form(const Recording& recording, const H5File& from, H5File& to, RecordingForm target, const GoOn& go_on) {
  copy_recording(recording, from, to, target);
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ)
    copy_nodes(recording, from, to, organ, target, go_on);
}

void rewrite(const std::filesystem::path& in, const std::filesystem::path& out, RecordingForm form,
             RecordingForm target) {
  const Recording recording(in);
  require_finished(recording, in, form);
  write_whole_recording(out, [&](H5File& to) { write_form(recording, H5File::open(in), to, target, {}); });
}

// A full recording beside its packed form, which is to have the same content.
struct Pair {
  const H5File &full, &packed;
  const GoOn& go_on;
};

std::string difference_of_texts(const Pair& pair) {
  const auto expected = pair.full.attributes_of("/"), found = pair.packed.attributes_of("/");
  for (const std::string& name : expected)
    if (std::ranges::find(found, name) == found.end()) return "attribute " + name;
  for (const std::string& name : found)
    if (name != kFormAttribute && pair.full.text(name) != pair.packed.text(name)) return "attribute " + name;
  return {};
}

// Returns the paths of the tables and groups that the packed form has: packed nodes instead of nodes.
std::vector<std::string> packed_paths(const Pair& pair) {
  std::vector<std::string> paths = pair.full.paths();
  for (const std::string& organ : pair.full.groups_in(kOrganGroup)) {
    std::ranges::replace(paths, path_of(ColumnGroup::Organ, kNodes, organ),
                         path_of(ColumnGroup::Organ, kPackedNodes, organ));
  }
  std::ranges::sort(paths);
  return paths;
}

// Compares rows through buffers of at most `piece` rows. `unpack`: is applied to what the packed form has.
template <typename Unpack>
std::string difference_of_rows(const H5Table& full, const H5Table& packed, std::uint64_t piece, const Pair& pair,
                               const Unpack& unpack) {
  if (full.row_shape() != packed.row_shape() || full.rows() != packed.rows()) return "the size of table ";
  std::vector<std::byte> expected, found;
  for (std::uint64_t row = 0; row < full.rows(); row += piece) {
    require_going_on(pair.go_on);
    const std::uint64_t bytes = std::min(piece, full.rows() - row) * full.row_bytes();
    expected.resize(bytes), found.resize(bytes);
    full.read(row, expected);
    packed.read(row, found);
    unpack(found);
    if (expected != found) return "table ";
  }
  return {};
}

std::string difference_of_table(const Pair& pair, const std::string& path) {
  constexpr std::uint64_t kPieceBytes = 8 << 20;
  const H5Table full = pair.full.table(path), packed = pair.packed.table(path);
  if (full.cell() != packed.cell()) return "the type of table ";
  return difference_of_rows(full, packed, std::max<std::uint64_t>(1, kPieceBytes / full.row_bytes()), pair,
                            [](std::vector<std::byte>&) {});
}

std::string difference_of_nodes(const Pair& pair, const std::string& organ) {
  const auto opened = [&](const H5File& file, OrganColumn column) {
    return file.table(path_of(ColumnGroup::Organ, column, organ), columns_of(ColumnGroup::Organ)[column].cell);
  };
  const H5Table full = opened(pair.full, kNodes), packed = opened(pair.packed, kPackedNodes);
  std::vector<std::uint32_t> block;
  return difference_of_rows(full, packed, kBlockFrames, pair, [&](std::vector<std::byte>& bytes) {
    block.resize(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(block.data(), bytes.data(), bytes.size());
    unpack_block(block, packed.row_cells());
    std::memcpy(bytes.data(), block.data(), bytes.size());
  });
}

}  // namespace

void require_finished(const Recording& recording, const std::filesystem::path& file, RecordingForm wanted) {
  if (recording.form() != wanted)
    throw InputError(fmt::format("{}: is a {} recording; this needs a {} one{}", file.string(),
                                 name_of(recording.form()), name_of(wanted),
                                 wanted == RecordingForm::Full ? ", which trocar file unpack writes" : ""));
  if (recording.live())
    throw InputError(
        fmt::format("{}: another program is writing this recording; wait until it has ended", file.string()));
  if (!recording.clean())
    throw InputError(fmt::format("{}: its program was killed; run trocar file recover on it first", file.string()));
}

void write_packed(const Recording& recording, const H5File& from, H5File& to, const GoOn& go_on) {
  write_form(recording, from, to, RecordingForm::Packed, go_on);
}

std::string difference_of_packed(const std::filesystem::path& full_file, const std::filesystem::path& packed_file,
                                 const GoOn& go_on) {
  const H5File full = H5File::open(full_file), packed = H5File::open(packed_file);
  const Pair pair{full, packed, go_on};
  if (const std::string what = difference_of_texts(pair); !what.empty()) return what;
  if (packed.paths() != packed_paths(pair)) return "the list of its tables";
  const std::vector<std::string> organs = full.groups_in(kOrganGroup);
  if (organs != packed.groups_in(kOrganGroup)) return "the order of its organs";
  std::set<std::string> nodes;
  for (const std::string& organ : organs) nodes.insert(path_of(ColumnGroup::Organ, kNodes, organ));
  for (const std::string& path : full.paths()) {
    // No table of a recording has attributes, so packing would lose them.
    if (!full.attributes_of(path).empty()) return "the attributes of " + path;
    if (full.is_group(path) || nodes.contains(path)) continue;
    if (const std::string what = difference_of_table(pair, path); !what.empty()) return what + path;
  }
  for (const std::string& organ : organs)
    if (const std::string what = difference_of_nodes(pair, organ); !what.empty())
      return fmt::format("{}/organs/{}/nodes", what, organ);
  return {};
}

void pack_recording(const std::filesystem::path& full, const std::filesystem::path& out) {
  rewrite(full, out, RecordingForm::Full, RecordingForm::Packed);
}

void unpack_recording(const std::filesystem::path& packed, const std::filesystem::path& out) {
  rewrite(packed, out, RecordingForm::Packed, RecordingForm::Full);
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackingStart = ".trocar-packing-";

// Which file has a name: the same answer before and after says that no program replaced or changed it.
struct FileState {
  struct stat status {};

  static std::optional<FileState> of(const fs::path& file) {
    FileState state;
    if (::stat(file.c_str(), &state.status) != 0 || !S_ISREG(state.status.st_mode)) return {};
    return state;
  }
  bool operator==(const FileState& other) const {
    return status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino &&
           status.st_size == other.status.st_size && status.st_mtim.tv_sec == other.status.st_mtim.tv_sec &&
           status.st_mtim.tv_nsec == other.status.st_mtim.tv_nsec;
  }
};

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw InputError(fmt::format("{}: {}", file.string(), what));
}

// The packed copy takes a third of this, so that a session that is being recorded keeps two thirds.
void require_room(const fs::path& file, std::uint64_t bytes) {
  const auto free = free_space(file);
  if (free && *free < bytes)
    throw RunError(fmt::format("{}: is not packed, because {} are free and packing needs {}; remove other files",
                               file.string(), bytes_text(*free), bytes_text(bytes)));
}

// The packed copy beside the recording, until it takes its name.
class PackedCopy {
 public:
  PackedCopy(fs::path recording, const FileState& full)
      : recording_(std::move(recording)), copy_(packing_file(recording_)), full_(full) {
    remove_killed_copy(copy_);
    to_.emplace(H5File::create(copy_));
    keeps_ = false;
    ::chmod(copy_.c_str(), full_.status.st_mode & 0600);
  }
  ~PackedCopy() {
    std::error_code ignored;
    if (!keeps_) fs::remove(copy_, ignored);
  }
  PackedCopy(const PackedCopy&) = delete;
  PackedCopy& operator=(const PackedCopy&) = delete;

  // Writes the copy to the disk and compares it with the recording.
  void write(const Recording& recording, const GoOn& go_on) {
    try {
      write_packed(recording, H5File::open(recording_), *to_, go_on);
      to_->close();
    } catch (const RunError& error) {
      throw RunError(fmt::format("{}: is not packed: {}", recording_.string(),
                                 to_->fault().empty() ? error.what() : to_->fault()));
    }
    if (const std::string what = difference_of_packed(recording_, copy_, go_on); !what.empty())
      refuse(recording_, fmt::format("is not packed, because the packed form would not keep {}", what));
  }

  // Gives the copy the recording's name; the full recording goes when that is on the disk.
  void take_name() {
    const struct stat& full = full_.status;
    const bool same_owner = ::lchown(copy_.c_str(), full.st_uid, full.st_gid) == 0;
    ::chmod(copy_.c_str(), same_owner ? full.st_mode & 07777 : full.st_mode & 0700);
    const timespec times[] = {full.st_atim, full.st_mtim};
    ::utimensat(AT_FDCWD, copy_.c_str(), times, 0);
    if (::renameat2(AT_FDCWD, copy_.c_str(), AT_FDCWD, recording_.c_str(), RENAME_EXCHANGE) != 0)
      return take_name_without_exchange(errno);
    if (!was_full()) {
      // Another program has replaced the recording since: its file gets the name back.
      keeps_ = true;
      if (::renameat2(AT_FDCWD, copy_.c_str(), AT_FDCWD, recording_.c_str(), RENAME_EXCHANGE) != 0)
        throw RunError(
            fmt::format("{}: was replaced while it was packed, and is now {}", recording_.string(), copy_.string()));
      keeps_ = false;
      refuse(recording_, "was changed while it was packed, so it is left as it is");
    }
    sync_folder_of(recording_);
  }

 private:
  // Returns whether the file that lost the name is the recording that was packed, and no program writes it.
  bool was_full() const {
    const int descriptor = ::open(copy_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    const bool busy = descriptor >= 0 && ask_recording_lock(descriptor) == LockAnswer::Busy;
    if (descriptor >= 0) ::close(descriptor);
    return !busy && FileState::of(copy_) == full_;
  }

  // For file systems that cannot exchange names.
  void take_name_without_exchange(int error) {
    if (error == ENOENT) refuse(recording_, "was removed while it was packed");
    const RecordingLock lock(recording_);
    if (FileState::of(recording_) != full_)
      refuse(recording_, "was changed while it was packed, so it is left as it is");
    if (::rename(copy_.c_str(), recording_.c_str()) != 0)
      throw RunError(fmt::format("{}: is not packed: {}", recording_.string(), std::strerror(errno)));
    keeps_ = true;  // nothing has this name any more
    sync_folder_of(recording_);
  }

  fs::path recording_, copy_;
  FileState full_;
  std::optional<H5File> to_;
  bool keeps_ = true;
};

// Returns the recording to which a file of packing belongs; empty for other files.
fs::path recording_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kPackingStart)) return {};
  return file.parent_path() / name.substr(kPackingStart.size());
}

// A full recording beside its packed form lost its name just before the kill. Any other file was never finished.
bool is_only_copy(const fs::path& leftover, const fs::path& recording, const GoOn& go_on) {
  std::error_code none;
  try {
    const Recording left(leftover);
    if (left.form() != RecordingForm::Full || !left.clean() || !fs::exists(recording, none)) return false;
    return !difference_of_packed(leftover, recording, go_on).empty();
  } catch (const InputError&) {
    return false;  // without a complete frame, or cut short
  }
}

void remove_leftover(const fs::path& leftover, const fs::path& recording, const GoOn& go_on) {
  try {
    if (!is_only_copy(leftover, recording, go_on)) remove_killed_copy(leftover);
  } catch (const InputError&) {
    // A program is packing the recording.
  }
}

bool is_attempt_to_pack(const fs::path& file) {
  try {
    const H5File there = H5File::open(file);
    return there.clean() && !there.live() && there.text("activity") == name_of(Activity::Attempt) &&
           there.text(kFormAttribute) == name_of(RecordingForm::Full) && there.text("format") == kFormat;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

fs::path packing_file(const fs::path& recording) {
  return recording.parent_path() / (std::string(kPackingStart) + recording.filename().string());
}

PackedSize pack_in_place(const fs::path& given, const GoOn& go_on) {
  std::error_code none;
  const fs::path file = fs::is_symlink(given, none) ? fs::canonical(given, none) : given;
  const auto before = FileState::of(file);
  if (!before) refuse(given, "cannot be read; check the name of the recording");
  const Recording recording(file);
  require_finished(recording, file, RecordingForm::Full);
  if (before->status.st_uid != ::geteuid() && ::geteuid() != 0)
    refuse(file, "belongs to another user, who alone packs it");
  const auto full = static_cast<std::uint64_t>(before->status.st_size);
  require_room(file, full);
  PackedCopy copy(file, *before);
  copy.write(recording, go_on);
  copy.take_name();
  return {full, fs::file_size(file)};
}

std::vector<fs::path> attempts_to_pack(const fs::path& folder) {
  std::vector<std::pair<std::uintmax_t, fs::path>> found;
  std::error_code error, none;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (file.extension() != ".h5" || !fs::is_regular_file(entry->symlink_status(none))) continue;
    if (is_attempt_to_pack(file)) found.emplace_back(fs::file_size(file, none), file);
  }
  std::ranges::sort(found);
  std::vector<fs::path> files;
  for (auto& [bytes, file] : found) files.push_back(std::move(file));
  return files;
}

void remove_pack_leftovers(const fs::path& folder, const GoOn& go_on) {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!recording_of(entry->path()).empty()) leftovers.push_back(entry->path());
  for (const fs::path& file : leftovers) remove_leftover(file, recording_of(file), go_on);
}

// Recovering: the complete frames of a recording that a killed process left behind, in a plain file.

RecoverResult recover_recording(const std::filesystem::path& given) {
  // Recovers the target of a symbolic link and keeps the link.
  std::error_code none;
  const auto path = std::filesystem::is_symlink(given, none) ? std::filesystem::canonical(given, none) : given;
  RecoverResult result;
  const RecordingLock lock(path);
  const Recording damaged(path, &lock, FormsRead::All);
  result.was_clean = damaged.clean();
  result.frames = damaged.frame_count();
  result.seconds = damaged.times().back();
  if (result.was_clean) return result;
  PartialRecording to(path);
  try {
    result.touches = copy_recording(damaged, H5File::open(path, &lock), to.file(), RecordingForm::Full);
    to.finish();
  } catch (const std::exception& error) {
    const std::string what = to.file().fault().empty() ? error.what() : to.file().fault();
    throw RunError(fmt::format("{}: writing the recovered copy {} failed: {}; the recording is unchanged",
                               path.string(), to.path().filename().string(), what));
  }
  return result;
}

}  // namespace trocar
