// Writes the report of a comparison as text, CSV, JSON and an SVG plot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/compare/compare.hpp"

namespace trocar {

namespace {

// Returns counters and memory, or dashes for a backend that does not report them.
std::string costs_of(const BackendResult& b) {
  if (b.memory_bytes == 0) return fmt::format(" {:>8} {:>8} {:>8} {:>8}", "-", "-", "-", "-");
  return fmt::format(" {:>8.0f} {:>8.0f} {:>8.0f} {:>8.2f}", b.volume_tests, b.face_tests, b.updated_nodes,
                     static_cast<double>(b.memory_bytes) / (1024.0 * 1024.0));
}

}  // namespace

std::string pace(double own_ms, double other_ms) {
  // Below this ratio the times are equal to one decimal.
  constexpr double kEqual = 1.05;
  if (!(own_ms > 0.0) || !(other_ms > 0.0)) return "";
  if (other_ms >= kEqual * own_ms) return fmt::format("{:.1f} times faster", other_ms / own_ms);
  if (own_ms >= kEqual * other_ms) return fmt::format("{:.1f} times slower", own_ms / other_ms);
  return "as fast";
}

std::string compare_table(const CompareReport& report) {
  std::string text =
      fmt::format("{} faces, {} vertices, {} frames, {} tools, radius {} mm, {} {} {}\n{}\nOpenGL: {}\n", report.faces,
                  report.vertices, report.frames, report.tools, report.radius_mm, name_of(report.kind.mode),
                  name_of(report.kind.cover), name_of(report.kind.set), report.machine, report.gl);
  text += fmt::format("{:<14} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>6} {:>9} {:>8} {:>8} {:>8} {:>8} {:>19}\n",
                      "backend", "update ms", "query ms", "total ms", "p99 ms", "frames", "touched", "border",
                      "disagree", "Nv", "Np", "Nu", "MiB", "against obb");
  const BackendResult* obb = report.find("obb");
  for (const auto& b : report.backends) {
    const std::string against = obb ? pace(b.total.median, obb->total.median) : "";
    text += fmt::format("{:<14} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>7} {:>9} {:>6} {:>9}{} {:>19}\n", b.name,
                        b.update.median, b.query.median, b.total.median, b.total.p99, b.frames, b.touched, b.borderline,
                        b.disagreements, costs_of(b), against.empty() ? "-" : against);
  }
  text += "frames: timed frames; touched: faces in the answers of these frames, counted once per volume\n";
  text += "Nv, Np, Nu: volumes tested, faces tested, nodes updated per frame (mean); MiB: memory in use\n";
  return text;
}

std::string compare_csv(const CompareReport& report) {
  std::string text =
      "backend,frames,update_ms_median,update_ms_p99,query_ms_median,query_ms_p99,total_ms_median,total_ms_p99,"
      "gpu_ms_median,touched,borderline,disagreements,volume_tests,face_tests,updated_nodes,memory_bytes,"
      "speedup_over_obb\n";
  for (const auto& b : report.backends)
    text +=
        fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{},{},{},{:.1f},{:.1f},{:.1f},{},{:.3f}\n",
                    b.name, b.frames, b.update.median, b.update.p99, b.query.median, b.query.p99, b.total.median,
                    b.total.p99, b.gpu.median, b.touched, b.borderline, b.disagreements, b.volume_tests, b.face_tests,
                    b.updated_nodes, b.memory_bytes, report.speedup_over_obb(b));
  return text;
}

