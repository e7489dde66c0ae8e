#include "sim/link/igtl_device.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "sim/device/device_guard.hpp"
#include "sim/link/igtl_wire.hpp"
#include "sim/support/task.hpp"

namespace trocar {
namespace {

constexpr double kHalfTurnBelow = 1e-6;  // the sine of an angle is too small to give the axis

double rounded(double value, double per_unit) { return std::round(value * per_unit) / per_unit; }

// Rodrigues' formula.
glm::dmat3 rotation_of(const glm::dvec3& turn_deg) {
  const double angle = glm::radians(glm::length(turn_deg));
  if (!(angle > 0.0)) return glm::dmat3(1.0);
  const glm::dvec3 axis = turn_deg / glm::length(turn_deg);
  const double sine = elementary::sin(angle), cosine = elementary::cos(angle);
  const glm::dmat3 across(glm::dvec3(0.0, axis.z, -axis.y), glm::dvec3(-axis.z, 0.0, axis.x),
                          glm::dvec3(axis.y, -axis.x, 0.0));
  return cosine * glm::dmat3(1.0) + sine * across + (1.0 - cosine) * glm::outerProduct(axis, axis);
}

glm::dvec3 turn_of(const glm::dmat3& rotation) {
  const glm::dvec3 twice_sine(rotation[1][2] - rotation[2][1], rotation[2][0] - rotation[0][2],
                              rotation[0][1] - rotation[1][0]);
  const double twice_cosine = rotation[0][0] + rotation[1][1] + rotation[2][2] - 1.0;
  const double size = glm::length(twice_sine);
  const double angle = glm::degrees(elementary::atan2(size, twice_cosine));
  if (size > kHalfTurnBelow) return angle / size * twice_sine;
  if (twice_cosine > 0.0) return glm::dvec3(0.0);
  // Half a turn: R = 2 a a^T - 1, so the longest column of R + 1 is along the axis.
  const glm::dmat3 outer = rotation + glm::dmat3(1.0);
  glm::dvec3 axis = outer[0];
  for (int column = 1; column < 3; ++column)
    if (glm::length(outer[column]) > glm::length(axis)) axis = outer[column];
  return 180.0 * glm::normalize(axis);
}

}  // namespace

glm::dmat4 matrix_of(const Registration& registration) {
  glm::dmat4 matrix(rotation_of(registration.turn_deg));
  matrix[3] = glm::dvec4(registration.move, 1.0);
  return matrix;
}

Registration registration_between(const glm::dmat4& sent, const glm::dmat4& wanted) {
  const glm::dmat3 rotation = glm::dmat3(wanted) * glm::transpose(glm::dmat3(sent));
  Registration found;
  for (int k = 0; k < 3; ++k) found.turn_deg[k] = rounded(turn_of(rotation)[k], 1e3);
  // The rounded rotation decides where the tip goes.
  const glm::dvec3 tip = rotation_of(found.turn_deg) * glm::dvec3(sent[3]);
  for (int k = 0; k < 3; ++k) found.move[k] = rounded(1e3 * (wanted[3][k] - tip[k]), 1e3) * 1e-3;
  return found;
}

namespace {

// Below this value the spin is undefined: the matrix is not a rotation, or its shaft points in the opposite direction.
constexpr double kLeastTurn = 0.1;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Returns the tool's spin about its shaft, degrees, relative to the frame with the same pan and tilt at spin 0: the
// rotation about z that fits x and y best. Of the angles that differ by 360 degrees, the one nearest to `last_deg`.
double spin_of(const glm::dmat4& at_no_spin, const glm::dmat4& matrix, double last_deg) {
  const glm::dvec3 x0(at_no_spin[0]), y0(at_no_spin[1]), x(matrix[0]), y(matrix[1]);
  const double sine = glm::dot(x, y0) - glm::dot(y, x0), cosine = glm::dot(x, x0) + glm::dot(y, y0);
  if (!(elementary::hypot(sine, cosine) > kLeastTurn)) return last_deg;
  const double spin = glm::degrees(elementary::atan2(sine, cosine));
  return spin + 360.0 * std::round((last_deg - spin) / 360.0);
}

// No tool tip is farther from its trocar: such a pose has a wrong unit, or is damaged.
constexpr double kFarthestTip = 2.0;  // m
// Tolerance on the columns of a rotation (unit length, right angles): allows calibration errors of a tracker, not a
// scale.
constexpr double kLeastRigid = 0.05;  // 1

bool is_rotation(const glm::dmat3& matrix) {
  const glm::dmat3 square = glm::transpose(matrix) * matrix;
  for (int column = 0; column < 3; ++column)
    for (int row = 0; row < 3; ++row)
      if (!(std::abs(square[column][row] - (column == row ? 1.0 : 0.0)) <= kLeastRigid)) return false;
  return glm::determinant(matrix) > 0.0;
}

}  // namespace

bool is_tool_pose(const RemoteCentre& centre, const glm::dmat4& matrix) {
  return is_rotation(glm::dmat3(matrix)) && glm::length(glm::dvec3(matrix[3]) - centre.pivot) <= kFarthestTip;
}

DevicePose pose_from_matrix(const RemoteCentre& centre, const JointLimits& limits, const glm::dmat4& matrix,
                            const DevicePose& last) {
  DevicePose pose = last;
  pose.pivot = centre.pivot;
  pose.tip = glm::dvec3(matrix[3]);
  const glm::dvec3 shaft = pose.tip - pose.pivot;
  const bool inside = glm::dot(shaft, centre.frame[2]) > 0.0;
  if (!inside || glm::length(shaft) < limits.shallowest)
    pose.tip = pose.pivot + limits.shallowest * glm::normalize(last.tip - last.pivot);
  pose.roll_deg = 0.0;
  pose.roll_deg = spin_of(matrix_of(centre, pose), matrix, last.roll_deg);
  return pose;
}

struct IgtlDevice::Shared {
  IgtlSource source;
  RemoteCentre centre;
  IgtlClientParams params;
  glm::dmat4 registration{1.0};  // m
  bool calibrated = false;
  Wake wake;
  std::atomic<bool> stopping{false};
  std::thread thread;

