// trocar_measure: measures the touch query on this machine: which OpenGL backends work, whether they agree with the
// reference, and their times. Needs no window, VTK or HDF5. Every section of every backend runs in a process of its
// own. Writes measure.json and measure.md. Exit status: 0 everything agrees, 1 a backend disagrees or a section failed,
// 2 wrong usage.   Tested in tests/bench/gpu_kit_test.cpp and tests/bench/gpu_kit_folder.sh; docs/gpu-kit.md
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "app/compare/backends.hpp"
#include "bench/gpu_kit/gpu_kit.hpp"
#include "geometry/error.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar::bench {
namespace {

constexpr std::chrono::seconds kLongestSection{540};

struct Usage {
  KitOptions kit;
  std::filesystem::path folder = "measured";
  std::string section, backend;  // of a child process
};

// ---- A section, in the child process ----

Json run_section(const Usage& usage) {
  Backends backends;
  if (usage.section == "context") return context_facts(backends);
  if (usage.section == "doctor") return verdict_on_known_case(backends, usage.backend);
  if (usage.section == "agreement") return agreement_rows(usage.backend, backends, usage.kit);
  if (usage.section == "sizes") return size_rows(usage.backend, backends, usage.kit);
  if (usage.section == "tools") return tool_rows(usage.backend, backends, usage.kit);
  throw InputError(fmt::format("--section {}: choose context, doctor, agreement, sizes or tools", usage.section));
}

// ---- The whole, in the parent process ----

class Measuring {
 public:
  explicit Measuring(const Usage& usage) : usage_(usage) {}

  Json all() {
    results_ = {{"version", kVersion},          {"machine", machine_description()}, {"date", this_second()},
                {"gl", section("context", "")}, {"doctor", Json::object()},         {"agreement", Json::array()},
                {"sizes", Json::array()},       {"tools", Json::array()},           {"failures", Json::array()}};
    if (results_["gl"].is_null()) results_["gl"] = {{"none", "the driver ends the process that opens it"}};
    std::vector<std::string> on_gl;
    for (const char* name : {"compute", "occlusion", "select"})
      if (works(name)) on_gl.emplace_back(name);
    for (const std::string& name : on_gl) add("agreement", name);
    add("agreement", "scan");
    for (const std::string& name : on_gl) add("sizes", name);
    for (const char* name : {"scan", "aabb-refit", "obb-refit", "obb"}) add("sizes", name);
    for (const std::string& name : on_gl)
      if (name == "compute") add("tools", name);
    add("tools", "scan");
    for (const std::string& failure : failures_) results_["failures"].push_back(failure);
    return results_;
  }

 private:
  bool works(const std::string& name) {
    const Json verdict = section("doctor", name);
    results_["doctor"][name] = verdict.is_string() ? verdict.get<std::string>() : failures_.back();
    return verdict.is_string() && verdict.get<std::string>().starts_with("works");
  }

  void add(const char* name, const std::string& backend) {
    const Json rows = section(name, backend);
    if (rows.is_array()) results_[name].insert(results_[name].end(), rows.begin(), rows.end());
  }

  // Returns what the section measured; null when it failed, with the reason in failures_.
  Json section(const std::string& name, const std::string& backend) {
    fmt::print("{} {}\n", name, backend);
    std::fflush(stdout);
    const ChildResult child = run_child(own_program(), arguments(name, backend), kLongestSection);
    Json json = child.failure.empty() && child.status == 0 ? Json::parse(child.output, nullptr, false) : Json();
    if (!json.is_null() && !json.is_discarded()) return json;
    const std::string reason = !child.failure.empty() ? child.failure
                               : child.status != 0
                                   ? fmt::format("ends with status {} ({})", child.status, first_line(child.output))
                                   : "ends well, but its output is not JSON";
    failures_.push_back(fmt::format("{}{}{}: {}", name, backend.empty() ? "" : " of ", backend, reason));
    fmt::print("  {}\n", failures_.back());
    return {};
  }

  std::vector<std::string> arguments(const std::string& name, const std::string& backend) const {
    std::vector<std::string> list{"--section", name,
                                  "--frames",  std::to_string(usage_.kit.frames),
                                  "--motions", std::to_string(usage_.kit.motions),
                                  "--largest", std::to_string(usage_.kit.largest_faces)};
    if (!backend.empty()) list.insert(list.end(), {"--backend", backend});
    if (!usage_.kit.mesh.empty()) list.insert(list.end(), {"--mesh", usage_.kit.mesh.string()});
    if (!usage_.kit.trajectory.empty()) list.insert(list.end(), {"--trajectory", usage_.kit.trajectory.string()});
    return list;
  }

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  const Usage& usage_;
  Json results_;
  std::vector<std::string> failures_;
};

int measure_all(const Usage& usage) {
  make_folder(usage.folder);
  OutputFile json(usage.folder / "measure.json", OutputKind::Json), page(usage.folder / "measure.md", OutputKind::Page);
  const Json results = Measuring(usage).all();
  json.stream() << results.dump(1) << "\n";
  page.stream() << kit_page(results);
  json.commit();
  page.commit();
  fmt::print("Written: {}, {}\n{} disagreements, failed sections: {}\n", (usage.folder / "measure.json").string(),
             (usage.folder / "measure.md").string(), disagreements_of(results), results["failures"].size());
  return disagreements_of(results) == 0 && results["failures"].empty() ? 0 : 1;
}

void add_options(CLI::App& program, Usage& usage) {
  program.set_version_flag("--version", std::string(kVersion));
  program.add_option("-o,--out", usage.folder, "Folder for measure.json and measure.md")->capture_default_str();
  program.add_option("--largest", usage.kit.largest_faces, "Faces of the largest organ")
      ->check(CLI::Range(2'000, 4'000'000))
      ->capture_default_str();
  program.add_option("--frames", usage.kit.frames, "Timed frames per row")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  program.add_option("--motions", usage.kit.motions, "Random motions in the test of agreement")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  program.add_option("--trajectory", usage.kit.trajectory, "Recorded motion, CSV in millimetres");
  program.add_option("--mesh", usage.kit.mesh, "Organ of the recorded motion, in millimetres");
  program.add_option("--section", usage.section, "Run only this section, print JSON")->group("");
  program.add_option("--backend", usage.backend, "Backend of the section")->group("");
}

int run(int argument_count, char** arguments) {
  Usage usage;
  CLI::App program{"Measures the touch query on this machine"};
  add_options(program, usage);
  try {
    program.parse(argument_count, arguments);
    if (usage.section.empty()) return measure_all(usage);
    fmt::print("{}\n", run_section(usage).dump());
    return 0;
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const InputError& error) {
    fmt::print(usage.section.empty() ? stderr : stdout, "trocar_measure: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(usage.section.empty() ? stderr : stdout, "trocar_measure: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace trocar::bench

int main(int argument_count, char** arguments) { return trocar::bench::run(argument_count, arguments); }
