#include "app/window/step_pictures.hpp"

#include <glad/gl.h>
#include <imgui.h>

#include <utility>

#include "app/view/picture_file.hpp"
#include "geometry/error.hpp"

namespace trocar {

StepPictures::~StepPictures() {
  for (const Texture& texture : textures_)
    if (texture.name != 0) glDeleteTextures(1, &texture.name);
}

void StepPictures::load(const TaskStep& step, Texture& texture) {
  texture.tried = true;
  if (step.picture.empty()) return;
  try {
    const PictureFile picture = read_picture(step.picture);
    texture.aspect = static_cast<float>(picture.size.y) / static_cast<float>(picture.size.x);
    glGenTextures(1, &texture.name);
    glBindTexture(GL_TEXTURE_2D, texture.name);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, picture.size.x, picture.size.y, 0, GL_RGB, GL_UNSIGNED_BYTE,
                 picture.pixels.data());
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glBindTexture(GL_TEXTURE_2D, 0);
  } catch (const InputError& error) {
    fault_ = error.what();
  }
}

void StepPictures::draw(const TaskScene& task, std::size_t step) {
  textures_.resize(task.steps.size());
  if (step >= textures_.size()) return;
  Texture& texture = textures_[step];
  if (!texture.tried) load(task.steps[step], texture);
  if (texture.name == 0) return;
  const float width = ImGui::GetContentRegionAvail().x;
  // Rows of the texture begin at the bottom.
  ImGui::Image(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(texture.name)),
               {width, width * texture.aspect}, {0.f, 1.f}, {1.f, 0.f});
}

std::string StepPictures::new_fault() { return std::exchange(fault_, {}); }

}  // namespace trocar
