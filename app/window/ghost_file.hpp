// Keeps ghosts in the user's cache folder, one small file for each scene, level and version of the model. A file that
// is damaged, or of another scene or version, counts as absent.   Tested in tests/app/ghost_test.cpp
#pragma once

#include <filesystem>
#include <optional>

#include "app/window/ghost.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// Returns a key of the scene's text, which names its level and anatomy, and of the model's version.
std::uint64_t ghost_key(const Scene& scene);

// Returns $XDG_CACHE_HOME/trocar/ghosts, or the same in ~/.cache; empty when neither is set.
std::filesystem::path ghost_folder();

// Returns the file of a key in a folder.
std::filesystem::path ghost_file(const std::filesystem::path& folder, std::uint64_t key);

// Returns nothing when there is no such file, or it does not fit the key.
std::optional<Ghost> load_ghost(const std::filesystem::path& folder, std::uint64_t key);

// Returns whether the file was written. Without a folder, or where none can be written, nothing is.
bool save_ghost(const std::filesystem::path& folder, std::uint64_t key, const Ghost& ghost);

}  // namespace trocar
