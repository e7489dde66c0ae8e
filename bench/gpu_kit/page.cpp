#include "bench/gpu_kit/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace trocar::bench {
namespace {

constexpr double kMicroseconds = 1e3;  // of a millisecond

double median_us(const Json& row, const char* stage) { return row[stage]["median"].get<double>() * kMicroseconds; }
double p99_us(const Json& row, const char* stage) { return row[stage]["p99"].get<double>() * kMicroseconds; }

std::string head(const Json& results) {
  const Json& gl = results["gl"];
  std::string text = fmt::format("# Trocar: touch queries measured on this machine\n\nTrocar {}, {}. {}.\n",
                                 results["version"].get<std::string>(), results["date"].get<std::string>(),
                                 results["machine"].get<std::string>());
  if (gl.contains("none")) return text + fmt::format("OpenGL: not available ({}).\n", gl["none"].get<std::string>());
  text +=
      fmt::format("OpenGL: {} by {}, {} ({} profile).\n", gl["renderer"].get<std::string>(),
                  gl["vendor"].get<std::string>(), gl["version"].get<std::string>(), gl["profile"].get<std::string>());
  if (gl["software"].get<bool>()) text += "**This driver renders in software: no time here is that of a GPU.**\n";
  return text;
}

std::string verdicts(const Json& results) {
  std::string text = "\n## Backends on two triangles with a known answer\n\n| backend | verdict |\n|---|---|\n";
  for (const auto& [name, verdict] : results["doctor"].items())
    text += fmt::format("| `{}` | {} |\n", name, verdict.get<std::string>());
  return text;
}

std::string agreement(const Json& results) {
  std::string text =
      "\n## Agreement with the double-precision reference\n\n"
      "| backend | what | queries | touched faces | borderline | disagreements |\n|---|---|---|---|---|---|\n";
  for (const Json& row : results["agreement"])
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row["backend"].get<std::string>(),
                        row["what"].get<std::string>(), row["queries"].get<std::uint64_t>(),
                        row["touched"].get<std::uint64_t>(), row["borderline"].get<std::uint64_t>(),
                        row["disagreements"].get<std::uint64_t>());
  return text + fmt::format("\nAll together: {} disagreements.\n", disagreements_of(results));
}

// One line of a table of stages, in microseconds.
std::string stage_line(const Json& row, const std::string& first) {
  const double gpu = median_us(row, "gpu_ms");
  return fmt::format("| {} | {:.1f} | {:.1f} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} |\n", first,
                     median_us(row, "update_ms"), median_us(row, "submit_ms"),
                     gpu > 0.0 ? fmt::format("{:.1f}", gpu) : "-", median_us(row, "read_back_ms"),
                     median_us(row, "search_ms") + median_us(row, "refine_ms"), median_us(row, "total_ms"),
                     p99_us(row, "total_ms"), median_us(row, "same_positions_ms"), row["touched"].get<std::uint64_t>());
}

std::string stage_head(const char* first) {
  return fmt::format(
      "| {} | update | submit | GPU | read-back | CPU | total | p99 | same positions | touched |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      first);
}

bool is(const Json& row, const char* key, std::string_view value) { return row[key].get<std::string>() == value; }

std::string sizes(const Json& results) {
  std::string text =
      "\n## One frame against the number of faces\n\n"
      "Microseconds, medians (p99: 99th percentile). One instrument, set `exact`, new positions in every frame. GPU: "
      "by "
      "the GPU's own clock, part of the read-back. Same positions: a second query without an update, a lower bound for "
      "positions that are already in GPU memory.\n\n";
  text += stage_head("backend, faces");
  for (const Json& row : results["sizes"])
    if (is(row, "variant", "default") && is(row, "set", "exact"))
      text += stage_line(row, fmt::format("`{}` {}", row["backend"].get<std::string>(), row["faces"].get<int>()));
  return text;
}

std::string variants(const Json& results) {
  std::string text = "\n## Variants of `compute`\n\nThe default for this hardware, and one setting changed.\n\n";
  text += stage_head("variant, set, faces");
  for (const Json& row : results["sizes"])
    if (is(row, "backend", "compute"))
      text += stage_line(row, fmt::format("{}, {}, {}", row["variant"].get<std::string>(),
                                          row["set"].get<std::string>(), row["faces"].get<int>()));
  return text;
}

std::string tools(const Json& results) {
  std::string text = "\n## One frame against the number of instruments\n\nAs above.\n\n";
  text += stage_head("backend, instruments");
  for (const Json& row : results["tools"])
    text += stage_line(row, fmt::format("`{}` {}", row["backend"].get<std::string>(), row["tools"].get<int>()));
  return text;
}

const Json* find_compute(const Json& rows, const char* variant, const char* key, std::uint64_t least,
                         std::uint64_t most) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Json& row) {
    const auto value = row[key].get<std::uint64_t>();
    return is(row, "backend", "compute") && is(row, "variant", variant) && is(row, "set", "exact") && value >= least &&
           value <= most;
  });
  return found == rows.end() ? nullptr : &*found;
}

