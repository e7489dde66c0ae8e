#include "app/view/picture_file.hpp"

#include <fmt/format.h>
#include <png.h>

#include <string>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"

namespace trocar {
namespace {

// libpng's simplified interface: it returns its errors, and reserves nothing before the size is known.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image_); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  png_image* operator->() { return &image_; }
  png_image* get() { return &image_; }

 private:
  png_image image_{};
};

}  // namespace

PictureFile read_picture(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) { throw InputError(fmt::format("{}: {}", file.string(), why)); };
  const std::string bytes = read_whole_file(file, {"picture", kLargestPictureFile});
  PngImage image;
  if (png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()) == 0)
    fail("this is not a complete PNG file; save the picture as PNG");
  if (image->width > kLargestPicture || image->height > kLargestPicture)
    fail(fmt::format("the picture has {} x {} pixels; make it at most {} on either side", image->width, image->height,
                     kLargestPicture));
  image->format = PNG_FORMAT_RGB;
  PictureFile picture{{image->width, image->height}, {}};
  picture.pixels.resize(static_cast<std::size_t>(image->width) * image->height);
  constexpr png_color kBlack{0, 0, 0};
  const auto from_the_bottom = -static_cast<png_int_32>(3 * image->width);  // bytes
  if (png_image_finish_read(image.get(), &kBlack, picture.pixels.data(), from_the_bottom, nullptr) == 0)
    fail("the picture is damaged; save it again");
  return picture;
}

}  // namespace trocar
