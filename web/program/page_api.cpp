#include "web/program/page_api.hpp"

#include <emscripten.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

#include "app/view/view.hpp"
#include "geometry/stopwatch.hpp"
#include "web/gl/page_context.hpp"
#include "web/program/page_text.hpp"

namespace trocar {
namespace {

constexpr std::size_t kPageKeys = 7;

// What the page has: the canvas, and one practice or replay.
struct Page {
  std::unique_ptr<GlContext> context;
  std::unique_ptr<PageRun> run;
  std::optional<SessionPicture> picture;
  HandInput input;
  HandSettings hands;
  ViewSettings view{.show_touched = false, .whole_field = true, .quality = Quality::Medium};
  std::array<bool, kPageKeys> keys{};
  double draw_ms = 0.0;
  std::string text, error;
};

Page& page() {
  static Page the_page;
  return the_page;
}

const char* answer(std::string text) {
  page().text = std::move(text);
  return page().text.c_str();
}

void close() {
  page().picture.reset();
  page().run.reset();
  page().keys = {};
  page().input = {};
}

void require_context() {
  if (page().context) return;
  std::string why;
  page().context = make_page_context("#picture", why);
  if (!page().context) throw std::runtime_error(why);
}

template <typename Make>
int open(const Make& make) {
  close();
  try {
    require_context();
    page().run = make();
    page().picture.emplace(*page().context, page().run->session());
    return 1;
  } catch (const std::exception& error) {
    page().error = error.what();
    close();
    return 0;
  }
}

bool down(PageKey key) { return page().keys[static_cast<std::size_t>(key)]; }

int between(bool more, bool less) { return (more ? 1 : 0) - (less ? 1 : 0); }

void apply_keys(HandInput& input) {
  input.cut = down(PageKey::Cut);
  input.coagulate = down(PageKey::Coagulate);
  input.fine = down(PageKey::Fine);
  input.roll = between(down(PageKey::RollRight), down(PageKey::RollLeft));
  input.insert = between(down(PageKey::In), down(PageKey::Out));
}

// The graphics hardware may still draw afterwards.
void draw(int width, int height) {
  const auto start = Clock::now();
  SessionLook look{.settings = page().view, .task = page().run->task()};
  look.settings.time = page().run->time();
  page().picture->draw(page().run->session(), look, width, height);
  page().draw_ms = milliseconds_since(start);
}

// Motion and notches belong to one picture; buttons and keys stay.
void forget_motion(HandInput& input) {
  input.motion = glm::dvec2(0.0);
  input.wheel = 0.0;
  input.jaws_pressed = false;
}

}  // namespace
}  // namespace trocar

using trocar::page;

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* trocar_version() { return trocar::answer(trocar::version_text()); }

EMSCRIPTEN_KEEPALIVE const char* trocar_tasks() {
  try {
    return trocar::answer(trocar::tasks_text());
  } catch (const std::exception& error) {
    page().error = error.what();
    return trocar::answer("[]");
  }
}

EMSCRIPTEN_KEEPALIVE int trocar_open(const char* scene, int level, int shown) {
  return trocar::open([&] { return trocar::make_practice(scene, level, shown != 0); });
}
EMSCRIPTEN_KEEPALIVE int trocar_open_replay(const char* attempt) {
  return trocar::open([&] { return trocar::make_replay(attempt); });
}
EMSCRIPTEN_KEEPALIVE void trocar_close() { trocar::close(); }
EMSCRIPTEN_KEEPALIVE const char* trocar_error() { return page().error.c_str(); }

EMSCRIPTEN_KEEPALIVE void trocar_start() {
  if (page().run) page().run->start();
}
EMSCRIPTEN_KEEPALIVE void trocar_pause() {
  page().keys = {};
  if (page().run) page().run->pause();
}
EMSCRIPTEN_KEEPALIVE void trocar_resume() {
  if (page().run) page().run->resume();
}
EMSCRIPTEN_KEEPALIVE void trocar_finish() {
  if (page().run) page().run->finish();
}

EMSCRIPTEN_KEEPALIVE void trocar_pointer(double right_pixels, double down_pixels, int buttons) {
  trocar::HandInput& input = page().input;
  input.motion += glm::dvec2(right_pixels, -down_pixels);
  const bool left = (buttons & 1) != 0;
  input.jaws_pressed = input.jaws_pressed || (left && !input.jaws_down);
  input.jaws_down = left;
  input.scope = (buttons & 2) != 0;
}
EMSCRIPTEN_KEEPALIVE void trocar_wheel(double notches) { page().input.wheel += notches; }
EMSCRIPTEN_KEEPALIVE void trocar_key(int key, int down) {
  if (key >= 0 && static_cast<std::size_t>(key) < page().keys.size())
    page().keys[static_cast<std::size_t>(key)] = down != 0;
}
EMSCRIPTEN_KEEPALIVE void trocar_take(int number) {
  if (page().run && page().run->hands() && number >= 0) page().run->hands()->take(static_cast<std::size_t>(number));
}
EMSCRIPTEN_KEEPALIVE void trocar_settings(double sensitivity, int fulcrum, int quality, int show_touched) {
  page().hands = {std::clamp(sensitivity, 0.25, 4.0), fulcrum != 0};
  page().view.quality = static_cast<trocar::Quality>(std::clamp(quality, 0, 2));
  page().view.show_touched = show_touched != 0;
}

EMSCRIPTEN_KEEPALIVE int trocar_picture(double elapsed, int width, int height) {
  if (!page().run) return 0;
  trocar::apply_keys(page().input);
  page().run->advance(elapsed, page().input, page().hands);
  trocar::forget_motion(page().input);
  trocar::draw(width, height);
  return static_cast<int>(page().run->phase());
}

EMSCRIPTEN_KEEPALIVE const char* trocar_status() {
  return page().run ? trocar::answer(trocar::status_text(*page().run, page().draw_ms)) : "{}";
}
EMSCRIPTEN_KEEPALIVE const char* trocar_result() {
  return page().run ? trocar::answer(trocar::result_text(*page().run)) : "{}";
}
EMSCRIPTEN_KEEPALIVE const char* trocar_attempt() { return page().run ? trocar::answer(page().run->attempt()) : ""; }
}
