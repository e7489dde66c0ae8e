#include "app/commands/doctor_scene.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"
#include "sim/trial/force_range.hpp"
#include "sim/trial/scene_trial.hpp"

namespace trocar {
namespace {

// A share of the surface that is worth a sentence.
constexpr double kWorthTelling = 0.005;  // 1
// A remedy aims at this share of the time of a frame.
constexpr double kAim = 0.9;
// Times are doubtful when other programs use more than this.
constexpr double kBusyCores = 0.3;  // 1  cores
// A lattice that would have to be coarser than this is no remedy.
constexpr double kCoarsest = 2.0;  // 1  times its spacing

// A folder for the recording of the trial, which goes with it.
class TrialFolder {
 public:
  TrialFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trocar-doctor-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw InputError(name + ": cannot be made; name a folder that can be written in the environment variable TMPDIR");
    path_ = name;
  }
  ~TrialFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  std::filesystem::path recording() const { return path_ / "trial.h5"; }

 private:
  std::filesystem::path path_;
};

// Measures how many cores other programs use, by the times that the system keeps (Linux: proc(5), /proc/stat).
class BusyMachine {
 public:
  BusyMachine() : busy_(busy_seconds()), own_(own_seconds()), start_(std::chrono::steady_clock::now()) {}
  // Since this object was made; 0 where the system does not say.
  double cores_of_others() const {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
    return std::max(0.0, (busy_seconds() - busy_ - (own_seconds() - own_)) / wall.count());
  }

 private:
  static double own_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
  // Of all cores, since the machine was started.
  static double busy_seconds() {
    std::ifstream in("/proc/stat");
    std::string cpu;
    double user = 0.0, nice = 0.0, system = 0.0;
    return in >> cpu >> user >> nice >> system ? (user + nice + system) / static_cast<double>(sysconf(_SC_CLK_TCK))
                                               : 0.0;
  }

