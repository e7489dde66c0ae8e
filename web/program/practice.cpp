// A practice in the page: mouse, keys and touch move the instruments; everything that the session takes is logged.
#include <algorithm>
#include <utility>

#include "deform/model_version.hpp"
#include "geometry/error.hpp"
#include "sim/device/hand_device.hpp"
#include "sim/scene/level.hpp"
#include "sim/support/data_folder.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/machine.hpp"
#include "sim/task/task_run.hpp"
#include "web/program/page_run.hpp"

namespace trocar {
namespace {

// The same demonstration every time.
constexpr std::uint32_t kSeed = 1;

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

}  // namespace trocar
