#include "app/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"

namespace trocar {

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = {"devices", "update",  "query", "contacts",
                                                 "tissue",  "surface", "check", "record"};
  return names;
}

namespace {

using Clock = std::chrono::steady_clock;

// Adds the time of a scope to a stage.
class StageTimer {
 public:
  explicit StageTimer(float& stage_ms) : stage_ms_(stage_ms), start_(Clock::now()) {}
  ~StageTimer() { stage_ms_ += std::chrono::duration<float, std::milli>(Clock::now() - start_).count(); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  float& stage_ms_;
  Clock::time_point start_;
};

// Samples are kept for this many frames unless reserve_frames says otherwise; then the oldest are overwritten.
constexpr std::size_t kDefaultSamples = 4096;

Organ make_organ(const OrganScene& scene, Backends& backends, const std::string& backend) {
  Organ organ;
  organ.name = scene.name;
  organ.colour = scene.colour;
  organ.mesh = load_mesh(scene.mesh, scene.mm_per_unit * kMillimetre);
  organ.tissue = make_tissue(organ.mesh.view(), scene.tissue, scene.attachments);
  organ.state = rest_state(organ.tissue);
  organ.positions.resize(organ.mesh.positions.size());
  embed_surface(organ.tissue, organ.state.x, organ.positions);
  if (auto on_gpu = backends.make_on_gpu(backend)) {
    organ.gpu = on_gpu.get();
    organ.query = std::move(on_gpu);
  } else {
    organ.query = backends.make(backend);
  }
  organ.query->rebuild(organ.mesh.view());
  return organ;
}

Instrument make_instrument(const InstrumentScene& scene, const Session::DeviceMaker& make_device) {
  Instrument instrument;
  instrument.name = scene.name;
  instrument.radius = scene.radius;
  instrument.device = make_device(scene);
  instrument.pose = {scene.pivot, scene.tip, scene.radius};
  if (const std::string fault = pose_fault(instrument.pose); !fault.empty()) {
    throw InputError(fmt::format("instrument {}: {}", scene.name, fault));
  }
  return instrument;
}

void sum_up(const TouchQuery& query, StageTimes& sum) {
  const StageTimes& times = query.times();
  sum.update_ms += times.update_ms;
  sum.submit_ms += times.submit_ms;
  sum.gpu_ms += times.gpu_ms;
  sum.read_back_ms += times.read_back_ms;
  sum.search_ms += times.search_ms;
  sum.refine_ms += times.refine_ms;
}

void keep(std::vector<double>& samples, std::size_t frame, std::size_t limit, double value) {
  if (samples.size() < limit) {
    samples.push_back(value);
  } else {
    samples[frame % limit] = value;
  }
}

void keep(BackendTimes& times, std::size_t run, std::size_t limit, const StageTimes& sum) {
  keep(times.update_ms, run, limit, sum.update_ms);
  keep(times.query_ms, run, limit, sum.query_ms());
  keep(times.gpu_ms, run, limit, sum.gpu_ms);
}

}  // namespace

struct Session::Checker {
  std::vector<std::unique_ptr<TouchQuery>> queries;  // [organ]
  std::size_t runs = 0;
};

Session::Session(const Scene& scene, Backends& backends, const std::string& backend,
                 const std::vector<CheckPlan>& checks, const DeviceMaker& make_device)
    : kind_(scene.query), backend_(backends.resolve(backend.empty() ? scene.query.backend : backend)) {
  for (const auto& organ : scene.organs) organs_.push_back(make_organ(organ, backends, backend_.name));
  for (const auto& instrument : scene.instruments) {
    instruments_.push_back(make_instrument(instrument, make_device));
    previous_.push_back(instruments_.back().pose);
  }
  volumes_.resize(instruments_.size());
  for (const auto& organ : organs_) queried_nodes_.push_back(organ.state.x);
  times_.push_back({backend_.name, 1, {}, {}, {}, 0, 0, 0});
  for (const auto& check : checks) {
    Checker checker;
    for (const auto& organ : organs_) {
      checker.queries.push_back(backends.make(check.backend));
      checker.queries.back()->rebuild(organ.mesh.view());
    }
    checkers_.push_back(std::move(checker));
    times_.push_back({check.backend, check.every, {}, {}, {}, 0, 0, 0});
  }
  reserve_frames(kDefaultSamples);
}

Session::~Session() = default;

void Session::reserve_frames(std::size_t frames) {
  reserved_frames_ = frames;
  for (auto& times : times_) {
    for (auto* samples : {&times.update_ms, &times.query_ms, &times.gpu_ms}) samples->reserve(frames);
  }
}

void Session::step(const FrameClock& clock, double dt) {
  stage_ms_.fill(0.f);
  read_devices(clock);
  query_organs();
  check_answers();
  apply_contacts(dt);
  for (Instrument& instrument : instruments_)
    instrument.device->feel({instrument.force, instrument.pose.tip, clock.time});
  ++frames_;
}

void Session::read_devices(const FrameClock& clock) {
  const StageTimer timer(stage_ms_[kDevices]);
  for (std::size_t k = 0; k < instruments_.size(); ++k) {
    Instrument& instrument = instruments_[k];
    previous_[k] = instrument.pose;
    const DevicePose given = instrument.device->pose(clock);
    const ToolPose pose{given.pivot, given.tip, instrument.radius};
    // A pose that is no pose freezes the instrument where it is until the device recovers.
    instrument.frozen = !pose_fault(pose).empty() || !step_fault(step_between(previous_[k], pose)).empty();
    if (!instrument.frozen) {
      instrument.pose = pose;
      instrument.roll_deg = given.roll_deg;
      instrument.grip = given.grip;
    }
    volumes_[k] =
        frame_volume(frames_ == 0 ? nullptr : &previous_[k], instrument.pose, kind_.mode, kind_.cover, TouchSet::Exact);
  }
}

void Session::query_organs() {
  StageTimes sum;
  for (Organ& organ : organs_) {
    organ.query->update(organ.positions);
    organ.touches = organ.query->touched(volumes_, TouchSet::Exact);
    sum_up(*organ.query, sum);
    times_[0].touched += organ.touches.touches.size();
  }
  stage_ms_[kUpdate] = static_cast<float>(sum.update_ms);
  stage_ms_[kQuery] = static_cast<float>(sum.query_ms());
  keep(times_[0], frames_, reserved_frames_, sum);
}

void Session::check_answers() {
  const StageTimer timer(stage_ms_[kCheck]);
  disagreements_now_ = 0;
  if (!checking_) return;
  for (std::size_t c = 0; c < checkers_.size(); ++c) {
    BackendTimes& times = times_[c + 1];
    if (frames_ % times.every != 0) continue;
    StageTimes sum;
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      const Organ& organ = organs_[k];
      TouchQuery& checker = *checkers_[c].queries[k];
      checker.update(organ.positions);
      const TouchList answer = checker.touched(volumes_, TouchSet::Exact);
      sum_up(checker, sum);
      times.touched += answer.touches.size();
      const MeshView mesh{organ.positions, organ.mesh.faces};
      for (std::size_t tool = 0; tool < volumes_.size(); ++tool) {
        const CrossCheckResult result = cross_check_.compare(mesh, volumes_[tool], TouchSet::Exact,
                                                             organ.touches.of_tool(tool), answer.of_tool(tool));
        times.borderline += result.borderline;
        times.disagreements += result.disagreements;
        disagreements_now_ += result.disagreements;
      }
    }
    keep(times, checkers_[c].runs++, reserved_frames_, sum);
  }
}

