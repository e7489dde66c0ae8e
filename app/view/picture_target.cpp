// Renders pictures off-screen, and writes PNG files through VTK.
#include <fmt/format.h>
#include <glad/gl.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPNGWriter.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>

#include "app/view/view.hpp"
#include "geometry/error.hpp"
#include "sim/support/files.hpp"

namespace trocar {
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
  vtkNew<vtkImageData> image;
  image->SetDimensions(width, height, 1);
  image->AllocateScalars(VTK_UNSIGNED_CHAR, 3);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  // Both OpenGL and VTK count rows from the bottom.
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, image->GetScalarPointer());
  vtkNew<vtkPNGWriter> writer;
  writer->SetInputData(image);
  writer->WriteToMemoryOn();
  writer->AddText("Software", "Trocar");  // the program overwrites only its own pictures
  writer->Write();
  const vtkUnsignedCharArray* bytes = writer->GetResult();
  out.stream().write(reinterpret_cast<const char*>(const_cast<vtkUnsignedCharArray*>(bytes)->GetPointer(0)),
                     bytes->GetNumberOfValues());
  out.commit();
}

}  // namespace trocar
