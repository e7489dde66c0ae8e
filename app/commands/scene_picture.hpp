// Draws a scene as its scope sees it, without a window and without a recording: a scripted expert performs the task up
// to the wanted time; without a task the instruments follow their scripts. The start screen's thumbnails are made so.
// Tested in tests/app/output_test.cpp
#pragma once

#include <filesystem>

#include "gpu_collision/gl_context.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

class Backends;

struct ScenePicture {
  double time = 0.0;               // s   of the session; at most the end of the task
  int width = 1280, height = 720;  // pixels; the view fills them, without the scope's round edge
};

// Writes the picture as PNG. Throws the errors of Session, and InputError when the file cannot be written.
void draw_scene_picture(const Scene& scene, const ScenePicture& picture, const std::filesystem::path& file,
                        Backends& backends);

}  // namespace trocar
