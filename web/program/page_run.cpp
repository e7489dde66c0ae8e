#include "web/program/page_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deform/model_version.hpp"
#include "geometry/error.hpp"
#include "sim/device/hand_device.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/support/files.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/process.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

void PageRun::start() {
  if (phase_ == PagePhase::Ready) phase_ = PagePhase::Running;
}

void PageRun::pause() {
  if (phase_ != PagePhase::Running) return;
  phase_ = PagePhase::Paused;
  interrupted();
}

void PageRun::resume() {
  if (phase_ == PagePhase::Paused) phase_ = PagePhase::Running;
}

void PageRun::finish() {
  if (phase_ == PagePhase::Ended) return;
  phase_ = PagePhase::Ended;
  interrupted();
}

void PageRun::note(const FrameClock& clock) {
  lost_ = clock.lost;
  measures_.add(session(), score_time());
  if (task() && task()->feed().finished) finish();
}

namespace {

// The same demonstration every time.
constexpr std::uint32_t kSeed = 1;

// Mouse, keys and touch move the instruments; everything that the session takes is logged.
class Practice final : public PageRun {
 public:
  Practice(const std::string& file, Scene scene, bool shown);

  void advance(double elapsed, HandInput& input, const HandSettings& settings) override;
  MouseHands* hands() override { return shown_ ? nullptr : &hands_; }
  std::optional<std::size_t> in_hand() const override {
    return shown_ ? std::nullopt : std::optional(hands_.in_hand());
  }
  std::string attempt() const override;

 protected:
  void interrupted() override;

 private:
  LoopPlan plan_of();
  std::unique_ptr<Device> device_of(const InstrumentScene& instrument);
  std::unique_ptr<Device> scope_device();
  std::unique_ptr<MouseDevice> mouse_of(const HeldTool& tool, const std::string& who) const;
  void tick();

  std::string file_;
  MouseHands hands_;
  bool shown_;  // by the scripted expert
  InputLog log_;
  TickClock clock_;
};

Practice::Practice(const std::string& file, Scene whole, bool shown)
    : PageRun(std::move(whole)), file_(file), shown_(shown && scene_.task), clock_({.rate = scene_.frame_rate}) {
  loop_.emplace(scene_, backends_, plan_of());
  begin();
  if (!shown_) hands_.take(instrument_of_task(scene_));
}

LoopPlan Practice::plan_of() {
  LoopPlan plan{.backend = "scan", .clock = shown_ ? ScoreClock::Tick : ScoreClock::Wall, .wall = true, .log = &log_};
  if (shown_) {
    plan.trainee = {style_of(Skill::Expert), kSeed};
    hands_.set_scope(nullptr);
    return plan;
  }
  plan.device = [this](const InstrumentScene& instrument) { return device_of(instrument); };
  plan.scope = [this] { return scope_device(); };
  return plan;
}

std::unique_ptr<MouseDevice> Practice::mouse_of(const HeldTool& tool, const std::string& who) const {
  if (const std::string fault = start_fault(tool); !fault.empty()) throw InputError(who + ": " + fault);
  return std::make_unique<MouseDevice>(tool);
}

// Other devices of a scene are not there in a browser: the mouse moves their instruments.
std::unique_ptr<Device> Practice::device_of(const InstrumentScene& instrument) {
  auto mouse = mouse_of(held_tool(instrument), "instrument " + instrument.name);
  hands_.add(mouse.get());
  return mouse;
}

std::unique_ptr<Device> Practice::scope_device() {
  auto mouse = scene_.scope.device == "script" ? nullptr : mouse_of(held_tool(scene_.scope), "scope");
  hands_.set_scope(mouse.get());
  return mouse;
}

void Practice::interrupted() {
  hands_.rest();
  loop_->suspend_devices();
  clock_.interrupt();
}

void Practice::advance(double elapsed, HandInput& input, const HandSettings& settings) {
  if (phase() != PagePhase::Running) return;
  const int ticks = clock_.picture(elapsed);
  if (clock_.after_gap()) loop_->suspend_devices();
  if (!shown_) hands_.move(input, axes_of(session().scope().pose), ticks * clock_.tick(), settings);
  for (int k = 0; k < ticks && phase() == PagePhase::Running; ++k) tick();
}

void Practice::tick() {
  const FrameClock clock = clock_.next();
  loop_->step(clock, clock_.tick());
  loop_->log_sums(sums());
  note(clock);
  if (std::max(clock.time, clock.wall) + 1.0 > kLongestSession) finish();
}

std::string Practice::attempt() const {
  AttemptFile attempt;
  attempt.program = kVersion;
  attempt.date = this_second();
  attempt.model_version = kModelVersion;
  attempt.scene = file_;
  attempt.scene_text = scene_.text;
  attempt.seed = shown_ ? kSeed : 0;
  attempt.run.clock = shown_ ? ScoreClock::Tick : ScoreClock::Wall;
  attempt.run.activity = shown_ ? Activity::Demonstration : Activity::Attempt;
  attempt.ending = ending_of(task());
  if (task()) {
    const TaskResult result = task()->result();
    attempt.score = result.score;
    attempt.events = result.events;
  }
  attempt.log = log_;
  return attempt_text(attempt);
}

}  // namespace

std::unique_ptr<PageRun> make_practice(const std::string& file, int level, bool shown) {
  return std::make_unique<Practice>(file, with_level(load_scene(data_file(file)), level), shown);
}

namespace {

constexpr const char* kName = "attempt";

AttemptFile checked(const std::string& text) {
  AttemptFile attempt = parse_attempt(text, kName);
  if (attempt.model_version != kModelVersion)
    throw InputError(
        fmt::format("the attempt has version {} of the tissue model, and this page has {}; use the page "
                    "that saved it ({})",
                    attempt.model_version, kModelVersion, printable(attempt.program)));
  return attempt;
}

// The session of an attempt, computed again from its inputs.
class Replay final : public PageRun {
 public:
  explicit Replay(AttemptFile attempt)
      : PageRun(parse_scene(attempt.scene_text, data_file(attempt.scene))), attempt_(std::move(attempt)) {
    rerun_.emplace(attempt_.log, scene_, backends_, "scan");
    loop_.emplace(scene_, rerun_->session(), attempt_.run.clock);
    begin();
  }

  bool replay() const override { return true; }
  void advance(double elapsed, HandInput&, const HandSettings&) override {
    if (phase() != PagePhase::Running) return;
    due_ += elapsed;
    // A slow machine shows every frame, later.
    for (int k = 0; k < kMostFrames && due_ > 0.0 && phase() == PagePhase::Running; ++k) due_ -= frame();
    if (due_ > 0.0) due_ = 0.0;
  }

 private:
  static constexpr int kMostFrames = 3;  // per picture

  // Returns the duration of the frame.
  double frame() {
    const std::optional<FrameClock> clock = rerun_->step();
    if (!clock) {
      finish();
      return 0.0;
    }
    loop_->follow(*clock);
    note(*clock);
    const LoggedFrame& logged = attempt_.log.frames[next_++];
    if (logged.sums != sums()) ++differing_;
    if (next_ == attempt_.log.frames.size()) finish();
    return logged.step;
  }

  AttemptFile attempt_;
  std::optional<InputRerun> rerun_;
  std::size_t next_ = 0;
  double due_ = 0.0;  // s
};

}  // namespace

std::unique_ptr<PageRun> make_replay(const std::string& attempt) { return std::make_unique<Replay>(checked(attempt)); }

}  // namespace trocar
