#include "app/window/practice/practice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cstdio>
#include <numeric>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/session/frame_cost.hpp"
#include "sim/support/limits.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {
namespace {

constexpr double kLastSecond = 1.0;  // s   an attempt ends this long before kLongestSession, so that it stays readable

constexpr const char* kTree = "obb-refit";

// The same demonstration every time.
constexpr std::uint32_t kSeed = 1;

bool is_shown(const Scene& scene, const PracticePlan& plan) { return plan.performer && scene.task; }

Scene with_all_cores(Scene scene) {
  share_cores(scene);
  return scene;
}

double sum_of(std::span<const float> stage_ms) { return std::accumulate(stage_ms.begin(), stage_ms.end(), 0.0); }

}  // namespace

std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& stem,
                                const std::string& extension) {
  for (int number = 1;; ++number) {
    const auto name = number == 1 ? stem + extension : fmt::format("{}-{}{}", stem, number, extension);
    if (!std::filesystem::exists(folder / name)) return folder / name;
  }
}

std::string file_stem(const std::string& name) {
  std::string stem;
  for (const char letter : name) {
    const bool kept = std::isalnum(static_cast<unsigned char>(letter)) || letter == '-' || letter == '_';
    if (kept) stem += letter;
    if (letter == ' ' && !stem.empty() && stem.back() != '-') stem += '-';
  }
  return stem.substr(0, 60);
}

Practice::Practice(const Scene& scene, const PracticePlan& plan, GlContext* context)
    : scene_(with_all_cores(scene)),
      plan_(plan),
      backends_(context),
      activity_(is_shown(scene, plan) ? Activity::Demonstration : activity_of(scene)),
      score_clock_(activity_ == Activity::Attempt ? ScoreClock::Wall : ScoreClock::Tick),
      clock_({.rate = scene.frame_rate}),
      budget_(1e3 / scene.frame_rate),
      loop_(scene_, backends_, loop_plan()) {
  session().reserve_frames(StageHistory::kFrames);
  tell_slow_scene(scene_, session(), 0.0);
  if (plan.igtl) {
    publisher_.emplace(scene, *plan.igtl);
    loop_.set_publisher([this](const Session& frame) { publisher_->publish(frame); });
  }
  if (scene_.task) hands_.take(instrument_of_task(scene_));
}

LoopPlan Practice::loop_plan() {
  LoopPlan plan{.backend = plan_.backend, .clock = score_clock_, .wall = true};
  if (plan_.check) plan.checks.push_back({kTree, 1});
  if (is_shown(scene_, plan_)) {
    plan.trainee = {style_of(*plan_.performer), kSeed};
    for (std::size_t k = 0; k < scene_.instruments.size(); ++k) hands_.add(nullptr);
    hands_.set_scope(nullptr);
    return plan;
  }
  plan.device = [this](const InstrumentScene& instrument) { return make_window_device(instrument, hands_); };
  plan.scope = [this] { return make_window_scope(scene_.scope, folder_of_scope(scene_), hands_); };
  return plan;
}

void Practice::start() {
  if (phase_ != Phase::Ready) return;
  if (plan_.shown || plan_.lesson) {
    phase_ = next(phase_, PhaseEvent::Start);
    return;
  }
  // A new folder of recordings is private, because these name people.
  if (std::error_code none; !std::filesystem::exists(plan_.folder, none)) make_private_folder(plan_.folder);
  const bool attempt = activity_ == Activity::Attempt;
  const std::string trainee = attempt ? file_stem(plan_.trainee) : "", stem = scene_.file.stem().string(),
                    key = attempt ? new_attempt_key() : "";
  recording_ = free_name(plan_.folder, trainee.empty() ? stem : trainee + "-" + stem, ".h5");
  const bool shown = activity_ == Activity::Demonstration;
  loop_.record(recording_file(recording_), gl_description(backends_),
               {score_clock_, activity_, attempt ? plan_.trainee : "", shown ? kPerformerDevice : "", key});
  if (plan_.station && attempt && !plan_.trainee.empty()) plan_.station->note_begun(key, plan_.trainee, recording_);
  phase_ = next(phase_, PhaseEvent::Start);
}

