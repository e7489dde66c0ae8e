// Tests that the folders whose results are recorded, replayed and scored contain no code that makes results depend on
// the machine: the C library's elementary functions and glm functions that call them, the standard library's
// distributions, containers without an order, sums without an order, compiler options that change results.
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

const std::vector<std::string> kFolders = {"geometry", "mesh", "deform",     "cpu_collision",
                                           "study",    "sim",  "app/compare"};

// The exceptions, each with file and reason.
const std::map<std::string, std::string> kMay = {
    {"geometry/elementary.hpp", "declares our own functions"},
    {"geometry/elementary.cpp", "defines our own functions"},
    {"study/shapes/superquadric.cpp", "makes meshes, which are files before anything is simulated"},
    {"app/compare/compare.cpp", "tick positions of a plot's axes"},
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

}  // namespace
