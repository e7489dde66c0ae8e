#include "app/window/practice.hpp"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>

#include "app/window/window_devices.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;

// The tissue is never stepped over more than this at once: on a slow machine time slows down instead.
constexpr double kLongestStep = 1.0 / 30.0;  // s

constexpr const char* kTree = "obb-refit";

// The same demonstration every time.
constexpr std::uint32_t kSeed = 1;

std::optional<Performer> performer_of(const Scene& scene, const PracticePlan& plan) {
  if (!plan.performer || !scene.task) return {};
  return std::optional<Performer>(std::in_place, scene, *plan.performer, kSeed);
}

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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

Practice::Practice(const Scene& scene, const PracticePlan& plan, GlContext& context)
    : scene_(scene),
      plan_(plan),
      backends_(&context),
      performer_(performer_of(scene, plan)),
      session_(scene, backends_, plan.backend,
               plan.check ? std::vector<CheckPlan>{{kTree, 1}} : std::vector<CheckPlan>{},
               [this](const InstrumentScene& instrument) { return make_device_of(instrument); }) {
  if (performer_) hands_.set_scope(nullptr);
  session_.set_scope_device(performer_ ? performer_->scope_device()
                                       : make_window_scope(scene.scope, scene.file.parent_path(), hands_));
  session_.reserve_frames(StageHistory::kFrames);
  drawn_organs(session_, organs_);
  view_.emplace(context, organs_);
  if (plan.igtl) publisher_.emplace(scene, *plan.igtl);
  begin_task();
}

std::unique_ptr<Device> Practice::make_device_of(const InstrumentScene& instrument) {
  if (!performer_) return make_window_device(instrument, hands_);
  hands_.add(nullptr);
  return performer_->device_of(instrument.name);
}

void Practice::begin_task() {
  if (!scene_.task) return;
  const TaskStage stage = stage_of(session_);
  task_.emplace(*scene_.task, stage);
  session_.set_marks(task_->marks());
  if (performer_) performer_->begin(stage, task_->marks());
}

void Practice::follow_task() {
  if (!task_) return;
  const Observation& seen = observer_.observe(session_, time_);
  task_->step(seen);
  if (performer_) performer_->see(seen, task_->feed());
  if (task_->feed().finished) stop();
}

void Practice::start() {
  if (phase_ != Phase::Ready) return;
  std::error_code ignored;
  std::filesystem::create_directories(plan_.folder, ignored);
  const std::string trainee = file_stem(plan_.trainee), stem = scene_.file.stem().string();
  recording_ = free_name(plan_.folder, trainee.empty() ? stem : trainee + "-" + stem, ".h5");
  recorder_.emplace(recording_, scene_, session_, gl_description(backends_));
  phase_ = next(phase_, PhaseEvent::Start);
}

std::string Practice::use_backend(const std::string& name) {
  try {
    session_.use_backend(backends_, name);
    return fmt::format("{} answers from now on", name);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

void Practice::lose_recording() {
  recording_fault_ = recorder_->failure();
  recorder_.reset();
  std::fputs(("trocar: " + recording_fault_ + "\n").c_str(), stderr);
}

std::string Practice::new_fault() {
  if (recorder_ && recorder_->failed()) {
    lose_recording();
    return recording_fault_;
  }
  const auto& faults = session_.backend_faults();
  teller_.tell(faults);
  if (shown_faults_ >= faults.size()) return {};
  shown_faults_ = faults.size();
  return sentence_of(faults.back());
}

std::string Practice::switch_backend() {
  const bool own = session_.backend().name != kTree;
  if (own) own_backend_ = session_.backend().name;
  return use_backend(own ? kTree : own_backend_.empty() ? "scan" : own_backend_);
}

void Practice::stop() {
  phase_ = next(phase_, PhaseEvent::Stop);
  hands_.rest();
  if (recorder_) recorder_->close();
  recorder_.reset();
  if (!recording_fault_.empty()) throw RunError(recording_fault_);
}

void Practice::advance(const WindowInput* input, double elapsed, const WindowSettings& settings) {
  frame_ms_ += 0.1 * (elapsed * 1e3 - frame_ms_);
  if (phase_ != Phase::Running) return;
  hands_.tell(axes_of(session_.scope().pose), settings.hands);
  if (input)
    hands_.move(*input, axes_of(session_.scope().pose), elapsed, settings.hands);
  else
    hands_.rest();
  const double dt = frame_ == 0 ? 1.0 / scene_.frame_rate : std::clamp(elapsed, 1e-4, kLongestStep);
  time_ += dt;
  session_.step({frame_++, time_}, dt);
  if (recorder_) recorder_->append(session_, time_);
  if (publisher_) publisher_->publish(session_);
  follow_task();
  history_.add(session_.stage_ms(), draw_ms_, elapsed * 1e3);
}

void Practice::draw(const WindowSettings& settings, const glm::ivec2& size) {
  drawn_organs(session_, organs_);
  drawn_tools(session_, tools_);
  marks_.targets.clear(), marks_.paths.clear(), marks_.zones.clear();
  if (task_ && frame_ > 0) task_->draw(marks_);
  session_.set_field_of_view(settings.field_of_view_deg.value_or(scene_.scope.field_of_view_deg));
  const ScopePose pose = session_.scope().pose;
  Lens lens = session_.scope().lens;
  lens.barrel = settings.barrel.value_or(lens.barrel);
  keeper_.fix(settings.quality);
  ViewSettings view = settings.view;
  view.quality = keeper_.quality();
  view.time = time_;
  const auto start = Clock::now();
  view_->draw(organs_, tools_, pose, lens, marks_, view, size.x, size.y);
  glFinish();
  draw_ms_ = ms_since(start);
  keeper_.drawn(draw_ms_);
}

}  // namespace trocar
