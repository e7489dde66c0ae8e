// trocar demo: runs the embedded scene with two scripted instruments. Writes a recording, a report, a comparison of the
// backends (JSON and SVG) and a picture.
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "app/compare/compare.hpp"
#include "app/report/report.hpp"
#include "app/view/view.hpp"
#include "app/window/practice/hud.hpp"
#include "app/window/practice/plots.hpp"
#include "app/window/widgets/gui.hpp"
#include "app/window/widgets/help_panel.hpp"
#include "app/window/window.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/session/frame_cost.hpp"
#include "sim/support/files.hpp"
#include "sim/support/limits.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct DemoCommand {
  std::size_t frames = 600;
  bool headless = false;
  std::string out = "out/demo", backend = "compute", scene;
  std::size_t picture_every = 0;  // 0: only the best frame
  SceneAccess access;
};

// Cross-checks of the demonstration: a refitted tree on every frame, a rebuilt tree on every tenth frame.
const std::vector<CheckPlan> kChecks = {{"obb-refit", 1}, {"obb", 10}};

constexpr int kPictureWidth = 1280, kPictureHeight = 720;

// Draws the demonstration: in a window if there is a display, into picture files if there is OpenGL.
class DemoView {
 public:
  DemoView(const Scene& scene, const Session& session, Backends& backends, Window* window)
      : scene_(scene), session_(session), window_(window) {
    GlContext* context = backends.context();
    if (!context) return;
    picture_.emplace(*context, session);
    if (window) gui_.emplace(*window);
  }

  bool closed() const { return window_ && window_->closing(); }

  void show_frame() {
    if (!window_) return;
    const auto now = std::chrono::steady_clock::now();
    state_.frame_ms += 0.1 * (std::chrono::duration<double, std::milli>(now - last_).count() - state_.frame_ms);
    last_ = now;
    state_.in_hand = session_.instruments().size() + 1;  // no instrument is selected: scripts move all of them
    for (const Key key : window_->poll().pressed) {
      if (key == Key::F1) help_ = !help_;
      if (key == Key::H) plots_ = !plots_;
    }
    const auto drawing = Clock::now();
    draw(window_->size());
    draw_ms_ = milliseconds_since(drawing);
    history_.add(session_.stage_ms(), draw_ms_, state_.frame_ms);
    gui_->begin();
    hud_.draw(session_, state_);
    if (plots_) draw_plots(history_, session_);
    if (help_) help_ = draw_help(window_->input().keys(), true);
    gui_->end();
    window_->show();
  }

  void save_picture(const std::filesystem::path& file) {
    if (!picture_) return;
    PictureTarget target(kPictureWidth, kPictureHeight);
    target.bind();
    draw({kPictureWidth, kPictureHeight});
    target.save_png(file);
    PictureTarget::unbind();
  }

 private:
  void draw(const glm::ivec2& size) {
    SessionLook look;
    look.settings.time = static_cast<double>(session_.frames()) / scene_.frame_rate;
    picture_->draw(session_, look, size.x, size.y);
  }

