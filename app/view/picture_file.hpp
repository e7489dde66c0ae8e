// Reads pictures for panels: PNG files, through libpng. Its source also has PictureTarget and save_screen_png() of
// view.hpp, which write them.   Tested in tests/app/view_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <glm/glm.hpp>
#include <vector>

namespace trocar {

constexpr std::uint32_t kLargestPicture = 2048;                  // px, of either side
constexpr std::uint64_t kLargestPictureFile = 8u * 1024 * 1024;  // bytes

struct PictureFile {
  glm::ivec2 size{0};               // px
  std::vector<glm::u8vec3> pixels;  // [row from the bottom][column]; transparent ones are mixed with black
};

// Throws InputError, one sentence with the file's name: it cannot be read, is not a PNG file, is damaged or exceeds the
// limits.
PictureFile read_picture(const std::filesystem::path& file);

}  // namespace trocar
