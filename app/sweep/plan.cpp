#include "app/sweep/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "app/compare/backends.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/support/byte_archive.hpp"
#include "sim/task/performer.hpp"

namespace trocar {

bool matches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::size_t p = 0, n = 0, star = std::string_view::npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> matching_files(const std::filesystem::path& folder, const std::string& pattern) {
  const std::filesystem::path path(pattern), within = path.parent_path();
  std::vector<std::string> found;
  std::error_code error, none;
  for (std::filesystem::directory_iterator entry(folder / within, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (matches(path.filename().string(), name) && entry->is_regular_file(none))
      found.push_back((within / name).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

namespace {

using Kind = ParameterKind;

constexpr Limits kSeeds{0.0, 4294967295.0};
constexpr std::string_view kShapes[] = {"cylinder", "block", "beam", "mesh"};
constexpr std::string_view kModes[] = {"static", "swept"}, kCovers[] = {"paper", "capsule"},
                           kSets[] = {"volume", "exact"};

constexpr ParameterRow kReplay[] = {
    {"recordings", "recording", "", Kind::File, {}, {}, true},
    {"backends", "backend", "--backend", Kind::Backends},
};

constexpr ParameterRow kScore[] = {
    {"recordings", "recording", "", Kind::File, {}, {}, true},
};

constexpr ParameterRow kPerform[] = {
    {"scenes", "scene", "", Kind::File, {}, {}, true},
    {"as", "as", "--as", Kind::Word, {}, kSkillNames},
    {"faults", "fault", "--fault", Kind::Word, {}, kFaultNames},
    {"dose", "dose", "--dose", Kind::Number, {0.0, 10.0}},
    {"anatomy", "anatomy", "--anatomy", Kind::Whole, kSeeds},
    {"levels", "level", "--level", Kind::Whole, {1.0, kMostLevels}},
    {"seeds", "seed", "--seed", Kind::Whole, kSeeds},
    {"backends", "backend", "--backend", Kind::Backends},
    {"allow_outside", "allow_outside", "--allow-outside", Kind::Flag},
};

// Either recordings, or meshes with trajectories and radii; the limits are those of the options of `trocar compare`.
constexpr ParameterRow kCompare[] = {
    {"recordings", "recording", "", Kind::File},
    {"meshes", "mesh", "--mesh", Kind::File},
    {"trajectories", "trajectory", "--trajectory", Kind::File},
    {"radii", "radius_mm", "--radius", Kind::Number, {1e-3, 1e4}},
    {"modes", "mode", "--mode", Kind::Word, {}, kModes},
    {"covers", "cover", "--cover", Kind::Word, {}, kCovers},
    {"sets", "set", "--set", Kind::Word, {}, kSets},
    {"every", "every", "--every", Kind::Whole, {1.0, 1e9}},
    {"scale", "scale", "--scale", Kind::Number, {1e-6, 1e6}},
    {"wobble", "wobble", "--wobble", Kind::Number, {0.0, 0.5}},
    {"backends", "backend", "--backends", Kind::Backends, {}, {}, true},
};

// The limits are those of the options of `trocar tissue test`.
constexpr ParameterRow kTissue[] = {
    {"shapes", "shape", "--shape", Kind::Word, {}, kShapes},
    {"meshes", "mesh", "--mesh", Kind::File},
    {"materials", "material", "--material", Kind::File},
    {"diameter", "diameter_mm", "--diameter", Kind::Number, {0.1, 1e4}},
    {"height", "height_mm", "--height", Kind::Number, {0.1, 1e4}},
    {"size", "size_mm", "--size", Kind::Word},
    {"spacing", "spacing_mm", "--spacing", Kind::Number, {0.05, 1e3}},
    {"turn", "turn_deg", "--turn", Kind::Number, {-180.0, 180.0}},
    {"ball", "ball_mm", "--ball", Kind::Number, {0.1, 1e4}},
    {"modulus", "modulus_kpa", "--modulus", Kind::Number, {1e-3, 1e6}},
    {"poisson", "poisson", "--poisson", Kind::Number, {0.25, 0.49}},
    {"stiffening", "stiffening", "--stiffening", Kind::Number, {kLeastStiffening, kMostStiffening}},
    {"late_stiffening", "late_stiffening", "--late-stiffening", Kind::Number, {0.0, kMostLateStiffening}},
    {"density", "density", "--density", Kind::Number, {1.0, 1e5}},
    {"to", "to", "--to", Kind::Number, {1e-4, 0.8}},
    {"twist", "twist_deg", "--twist", Kind::Number, {0.01, 360.0}},
    {"steps", "steps", "--steps", Kind::Whole, {1.0, 1000.0}},
    {"stick", "stick", "--stick", Kind::Flag},
    {"pull", "pull", "--pull", Kind::Flag},
    {"gravity", "gravity", "--gravity", Kind::Flag},
    {"springs", "springs", "--springs", Kind::Flag},
    {"reference", "reference", "--reference", Kind::Flag},
};

constexpr RunRow kRuns[] = {
    {"replay", "replay", ResultKind::Replay, kReplay},     {"score", "score", ResultKind::Score, kScore},
    {"perform", "perform", ResultKind::Score, kPerform},   {"compare", "compare", ResultKind::Compare, kCompare},
    {"tissue", "tissue test", ResultKind::Curve, kTissue},
};

}  // namespace

std::span<const RunRow> run_table() { return kRuns; }

namespace {

namespace fs = std::filesystem;

constexpr FileKind kPlanFile{"plan", std::uint64_t{1} << 20};
constexpr double kSchema = 1.0;
constexpr double kLongestTimeout = 864000.0;  // s      ten days

std::vector<std::string> words_of(std::string_view text, char separator) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == separator)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

// Reads one list of one group.
class ListReader {
 public:
  ListReader(TomlTable& table, const fs::path& folder, const ParameterRow& row)
      : table_(table), folder_(folder), row_(row) {}

  std::vector<PlanValue> read() {
    for (const PlanValue& element : table_.list(row_.key)) {
      const std::string* text = std::get_if<std::string>(&element);
      if (row_.kind == ParameterKind::Number || row_.kind == ParameterKind::Whole)
        text ? add_range(*text) : add_number(std::get<double>(element));
      else if (!text)
        fail("must be text in quotes, or a list of texts");
      else
        add_text(*text);
      if (values_.size() > kMostCases) fail(fmt::format("has more than {} values; divide the plan", kMostCases));
    }
    return std::move(values_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { table_.fail(row_.key, what); }

  void add_number(double number) {
    if (!(number >= row_.limits.low) || !(number <= row_.limits.high))
      fail(fmt::format("{} is outside its limits {:.10g} to {:.10g}", number, row_.limits.low, row_.limits.high));
    if (row_.kind == ParameterKind::Whole && number != std::floor(number))
      fail(fmt::format("{} is not a whole number", number));
    values_.emplace_back(number);
  }

  // "1..100"
  void add_range(const std::string& text) {
    const std::size_t dots = text.find("..");
    std::uint64_t low = 0, high = 0;
    const auto number = [&](std::size_t from, std::size_t to, std::uint64_t& value) {
      const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, value);
      return from < to && error == std::errc{} && end == text.data() + to;
    };
    if (row_.kind != ParameterKind::Whole) fail(fmt::format("'{}' is not a number", printable(text)));
    if (dots == std::string::npos || !number(0, dots, low) || !number(dots + 2, text.size(), high) || high < low)
      fail(fmt::format("'{}' is not a range of whole numbers, as in \"1..100\"", printable(text)));
    if (high - low >= kMostCases) fail(fmt::format("the range has more than {} numbers; divide the plan", kMostCases));
    for (std::uint64_t value = low; value <= high; ++value) add_number(static_cast<double>(value));
  }

  void add_text(const std::string& text) {
    if (text.empty() || printable(text, text.size()) != text)
      fail("a text is empty or has control characters; give it printable characters");
    if (row_.kind == ParameterKind::File) return add_files(text);
    if (row_.kind == ParameterKind::Backends) refuse_unknown_backends(text);
    if (!row_.words.empty() && std::find(row_.words.begin(), row_.words.end(), text) == row_.words.end())
      fail(fmt::format("'{}' must be one of {}", printable(text), fmt::join(row_.words, ", ")));
    values_.emplace_back(text);
  }

  void add_files(const std::string& path) {
    if (path.find('*') == std::string::npos) {
      std::error_code none;
      if (!fs::is_regular_file(folder_ / path, none))
        fail(fmt::format("there is no file '{}' in the plan's folder; check the path", printable(path, kLongestText)));
      values_.emplace_back(path);
      return;
    }
    if (fs::path(path).parent_path().string().find('*') != std::string::npos)
      fail(fmt::format("'{}' has * in the name of a folder; use it in the name of the file only", printable(path)));
    const std::vector<std::string> files = matching_files(folder_, path);
    if (files.empty()) fail(fmt::format("no file matches '{}'; check the path", printable(path, kLongestText)));
    for (const std::string& file : files) {
      if (printable(file, file.size()) != file)
        fail(fmt::format("the name of '{}' has characters that cannot be printed; rename the file", printable(file)));
      values_.emplace_back(file);
    }
  }

  void refuse_unknown_backends(const std::string& list) {
    const auto& known = backend_names();
    for (const std::string& name : words_of(list, ','))
      if (name != "auto" && std::find(known.begin(), known.end(), name) == known.end())
        fail(fmt::format("'{}' is not a backend; choose among {}", printable(name), fmt::join(known, ", ")));
    if (row_.option == "--backend" && list.find(',') != std::string::npos)
      fail("only `compare` takes several backends in one text; give a list of texts");
  }

  TomlTable& table_;
  const fs::path& folder_;
  const ParameterRow& row_;
  std::vector<PlanValue> values_;
};

const RunRow& run_of(TomlTable& table) {
  const std::string name = table.text("run");
  std::vector<std::string_view> names;
  for (const RunRow& row : run_table()) {
    if (name == row.name) return row;
    names.push_back(row.name);
  }
  table.fail("run", fmt::format("must be one of {}", fmt::join(names, ", ")));
}

void refuse_contradictions_of_perform(TomlTable& table) {
  if (table.has("faults") && table.has("as"))
    table.fail("as", "a trainee with a fault is an expert; leave out `as` or put `faults` into another [[cases]]");
  if (table.has("dose") && !table.has("faults")) table.fail("dose", "is the size of a fault; add `faults`");
}

void refuse_contradictions_of_compare(TomlTable& table) {
  if (!table.has("recordings")) {
    for (const char* key : {"meshes", "trajectories", "radii"})
      if (!table.has(key)) table.fail(key, "is missing; give recordings, or meshes, trajectories and radii");
    return;
  }
  for (const char* key : {"meshes", "trajectories", "radii", "modes", "covers", "sets", "every", "scale", "wobble"})
    if (table.has(key)) table.fail(key, "a recording has its own; put meshes into another [[cases]]");
}

CaseGroup read_group(TomlTable& table, const fs::path& folder, std::uint64_t first) {
  CaseGroup group{&run_of(table), {}, first, 1};
  for (const ParameterRow& row : group.run->parameters) {
    if (row.kind == ParameterKind::Flag) {
      bool set = false;
      table.optional(row.key, set);
      if (set) group.lists.push_back({&row, {PlanValue(1.0)}});
      continue;
    }
    if (!table.find(row.key)) {
      if (row.required) table.fail(row.key, "is missing");
      continue;
    }
    PlanList& list = group.lists.emplace_back();
    list.row = &row;
    list.values = ListReader(table, folder, row).read();
    group.count *= list.values.size();
    if (first + group.count > kMostCases)
      table.fail(row.key, fmt::format("the plan has more than {} cases; divide it", kMostCases));
  }
  table.refuse_unknown_keys();
  if (group.run->name == "perform") refuse_contradictions_of_perform(table);
  if (group.run->name == "compare") refuse_contradictions_of_compare(table);
  return group;
}

// Size and time of a file, so that a changed input is noticed.
std::string state_of_file(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "missing";
  return fmt::format("{} {}.{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

}  // namespace

Plan load_plan(const fs::path& file) {
  TomlTable table = TomlTable::parse(file, read_whole_file(file, kPlanFile));
  Plan plan;
  plan.file = file;
  std::error_code error;
  plan.folder = fs::absolute(file, error).parent_path();
  double schema = kSchema;
  table.optional("schema", schema, {kSchema, kSchema});
  table.optional("timeout_s", plan.timeout, {1.0, kLongestTimeout});
  std::vector<TomlTable> groups = table.tables("cases");
  table.refuse_unknown_keys();
  for (TomlTable& group : groups) {
    plan.groups.push_back(read_group(group, plan.folder, plan.cases));
    plan.cases += plan.groups.back().count;
  }
  if (plan.groups.empty()) throw InputError(fmt::format("{}: the plan has no cases; add [[cases]]", file.string()));
  return plan;
}

const CaseGroup& group_of(const Plan& plan, std::uint64_t number) {
  const auto after = std::upper_bound(plan.groups.begin(), plan.groups.end(), number,
                                      [](std::uint64_t value, const CaseGroup& group) { return value < group.first; });
  return *std::prev(after);
}

std::vector<const PlanValue*> values_of(const CaseGroup& group, std::uint64_t number) {
  std::vector<const PlanValue*> values(group.lists.size());
  std::uint64_t rest = number - group.first;
  for (std::size_t i = group.lists.size(); i-- > 0;) {
    const auto& list = group.lists[i].values;
    values[i] = &list[rest % list.size()];
    rest /= list.size();
  }
  return values;
}

std::string text_of(const ParameterRow& row, const PlanValue& value) {
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  return row.kind == ParameterKind::Whole || row.kind == ParameterKind::Flag ? fmt::format("{:.0f}", number)
                                                                             : fmt::format("{}", number);
}

SweepCase case_of(const Plan& plan, std::uint64_t number) {
  const CaseGroup& group = group_of(plan, number);
  const std::vector<const PlanValue*> values = values_of(group, number);
  SweepCase one{number, group.run->results, {words_of(group.run->command, ' ')}};
  std::vector<std::string>& words = one.commands.front();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ParameterRow& row = *group.lists[i].row;
    if (!row.option.empty()) words.emplace_back(row.option);
    if (row.kind == ParameterKind::Flag) continue;
    const std::string text = text_of(row, *values[i]);
    words.push_back(text.starts_with('-') && row.kind == ParameterKind::File ? "./" + text : text);
  }
  const std::string json = kScratchMark + std::string("result.json"), recording = kScratchMark + std::string("s.h5");
  if (group.run->name == "perform") {
    words.insert(words.end(), {"--out", recording});
    one.commands.push_back({"score", recording, "--json", json});
  } else if (one.results == ResultKind::Curve) {
    words.insert(words.end(), {"--out", kScratchMark + std::string("result.csv")});
  } else {
    words.insert(words.end(), {"--json", json});
  }
  return one;
}

std::vector<fs::path> files_of(const Plan& plan) {
  std::set<fs::path> files;
  for (const CaseGroup& group : plan.groups)
    for (const PlanList& list : group.lists)
      if (list.row->kind == ParameterKind::File)
        for (const PlanValue& value : list.values) files.insert(plan.folder / std::get<std::string>(value));
  return {files.begin(), files.end()};
}

std::uint64_t checksum_of(const Plan& plan) {
  std::uint64_t sum = kEmptyChecksum;
  const auto add = [&sum](const std::string& text) {
    sum = checksum_of(std::as_bytes(std::span(text.data(), text.size() + 1)), sum);
  };
  add(TROCAR_VERSION);
  for (const CaseGroup& group : plan.groups) {
    add(std::string(group.run->name));
    for (const PlanList& list : group.lists) {
      add(std::string(list.row->key));
      add(std::to_string(list.values.size()));
      for (const PlanValue& value : list.values) add(text_of(*list.row, value));
    }
  }
  for (const fs::path& file : files_of(plan)) add(state_of_file(file));
  return sum;
}

}  // namespace trocar
