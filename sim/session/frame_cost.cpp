#include "sim/session/frame_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "deform/join/bonds.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

// Measured on one core (docs/tissue.md): a substep, and each spring in it; the law `rising` is some five times slower.
constexpr double kSubstepSeconds = 2.0e-6, kSpringSeconds = 1.7e-9, kRisingTimes = 5.0;
// A frame that takes longer than this, and than three frames, is worth a sentence.
constexpr double kLongFrame = 0.05, kFramesLong = 3.0;

// What the substeps of an organ follow from. Scaled copies answer what another value of a key would cost.
struct Demand {
  double square = 0.0;      // 1/s^2  of the highest frequency, with the bonds
  double damping = 0.0;     // s      TissueParams::damping_time
  double springs = 0.0;     // 1
  double least = 1.0;       // 1      TissueParams::substeps
  double pieces = 1.0;      // 1      contact substeps of a frame with contact, at most
  double frame = 0.0;       // s
  double per_spring = 0.0;  // s

  // As longest_substep() in deform/solid/elasticity.hpp, which keeps a fifth of the limit 4 in reserve.
  double longest_substep() const { return std::sqrt(damping * damping + 3.2 / square) - damping; }
  double wanted() const { return std::max(least, std::ceil(frame / pieces / longest_substep())); }
  double substep_seconds() const { return kSubstepSeconds + per_spring * springs; }
};

// 1/s^2  of the node that its ligaments hold the stiffest (find_longest_substep() in deform/solid/tissue.cpp)
double ligament_square(const TissueModel& model) {
  std::vector<double> stiffness(model.rest.size());
  for (const Tether& tether : model.tethers) stiffness[tether.node] += static_cast<double>(tether.stiffness);
  double square = 0.0;
  for (std::size_t node = 0; node < stiffness.size(); ++node)
    if (stiffness[node] > 0.0) square = std::max(square, stiffness[node] / static_cast<double>(model.mass[node]));
  return square;
}

struct Cost {
  Demand demand;
  double substeps = 0.0, seconds = 0.0;  // of a frame
  bool runs_slower = false;              // more substeps are needed than step() makes
};

Demand demand_of(const TissueModel& model, double slowdown, double contact_substeps, double frame) {
  Demand demand;
  demand.damping = static_cast<double>(model.params.damping_time);
  const double longest = static_cast<double>(model.longest_substep) / slowdown;
  demand.square = 3.2 / (longest * longest + 2.0 * longest * demand.damping);
  demand.springs = model.tube.empty() ? static_cast<double>(model.stiffness.size()) : 0.0;
  demand.least = model.params.substeps;
  demand.pieces = contact_substeps;
  demand.frame = frame;
  demand.per_spring = kSpringSeconds * (model.params.law == TissueLaw::Rising ? kRisingTimes : 1.0);
  return demand;
}

Cost cost_of(const TissueModel& model, const Demand& demand, double slowdown) {
  const auto piece = static_cast<float>(demand.frame / demand.pieces * slowdown);
  const double made = substep_count(model, piece);
  Cost cost{demand, made * demand.pieces, 0.0, 1.5 * made < demand.wanted()};
  cost.seconds = cost.substeps * demand.substep_seconds();
  return cost;
}

// A key that can be the cause: what the demand would be with its default, and what to do.
struct Cause {
  std::string key;
  Demand without;
  const char* remedy;
};

std::vector<Cause> causes_of(const OrganScene& organ, const TissueModel& model, const Demand& now, double tick) {
  const TissueParams& p = model.params;
  const TissueParams usual;
  std::vector<Cause> causes;
  const auto add = [&](std::string key, const char* remedy, const auto& change) {
    causes.push_back({std::move(key), now, remedy});
    change(causes.back().without);
  };
  const auto ratio = [](float a, float b) { return static_cast<double>(a) / static_cast<double>(b); };
  add(fmt::format("youngs_modulus = {:g}", p.youngs_modulus), "a smaller one computes faster",
      [&](Demand& d) { d.square *= std::min(1.0, ratio(usual.youngs_modulus, p.youngs_modulus)); });
  add(fmt::format("density = {:g}", p.density), "a larger one computes faster",
      [&](Demand& d) { d.square *= std::min(1.0, ratio(p.density, usual.density)); });
  add(fmt::format("node_spacing_mm = {:g}", 1e3f * p.node_spacing), "a larger one computes faster", [&](Demand& d) {
    const double finer = std::min(1.0, ratio(p.node_spacing, usual.node_spacing));
    d.square *= finer * finer, d.springs *= finer * finer * finer;
  });
  TissueParams compressible = p;
  compressible.poisson_ratio = std::min(p.poisson_ratio, usual.poisson_ratio);
  add(fmt::format("poisson_ratio = {:g}", p.poisson_ratio), "a smaller one computes faster", [&](Demand& d) {
    d.square *= ratio(p.youngs_modulus + volume_modulus(compressible), p.youngs_modulus + volume_modulus(p));
  });
  add(fmt::format("damping_ms = {:g}", 1e3f * p.damping_time), "a smaller one computes faster",
      [&](Demand& d) { d.damping = std::min(d.damping, static_cast<double>(usual.damping_time)); });
  add(fmt::format("substeps = {}", p.substeps), "a smaller one computes faster", [](Demand& d) { d.least = 1.0; });
  add(fmt::format("most_substeps = {}", organ.contact.most_substeps), "a smaller one computes faster",
      [](Demand& d) { d.pieces = std::min(d.pieces, static_cast<double>(ContactParams{}.most_substeps)); });
  float ligament = 0.f;
  for (const Attachment& attachment : organ.attachments) ligament = std::max(ligament, attachment.stiffness);
  add(fmt::format("stiffness = {:g} of an attachment", ligament),
      "a smaller one, or 0 for a rigid one, computes faster",
      [&](Demand& d) { d.square = std::max(d.square - ligament_square(model), 1e-9 * d.square); });
  add("the modulus of its layers and bands", "a smaller one computes faster",
      [&](Demand& d) { d.square = demand_of(model, 1.0, d.pieces, d.frame).square; });
  if (now.frame > tick)
    add(fmt::format("a frame of {:g} s", now.frame), "give rows of the trajectory that are closer in time",
        [&](Demand& d) { d.frame = tick; });
  return causes;
}

