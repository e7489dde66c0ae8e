#include "sim/session/instruments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/device/haptics.hpp"

namespace trocar {
namespace {

// Points that jaws usually hold at most. More of them allocate once.
constexpr std::size_t kUsualGrasp = 512;

// The handle of a clip applier closes its jaws over a linkage, so that they stop only on a closed clip.
void arm(const ClipParams& clip, Instrument& instrument) {
  constexpr float kGive = 0.1f;  // 1  aperture by which the full force of the handle bends the linkage
  instrument.clip = clip;
  instrument.clips_left = clip.magazine;
  instrument.jaws.squeeze = clip.squeeze;
  instrument.jaws.handle_stiffness = clip.squeeze / kGive;
  instrument.jaws.damage_from = clip.squeeze;
  instrument.jaws.tear_from = INFINITY;  // what it tears off would be under the clip
}

Instrument make_instrument(const InstrumentScene& scene, const GuardParams& guard, const DeviceMaker& make_device) {
  Instrument instrument;
  instrument.name = scene.name;
  instrument.kind = scene.kind;
  instrument.radius = scene.radius;
  instrument.limits = scene.limits;
  instrument.jaws = scene.grasp;
  instrument.hook = scene.hook;
  instrument.blades = scene.blades;
  instrument.suction = scene.suction;
  if (scene.kind == InstrumentKind::ClipApplier) arm(scene.clip, instrument);
  instrument.device = std::make_unique<DeviceGuard>(make_device(scene), DevicePose{scene.pivot, scene.tip}, guard);
  instrument.pose = {scene.pivot, scene.tip, scene.radius};
  if (const std::string fault = pose_fault(instrument.pose); !fault.empty()) {
    throw InputError(fmt::format("instrument {}: {}", scene.name, fault));
  }
  return instrument;
}

InstrumentStance stance_of(const Instrument& instrument) {
  return {instrument.pose, instrument.roll_deg, instrument.grip};
}

// Jaws stop on the tissue that they hold.
double solved_grip(Instrument& instrument, const InstrumentBody& body) {
  if (!has_jaws(instrument.kind)) return instrument.commanded_grip;
  const Jaws jaws = body.jaws();
  const double commanded = jaws.widest * instrument.commanded_grip;
  return solve_opening(instrument.jaws, jaws, commanded, instrument.grasp, instrument.grip_force) / jaws.widest;
}

// Scissors cut once each time their blades close. `before`: aperture in the frame before.
void work_blades(double before, Instrument& instrument) {
  instrument.snipped = false;
  if (instrument.kind != InstrumentKind::Scissors) return;
  instrument.opened = instrument.blades_open ? std::max(instrument.opened, instrument.grip) : instrument.grip;
  instrument.snipped = instrument.blades_open && instrument.grip < instrument.blades.meet;
  if (instrument.grip < instrument.blades.meet) instrument.blades_open = false;
  if (instrument.grip > instrument.blades.open && instrument.grip > before) instrument.blades_open = true;
}

// A clip slides between open jaws and closes with them.
void work_applier(Instrument& instrument) {
  instrument.clip_closes = false;
  if (instrument.kind != InstrumentKind::ClipApplier) return;
  if (instrument.grip > instrument.clip.loads && instrument.clips_left > 0) instrument.clip_loaded = true;
  if (!instrument.clip_loaded || instrument.grip >= instrument.clip.closes) return;
  instrument.clip_loaded = false;
  instrument.clip_closes = true;
  --instrument.clips_left;
}

}  // namespace

Instruments::Instruments(const Scene& scene, const DeviceMaker& make_device) : kind_(scene.query), guard_(scene.guard) {
  for (const auto& instrument : scene.instruments) {
    list_.push_back(make_instrument(instrument, scene.guard, make_device));
    list_.back().grasp.points.reserve(kUsualGrasp);
    bodies_.emplace_back(instrument.kind, instrument.radius, instrument.limits);
  }
  scope_.pose = scene.scope.pose();
  scope_.lens = scene.scope.lens;
  for (const InstrumentBody& body : bodies_) add_tool(body.parts(), parts_);
  part_steps_.resize(parts_.size());
}

void Instruments::read(const FrameClock& clock, bool first) {
  for (std::size_t k = 0; k < list_.size(); ++k) read_instrument(k, clock, first);
  collect_volumes();
  read_scope(clock);
}

void Instruments::collect_volumes() {
  volumes_.clear();
  part_of_volume_.clear();
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const InstrumentBody& body = bodies_[k];
    volumes_.insert(volumes_.end(), body.volumes().begin(), body.volumes().end());
    for (const std::uint32_t part : body.part_of_volume()) part_of_volume_.push_back(parts_.first[k] + part);
    for (std::uint32_t part = 0; part < body.parts(); ++part) part_steps_[parts_.first[k] + part] = body.step(part);
  }
}

void Instruments::read_instrument(std::size_t k, const FrameClock& clock, bool first) {
  Instrument& instrument = list_[k];
  const InstrumentStance before = stance_of(instrument);
  const std::optional<DevicePose> given = instrument.device->read(clock);
  instrument.energy = Diathermy::Off;
  instrument.pump = Pump::Off;
  instrument.heats = 0;
  instrument.health = instrument.device->health();
  instrument.frozen = !given;
  if (given) {
    instrument.pose = {given->pivot, given->tip, instrument.radius};
    if (instrument.kind == InstrumentKind::Hook) instrument.energy = given->energy;
    if (instrument.kind == InstrumentKind::Suction) instrument.pump = static_cast<Pump>(given->energy);
    instrument.roll_deg = given->roll_deg;
    instrument.commanded_grip = given->grip;
    instrument.grip_force = given->grip_force;
  }
  instrument.grip = std::max(solved_grip(instrument, bodies_[k]), instrument.kept_open);
  work_blades(before.grip, instrument);
  work_applier(instrument);
  bodies_[k].move(first ? nullptr : &before, stance_of(instrument), kind_.mode);
}

// While its device fails, the scope keeps its last pose.
void Instruments::read_scope(const FrameClock& clock) {
  if (!scope_.device) return;
  const std::optional<DevicePose> given = scope_.device->read(clock);
  scope_.health = scope_.device->health();
  if (!given) return;
  scope_.pose.port = given->pivot;
  scope_.pose.eye = given->tip;
  scope_.pose.spin_deg = given->roll_deg;
}

void Instruments::set_scope_device(std::unique_ptr<Device> device) {
  const DevicePose start{scope_.pose.port, scope_.pose.eye, scope_.pose.spin_deg};
  scope_.device = device ? std::make_unique<DeviceGuard>(std::move(device), start, guard_) : nullptr;
}

void Instruments::suspend() {
  for (Instrument& instrument : list_) {
    instrument.device->suspend();
    instrument.device->feel({glm::vec3(0.f), instrument.pose.tip, 0.0});
  }
  if (scope_.device) scope_.device->suspend();
}

void Instruments::feel(double time) {
  for (Instrument& instrument : list_) {
    const TipForce felt =
        instrument.frozen ? TipForce{} : tip_force(instrument.pose, instrument.force, instrument.torque);
    instrument.device->feel({felt.force, instrument.pose.tip, time, felt.twist});
  }
}

}  // namespace trocar
