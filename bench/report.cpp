#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trocar::bench {
namespace {

constexpr double kMicro = 1e3;  // us per ms

struct Claim {
  std::string_view ours;
  std::vector<std::string_view> peers;  // the fastest one counts
  std::string_view words;
  double wanted;
};

const std::vector<Claim>& claims() {
  static const std::vector<Claim> list = {
      {"scan", {"fcl_obbrss_rebuild"}, "FCL's OBBRSS rebuild", 1500.0},
      {"scan",
       {"fcl_aabb_refit", "fcl_aabb_refit_float", "embree_morton", "embree_morton_boxes", "bullet_refit"},
       "the best of FCL AABB refit, Embree Morton rebuild, Bullet refit as documented",
       60.0},
      {"scan", {"bullet_bare_refit"}, "the refit of Bullet's inner tree alone", 60.0},
      {"compute", {"fcl_obbrss_rebuild"}, "FCL's OBBRSS rebuild", 100.0},
      {"obb", {"fcl_obbrss_rebuild"}, "FCL's OBBRSS rebuild", 3.0},
      {"aabb-refit",
       {"fcl_aabb_refit", "fcl_aabb_refit_float", "embree_refit", "embree_refit_boxes", "bullet_refit",
        "bullet_bare_refit"},
       "the best refit of FCL, Embree and Bullet",
       5.0},
  };
  return list;
}

const Measured* fastest(const Table& table, const std::vector<std::string_view>& names) {
  const Measured* best = nullptr;
  for (const std::string_view name : names) {
    const Measured* way = table.find(name);
    if (way && (!best || way->total.median < best->total.median)) best = way;
  }
  return best;
}

std::string claim_lines(const Table& table) {
  std::string text;
  for (const Claim& claim : claims()) {
    const Measured *ours = table.find(claim.ours), *peer = fastest(table, claim.peers);
    if (!ours || !peer) continue;
    text += fmt::format("{} against {} ({}): {} by medians, {} by minimums; target {:.0f} times faster\n", claim.ours,
                        claim.words, peer->name, pace(ours->total.median, peer->total.median),
                        pace(ours->total.minimum, peer->total.minimum), claim.wanted);
  }
  return text;
}

nlohmann::ordered_json way_json(const Measured& way) {
  const auto summary = [](const TimeSummary& times) {
    return nlohmann::ordered_json{{"median", times.median}, {"p99", times.p99}, {"minimum", times.minimum}};
  };
  return {{"how", way.how},
          {"update_ms", summary(way.update)},
          {"query_ms", summary(way.query)},
          {"total_ms", summary(way.total)},
          {"timed_frames", way.frames},
          {"touched", way.touched},
          {"missing", way.missing},
          {"extra", way.extra},
          {"disagreements", way.missing + way.extra}};
}

nlohmann::ordered_json table_json(const Table& table) {
  nlohmann::ordered_json json = {{"organ", table.organ},
                                 {"trajectory", table.motion},
                                 {"faces", table.faces},
                                 {"vertices", table.vertices},
                                 {"frames", table.checked_frames},
                                 {"tools", 1},
                                 {"radius_mm", table.radius_mm},
                                 {"mode", "swept"},
                                 {"cover", "capsule"},
                                 {"set", "volume"}};
  json["backends"] = json["peers"] = nlohmann::ordered_json::object();
  for (const Measured& way : table.ways) json[way.peer ? "peers" : "backends"][way.name] = way_json(way);
  return json;
}

}  // namespace

const Measured* Table::find(std::string_view name) const {
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const Measured& way) { return way.name == name; });
  return found == ways.end() ? nullptr : &*found;
}

std::string table_text(const Origin& origin, const Table& table) {
  std::string text = fmt::format(
      "{}, {} faces, {} vertices, every vertex moved every frame; {}, one swept capsule tool of radius {} mm\n"
      "set `volume`, update included, one core; methods run in turn in random order; microseconds per frame\n"
      "{}; {}\nOpenGL: {}, {} software threads\n\n",
      table.organ, table.faces, table.vertices, table.motion, table.radius_mm, origin.machine, origin.date, origin.gl,
      origin.gl_threads);
  text += fmt::format("{:<24}{:>10}{:>10}{:>11}{:>11}{:>11}{:>8}{:>9}{:>8}{:>7}  {}\n", "method", "update", "query",
                      "median", "minimum", "p99", "frames", "touched", "missing", "extra", "description");
  std::vector<const Measured*> ways;
  for (const Measured& way : table.ways) ways.push_back(&way);
  std::sort(ways.begin(), ways.end(),
            [](const Measured* a, const Measured* b) { return a->total.median < b->total.median; });
  for (const Measured* way : ways)
    text += fmt::format("{:<24}{:>10.1f}{:>10.1f}{:>11.1f}{:>11.1f}{:>11.1f}{:>8}{:>9}{:>8}{:>7}  {}\n", way->name,
                        way->update.median * kMicro, way->query.median * kMicro, way->total.median * kMicro,
                        way->total.minimum * kMicro, way->total.p99 * kMicro, way->frames, way->touched, way->missing,
                        way->extra, way->how);
  return text + "\n" + claim_lines(table);
}

std::string sizes_text(const std::vector<Table>& sizes) {
  if (sizes.empty()) return "";
  std::string text = fmt::format("Median microseconds per frame against faces\n{:<24}", "method");
  for (const Table& table : sizes) text += fmt::format("{:>11}", table.faces);
  for (const Measured& way : sizes.front().ways) {
    text += fmt::format("\n{:<24}", way.name);
    for (const Table& table : sizes) {
      const Measured* found = table.find(way.name);
      text += found ? fmt::format("{:>11.1f}", found->total.median * kMicro) : fmt::format("{:>11}", "-");
    }
  }
  text += fmt::format("\n{:<24}", "scan, ns per vertex");
  for (const Table& table : sizes) {
    const Measured* scan = table.find("scan");
    text +=
        scan ? fmt::format("{:>11.2f}", scan->total.median * 1e6 / double(table.vertices)) : fmt::format("{:>11}", "-");
  }
  return text + "\n";
}

std::string report_json(const Report& report) {
  nlohmann::ordered_json json = {{"version", report.origin.version},
                                 {"machine", report.origin.machine},
                                 {"gl", report.origin.gl},
                                 {"gl_threads", report.origin.gl_threads},
                                 {"date", report.origin.date}};
  json.update(table_json(report.main));
  json["sizes"] = nlohmann::ordered_json::array();
  for (const Table& table : report.sizes) json["sizes"].push_back(table_json(table));
  return json.dump(2) + "\n";
}

}  // namespace trocar::bench
