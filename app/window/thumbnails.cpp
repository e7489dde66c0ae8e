#include "app/window/thumbnails.hpp"

#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "sim/support/data_folder.hpp"

namespace trocar {
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