// The key whose default would save the most.
const Cause& worst(const std::vector<Cause>& causes) {
  return *std::ranges::min_element(causes, {}, [](const Cause& cause) {
    return cause.without.wanted() * cause.without.pieces * cause.without.substep_seconds();
  });
}

}  // namespace

std::string slow_scene_text(const Scene& scene, const Session& session, double longest_frame) {
  const double tick = 1.0 / scene.frame_rate, frame = std::max(longest_frame, tick);
  std::vector<Cost> costs;
  std::size_t slowest = 0;
  double seconds = 0.0;
  for (std::size_t k = 0; k < session.organs().size(); ++k) {
    const auto& slow = session.bonds().bonds().slowdown;
    const double slowdown = k < slow.size() ? static_cast<double>(slow[k]) : 1.0;
    const TissueModel& model = session.organs()[k].tissue;
    costs.push_back(cost_of(model, demand_of(model, slowdown, scene.organs[k].contact.most_substeps, frame), slowdown));
    seconds += costs[k].seconds;
    if (costs[k].seconds > costs[slowest].seconds) slowest = k;
  }
  const bool slow = seconds > std::max(kLongFrame, kFramesLong * tick);
  if (costs.empty() || (!slow && !costs[slowest].runs_slower)) return {};
  const Cost& cost = costs[slowest];
  const TissueModel& model = session.organs()[slowest].tissue;
  const std::vector<Cause> causes = causes_of(scene.organs[slowest], model, cost.demand, tick);
  const Cause& cause = worst(causes);
  return fmt::format(
      "{}: a frame takes about {:.2g} s to compute: the organ '{}' needs {:.0f} substeps of {} nodes because of {}; "
      "{}{}",
      scene.file.string(), seconds, printable(scene.organs[slowest].name), cost.substeps, model.rest.size(), cause.key,
      cause.remedy,
      cost.runs_slower ? " (stability needs even more substeps than are made, so its tissue moves too slowly)" : "");
}

void tell_slow_scene(const Scene& scene, const Session& session, double longest_frame) {
  if (const std::string text = slow_scene_text(scene, session, longest_frame); !text.empty())
    fmt::print(stderr, "{}\n", text);
}

namespace {

// Is an organ joined to another one or to the wall, by contacts or fibres? As OrganStepper in deform/step.hpp.
std::vector<char> joined_organs(const Session& session) {
  std::vector<char> joined(session.organs().size(), 0);
  for (const PairContact& contact : session.organ_contacts().contacts) joined[contact.a] = joined[contact.b] = 1;
  const Bonds& bonds = session.bonds().bonds();
  for (const std::vector<Fibre>* fibres : {&bonds.fibres, &bonds.struts})
    for (const Fibre& fibre : *fibres)
      for (const std::uint32_t organ : {fibre.a.organ, fibre.b.organ})
        if (organ != kWall) joined[organ] = 1;
  return joined;
}

SubstepCause own_cause(const TissueModel& model, double slowdown, double piece, int count) {
  if (!model.tube.empty()) return SubstepCause::Duct;
  if (!model.slab.empty()) return SubstepCause::Sheet;
  const double needed = std::ceil(piece * slowdown / static_cast<double>(model.longest_substep));
  if (count > needed) return SubstepCause::Setting;
  if (slowdown > 1.0) return SubstepCause::Fibres;
  const Demand demand = demand_of(model, 1.0, 1.0, piece);
  return ligament_square(model) > 0.5 * demand.square ? SubstepCause::Ligament : SubstepCause::Elastic;
}

}  // namespace

std::vector<OrganSubsteps> substeps_of(const Session& session, double dt, int pieces) {
  const std::vector<char> joined = joined_organs(session);
  const std::vector<float>& slow = session.bonds().bonds().slowdown;
  const double piece = dt / pieces;
  std::vector<OrganSubsteps> organs;
  std::size_t most = 0;  // of the joined ones
  int common = 0;
  for (std::size_t k = 0; k < session.organs().size(); ++k) {
    const TissueModel& model = session.organs()[k].tissue;
    const double slowdown = k < slow.size() ? static_cast<double>(slow[k]) : 1.0;
    OrganSubsteps own{substep_count(model, static_cast<float>(piece * slowdown))};
    own.cause = own_cause(model, slowdown, piece, own.count);
    if (joined[k] && own.count > common) common = own.count, most = k;
    organs.push_back(own);
  }
  for (std::size_t k = 0; k < organs.size(); ++k) {
    OrganSubsteps& organ = organs[k];
    if (joined[k] && organ.count < common) organ = {common, SubstepCause::Neighbour, most};
    organ.count *= pieces;
    const TissueModel& model = session.organs()[k].tissue;
    if (!is_thin(model)) organ.seconds = organ.count * demand_of(model, 1.0, 1.0, piece).substep_seconds();
  }
  return organs;
}

}  // namespace trocar
