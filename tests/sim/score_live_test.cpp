// Tests that metrics computed during a session, without the scoring code, equal those scored from its recording.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/compare/backends.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr std::size_t kFrames = 240;

struct LiveMetrics {
  double peak_force = 0.0, impulse = 0.0, collision_time = 0.0;
  float peak_pressure = 0.f;
  std::size_t burnt = 0, torn = 0;

  void look(const Session& session, double dt) {
    bool burns = false, collides = false;
    for (const Instrument& instrument : session.instruments()) {
      const double force = glm::length(glm::dvec3(instrument.force));
      peak_force = std::max(peak_force, force);
      impulse += force * dt;
      burns = burns || instrument.energy != Diathermy::Off;
    }
    for (const InstrumentClash& clash : session.clashes()) collides = collides || clash.distance < 0.0;
    if (collides) collision_time += dt;
    for (const Organ& organ : session.organs()) {
      for (const float pressure : organ.touch_pressure) peak_pressure = std::max(peak_pressure, pressure);
      (burns ? burnt : torn) += organ.change.removed.size();
    }
  }
};

double value(const Attempt& attempt, const std::string& id) {
  for (const Metric& metric : attempt.overall)
    if (metric.id == id) return metric.value;
  ADD_FAILURE() << "no " << id;
  return 0.0;
}

TEST(ScoreLive, EqualsTheScoreOfTheRecording) {
  const TemporaryFolder folder;
  save_mesh(shapes::icosphere(4, 0.05f), folder.path() / "ball.obj");
  const auto instrument = [](const char* name, const char* kind, const char* script, int x) {
    return fmt::format(
        "[[instrument]]\nname = \"{}\"\nkind = \"{}\"\nscript = \"{}\"\ndevice = \"script\"\nradius_mm = 2.5\n"
        "pivot_mm = [{}, 0, 150]\ntip_mm = [{}, 0, 49]\n",
        name, kind, script, 4 * x, x);
  };
  const Scene scene = load_scene(folder.write(
      "s.toml",
      "title = \"Ball\"\n[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm = 10\n"
      "[[organ.attachment]]\ncentre_mm = [0, 0, -45]\nradius_mm = 20\n" +
          instrument("hook", "hook", "burn", -5) + instrument("probe", "probe", "press", 6)));
  Backends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& i) {
    return make_script_device({i.pivot, i.tip, i.script, 0.012, 0.008, 2.0});
  });
  const auto file = folder.path() / "s.h5";
  LiveMetrics live;
  {
    SessionRecorder recorder(recording_file(file), scene, session, "none");
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      const double t = static_cast<double>(frame) * kFrame;
      session.step({frame, t}, kFrame);
      recorder.append(session, t);
      live.look(session, frame == 0 ? 0.0 : t - static_cast<double>(frame - 1) * kFrame);
    }
    recorder.close();
  }
  const Attempt attempt = score_recording(Recording(file), "s.h5");
  EXPECT_EQ(value(attempt, "peak_force"), live.peak_force);
  EXPECT_NEAR(value(attempt, "force_integral"), live.impulse, 1e-12 * live.impulse);
  EXPECT_EQ(value(attempt, "peak_pressure"), static_cast<double>(live.peak_pressure) * 1e-3);
  EXPECT_EQ(value(attempt, "faces_burnt"), static_cast<double>(live.burnt));
  EXPECT_EQ(value(attempt, "faces_torn"), static_cast<double>(live.torn));
  EXPECT_EQ(value(attempt, "collision_time"), live.collision_time);
  EXPECT_GT(live.burnt, 10u);
  EXPECT_GT(live.peak_force, 0.1);
  EXPECT_EQ(attempt.scene_title, "Ball");
}

}  // namespace
}  // namespace trocar
