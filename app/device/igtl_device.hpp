// A tracked tool as an instrument or the scope: a client of an OpenIGTLink server (3D Slicer, PLUS, a tracker). A
// thread of its own connects, listens and connects again when the server went away; a frame never waits.
// A tool's matrix M, tool to world, in millimetres:
//   origin                the tip (the eye of the scope)
//   +z                    along the shaft, out of the handle, through the trocar, beyond the tip
//   +x, +y                turn with the shaft; at spin 0 they are those of T_rcm R(tilt, pan) in joints.hpp
// The pivot is the scene's trocar, so the shaft goes through it whatever small error the tracker's calibration has; of
// M's rotation only the turn about the shaft is used. A tip that is less than the shallowest depth inside, or drawn out
// of the trocar, waits at that depth in the direction it had last.
// Jaws and pedal: a SENSOR message of the same name, its first value the jaws (0 closed .. 1 open), its second the
// pedal (1 down); without one the jaws stay open. Health: Lost without a connection or before the first pose, Stale
// when the last pose is older than 50 ms, or the latest was none: not a rotation, or more than 2 m from the trocar.
// Units: metres, seconds, degrees.   Tested in tests/app/igtl_test.cpp
#pragma once

#include <memory>
#include <string>

#include "app/device/hand_device.hpp"

namespace trocar {

struct IgtlSource {
  std::string host = "localhost";
  int port = 18944;
  std::string tool;  // device name of TRANSFORM and SENSOR, tool's name in TDATA; empty: whatever pose comes
};

// "HOST:PORT/TOOL", each part with its default: "", "/Probe", "tracker:18945", ... Error: InputError.
IgtlSource parse_igtl_source(const std::string& text);

struct IgtlClientParams {
  double stale_after = 0.050;   // s
  double connect_within = 1.0;  // s   of one attempt
  double first_pause = 0.1;     // s   before the next attempt; doubles up to
  double longest_pause = 2.0;   // s
};

class IgtlDevice final : public Device {
 public:
  IgtlDevice(const IgtlSource& source, const HeldTool& tool, const IgtlClientParams& params = {});
  ~IgtlDevice() override;

  DevicePose pose(const FrameClock& clock) override;
  DeviceHealth health() const override { return health_; }  // of the last pose()

  // What came since the start.
  std::uint64_t poses_heard() const;
  std::uint64_t refused() const;  // poses that no tool has, messages with a wrong check sum, length or
                                  // number, connections that spoke nonsense

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
  RemoteCentre centre_;
  JointLimits limits_;
  DevicePose last_;
  DeviceHealth health_ = DeviceHealth::Lost;
};

// Can a tool have this matrix (m)? A rotation, and a tip within 2 m of the trocar.
bool is_tool_pose(const RemoteCentre& centre, const glm::dmat4& matrix);

// The pose that a tool's matrix (m) means, as told above. `last`: the pose before.
DevicePose pose_from_matrix(const RemoteCentre& centre, const JointLimits& limits, const glm::dmat4& matrix,
                            const DevicePose& last);

}  // namespace trocar
