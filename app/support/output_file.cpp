#include "app/support/output_file.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "geometry/error.hpp"

namespace trocar {

bool is_hdf5(const std::filesystem::path& file) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  std::array<char, kSignature.size()> start{};
  std::ifstream in(file, std::ios::binary);
  in.read(start.data(), start.size());
  return in && std::string_view(start.data(), start.size()) == kSignature;
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)), partial_(path_) {
  if (std::error_code none; std::filesystem::is_regular_file(path_, none) && is_hdf5(path_))
    throw InputError(fmt::format("{}: is a recording, so it is not written over; name another file", path_.string()));
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