std::string compare_json(const CompareReport& report) {
  const auto summary = [](const TimeSummary& times) {
    return nlohmann::ordered_json{{"median", times.median}, {"p99", times.p99}, {"minimum", times.minimum}};
  };
  nlohmann::ordered_json json = {{"version", report.version},
                                 {"machine", report.machine},
                                 {"gl", report.gl},
                                 {"date", report.date},
                                 {"faces", report.faces},
                                 {"vertices", report.vertices},
                                 {"frames", report.frames},
                                 {"tools", report.tools},
                                 {"radius_mm", report.radius_mm},
                                 {"mode", name_of(report.kind.mode)},
                                 {"cover", name_of(report.kind.cover)},
                                 {"set", name_of(report.kind.set)}};
  json["backends"] = nlohmann::ordered_json::object();
  json["speedup_over_obb"] = nlohmann::ordered_json::object();
  for (const auto& b : report.backends) {
    json["backends"][b.name] = {{"update_ms", summary(b.update)},
                                {"query_ms", summary(b.query)},
                                {"total_ms", summary(b.total)},
                                {"gpu_ms", summary(b.gpu)},
                                {"frames", b.frames},
                                {"touched", b.touched},
                                {"borderline", b.borderline},
                                {"disagreements", b.disagreements},
                                {"volume_tests", b.volume_tests},
                                {"face_tests", b.face_tests},
                                {"updated_nodes", b.updated_nodes},
                                {"memory_bytes", b.memory_bytes}};
    if (const double speedup = report.speedup_over_obb(b); speedup > 0.0) json["speedup_over_obb"][b.name] = speedup;
  }
  return json.dump(2) + "\n";
}

namespace {

constexpr double kLeft = 120.0, kRight = 90.0, kTop = 58.0, kRow = 26.0, kWidth = 760.0, kBottom = 46.0;

// Logarithmic axis in milliseconds; it covers whole decades.
struct LogAxis {
  double low = 1e-3, high = 1.0;  // ms

  double x(double ms) const {
    const double t = (std::log10(std::max(ms, low)) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return kLeft + t * (kWidth - kLeft - kRight);
  }
};

LogAxis axis_for(const CompareReport& report) {
  double smallest = 1.0, largest = 1e-3;
  for (const auto& b : report.backends) {
    if (b.total.median <= 0.0) continue;
    smallest = std::min(smallest, b.query.median > 0.0 ? b.query.median : b.total.median);
    largest = std::max(largest, b.total.median);
  }
  LogAxis axis;
  axis.low = std::pow(10.0, std::floor(std::log10(smallest * 0.5)));
  axis.high = std::pow(10.0, std::ceil(std::log10(largest * 1.1)));
  return axis;
}

}  // namespace

std::string compare_svg(const CompareReport& report) {
  const LogAxis axis = axis_for(report);
  const double height = kTop + kRow * static_cast<double>(report.backends.size()) + kBottom;
  const double base = height - kBottom + 4.0;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"16\" y=\"24\" font-size=\"16\" font-weight=\"bold\">Touch query, time per frame (median)</text>\n"
      "<text x=\"16\" y=\"43\" fill=\"#555\">{2} faces, {3} frames, {4} {5} {6}; update and read-back included; "
      "{7} disagreements</text>\n",
      kWidth, height, report.faces, report.frames, name_of(report.kind.mode), name_of(report.kind.cover),
      name_of(report.kind.set), report.disagreements());
  for (double tick = axis.low; tick <= axis.high * 1.001; tick *= 10.0) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#ddd\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\" fill=\"#555\">{4:g} ms</text>\n",
        axis.x(tick), kTop, base, base + 18.0, tick);
  }
  double y = kTop;
  for (const auto& b : report.backends) {
    const double end = axis.x(b.total.median);
    const bool on_gpu = b.name == "compute" || b.name == "occlusion" || b.name == "select";
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"16\" rx=\"2\" fill=\"{}\"/>"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"3\" height=\"16\" fill=\"#222\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{:.3g} ms</text>\n",
        kLeft - 8.0, y + 17.0, b.name, kLeft, y + 4.0, std::max(1.0, end - kLeft), on_gpu ? "#0072b2" : "#e69f00",
        axis.x(b.query.median) - 3.0, y + 4.0, end + 6.0, y + 17.0, b.total.median);
    y += kRow;
  }
  const double legend = height - 18.0;
  double x = kLeft;
  for (const auto& [colour, what] : {std::pair("#0072b2", "OpenGL"), std::pair("#e69f00", "CPU"),
                                     std::pair("#222", "tick: the query without the update")}) {
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n", x,
        legend, colour, x + 18.0, legend + 11.0, what);
    x += 90.0;
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace trocar
