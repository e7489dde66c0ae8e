// Draws a session as the scope sees it: wet organs, instruments, touched faces, the scope's round field.
// OpenGL 3.3; organs that are queried on the GPU are drawn from the very buffer the query reads.
// Looked at in tests/app/view_test.cpp, which renders off-screen.
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <memory>
#include <vector>

#include "app/scope/lens.hpp"
#include "app/session/session.hpp"
#include "app/view/marks.hpp"
#include "app/view/quality.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar {

struct ViewSettings {
  bool show_touched = true;
  bool round_field = true;
  Quality quality = Quality::High;
  double time = 0.0;                        // s    of the session: moves smoke and pulsing marks; may jump
  glm::vec2 lamp_offset{0.0025f, 0.0065f};  // m    of the lamp from the lens, right and up: the light guide lies beside
                                            //      the optics of a 10 mm scope, which is what makes shadows seen at all
};

// What the renderer needs of an organ; the session's own organs and a replayed recording both give it.
struct DrawnOrgan {
  MeshView rest;
  glm::vec3 colour{1.f};
  std::span<const glm::vec3> positions;           // [vertex] m, now
  TouchList touches;                              // faces by their place in rest.faces
  const GpuTouchQuery* gpu = nullptr;             // its buffer holds `positions` as of the last update
  std::span<const float> charred = {};            // [vertex] 0 sound .. 1 burnt; empty: sound
  std::uint32_t topology = 0;                     // another number: `rest` has changed
  std::span<const FaceId> tip_faces = {};         // as well, that tips touch, by tool
  std::span<const std::uint32_t> tip_first = {};  // [tool + 1] where each tool's begin; empty: unknown
};

struct DrawnTool {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;
  bool touching = false;
  InstrumentKind kind = InstrumentKind::Grasper;
  bool energy = false;      // the pedal is down: the wire glows, what it touches smokes
  JointLimits limits = {};  // grip 1 is limits.widest_grip_deg
};

class View {
 public:
  // `context` must be current and outlive the view. Error: InputError when it is older than OpenGL 3.3.
  View(GlContext& context, std::span<const DrawnOrgan> organs);
  ~View();

  // Into the framebuffer bound for drawing, `width` x `height` pixels: what `scope` sees through `lens`. The pixel of a
  // point is seen_point(): half heights from the middle.
  void draw(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools, const ScopePose& scope,
            const Lens& lens, const DrawnMarks& marks, const ViewSettings& settings, int width, int height);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// The session as the view wants it; the spans borrow from the session.
void drawn_organs(const Session& session, std::vector<DrawnOrgan>& organs);
void drawn_tools(const Session& session, std::vector<DrawnTool>& tools);

// An off-screen picture with four samples a pixel.
class PictureTarget {
 public:
  PictureTarget(int width, int height);
  ~PictureTarget();
  void bind();
  static void unbind();  // draws to the window again
  // Error: InputError when the file cannot be written.
  void save_png(const std::filesystem::path& file);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// The pixels of the current framebuffer as PNG. Error: InputError when the file cannot be written.
void save_screen_png(const std::filesystem::path& file, int width, int height);

}  // namespace trocar
