// Layers point one way: a room includes only rooms that docs/architecture.md puts below it, and heavy third-party
// headers stay out of our headers.
#include <gtest/gtest.h>

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
    {"app", {"geometry", "mesh", "deform", "gpu_collision", "cpu_collision", "app"}},
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

TEST(Layers, HeavyThirdPartyStaysOutOfHeaders) {
  static const std::regex heavy(R"(^(vtk|glad/|hdf5|H5|imgui|GLFW/|embree|fcl/|tiny_obj|spnav|igtl_|igtl[A-Z]))");
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
