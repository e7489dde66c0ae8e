#include "app/window/contact_list.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

constexpr float kTitle = 44.f, kLine = 18.5f;  // units: heights

}  // namespace

void contact_rows(const Session& session, std::vector<ContactRow>& rows) {
  rows.clear();
  for (std::size_t tool = 0; tool < session.instruments().size(); ++tool) {
    for (std::size_t k = 0; k < session.organs().size(); ++k) {
      const Organ& organ = session.organs()[k];
      if (tool + 1 >= organ.touches_by_id.first.size()) continue;
      ContactRow row{tool, k};
      for (std::size_t i = organ.touches_by_id.first[tool]; i < organ.touches_by_id.first[tool + 1]; ++i) {
        ++row.faces;
        row.deepest = std::max(row.deepest, organ.touches_by_id.touches[i].depth);
        if (i < organ.touch_pressure.size()) row.pressure = std::max(row.pressure, organ.touch_pressure[i]);
      }
      if (row.faces > 0) rows.push_back(row);
    }
  }
}

void draw_contacts(const Session& session, std::vector<ContactRow>& rows) {
  contact_rows(session, rows);
  const float height = rows.empty() ? kTitle + kLine : kTitle + 3.f * kLine * static_cast<float>(rows.size());
  const theme::Panel panel("contacts", {{0.f, 0.5f}, {8.f, 20.f}, {0.f, 0.5f}, {214.f, height}},
                           theme::PanelKind::Shown, 0.6f);
  const theme::WithLetters small(theme::Letters::Small);
  theme::heading("Contacts");
  if (rows.empty()) theme::text("No contact", theme::kQuiet);
  for (const ContactRow& row : rows) {
    const Instrument& instrument = session.instruments()[row.instrument];
    theme::text(fmt::format("{} on {}", instrument.name, session.organs()[row.organ].name),
                theme::instrument_colour(row.instrument));
    theme::row("Faces, depth", fmt::format("{}, {:.2f} mm", row.faces, 1e3f * row.deepest));
    theme::row("Pressure, force",
               fmt::format("{:.1f} kPa, {:.2f} N", 1e-3f * row.pressure, glm::length(instrument.force)));
  }
}

}  // namespace trocar
