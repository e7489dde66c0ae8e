// Holds the instruments and the scope of a session. Reads their devices once per frame and converts their motion in the
// frame to tool volumes. An invalid or stale pose freezes an instrument until its device recovers.
// Units: metres, degrees, newtons, world frame.   Tested in tests/sim/session/session_test.cpp and session_test.cpp
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "deform/contact/grasp.hpp"
#include "geometry/tool_volume.hpp"
#include "sim/device/device_guard.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scope.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/tick_clock.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {

struct Instrument {
  std::string name;
  InstrumentKind kind = InstrumentKind::Probe;
  double radius = 0.0025;  // m
  JointLimits limits;
  GraspParams jaws;
  HookParams hook;
  BladeParams blades;
  SuctionParams suction;
  std::unique_ptr<DeviceGuard> device;
  ToolPose pose;  // current
  double roll_deg = 0.0;
  double grip = 1.0;            // aperture of the jaws or blades: held tissue keeps jaws open
  double commanded_grip = 1.0;  // aperture of the handle
  double grip_force = 1.0;      // 1   force of the hand on the handle, relative to a firm grip
  Diathermy energy = {};        // diathermy in this frame
  Pump pump = Pump::Off;        // suction in this frame
  std::uint32_t heats = 0;      // organ_bit() of the organs on which its hot metal acts in this frame
  bool snipped = false;         // scissors: the blades closed in this frame
  bool blades_open = true;
  double kept_open = 0.0;  // aperture down to which a rigid body kept the jaws open in the last frame; 0: none
  double opened = 1.0;     // 1 aperture; scissors: the widest since the blades last closed
  ClipParams clip;
  int clips_left = 0;        // in the magazine and between the jaws
  bool clip_loaded = false;  // clip applier: a clip lies between the jaws
  bool clip_closes = false;  // its jaws closed it in this frame
  Grasp grasp;
  std::size_t grasped = 0;  // the organ that the grasp holds
  glm::vec3 force{0.f};     // N, of the last frame
  glm::vec3 torque{0.f};    // N m, about the trocar, of the last frame
  DeviceHealth health = DeviceHealth::Good;
  bool frozen = false;  // the device gave no usable pose, or is stale or lost: the instrument keeps its last pose
};

// The scope of a session. Without a device it keeps the pose of the scene.
struct SessionScope {
  ScopePose pose;
  Lens lens;
  std::unique_ptr<DeviceGuard> device;  // its pose: pivot = port, tip = eye, roll = spin
  DeviceHealth health = DeviceHealth::Good;
};

using DeviceMaker = std::function<std::unique_ptr<Device>(const InstrumentScene&)>;

class Instruments {
 public:
  // Throws InputError naming the instrument whose start pose is invalid, and the errors of `make_device`.
  Instruments(const Scene& scene, const DeviceMaker& make_device);

  // Reads every device: poses, jaws, pedals, and the tool volumes of the frame. `first`: of the session, in which no
  // instrument has moved yet.
  void read(const FrameClock& clock, bool first);
  void set_scope_device(std::unique_ptr<Device> device);  // null: the scope does not move
  // Call when time passes between two frames: devices may move meanwhile and receive zero force.
  void suspend();
  // Tells every device the force on its instrument.
  void feel(double time);

  void save(ByteWriter& out) const;
  // Takes over what save() wrote; check_read() throws InputError where it does not fit these organs.
  void read(ByteReader& in);
  void check_read(const std::vector<Organ>& organs) const;

  std::size_t size() const { return list_.size(); }
  std::vector<Instrument>& list() { return list_; }
  const std::vector<Instrument>& list() const { return list_; }
  SessionScope& scope() { return scope_; }
  const SessionScope& scope() const { return scope_; }
  const PartTable& parts() const { return parts_; }                 // of all instruments
  std::span<const ToolVolume> volumes() const { return volumes_; }  // of the last frame, sorted by part
  std::span<const std::uint32_t> part_of_volume() const { return part_of_volume_; }
  FrameVolumes frame_volumes() const { return {volumes_, part_of_volume_, parts_}; }
  std::span<const ToolStep> part_steps() const { return part_steps_; }  // [part] its motion in the last frame
  const InstrumentMotion& motion(std::size_t tool) const { return bodies_[tool].motion(); }        // in the last frame
  const std::vector<PartShape>& shapes(std::size_t tool) const { return bodies_[tool].shapes(); }  // [part - 1]
  Jaws jaws(std::size_t tool) const { return bodies_[tool].jaws(); }             // of one that has_jaws()
  const broad::Box& box(std::size_t tool) const { return bodies_[tool].box(); }  // around its motion in the last frame

 private:
  void read_instrument(std::size_t k, const FrameClock& clock, bool first);
  void collect_volumes();
  void read_scope(const FrameClock& clock);

  QueryScene kind_;
  GuardParams guard_;
  std::vector<Instrument> list_;
  SessionScope scope_;
  std::vector<InstrumentBody> bodies_;  // [tool]
  PartTable parts_;
  std::vector<ToolVolume> volumes_;
  std::vector<std::uint32_t> part_of_volume_;
  std::vector<ToolStep> part_steps_;  // [part]
};

}  // namespace trocar
