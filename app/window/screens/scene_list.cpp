#include "app/window/screens/scene_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "geometry/error.hpp"
#include "sim/scene/task_keys.hpp"
#include "sim/support/data_folder.hpp"

namespace trocar {
namespace {

std::string capital(std::string words) {
  if (!words.empty()) words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

// A file outside the program's data is the user's; those of the folder "procedures" are operations.
SceneGroup group_of(const ListedScene& listed) {
  if (!in_data_folder(listed.file)) return SceneGroup::Own;
  if (listed.file.parent_path().filename() == "procedures") return SceneGroup::Procedure;
  return listed.task() || listed.file.parent_path().filename() == "tasks" ? SceneGroup::Task : SceneGroup::Practice;
}

}  // namespace

ListedScene listed_scene(const std::filesystem::path& file, const SceneAccess& access) {
  ListedScene listed{file, {}, file.stem().string(), {}};
  try {
    listed.scene = load_scene(file, access);
    if (listed.scene.task && !listed.scene.task->title.empty())
      listed.title = listed.scene.task->title;
    else if (!listed.scene.title.empty())
      listed.title = listed.scene.title;
  } catch (const InputError& error) {
    listed.fault = error.what();
  }
  listed.group = group_of(listed);
  return listed;
}

std::vector<ListedScene> list_scenes(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : folders) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ".toml") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  std::vector<ListedScene> scenes;
  for (const auto& file : files) scenes.push_back(listed_scene(file));
  sort_scenes(scenes, {});
  return scenes;
}

void sort_scenes(std::vector<ListedScene>& scenes, const Curriculum& curriculum) {
  const auto rank = [&](const ListedScene& listed) {
    const auto same = [&](const CourseStep& step) { return scene_key(step.scene) == scene_key(listed.file); };
    return std::ranges::find_if(curriculum.steps, same) - curriculum.steps.begin();
  };
  std::stable_sort(scenes.begin(), scenes.end(), [&](const ListedScene& a, const ListedScene& b) {
    return a.group != b.group ? a.group < b.group : rank(a) < rank(b);
  });
}

std::string title_of(TaskKind kind) {
  constexpr std::array names{"Touch the targets",   "Navigate the camera",  "Follow the curve", "Grasp and lift",
                             "Burn along the line", "Keep out of the zone", "Clip and cut",     "Operation"};
  static_assert(names.size() == kTaskKinds.size());
  return names[static_cast<std::size_t>(kind)];
}

std::string preview_of(const Scene& scene) {
  std::vector<std::string> organs, instruments;
  for (const OrganScene& organ : scene.organs) organs.push_back(organ.name);
  for (const InstrumentScene& instrument : scene.instruments)
    instruments.push_back(instrument.name == name_of(instrument.kind)
                              ? instrument.name
                              : fmt::format("{} ({})", instrument.name, name_of(instrument.kind)));
  return fmt::format("{}. {}. Scope of {:g} degrees.", capital(fmt::format("{}", fmt::join(organs, ", "))),
                     capital(fmt::format("{}", fmt::join(instruments, ", "))), scene.scope.angle_deg);
}

}  // namespace trocar