  mutable std::mutex mutex;  // guards the members below
  glm::dmat4 matrix{1.0};    // m
  double grip = 1.0;
  Diathermy pedal = {};
  bool connected = false, heard = false;
  bool sound = true;  // the latest matrix was a possible tool pose
  Clock::time_point when;
  std::uint64_t poses = 0, refused = 0, failures = 0;
  std::vector<std::string> others;
  std::optional<glm::dmat4> sent;  // m, before the registration

  // Senders cut names at 19 or 20 bytes.
  bool means(std::string_view name) const {
    const std::string_view tool = source.tool;
    return tool.empty() || name == tool || (name.size() >= 19 && tool.starts_with(name));
  }

  void note_other(std::string_view name) {
    const std::lock_guard lock(mutex);
    if (others.size() < kMostOtherTools && std::ranges::find(others, name) == others.end()) others.emplace_back(name);
  }

  IgtlListener listener() {
    IgtlListener listener;
    listener.pose = [this](std::string_view name, const glm::dmat4& pose) {
      if (!means(name)) return note_other(name);
      const std::lock_guard lock(mutex);
      if (is_rotation(glm::dmat3(pose))) sent = pose;
      const glm::dmat4 registered = calibrated ? registration * pose : pose;
      sound = is_tool_pose(centre, registered);
      if (!sound) {
        ++refused;
        return;
      }
      matrix = registered;
      when = Clock::now();
      heard = true;
      ++poses;
    };
    listener.sensor = [this](std::string_view name, std::span<const double> values) {
      if (source.tool.empty() || !means(name)) return;
      const std::lock_guard lock(mutex);
      if (!values.empty()) grip = std::clamp(values[0], 0.0, 1.0);
      if (values.size() > 1)
        pedal = values[1] > 1.5 ? Diathermy::Coagulate : values[1] > 0.5 ? Diathermy::Cut : Diathermy::Off;
    };
    return listener;
  }

