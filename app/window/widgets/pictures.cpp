#include "app/window/widgets/pictures.hpp"

#include <glad/gl.h>
#include <imgui.h>

#include <cstdint>
#include <utility>

#include "app/view/picture_file.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

ImTextureID id_of(unsigned name) { return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(name)); }

// Rows of a texture begin at the bottom.
const ImVec2 kTopLeft{0.f, 1.f}, kBottomRight{1.f, 0.f};

}  // namespace

PictureTexture::PictureTexture(const std::filesystem::path& file) {
  const PictureFile picture = read_picture(file);
  aspect_ = static_cast<float>(picture.size.y) / static_cast<float>(picture.size.x);
  glGenTextures(1, &name_);
  glBindTexture(GL_TEXTURE_2D, name_);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, picture.size.x, picture.size.y, 0, GL_RGB, GL_UNSIGNED_BYTE,
               picture.pixels.data());
  glGenerateMipmap(GL_TEXTURE_2D);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glBindTexture(GL_TEXTURE_2D, 0);
}

PictureTexture::~PictureTexture() {
  if (name_ != 0) glDeleteTextures(1, &name_);
}

PictureTexture::PictureTexture(PictureTexture&& other) noexcept
    : name_(std::exchange(other.name_, 0)), aspect_(other.aspect_) {}

PictureTexture& PictureTexture::operator=(PictureTexture&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(aspect_, other.aspect_);
  return *this;
}

void PictureTexture::draw(float width) const {
  ImGui::Image(id_of(name_), {width, width * aspect_}, kTopLeft, kBottomRight);
}

void PictureTexture::draw_at(float x, float y, float width, float height) const {
  ImGui::GetWindowDrawList()->AddImageRounded(id_of(name_), {x, y}, {x + width, y + height}, kTopLeft, kBottomRight,
                                              IM_COL32_WHITE, theme::px(3.f));
}

}  // namespace trocar
