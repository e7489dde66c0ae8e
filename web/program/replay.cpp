// A replay in the page: the session of an attempt, computed again from its inputs.
#include <fmt/format.h>

#include "deform/model_version.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/support/files.hpp"
#include "web/program/page_run.hpp"

namespace trocar {
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

class Replay final : public PageRun {
 public:
  explicit Replay(AttemptFile attempt)
      : PageRun(parse_scene(attempt.scene_text, data_file(attempt.scene))), attempt_(std::move(attempt)) {
    rerun_.emplace(attempt_.log, scene_, backends_, "scan");
    begin(rerun_->session(), attempt_.run.clock);
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
    follow(*clock);
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
