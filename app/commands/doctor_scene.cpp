#include "app/commands/doctor_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
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

void line(std::string_view what, const std::string& text) { fmt::print("{:<14} {}\n", what, text); }
void indented(std::string_view what, const std::string& text) { fmt::print("  {:<12} {}\n", what, text); }

double percent(double share) { return 100.0 * share; }
double mm(double metres) { return 1e3 * metres; }

std::string quoted(const std::string& name) { return fmt::format("'{}'", printable(name)); }

// "20 % low to 5 % high"
std::string bounds_text(const ForceBounds& bounds) {
  return fmt::format("{:.0f} % low to {:.0f} % high", percent(1.0 - std::min(bounds.low, 1.0)),
                     percent(std::max(bounds.high, 1.0) - 1.0));
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
      return fmt::format("fits: 99 of 100 frames take at most {:.1f} ms of {:.1f} ms", slow.total.high, frame_ms);
    case FrameVerdict::Tight:
      return fmt::format(
          "tight: half of the frames take at most {:.1f} ms, but {:.0f} % take longer than {:.1f} ms, the slowest "
          "{:.1f} "
          "ms; the picture stutters then",
          slow.total.median, std::max(1.0, percent(slow.late)), frame_ms, slow.total.largest);
    case FrameVerdict::TooHeavy:
      break;
  }
  return fmt::format(
      "too heavy: a frame takes {:.1f} ms and may take {:.1f} ms; the simulation runs at {:.0f} % of real time",
      slow.total.median, frame_ms, percent(frame_ms / slow.total.median));
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
  if (!factor || *factor > 2.0)
    return who + "; a coarser one alone is not enough: leave out organs or instruments, or use a faster machine";
  return fmt::format("{}: give it node_spacing_mm = {:.2g} instead of {:g}, or leave out an organ", who,
                     *factor * spacing, spacing);
}

std::string cause_text(const Scene& scene, const OrganSubsteps& substeps) {
  switch (substeps.cause) {
    case SubstepCause::Elastic:
      return "for its stiffness and density at this spacing";
    case SubstepCause::Ligament:
      return "for the ligament of an attachment, which is stiffer than the lattice";
    case SubstepCause::Fibres:
      return "for the fibres of its layers and bands, which are stiffer than the lattice";
    case SubstepCause::Neighbour:
      return fmt::format("for {}, with which it steps because they touch or fibres join them",
                         quoted(scene.organs[substeps.neighbour].name));
    case SubstepCause::Duct:
      return fmt::format("for the longest step of a duct, {:g} ms", 1e3f * kLongestTubeStep);
    case SubstepCause::Sheet:
      return fmt::format("for the longest step of a sheet, {:g} ms", 1e3f * kLongestSheetStep);
    case SubstepCause::Setting:
      return "for its key substeps";
  }
  return {};
}

std::string substeps_text(const Scene& scene, const OrganTrial& organ, int contact_substeps) {
  std::string text = fmt::format("{} of a frame at rest, {}", organ.rest.count, cause_text(scene, organ.rest));
  if (organ.press.count == contact_substeps)
    return text + fmt::format("; up to {} pressed, one in each contact substep", organ.press.count);
  return text + fmt::format("; up to {} pressed, in {} contact substeps", organ.press.count, contact_substeps);
}

std::string shape_text(const OrganTrial& organ, double spacing) {
  const Thickness& t = organ.thickness;
  std::string text =
      fmt::format("1 % of its surface is over less than {:.1f} mm, {:.1f} cells, near ({:.0f}, {:.0f}, {:.0f}) mm",
                  mm(t.thinnest), t.thinnest / spacing, 1e3f * t.at.x, 1e3f * t.at.y, 1e3f * t.at.z);
  if (t.under_two < kWorthTelling) return text + "; it is at least two cells thick";
  text += fmt::format("; {:.0f} % is over less than two cells", percent(t.under_two));
  if (t.under_one >= kWorthTelling) text += fmt::format(", {:.0f} % over less than one", percent(t.under_one));
  return text;
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
  const double modulus = contact_modulus(organ.tissue);
  if (tip.shape != TipShape::Ball) {
    const auto range = part_range(tip.shape, tip.radius, solid, modulus);
    return range ? range->force : 0.0;
  }
  return ball_range(solid, tip.radius) ? hertz_force(modulus, tip.radius, tip.radius) : 0.0;
}

