#include "app/view/picture_file.hpp"

#include <fmt/format.h>
#include <glad/gl.h>
#include <png.h>

#include <algorithm>
#include <string>

#include "app/view/view.hpp"
#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/files.hpp"

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

// Rows of OpenGL begin at the bottom. Returns the step from a row to the one above it, bytes.
png_int_32 from_the_bottom(std::size_t width) { return -static_cast<png_int_32>(3 * width); }

// The chunk "Software: Trocar" with its length and checksum: the program overwrites only its own pictures.
constexpr std::string_view kSoftware("\0\0\0\x0ftEXtSoftware\0Trocar\x2e\x28\x7e\x0f", 27);
constexpr std::size_t kHeader = 33;  // bytes before the first optional chunk

std::string png_of(const std::vector<glm::u8vec3>& pixels, int width, int height) {
  PngImage image;
  image->width = static_cast<png_uint_32>(width), image->height = static_cast<png_uint_32>(height);
  image->format = PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(*image.get()), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(image.get(), bytes.data(), &size, 0, pixels.data(), from_the_bottom(image->width),
                                nullptr) == 0)
    throw RunError(fmt::format("the picture cannot be written as PNG: {}", image->message));
  bytes.resize(size);
  return bytes.insert(kHeader, kSoftware);
}

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
  if (png_image_finish_read(image.get(), &kBlack, picture.pixels.data(), from_the_bottom(image->width), nullptr) == 0)
    fail("the picture is damaged; save it again");
  return picture;
}

namespace {

// Multisampled colour and depth, and a single-sample colour buffer into which they are resolved.
struct Buffers {
  GLuint framebuffers[2] = {}, renderbuffers[3] = {};

  Buffers(int width, int height, int samples) {
    glGenFramebuffers(2, framebuffers);
    glGenRenderbuffers(3, renderbuffers);
    const auto storage = [&](GLuint buffer, int count, GLenum format) {
      glBindRenderbuffer(GL_RENDERBUFFER, buffer);
      glRenderbufferStorageMultisample(GL_RENDERBUFFER, count > 1 ? count : 0, format, width, height);
    };
    storage(renderbuffers[0], samples, GL_RGBA8);
    storage(renderbuffers[1], samples, GL_DEPTH_COMPONENT24);
    storage(renderbuffers[2], 0, GL_RGBA8);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffers[0]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, renderbuffers[1]);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[1]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffers[2]);
  }
  ~Buffers() {
    glDeleteFramebuffers(2, framebuffers);
    glDeleteRenderbuffers(3, renderbuffers);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
};

}  // namespace

struct PictureTarget::Content {
  int width, height;
  Buffers buffers;

  // Resolves the samples and binds the single-sample picture.
  void resolve() {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, buffers.framebuffers[0]);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, buffers.framebuffers[1]);
    glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, buffers.framebuffers[1]);
  }
};

// A framebuffer needs at least one pixel.
PictureTarget::PictureTarget(int width, int height, int samples)
    : content_(new Content{std::max(width, 1), std::max(height, 1),
                           Buffers(std::max(width, 1), std::max(height, 1), samples)}) {}
PictureTarget::~PictureTarget() = default;

void PictureTarget::bind() { glBindFramebuffer(GL_FRAMEBUFFER, content_->buffers.framebuffers[0]); }

void PictureTarget::unbind() { glBindFramebuffer(GL_FRAMEBUFFER, 0); }

void PictureTarget::save_png(const std::filesystem::path& file) {
  content_->resolve();
  save_screen_png(file, content_->width, content_->height);
}

std::string PictureTarget::png() { return png_of(pixels(), content_->width, content_->height); }

std::vector<glm::u8vec3> PictureTarget::pixels() {
  content_->resolve();
  std::vector<glm::u8vec3> pixels(static_cast<std::size_t>(content_->width) *
                                  static_cast<std::size_t>(content_->height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, content_->width, content_->height, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  return pixels;
}

void save_screen_png(const std::filesystem::path& file, int width, int height) {
  OutputFile out(file, OutputKind::Picture);
  std::vector<glm::u8vec3> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  const std::string bytes = png_of(pixels, width, height);
  out.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.commit();
}

}  // namespace trocar
