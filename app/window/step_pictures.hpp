// Shows the picture of the current step of an operation in the task's panel. A picture is read when its step first is
// the current one.   Driven in tests/app/step_picture_test.py
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/window/widgets/pictures.hpp"
#include "sim/scene/task_scene.hpp"

namespace trocar {

// Uses the current OpenGL context, from the first draw() to the destructor.
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

}  // namespace trocar
