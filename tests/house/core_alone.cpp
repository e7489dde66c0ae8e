// A program of the simulator's core alone: a scene from text, an organ from an OBJ file, a scripted hook, a recording
// in memory, a task's marks and a score, a curriculum. It links no HDF5, VTK, OpenGL, window or sockets:
// tests/house/CMakeLists.txt looks.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sim/course/course_progress.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/score/motion.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "sim/task/session_observer.hpp"

namespace {

using namespace trocar;

// A cube of 60 mm, in millimetres.
constexpr const char* kCube =
    "v -30 -30 -30\nv 30 -30 -30\nv -30 30 -30\nv 30 30 -30\nv -30 -30 30\nv 30 -30 30\nv -30 30 30\nv 30 30 30\n"
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

constexpr const char* kScene =
    "[[organ]]\nname = \"cube\"\nmesh = \"cube.obj\"\n[organ.tissue]\nnode_spacing_mm = 10\n[[organ.attachment]]\n"
    "centre_mm = [0, 0, -30]\nradius_mm = 40\n[[instrument]]\nname = \"hook\"\nkind = \"hook\"\npivot_mm = [0, 20, "
    "150]\ntip_mm = [0, 0, 29]\nradius_mm = 3\ndevice = \"script\"\nscript = \"burn\"\n";

struct Counted {
  std::size_t frames = 0, touches = 0;
};

class CountingSink final : public RecordSink {
 public:
  explicit CountingSink(Counted& counted) : counted_(counted) {}
  void append(const RecordedFrame& frame) override {
    ++counted_.frames;
    for (const RecordedOrganFrame& organ : frame.organs) counted_.touches += organ.touches.touches.size();
  }
  bool failed() const noexcept override { return false; }
  std::string failure() const override { return {}; }
  void set_ending(Ending) override {}
  void close() override {}

 private:
  Counted& counted_;
};

}  // namespace

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "trocar_core_alone";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "cube.obj") << kCube;
  std::ofstream(folder / "scene.toml") << "schema = 2\n" << kScene;
  const Scene scene = load_scene(folder / "scene.toml");
  CpuBackends backends;
  Session session(scene, backends, "scan", {{"scan", 1}}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  });
  Counted counted;
  SessionRecorder recorder([&](const RecordingHeader&) { return std::make_unique<CountingSink>(counted); }, scene,
                           session, "none");
  SessionObserver observer;
  TrackSamples motion;
  for (std::size_t frame = 0; frame < 90; ++frame) {
    const double time = static_cast<double>(frame) / 60.0;
    session.step({frame, time}, 1.0 / 60.0);
    recorder.append(session, time);
    const SeenTool& seen = observer.observe(session, time).tools[0];
    motion.add(time, seen.pose.tip, seen.pose.pivot, seen.roll_deg);
  }
  const Track track = track_of(motion);
  std::printf("%zu frames, %zu touched faces, %llu disagreements, %.2f s of motion, block of %zu bytes\n",
              counted.frames, counted.touches, static_cast<unsigned long long>(session.disagreements()),
              track.duration(), session.save().size());
  const Curriculum curriculum = parse_curriculum(
      "title = \"cube\"\n[[step]]\nname = \"burn\"\nscene = \"scene.toml\"\n", folder / "curriculum.toml");
  const bool open = course_progress(curriculum, {}, 0.0)[0].state == StepState::Open;
  std::filesystem::remove_all(folder);
  return counted.frames == 90 && counted.touches > 0 && session.disagreements() == 0 && open ? 0 : 1;
}
