#include "app/window/screens/scene_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/scene_keys.hpp"
#include "sim/support/files.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr FileKind kListFile{"list of scenes", std::uint64_t{1} << 20};
constexpr const char* kListFormat = "trocar-scenes-1";
constexpr std::size_t kMostNoted = 500;

// Returns the files directly in these folders, sorted.
std::vector<fs::path> toml_files(const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ".toml") files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

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
  std::vector<ListedScene> scenes;
  for (const fs::path& file : toml_files(folders)) scenes.push_back(listed_scene(file));
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
  constexpr std::array names{
      msgid("Touch the targets"),   msgid("Navigate the camera"),  msgid("Follow the curve"), msgid("Grasp and lift"),
      msgid("Burn along the line"), msgid("Keep out of the zone"), msgid("Clip and cut"),     msgid("Operation")};
  static_assert(names.size() == kTaskKinds.size());
  return names[static_cast<std::size_t>(kind)];
}

std::string title_of(InstrumentKind kind) {
  constexpr std::array names{msgid("Probe"),    msgid("Grasper"),      msgid("Hook"),
                             msgid("Scissors"), msgid("Clip applier"), msgid("Suction and irrigation")};
  static_assert(names.size() == kInstrumentKinds.size());
  return names[static_cast<std::size_t>(kind)];
}

std::string title_of(TissueLook look) {
  constexpr std::array names{msgid("Serosa"), msgid("Liver"),  msgid("Gallbladder"), msgid("Peritoneum"),
                             msgid("Fat"),    msgid("Artery"), msgid("Vein"),        msgid("Duct")};
  static_assert(names.size() == kTissueLooks.size());
  return names[static_cast<std::size_t>(look)];
}

std::string preview_of(const Scene& scene) {
  std::vector<std::string> organs, instruments;
  for (const OrganScene& organ : scene.organs) organs.push_back(tr(organ.name));
  for (const InstrumentScene& instrument : scene.instruments)
    instruments.push_back(instrument.name == name_of(instrument.kind)
                              ? tr(instrument.name)
                              : fmt::format("{} ({})", tr(instrument.name), tr(name_of(instrument.kind))));
  return trf("{}. {}. Scope of {:g} degrees.", capital(fmt::format("{}", fmt::join(organs, ", "))),
             capital(fmt::format("{}", fmt::join(instruments, ", "))), scene.scope.angle_deg);
}

OwnScenes::OwnScenes(fs::path list) : list_(std::move(list)) {
  std::error_code none;
  if (!fs::exists(list_, none)) return;
  try {
    const auto json = nlohmann::json::parse(read_whole_file(list_, kListFile));
    for (const auto& scene : json.at("scenes")) noted_.emplace_back(bytes_of_text(scene.get<std::string>()));
  } catch (const InputError&) {
    // A list that cannot be read is written again at the next save.
  } catch (const nlohmann::json::exception&) {
  }
}

void OwnScenes::note(const fs::path& scene) {
  const fs::path file = fs::absolute(scene).lexically_normal();
  if (std::ranges::find(noted_, file) != noted_.end()) return;
  if (noted_.size() >= kMostNoted) noted_.erase(noted_.begin());
  noted_.push_back(file);
  nlohmann::json scenes = nlohmann::json::array();
  for (const fs::path& noted : noted_) scenes.push_back(text_of_bytes(noted.string()));
  try {
    fs::create_directories(list_.parent_path());
    WholeFile out(list_);
    out.stream() << nlohmann::json{{"format", kListFormat}, {"scenes", scenes}}.dump(2) << '\n';
    out.commit();
  } catch (const std::runtime_error&) {
    // The disk is full or the folder read-only: the scene itself is saved.
  }
}

std::vector<ListedScene> OwnScenes::scenes(const fs::path& folder, const SceneAccess& access) const {
  std::vector<ListedScene> scenes;
  const auto add = [&](const fs::path& path, bool noted) {
    std::error_code none;
    const fs::path file = fs::absolute(path).lexically_normal();
    const auto same = [&](const ListedScene& listed) { return fs::equivalent(listed.file, file, none); };
    if (!fs::exists(file, none) || std::ranges::any_of(scenes, same)) return;
    ListedScene listed = listed_scene(file, access);
    if (listed.group == SceneGroup::Own && (noted || listed.fault.empty())) scenes.push_back(std::move(listed));
  };
  for (const fs::path& file : noted_) add(file, true);
  for (const fs::path& file : toml_files({folder})) add(file, false);
  for (const fs::path& file : toml_files({list_.parent_path() / "scenes"})) add(file, false);
  return scenes;
}

}  // namespace trocar
