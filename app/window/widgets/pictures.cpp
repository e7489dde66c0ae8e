#include "app/window/widgets/pictures.hpp"

#include <glad/gl.h>
#include <imgui.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "app/view/picture_file.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "sim/support/files.hpp"

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

void StepPictures::load(const TaskStep& step, Picture& picture) {
  picture.tried = true;
  if (step.picture.empty()) return;
  try {
    picture.texture.emplace(step.picture);
  } catch (const InputError& error) {
    fault_ = error.what();
  }
}

void StepPictures::draw(const TaskScene& task, std::size_t step) {
  if (pictures_.size() < task.steps.size()) pictures_.resize(task.steps.size());
  if (step >= pictures_.size()) return;
  Picture& picture = pictures_[step];
  if (!picture.tried) load(task.steps[step], picture);
  if (picture.texture) picture.texture->draw(ImGui::GetContentRegionAvail().x);
}

std::string StepPictures::new_fault() { return std::exchange(fault_, {}); }

namespace {

std::optional<PictureTexture> texture_of(const std::string& name) {
  try {
    return PictureTexture(data_file("thumbnails/" + name + ".png"));
  } catch (const InputError&) {
    return std::nullopt;  // a scene without a picture
  }
}

// The round view of a scope, with a disc for each organ.
void draw_placeholder(const Scene& scene, float x, float y, float width) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = width / kThumbnailAspect, radius = 0.46f * height;
  const ImVec2 middle(x + 0.5f * width, y + 0.5f * height);
  list.AddRectFilled({x, y}, {x + width, y + height}, IM_COL32(4, 5, 6, 255), theme::px(3.f));
  list.AddCircleFilled(middle, radius, IM_COL32(58, 30, 26, 255), 32);
  const std::size_t organs = std::min<std::size_t>(scene.organs.size(), 3);
  for (std::size_t k = 0; k < organs; ++k) {
    // The file has linear colours.
    const glm::vec3 colour = glm::sqrt(glm::clamp(scene.organs[k].colour, 0.f, 1.f));
    const float place = organs < 2 ? 0.f : 0.36f * (static_cast<float>(k) - 0.5f * static_cast<float>(organs - 1));
    list.AddCircleFilled({middle.x + place * height, middle.y + 0.1f * place * height}, 0.24f * height,
                         theme::packed(colour), 24);
  }
  list.AddCircle(middle, radius, IM_COL32(255, 255, 255, 40), 32, theme::px(1.f));
}

}  // namespace

void Thumbnails::draw_at(const ListedScene& listed, float x, float y, float width) {
  if (listed.group == SceneGroup::Own) return draw_placeholder(listed.scene, x, y, width);
  const std::string name = listed.file.stem().string();
  auto found = textures_.find(name);
  if (found == textures_.end()) found = textures_.emplace(name, texture_of(name)).first;
  if (found->second)
    found->second->draw_at(x, y, width, width / kThumbnailAspect);
  else
    draw_placeholder(listed.scene, x, y, width);
}

}  // namespace trocar
