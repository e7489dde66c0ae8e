// A PNG picture as a texture of OpenGL, for panels.   Driven in tests/app/step_picture_test.py
#pragma once

#include <filesystem>

namespace trocar {

// Uses the OpenGL context that is current when it is made, drawn and destroyed.
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

}  // namespace trocar
