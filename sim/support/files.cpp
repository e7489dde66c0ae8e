#include "sim/support/files.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 1024;  // contains every signature

std::string head_of(const fs::path& file) {
  std::string head(kHeadBytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

bool begins_as_table(std::string_view head) {
  constexpr std::string_view kHeaders[] = {"frame,face\n",
                                           "frame,inside,depth_mm\n",
                                           "frame,t,",
                                           "first,second,time,apart_mm\n",
                                           "backend,frames,update_ms_",
                                           "file,date_utc,of,metric,value,",
                                           "file,date,of,metric,value,",
                                           "x_mm,y_mm,z_mm,moved_x_mm,",
                                           "case,group,run,status,exit_status,",
                                           "case,run,seconds,cpu_seconds,",
                                           "key,person,started,scene,"};
  return std::any_of(std::begin(kHeaders), std::end(kHeaders), [&](auto header) { return head.starts_with(header); });
}

bool begins_as_json(const std::string& head) {
  std::string dense;  // without white space
  std::copy_if(head.begin(), head.end(), std::back_inserter(dense), [](char c) { return c > ' '; });
  struct Keys {
    std::string_view first, later;
  };
  constexpr Keys kKeys[] = {{"{\"version\":", ",\"machine\":"},
                            {"{\"backend\":", ",\"why\":"},
                            {"{\"format\":\"trocar-", ""},
                            {"{\"faces\":", ",\"vertices\":"},
                            {"{\"file\":", ",\"frames\":"}};
  return std::any_of(std::begin(kKeys), std::end(kKeys), [&](const Keys& keys) {
    return dense.starts_with(keys.first) && dense.find(keys.later) != dense.npos;
  });
}

// Has a text chunk with the program's name; pictures of earlier versions have their pixels right after the header.
bool begins_as_picture(std::string_view head) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  constexpr std::size_t kPixels = 33;
  return head.starts_with(kSignature) &&
         (head.find(std::string_view("Software\0Trocar", 15)) != head.npos ||
          (head.size() > kPixels + 10 && head.substr(kPixels + 4, 6) == "IDAT\x78\x5e"));
}

bool begins_as_series(std::string_view head) {
  const bool collection = head.find("<VTKFile type=\"Collection\" version=\"0.1\"") != head.npos;
  const bool frame = head.find("type=\"PolyData\"") != head.npos && head.find("\"TimeValue\"") != head.npos;
  return collection || frame;
}

bool begins_as(OutputKind kind, const std::string& head) {
  const auto holds = [&](std::string_view mark) { return head.find(mark) != head.npos; };
  switch (kind) {
    case OutputKind::Table:
      return begins_as_table(head);
    case OutputKind::Json:
      return begins_as_json(head);
    case OutputKind::Page:
      return holds("<title>Trocar: ") || head.starts_with("# Trocar: ");
    case OutputKind::Plot:
      return holds("<svg ") && (holds("Touch query, time per frame") || holds("Material test: "));
    case OutputKind::Picture:
      return begins_as_picture(head);
    case OutputKind::Mesh:
      return holds("Trocar mesh");
    case OutputKind::Series:
      return begins_as_series(head);
    case OutputKind::Material:
      return head.starts_with("# Trocar material: ");
    case OutputKind::Sweep:
      return head.starts_with(kSweepMark);
    case OutputKind::Film:
      return head.find("ftyp") == 4 && holds(kFilmMark);
  }
  return false;
}

// Returns the same name for all paths and links to a file.
fs::path canonical_name(const fs::path& file) {
  std::error_code error;
  const fs::path name = fs::weakly_canonical(fs::absolute(file, error), error);
  return error ? file.lexically_normal() : name;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return canonical_name(a) == canonical_name(b) || fs::equivalent(a, b, ignored);
}

void refuse_recording(const fs::path& file) {
  if (std::error_code none; fs::is_regular_file(file, none) && is_hdf5(file))
    throw InputError(fmt::format("{}: is a recording, so it is not written over; name another file", file.string()));
}

}  // namespace

bool is_hdf5(const fs::path& file) { return head_of(file).starts_with("\x89HDF\r\n\x1a\n"); }

void refuse_foreign(const fs::path& file, OutputKind kind) {
  std::error_code none;
  if (!fs::is_regular_file(file, none) || fs::file_size(file, none) == 0) return;
  refuse_recording(file);
  if (!begins_as(kind, head_of(file)))
    throw InputError(
        fmt::format("{}: exists and is not a file of this kind that Trocar wrote, so it is not written over; "
                    "name another file or remove it",
                    file.string()));
}

FileReaders readers_of(OutputKind kind) {
  const bool names_people = kind == OutputKind::Table || kind == OutputKind::Json || kind == OutputKind::Page;
  return names_people ? FileReaders::Owner : FileReaders::Everybody;
}

OutputFile::OutputFile(const fs::path& file, OutputKind kind)
    : OutputFile((refuse_foreign(file, kind), file), readers_of(kind)) {}