  const Scene& scene_;
  const Session& session_;
  Window* window_;
  std::optional<SessionPicture> picture_;
  std::optional<Gui> gui_;
  Hud hud_;
  HudState state_;
  StageHistory history_;
  double draw_ms_ = 0.0;
  bool help_ = false, plots_ = true;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void save_text(const std::filesystem::path& file, const std::string& text, OutputKind kind) {
  OutputFile out(file, kind);
  out.stream() << text;
  out.commit();
}

// Finds the frame with the most touched faces among every 20th frame; picture.png shows it.
struct BestFrame {
  std::uint32_t touched = 0;
  bool better(const Session& session) {
    if (session.touched() <= touched) return false;
    touched = session.touched();
    return true;
  }
};

void conclude(const Session& session, const CompareReport& report) {
  fmt::print("{}", compare_table(report));
  fmt::print("{}\n", sample_sentence(session.sample()));
  const BackendResult &own = report.backends.front(), *obb = report.find("obb");
  std::string against = obb ? pace(own.total.median, obb->total.median) : "";
  if (!against.empty())
    against = fmt::format("{} {} {} an OBB tree rebuilt each frame, ", own.name, against,
                          against == "as fast" ? "as" : "than");
  fmt::print("{} frames, {} touched faces, {}{} disagreements\n", session.frames(), own.touched, against,
             session.disagreements());
}

std::string frame_picture(std::size_t frame) { return fmt::format("frame-{:05}.png", frame); }

// Checks the output files before the first frame. Only files of an earlier demonstration may be replaced.
void check_outputs(const DemoCommand& command, const Scene& scene) {
  const std::filesystem::path folder(command.out);
  const RecordingTarget target(folder / "session.h5");
  const std::pair<const char*, OutputKind> outputs[] = {{"compare.json", OutputKind::Json},
                                                        {"compare.svg", OutputKind::Plot},
                                                        {"report.html", OutputKind::Page},
                                                        {"picture.png", OutputKind::Picture}};
  for (const auto& [name, kind] : outputs) {
    refuse_foreign(folder / name, kind);
    refuse_same_files(files_of(scene), {{"--out", folder / name}});
  }
  refuse_same_files(files_of(scene), {{"--out", folder / "session.h5"}});
  for (std::size_t frame = 0; command.picture_every > 0 && frame < command.frames; frame += command.picture_every)
    refuse_foreign(folder / frame_picture(frame), OutputKind::Picture);
}

std::unique_ptr<Window> open_window(const DemoCommand& command, const Scene& scene) {
  std::string why;
  auto window = command.headless ? nullptr : Window::open("Trocar: " + scene.title, kPictureWidth, kPictureHeight, why);
  if (!window && !command.headless) fmt::print("off-screen: {}\n", why);
  return window;
}

// Replaces `compute`, the default, by scan when this machine has no OpenGL.
std::string backend_for(const DemoCommand& command, Backends& backends) {
  if (command.backend != "compute" || backends.context()) return command.backend;
  fmt::print("no OpenGL on this machine ({}): the demonstration uses scan and writes no picture\n",
             backends.why_no_context());
  return "scan";
}

void play(const DemoCommand& command, SessionLoop& loop, DemoView& view) {
  const Session& session = loop.session();
  const std::filesystem::path picture = std::filesystem::path(command.out) / "picture.png";
  BestFrame best;
  FaultTeller faults;
  Progress progress("demo", command.frames);
  const auto ends = [&] { return interrupted() || view.closed() || loop.failed(); };
  for (std::size_t frame = 0; frame < command.frames && !ends(); ++frame) {
    loop.step();
    faults.tell(session.backend_faults());
    view.show_frame();
    if (frame % 20 == 19 && best.better(session)) view.save_picture(picture);
    if (command.picture_every > 0 && frame % command.picture_every == 0)
      view.save_picture(std::filesystem::path(command.out) / frame_picture(frame));
    progress.advance_to(frame + 1);
  }
  if (best.touched == 0) view.save_picture(picture);
}

void run(const DemoCommand& command) {
  const std::filesystem::path folder(command.out);
  Scene scene = load_scene(
      command.scene.empty() ? data_file("scenes/liver_and_stomach.toml") : std::filesystem::path(command.scene),
      command.access);
  share_cores(scene);
  if (static_cast<double>(command.frames) / scene.frame_rate > kLongestSession)
    throw InputError(
        fmt::format("--frames {}: at {:g} frames a second they last longer than {:g} s (one day); ask for fewer",
                    command.frames, scene.frame_rate, kLongestSession));
  make_folder(folder);
  check_outputs(command, scene);
  const auto window = open_window(command, scene);
  Backends backends(window ? &window->context() : nullptr);
  LoopPlan plan{.backend = backend_for(command, backends), .checks = kChecks, .task = false};
  plan.device = [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  };
  SessionLoop loop(scene, backends, plan);
  Session& session = loop.session();
  tell_slow_scene(scene, session, 0.0);
  session.reserve_frames(command.frames);
  loop.record(recording_file(folder / "session.h5"), gl_description(backends));
  DemoView view(scene, session, backends, window.get());
  catch_interrupts();
  play(command, loop, view);
  loop.close();
  const CompareReport report = session_report(session, scene, gl_description(backends));
  save_text(folder / "compare.json", compare_json(report), OutputKind::Json);
  save_text(folder / "compare.svg", compare_svg(report), OutputKind::Plot);
  write_report({(folder / "session.h5").string()}, (folder / "report.html").string(), true);
  fmt::print("session.h5, report.html, compare.json, compare.svg and picture.png are in {}\n", folder.string());
  conclude(session, report);
  if (session.disagreements() > 0) throw RunError("the backends disagree; see the table above");
}

}  // namespace

void add_demo_command(Command& program) {
  auto command = std::make_shared<DemoCommand>();
  Command& sub = program.command("demo", "Run the embedded scene: liver, stomach, two instruments");
  sub.option("--frames", command->frames, "Frames to run").within(1, 1e6).shown();
  sub.option("--headless", command->headless, "Open no window, even if there is a display");
  sub.option("-o,--out", command->out, "Folder for the output files").shown();
  sub.option("--backend", command->backend, "Backend whose answers drive the tissue").shown();
  sub.option("--scene", command->scene, "Run another scene; its scripts move the instruments");
  sub.option("--pictures", command->picture_every,
             "Save a picture every N frames; 0: only of the frame with the most touched faces")
      .within(0, 1e6)
      .shown();
  add_access_option(sub, command->access);
  sub.runs([command] { run(*command); });
}

}  // namespace trocar
