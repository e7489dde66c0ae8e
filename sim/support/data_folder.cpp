#include "sim/support/data_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace trocar
