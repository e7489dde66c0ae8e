// Draws a session as the scope sees it: wet organs, instruments and their shadows, smoke, touched faces, a task's
// marks, all through the lens, in the scope's round field. OpenGL 3.3; organs that are queried on the GPU are drawn
// from the very buffer the query reads. Looked at in tests/app/view_test.cpp, which renders off-screen; measured by
// bench/view_bench.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "app/scope/lens.hpp"
#include "app/session/session.hpp"
#include "app/view/drawn.hpp"
#include "app/view/marks.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar {

class View {
 public:
  // `context` must be current and outlive the view. Error: InputError when it is older than OpenGL 3.3.
  View(GlContext& context, std::span<const DrawnOrgan> organs);
  ~View();

  // Into the framebuffer bound for drawing, `width` x `height` pixels: what `scope` sees through `lens`. The pixel of a
  // point is seen_point(): half heights from the middle. Smoke goes on from the picture before (settings.time).
  void draw(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools, const ScopePose& scope,
            const Lens& lens, const DrawnMarks& marks, const ViewSettings& settings, int width, int height);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// The session as the view wants it; the spans borrow from the session.
void drawn_organs(const Session& session, std::vector<DrawnOrgan>& organs);
void drawn_tools(const Session& session, std::vector<DrawnTool>& tools);

// An off-screen picture. samples: 1, or how many a pixel has.
class PictureTarget {
 public:
  PictureTarget(int width, int height, int samples = 4);
  ~PictureTarget();
  void bind();
  static void unbind();  // draws to the window again
  // Error: InputError when the file cannot be written.
  void save_png(const std::filesystem::path& file);
  // [row from below][column]
  std::vector<glm::u8vec3> pixels();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// The pixels of the current framebuffer as PNG. Error: InputError when the file cannot be written.
void save_screen_png(const std::filesystem::path& file, int width, int height);

}  // namespace trocar
