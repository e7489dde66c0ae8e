#include "sim/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/device/device_guard.hpp"
#include "sim/session/stage_timer.hpp"

namespace trocar {

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = {"devices", "pairs",  "update",  "query", "contacts",
                                                 "cut",     "tissue", "surface", "check", "record"};
  return names;
}

namespace {

// Samples are kept for this many frames unless reserve_frames says otherwise; then the oldest are overwritten.
constexpr std::size_t kDefaultSamples = 4096;
// Aperture of scissors below which they have cut, and above which they can cut again.
constexpr double kBladesMeet = 0.15, kBladesOpen = 0.35;

Instrument make_instrument(const InstrumentScene& scene, const Session::DeviceMaker& make_device) {
  Instrument instrument;
  instrument.name = scene.name;
  instrument.kind = scene.kind;
  instrument.radius = scene.radius;
  instrument.limits = scene.limits;
  instrument.device =
      std::make_unique<DeviceGuard>(make_device(scene), DevicePose{scene.pivot, scene.tip, 0.0, 1.0, false});
  instrument.pose = {scene.pivot, scene.tip, scene.radius};
  if (const std::string fault = pose_fault(instrument.pose); !fault.empty()) {
    throw InputError(fmt::format("instrument {}: {}", scene.name, fault));
  }
  return instrument;
}

// Scissors cut once each time their blades close.
void work_blades(Instrument& instrument) {
  instrument.snipped = false;
  if (instrument.kind != InstrumentKind::Scissors) return;
  instrument.snipped = instrument.blades_open && instrument.grip < kBladesMeet;
  if (instrument.grip < kBladesMeet) instrument.blades_open = false;
  if (instrument.grip > kBladesOpen) instrument.blades_open = true;
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

Session::Session(const Scene& scene, BackendMaker& backends, const std::string& backend,
                 const std::vector<CheckPlan>& checks, const DeviceMaker& make_device)
    : kind_(scene.query),
      backend_(backends.resolve(backend.empty() ? scene.query.backend : backend)),
      backend_names_(backends.names()),
      stepper_(scene.solver.threads) {
  const bool cuttable = std::any_of(scene.instruments.begin(), scene.instruments.end(),
                                    [](const auto& instrument) { return instrument.kind != InstrumentKind::Probe; });
  for (const auto& organ : scene.organs)
    organs_.push_back(make_organ(organ, scene.breathing, cuttable, backends, backend_.name));
  std::vector<MeshView> meshes;
  for (const Organ& organ : organs_) meshes.push_back(organ.mesh.view()), models_.push_back(&organ.tissue);
  organ_contacts_ = make_organ_contacts(meshes, models_);
  for (const auto& instrument : scene.instruments) {
    instruments_.push_back(make_instrument(instrument, make_device));
    previous_.push_back(instruments_.back().pose);
    tip_touch_.emplace_back(instrument.kind, instrument.radius, instrument.limits);
  }
  scope_.pose = scene.scope.pose();
  scope_.lens = scene.scope.lens;
  encounters_ = Encounters(organs_.size(), instruments_.size());
  asked_.resize(organs_.size());
  clashes_.reserve(instruments_.size() * instruments_.size() / 2);
  volumes_.resize(instruments_.size());
  tip_volumes_.resize(instruments_.size());
  tips_.resize(instruments_.size());
  tool_steps_.resize(instruments_.size());
  tool_pieces_.resize(instruments_.size());
  first_hold_.resize(instruments_.size());
  holds_.resize(organs_.size());
  piece_holds_.resize(organs_.size());
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
  sample_ = ReferenceSample(organs_.size() * 2 * instruments_.size());
  reserve_frames(kDefaultSamples);
}

Session::~Session() = default;

void Session::reserve_frames(std::size_t frames) {
  reserved_frames_ = frames;
  for (auto& times : times_) {
    for (auto* samples : {&times.update_ms, &times.query_ms, &times.gpu_ms}) samples->reserve(frames);
  }
}

void Session::use_backend(BackendMaker& backends, const std::string& name) {
  const BackendChoice choice = backends.resolve(name);
  backends.make(choice.name);  // throws before anything has changed
  for (Organ& organ : organs_) trocar::use_backend(organ, backends, choice.name);
  backend_ = choice;
  BackendTimes& times = times_[0];
  times = {choice.name, 1, {}, {}, {}, 0, 0, 0};
  for (Checker& checker : checkers_) checker.runs = 0;
  for (std::size_t c = 1; c < times_.size(); ++c) times_[c] = {times_[c].name, times_[c].every, {}, {}, {}, 0, 0, 0};
  asked_frames_ = 0;
  reserve_frames(reserved_frames_);
}

void Session::step(const FrameClock& clock, double dt) {
  stage_ms_.fill(0.f);
  read_devices(clock);
  read_scope(clock);
  for (std::size_t k = 0; k < marks_.size(); ++k)
    mark_places_[k] = place_of(marks_[k], organs_[marks_[k].organ].positions);
  find_encounters(dt);
  query_organs();
  check_answers();
  begin_tissue();
  cut_tissue();
  find_candidates();
  step_tissue(dt);
  settle_jaws();
  follow_surfaces();
  watch_tips();
  for (Instrument& instrument : instruments_)
    instrument.device->feel({instrument.frozen ? glm::vec3(0.f) : instrument.force, instrument.pose.tip, clock.time});
  ++frames_;
}

void Session::read_devices(const FrameClock& clock) {
  const StageTimer timer(stage_ms_[kDevices]);
  for (std::size_t k = 0; k < instruments_.size(); ++k) {
    Instrument& instrument = instruments_[k];
    previous_[k] = instrument.pose;
    const DevicePose given = instrument.device->pose(clock);
    const ToolPose pose{given.pivot, given.tip, instrument.radius};
    instrument.turn_deg = 0.0;
    instrument.energy = false;
    // An invalid or stale pose freezes the instrument in its last pose until the device recovers.
    instrument.health = instrument.device->health();
    instrument.frozen = instrument.health != DeviceHealth::Good || !usable(given) ||
                        !step_fault(step_between(previous_[k], pose)).empty();
    if (!instrument.frozen) {
      instrument.pose = pose;
      instrument.turn_deg = given.roll_deg - instrument.roll_deg;
      instrument.energy = given.energy && instrument.kind == InstrumentKind::Hook;
      instrument.roll_deg = given.roll_deg;
      instrument.grip = given.grip;
    }
    work_blades(instrument);
    tip_volumes_[k] = tip_touch_[k].around({instrument.pose, instrument.roll_deg, instrument.grip});
    volumes_[k] =
        frame_volume(frames_ == 0 ? nullptr : &previous_[k], instrument.pose, kind_.mode, kind_.cover, TouchSet::Exact);
  }
}

void Session::suspend_devices() {
  for (Instrument& instrument : instruments_) {
    instrument.device->suspend();
    instrument.device->feel({glm::vec3(0.f), instrument.pose.tip, 0.0});
  }
  if (scope_.device) scope_.device->suspend();
}

void Session::set_scope_device(std::unique_ptr<Device> device) {
  const DevicePose start{scope_.pose.port, scope_.pose.eye, scope_.pose.spin_deg, 1.0, false};
  scope_.device = device ? std::make_unique<DeviceGuard>(std::move(device), start) : nullptr;
}

// An invalid or stale pose leaves the scope in its last pose.
void Session::read_scope(const FrameClock& clock) {
  if (!scope_.device) return;
  const StageTimer timer(stage_ms_[kDevices]);
  const DevicePose given = scope_.device->pose(clock);
  scope_.health = scope_.device->health();
  if (scope_.health != DeviceHealth::Good || !usable(given)) return;
  scope_.pose.port = given.pivot;
  scope_.pose.eye = given.tip;
  scope_.pose.spin_deg = given.roll_deg;
}

void Session::set_marks(std::span<const SurfaceMark> marks) {
  marks_.assign(marks.begin(), marks.end());
  mark_places_.assign(marks.size(), glm::vec3(0.f));
}

// Boxes of this frame, and their direct results: which tools to query for which organ, and which instruments collide.
void Session::find_encounters(double dt) {
  const StageTimer timer(stage_ms_[kPairs]);
  bodies_.clear();
  for (Organ& organ : organs_) bodies_.push_back({&organ.tissue, &organ.state, organ.positions, organ.unused});
  measure_organs(bodies_, organ_contacts_);
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    const auto reach = contact_box(organ_contacts_, static_cast<std::uint32_t>(k), static_cast<float>(dt));
    encounters_.set_organ(k, organs_[k].box, {reach.low, reach.high});
  }
  for (std::size_t k = 0; k < volumes_.size(); ++k)
    encounters_.set_instrument(k, united(box_of(volumes_[k].step), box_of(tip_volumes_[k].step)));
  encounters_.update();
  for (std::size_t k = 0; k < organs_.size(); ++k)
    asked_[k].split(volumes_, tip_volumes_, encounters_.instruments_near(k));
  clashes_.clear();
  for (const auto& [first, second] : encounters_.instrument_pairs())
    clashes_.push_back(clash_of(first, instruments_[first].pose, second, instruments_[second].pose));
}

// Runs the query of every organ; stops at the first fault.
TouchFault Session::ask_organs() {
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    ask(organs_[k], asked_[k]);
    if (organs_[k].query->fault() != TouchFault::None) return organs_[k].query->fault();
  }
  return TouchFault::None;
}

