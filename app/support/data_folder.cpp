#include "app/support/data_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "geometry/error.hpp"

namespace trocar {
namespace {

std::vector<std::filesystem::path> candidates() {
  std::vector<std::filesystem::path> folders;
  if (const char* named = std::getenv("TROCAR_DATA"); named && *named) folders.emplace_back(named);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (auto folder = program.parent_path(); !error && folder.has_relative_path(); folder = folder.parent_path()) {
    folders.push_back(folder / "data");
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

}  // namespace trocar
