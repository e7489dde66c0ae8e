#include "sim/session/instruments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/error.hpp"

namespace trocar {
namespace {

Instrument make_instrument(const InstrumentScene& scene, const GuardParams& guard, const DeviceMaker& make_device) {
  Instrument instrument;
  instrument.name = scene.name;
  instrument.kind = scene.kind;
  instrument.radius = scene.radius;
  instrument.limits = scene.limits;
  instrument.jaws = scene.grasp;
  instrument.hook = scene.hook;
  instrument.blades = scene.blades;
  instrument.device =
      std::make_unique<DeviceGuard>(make_device(scene), DevicePose{scene.pivot, scene.tip, 0.0, 1.0, false}, guard);
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
  instrument.opened = instrument.blades_open ? std::max(instrument.opened, instrument.grip) : instrument.grip;
  instrument.snipped = instrument.blades_open && instrument.grip < instrument.blades.meet;
  if (instrument.grip < instrument.blades.meet) instrument.blades_open = false;
  if (instrument.grip > instrument.blades.open) instrument.blades_open = true;
}

}  // namespace

Instruments::Instruments(const Scene& scene, const DeviceMaker& make_device) : kind_(scene.query), guard_(scene.guard) {
  for (const auto& instrument : scene.instruments) {
    list_.push_back(make_instrument(instrument, scene.guard, make_device));
    previous_.push_back(list_.back().pose);
    tip_touch_.emplace_back(instrument.kind, instrument.radius, instrument.limits);
  }
  scope_.pose = scene.scope.pose();
  scope_.lens = scene.scope.lens;
  volumes_.resize(list_.size());
  tip_volumes_.resize(list_.size());
}

void Instruments::read(const FrameClock& clock, bool first) {
  for (std::size_t k = 0; k < list_.size(); ++k) read_instrument(k, clock, first);
  read_scope(clock);
}

void Instruments::read_instrument(std::size_t k, const FrameClock& clock, bool first) {
  Instrument& instrument = list_[k];
  previous_[k] = instrument.pose;
  const DevicePose given = instrument.device->pose(clock);
  const ToolPose pose{given.pivot, given.tip, instrument.radius};
  instrument.turn_deg = 0.0;
  instrument.energy = false;
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
      frame_volume(first ? nullptr : &previous_[k], instrument.pose, kind_.mode, kind_.cover, TouchSet::Exact);
}

// An invalid or stale pose leaves the scope in its last pose.
void Instruments::read_scope(const FrameClock& clock) {
  if (!scope_.device) return;
  const DevicePose given = scope_.device->pose(clock);
  scope_.health = scope_.device->health();
  if (scope_.health != DeviceHealth::Good || !usable(given)) return;
  scope_.pose.port = given.pivot;
  scope_.pose.eye = given.tip;
  scope_.pose.spin_deg = given.roll_deg;
}

void Instruments::set_scope_device(std::unique_ptr<Device> device) {
  const DevicePose start{scope_.pose.port, scope_.pose.eye, scope_.pose.spin_deg, 1.0, false};
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
  for (Instrument& instrument : list_)
    instrument.device->feel({instrument.frozen ? glm::vec3(0.f) : instrument.force, instrument.pose.tip, time});
}

void Instruments::settle_tips(Organ& organ, std::span<const std::uint32_t> near) {
  organ.tip_faces.clear();
  organ.tip_first.assign(list_.size() + 1, 0);
  const MeshView mesh{organ.positions, organ.mesh.faces};
  for (const std::uint32_t k : near) {
    const Instrument& instrument = list_[k];
    const auto faces = tip_touch_[k].touched({instrument.pose, instrument.roll_deg, instrument.grip}, mesh,
                                             organ.tip_candidates.of_tool(k));
    organ.tip_faces.insert(organ.tip_faces.end(), faces.begin(), faces.end());
    organ.tip_first[k + 1] = static_cast<std::uint32_t>(faces.size());
  }
  for (std::size_t k = 0; k < list_.size(); ++k) organ.tip_first[k + 1] += organ.tip_first[k];
  organ.tip_ids = organ.tip_faces;
  for (FaceId& face : organ.tip_ids) face = organ.face_ids[index(face)];
}

}  // namespace trocar
