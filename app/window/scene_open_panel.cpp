#include "app/window/scene_open_panel.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "app/window/gui_scopes.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {

void SceneOpenPanel::open(const std::vector<ListedScene>& listed, const std::filesystem::path& folder,
                          SceneAccess access) {
  access_ = std::move(access);
  entries_.clear();
  fault_.clear();
  for (const ListedScene& scene : listed) entries_.push_back({scene.title, scene.file});
  for (const ListedScene& own : list_scenes({folder})) {
    const bool known = std::ranges::any_of(entries_, [&](const Entry& entry) {
      std::error_code ignored;
      return std::filesystem::equivalent(entry.file, own.file, ignored);
    });
    if (!known && own.fault.empty()) entries_.push_back({own.title, own.file});
  }
  open_ = true;
}

// A scene that cannot be loaded is said here, so that the edited scene stays.
std::optional<std::filesystem::path> SceneOpenPanel::checked(const std::filesystem::path& file) {
  const ListedScene scene = listed_scene(file, access_);
  fault_ = scene.fault;
  if (!fault_.empty()) return {};
  open_ = false;
  return file;
}

std::optional<std::filesystem::path> SceneOpenPanel::draw(bool escape) {
  if (!open_) return {};
  const theme::Panel panel("open scene", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {620.f, 460.f}}, theme::PanelKind::Front,
                           0.97f);
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("Open a scene");
  }
  std::optional<std::filesystem::path> chosen;
  {
    const theme::Scope list = theme::child("scene files", {0.f, theme::px(300.f)}, ImGuiWindowFlags_NavFlattened, true);
    for (std::size_t k = 0; k < entries_.size() && !chosen; ++k) {
      const Entry& entry = entries_[k];
      const std::string label = fmt::format("{}   {}##{}", entry.title, entry.file.filename().string(), k);
      if (ImGui::Selectable(label.c_str())) chosen = checked(entry.file);
      theme::note_item("Open " + entry.file.filename().string());
    }
  }
  ImGui::SetNextItemWidth(-1.f);
  if (ImGui::InputTextWithHint("##scene file", "or type a file name and press Enter", &typed_,
                               ImGuiInputTextFlags_EnterReturnsTrue) &&
      !typed_.empty())
    chosen = checked(typed_);
  theme::note_item("Scene file");
  if (!fault_.empty()) theme::wrapped(fault_, theme::kBad);
  if (theme::button("Cancel", 110.f) || escape) open_ = false;
  return chosen;
}

}  // namespace trocar
