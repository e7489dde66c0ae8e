// trocar run: an interactive session in a window.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/commands/commands.hpp"
#include "app/window/interactive.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

struct RunCommand {
  std::string scene, folder = "out", picture;
  InteractiveOptions options;
  bool no_check = false;
};

void run(RunCommand command) {
  const Scene scene = load_scene(command.scene);
  command.options.check = !command.no_check;
  command.options.folder = command.folder;
  command.options.picture = command.picture;
  std::string why;
  if (!run_interactive(scene, command.options, why)) {
    throw InputError(
        fmt::format("run needs a window ({}); without one use trocar record or trocar demo --headless", why));
  }
}

}  // namespace

void add_run_command(CLI::App& program) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = program.add_subcommand("run", "An interactive session in a window");
  sub->add_option("scene", command->scene, "Scene: .toml")->required();
  sub->add_option("--backend", command->options.backend, "auto or a backend's name; default: the scene's");
  sub->add_flag("--no-check", command->no_check, "Do not check every frame with obb-refit");
  sub->add_flag("--record", command->options.record, "Record from the first frame");
  sub->add_option("--frames", command->options.frames, "Stop after so many frames; 0: when the window is closed")
      ->capture_default_str();
  sub->add_option("--folder", command->folder, "Where recordings and pictures go")->capture_default_str();
  sub->add_option("--picture", command->picture, "Save the last frame, overlay included: .png");
  sub->callback([command] { run(*command); });
}

}  // namespace trocar
