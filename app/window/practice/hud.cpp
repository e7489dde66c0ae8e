#include "app/window/practice/hud.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"
#include "sim/score/attempt.hpp"

namespace trocar {

DamageReading reading_of(const TissueDamage& damage) {
  DamageReading reading;
  for (const std::uint8_t marks : damage.marks) {
    reading.burnt += (marks & kBurnt) != 0;
    reading.torn += (marks & kTorn) != 0;
    reading.crushed += (marks & kCrushed) != 0;
  }
  for (const float peak : damage.peak) reading.peak = std::max(reading.peak, peak);
  return reading;
}

const InstrumentClash* deepest_clash(std::span<const InstrumentClash> clashes) {
  const InstrumentClash* deepest = nullptr;
  for (const InstrumentClash& clash : clashes)
    if (clash.distance < (deepest ? deepest->distance : 0.0)) deepest = &clash;
  return deepest;
}

namespace {

constexpr int kTearShown = 90;        // frames
constexpr double kClosedGrip = 0.05;  // aperture below which jaws look closed
constexpr float kSideWidth = 214.f;   // units: the dark corner beside the circular view at 1280 x 720

// What the lines of an instrument need besides the instrument.
struct LineLook {
  bool in_hand = false, in_other = false, wanted = false, tore = false, technical = false;
  const char* where = nullptr;  // that it is not at work; null: it is
};

// Shows the state of the jaws: the organ between them, their squeeze and its pull.
void jaws_lines(const Session& session, const Instrument& instrument, const LineLook& look) {
  const Grasp& grasp = instrument.grasp;
  if (look.tore) {
    theme::text(tr("Tissue torn off"), theme::kBad);
  } else if (grasp.holding()) {
    const auto colour = grasp.slipping ? theme::kBad : theme::kQuiet;
    theme::wrapped(grasp.slipping ? trf("Holds {}, slipping", tr(session.organs()[instrument.grasped].name))
                                  : trf("Holds {}", tr(session.organs()[instrument.grasped].name)),
                   colour);
    const bool light = instrument.grip_force < 1.0;
    const double squeeze = grasp.squeeze, pull = glm::length(grasp.pull);
    if (look.technical || grasp.slipping)
      theme::text(light ? trf("Light grip {:.1f} N, pull {:.1f} N", squeeze, pull)
                        : trf("Firm grip {:.1f} N, pull {:.1f} N", squeeze, pull),
                  colour);
    else
      theme::text(light ? tr("Light grip") : tr("Firm grip"), colour);
  } else {
    theme::text(instrument.grip < kClosedGrip ? tr("Jaws closed, empty") : tr("Jaws open"), theme::kQuiet);
  }
}

void clip_lines(const Instrument& instrument) {
  const char* const state = instrument.clip_loaded       ? tr("Clip between the jaws")
                            : instrument.clips_left == 0 ? tr("No clip left")
                                                         : tr("Open wide to load a clip");
  theme::text(state, instrument.clip_loaded ? theme::kQuiet : theme::kBad);
  theme::text(trf("{} left", instrument.clips_left), theme::kQuiet);
}

void work_lines(const Session& session, const Instrument& instrument, const LineLook& look) {
  if (look.where) {
    theme::text(tr(look.where), theme::kQuiet);
  } else if (const std::string trouble = trouble_of(instrument); !trouble.empty()) {
    theme::wrapped(trouble, theme::kBad);
  } else if (instrument.kind == InstrumentKind::Grasper) {
    jaws_lines(session, instrument, look);
  } else if (instrument.kind == InstrumentKind::ClipApplier) {
    clip_lines(instrument);
  } else if (instrument.kind == InstrumentKind::Suction) {
    const char* const kModes[] = {msgid("Suction off"), msgid("Suction ON"), msgid("Irrigation ON")};
    theme::text(tr(kModes[static_cast<int>(instrument.pump)]), theme::kQuiet);
  } else if (instrument.kind == InstrumentKind::Hook) {
    const char* const kModes[] = {msgid("Diathermy off"), msgid("Cut ON"), msgid("Coagulation ON")};
    theme::text(tr(kModes[static_cast<int>(instrument.energy)]),
                instrument.energy == Diathermy::Off ? theme::kQuiet : theme::kBad);
  }
}

void instrument_lines(const Session& session, std::size_t tool, const LineLook& look) {
  const Instrument& instrument = session.instruments()[tool];
  theme::text(look.in_hand ? "\u25A0" : look.in_other ? "\u25A1" : " ", theme::instrument_colour(tool));
  ImGui::SameLine(theme::px(28.f));
  const std::string force = look.technical ? fmt::format("{:.2f} N", glm::length(instrument.force)) : "";
  theme::row(fmt::format("{} {}", tool + 1, tr(instrument.name)), look.wanted ? tr("next") : force,
             look.wanted ? theme::kGreen : theme::kText);
  const theme::WithLetters small(theme::Letters::Small);
  const theme::Scope indented = theme::indent(theme::px(16.f));
  work_lines(session, instrument, look);
  // The list is empty before the first frame.
  const auto tips = session.buried_tips();
  if (const auto buried = tool < tips.size() ? tips[tool] : std::nullopt)
    theme::wrapped(trf("Tip {:.1f} mm inside the {}", 1e3f * buried->depth, tr(session.organs()[buried->organ].name)),
                   theme::kBad);
}

void scope_lines(const Session& session, bool in_hand, bool in_other) {
  const SessionScope& scope = session.scope();
  theme::text(in_hand ? "\u25A0" : in_other ? "\u25A1" : " ", theme::kText);
  ImGui::SameLine(theme::px(28.f));
  theme::row(trf("{} scope", session.instruments().size() + 1),
             scope.pose.angle_deg > 0.0
                 ? trf("{:.0f}\u00B0, post {:.0f}\u00B0", scope.pose.angle_deg, scope.pose.spin_deg)
                 : "0\u00B0");
  if (scope.health == DeviceHealth::Good) return;
  const theme::WithLetters small(theme::Letters::Small);
  theme::text(scope.health == DeviceHealth::Lost ? tr("Device disconnected") : tr("Device not responding"),
              theme::kBad);
}

void clash_line(const Session& session) {
  const InstrumentClash* clash = deepest_clash(session.clashes());
  if (!clash) return;
  const theme::WithLetters small(theme::Letters::Small);
  theme::wrapped(trf("{} and {} collide, {:.1f} mm", tr(session.instruments()[clash->first].name),
                     tr(session.instruments()[clash->second].name), -1e3 * clash->distance),
                 theme::kBad);
}

// Shows what concerns a trainee: whether the attempt is recorded and counts as measured.
void attempt_lines(const Session& session, const HudState& state) {
  if (state.recording) theme::text(fmt::format("\u25CF {}", tr("Recording")), theme::kBad);
  for (const BackendFault& fault : session.backend_faults())
    theme::wrapped(trf("{} failed: {}", fault.backend, sentence_of(fault.fault)), theme::kBad);
  if (session.disagreements() > 0 || session.sample().disagreements > 0)
    theme::wrapped(tr("The collision answers disagree; please report this recording"), theme::kBad);
  if (state.lost >= 0.05) theme::row("Lost time", fmt::format("{:.1f} s", state.lost), theme::kBad);
  if (state.slow)
    theme::wrapped(trf("The machine is too slow: this is practice and does not count. {}", tr(kSlowAdvice.data())),
                   theme::kBad);
}

void technical_lines(const Session& session, const HudState& state) {
  theme::row("Touched", trf("{} faces", session.touched()));
  theme::row("Collision backend", session.backend().name);
  {
    const theme::WithLetters small(theme::Letters::Small);
    theme::wrapped(session.backend().why, theme::kQuiet);
  }
  theme::row("Frame time", fmt::format("{:.0f} ms", state.frame_ms));
  theme::row("Verified", trf("{} faces", session.sample().faces),
             session.sample().disagreements == 0 ? theme::kGood : theme::kBad);
  if (session.backend_times().size() < 2) return;
  if (!session.checking())
    theme::row("Check", "off");
  else
    theme::row("Disagreements", fmt::format("{}", session.disagreements()),
               session.disagreements() == 0 ? theme::kGood : theme::kBad);
}

void organ_lines(const Session& session) {
  for (const Organ& organ : session.organs()) {
    const DamageReading reading = reading_of(organ.damage);
    theme::row(organ.name, trf("peak {:.1f} kPa", reading.peak * 1e-3f));
    if (reading.burnt + reading.torn + reading.crushed == 0) continue;
    std::string harm;
    for (const auto& [faces, how] :
         {std::pair{reading.burnt, "burnt"}, {reading.torn, "torn"}, {reading.crushed, "crushed"}})
      if (faces > 0) harm += fmt::format("{}{} {}", harm.empty() ? "" : ", ", faces, how);
    theme::text("  " + harm, theme::kBad);
  }
}

// Returns why an instrument does nothing: another one has its port, or its device moves another one.
const char* where_is(const Hands* hands, std::size_t tool) {
  if (!hands) return nullptr;
  return hands->is_out(tool)      ? msgid("Out of the body")
         : hands->travels(tool)   ? msgid("Is exchanged")
         : hands->is_parked(tool) ? msgid("Parked")
                                  : nullptr;
}

void instruments_panel(const Session& session, const HudState& state, std::span<const int> tear_shown) {
  const theme::Panel panel("instruments", {{0.f, 1.f}, {8.f, -8.f}, {0.f, 1.f}, {kSideWidth, 0.f}},
                           theme::PanelKind::Shown, 0.6f);
  const std::size_t none = session.instruments().size() + 1, other = state.hands && state.hands->uses_other_hand()
                                                                         ? state.hands->in_hand(HandSide::Other)
                                                                         : none;
  for (std::size_t tool = 0; tool < session.instruments().size(); ++tool)
    instrument_lines(session, tool,
                     {tool == state.in_hand, tool == other, state.wanted == tool && tool != state.in_hand,
                      tear_shown[tool] > 0, state.technical, where_is(state.hands, tool)});
  scope_lines(session, state.in_hand == session.instruments().size(), other == session.instruments().size());
  clash_line(session);
}

bool has_attempt_lines(const Session& session, const HudState& state) {
  return state.recording || state.lost >= 0.05 || !session.backend_faults().empty() || session.disagreements() > 0 ||
         session.sample().disagreements > 0;
}

void session_panel(const Session& session, const HudState& state) {
  if (!state.technical && !has_attempt_lines(session, state)) return;
  const theme::Panel panel("session", {{1.f, 1.f}, {-8.f, -8.f}, {1.f, 1.f}, {kSideWidth, 0.f}},
                           theme::PanelKind::Shown, 0.6f);
  const theme::WithLetters small(theme::Letters::Small);
  attempt_lines(session, state);
  if (!state.technical) return;
  technical_lines(session, state);
  ImGui::Separator();
  organ_lines(session);
}

}  // namespace

std::string trouble_of(const Instrument& instrument) {
  switch (instrument.health) {
    case DeviceHealth::Stale:
      return tr("Frozen: device not responding");
    case DeviceHealth::Lost:
      return tr("Frozen: device disconnected");
    case DeviceHealth::Good:
      break;
  }
  return instrument.frozen ? tr("Frozen: device gives no valid pose") : "";
}

// A tear lasts one frame; it is shown for longer.
void Hud::note_tears(const Session& session) {
  tear_shown_.resize(session.instruments().size(), 0);
  for (std::size_t k = 0; k < tear_shown_.size(); ++k)
    tear_shown_[k] = session.instruments()[k].grasp.torn ? kTearShown : std::max(tear_shown_[k] - 1, 0);
}

void Hud::draw(const Session& session, const HudState& state) {
  note_tears(session);
  instruments_panel(session, state, tear_shown_);
  session_panel(session, state);
}

namespace {

constexpr float kTitle = 44.f, kLine = 18.5f;  // units: heights

}  // namespace

void contact_rows(const Session& session, std::vector<ContactRow>& rows) {
  rows.clear();
  for (std::size_t tool = 0; tool < session.instruments().size(); ++tool) {
    for (std::size_t k = 0; k < session.organs().size(); ++k) {
      const Organ& organ = session.organs()[k];
      if (tool + 1 >= organ.touches.first.size()) continue;
      ContactRow row{tool, k};
      for (std::size_t i = organ.touches.first[tool]; i < organ.touches.first[tool + 1]; ++i) {
        ++row.faces;
        row.deepest = std::max(row.deepest, organ.touches.touches[i].depth);
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
  theme::heading(tr("Contacts"));
  if (rows.empty()) theme::text(tr("No contact"), theme::kQuiet);
  for (const ContactRow& row : rows) {
    const Instrument& instrument = session.instruments()[row.instrument];
    theme::text(trf("{} on {}", instrument.name, session.organs()[row.organ].name),
                theme::instrument_colour(row.instrument));
    theme::row("Faces, depth", fmt::format("{}, {:.2f} mm", row.faces, 1e3f * row.deepest));
    theme::row("Pressure, force",
               fmt::format("{:.1f} kPa, {:.2f} N", 1e-3f * row.pressure, glm::length(instrument.force)));
  }
}

}  // namespace trocar
