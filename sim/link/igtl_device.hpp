// Makes a tracked tool an input device that moves an instrument or the scope. The device is a client of an OpenIGTLink
// server (3D Slicer, PLUS, a tracker). Its own thread connects, receives, and reconnects when the server has
// disconnected; a frame never waits.
// The matrix M of a tool maps the tool to the world, in millimetres:
//   origin                the tip (the eye of the scope)
//   +z                    along the shaft, out of the handle, through the trocar, beyond the tip
//   +x, +y                turn with the shaft; at spin 0 they are those of T_rcm R(tilt, pan) in joints.hpp
// The pivot is the trocar of the scene, so the shaft passes through it despite small calibration errors of the tracker.
// Only the rotation about the shaft is taken from M. When the tip is outside the body or less deep than the shallowest
// depth, the instrument stays at that depth in its last direction.
// HeldTool::registration is applied to M first, where the tracker's world is not that of the scene.
// Jaws and pedal: a SENSOR message of the same name; its first value sets the jaws (0 closed .. 1 open), its second the
// pedal (1 cut, 2 coagulate). Without such messages the jaws stay open. Health: Lost without a connection or before the
// first pose; Stale when the last pose is older than 50 ms, or when the latest matrix is not a tool pose: not a
// rotation, or a tip more than 2 m from the trocar. Units: metres, seconds, degrees.   Tested in
// tests/sim/link/igtl_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/hand_device.hpp"
#include "sim/scene/instrument_scene.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

// Registers a tracker with the scene: maps the matrices that it sends to the scene's world, and finds the registration
// from one pose of the tool. Units: metres, degrees.

// Returns the rigid transform of a registration.
glm::dmat4 matrix_of(const Registration& registration);
// Returns the registration that maps the matrix that a tracker sends now to the wanted one, rounded to 0.001 mm and
// 0.001 degrees. Both must be rigid.
Registration registration_between(const glm::dmat4& sent, const glm::dmat4& wanted);

struct IgtlClientParams {
  double stale_after = 0.050;   // s
  double connect_within = 1.0;  // s   time limit of one attempt
  double first_pause = 0.1;     // s   before the next attempt; doubles after each attempt
  double longest_pause = 2.0;   // s   upper limit of the pause
};

// What a device has heard, for a panel that shows it.
struct IgtlStatus {
  bool connected = false;
  bool heard = false;               // a pose of this tool, since it is connected
  bool sound = true;                // the latest matrix was a possible tool pose
  double age = 0.0;                 // s   of the last pose; 0 before the first
  std::uint64_t poses = 0;          // of this tool, since the start
  std::uint64_t refused = 0;        // as refused()
  std::uint64_t failures = 0;       // attempts to connect that failed since the last connection
  std::vector<std::string> others;  // names of other tools that were heard, at most kMostOtherTools
  std::optional<glm::dmat4> sent;   // m   the latest rotation and position of this tool, before the registration
};
inline constexpr std::size_t kMostOtherTools = 6;

class IgtlDevice final : public Device {
 public:
  IgtlDevice(const IgtlSource& source, const HeldTool& tool, const IgtlClientParams& params = {});
  ~IgtlDevice() override;

  DevicePose pose(const FrameClock& clock) override;
  DeviceHealth health() const override { return health_; }  // of the last pose()

  // These functions return counts since the start.
  std::uint64_t poses_heard() const;
  std::uint64_t refused() const;  // impossible tool poses; messages with a wrong checksum or length or with a number
                                  // that is not finite; connections that did not follow the protocol
  IgtlStatus status() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
  RemoteCentre centre_;
  JointLimits limits_;
  DevicePose last_;
  DeviceHealth health_ = DeviceHealth::Lost;
};

// Returns true when `matrix` (m) is a possible tool pose: a rotation, and a tip within 2 m of the trocar.
bool is_tool_pose(const RemoteCentre& centre, const glm::dmat4& matrix);

// Converts a tool's matrix (m) to a pose, as described above. `last`: the previous pose.
DevicePose pose_from_matrix(const RemoteCentre& centre, const JointLimits& limits, const glm::dmat4& matrix,
                            const DevicePose& last);

}  // namespace trocar
