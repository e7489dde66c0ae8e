// Shows the scene editor: the organs from any side or through the scope, with handles that the user drags.
// Driven in tests/app/window_path_test.sh
#pragma once

#include "app/view/view.hpp"
#include "app/window/editor.hpp"
#include "app/window/screen.hpp"
#include "app/window/settings.hpp"

namespace trocar {

class EditorScreen final : public Screen {
 public:
  // Opens the editor with a scene. `folder`: default folder of the edited scene. `settings` and `context` must outlive
  // the screen. Throws InputError for a mesh that cannot be read.
  EditorScreen(const Scene& scene, const std::filesystem::path& folder, const WindowSettings& settings,
               GlContext& context);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;

  // Returns the file last saved; practice uses it.
  const std::filesystem::path& saved() const { return editor_.saved(); }

 private:
  enum class Doing { Choose, AddTarget, AddPort, AddZone };
  struct Handle {
    Part part;
    glm::dvec2 pixel;
  };

  void handle_key(Key key, bool control);
  void press();
  void drag_chosen();
  std::vector<Handle> handles() const;
  EditorEye eye() const;
  glm::dvec2 pinhole() const;
  void draw_handles() const;
  void draw_zones() const;
  void draw_port(std::size_t instrument) const;
  void draw_targets() const;
  void toolbar();
  Ask save_bar();
  bool save();
  const char* hint() const;

  Editor editor_;
  const WindowSettings& settings_;
  View view_;
  OrbitCamera orbit_;
  QualityKeeper keeper_;
  Doing doing_ = Doing::Choose;
  bool through_scope_ = false, dragging_ = false, replace_ = false, back_ = false, leave_ = false;
  bool pointer_free_ = true;
  glm::dvec2 size_{1280.0, 720.0}, pointer_{0.0};  // pixels
  std::string file_, note_;
  std::uint64_t frames_ = 0;
};

}  // namespace trocar