std::string ball_text(const OrganScene& organ, double radius, const Thickness& thickness) {
  TouchedSolid solid{organ.tissue.law, static_cast<double>(organ.tissue.node_spacing), true};
  const std::optional<BallRange> range = ball_range(solid, radius);
  if (!range) return "not measured at this size over the spacing; its forces are not promised";
  const double modulus = contact_modulus(organ.tissue);
  std::string text = range->close_depth > 0.0
                         ? fmt::format("within {:.0f} % of Hertz to {:.1f} mm ({:.3f} N); ", percent(kCloseForce),
                                       mm(range->close_depth), hertz_force(modulus, radius, range->close_depth))
                         : std::string();
  text += fmt::format("{} to {:.1f} mm ({:.3f} N)", bounds_text(range->within), mm(radius),
                      hertz_force(modulus, radius, radius));
  solid.thick = false;
  const std::optional<BallRange> thin = ball_range(solid, radius);
  if (thin && thickness.under_two >= kWorthTelling)
    text += fmt::format("; over one to two cells {}", bounds_text(thin->within));
  return text;
}

std::string part_text(const OrganScene& organ, const Tip& tip) {
  const TouchedSolid solid{organ.tissue.law, static_cast<double>(organ.tissue.node_spacing), true};
  const auto range = part_range(tip.shape, tip.radius, solid, contact_modulus(organ.tissue));
  if (!range) return "not measured at this size, spacing or law; its forces are not promised";
  return fmt::format("{} by place, against a fine lattice, to {:.0f} mm ({:.3f} N)", bounds_text(range->within),
                     mm(range->depth), range->force);
}

void show_organ(const Scene& scene, const SceneTrial& trial, std::size_t k) {
  const OrganScene& organ = scene.organs[k];
  const OrganTrial& found = trial.organs[k];
  const double spacing = static_cast<double>(organ.tissue.node_spacing);
  fmt::print("\norgan {}\n", quoted(organ.name));
  const bool solid = !organ.tube && !organ.sheet;
  const std::string what = organ.tube ? "duct, moved by rods; surface on " : organ.sheet ? "sheet; " : "";
  indented("size", fmt::format("{}{} nodes of {:g} mm, {} faces", what, found.nodes,
                               organ.sheet ? mm(organ.sheet->spacing) : mm(spacing), found.faces));
  indented("substeps", substeps_text(scene, found, trial.contact_substeps));
  if (!solid) return indented("forces", "no dent and no reference: the force of a touch is not promised");
  indented("thin places", shape_text(found, spacing));
  for (const Tip& tip : tips_of(scene))
    indented("forces", fmt::format("{} ({}): {}", tip.names, tip_name(tip),
                                   tip.shape == TipShape::Ball ? ball_text(organ, tip.radius, found.thickness)
                                                               : part_text(organ, tip)));
}

void show_presses(const Scene& scene, const SceneTrial& trial) {
  fmt::print("\n");
  for (const TrialPress& press : trial.presses) {
    const OrganScene& organ = scene.organs[press.organ];
    const InstrumentScene& instrument = scene.instruments[press.tool];
    const double valid =
        organ.tube || organ.sheet ? 0.0 : valid_force(organ, {tip_shape(instrument.kind), instrument.radius, {}});
    line("press", fmt::format("{} into {}: {:.2f} N{}; deepest {:.2f} mm", quoted(instrument.name), quoted(organ.name),
                              press.force, press.force > valid ? ", more than is promised" : "", mm(press.deepest)));
  }
  for (std::size_t k = 0; k < scene.organs.size(); ++k)
    if (std::none_of(trial.presses.begin(), trial.presses.end(),
                     [&](const TrialPress& press) { return press.organ == k; }))
      line("press",
           fmt::format("none into {}: no straight free line leads from a trocar to it", quoted(scene.organs[k].name)));
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
  const auto start = std::chrono::steady_clock::now();
  const auto goes_on = [&](double) { return !interrupted() && std::chrono::steady_clock::now() - start < asked.limit; };
  const SceneTrial trial = try_scene(scene, backends, asked.backend, recording_file(folder.recording()),
                                     gl_description(backends), goes_on, params);
  line("scene", fmt::format("{}: {} organs, {} instruments", scene.file.string(), scene.organs.size(),
                            scene.instruments.size()));
  line("machine",
       fmt::format("{}; {} for the tissue; backend {}: {}", machine_description(),
                   scene.solver.threads == 1 ? "one thread" : fmt::format("{} threads", scene.solver.threads),
                   trial.backend, trial.why_backend));
  line("trial",
       fmt::format("{:.1f} s simulated; presses {:.0f} mm deep and {:.0f} mm sideways at {:.0f} mm/s, {} at a time{}",
                   trial.seconds, mm(params.depth), mm(params.drag), mm(params.press_speed), params.hands,
                   trial.complete ? "" : "; ended early, so that some presses are missing"));
  show_times(trial);
  for (std::size_t k = 0; k < scene.organs.size(); ++k) show_organ(scene, trial, k);
  show_presses(scene, trial);
  line("deepest", depth_text(scene, trial));
  line("verdict", verdict_text(trial, frame_ms));
  if (frame_verdict(trial.rest, trial.press, frame_ms) != FrameVerdict::Fits)
    line("remedy", remedy_text(scene, trial, frame_ms));
}

}  // namespace trocar
