// trocar demo: the embedded scene with two scripted instruments. Leaves a recording, a comparison and a picture.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/commands/commands.hpp"
#include "app/device/script_device.hpp"
#include "app/session/session_recorder.hpp"
#include "app/session/session_report.hpp"
#include "app/support/data_folder.hpp"
#include "app/support/interrupt.hpp"
#include "app/support/output_file.hpp"
#include "app/support/progress.hpp"
#include "app/view/view.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

struct DemoCommand {
  std::size_t frames = 600;
  bool headless = false;
  std::string out = "out/demo", backend = "compute";
};

// The checks of the demonstration: a refitted tree on every frame, a tree built anew on every tenth.
const std::vector<CheckPlan> kChecks = {{"obb-refit", 1}, {"obb", 10}};

constexpr int kPictureWidth = 1280, kPictureHeight = 720;

void save_picture(const Session& session, const Scene& scene, Backends& backends, const std::filesystem::path& file) {
  GlContext* context = backends.context();
  if (!context) {
    fmt::print("no picture: no OpenGL on this machine ({})\n", backends.why_no_context());
    return;
  }
  std::vector<DrawnOrgan> organs;
  std::vector<DrawnTool> tools;
  drawn_organs(session, organs);
  drawn_tools(session, tools);
  View view(*context, organs);
  PictureTarget target(kPictureWidth, kPictureHeight);
  target.bind();
  view.draw(organs, tools, {scene.scope.eye, scene.scope.target, {0, 1, 0}, scene.scope.field_of_view_deg}, {},
            kPictureWidth, kPictureHeight);
  target.save_png(file);
}

void save_text(const std::filesystem::path& file, const std::string& text) {
  OutputFile out(file);
  out.stream() << text;
  out.commit();
}

// The picture is taken where the tools touch most.
struct BestFrame {
  std::uint32_t touched = 0;
  bool better(const Session& session) {
    if (session.touched() <= touched) return false;
    touched = session.touched();
    return true;
  }
};

void conclude(const Session& session, const CompareReport& report, std::uint64_t touched) {
  fmt::print("{}", compare_table(report));
  const BackendResult& own = report.backends.front();
  const double speedup = report.speedup_over_obb(own);
  fmt::print(
      "{} frames, {} touched faces, {} {:.1f} times faster than an OBB tree rebuilt each frame, {} disagreements\n",
      session.frames(), touched, own.name, speedup, session.disagreements());
}

void run(const DemoCommand& command) {
  const std::filesystem::path folder(command.out);
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const Scene scene = load_scene(data_file("scenes/liver_and_stomach.toml"));
  Backends backends;
  std::string backend = command.backend;
  if (!backends.context() && backend == "compute") {
    backend = "scan";
    fmt::print("no OpenGL on this machine ({}): the demonstration runs with scan\n", backends.why_no_context());
  }
  Session session(scene, backends, backend, kChecks, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip});
  });
  session.reserve_frames(command.frames);
  SessionRecorder recorder(folder / "session.h5", scene, session, gl_description(backends));
  catch_interrupts();
  const double dt = 1.0 / scene.frame_rate;
  std::uint64_t touched = 0;
  BestFrame best;
  {
    Progress progress("demo", command.frames);
    for (std::size_t frame = 0; frame < command.frames && !interrupted(); ++frame) {
      const double time = static_cast<double>(frame) * dt;
      session.step({frame, time}, dt);
      recorder.append(session, time);
      touched += session.touched();
      if (frame % 20 == 19 && best.better(session)) save_picture(session, scene, backends, folder / "picture.png");
      progress.advance_to(frame + 1);
    }
  }
  recorder.close();
  const CompareReport report = session_report(session, scene, gl_description(backends));
  save_text(folder / "compare.json", compare_json(report));
  save_text(folder / "compare.svg", compare_svg(report));
  fmt::print("session.h5, compare.json, compare.svg and picture.png are in {}\n", folder.string());
  conclude(session, report, touched);
  if (session.disagreements() > 0) throw RunError("the backends disagree; see the table above");
}

}  // namespace

void add_demo_command(CLI::App& program) {
  auto command = std::make_shared<DemoCommand>();
  CLI::App* sub = program.add_subcommand("demo", "The embedded scene: liver, stomach, two instruments");
  sub->add_option("--frames", command->frames, "Frames to run")->check(CLI::Range(1, 1000000))->capture_default_str();
  sub->add_flag("--headless", command->headless, "No window, even where there is a display");
  sub->add_option("--out", command->out, "Folder for what it leaves")->capture_default_str();
  sub->add_option("--backend", command->backend, "Backend whose answers drive the tissue")->capture_default_str();
  sub->callback([command] { run(*command); });
}

}  // namespace trocar
