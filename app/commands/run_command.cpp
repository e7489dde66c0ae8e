// trocar run: opens the window with the start screen, or directly with a scene.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/window/program.hpp"
#include "geometry/error.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/scene/anatomy.hpp"
#include "sim/scene/level.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/support/output_file.hpp"

namespace trocar {
namespace {

// Indexed by Quality.
constexpr const char* kQualities[] = {"low", "medium", "high"};

struct RunCommand {
  std::string scene, folder = "out", picture, state, curriculum, quality = "auto";
  WindowOptions options;
  bool no_check = false, publish = false, force = false;
  IgtlServerParams igtl;
};

// Checks every file that the user named before a window opens.
void check_files(const RunCommand& command) {
  if (command.options.anatomy && command.scene.empty())
    throw InputError("--anatomy needs a scene; name it before the option");
  if (command.options.level && command.scene.empty())
    throw InputError("--level needs a scene; name it before the option");
  std::vector<NamedFile> inputs;
  if (!command.curriculum.empty()) load_curriculum(command.curriculum);
  if (!command.scene.empty())
    inputs =
        files_of(with_level(with_anatomy(load_scene(command.scene, command.options.access), command.options.anatomy),
                            command.options.level));
  if (!command.curriculum.empty()) inputs.push_back({"--curriculum", command.curriculum});
  refuse_same_files(inputs, {{"--state", command.state}, {"--picture", command.picture}});
  if (!command.state.empty()) OutputFile(command.state, OutputKind::Json);
  if (!command.picture.empty()) OutputFile(command.picture, OutputKind::Picture);
  refuse_existing({{"--picture", command.picture}}, command.force);
  if (std::filesystem::exists(command.folder) && !std::filesystem::is_directory(command.folder))
    throw InputError(fmt::format("{}: --folder must name a folder", command.folder));
}

void run(RunCommand command) {
  command.options.scene = command.scene;
  command.options.check = !command.no_check;
  command.options.folder = command.folder;
  command.options.picture = command.picture;
  command.options.state = command.state;
  command.options.curriculum = command.curriculum;
  const auto level = std::find(std::begin(kQualities), std::end(kQualities), command.quality);
  if (command.quality != "auto") command.options.quality = static_cast<Quality>(level - std::begin(kQualities));
  if (command.publish) command.options.igtl = command.igtl;
  check_files(command);
  std::string why;
  if (!run_window(command.options, why)) {
    throw InputError(
        fmt::format("run needs a window ({}); without a display use trocar record or trocar demo --headless", why));
  }
}

}  // namespace

void add_run_command(CLI::App& program) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = program.add_subcommand("run", "Open the trainer in a window");
  sub->add_option("scene", command->scene, "Scene: .toml; default: chosen on the start screen");
  sub->add_option("--backend", command->options.backend, "auto or a backend's name; default: the scene's");
  sub->add_flag("--no-check", command->no_check, "Do not check the answers with obb-refit");
  sub->add_flag("--record", command->options.record, "Start and record at once, without waiting for Enter");
  sub->add_option("--frames", command->options.frames, "Stop after this number of frames; 0: when the window is closed")
      ->check(within(0, 1e9))
      ->capture_default_str();
  sub->add_option("--folder", command->folder, "Folder for recordings and pictures")->capture_default_str();
  sub->add_option("--picture", command->picture, "Save the last frame, panels included: .png");
  add_force_option(*sub, command->force);
  sub->add_option("--quality", command->quality, "Picture quality: auto, low, medium or high")
      ->check(CLI::IsMember({"auto", "low", "medium", "high"}))
      ->capture_default_str();
  for (const auto& [name, value] :
       {std::pair{"--width", &command->options.width}, {"--height", &command->options.height}})
    sub->add_option(name, *value, "Size of the window, pixels")->check(within(64, 16384))->capture_default_str();
  sub->add_flag("--mute", command->options.mute, "Open no sound device");
  sub->add_option("--state", command->state,
                  "Keep this .json file up to date with the state of the window, for tests and scripts");
  CLI::Option* port =
      sub->add_option("--igtl-port", command->igtl.port, "Send every frame to OpenIGTLink clients on this port")
          ->check(within(1, 65535));
  sub->add_flag("--igtl-anyone", command->igtl.anyone, "Clients on other machines may connect too")->needs(port);
  add_person_option(*sub, command->options.person);
  sub->add_option("--database", command->options.database, "Database of people and attempts; default: the station's");
  sub->add_option("--curriculum", command->curriculum, "Curriculum of the start screen: .toml; default: basic skills");
  add_anatomy_option(*sub, command->options.anatomy);
  add_level_option(*sub, command->options.level);
  add_access_option(*sub, command->options.access);
  sub->add_option("--allow-host", command->options.access.hosts,
                  "Let the scene connect to this machine without a question; repeat for several machines");
  sub->callback([command, port] {
    command->publish = port->count() > 0;
    run(*command);
  });
}

}  // namespace trocar
