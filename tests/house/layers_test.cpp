// Tests that layers point one way: a room includes only the rooms below it, a folder of deform/, sim/ or
// app/ only the folders below it (docs/architecture.md), and heavy third-party headers stay out of our headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"geometry", {"geometry"}},
    {"mesh", {"geometry", "mesh"}},
    {"deform", {"geometry", "mesh", "deform"}},
    {"gpu_collision", {"geometry", "mesh", "gpu_collision"}},
    {"cpu_collision", {"geometry", "mesh", "cpu_collision"}},
    {"study", {"geometry", "mesh", "cpu_collision", "study"}},
    {"sim", {"geometry", "mesh", "deform", "cpu_collision", "sim"}},
    {"app", {"geometry", "mesh", "deform", "gpu_collision", "cpu_collision", "study", "sim", "app"}},
    {"web", {"geometry", "mesh", "deform", "gpu_collision", "cpu_collision", "sim", "app", "web"}},
    {"python", {"geometry", "mesh", "deform", "gpu_collision", "cpu_collision", "sim", "app", "python"}},
};

// The folders of deform/, sim/ and app/ with the folders of their room that each may include. "deform": the time step,
// which lies beside its folders.
const std::map<std::string, std::set<std::string>> kFoldersMayInclude = {
    {"deform/solid", {}},
    {"deform/contact", {"deform/solid"}},
    {"deform/cut", {"deform/solid"}},
    {"deform/join", {"deform/cut", "deform/contact", "deform/solid"}},
    {"deform/fluid", {"deform/contact"}},
    {"deform", {"deform/join", "deform/contact", "deform/solid"}},
    {"deform/reference", {"deform", "deform/join", "deform/solid"}},
    {"sim/support", {}},
    {"sim/scene", {"sim/support"}},
    {"sim/device", {"sim/scene", "sim/support"}},
    {"sim/session", {"sim/device", "sim/scene", "sim/support"}},
    {"sim/score", {}},
    {"sim/task", {"sim/score", "sim/session", "sim/device", "sim/scene", "sim/support"}},
    {"sim/record", {"sim/task", "sim/score", "sim/session", "sim/device", "sim/scene", "sim/support"}},
    {"sim/inputs", {"sim/record", "sim/task", "sim/score", "sim/session", "sim/device", "sim/scene", "sim/support"}},
    {"sim/loop",
     {"sim/inputs", "sim/record", "sim/task", "sim/score", "sim/session", "sim/device", "sim/scene", "sim/support"}},
    {"sim/course", {"sim/score", "sim/scene", "sim/support"}},
    {"sim/hdf5", {"sim/record", "sim/task", "sim/score", "sim/session", "sim/device", "sim/scene", "sim/support"}},
    {"sim/review",
     {"sim/hdf5", "sim/record", "sim/task", "sim/score", "sim/session", "sim/device", "sim/scene", "sim/support"}},
    {"sim/link",
     {"sim/review", "sim/hdf5", "sim/record", "sim/task", "sim/score", "sim/session", "sim/device", "sim/scene",
      "sim/support"}},
    {"app/command_line", {}},
    {"app/compare", {}},
    {"app/replay", {"app/compare"}},
    {"app/view", {}},
    {"app/sound", {}},
    {"app/lab", {}},
    {"app/report", {"app/compare"}},
    {"app/window", {"app/lab", "app/report", "app/sound", "app/view", "app/compare"}},
    {"app/sweep", {"app/command_line", "app/compare"}},
    {"app/commands",
     {"app/command_line", "app/lab", "app/sweep", "app/window", "app/report", "app/sound", "app/view", "app/replay",
      "app/compare"}},
};

struct Include {
  std::string file, included;
  int line;
};

std::vector<fs::path> sources_of(const std::string& room) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TROCAR_SOURCE_DIR) / room)) {
    const auto extension = entry.path().extension();
    if (extension == ".hpp" || extension == ".cpp") files.push_back(entry.path());
  }
  return files;
}

std::vector<Include> includes_of(const fs::path& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^">]+)[">])");
  std::vector<Include> includes;
  std::ifstream in(file);
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    std::smatch match;
    if (std::regex_search(text, match, pattern)) includes.push_back({file.string(), match[1], line});
  }
  return includes;
}