OutputFile OutputFile::replacing(const fs::path& file) {
  refuse_recording(file);
  return OutputFile(file, FileReaders::Everybody);
}

void refuse_existing(const std::vector<NamedFile>& files, bool force, std::string_view remedy) {
  for (const NamedFile& named : files) {
    std::error_code none;
    if (force || !fs::is_regular_file(named.file, none) || fs::file_size(named.file, none) == 0) continue;
    throw InputError(fmt::format("{}: exists ({}); name another file, or {} to write over it", named.file.string(),
                                 named.option, remedy));
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (folder.empty() || error || !fs::is_directory(folder, error))
    throw InputError(fmt::format("{}: the folder cannot be created; name another", folder.string()));
}

void refuse_same_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const NamedFile& output = outputs[k];
    if (output.file.empty()) continue;
    const auto clashes = [&](const NamedFile& other) {
      return !other.file.empty() && same_file(other.file, output.file);
    };
    const auto input = std::find_if(inputs.begin(), inputs.end(), clashes);
    if (input != inputs.end())
      throw InputError(fmt::format("{}: {} is also read ({}); write to another file", output.file.string(),
                                   output.option, input->option));
    const auto end = outputs.begin() + static_cast<std::ptrdiff_t>(k);
    const auto other = std::find_if(outputs.begin(), end, clashes);
    if (other != end)
      throw InputError(fmt::format("{}: {} and {} name the same file; give each its own", output.file.string(),
                                   other->option, output.option));
  }
}

namespace {

std::vector<std::filesystem::path> candidates() {
  std::vector<std::filesystem::path> folders;
  if (const char* named = std::getenv("TROCAR_DATA"); named && *named) folders.emplace_back(named);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (auto folder = program.parent_path(); !error && folder.has_relative_path(); folder = folder.parent_path()) {
    folders.push_back(folder / "data");
    folders.push_back(folder / "share/trocar/data");
  }
  folders.emplace_back(std::filesystem::path(TROCAR_SOURCE_DIR) / "data");
  return folders;
}

}  // namespace

std::filesystem::path data_file(std::string_view relative) {
  for (const auto& folder : candidates()) {
    if (std::filesystem::exists(folder / relative)) return folder / relative;
  }
  throw InputError(
      fmt::format("data file {} not found beside the program; set TROCAR_DATA to Trocar's data folder", relative));
}

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return !folder.empty() && in_folder == folder.end();
}

bool in_data_folder(const std::filesystem::path& file) {
  std::error_code error;
  const auto plain = std::filesystem::absolute(file).lexically_normal();
  const auto real = std::filesystem::weakly_canonical(plain, error);
  for (const auto& folder : candidates()) {
    if (!std::filesystem::is_directory(folder / "scenes", error)) continue;  // an unrelated `data` folder
    if (is_below(plain, folder.lexically_normal()) || is_below(real, std::filesystem::weakly_canonical(folder, error)))
      return true;
  }
  return false;
}

namespace {

constexpr double kLongest = 6000.0;  // minutes  "more than" from here on

std::string minutes_text(double seconds) {
  const double minutes = seconds / 60.0;
  if (!(minutes < kLongest)) return trf("more than {:.0f} minutes", kLongest);
  if (minutes < 1.0) return tr("less than a minute");
  const double whole = std::floor(minutes);
  return ntrf("{:.0f} minute", "{:.0f} minutes", static_cast<unsigned long>(whole), whole);
}

}  // namespace

std::optional<std::uint64_t> free_space(const std::filesystem::path& where) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(where, error);
  if (error) return {};
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  struct statvfs disk {};
  if (::statvfs(there.c_str(), &disk) != 0) return {};
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

DiskState disk_state(double seconds, double needed) {
  if (seconds < kLeastDisk) return DiskState::Full;
  if (seconds < needed) return DiskState::Short;
  return seconds < kLowDisk ? DiskState::Low : DiskState::Enough;
}

std::string disk_text(double seconds, double needed) {
  const std::string space = minutes_text(seconds);
  switch (disk_state(seconds, needed)) {
    case DiskState::Full:
      return trf(
          "Disk: space for {} of this task; no attempt can be recorded: remove files, or choose another folder "
          "with --folder",
          space);
    case DiskState::Short:
      return trf("Disk: space for {} of this task, which may take {}: the recording may end before the attempt does",
                 space, minutes_text(needed));
    case DiskState::Low:
      return trf("Disk: space for {} of this task: remove files soon", space);
    case DiskState::Enough:
      break;
  }
  return trf("Disk: space for {} of this task", space);
}

std::string low_disk_text(double seconds) {
  if (seconds >= kLowDisk) return {};
  return trf("Disk: space for {}; then the recording ends, not the session", minutes_text(seconds));
}

std::string bytes_text(std::uint64_t bytes) {
  const double size = static_cast<double>(bytes);
  return size >= 1e9 ? fmt::format("{:.1f} GB", 1e-9 * size) : fmt::format("{:.0f} MB", std::floor(1e-6 * size));
}

}  // namespace trocar
