// Draws a session as the scope sees it: wet organs, strands between them, clips, instruments and their shadows, smoke,
// touched faces, a task's marks, all through the lens, in the scope's circular view. Needs OpenGL 3.3. Organs that are
// queried on the GPU are drawn from the query's own buffer. Tested off-screen in tests/app/view_test.cpp; measured by
// bench/view_bench.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "app/view/drawn.hpp"
#include "gpu_collision/gl_context.hpp"
#include "sim/scene/scope.hpp"
#include "sim/session/session.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

class View {
 public:
  // `context` must be current and outlive the view. Throws InputError when it is older than OpenGL 3.3.
  View(GlContext& context, std::span<const DrawnOrgan> organs, std::vector<DrawnBackdrop> backdrops = {});
  ~View();

  // Draws the view of `scope` through `lens` into the framebuffer bound for drawing, `width` x `height` pixels. A point
  // appears at seen_point(), in half heights from the centre; with settings.whole_field at
  // seen_point() times whole_field_scale(). Smoke continues from the picture before (settings.time).
  void draw(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools, const DrawnBonds& bonds,
            const ScopePose& scope, const Lens& lens, const DrawnMarks& marks, const ViewSettings& settings, int width,
            int height);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// Returns DrawnOrgan::opacity of a session's organ.
float organ_opacity(const Organ& organ);
// Returns the neighbours of a scene for a view of it. Throws the error of surface_of().
std::vector<DrawnBackdrop> drawn_backdrops(std::span<const BackdropScene> backdrops);
// Makes the view's input from a session. The spans are valid as long as the session does not change.
void drawn_organs(const Session& session, std::vector<DrawnOrgan>& organs);
void drawn_tools(const Session& session, std::vector<DrawnTool>& tools);
// Overwrites `bonds` with the fibres that are visibly stretched, and the clips.
void drawn_bonds(const Session& session, DrawnBonds& bonds);
// Adds an intact fibre of a session or a recording, when it is visibly stretched. `reference`: m, Fibre::reference.
void add_strand(const FibreEnds& ends, float reference, std::vector<DrawnStrand>& strands);
// Adds the pieces of a jet of blood, which falls as it flies.
void add_jet(const Spurt& spurt, std::vector<DrawnStrand>& jets);
// Returns the pool of that much blood (m^3), below the first of the sources of blood. `organs`: [organ] at rest, so
// that the pool does not move with its source.
DrawnPool pool_below(double volume, std::span<const BleedSource> sources, std::span<const MeshView> organs);
// Returns that of a session.
DrawnPool pool_of(const Session& session);

// An off-screen picture. samples: number per pixel.
class PictureTarget {
 public:
  PictureTarget(int width, int height, int samples = 4);
  ~PictureTarget();
  void bind();
  static void unbind();  // binds the window's framebuffer
  // Throws InputError when the file cannot be written.
  void save_png(const std::filesystem::path& file);
  // Returns the picture as a PNG file.
  std::string png();
  // Returns the pixels, [row from the bottom][column].
  std::vector<glm::u8vec3> pixels();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// Saves the pixels of the current framebuffer as PNG. Throws InputError when the file cannot be written.
void save_screen_png(const std::filesystem::path& file, int width, int height);

struct SessionLook {
  ViewSettings settings = {};              // with the time of the picture
  const TaskRun* task = nullptr;           // its marks are drawn after the first frame
  std::optional<ScopePose> scope = {};     // instead of the session's
  std::optional<Lens> lens = {};           // instead of the session's
  std::span<const DrawnTool> ghosts = {};  // instruments beside those of the session
};

// Draws the pictures of a session and its task, one after another.
class SessionPicture {
 public:
  // As View.
  SessionPicture(GlContext& context, const Session& session);
  // Draws into the framebuffer bound for drawing, `width` x `height` pixels.
  void draw(const Session& session, const SessionLook& look, int width, int height);

 private:
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  DrawnBonds bonds_;
  DrawnMarks marks_;
  View view_;
};

}  // namespace trocar
