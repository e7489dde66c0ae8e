// Finds the folder of the program's own organs and scenes.
#pragma once

#include <filesystem>
#include <string_view>

namespace trocar {

// Returns the path of a file of the data folder. The data folder is the environment's TROCAR_DATA, else `data` in the
// nearest folder above the program that has one (or share/trocar/data), else the source folder. Throws InputError when
// the file is in none of them.
std::filesystem::path data_file(std::string_view relative);

// Returns whether the file lies in a data folder of the program, with links resolved or as named.
bool in_data_folder(const std::filesystem::path& file);
// Returns whether `path` is in `folder` or below. Both must be absolute, without links and dots.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace trocar
