// Tests rules of the house: layers, the same bits on every machine, the window and its threads.
#include <regex>

#include "tests/support/test.hpp"

namespace {

// Tests that layers point one way: a room includes only the rooms below it, a folder of deform/, sim/ or
// app/ only the folders below it (docs/architecture.md), and heavy third-party headers stay out of our headers.

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
    {"deform/solid", {"deform/thin"}},
    {"deform/thin", {}},
    {"deform/rigid", {}},
    {"deform/contact", {"deform/solid"}},
    {"deform/cut", {"deform/solid"}},
    {"deform/join", {"deform/cut", "deform/contact", "deform/solid"}},
    {"deform/fluid", {"deform/contact"}},
    {"deform", {"deform/join", "deform/contact", "deform/solid"}},
    {"deform/reference", {"deform", "deform/join", "deform/solid", "deform/thin"}},
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
    {"sim/trial", {"sim/loop", "sim/record", "sim/session", "sim/device", "sim/scene", "sim/support"}},
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
  for (const auto& [room, allowed] : kMayInclude)
    for (const auto& file : sources_of(room))
      for (const auto& include : includes_of(file)) {
        const std::string top = include.included.substr(0, include.included.find('/'));
        if (!kMayInclude.contains(top) || top == include.included) continue;
        ++checked;
        EXPECT_TRUE(allowed.contains(top)) << include.file << ":" << include.line << " includes " << include.included;
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
  for (const std::string room : {"deform", "sim", "app"})
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
  for (const auto& [room, allowed] : kMayInclude)
    for (const auto& file : sources_of(room)) {
      if (file.extension() != ".hpp") continue;
      for (const auto& include : includes_of(file))
        EXPECT_FALSE(std::regex_search(include.included, heavy))
            << include.file << ":" << include.line << " includes " << include.included;
    }
}

// Tests that the folders whose results are recorded, replayed and scored contain no code that makes results depend on
// the machine: the C library's elementary functions and glm functions that call them, the standard library's
// distributions, containers without an order, sums without an order, compiler options that change results.

namespace fs = std::filesystem;

const std::vector<std::string> kFolders = {"geometry", "mesh", "deform",     "cpu_collision",
                                           "study",    "sim",  "app/compare"};

// The exceptions, each with file and reason.
const std::map<std::string, std::string> kMay = {
    {"geometry/elementary.hpp", "declares our own functions"},
    {"geometry/elementary.cpp", "defines our own functions"},
    {"study/shapes/superquadric.cpp", "makes meshes, which are files before anything is simulated"},
    {"app/compare/compare.cpp", "tick positions of a plot's axes"},
    {"sim/support/markup.cpp", "positions on a plot's axes"},
    {"sim/link/igtl_server.cpp", "its own log() writes lines"},
};

struct Rule {
  const char* what;
  std::regex pattern;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {
      {"an elementary function of the C library; use geometry/elementary.hpp",
       std::regex(
           R"((^|[^\w:.>]|std::|[^\w]::)(sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|)"
           R"(exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erf|erfc|tgamma|lgamma)[fl]?\s*\()")},
      {"a function of glm that calls the C library; use geometry/elementary.hpp or frame.hpp",
       std::regex(
           R"(glm::(sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|asinh|acosh|atanh|exp|exp2|log|log2|pow|angleAxis|)"
           R"(rotate|perspective\w*|infinitePerspective\w*|slerp|angle|axis|eulerAngles|pitch|yaw|roll|polar|)"
           R"(euclidean|orientedAngle|gaussRand|linearRand|sphericalRand|diskRand|ballRand)\s*\()")},
      {"a distribution or order that the standard does not define; use a generator's bits",
       std::regex(
           R"(\w+_distribution\b|std::shuffle\b|std::sample\b|random_device|default_random_engine|\brand\s*\()")},
      {"a container without an order", std::regex(R"(unordered_(multi)?(map|set)|std::hash\b)")},
      {"a sum without an order",
       std::regex(R"(std::(transform_)?reduce\b|std::execution|#\s*pragma\s+omp|std::atomic<\s*(float|double))")},
      {"a number whose size is the compiler's choice", std::regex(R"(long\s+double|__float128)")},
  };
  return list;
}

// Replaces comments and strings by blanks; keeps the lines.
std::string code_of(const std::string& text) {
  static const std::regex hidden(R"(//[^\n]*|/\*[\s\S]*?\*/|"(\\.|[^"\\\n])*")");
  std::string code;
  auto last = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), hidden), end; at != end; ++at) {
    code.append(last, (*at)[0].first);
    for (const char c : at->str()) code += c == '\n' ? '\n' : ' ';
    last = (*at)[0].second;
  }
  return code.append(last, text.cend());
}

