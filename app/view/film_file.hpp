// Writes a film as MP4 (H.264), picture by picture. The program ffmpeg (ffmpeg.org) encodes it in a child process: its
// encoder x264 is under the GPL, and its libraries would be loaded by every command.
// Tested in tests/app/film_test.cpp
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <memory>
#include <span>
#include <string>

namespace trocar {

class FilmFile {
 public:
  // `size`: px, even numbers; `rate`: pictures a second. Throws InputError, one sentence with the remedy: the file
  // cannot be written, or this machine has no ffmpeg.
  FilmFile(const std::filesystem::path& file, const glm::ivec2& size, int rate);
  ~FilmFile();
  FilmFile(const FilmFile&) = delete;
  FilmFile& operator=(const FilmFile&) = delete;

  // `picture`: [row from the bottom][column]. Throws RunError when the file cannot be written; it is then absent, or
  // the one of before.
  void add(std::span<const glm::u8vec3> picture);
  // Completes the file. Throws as add().
  void commit();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// Returns the first line about ffmpeg, or why no film can be written here.
std::string film_support();

}  // namespace trocar
