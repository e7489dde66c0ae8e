#include "app/window/person_login.hpp"

#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/window/course_panel.hpp"
#include "app/window/gui_scopes.hpp"
#include "app/window/widgets/theme.hpp"
#include "sim/support/names.hpp"

namespace trocar {
namespace {

constexpr float kFieldWidth = 250.f, kLabelWidth = 66.f;  // units

}  // namespace

PersonLogin::PersonLogin(LabDesk& desk, std::string person) : desk_(desk), person_(std::move(person)) {
  desk_.log_in(valid() ? person_ : "", false);
}

bool PersonLogin::valid() const { return person_.empty() || name_fault(person_).empty(); }

void PersonLogin::log_in() {
  if (valid() && (person_ != desk_.person() || (!person_.empty() && !desk_.known())))
    desk_.log_in(person_, !person_.empty());
}

bool PersonLogin::known_people() {
  bool chosen = false;
  ImGui::SetNextWindowSizeConstraints({theme::px(kFieldWidth), 0.f}, {theme::px(2.f * kFieldWidth), theme::px(400.f)});
  const theme::Scope list = theme::combo("##people", "", ImGuiComboFlags_NoPreview | ImGuiComboFlags_PopupAlignLeft);
  if (!list) {
    theme::note_item("Known people");
    return false;
  }
  if (desk_.people().empty()) theme::text("No people yet", theme::kQuiet);
  for (const std::string& id : desk_.people()) {
    if (ImGui::Selectable(id.c_str(), id == person_)) {
      person_ = id;
      desk_.log_in(person_, false);
      chosen = true;
    }
    theme::note_item("person " + id);
  }
  return chosen;
}

bool PersonLogin::draw() {
  const theme::Scope group = theme::group();
  theme::label("Person", kLabelWidth, kFieldWidth);
  bool in = ImGui::InputTextWithHint("##person", "id, optional", &person_,
                                     ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool left = ImGui::IsItemDeactivatedAfterEdit();
  theme::note_item("Person");
  if (in && valid())
    log_in();
  else if (left && valid() && person_ != desk_.person())
    desk_.log_in(person_, false);
  ImGui::SameLine(0.f, theme::px(2.f));
  return known_people() || (in && valid() && !person_.empty());
}

}  // namespace trocar
