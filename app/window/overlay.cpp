#include "app/window/overlay.hpp"

#include "app/window/readings.hpp"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <span>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace trocar {
namespace {

constexpr std::size_t kHistory = 180;  // frames
constexpr int kTearShown = 90;         // frames
constexpr float kMargin = 16.f;        // pixels at 720 lines

const ImVec4 kGood(0.45f, 0.85f, 0.75f, 1.f), kBad(0.95f, 0.55f, 0.15f, 1.f), kQuiet(0.72f, 0.72f, 0.72f, 1.f);

constexpr ImGuiWindowFlags kPanel = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                                    ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoInputs;

void status_lines(const Session& session, const OverlayState& state) {
  ImGui::Text("backend   %s", session.backend().name.c_str());
  ImGui::Text("frame     %.1f ms", state.frame_ms);
  ImGui::Text("touched   %u faces", session.touched());
  if (session.backend_times().size() > 1) {
    const auto& check = session.backend_times()[1];
    ImGui::TextColored(session.disagreements() == 0 ? kGood : kBad, "agreement %llu disagreements with %s",
                       static_cast<unsigned long long>(session.disagreements()), check.name.c_str());
  }
  if (state.recording) ImGui::TextColored(kBad, "recording");
}

// What the jaws do: the organ between them, how hard it pulls, how hard they press.
void jaws_line(const Session& session, const Grasp& grasp, std::size_t organ, bool tore) {
  if (tore) {
    ImGui::TextColored(kBad, "            torn off");
  } else if (grasp.holding()) {
    ImGui::TextColored(grasp.slipping ? kBad : kQuiet, "            holds %s: pull %.2f N, squeeze %.1f N%s",
                       session.organs()[organ].name.c_str(), static_cast<double>(glm::length(grasp.pull)),
                       static_cast<double>(grasp.squeeze), grasp.slipping ? ", slipping" : "");
  } else {
    ImGui::TextColored(kQuiet, grasp.closed ? "            closed on nothing" : "            jaws open");
  }
}

void instrument_lines(const Session& session, const OverlayState& state, std::span<const int> tear_shown) {
  for (std::size_t k = 0; k < session.instruments().size(); ++k) {
    const Instrument& instrument = session.instruments()[k];
    const char* mark = k == state.selected ? ">" : " ";
    if (instrument.frozen) {
      ImGui::TextColored(kBad, "%s %-9s no pose from its device: frozen", mark, instrument.name.c_str());
      continue;
    }
    ImGui::Text("%s %-9s %5.2f N", mark, instrument.name.c_str(), static_cast<double>(glm::length(instrument.force)));
    if (instrument.kind == InstrumentKind::Grasper)
      jaws_line(session, instrument.grasp, instrument.grasped, tear_shown[k] > 0);
    if (instrument.kind == InstrumentKind::Hook)
      ImGui::TextColored(instrument.energy ? kBad : kQuiet, "            energy %s", instrument.energy ? "ON" : "off");
  }
}

void clash_line(const Session& session) {
  const InstrumentClash* clash = deepest_clash(session.clashes());
  if (!clash) return;
  ImGui::TextColored(kBad, "  instruments collide: %s and %s, %.1f mm",
                     session.instruments()[clash->first].name.c_str(),
                     session.instruments()[clash->second].name.c_str(), -1e3 * clash->distance);
}

void buried_lines(const Session& session) {
  const auto buried = session.buried_tips();
  for (std::size_t tool = 0; tool < buried.size(); ++tool) {
    if (!buried[tool]) continue;
    ImGui::TextColored(kBad, "  %s inside %s: %.1f mm", session.instruments()[tool].name.c_str(),
                       session.organs()[buried[tool]->organ].name.c_str(),
                       1e3 * static_cast<double>(buried[tool]->depth));
  }
}

void organ_lines(const Session& session) {
  ImGui::TextColored(kQuiet, "%-9s %6s %6s %7s %9s", "faces", "burnt", "torn", "crushed", "peak kPa");
  for (const Organ& organ : session.organs()) {
    const DamageReading reading = reading_of(organ.damage);
    ImGui::Text("%-9s %6u %6u %7u %9.1f", organ.name.c_str(), reading.burnt, reading.torn, reading.crushed,
                static_cast<double>(reading.peak) * 1e-3);
  }
}

void stage_lines(const Session& session) {
  const auto stages = session.stage_ms();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    ImGui::TextColored(kQuiet, "%-9s %7.3f ms", stage_names()[stage].c_str(), static_cast<double>(stages[stage]));
  }
}