  double busy_, own_;  // s
  std::chrono::steady_clock::time_point start_;
};

void line(std::string_view what, const std::string& text) { fmt::print("{:<14} {}\n", what, text); }
void indented(std::string_view what, const std::string& text) { fmt::print("  {:<12} {}\n", what, text); }

double percent(double share) { return 100.0 * share; }
double mm(double metres) { return 1e3 * metres; }

std::string quoted(const std::string& name) { return fmt::format("'{}'", printable(name)); }

// A row of the table of forces: by how much they may be wrong up to a depth and a force.
void force_row(const std::string& tip, const ForceBounds& bounds, double depth, double force) {
  fmt::print("    {:<44}{:>5.0f} %{:>8.0f} %   {:.1f} mm, {:.3f} N\n", tip, percent(1.0 - std::min(bounds.low, 1.0)),
             percent(std::max(bounds.high, 1.0) - 1.0), mm(depth), force);
}

void show_times(const SceneTrial& trial) {
  fmt::print("\n{:<14} {:<28}{}\n", "ms of a frame", fmt::format("at rest ({} frames)", trial.rest.frames),
             fmt::format("pressed ({} frames)", trial.press.frames));
  fmt::print("{:<14}{:>8}{:>8}{:>8}    {:>8}{:>8}{:>8}\n", "", "median", "99 %", "largest", "median", "99 %",
             "largest");
  const auto row = [](std::string_view name, const Spread& rest, const Spread& press) {
    fmt::print("{:<14}{:>8.2f}{:>8.2f}{:>8.2f}    {:>8.2f}{:>8.2f}{:>8.2f}\n", name, rest.median, rest.high,
               rest.largest, press.median, press.high, press.largest);
  };
  for (std::size_t stage = 0; stage < kStages; ++stage)
    row(stage_names()[stage], trial.rest.stage[stage], trial.press.stage[stage]);
  row("all", trial.rest.total, trial.press.total);
}

std::string verdict_text(const SceneTrial& trial, double frame_ms) {
  const PhaseTimes& slow = trial.press.total.high > trial.rest.total.high ? trial.press : trial.rest;
  switch (frame_verdict(trial.rest, trial.press, frame_ms)) {
    case FrameVerdict::Fits:
      if (trial.press.frames == 0) return "not known: no instrument pressed an organ; at rest the scene fits";
      return fmt::format("fits: 99 of 100 frames take at most {:.1f} ms of {:.1f} ms", slow.total.high, frame_ms);
    case FrameVerdict::Tight:
      return fmt::format(
          "tight: half of the frames take at most {:.1f} ms, but {:.0f} % take longer than {:.1f} ms, the slowest "
          "{:.1f} ms; the picture stutters then",
          slow.total.median, std::max(1.0, percent(slow.late)), frame_ms, slow.total.largest);
    case FrameVerdict::TooHeavy:
      break;
  }
  const double usual = std::max(trial.rest.total.median, trial.press.total.median);
  return fmt::format(
      "too heavy: a frame takes {:.1f} ms and may take {:.1f} ms; the simulation runs at {:.0f} % of real time", usual,
      frame_ms, percent(frame_ms / usual));
}

// What to change so that frames fit. Time of tissue and contacts belongs to lattices, that of other stages to faces.
std::string remedy_text(const Scene& scene, const SceneTrial& trial, double frame_ms) {
  const PhaseTimes& slow = trial.press.total.high > trial.rest.total.high ? trial.press : trial.rest;
  const double tissue = slow.stage[kTissue].high + slow.stage[kContacts].high;
  std::size_t costly = 0, largest = 0;
  double seconds = 0.0;
  for (std::size_t k = 0; k < trial.organs.size(); ++k) {
    seconds += trial.organs[k].press.seconds;
    if (trial.organs[k].press.seconds > trial.organs[costly].press.seconds) costly = k;
    if (trial.organs[k].faces > trial.organs[largest].faces) largest = k;
  }
  if (tissue < 0.5 * slow.total.high || !(seconds > 0.0))
    return fmt::format(
        "most of the time depends on faces, not on lattices: {} has the most, {}; reduce them with trocar mesh "
        "decimate",
        quoted(scene.organs[largest].name), trial.organs[largest].faces);
  const OrganTrial& organ = trial.organs[costly];
  const double share = organ.press.seconds / seconds,
               spacing = mm(static_cast<double>(scene.organs[costly].tissue.node_spacing));
  const bool sets = organ.press.cause == SubstepCause::Elastic && organ.press.count > trial.contact_substeps;
  const std::optional<double> factor = coarser_by((slow.total.high - kAim * frame_ms) / tissue, share, sets);
  const std::string who = fmt::format("the lattice of {} takes about {:.0f} % of the time of all lattices",
                                      quoted(scene.organs[costly].name), percent(share));
  if (!factor || *factor > kCoarsest)
    return who + "; a coarser one alone is not enough: leave out organs or instruments, or use a faster machine";
  const double thin = organ.thickness.below(2e-3 * *factor * spacing);
  return fmt::format(
      "{}: give it node_spacing_mm = {:.3g} instead of {:g} ({:.0f} % of its surface is then thinner than two cells), "
      "or leave out an organ",
      who, *factor * spacing, spacing, percent(thin));
}

std::string cause_text(const Scene& scene, const OrganSubsteps& substeps) {
  switch (substeps.cause) {
    case SubstepCause::Elastic:
      return "its stiffness and mass at this spacing";
    case SubstepCause::Ligament:
      return "the elastic ligament of an attachment, which is stiffer than its lattice";
    case SubstepCause::Fibres:
      return "the fibres of its layers and bands, which are stiffer than its lattice";
    case SubstepCause::Neighbour:
      return fmt::format("{}, which it touches or is joined to, so that both step together",
                         quoted(scene.organs[substeps.neighbour].name));
    case SubstepCause::Duct:
      return fmt::format("the longest step of a duct, {:g} ms", 1e3f * kLongestTubeStep);
    case SubstepCause::Sheet:
      return fmt::format("the longest step of a sheet, {:g} ms", 1e3f * kLongestSheetStep);
    case SubstepCause::Setting:
      return "the key substeps";
  }
  return {};
}

std::string substeps_text(const Scene& scene, const OrganTrial& organ, int contact_substeps) {
  return fmt::format("{} in a frame at rest, set by {}; up to {} in a press, {} in each of {} contact substeps",
                     organ.rest.count, cause_text(scene, organ.rest), organ.press.count,
                     organ.press.count / contact_substeps, contact_substeps);
}

std::string shape_text(const OrganTrial& organ, double spacing) {
  const Thickness& t = organ.thickness;
  const double two = t.below(2.0 * spacing), one = t.below(spacing);
  const std::string thinnest =
      fmt::format("the thinnest 1 % is below {:.1f} mm or {:.1f} cells, near ({:.0f}, {:.0f}, {:.0f}) mm",
                  mm(t.thinnest), t.thinnest / spacing, 1e3f * t.at.x, 1e3f * t.at.y, 1e3f * t.at.z);
  if (two < kWorthTelling) return "none below two cells; " + thinnest;
  std::string text = fmt::format("{:.0f} % of its surface is thinner than two cells", std::max(1.0, percent(two)));
  if (one >= kWorthTelling) text += fmt::format(", {:.0f} % than one", std::max(1.0, percent(one)));
  return text + "; " + thinnest;
}

// Instruments with the same tip.
struct Tip {
  TipShape shape;
  double radius;  // m
  std::string names;
};

std::vector<Tip> tips_of(const Scene& scene) {
  std::vector<Tip> tips;
  for (const InstrumentScene& instrument : scene.instruments) {
    const TipShape shape = tip_shape(instrument.kind);
    const auto same = std::find_if(tips.begin(), tips.end(), [&](const Tip& tip) {
      return tip.shape == shape && tip.radius == instrument.radius;
    });
    if (same == tips.end())
      tips.push_back({shape, instrument.radius, quoted(instrument.name)});
    else
      same->names += ", " + quoted(instrument.name);
  }
  return tips;
}

std::string tip_name(const Tip& tip) {
  switch (tip.shape) {
    case TipShape::Ball:
      return fmt::format("ball of {:g} mm radius", mm(tip.radius));
    case TipShape::Jaw:
      return "jaws";
    case TipShape::Wire:
      return "wire";
    case TipShape::Blade:
      return "blades";
  }
  return {};
}

// Returns the force up to which the tip is valid in the organ's thick places, N; 0: not measured.
double valid_force(const OrganScene& organ, const Tip& tip) {
  const TouchedSolid solid{organ.tissue.law, static_cast<double>(organ.tissue.node_spacing), true};
  const auto modulus = static_cast<double>(contact_modulus(organ.tissue));
  if (tip.shape != TipShape::Ball) {
    const auto range = part_range(tip.shape, tip.radius, solid, modulus);
    return range ? range->force : 0.0;
  }
  return ball_range(solid, tip.radius) ? hertz_force(modulus, tip.radius, tip.radius) : 0.0;
}

void show_ball(const OrganScene& organ, const Tip& tip, const Thickness& thickness) {
  TouchedSolid solid{organ.tissue.law, static_cast<double>(organ.tissue.node_spacing), true};
  const std::optional<BallRange> range = ball_range(solid, tip.radius);
  const std::string name = fmt::format("{} ({})", tip.names, tip_name(tip));
  if (!range) return fmt::print("    {:<44}not measured for this radius over the spacing\n", name);
  const auto modulus = static_cast<double>(contact_modulus(organ.tissue));
  const auto row = [&](const std::string& what, const ForceBounds& bounds, double depth) {
    force_row(what, bounds, depth, hertz_force(modulus, tip.radius, depth));
  };
  const bool close = range->close_depth > 0.0;
  if (close) row(name, range->close, range->close_depth);
  if (range->close_depth < tip.radius) row(close ? "  deeper" : name, range->within, tip.radius);
  solid.thick = false;
  const std::optional<BallRange> thin = ball_range(solid, tip.radius);
  if (thin && thickness.below(2.0 * solid.spacing) >= kWorthTelling)
    row("  in places of one to two cells", thin->within, tip.radius);
}

void show_part(const OrganScene& organ, const Tip& tip) {
  const TouchedSolid solid{organ.tissue.law, static_cast<double>(organ.tissue.node_spacing), true};
  const auto range = part_range(tip.shape, tip.radius, solid, static_cast<double>(contact_modulus(organ.tissue)));
  const std::string name = fmt::format("{} ({})", tip.names, tip_name(tip));
  if (!range) return fmt::print("    {:<44}not measured at this size, spacing or law\n", name);
  force_row(name, range->within, range->depth, range->force);
}

void show_organ(const Scene& scene, const SceneTrial& trial, std::size_t k) {
  const OrganScene& organ = scene.organs[k];
  const OrganTrial& found = trial.organs[k];
  const double spacing = static_cast<double>(organ.tissue.node_spacing);
  fmt::print("\norgan {}\n", quoted(organ.name));
  const bool solid = !organ.tube && !organ.sheet;
  const std::string what = organ.tube ? "duct, moved by rods; " : organ.sheet ? "sheet; " : "";
  indented("size", fmt::format("{}{} nodes of {:g} mm, {} faces", what, found.nodes,
                               organ.sheet ? mm(organ.sheet->spacing) : mm(spacing), found.faces));
  indented("substeps", substeps_text(scene, found, trial.contact_substeps));
  if (!solid)
    return indented("forces", fmt::format("nothing is promised: a {} has no dent", organ.tube ? "duct" : "sheet"));
  indented("thin places", shape_text(found, spacing));
  fmt::print("  {:<46}{:>7}{:>10}   {}\n", "forces", "too low", "too high", "up to");
  for (const Tip& tip : tips_of(scene))
    tip.shape == TipShape::Ball ? show_ball(organ, tip, found.thickness) : show_part(organ, tip);
}

double valid_force(const Scene& scene, const TrialPress& press) {
  const OrganScene& organ = scene.organs[press.organ];
  if (organ.tube || organ.sheet) return 0.0;
  const InstrumentScene& instrument = scene.instruments[press.tool];
  return valid_force(organ, {tip_shape(instrument.kind), instrument.radius, {}});
}

std::string promise_text(double force, double valid) {
  if (!(valid > 0.0)) return ", nothing is promised here";
  return force > valid ? fmt::format(", above the {:.3f} N that are promised", valid) : "";
}

void show_presses(const Scene& scene, const SceneTrial& trial) {
  fmt::print("\n");
  for (const TrialPress& press : trial.presses)
    line("press", fmt::format("{} into {}: {:.3f} N{}; deepest {:.2f} mm", quoted(scene.instruments[press.tool].name),
                              quoted(scene.organs[press.organ].name), press.force,
                              promise_text(press.force, valid_force(scene, press)), mm(press.deepest)));
  for (std::size_t k = 0; k < scene.organs.size(); ++k)
    if (std::none_of(trial.presses.begin(), trial.presses.end(),
                     [&](const TrialPress& press) { return press.organ == k; }))
      line("press",
           fmt::format("none into {}: no free straight line leads from a trocar to it", quoted(scene.organs[k].name)));
}

// Of the forces in the presses.
std::string trust_text(const Scene& scene, const SceneTrial& trial) {
  if (trial.presses.empty()) return "not known: no instrument pressed an organ";
  const auto promised = std::count_if(trial.presses.begin(), trial.presses.end(), [&](const TrialPress& press) {
    return press.force <= valid_force(scene, press);
  });
  std::string text = fmt::format("{} of {} presses of {:.0f} mm stayed within the range of their tip and organ",
                                 promised, trial.presses.size(), mm(TrialParams{}.depth));
  if (promised < static_cast<std::ptrdiff_t>(trial.presses.size()))
    text += "; outside it a force shows that tissue resists, but its size is not verified";
  return text;
}

std::string depth_text(const Scene& scene, const SceneTrial& trial) {
  const Penetration& deepest = trial.deepest;
  if (!(deepest.depth > 0.0)) return "no tool was in an organ after a frame";
  const InstrumentScene& tool = scene.instruments[deepest.tool];
  std::string text = fmt::format("{:.2f} mm beyond the dent, {} in {}", mm(deepest.depth), quoted(tool.name),
                                 quoted(scene.organs[deepest.organ].name));
  if (deepest.depth > tool.radius) text += "; the tool is inside the tissue there, and its force means nothing";
  return text;
}

}  // namespace

