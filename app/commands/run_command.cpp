// trocar run: opens the window with the start screen, or directly with a scene.
#include <fmt/format.h>

#include <algorithm>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/window/program.hpp"
#include "geometry/error.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/support/files.hpp"

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

void add_run_command(Command& program) {
  auto command = std::make_shared<RunCommand>();
  Command& sub = program.command("run", "Open the trainer in a window");
  sub.option("scene", command->scene, "Scene: .toml; default: chosen on the start screen");
  sub.option("--backend", command->options.backend, "auto or a backend's name; default: the scene's");
  sub.option("--no-check", command->no_check, "Do not check the answers with obb-refit");
  sub.option("--record", command->options.record, "Start and record at once, without waiting for Enter");
  sub.option("--frames", command->options.frames, "Stop after this number of frames; 0: when the window is closed")
      .within(0, 1e9)
      .shown();
  sub.option("--folder", command->folder, "Folder for recordings and pictures").shown();
  sub.option("--picture", command->picture, "Save the last frame, panels included: .png");
  add_force_option(sub, command->force);
  sub.option("--quality", command->quality, "Picture quality: auto, low, medium or high")
      .one_of({"auto", "low", "medium", "high"})
      .shown();
  for (const auto& [name, value] :
       {std::pair{"--width", &command->options.width}, {"--height", &command->options.height}})
    sub.option(name, *value, "Size of the window, pixels").within(64, 16384).shown();
  sub.option("--mute", command->options.mute, "Open no sound device");
  sub.option("--state", command->state,
             "Keep this .json file up to date with the state of the window, for tests and scripts");
  sub.option("--igtl-port", command->igtl.port, "Send every frame to OpenIGTLink clients on this port")
      .within(1, 65535)
      .tells(command->publish);
  sub.option("--igtl-anyone", command->igtl.anyone, "Clients on other machines may connect too").needs("--igtl-port");
  add_person_option(sub, command->options.person);
  sub.option("--database", command->options.database, "Database of people and attempts; default: the station's");
  sub.option("--curriculum", command->curriculum, "Curriculum of the start screen: .toml; default: basic skills");
  add_anatomy_option(sub, command->options.anatomy);
  add_level_option(sub, command->options.level);
  add_access_option(sub, command->options.access);
  sub.option("--allow-host", command->options.access.hosts,
             "Let the scene connect to this machine without a question; repeat for several machines");
  sub.runs([command] { run(*command); });
}

}  // namespace trocar
