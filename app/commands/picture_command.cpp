// trocar picture: draws frames of a recording, or a scene, as the scope sees them, without a window.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/commands/scene_picture.hpp"
#include "app/compare/backends.hpp"
#include "app/view/view.hpp"
#include "app/window/replay/replay_scene.hpp"
#include "geometry/error.hpp"
#include "sim/support/output_file.hpp"

namespace trocar {
namespace {

struct PictureCommand {
  std::string recording, out = "pictures";
  double from = 0.0, to = 1e9, every = 1.0;  // s
  int width = 1280, height = 720;
  SceneAccess access;
};

std::string picture_name(double time) { return fmt::format("{:08.2f}s.png", time); }

// Returns the frames nearest to the wanted times.
std::vector<std::size_t> frames_at(const Recording& recording, const PictureCommand& command) {
  const std::vector<double>& times = recording.times();
  std::vector<std::size_t> frames;
  for (double time = command.from; time <= std::min(command.to, times.back()); time += command.every) {
    const auto at = std::lower_bound(times.begin(), times.end(), time);
    frames.push_back(std::min(static_cast<std::size_t>(at - times.begin()), times.size() - 1));
  }
  if (frames.empty()) throw InputError(fmt::format("--from: the recording ends at {:.2f} s", times.back()));
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

void draw_pictures(const PictureCommand& command) {
  Backends backends;
  GlContext* context = backends.context();
  if (!context) throw InputError("picture needs OpenGL, which this machine does not have; see trocar doctor");
  if (std::filesystem::path(command.recording).extension() == ".toml") return draw_scene(command, backends);
  ReplayScene scene(command.recording);
  const std::vector<std::size_t> frames = frames_at(scene.recording(), command);
  const std::filesystem::path folder = command.out;
  std::filesystem::create_directories(folder);
  for (const std::size_t frame : frames)
    refuse_foreign(folder / picture_name(scene.recording().times()[frame]), OutputKind::Picture);
  scene.load(frames.front());
  View view(*context, scene.organs());
  PictureTarget target(command.width, command.height);
  for (const std::size_t frame : frames) {
    scene.load(frame);
    ViewSettings settings;
    settings.time = scene.recording().times()[frame];
    target.bind();
    view.draw(scene.organs(), scene.tools(), scene.bonds(), scene.scope(), scene.lens(), {}, settings, command.width,
              command.height);
    target.save_png(folder / picture_name(settings.time));
    PictureTarget::unbind();
  }
  fmt::print("{} pictures are in {}\n", frames.size(), folder.string());
}

}  // namespace

void add_picture_command(CLI::App& program) {
  auto command = std::make_shared<PictureCommand>();
  CLI::App* sub =
      program.add_subcommand("picture", "Draw frames of a recording, or a scene, as the scope sees them: .png");
  sub->add_option("recording", command->recording, "Recording: .h5; or a scene: .toml, one picture at the time --from")
      ->required();
  sub->add_option("-o,--out", command->out, "Folder for the pictures")->capture_default_str();
  sub->add_option("--from", command->from, "Time of the first picture, s")
      ->check(within(0, 1e6))
      ->capture_default_str();
  sub->add_option("--to", command->to, "Time of the last picture, s")->check(within(0, 1e9));
  sub->add_option("--every", command->every, "Time between pictures, s")
      ->check(within(0.01, 1e6))
      ->capture_default_str();
  sub->add_option("--width", command->width, "Width, pixels")->check(within(16, 8192))->capture_default_str();
  sub->add_option("--height", command->height, "Height, pixels")->check(within(16, 8192))->capture_default_str();
  add_access_option(*sub, command->access);
  sub->callback([command] { draw_pictures(*command); });
}

}  // namespace trocar