void help_panel(const ImVec2& screen) {
  ImGui::SetNextWindowPos({screen.x * 0.5f, screen.y * 0.5f}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowBgAlpha(0.85f);
  ImGui::Begin("help", nullptr, kPanel);
  for (const char* line :
       {"move the mouse        swing the instrument about its trocar", "wheel                 push it in, pull it out",
        "Q W or left right     roll it", "left button           close the jaws; let go to open them",
        "E or space, held      energise the hook: burn what it touches",
        "Tab                   other instrument; jaws closed by then stay closed", "right button + move   look around",
        "C                     check every frame with the OBB tree on/off",
        "G                     show touched faces on/off", "H                     times of each stage on/off",
        "R                     start / stop recording (session.h5)", "P                     picture (picture.png)",
        "F1                    this help", "Esc                   quit"}) {
    ImGui::TextUnformatted(line);
  }
  ImGui::End();
}

}  // namespace

Overlay::Overlay(Window& window) : history_(kHistory, 0.f) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // remembers nothing
  ImGui::StyleColorsDark();
  ImGui::GetStyle().WindowRounding = 4.f;
  // One font size per 720 lines, so that it reads the same on a 4K screen.
  const float scale = std::max(1.f, static_cast<float>(window.size().y) / 720.f);
  ImFontConfig font;
  font.SizePixels = 15.f * scale;
  ImGui::GetIO().Fonts->AddFontDefault(&font);
  ImGui_ImplGlfw_InitForOpenGL(static_cast<GLFWwindow*>(window.handle()), true);
  ImGui_ImplOpenGL3_Init("#version 330");
}

Overlay::~Overlay() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

// A tear lasts one frame; it is shown for longer.
void Overlay::note_tears(const Session& session) {
  tear_shown_.resize(session.instruments().size(), 0);
  for (std::size_t k = 0; k < tear_shown_.size(); ++k)
    tear_shown_[k] = session.instruments()[k].grasp.torn ? kTearShown : std::max(tear_shown_[k] - 1, 0);
}

void Overlay::draw(const Session& session, const OverlayState& state) {
  note_tears(session);
  history_[next_++ % kHistory] = static_cast<float>(state.frame_ms);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;

  ImGui::SetNextWindowPos({kMargin, kMargin});
  ImGui::SetNextWindowBgAlpha(0.45f);
  ImGui::Begin("status", nullptr, kPanel);
  status_lines(session, state);
  ImGui::Separator();
  instrument_lines(session, state, tear_shown_);
  clash_line(session);
  buried_lines(session);
  ImGui::Separator();
  organ_lines(session);
  if (state.details) {
    ImGui::Separator();
    stage_lines(session);
    ImGui::PlotLines("", history_.data(), static_cast<int>(kHistory), static_cast<int>(next_ % kHistory),
                     "frame, 0 to 50 ms", 0.f, 50.f, {0.f, 40.f});
  }
  ImGui::End();

  ImGui::SetNextWindowPos({kMargin, screen.y - kMargin}, ImGuiCond_Always, {0.f, 1.f});
  ImGui::SetNextWindowBgAlpha(0.45f);
  ImGui::Begin("hint", nullptr, kPanel);
  ImGui::TextUnformatted(state.note.empty() ? "F1 help" : state.note.c_str());
  ImGui::End();
  if (state.help) help_panel(screen);

  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace trocar
