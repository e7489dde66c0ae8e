#include "sim/support/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "geometry/error.hpp"

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

}  // namespace trocar