struct Goal {
  const char* what;
  double most;  // microseconds, or a ratio
  std::optional<double> measured;
};

std::optional<double> stage_of(const Json* row, const char* stage, const char* part) {
  return row ? std::optional((*row)[stage][part].get<double>() * kMicroseconds) : std::nullopt;
}

// The goals of docs/gpu-kit.md.
std::string goals(const Json& results) {
  const Json& sizes = results["sizes"];
  const Json* hundred = find_compute(sizes, "default", "faces", 95'000, 105'000);
  const Json *hundred_timed = find_compute(sizes, "timer query", "faces", 95'000, 105'000),
             *million_timed = find_compute(sizes, "timer query", "faces", 950'000, 1'050'000);
  const Json *one = find_compute(results["tools"], "default", "tools", 1, 1),
             *sixteen = find_compute(results["tools"], "default", "tools", 16, 16);
  std::optional<double> ratio;
  if (one && sixteen)
    ratio = *stage_of(sixteen, "total_ms", "median") / std::max(1e-9, *stage_of(one, "total_ms", "median"));
  const Goal list[] = {
      {"GPU time at 100,000 faces, us", 8.0, stage_of(hundred_timed, "gpu_ms", "median")},
      {"GPU time at 1,000,000 faces, us", 40.0, stage_of(million_timed, "gpu_ms", "median")},
      {"total with upload at 100,000 faces, median, us", 60.0, stage_of(hundred, "total_ms", "median")},
      {"total with upload at 100,000 faces, p99, us", 100.0, stage_of(hundred, "total_ms", "p99")},
      {"same positions at 100,000 faces, median, us", 30.0, stage_of(hundred, "same_positions_ms", "median")},
      {"16 instruments against one, ratio", 1.3, ratio}};
  std::string text =
      "\n## Goals of `compute` on a GPU\n\nSet `exact`, default variant; GPU time: variant `timer query`.\n\n| goal | "
      "at most | measured | met "
      "|\n|---|---|---|---|\n";
  for (const Goal& goal : list)
    text += goal.measured ? fmt::format("| {} | {} | {:.1f} | {} |\n", goal.what, goal.most, *goal.measured,
                                        *goal.measured <= goal.most ? "yes" : "no")
                          : fmt::format("| {} | {} | not measured | - |\n", goal.what, goal.most);
  return text;
}

std::string failures(const Json& results) {
  if (results["failures"].empty()) return "";
  std::string text = "\n## Sections that failed\n\n";
  for (const Json& failure : results["failures"]) text += fmt::format("- {}\n", failure.get<std::string>());
  return text;
}

}  // namespace

std::uint64_t disagreements_of(const Json& results) {
  std::uint64_t sum = 0;
  for (const Json& row : results["agreement"]) sum += row["disagreements"].get<std::uint64_t>();
  return sum;
}

std::string kit_page(const Json& results) {
  return head(results) + failures(results) + verdicts(results) + agreement(results) + goals(results) + sizes(results) +
         tools(results) + variants(results);
}

}  // namespace trocar::bench
