// Finds the test data: the repository's own, and the shared folder of third-party organs, which may be absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace trocar {

// Returns a file of this repository, for example "data/organs/liver.obj".
std::filesystem::path repository_file(std::string_view relative);

// Returns a file of the shared test data (environment variable TROCAR_TEST_DATA, else ../shared/data beside the
// repository). Prints "SKIPPED: ..." and returns nothing when it is absent; the caller then ends with GTEST_SKIP().
std::optional<std::filesystem::path> shared_file(std::string_view relative);

}  // namespace trocar