// A backend that failed for one organ is replaced for all of them.
void Session::go_on_with_scan(TouchFault fault) {
  faults_.push_back({frames_, backend_.name, fault, false});
  for (Organ& organ : organs_) use_scan(organ);
  backend_ = {"scan", sentence_of(faults_.back())};
  times_[0] = {backend_.name, 1, {}, {}, {}, 0, 0, 0};
  asked_frames_ = 0;
  reserve_frames(reserved_frames_);
}

void Session::query_organs() {
  StageTimes sum;
  bool anyone = false;
  float settle_ms = 0.f, failing_ms = 0.f;
  TouchFault fault = TouchFault::None;
  {
    const StageTimer timer(failing_ms);
    fault = ask_organs();
    if (fault != TouchFault::None) go_on_with_scan(fault);
  }
  if (fault == TouchFault::None) failing_ms = 0.f;
  if (fault != TouchFault::None) ask_organs();
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    if (asked_[k].anyone()) sum_up(*organ.query, sum);
    anyone = anyone || asked_[k].anyone();
    times_[0].touched += organ.touched.size();
    const StageTimer timer(settle_ms);
    settle_tips(organ, encounters_.instruments_near(k));
  }
  stage_ms_[kUpdate] = static_cast<float>(sum.update_ms);
  stage_ms_[kQuery] = static_cast<float>(sum.query_ms()) + settle_ms + failing_ms;
  if (anyone) keep(times_[0], asked_frames_++, reserved_frames_, sum);
}

