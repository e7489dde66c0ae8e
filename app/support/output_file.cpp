#include "app/support/output_file.hpp"

#include <fmt/format.h>

#include "geometry/error.hpp"

namespace trocar {

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)), partial_(path_) {
  partial_ += ".partial";
  if (!std::filesystem::is_directory(path_)) stream_.open(partial_, std::ios::binary);
  if (!stream_.is_open()) {
    throw InputError(fmt::format("{}: cannot be written; check the folder and its permissions", path_.string()));
  }
}

OutputFile::~OutputFile() {
  if (committed_) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
}

void OutputFile::commit() {
  stream_.close();
  std::error_code error;
  if (stream_) std::filesystem::rename(partial_, path_, error);
  if (!stream_ || error)
    throw RunError(fmt::format("{}: could not be written completely; is the disk full?", path_.string()));
  committed_ = true;
}

}  // namespace trocar
