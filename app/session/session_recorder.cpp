#include "app/session/session_recorder.hpp"

#include <chrono>

#include "app/compare/compare.hpp"
#include "app/support/machine.hpp"

namespace trocar {

RecordingHeader SessionRecorder::header_of(const Scene& scene, const Session& session, const std::string& gl) {
  RecordingHeader header;
  header.scene_text = scene.text;
  header.version = kVersion;
  header.machine = machine_description();
  header.gl = gl;
  header.backend = session.backend().name;
  header.mode = name_of(scene.query.mode);
  header.cover = name_of(scene.query.cover);
  header.date = today();
  header.frame_rate = scene.frame_rate;
  for (const auto& organ : session.organs()) header.organs.push_back({organ.name, &organ.mesh, &organ.tissue});
  for (const auto& instrument : session.instruments()) {
    header.tools.push_back(instrument.name);
    header.tool_radius.push_back(instrument.radius);
  }
  header.stages = stage_names();
  return header;
}

SessionRecorder::SessionRecorder(const std::filesystem::path& file, const Scene& scene, const Session& session,
                                 const std::string& gl)
    : recorder_(file, header_of(scene, session, gl)),
      poses_(session.instruments().size()),
      roll_grip_(session.instruments().size()),
      organs_(session.organs().size()),
      forces_(session.instruments().size()) {}

void SessionRecorder::append(Session& session, double time) {
  const auto start = std::chrono::steady_clock::now();
  session.set_stage_ms(kRecord, last_append_ms_);
  for (std::size_t tool = 0; tool < poses_.size(); ++tool) {
    const Instrument& instrument = session.instruments()[tool];
    poses_[tool] = instrument.pose;
    roll_grip_[tool] = {instrument.roll_deg, instrument.grip};
    forces_[tool] = instrument.force;
  }
  for (std::size_t organ = 0; organ < organs_.size(); ++organ) {
    organs_[organ] = {session.queried_nodes(organ), session.organs()[organ].touches};
  }
  recorder_.append({time, poses_, roll_grip_, organs_, forces_, session.stage_ms(), session.disagreements_now()});
  last_append_ms_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace trocar
