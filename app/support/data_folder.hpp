// Where the program's own organs and scenes are.
#pragma once

#include <filesystem>
#include <string_view>

namespace trocar {

// A file of the data folder: the environment's TROCAR_DATA, else `data` in the nearest folder above the program that
// has one, else where it was built from. Error: InputError naming all places when it is in none.
std::filesystem::path data_file(std::string_view relative);

// Does the file lie in a data folder of the program, links followed or taken as they are?
bool in_data_folder(const std::filesystem::path& file);
// Is `path` in `folder` or below? Both absolute and free of links and dots.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace trocar