  // Receives until the server disconnects, does not follow the protocol, or the device is destroyed.
  void listen(const Descriptor& socket) {
    IgtlReader reader;
    const IgtlListener to = listener();
    std::array<std::byte, 4096> bytes;
    std::uint64_t refused_before = 0;
    for (bool well = true; well && !stopping;) {
      std::array<pollfd, 2> waiting{{{socket.number(), POLLIN, 0}, {wake.number(), POLLIN, 0}}};
      poll(waiting.data(), waiting.size(), -1);
      if (waiting[0].revents == 0) continue;
      const std::ptrdiff_t got = receive_some(socket, bytes);
      const bool understood = got <= 0 || reader.take(std::span(bytes).first(static_cast<std::size_t>(got)), to);
      well = got >= 0 && understood;
      const std::lock_guard lock(mutex);
      refused += reader.refused() - refused_before + (understood ? 0 : 1);
      refused_before = reader.refused();
    }
  }

  void set_connected(bool on) {
    const std::lock_guard lock(mutex);
    connected = on;
    failures = 0;
    others.clear();
    sent.reset();
    heard = false;
    sound = true;
    pedal = Diathermy::Off;
  }

  void run() {
    double pause = params.first_pause;
    while (!stopping) {
      {
        const Descriptor socket =
            connect_to(source.host, source.port, static_cast<int>(1e3 * params.connect_within), wake);
        if (socket.open()) {
          const Clock::time_point start = Clock::now();
          set_connected(true);
          listen(socket);
          set_connected(false);
          // Only a connection that lasted resets the pause, so a server that disconnects at once is not flooded.
          if (seconds_between(start, Clock::now()) > params.longest_pause) pause = params.first_pause;
        } else {
          const std::lock_guard lock(mutex);
          ++failures;
        }
      }
      pollfd waiting{wake.number(), POLLIN, 0};
      if (!stopping) poll(&waiting, 1, static_cast<int>(1e3 * pause));
      pause = std::min(2.0 * pause, params.longest_pause);
    }
  }
};

IgtlDevice::IgtlDevice(const IgtlSource& source, const HeldTool& tool, const IgtlClientParams& params)
    : shared_(std::make_unique<Shared>()),
      centre_(remote_centre(tool.pivot, tool.axis == glm::dvec3(0.0) ? tool.tip - tool.pivot : tool.axis)),
      limits_(tool.limits) {
  last_.pivot = tool.pivot;
  last_.tip = tool.tip;
  last_.roll_deg = tool.spin_deg;
  shared_->source = source;
  shared_->centre = centre_;
  shared_->params = params;
  shared_->calibrated = tool.registration != Registration{};
  shared_->registration = matrix_of(tool.registration);
  shared_->thread = std::thread([shared = shared_.get()] {
    run_guarded("The OpenIGTLink device", [shared] { shared->run(); });
    shared->set_connected(false);
  });
}

IgtlDevice::~IgtlDevice() {
  shared_->stopping = true;
  shared_->wake.ring();
  shared_->thread.join();
}

DevicePose IgtlDevice::pose(const FrameClock&) {
  glm::dmat4 matrix;
  {
    const std::lock_guard lock(shared_->mutex);
    const double age = seconds_between(shared_->when, Clock::now());
    health_ = !shared_->connected || !shared_->heard                 ? DeviceHealth::Lost
              : age > shared_->params.stale_after || !shared_->sound ? DeviceHealth::Stale
                                                                     : DeviceHealth::Good;
    if (health_ != DeviceHealth::Good) return last_;
    matrix = shared_->matrix;
    last_.grip = shared_->grip;
    last_.energy = shared_->pedal;
  }
  last_ = pose_from_matrix(centre_, limits_, matrix, last_);
  return last_;
}

std::uint64_t IgtlDevice::poses_heard() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->poses;
}

IgtlStatus IgtlDevice::status() const {
  const std::lock_guard lock(shared_->mutex);
  const bool heard = shared_->heard;
  return {shared_->connected, heard,
          shared_->sound,     heard ? seconds_between(shared_->when, Clock::now()) : 0.0,
          shared_->poses,     shared_->refused,
          shared_->failures,  shared_->others,
          shared_->sent};
}

std::uint64_t IgtlDevice::refused() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->refused;
}

}  // namespace trocar