std::vector<std::string> faults_of(const std::string& text) {
  std::vector<std::string> faults;
  std::istringstream lines(code_of(text));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    for (const Rule& rule : rules())
      if (std::regex_search(line, rule.pattern))
        faults.push_back(std::to_string(number) + ": " + rule.what + ": " + line);
  return faults;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  for (const std::string& folder : kFolders) {
    const fs::path at = fs::path(TROCAR_SOURCE_DIR) / folder;
    if (fs::is_regular_file(at)) files.push_back(at);
    if (!fs::is_directory(at)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(at))
      if (entry.path().extension() == ".hpp" || entry.path().extension() == ".cpp") files.push_back(entry.path());
  }
  return files;
}

TEST(SameBitsRules, NothingInStateOrScoreDependsOnTheMachine) {
  std::set<std::string> needed;
  for (const fs::path& file : sources()) {
    const std::string name = fs::relative(file, TROCAR_SOURCE_DIR).generic_string();
    const auto faults = faults_of(text_of(file));
    if (kMay.contains(name)) {
      if (!faults.empty()) needed.insert(name);
      continue;
    }
    for (const std::string& fault : faults) ADD_FAILURE() << name << ":" << fault;
  }
  for (const auto& [name, why] : kMay)
    EXPECT_TRUE(needed.contains(name)) << name << " needs no exception; remove it from kMay";
  EXPECT_GT(sources().size(), 250u);
}

TEST(SameBitsRules, NoCompilerOptionChangesResults) {
  static const std::regex pattern(
      R"(fast-math|unsafe-math|Ofast|contract=(fast|on)|march=|mtune=|mfma|associative-math|)"
      R"(reciprocal-math|finite-math|no-signed-zeros)");
  std::vector<fs::path> files = {"CMakeLists.txt", "CMakePresets.json", "cmake/trocar_room.cmake"};
  for (const char* room : {"geometry", "mesh", "deform", "cpu_collision", "gpu_collision", "study", "sim", "app"})
    files.push_back(fs::path(room) / "CMakeLists.txt");
  for (const fs::path& file : files) {
    const std::string text = text_of(TROCAR_SOURCE_DIR / file);
    EXPECT_FALSE(text.empty()) << file;
    EXPECT_FALSE(std::regex_search(text, pattern)) << file;
  }
  EXPECT_NE(text_of(fs::path(TROCAR_SOURCE_DIR) / "cmake/trocar_room.cmake").find("-ffp-contract=off"),
            std::string::npos);
}

// Eigen's kernels depend on the processor. Only the implicit solvers use it, and only tests and trocar tissue use them.
TEST(SameBitsRules, EigenStaysInTheImplicitSolver) {
  static const std::regex eigen(R"(#include\s*[<"](unsupported/)?Eigen/)"),
      reference(R"(#include\s*"deform/reference/(implicit|energy))");
  for (const fs::path& file : sources()) {
    const std::string name = fs::relative(file, TROCAR_SOURCE_DIR).generic_string(), text = text_of(file);
    if (name.starts_with("deform/reference/")) continue;
    EXPECT_FALSE(std::regex_search(text, eigen)) << name;
    EXPECT_FALSE(std::regex_search(text, reference)) << name;
  }
}

// Tests the rules themselves.
TEST(SameBitsRules, FindBannedCode) {
  for (const char* line :
       {"const double s = std::sin(x);", "y = sqrt(2.0) * cos(x);", "return ::pow(a, b);", "a = std::hypot (x, y);",
        "f(expf(x));", "q = glm::angleAxis(a, b);", "p = glm::perspective(a, b, c, d);", "m = glm::rotate(m, a, z);",
        "std::uniform_real_distribution<double> d;", "std::shuffle(b, e, r);", "std::unordered_map<int, int> m;",
        "s = std::reduce(b, e);", "#pragma omp parallel for", "long double x;", "-log(x)", "(tgamma(x))"})
    EXPECT_EQ(faults_of(line).size(), 1u) << line;
  for (const char* line :
       {"elementary::sin(x)", "// std::sin(x)", "puts(\"std::sin(x)\");", "basin(x)", "cosine(r)", "task.log(x)",
        "log->exp(x)", "std::sqrt(x)", "std::fmod(x, y)", "elementary::pow(x, y)", "arccos(x)", "glm::radians(x)",
        "std::mt19937_64 random;", "std::accumulate(b, e, 0.0)", "rotated(x)", "/* cos(x) */ a"})
    EXPECT_TRUE(faults_of(line).empty()) << line;
}

// Tests rules of the window and of threads that no compiler knows: what Dear ImGui begins is ended by an object, so
// that an exception between leaves it in order; no picture waits for the graphics hardware; work beside the window's
// thread is a Task, which can be abandoned; the environment changes only before there are threads.

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
  for (const WindowRule& rule : window_rules())
    for (const std::string& folder : rule.folders)
      for (const fs::path& file : sources_below(folder)) {
        const std::string name = fs::relative(file, TROCAR_SOURCE_DIR).generic_string();
        if (std::ranges::find(rule.except, name) != rule.except.end()) continue;
        std::ifstream in(file);
        std::string text;
        for (int line = 1; std::getline(in, text); ++line, ++checked)
          EXPECT_FALSE(text.find(rule.hint) != std::string::npos && std::regex_search(text, rule.pattern))
              << name << ":" << line << " " << rule.what;
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
