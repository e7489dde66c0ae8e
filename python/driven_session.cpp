#include "python/driven_session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_variants.hpp"

namespace trocar::python {
namespace {

// Takes the pose that the caller has set.
class CommandedDevice final : public Device {
 public:
  explicit CommandedDevice(const DevicePose& pose) : pose_(pose) {}
  DevicePose pose(const FrameClock&) override { return pose_; }
  bool follows_ticks() const override { return true; }

 private:
  const DevicePose& pose_;  // of the session's hand
};

std::size_t number_of(const Scene& scene, const std::string& instrument) {
  for (std::size_t k = 0; k < scene.instruments.size(); ++k)
    if (scene.instruments[k].name == instrument) return k;
  throw InputError("the scene " + scene.file.string() + " has no instrument '" + instrument + "'");
}

Scene loaded(const std::filesystem::path& file, const DrivenParams& params) {
  Scene scene =
      with_level(with_anatomy(load_scene(file, SceneAccess{params.allow_outside, {}}), params.anatomy), params.level);
  for (const auto& [name, trajectory] : params.trajectories) {
    const TrajectoryRow start = load_trajectory(trajectory).rows.front();
    InstrumentScene& instrument = scene.instruments[number_of(scene, name)];
    instrument.pivot = start.pivot;
    instrument.tip = start.tip;
  }
  return scene;
}

}  // namespace

DrivenSession::DrivenSession(const std::filesystem::path& file, const DrivenParams& params)
    : scene_(loaded(file, params)), process_(getpid()) {
  if (!params.record.empty()) check_recording_output(scene_, "record", params.record, params.force);
  for (const InstrumentScene& instrument : scene_.instruments) {
    const bool has_axis = glm::length(instrument.axis) > 0.0;
    hands_.push_back({{instrument.pivot, instrument.tip, 0.0, 1.0, {}, 1.0},
                      remote_centre(instrument.pivot, has_axis ? instrument.axis : instrument.tip - instrument.pivot)});
  }
  LoopPlan plan{.backend = params.backend};
  if (!params.check.empty()) plan.checks.push_back({params.check, 1});
  plan.device = [&](const InstrumentScene& instrument) { return device_of(instrument, params); };
  plan.use = {[this] { gl_.emplace(backends_, uses_gl() && !(ends_ && gl_was_forked())); }, [this] { gl_.reset(); }};
  loop_ = std::make_unique<SessionLoop>(scene_, backends_, plan);
  on_gl_ = runs_on_gl(session().backend().name) || runs_on_gl(params.check);
  if (!params.record.empty()) {
    const RecordingTarget target(params.record);
    loop_->record(recording_file(params.record), gl_description(backends_), {.device = kProgramDevice});
  }
  const GlUse leave(backends_, uses_gl());  // the first use of OpenGL made its context current
}

// In a forked process the threads that would have to end do not exist, and the recording belongs to the parent.
DrivenSession::~DrivenSession() {
  if (getpid() != process_) {
    loop_->abandon();
    return;
  }
  const GlUse gl(backends_, uses_gl() && !gl_was_forked());
  ends_ = true;
  view_.reset();
  loop_.reset();
}

std::unique_ptr<Device> DrivenSession::device_of(const InstrumentScene& instrument, const DrivenParams& params) {
  if (const auto found = params.trajectories.find(instrument.name); found != params.trajectories.end())
    return make_trajectory_device(load_trajectory(found->second));
  if (params.driver == Driver::Scripts)
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  return std::make_unique<CommandedDevice>(hands_[number_of(scene_, instrument.name)].pose);
}

void DrivenSession::command(std::size_t tool, const DevicePose& pose) {
  DevicePose wanted = pose;
  wanted.pivot = hands_[tool].pose.pivot;
  const InstrumentScene& instrument = scene_.instruments[tool];
  if (const std::string fault = pose_fault({wanted.pivot, wanted.tip, instrument.radius}); !fault.empty())
    throw InputError(fmt::format("instrument {}: {}", instrument.name, fault));
  if (!usable(wanted))
    throw InputError(fmt::format("instrument {}: the pose is not finite or beyond 999 m", instrument.name));
  hands_[tool].pose = wanted;
}

Joints DrivenSession::joints(std::size_t tool) const {
  return joints_of(hands_[tool].centre, scene_.instruments[tool].limits, hands_[tool].pose);
}

Joints DrivenSession::joints_to(std::size_t tool, const glm::dvec3& point) const {
  DevicePose pose = hands_[tool].pose;
  pose.tip = point;
  return joints_of(hands_[tool].centre, scene_.instruments[tool].limits, pose);
}

std::vector<DrawnTarget> DrivenSession::targets() const {
  DrawnMarks marks;
  if (has_task()) task().draw(marks);
  return marks.targets;
}

void DrivenSession::require_rates(const InstrumentScene& instrument, const JointRates& rates) const {
  const auto require = [&](double rate, double fastest, const char* joint, const char* unit) {
    if (!(std::abs(rate) <= fastest))
      throw InputError(fmt::format("rates of instrument {}: {} is {:g} {}; choose a number between -{:g} and {:g}",
                                   instrument.name, joint, rate, unit, fastest, fastest));
  };
  require(rates.pan_deg, kFastest.pan_deg, "pan", "degrees/s");
  require(rates.tilt_deg, kFastest.tilt_deg, "tilt", "degrees/s");
  require(rates.spin_deg, kFastest.spin_deg, "spin", "degrees/s");
  require(rates.depth, kFastest.depth, "depth", "m/s");
  require(rates.grip, kFastest.grip, "grip", "1/s");
}

void DrivenSession::drive(std::span<const Driving> all) {
  for (std::size_t tool = 0; tool < all.size(); ++tool) require_rates(scene_.instruments[tool], all[tool].rates);
  for (std::size_t tool = 0; tool < all.size(); ++tool) {
    const JointRates& rates = all[tool].rates;
    const JointLimits& limits = scene_.instruments[tool].limits;
    const Joints now = joints(tool);
    Joints next = now;
    next.pan_deg += rates.pan_deg * tick();
    next.tilt_deg += rates.tilt_deg * tick();
    next.spin_deg += rates.spin_deg * tick();
    next.depth += rates.depth * tick();
    next.grip_deg += rates.grip * limits.widest_grip_deg * tick();
    DevicePose pose = pose_of(hands_[tool].centre, limits, limited(limits, next, now));
    pose.energy = all[tool].energy;
    command(tool, pose);
  }
}

void DrivenSession::require_own_threads() const {
  if (getpid() != process_ && (loop_->recording() || scene_.solver.threads > 1))
    throw RunError(
        "this Session was made before the fork, and its threads do not exist in the new process; make it in the "
        "process "
        "that uses it");
}

void DrivenSession::step() {
  if (closed_)
    throw RunError("the recording is closed, so this frame would not be in it; make another Session to go on");
  require_own_threads();
  loop_->step();
  if (loop_->failed()) throw RunError(loop_->failure());
}

void DrivenSession::close_recording() {
  if (!loop_->recording()) return;
  require_own_threads();
  loop_->close();
  closed_ = true;
}

std::vector<glm::u8vec3> DrivenSession::picture(int width, int height, Quality quality) {
  const GlUse gl(backends_, true);
  GlContext* context = backends_.context();
  if (!context)
    throw InputError("no picture: this machine has no OpenGL (" + backends_.why_no_context() +
                     "); install libgl1-mesa-dri");
  drawn_organs(session(), organs_);
  drawn_tools(session(), tools_);
  drawn_bonds(session(), bonds_);
  marks_ = {};
  if (has_task()) task().draw(marks_);
  if (!view_) view_.emplace(*context, organs_, drawn_backdrops(session().backdrops()));
  PictureTarget target(width, height);
  target.bind();
  ViewSettings settings;
  settings.quality = quality;
  settings.time = time();
  view_->draw(organs_, tools_, bonds_, session().scope().pose, session().scope().lens, marks_, settings, width, height);
  const std::vector<glm::u8vec3> from_below = target.pixels();
  std::vector<glm::u8vec3> pixels(from_below.size());
  const auto row = static_cast<std::ptrdiff_t>(width);
  for (std::ptrdiff_t y = 0; y < height; ++y)
    std::copy_n(from_below.begin() + (height - 1 - y) * row, row, pixels.begin() + y * row);
  return pixels;
}

void DrivenSession::restore(std::span<const std::byte> bytes) {
  loop_->restore(bytes);
  for (std::size_t tool = 0; tool < hands_.size(); ++tool) {
    const Instrument& instrument = session().instruments()[tool];
    command(tool, {instrument.pose.pivot, instrument.pose.tip, instrument.roll_deg, instrument.commanded_grip,
                   instrument.energy, 1.0});
  }
}

}  // namespace trocar::python
