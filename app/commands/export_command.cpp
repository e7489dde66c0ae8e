// trocar export: writes a recording as CSV tables, as a time series for ParaView, as pictures and as a film; a scene as
// one picture. Units: millimetres, newtons, pascals. Faces are given by id; a face keeps its id throughout the session.
// Tested in tests/app/files_test.cpp and film_test.cpp
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "app/report/pvd.hpp"
#include "app/view/view.hpp"
#include "app/window/replay/film.hpp"
#include "app/window/replay/recorded_pictures.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "gpu_collision/gl_context.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct ScenePicture {
  double time = 0.0;               // s   of the session; at most the end of the task
  int width = 1280, height = 720;  // pixels; the view fills them, without the scope's round edge
};

void draw_session(const Session& session, const TaskRun* task, const ScenePicture& picture, double time,
                  const std::filesystem::path& file, GlContext& context) {
  SessionPicture drawn(context, session);
  PictureTarget target(picture.width, picture.height);
  SessionLook look{.task = task};
  look.settings.round_field = false;
  look.settings.time = time;
  target.bind();
  drawn.draw(session, look, picture.width, picture.height);
  target.save_png(file);
  PictureTarget::unbind();
}

void draw_task(const Scene& scene, const ScenePicture& picture, const std::filesystem::path& file, Backends& backends) {
  PerformedSession performed(scene, style_of(Skill::Expert), 1, backends, "scan");
  do performed.step();
  while (performed.time() < picture.time && !performed.task().feed().finished);
  draw_session(performed.session(), &performed.task(), picture, performed.time(), file, *backends.context());
}

void draw_scripts(const Scene& scene, const ScenePicture& picture, const std::filesystem::path& file,
                  Backends& backends) {
  LoopPlan plan{.backend = "scan", .task = false};
  plan.device = [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  };
  SessionLoop loop(scene, backends, plan);
  const auto frames = static_cast<std::uint64_t>(std::floor(picture.time * scene.frame_rate));
  for (std::uint64_t frame = 0; frame <= frames; ++frame) loop.step();
  draw_session(loop.session(), nullptr, picture, loop.time(), file, *backends.context());
}

// Writes the picture as PNG. Throws the errors of Session, and InputError when the file cannot be written.
void draw_scene_picture(const Scene& scene, const ScenePicture& picture, const std::filesystem::path& file,
                        Backends& backends) {
  if (scene.task)
    draw_task(scene, picture, file, backends);
  else
    draw_scripts(scene, picture, file, backends);
}

struct PictureCommand {
  std::string recording, out = "pictures";
  double from = 0.0, to = 1e9, every = 1.0;  // s
  int width = 1280, height = 720;
  SceneAccess access;
};

std::string picture_name(double time) { return fmt::format("{:08.2f}s.png", time); }

std::vector<std::size_t> frames_at(const RecordedPictures& pictures, const PictureCommand& command) {
  std::vector<std::size_t> frames;
  for (double time = command.from; time <= std::min(command.to, pictures.end()); time += command.every)
    frames.push_back(pictures.frame_at(time));
  if (frames.empty()) throw InputError(fmt::format("--from: the recording ends at {:.2f} s", pictures.end()));
  return frames;
}

// One picture of a scene, named as the scene's file.
void draw_scene(const PictureCommand& command, Backends& backends) {
  const Scene scene = load_scene(command.recording, command.access);
  const auto file = std::filesystem::path(command.out) / (scene.file.stem().string() + ".png");
  refuse_same_files(files_of(scene), {{"--out", file}});
  std::filesystem::create_directories(command.out);
  refuse_foreign(file, OutputKind::Picture);
  draw_scene_picture(scene, {command.from, command.width, command.height}, file, backends);
  fmt::print("{}\n", file.string());
}

GlContext& context_for(const char* what, Backends& backends) {
  GlContext* context = backends.context();
  if (!context)
    throw InputError(fmt::format("{} needs OpenGL, which this machine does not have; see trocar doctor", what));
  return *context;
}

void draw_pictures(const PictureCommand& command) {
  Backends backends;
  GlContext& context = context_for("picture", backends);
  if (std::filesystem::path(command.recording).extension() == ".toml") return draw_scene(command, backends);
  RecordedPictures pictures(command.recording, context, command.width, command.height);
  const std::vector<std::size_t> frames = frames_at(pictures, command);
  const std::filesystem::path folder = command.out;
  std::filesystem::create_directories(folder);
  const auto file_of = [&](std::size_t frame) { return folder / picture_name(pictures.time_of(frame)); };
  for (const std::size_t frame : frames) refuse_foreign(file_of(frame), OutputKind::Picture);
  for (const std::size_t frame : frames) pictures.draw(frame).save_png(file_of(frame));
  fmt::print("{} pictures are in {}\n", frames.size(), folder.string());
}

