#include "sim/scene/scene_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "geometry/error.hpp"
#include "sim/scene/task_reader.hpp"
#include "sim/support/output_file.hpp"

namespace trocar {
namespace {

// The shortest decimal number that `back` converts to exactly `value`.
template <typename Number, typename Back>
std::string shortest(Number value, double written, Back back) {
  for (int digits = 1; digits <= 17; ++digits) {
    const double rounded = std::strtod(fmt::format("{:.{}g}", written, digits).c_str(), nullptr);
    if (back(rounded) == value) return fmt::format("{}", rounded);
  }
  // The product is rounded, so a neighbouring number may be the exact one.
  for (const double side : {-1e300, 1e300}) {
    double near = written;
    for (int step = 0; step < 4; ++step) {
      near = std::nextafter(near, side);
      if (back(near) == value) return fmt::format("{}", near);
    }
  }
  return fmt::format("{}", written);
}

template <typename Number>
std::string plain(Number value) {
  return shortest(value, static_cast<double>(value), [](double read) { return static_cast<Number>(read); });
}

template <typename Number>
std::string in_mm(Number value) {
  return shortest(value, static_cast<double>(value) * 1e3, [](double mm) { return static_cast<Number>(mm * 1e-3); });
}

template <typename Vector>
std::string plain3(const Vector& v) {
  return fmt::format("[{}, {}, {}]", plain(v.x), plain(v.y), plain(v.z));
}

template <typename Vector>
std::string in_mm3(const Vector& v) {
  return fmt::format("[{}, {}, {}]", in_mm(v.x), in_mm(v.y), in_mm(v.z));
}

std::string quoted(const std::string& words) {
  std::string text = "\"";
  for (const char letter : words) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\')
      text += {'\\', letter};
    else if (letter == '\n')
      text += "\\n";
    else if (code < 0x20 || code == 0x7f)
      text += fmt::format("\\u{:04x}", code);
    else
      text += letter;
  }
  return text + '"';
}

// One table of the file; a table without lines is not written.
class Table {
 public:
  explicit Table(std::string header) : header_(std::move(header)) {}

  void add(std::string_view key, const std::string& value) { lines_ += fmt::format("{} = {}\n", key, value); }
  // Adds the key unless the value is the default.
  template <typename Value, typename Written>
  void differing(std::string_view key, const Value& value, const Value& usual, Written written) {
    if (value != usual) add(key, written(value));
  }
  std::string text(bool always = false) const { return lines_.empty() && !always ? "" : header_ + lines_; }

 private:
  std::string header_, lines_;
};

constexpr auto kPlain = [](auto value) { return plain(value); };
constexpr auto kInMm = [](auto value) { return in_mm(value); };
constexpr auto kQuoted = [](const std::string& words) { return quoted(words); };
constexpr auto kPlain3 = [](const auto& v) { return plain3(v); };
constexpr auto kWhole = [](int number) { return fmt::format("{}", number); };

std::string path_text(const std::filesystem::path& path, const std::filesystem::path& file) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  const auto beside = std::filesystem::absolute(path).lexically_normal().lexically_relative(folder.lexically_normal());
  return quoted((beside.empty() ? path : beside).generic_string());
}

std::string tissue_text(const TissueParams& tissue) {
  const TissueParams usual;
  Table table("[organ.tissue]\n");
  table.differing("youngs_modulus", tissue.youngs_modulus, usual.youngs_modulus, kPlain);
  table.differing("poisson_ratio", tissue.poisson_ratio, usual.poisson_ratio, kPlain);
  table.differing("density", tissue.density, usual.density, kPlain);
  table.differing("damping_ms", tissue.damping_time, usual.damping_time, kInMm);
  table.differing("drag", tissue.drag, usual.drag, kPlain);
  table.differing("friction", tissue.friction, usual.friction, kPlain);
  table.differing("node_spacing_mm", tissue.node_spacing, usual.node_spacing, kInMm);
  table.differing("substeps", tissue.substeps, usual.substeps, kWhole);
  table.differing("gravity", tissue.gravity, usual.gravity, kPlain3);
  return table.text();
}

std::string attachment_text(const Attachment& attachment) {
  Table table("[[organ.attachment]]\n");
  table.add("centre_mm", in_mm3(attachment.centre));
  table.add("radius_mm", in_mm(attachment.radius));
  table.differing("stiffness", attachment.stiffness, 0.f, kPlain);
  if (attachment.diaphragm) table.add("diaphragm", "true");
  return table.text();
}

std::string organ_text(const OrganScene& organ, const std::filesystem::path& file) {
  const OrganScene usual;
  Table table("\n[[organ]]\n");
  table.add("name", quoted(organ.name));
  table.add("mesh", path_text(organ.mesh, file));
  table.differing("mm_per_unit", organ.mm_per_unit, usual.mm_per_unit, kPlain);
  table.differing("colour", organ.colour, usual.colour, kPlain3);
  std::string text = table.text() + tissue_text(organ.tissue);
  for (const Attachment& attachment : organ.attachments) text += attachment_text(attachment);
  return text;
}

std::string limits_text(const char* header, const JointLimits& limits) {
  const JointLimits usual;
  Table table(header);
  table.differing("pan_deg", limits.pan_deg, usual.pan_deg, kPlain);
  table.differing("lowest_tilt_deg", limits.lowest_tilt_deg, usual.lowest_tilt_deg, kPlain);
  table.differing("highest_tilt_deg", limits.highest_tilt_deg, usual.highest_tilt_deg, kPlain);
  table.differing("shallowest_mm", limits.shallowest, usual.shallowest, kInMm);
  table.differing("deepest_mm", limits.deepest, usual.deepest, kInMm);
  table.differing("widest_grip_deg", limits.widest_grip_deg, usual.widest_grip_deg, kPlain);
  return table.text();
}

