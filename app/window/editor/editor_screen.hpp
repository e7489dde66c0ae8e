// Shows the scene editor: the organs from any side or through the scope, with handles that the user drags, between the
// list of its parts and their parameters. A part has the same sign in the list and in the view; the one under the
// pointer is marked in the view.
// Driven in tests/app/window_path_test.sh
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/view/view.hpp"
#include "app/window/editor/editor.hpp"
#include "app/window/picture_timer.hpp"
#include "app/window/screen.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/settings.hpp"

namespace trocar {

// A panel in which the user chooses a scene to edit: one of the list, a file of the user's folder, or a typed one.
class SceneOpenPanel {
 public:
  // `listed`: of the start screen. `folder`: of the user's own scenes.
  void open(const std::vector<ListedScene>& listed, const std::filesystem::path& folder, SceneAccess access);
  bool is_open() const { return open_; }
  // Returns the file of a scene that can be loaded, once. `escape`: closes the panel.
  std::optional<std::filesystem::path> draw(bool escape);
  const std::string& fault() const { return fault_; }

 private:
  struct Entry {
    std::string title;
    std::filesystem::path file;
  };
  std::optional<std::filesystem::path> checked(const std::filesystem::path& file);

  std::vector<Entry> entries_;
  SceneAccess access_;
  std::string typed_, fault_;
  bool open_ = false;
};

// Between the bars, in units: where the panels at the sides begin, and how high they are.
struct EditorSides {
  float top = 64.f, height = 560.f;
};
// Draws the list of the scene's parts, at the left, each with the sign that it has in the view. A click selects a part.
// Returns the part under the pointer.
std::optional<Part> draw_parts(Editor& editor, const EditorSides& sides);
// Draws the parameters of the selected part, at the right.
void draw_fields(Editor& editor, const EditorSides& sides);
// Names a part as the list does: "ligament 2 of liver", "grasper".
std::string title_of(const Editor& editor, const Part& part);

class EditorScreen final : public Screen {
 public:
  // Opens the editor with a copy of a scene, which gets a file name and a title of its own. `plan.listed`, `settings`
  // and `context` must outlive the screen. Throws InputError for a mesh that cannot be read.
  struct Plan {
    std::filesystem::path folder;            // of edited scenes
    const std::vector<ListedScene>& listed;  // scenes that can be opened
    SceneAccess access;
  };
  EditorScreen(const Scene& scene, Plan plan, const WindowSettings& settings, GlContext& context);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;

  // Returns the file last saved; practice uses it.
  const std::filesystem::path& saved() const { return editor_.saved(); }
  // Returns the file of the scene to edit next, after Ask::Edit.
  const std::filesystem::path& opened() const { return opened_; }

 private:
  enum class Doing { Choose, AddTarget, AddPort, AddZone };
  struct Handle {
    Part part;
    glm::dvec2 pixel;
  };

  EditorScreen(SceneCopy copy, Plan plan, const WindowSettings& settings, GlContext& context);
  void handle_key(Key key, const WindowInput& input);
  void escape();
  void press();
  void drag_chosen();
  std::vector<Handle> handles() const;
  EditorEye eye() const;
  glm::dvec2 pinhole() const;
  void draw_handles() const;
  void draw_zones() const;
  void draw_port(std::size_t instrument) const;
  void draw_targets() const;
  // Draws a reticle around the handle of a part, with the part's title.
  void draw_reticle(const Part& part, const glm::vec3& colour) const;
  void draw_wall_axes(std::size_t instrument) const;
  std::optional<Part> under_pointer() const;
  EditorSides sides() const;
  void toolbar();
  Ask open_panel();
  Ask save_bar();
  bool save();
  const char* hint() const;

  Plan plan_;
  Editor editor_;
  const WindowSettings& settings_;
  View view_;
  OrbitCamera orbit_;
  QualityKeeper keeper_;
  PictureTimer timer_;
  Doing doing_ = Doing::Choose;
  bool through_scope_ = false, dragging_ = false, replace_ = false, back_ = false, leave_ = false, escape_ = false;
  bool pointer_free_ = true;
  std::optional<Part> pointed_;                    // in the list, in the last frame
  float bar_height_ = 50.f, save_height_ = 76.f;   // units, in the last frame
  glm::dvec2 size_{1280.0, 720.0}, pointer_{0.0};  // pixels
  SceneOpenPanel open_panel_;
  std::filesystem::path opened_;
  std::string file_, note_;
  std::uint64_t frames_ = 0;
};

}  // namespace trocar