void report_scene(const DoctorScene& asked) {
  Scene scene = load_scene(asked.file, asked.access);
  share_cores(scene);
  const double frame_ms = 1e3 / scene.frame_rate;
  Backends backends;
  const TrialFolder folder;
  const TrialParams params;
  catch_interrupts();
  const BusyMachine machine;
  const auto start = std::chrono::steady_clock::now();
  const auto goes_on = [&](double) { return !interrupted() && std::chrono::steady_clock::now() - start < asked.limit; };
  const SceneTrial trial =
      try_scene(scene, backends, asked.backend, recording_file(folder.recording()), asked.gl, goes_on, params);
  const double others = machine.cores_of_others();
  line("scene", fmt::format("{}: {} organs, {} instruments", scene.file.string(), scene.organs.size(),
                            scene.instruments.size()));
  line("machine",
       fmt::format("{}; {} for the tissue", machine_description(),
                   scene.solver.threads == 1 ? "one thread" : fmt::format("{} threads", scene.solver.threads)));
  line("backend", fmt::format("{}: {}", trial.backend, trial.why_backend));
  line("trial",
       fmt::format("{:.1f} s simulated; tips press {:.0f} mm and move {:.0f} mm sideways at {:.0f} mm/s, {} at "
                   "a time; a recording is written, no picture is drawn{}",
                   trial.seconds, mm(params.depth), mm(params.drag), mm(params.press_speed), params.hands,
                   trial.complete ? "" : "; ended early, some presses are missing"));
  show_times(trial);
  fmt::print(
      "\nForces depend on the place of a tip in a cell of the lattice. How far they may be too low or too high, of "
      "balls against\nHertz' theory, of other tips against a fine lattice, was measured up to a depth and its force. "
      "Nothing "
      "is promised above,\nnor where an organ is thinner than one cell, nor where organs press each other.\n");
  for (std::size_t k = 0; k < scene.organs.size(); ++k) show_organ(scene, trial, k);
  show_presses(scene, trial);
  line("deepest", depth_text(scene, trial));
  // Where other programs compute, only a scene that fits is certain.
  const FrameVerdict verdict = frame_verdict(trial.rest, trial.press, frame_ms);
  const bool doubtful = verdict != FrameVerdict::Fits && others > kBusyCores;
  line("too heavy?", doubtful ? fmt::format("in doubt: other programs used {:.1f} cores meanwhile; close them and try "
                                            "again. Beside them the scene is {}",
                                            others, verdict_text(trial, frame_ms))
                              : verdict_text(trial, frame_ms));
  if (verdict != FrameVerdict::Fits && !doubtful) line("", remedy_text(scene, trial, frame_ms));
  line("forces?", trust_text(scene, trial));
}

}  // namespace trocar
