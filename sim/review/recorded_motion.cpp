#include "sim/review/recorded_motion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"

namespace trocar {
namespace {

std::size_t tool_number(const Recording& recording, const std::filesystem::path& file, const std::string& tool,
                        const std::string& fallback) {
  const std::vector<std::string>& tools = recording.tools();
  const auto found = std::find(tools.begin(), tools.end(), tool.empty() ? fallback : tool);
  if (found != tools.end()) return static_cast<std::size_t>(found - tools.begin());
  if (tool.empty() && tools.size() == 1) return 0;
  throw InputError(fmt::format("{}: the recording has no instrument '{}'; set source to one of: {}", file.string(),
                               tool.empty() ? fallback : tool, fmt::join(tools, ", ")));
}

}  // namespace

Trajectory load_motion(const std::filesystem::path& file, const std::string& tool, const std::string& fallback) {
  if (file.extension() != ".h5") return load_trajectory(file);
  const Recording recording(file);
  const std::size_t number = tool_number(recording, file, tool, fallback);
  Trajectory motion;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const ToolPose pose = recording.pose(frame, number);
    const glm::dvec2 roll_grip = recording.roll_grip(frame, number);
    motion.rows.push_back(
        {recording.times()[frame], pose.pivot, pose.tip, roll_grip.x, roll_grip.y, recording.energy(frame, number)});
  }
  return motion;
}

Trajectory load_scope_motion(const std::filesystem::path& file) {
  const Recording recording(file);
  Trajectory motion;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const auto pose = recording.scope(frame);
    if (!pose)
      throw InputError(
          fmt::format("{}: the recording has no motion of the scope; make a new recording", file.string()));
    motion.rows.push_back({recording.times()[frame], pose->port, pose->eye, pose->spin_deg, 1.0, Diathermy::Off});
  }
  return motion;
}

}  // namespace trocar