// Decides exactly which of the faces around each tip its parts touch.
void Session::settle_tips(Organ& organ, std::span<const std::uint32_t> near_tools) {
  organ.tip_faces.clear();
  organ.tip_first.assign(instruments_.size() + 1, 0);
  const MeshView mesh{organ.positions, organ.mesh.faces};
  for (const std::uint32_t k : near_tools) {
    const Instrument& instrument = instruments_[k];
    const auto faces = tip_touch_[k].touched({instrument.pose, instrument.roll_deg, instrument.grip}, mesh,
                                             organ.tip_candidates.of_tool(k));
    organ.tip_faces.insert(organ.tip_faces.end(), faces.begin(), faces.end());
    organ.tip_first[k + 1] = static_cast<std::uint32_t>(faces.size());
  }
  for (std::size_t k = 0; k < instruments_.size(); ++k) organ.tip_first[k + 1] += organ.tip_first[k];
  organ.tip_ids = organ.tip_faces;
  for (FaceId& face : organ.tip_ids) face = organ.face_ids[index(face)];
}

// The checker answers about every tool. Only the tools that the session's own backend was queried about are timed.
void Session::check_organ(Checker& checker, std::size_t k, BackendTimes& times, StageTimes& sum) {
  const Organ& organ = organs_[k];
  const AskedTools& asked = asked_[k];
  TouchQuery& query = *checker.queries[k];
  const MeshView mesh{organ.positions, organ.mesh.faces};
  const TouchList asked_about{organ.touched, organ.touched_first};
  const auto compare = [&](std::span<const ToolVolume> tools, std::span<const std::uint32_t> which) {
    const TouchList answer = query.touched(tools, TouchSet::Exact);
    if (query.fault() != TouchFault::None) return;
    times.touched += answer.touches.size();
    for (std::size_t i = 0; i < tools.size(); ++i) {
      const CrossCheckResult result =
          cross_check_.compare(mesh, tools[i], TouchSet::Exact, asked_about.of_tool(which[i]), answer.of_tool(i));
      times.borderline += result.borderline;
      times.disagreements += result.disagreements;
      disagreements_now_ += result.disagreements;
    }
  };
  query.update(organ.positions);
  if (asked.anyone()) {
    compare(asked.near, asked.near_k);
    sum_up(query, sum);
  }
  if (!asked.far.empty()) compare(asked.far, asked.far_k);
  if (query.fault() == TouchFault::None) return;
  checker.failed = true;
  faults_.push_back({frames_, times.name, query.fault(), true});
}

void Session::check_answers() {
  disagreements_now_ = 0;
  // Outside the timed stage: a non-zero check time in a recording means that another backend ran.
  hold_sample();
  const StageTimer timer(stage_ms_[kCheck]);
  if (!checking_ || !check_room_) return;
  const bool anyone = std::any_of(asked_.begin(), asked_.end(), [](const AskedTools& asked) { return asked.anyone(); });
  for (std::size_t c = 0; c < checkers_.size(); ++c) {
    BackendTimes& times = times_[c + 1];
    if (frames_ % times.every != 0 || checkers_[c].failed) continue;
    StageTimes sum;
    for (std::size_t k = 0; k < organs_.size() && !checkers_[c].failed; ++k) check_organ(checkers_[c], k, times, sum);
    if (anyone) keep(times, checkers_[c].runs++, reserved_frames_, sum);
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
  return sum + sample_.total().disagreements;
}

}  // namespace trocar
