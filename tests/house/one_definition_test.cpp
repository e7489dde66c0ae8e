// Tests that no two files define a type of the same name in the same namespace. A program with both would have
// undefined behaviour without a message from compiler or linker.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Full names of the types that a file defines at the outer level of a named namespace. Our format puts such a
// definition at the start of a line, and a comment after the end of every namespace.
std::set<std::string> types_of(std::istream& in) {
  static const std::regex opens(R"(^(?:inline )?namespace ?([\w:]*) ?\{)"), closes(R"(^\}  // namespace)");
  static const std::regex defines(
      R"(^(?:struct|class|union|enum|enum class) (?:alignas\([^)]*\) )?(\w+)(?: final)?(?: : [^;]*)?(?: \{|\{|$))");
  std::set<std::string> types;
  std::vector<std::string> within;
  std::string line;
  while (std::getline(in, line)) {
    std::smatch match;
    if (std::regex_search(line, match, opens)) {
      within.push_back(match[1]);
    } else if (std::regex_search(line, closes)) {
      if (!within.empty()) within.pop_back();
    } else if (std::regex_search(line, match, defines)) {
      std::string name;
      bool unnamed = false;
      for (const std::string& space : within) name += space + "::", unnamed = unnamed || space.empty();
      if (!unnamed) types.insert(name + std::string(match[1]));
    }
  }
  return types;
}

TEST(OneDefinition, TypesAreFoundByTheirFullNames) {
  std::istringstream text(
      "namespace a {\nstruct Forward;\nstruct Plain {\n};\nnamespace {\nclass Hidden {\n}  // namespace\n"
      "struct alignas(64) Lanes {\nclass Child final : public Plain {\nstruct Plain::Part {\nenum class Kind { A };\n"
      "}  // namespace a\nstruct Outer {\n");
  EXPECT_EQ(types_of(text), (std::set<std::string>{"a::Plain", "a::Lanes", "a::Child", "a::Kind", "Outer"}));
}

TEST(OneDefinition, NoTypeIsDefinedInTwoFiles) {
  std::map<std::string, std::vector<std::string>> files_of;
  for (const char* room :
       {"geometry", "mesh", "deform", "cpu_collision", "gpu_collision", "study", "sim", "app", "bench", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TROCAR_SOURCE_DIR) / room)) {
      const auto extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp") continue;
      std::ifstream in(entry.path());
      for (const std::string& type : types_of(in)) files_of[type].push_back(entry.path().string());
    }
  }
  EXPECT_GT(files_of.size(), 400u);
  for (const auto& [type, files] : files_of)
    EXPECT_EQ(files.size(), 1u) << type << " is defined in " << files.front() << " and in " << files.back();
}

}  // namespace
