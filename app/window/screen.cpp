#include "app/window/screen.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

ScreenName after(const ScreenState& state, Ask ask) {
  using S = ScreenName;
  if (ask == Ask::Quit) return S::Quit;
  switch (state.now) {
    case S::Start:
      if (ask == Ask::Practise || ask == Ask::Lesson) return S::Loading;
      if (ask == Ask::OpenRecording) return S::Replay;
      if (ask == Ask::OpenLibrary) return S::Library;
      if (ask == Ask::OpenDevices) return S::Devices;
      if (ask == Ask::Edit) return S::Editor;
      break;
    case S::Loading:
      if (ask == Ask::Loaded) return S::Practice;
      break;
    case S::Practice:
      if (ask == Ask::Finish) return S::Results;
      if (ask == Ask::Again || ask == Ask::ShowMe) return S::Loading;
      break;
    case S::Results:
      if (ask == Ask::Again || ask == Ask::NextStep) return S::Loading;
      if (ask == Ask::OpenRecording) return S::Replay;
      break;
    case S::Replay:
      if (ask == Ask::Back) return state.before;
      break;
    case S::Library:
      if (ask == Ask::OpenRecording) return S::Replay;
      if (ask == Ask::OpenDay) return S::Day;
      break;
    case S::Day:
      if (ask == Ask::OpenLibrary || ask == Ask::Back) return S::Library;
      break;
    case S::Editor:
      if (ask == Ask::Practise) return S::Loading;
      break;
    case S::Devices:
      break;
    case S::Quit:
      return S::Quit;
  }
  return ask == Ask::Back ? S::Start : state.now;
}

}  // namespace

ScreenState next(const ScreenState& state, Ask ask) {
  const ScreenName screen = after(state, ask);
  return screen == state.now ? state : ScreenState{screen, state.now};
}

std::string name_of(ScreenName screen) {
  constexpr const char* names[] = {"start",  "loading", "practice", "results", "replay",
                                   "editor", "library", "day",      "devices", "quit"};
  return names[static_cast<std::size_t>(screen)];
}

Phase next(Phase phase, PhaseEvent event) {
  if (phase == Phase::Ended) return phase;
  switch (event) {
    case PhaseEvent::Start:
      return phase == Phase::Ready ? Phase::Running : phase;
    case PhaseEvent::Pause:
      return phase == Phase::Running ? Phase::Paused : phase;
    case PhaseEvent::Resume:
      return phase == Phase::Paused ? Phase::Running : phase;
    case PhaseEvent::Stop:
      return phase == Phase::Ready ? phase : Phase::Ended;
  }
  return phase;
}

std::string name_of(Phase phase) {
  constexpr const char* names[] = {"ready", "running", "paused", "ended"};
  return names[static_cast<std::size_t>(phase)];
}

void Screen::picture(const glm::ivec2& size) {
  glViewport(0, 0, size.x, size.y);
  glClearColor(0.04f, 0.05f, 0.06f, 1.f);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

}  // namespace trocar