std::string instrument_text(const InstrumentScene& instrument, const std::filesystem::path& file) {
  const InstrumentScene usual;
  Table table("\n[[instrument]]\n");
  table.add("name", quoted(instrument.name));
  if (instrument.kind != usual.kind) table.add("kind", quoted(name_of(instrument.kind)));
  table.add("pivot_mm", in_mm3(instrument.pivot));
  table.add("tip_mm", in_mm3(instrument.tip));
  table.add("radius_mm", in_mm(instrument.radius));
  table.differing("axis", instrument.axis, usual.axis, kPlain3);
  table.add("device", quoted(instrument.device));
  table.differing("source", instrument.source, usual.source, kQuoted);
  table.differing("script", instrument.script, usual.script, kQuoted);
  if (instrument.device == "trajectory") table.add("trajectory", path_text(instrument.trajectory, file));
  return table.text() + limits_text("[instrument.limits]\n", instrument.limits);
}

std::string scope_text(const ScopeScene& scope) {
  const ScopeScene usual;
  Table table("\n[scope]\n");
  table.add("eye_mm", in_mm3(scope.eye));
  table.add("target_mm", in_mm3(scope.target));
  table.differing("field_of_view_deg", scope.field_of_view_deg, usual.field_of_view_deg, kPlain);
  table.differing("angle_deg", scope.angle_deg, usual.angle_deg, kPlain);
  table.differing("spin_deg", scope.spin_deg, usual.spin_deg, kPlain);
  table.differing("rod_mm", scope.rod, usual.rod, kInMm);
  table.differing("barrel", scope.lens.barrel, usual.lens.barrel, kPlain);
  table.differing("field", scope.lens.field, usual.lens.field, kPlain);
  table.differing("device", scope.device, usual.device, kQuoted);
  table.differing("source", scope.source, usual.source, kQuoted);
  return table.text() + limits_text("[scope.limits]\n", scope.limits);
}

std::string sim_text(const Scene& scene) {
  const Scene usual;
  Table query("\n[query]\n"), solver("\n[solver]\n"), breathing("\n[breathing]\n");
  query.differing("backend", scene.query.backend, usual.query.backend, kQuoted);
  const auto named = [](auto value) { return quoted(std::string(name_of(value))); };
  query.differing("mode", scene.query.mode, usual.query.mode, named);
  query.differing("cover", scene.query.cover, usual.query.cover, named);
  solver.differing("threads", scene.solver.threads, usual.solver.threads, kWhole);
  breathing.differing("amplitude_mm", scene.breathing.amplitude, usual.breathing.amplitude, kInMm);
  breathing.differing("rate_hz", scene.breathing.rate, usual.breathing.rate, kPlain);
  breathing.differing("direction", scene.breathing.direction, usual.breathing.direction, kPlain3);
  return query.text() + solver.text() + breathing.text();
}

std::string zone_text(const TaskZone& zone) {
  std::string outline;
  for (const glm::dvec2& corner : zone.outline)
    outline += fmt::format("{}[{}, {}]", outline.empty() ? "" : ", ", plain(corner.x), plain(corner.y));
  return fmt::format("[[task.zone]]\noutline = [{}]\n", outline);
}

std::string task_text(const TaskScene& task) {
  const TaskScene usual;
  Table table("\n[task]\n");
  table.add("kind", quoted(std::string(name_of(task.kind))));
  table.differing("title", task.title, usual.title, kQuoted);
  table.differing("instructions", task.instructions, usual.instructions, kQuoted);
  table.differing("instrument", task.instrument, usual.instrument, kQuoted);
  table.differing("tolerance_mm", task.tolerance, usual.tolerance, kInMm);
  table.differing("hold_s", task.hold, usual.hold, kPlain);
  table.differing("lift_mm", task.lift, usual.lift, kInMm);
  table.differing("most_force_n", task.most_force, usual.most_force, kPlain);
  table.differing("time_good_s", task.time_good, usual.time_good, kPlain);
  table.differing("time_limit_s", task.time_limit, usual.time_limit, kPlain);
  std::string text = table.text();
  for (const TaskPlace& place : task.places)
    text += fmt::format("[[task.place]]\norgan = {}\nat_mm = {}\n", quoted(place.organ), in_mm3(place.place));
  for (const TaskZone& zone : task.zones) text += zone_text(zone);
  return text;
}

}  // namespace

std::string scene_text(const Scene& scene, const std::filesystem::path& file) {
  const Scene usual;
  std::string text = "# Millimetres; -x patient right, +y head, +z anterior.\n";
  if (!scene.title.empty()) text += fmt::format("title = {}\n", quoted(scene.title));
  if (scene.frame_rate != usual.frame_rate) text += fmt::format("frame_rate = {}\n", plain(scene.frame_rate));
  text += scope_text(scene.scope) + sim_text(scene);
  for (const OrganScene& organ : scene.organs) text += organ_text(organ, file);
  for (const InstrumentScene& instrument : scene.instruments) text += instrument_text(instrument, file);
  if (scene.task) text += task_text(*scene.task);
  return text;
}

void save_scene(const Scene& scene, const std::filesystem::path& file, bool replace) {
  if (!replace && std::filesystem::exists(file))
    throw InputError(
        fmt::format("{}: exists already; choose another name, or allow it to be overwritten", file.string()));
  const std::string text = scene_text(scene, file);
  parse_scene(text, file);  // refuses a scene that could not be loaded again, for example because of a name
  OutputFile out = OutputFile::replacing(file);
  out.stream() << text;
  out.commit();
}

}  // namespace trocar
