// Tests rules of the window and of threads that no compiler knows: what Dear ImGui begins is ended by an object, so
// that an exception between leaves it in order; no picture waits for the graphics hardware; work beside the window's
// thread is a Task, which can be abandoned; the environment changes only before there are threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct WindowRule {
  const char* what;
  std::vector<std::string> folders;
  std::string hint;  // part of each match, because regular expressions are slow
  std::regex pattern;
  std::vector<std::string> except;  // files that may
};

const std::vector<WindowRule>& window_rules() {
  static const std::vector<WindowRule> list = {
      {"ends a scope of Dear ImGui by hand; use app/window/widgets/theme.hpp",
       {"app"},
       "ImGui::",
       std::regex(R"(ImGui::(End[A-Z]\w*|End|Pop[A-Z]\w*|TreePop|Unindent)\s*\()"),
       {"app/window/widgets/theme.cpp"}},
      {"waits for the graphics hardware; use app/window/picture_timer.hpp",
       {"app/window"},
       "gl",
       std::regex(R"(\bgl(Finish|ClientWaitSync)\s*\()"),
       {}},
      {"waits for a thread when it is destroyed; use sim/support/task.hpp",
       {"app/window", "app/lab"},
       "std::",
       std::regex(R"(std::(async|future|thread|jthread)\b)"),
       // These end at once when they are woken: with the server of the pages, and with a connection.
       {"app/lab/lab_server.cpp", "app/lab/lab_connection.cpp", "app/lab/lab_connection.hpp"}},
      {"changes the environment beside threads",
       {"app", "sim", "mesh", "gpu_collision"},
       "env",
       std::regex(R"(\b(setenv|putenv|unsetenv|clearenv)\s*\()"),
       {"app/sound/sound.cpp"}},  // quiet_sound(), which the program calls first
  };
  return list;
}

std::vector<fs::path> sources_below(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TROCAR_SOURCE_DIR) / folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".hpp" || extension == ".cpp") files.push_back(entry.path());
  }
  return files;
}

TEST(WindowRules, HoldInEveryFile) {
  int checked = 0;
  for (const WindowRule& rule : window_rules()) {
    for (const std::string& folder : rule.folders) {
      for (const fs::path& file : sources_below(folder)) {
        const std::string name = fs::relative(file, TROCAR_SOURCE_DIR).generic_string();
        if (std::ranges::find(rule.except, name) != rule.except.end()) continue;
        std::ifstream in(file);
        std::string text;
        for (int line = 1; std::getline(in, text); ++line, ++checked)
          EXPECT_FALSE(text.find(rule.hint) != std::string::npos && std::regex_search(text, rule.pattern))
              << name << ":" << line << " " << rule.what;
      }
    }
  }
  EXPECT_GT(checked, 10000);
}

// The program quiets the sound library before anything else can have started a thread.
TEST(WindowRules, TheEnvironmentIsChangedFirst) {
  std::ifstream in(fs::path(TROCAR_SOURCE_DIR) / "app/commands/program.cpp");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto start = text.find("int run_program("), quiet = text.find("quiet_sound();"),
             parse = text.find("parse(program");
  ASSERT_NE(start, std::string::npos);
  EXPECT_LT(start, quiet);
  EXPECT_LT(quiet, parse);
}

}  // namespace