void Practice::take_backend(const std::string& name) {
  plan_.backend = name;
  session().use_backend(backends_, name.empty() ? scene_.query.backend : name);
}

std::string Practice::use_backend(const std::string& name) {
  try {
    session().use_backend(backends_, name);
    return trf("Collision backend: {}", name);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

void Practice::lose_recording() {
  recording_fault_ = loop_.failure();
  loop_.drop_recording();
  std::fputs(("trocar: " + recording_fault_ + "\n").c_str(), stderr);
}

std::string Practice::new_fault() {
  if (loop_.failed()) {
    lose_recording();
    return recording_fault_;
  }
  const auto& faults = session().backend_faults();
  teller_.tell(faults);
  if (shown_faults_ >= faults.size()) return {};
  shown_faults_ = faults.size();
  return sentence_of(faults.back());
}

std::string Practice::switch_backend() {
  const bool own = session().backend().name != kTree;
  if (own) own_backend_ = session().backend().name;
  return use_backend(own ? kTree : own_backend_.empty() ? "scan" : own_backend_);
}

void Practice::stop() {
  settle();
  if (phase_ == Phase::Ended) return;  // these ticks ended the task
  phase_ = next(phase_, PhaseEvent::Stop);
  hands_.rest();
  try {
    loop_.close();
  } catch (const RunError& error) {
    recording_fault_ = error.what();
  }
}

// The devices are not read while the session is paused: pedals are released, and after a resume the instruments follow
// displaced devices at limited speed.
void Practice::stand_still() {
  if (still_) return;
  still_ = true;
  hands_.rest();
  loop_.suspend_devices();
  clock_.interrupt();
}

SessionLoop& Practice::settled() {
  assert(!begun_);
  return loop_;
}

const SessionLoop& Practice::settled() const {
  assert(!begun_);
  return loop_;
}

void Practice::advance(const WindowInput& input, double elapsed, const WindowSettings& settings) {
  settle();
  frame_ms_ += 0.1 * (elapsed * 1e3 - frame_ms_);
  if (input.focus_lost) pause();
  if (!running()) return stand_still();
  still_ = false;
  shown_ = clock_.now() - 0.5;
  const int ticks = clock_.picture(elapsed - 1e-3 * budget_.take_overrun());
  lost_time_.add(clock_.wall(), clock_.lost());
  if (clock_.after_gap()) loop_.suspend_devices();
  hands_.choose(settings.hands_by, settings.camera, settings.second_mouse);
  hands_.move(input, picture_axes(), ticks * clock_.tick(), settings.hands);
  hold_camera(input, ticks * clock_.tick(), settings);
  session().set_field_of_view(settings.field_of_view_deg.value_or(scene_.scope.field_of_view_deg));
  if (ticks == 0) return;
  // What ran beside the drawing took no time of its own.
  const bool check_room = budget_.room(step_ms_ + draw_ms_ - std::min(beside_ms_, draw_ms_), elapsed * 1e3);
  step_ms_ = beside_ms_ = 0.0;
  elapsed_ms_ = elapsed * 1e3;
  for (int k = 0; k < ticks; ++k) due_.push_back({clock_.next(), check_room && k == 0});
  if (!keep_) settle();
}

// The directions of the picture that the trainee sees, whose horizon an assistant may have tilted.
ScopeAxes Practice::picture_axes() const {
  ScopeAxes axes = axes_of(session().scope().pose);
  const double turn = assistant_ ? glm::radians(assistant_->horizon_deg()) : 0.0;
  if (turn == 0.0) return axes;
  const glm::dvec3 right = axes.right, up = axes.up;
  axes.right = std::cos(turn) * right + std::sin(turn) * up;
  axes.up = std::cos(turn) * up - std::sin(turn) * right;
  return axes;
}

LensLook Practice::lens_look() const {
  return {static_cast<float>(care_.fog()), static_cast<float>(care_.dark()),
          assistant_ ? static_cast<float>(assistant_->horizon_deg()) : 0.f};
}

void Practice::hold_camera(const WindowInput& input, double elapsed, const WindowSettings& settings) {
  MouseDevice* scope = hands_.scope();
  const bool of_camera = scene_.task && scene_.task->kind == TaskKind::NavigateCamera;
  if (settings.camera != camera_ || !scope || of_camera) {
    camera_ = settings.camera;
    assistant_.reset();
    if (scope && !of_camera && is_assistant(camera_)) assistant_.emplace(assistant_params(camera_));
  }
  const bool is_attempt = scene_.task && activity_ == Activity::Attempt;
  const bool is_free = !scene_.task && !plan_.lesson;
  care_.advance(elapsed, (is_attempt && scene_.scope.fogs) || (is_free && settings.lens_fogs), scope);
  if (!assistant_) return;
  if (care_.is_wiping() || input.right_button || hands_.scope_in_hand()) return assistant_->let_go();
  const std::size_t tool = hands_.in_hand();
  const bool works = tool < session().instruments().size() && !hands_.is_out(tool) && !hands_.travels(tool);
  const glm::dvec3 tip = works ? session().instruments()[tool].pose.tip : glm::dvec3(0.0);
  scope->take(
      assistant_->advance({scope->centre(), scope->joints(), session().scope().pose.angle_deg, tip, works}, elapsed));
}

// Backends on the graphics card use the context of the window's thread, and GLFW reads gamepads in that thread only.
bool Practice::may_run_apart() const {
  const auto is_own = [&](const BackendRow& row) { return row.name == loop_.session().backend().name; };
  const auto rows = backend_table();
  const auto row = std::ranges::find_if(rows, is_own);
  const auto has_gamepad = [](const auto& part) { return part.device == "gamepad"; };
  return row != rows.end() && row->room == "cpu_collision" && !has_gamepad(scene_.scope) &&
         std::ranges::none_of(scene_.instruments, has_gamepad);
}

void Practice::begin_ticks() {
  if (due_.empty() || begun_) return;
  begun_ = true;
  if (may_run_apart()) {
    apart_ = due_.size();
    beside_.start([this] {
      run_ticks(0, due_.size());
      beside_ms_ = step_ms_;
    });
    return;
  }
  apart_ = due_.size() - 1;
  run_ticks(0, apart_);
  if (task_ended_) return;
  ask_tick(due_.back());
  beside_.start([this] { loop_.move_tissue(); });
}

void Practice::settle() {
  if (due_.empty()) return;
  beside_.wait();
  if (!begun_) run_ticks(0, due_.size());
  if (begun_ && apart_ < due_.size() && !task_ended_) {
    beside_ms_ = loop_.session().stage_ms()[kTissue];
    end_tick(due_.back());
  }
  begun_ = false;
  due_.clear();
  loop_.publish();
  history_.add(session().stage_ms(), draw_ms_, elapsed_ms_);
  if (task_ended_ && phase_ != Phase::Ended) stop();
}

void Practice::run_ticks(std::size_t from, std::size_t end) {
  for (std::size_t k = from; k < end && !task_ended_; ++k) {
    ask_tick(due_[k]);
    loop_.move_tissue();
    end_tick(due_[k]);
  }
}

void Practice::ask_tick(const DueTick& due) {
  Session& session = loop_.session();
  session.set_check_room(due.check_room);
  loop_.begin_tick(due.clock, clock_.tick());
  if (due.check_room && plan_.check && session.checking()) budget_.ran(session.stage_ms()[kCheck]);
}

void Practice::end_tick(const DueTick& due) {
  loop_.end_tick(due.clock);
  const std::span<const float> stage_ms = loop_.session().stage_ms();
  step_ms_ += sum_of(stage_ms) - stage_ms[kCheck] - stage_ms[kRecord];
  // A longer recording could not be read back.
  const bool full = std::max(due.clock.time, due.clock.wall) + kLastSecond > kLongestSession;
  task_ended_ = full || (loop_.task() && loop_.task()->feed().finished);
  // Pictures lie between the last two ticks.
  const bool is_shown = task_ended_ || due.clock.frame + 2 > due_.back().clock.frame;
  if (keep_ && is_shown) keep_(loop_.session(), due.clock.frame, loop_.time());
}

}  // namespace trocar
