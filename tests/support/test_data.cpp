#include "tests/support/test_data.hpp"

#include <cstdio>
#include <cstdlib>

namespace trocar {

std::filesystem::path repository_file(std::string_view relative) {
  return std::filesystem::path(TROCAR_SOURCE_DIR) / relative;
}

std::optional<std::filesystem::path> shared_file(std::string_view relative) {
  const char* folder = std::getenv("TROCAR_TEST_DATA");
  const std::filesystem::path root =
      folder ? std::filesystem::path(folder) : std::filesystem::path(TROCAR_SOURCE_DIR) / ".." / "shared" / "data";
  const std::filesystem::path file = root / relative;
  if (std::filesystem::exists(file)) return file;
  std::printf("SKIPPED: no shared test data at %s\n", file.string().c_str());
  return std::nullopt;
}

}  // namespace trocar