void add_picture_command(Command& exporting) {
  auto command = std::make_shared<PictureCommand>();
  Command& sub = exporting.command("picture", "Draw frames of a recording, or a scene, as the scope sees them: .png");
  sub.option("recording", command->recording, "Recording: .h5; or a scene: .toml, one picture at the time --from")
      .required();
  sub.option("-o,--out", command->out, "Folder for the pictures").shown();
  sub.option("--from", command->from, "Time of the first picture, s").within(0, 1e6).shown();
  sub.option("--to", command->to, "Time of the last picture, s").within(0, 1e9);
  sub.option("--every", command->every, "Time between pictures, s").within(0.01, 1e6).shown();
  sub.option("--width", command->width, "Width, pixels").within(16, 8192).shown();
  sub.option("--height", command->height, "Height, pixels").within(16, 8192).shown();
  add_access_option(sub, command->access);
  sub.runs([command] { draw_pictures(*command); });
}

constexpr const char* kFilmQualities[] = {"low", "medium", "high"};

struct FilmCommand {
  std::string recording, out, quality = "auto";
  FilmPlan plan;
  bool percent = false;
};

// Shows how far a film is: for a person, or as lines for a program.
class FilmProgress {
 public:
  explicit FilmProgress(bool lines) : lines_(lines) {}

  void show(std::size_t done, std::size_t all) {
    if (!lines_) {
      if (done == 0) return;  // the score is computed
      if (!progress_) progress_.emplace("film", all);
      return progress_->advance_to(done);
    }
    const auto percent = static_cast<int>(100 * done / all);
    if (percent == std::exchange(shown_, percent)) return;
    fmt::print("{} %\n", percent);
    std::fflush(stdout);
  }

 private:
  bool lines_;
  std::optional<Progress> progress_;
  int shown_ = -1;
};

void make_film(const FilmCommand& command) {
  refuse_same_files({{"the recording", command.recording}}, {{"--out", command.out}});
  Backends backends;
  GlContext& context = context_for("film", backends);
  catch_interrupts();
  const auto begin = Clock::now();
  FilmPlan plan = command.plan;
  if (command.quality != "auto")
    plan.quality = static_cast<Quality>(std::ranges::find(kFilmQualities, command.quality) - kFilmQualities);
  FilmSummary film;
  {
    FilmProgress progress(command.percent);
    film = write_film(command.recording, command.out, plan, context, [&](std::size_t done, std::size_t all) {
      progress.show(done, all);
      return !interrupted();
    });
  }
  const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
  fmt::print("{}: {:.1f} s, {} pictures of {} x {}, {:.1f} MB, made in {:.1f} s\n", command.out, film.duration,
             film.pictures, plan.width, plan.height,
             1e-6 * static_cast<double>(std::filesystem::file_size(command.out)), spent);
}

void add_film_command(Command& exporting) {
  auto command = std::make_shared<FilmCommand>();
  FilmPlan& plan = command->plan;
  Command& sub = exporting.command(
      "film", "Make a film of a recording, as the scope saw it, with score, events and timeline: .mp4; needs ffmpeg");
  sub.option("recording", command->recording, "Recording: .h5").required();
  sub.option("-o,--out", command->out, "The film: .mp4").required();
  sub.option("--from", plan.from, "Begin at this time of the recording, s").within(0, 1e6).shown();
  sub.option("--to", plan.to, "End at this time of the recording, s").within(0, 1e9);
  sub.option("--speed", plan.speed, "Seconds of the recording in a second of the film").within(0.05, 100).shown();
  sub.option("--fps", plan.rate, "Pictures a second").within(1, 60).shown();
  sub.option("--width", plan.width, "Width, pixels; an even number").within(64, 4096).shown();
  sub.option("--height", plan.height, "Height, pixels; an even number").within(64, 4096).shown();
  sub.option("--quality", command->quality, "Quality of the pictures: auto, low, medium or high")
      .one_of({"auto", "low", "medium", "high"})
      .shown();
  sub.option("--plain", plan.plain, "The scope's picture alone, without text and timeline");
  sub.option("--percent", command->percent, "Print each percent on a line, for a program that shows it");
  sub.runs([command] { make_film(*command); });
}

struct Tables {
  OutputFile tools, touches, clashes, stages;

  explicit Tables(const std::filesystem::path& folder)
      : tools(folder / "tools.csv", OutputKind::Table),
        touches(folder / "touches.csv", OutputKind::Table),
        clashes(folder / "clashes.csv", OutputKind::Table),
        stages(folder / "stages.csv", OutputKind::Table) {}
};

void write_headers(Tables& tables, const Recording& recording) {
  tables.tools.stream() << "frame,t,tool,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z,roll_deg,grip,"
                           "force_x,force_y,force_z,energy,tip_depth_mm\n";
  tables.clashes.stream() << "frame,t,first,second,distance_mm,point_x,point_y,point_z\n";
  tables.touches.stream() << "frame,t,organ,tool,face,point_x,point_y,point_z,normal_x,normal_y,normal_z,"
                             "depth_mm,time,pressure_pa\n";
  fmt::print(tables.stages.stream(), "frame,t,{}_ms,disagreements\n", fmt::join(recording.stages(), "_ms,"));
}

