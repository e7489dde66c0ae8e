// PNG pictures in panels, as textures of OpenGL: thumbnails of scenes, pictures of the steps of an operation.
// Each class uses the OpenGL context that is current, from its first draw to its destructor.
// Driven in tests/app/step_picture_test.py and window_path_test.sh
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/window/screens/scene_list.hpp"
#include "sim/scene/task_scene.hpp"

namespace trocar {

// A PNG picture as a texture of OpenGL, for panels.
class PictureTexture {
 public:
  // Throws InputError when the file cannot be read (app/view/picture_file.hpp).
  explicit PictureTexture(const std::filesystem::path& file);
  ~PictureTexture();
  PictureTexture(PictureTexture&& other) noexcept;
  PictureTexture& operator=(PictureTexture&& other) noexcept;

  float aspect() const { return aspect_; }  // height, relative to the width
  // Draws the picture as an item of the panel. `width`: pixels.
  void draw(float width) const;
  // Draws the picture behind the next items, from this corner.
  void draw_at(float x, float y, float width, float height) const;

 private:
  unsigned name_ = 0;  // OpenGL's
  float aspect_ = 1.f;
};

// Shows the picture of the current step of an operation in the task's panel. A picture is read when its step first is
// the current one.
class StepPictures {
 public:
  // Draws the step's picture as wide as the panel; nothing where it has none or where it could not be read.
  void draw(const TaskScene& task, std::size_t step);
  // Returns why a picture could not be read, once; else an empty text.
  std::string new_fault();

 private:
  struct Picture {
    bool tried = false;
    std::optional<PictureTexture> texture;
  };
  void load(const TaskStep& step, Picture& picture);

  std::vector<Picture> pictures_;  // [step]
  std::string fault_;
};

// Width / height of a thumbnail.
inline constexpr float kThumbnailAspect = 16.f / 9.f;

// Small pictures of scenes: data/thumbnails/NAME.png for a scene of the program, made by `trocar export picture`; for
// another scene a drawing of its organs' colours.
class Thumbnails {
 public:
  // Draws the scene's thumbnail in the current panel, from this corner, behind the next items. Lengths in pixels.
  void draw_at(const ListedScene& listed, float x, float y, float width);

 private:
  std::map<std::string, std::optional<PictureTexture>> textures_;  // by name; empty: there is no picture
};

}  // namespace trocar
