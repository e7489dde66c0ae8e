#include "app/window/own_scenes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr FileKind kListFile{"list of scenes", std::uint64_t{1} << 20};
constexpr const char* kListFormat = "trocar-scenes-1";
constexpr std::size_t kMostNoted = 500;

std::vector<fs::path> toml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".toml") files.push_back(fs::absolute(entry->path()).lexically_normal());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

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
  const auto add = [&](const fs::path& file, bool noted) {
    std::error_code none;
    const auto same = [&](const ListedScene& listed) { return fs::equivalent(listed.file, file, none); };
    if (!fs::exists(file, none) || std::ranges::any_of(scenes, same)) return;
    ListedScene listed = listed_scene(file, access);
    if (listed.group == SceneGroup::Own && (noted || listed.fault.empty())) scenes.push_back(std::move(listed));
  };
  for (const fs::path& file : noted_) add(file, true);
  for (const fs::path& file : toml_files(folder)) add(file, false);
  for (const fs::path& file : toml_files(list_.parent_path() / "scenes")) add(file, false);
  return scenes;
}

}  // namespace trocar