TEST(Layers, PointOneWay) {
  int checked = 0;
  for (const auto& [room, allowed] : kMayInclude) {
    for (const auto& file : sources_of(room)) {
      for (const auto& include : includes_of(file)) {
        const std::string top = include.included.substr(0, include.included.find('/'));
        if (!kMayInclude.contains(top) || top == include.included) continue;
        ++checked;
        EXPECT_TRUE(allowed.contains(top)) << include.file << ":" << include.line << " includes " << include.included;
      }
    }
  }
  EXPECT_GT(checked, 10);
}

// The window and the other commands reach the study's detectors by their names only.
TEST(Layers, TheProgramIncludesTheStudyInTwoParts) {
  for (const auto& file : sources_of("app")) {
    const std::string name = fs::relative(file, TROCAR_SOURCE_DIR).generic_string();
    if (name.starts_with("app/compare/") || name == "app/commands/mesh_command.cpp") continue;
    for (const auto& include : includes_of(file))
      EXPECT_FALSE(include.included.starts_with("study/")) << name << ":" << include.line;
  }
}

// Returns, for example, "sim/scene" for "sim/scene/scene.hpp", "app/window" for a file in a folder of app/window; empty
// for a file without a folder.
std::string folder_of(const std::string& path) {
  const auto room = path.find('/');
  if (room == std::string::npos) return "";
  const auto folder = path.find('/', room + 1);
  return path.substr(0, folder == std::string::npos ? room : folder);
}

TEST(Layers, FoldersOfSimAndAppPointOneWay) {
  int checked = 0;
  for (const std::string room : {"deform", "sim", "app"}) {
    for (const auto& file : sources_of(room)) {
      const std::string folder = folder_of(fs::relative(file, TROCAR_SOURCE_DIR).string());
      if (folder == "app") continue;  // app/main.cpp
      ASSERT_TRUE(kFoldersMayInclude.contains(folder)) << file << ": its folder is not in the table";
      for (const auto& include : includes_of(file)) {
        const std::string other = folder_of(include.included);
        if ((other != room && !other.starts_with(room + "/")) || other == folder) continue;
        ++checked;
        EXPECT_TRUE(kFoldersMayInclude.at(folder).contains(other))
            << include.file << ":" << include.line << " includes " << include.included;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

// A program that takes an address for a file's name leaves such files where it runs.
TEST(Layers, TheTopFolderHasOnlyWhatIsListed) {
  const std::set<std::string> known = {
      "app", "bench", "cmake", "cpu_collision", "data", "deform", "docs", "examples", "geometry", "gpu_collision",
      "mesh", "packaging", "python", "sim", "study", "tests", "web",
      // What is built and measured, which git ignores.
      "build", "out", "CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "CMakePresets.json", "CODE_OF_CONDUCT.md",
      "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "packages-bench.txt", "packages-check.txt",
      "packages-docs.txt", "packages-web.txt", "packages.txt", "run"};
  for (const auto& entry : std::filesystem::directory_iterator(fs::path(TROCAR_SOURCE_DIR))) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name.starts_with('.') || known.contains(name)) << name;
  }
}

TEST(Layers, TheTableOfFoldersHasNoCycle) {
  std::set<std::string> placed;
  for (std::size_t before = kFoldersMayInclude.size() + 1; before != placed.size();) {
    before = placed.size();
    for (const auto& [folder, below] : kFoldersMayInclude)
      if (std::includes(placed.begin(), placed.end(), below.begin(), below.end())) placed.insert(folder);
  }
  EXPECT_EQ(placed.size(), kFoldersMayInclude.size());
}

TEST(Layers, HeavyThirdPartyStaysOutOfHeaders) {
  static const std::regex heavy(R"(^(vtk|glad/|hdf5|H5|imgui|GLFW/|AL/|embree|fcl/|tiny_obj|spnav|igtl_|igtl[A-Z]))");
  for (const auto& [room, allowed] : kMayInclude) {
    for (const auto& file : sources_of(room)) {
      if (file.extension() != ".hpp") continue;
      for (const auto& include : includes_of(file)) {
        EXPECT_FALSE(std::regex_search(include.included, heavy))
            << include.file << ":" << include.line << " includes " << include.included;
      }
    }
  }
}

}  // namespace
