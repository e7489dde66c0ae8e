// Makes a recording by formula, with metrics computed by hand: the left tool makes a minimum-jerk movement of 100 mm
// along x from 0.5 s to 2.5 s, the right one does not move. Units: metres, seconds, newtons, pascals.
#pragma once

#include <string>

#include "sim/hdf5/recorder.hpp"
#include "sim/session/organ.hpp"
#include "tests/sim/score/score_support.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::test {

// Intervals are (after, to].
inline bool between(double t, double after, double to) { return t > after + 1e-9 && t < to + 1e-9; }

struct FormulaSession {
  double rate = 60.0, duration = 4.0;
  std::string task;                           // appended to the scene
  double hidden_from = 9.0, hidden_to = 9.0;  // s   an organ hides the right tip
  TriangleMesh mesh = shapes::icosphere(1, 0.02f, {0.f, 0.f, -0.1f});
  TissueModel tissue = make_tissue(mesh.view(), {}, {});

  RecordingHeader header() const {
    RecordingHeader header;
    header.scene_text = "schema = 2\ntitle = \"Formula\"\n[[organ]]\nname = \"liver\"\nmesh = \"m.obj\"\n" +
                        instrument("left") + instrument("right") + task;
    header.version = "1";
    header.machine = "paper";
    header.backend = "scan";
    header.mode = "swept";
    header.cover = "capsule";
    header.date = "2026-01-31";
    header.organs = {{"liver", &mesh, &tissue}};
    header.tools = {"left", "right"};
    header.tool_radius = {0.0025, 0.0025};
    header.stages = {"query"};
    return header;
  }

  static std::string instrument(const std::string& name) {
    return "[[instrument]]\nname = \"" + name + "\"\npivot_mm = [-300, 0, 0]\ntip_mm = [0, 0, 0]\nradius_mm = 2.5\n";
  }

  std::size_t frames() const { return static_cast<std::size_t>(std::lround(duration * rate)) + 1; }

  void append(Recorder& recorder, std::size_t frame) const {
    const double t = static_cast<double>(frame) / rate;
    const ToolPose poses[] = {{{-0.3, 0.0, 0.0}, minimum_jerk({0.1, 0.0, 0.0}, 2.0, 0.5)(t), 0.0025},
                              {{-0.3, 0.0, 0.0}, {0.0, 0.01, 0.0}, 0.0025}};
    const glm::dvec2 roll_grip[2] = {};
    const glm::vec3 forces[] = {between(t, 1.0, 2.0) ? glm::vec3(0.f, 3.f, 0.f) : glm::vec3(0.f), {0.f, 0.f, 0.5f}};
    const bool pressed = between(t, 1.0, 1.5);
    const Touch touch{FaceId{3}, {}, {0.f, 0.f, 1.f}, 0.001f, 0.f};
    const std::uint32_t first[] = {0, pressed, pressed};
    const float pressure[] = {t < 1.25 ? 150e3f : 200e3f};
    const FaceId burnt[] = {FaceId{10}}, torn[] = {FaceId{11}, FaceId{12}};
    RecordedChange change;
    if (at(frame, 1.75)) change.removed = burnt;
    if (at(frame, 3.0)) change.removed = torn;
    const RecordedOrganFrame organ{tissue.rest,
                                   {std::span(&touch, pressed), first},
                                   {},
                                   std::span(pressure).first(pressed),
                                   change.removed.empty() ? nullptr : &change};
    const std::uint8_t energy[] = {0, between(t, 1.5, 2.0)};
    const RecordedClash clash{0, 1, clashes(t) ? -0.001f : 0.004f, {}};
    const float tip_depth[] = {0.f, between(t, 2.0, 2.5) ? 0.002f : 0.f};
    const ToolState states[] = {between(t, 3.0, 3.25) ? ToolState::Lost : ToolState::Good, ToolState::Good};
    const float stage_ms[] = {0.1f};
    RecordedFrame recorded{t,        poses,  roll_grip, std::span(&organ, 1), forces,
                           stage_ms, 0,      energy,    std::span(&clash, 1), tip_depth,
                           states,   scope()};
    recorded.hidden.tips = between(t, hidden_from, hidden_to) ? 2 : 0;
    recorder.append(recorded);
  }

  void record(const std::filesystem::path& file) const {
    Recorder recorder(file, header());
    for (std::size_t frame = 0; frame < frames(); ++frame) append(recorder, frame);
    recorder.close();
  }

  // Looks down at the tips from 0.1 m: at this depth a half height is 0.1 tan 30 = 57.7 mm.
  static ScopePose scope() { return {{0.0, 0.0, 0.3}, {0.0, 0.0, 0.1}, 0.0, 0.0, 60.0}; }

 private:
  bool at(std::size_t frame, double t) const { return frame == static_cast<std::size_t>(std::lround(t * rate)); }
  // Twice with a gap too short to separate, and once more.
  static bool clashes(double t) { return between(t, 0.5, 0.75) || between(t, 0.8, 0.9) || between(t, 2.0, 2.1); }
};

}  // namespace trocar::test