void write_tools(std::ostream& out, const Recording& recording, std::size_t frame) {
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) {
    const ToolPose pose = recording.pose(frame, tool);
    const glm::dvec3 pivot = pose.pivot * 1e3, tip = pose.tip * 1e3;
    const glm::dvec2 roll_grip = recording.roll_grip(frame, tool);
    const glm::vec3 force = recording.force(frame, tool);
    fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", frame, recording.times()[frame],
               csv_text(recording.tools()[tool]), pivot.x, pivot.y, pivot.z, tip.x, tip.y, tip.z, roll_grip.x,
               roll_grip.y, force.x, force.y, force.z, static_cast<int>(recording.energy(frame, tool)),
               recording.tip_depth(frame, tool) * 1e3f);
  }
}

// Pairs of tools whose bounding boxes overlap in the frame.
void write_clashes(std::ostream& out, const Recording& recording, std::size_t frame) {
  for (std::size_t first = 0; first < recording.tools().size(); ++first)
    for (std::size_t second = first + 1; second < recording.tools().size(); ++second) {
      const auto clash = recording.clash(frame, first, second);
      if (!clash) continue;
      const glm::vec3 point = clash->point * 1e3f;
      fmt::print(out, "{},{},{},{},{},{},{},{}\n", frame, recording.times()[frame], csv_text(recording.tools()[first]),
                 csv_text(recording.tools()[second]), clash->distance * 1e3f, point.x, point.y, point.z);
    }
}

void write_touches(std::ostream& out, const Recording& recording, std::size_t frame, std::size_t organ,
                   const OrganFrame& content) {
  for (std::size_t tool = 0; tool + 1 < content.first.size(); ++tool) {
    for (std::uint32_t k = content.first[tool]; k < content.first[tool + 1]; ++k) {
      const Touch& touch = content.touches[k];
      const glm::vec3 point = touch.point * 1e3f;
      fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", frame, recording.times()[frame],
                 csv_text(recording.organs()[organ].name), csv_text(recording.tools()[tool]), index(touch.face),
                 point.x, point.y, point.z, touch.normal.x, touch.normal.y, touch.normal.z, touch.depth * 1e3f,
                 touch.time, content.pressure[k]);
    }
  }
}

void write_stages(std::ostream& out, const Recording& recording, std::size_t frame) {
  fmt::print(out, "{},{}", frame, recording.times()[frame]);
  for (std::size_t stage = 0; stage < recording.stages().size(); ++stage) {
    fmt::print(out, ",{}", recording.stage_ms(frame, stage));
  }
  fmt::print(out, ",{}\n", recording.disagreements(frame));
}

void write_tables(const Recording& recording, const std::filesystem::path& folder) {
  Tables tables(folder);
  write_headers(tables, recording);
  OrganFrame content;
  Progress progress("export", recording.frame_count());
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    write_tools(tables.tools.stream(), recording, frame);
    write_clashes(tables.clashes.stream(), recording, frame);
    for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
      recording.read_frame(frame, organ, content);
      write_touches(tables.touches.stream(), recording, frame, organ, content);
    }
    write_stages(tables.stages.stream(), recording, frame);
    progress.advance_to(frame + 1);
  }
  for (OutputFile* table : {&tables.tools, &tables.touches, &tables.clashes, &tables.stages}) table->commit();
  fmt::print("{} frames written to tools.csv, touches.csv, clashes.csv and stages.csv in {}\n", recording.frame_count(),
             folder.string());
}

void write_series(const Recording& recording, const std::filesystem::path& folder, std::size_t every) {
  PvdSummary summary;
  {
    Progress progress("export", recording.frame_count());
    summary = export_pvd(recording, folder, every, [&](std::size_t frames) { progress.advance_to(frames); });
  }
  fmt::print("{} frames written to {} files, listed in {}\n", summary.frames, summary.files,
             (folder / "recording.pvd").string());
}

struct ExportOptions {
  std::string file, csv, pvd;
  std::size_t every = 1;
};

void run(const ExportOptions& options) {
  if (options.csv.empty() && options.pvd.empty())
    throw InputError("export: nothing to write; name a folder with --csv or --pvd");
  const Recording recording(options.file);
  for (const std::string& folder : {options.csv, options.pvd})
    if (!folder.empty()) make_folder(folder);
  if (!options.csv.empty()) write_tables(recording, options.csv);
  if (!options.pvd.empty()) write_series(recording, options.pvd, options.every);
}

}  // namespace

void add_export_command(Command& program) {
  auto options = std::make_shared<ExportOptions>();
  Command& sub = program.command("export", "Export a recording as tables, for ParaView, as pictures or as a film");
  sub.option("recording", options->file, "Recording: .h5").required();
  sub.option("--csv", options->csv, "Folder for tools.csv, touches.csv, clashes.csv and stages.csv");
  sub.option("--pvd", options->pvd, "Folder for recording.pvd and the files that it lists");
  sub.option("--every", options->every, "With --pvd: only every N-th frame").within(1, 1e6);
  sub.runs([options] { run(*options); });
  add_picture_command(sub);
  add_film_command(sub);
}

}  // namespace trocar
