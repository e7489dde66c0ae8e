// Writes the input of a fuzz target to a file, for readers that open one.
#include <unistd.h>

#include "tests/fuzz/fuzz_target.hpp"

namespace trocar::fuzz {
namespace {

// Removed when the program ends; after a crash it stays, so that the input can be examined.
struct Folder {
  std::filesystem::path path;

  Folder() {
    const std::filesystem::path base =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    path = base / ("trocar_fuzz_" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

std::filesystem::path as_file(Bytes bytes, std::string_view extension) {
  static const Folder folder;
  const std::filesystem::path file = folder.path / ("input." + std::string(extension));
  std::FILE* out = std::fopen(file.c_str(), "wb");
  require(out != nullptr, "the input cannot be written to a file");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
  require(std::fclose(out) == 0 && written, "the input cannot be written to a file");
  return file;
}

}  // namespace trocar::fuzz