void Session::apply_contacts(double dt) {
  for (Instrument& instrument : instruments_) instrument.force = glm::vec3(0.f);
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    std::copy(organ.state.x.begin(), organ.state.x.end(), queried_nodes_[k].begin());
    {
      const StageTimer timer(stage_ms_[kContacts]);
      organ.contacts.begin_frame();
      for (std::size_t tool = 0; tool < volumes_.size(); ++tool) {
        contacts_from_touches(volumes_[tool].step, organ.touches.of_tool(tool), organ.mesh.faces, organ.positions,
                              organ.contacts);
      }
    }
    {
      const StageTimer timer(stage_ms_[kTissue]);
      trocar::step(organ.tissue, organ.state, organ.contacts.contacts, static_cast<float>(dt));
      for (std::size_t tool = 0; tool < instruments_.size(); ++tool) {
        instruments_[tool].force +=
            contact_force(organ.state, organ.contacts.first[tool], organ.contacts.first[tool + 1]);
      }
    }
    const StageTimer timer(stage_ms_[kSurface]);
    embed_surface(organ.tissue, organ.state.x, organ.positions);
  }
}

std::uint32_t Session::touched() const {
  std::size_t sum = 0;
  for (const auto& organ : organs_) sum += organ.touches.touches.size();
  return static_cast<std::uint32_t>(sum);
}

std::uint64_t Session::disagreements() const {
  std::uint64_t sum = 0;
  for (const auto& times : times_) sum += times.disagreements;
  return sum;
}

}  // namespace trocar
