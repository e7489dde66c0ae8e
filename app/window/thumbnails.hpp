// Draws a small picture of a scene: data/thumbnails/NAME.png for a scene of the program, made by `trocar export
// picture`; for another scene a drawing of its organs' colours.   Driven in tests/app/window_path_test.sh
#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/window/picture_texture.hpp"
#include "app/window/scene_list.hpp"

namespace trocar {

// Width / height of a thumbnail.
inline constexpr float kThumbnailAspect = 16.f / 9.f;

// Uses the current OpenGL context, from the first draw to the destructor.
class Thumbnails {
 public:
  // Draws the scene's thumbnail in the current panel, from this corner, behind the next items. Lengths in pixels.
  void draw_at(const ListedScene& listed, float x, float y, float width);

 private:
  std::map<std::string, std::optional<PictureTexture>> textures_;  // by name; empty: there is no picture
};

}  // namespace trocar
