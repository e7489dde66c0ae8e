// Implements the cuts of TissueWorld: hooks burn, blades cut, jaws tear.
#include <algorithm>

#include "deform/cut/slit.hpp"
#include "sim/session/blade_cut.hpp"
#include "sim/session/tissue_world.hpp"

namespace trocar {
namespace {

// Returns whether the instrument reaches tissue.
bool reaches_anything(const Organ& organ, std::size_t tool) { return !organ.touches.of_tool(tool).empty(); }

}  // namespace

// Do closing blades have tissue of an organ between them?
bool TissueWorld::bites(const Instruments& all, std::size_t tool) const {
  const Instrument& instrument = all.list()[tool];
  if (instrument.kind != InstrumentKind::Scissors || !instrument.blades_open ||
      instrument.grip > instrument.blades.bite * instrument.opened)
    return false;
  const std::vector<PartShape>& blades = all.shapes(tool);
  return std::any_of(organs_.begin(), organs_.end(), [&](const Organ& organ) {
    bool upper = false, lower = false;
    for (std::size_t k = 0; k < blades.size(); ++k) {
      const std::size_t part = parts_.first[tool] + 1 + k;
      const bool touches = organ.touched.part_first[part] < organ.touched.part_first[part + 1];
      (blades[k].side > 0.0 ? upper : lower) |= touches;
    }
    return upper && lower;
  });
}

// Cuts or coagulates around the hot wires of hooks, cuts what lies between closing blades, and removes what jaws tore
// off in the previous step.
void TissueWorld::cut_tissue(Instruments& all, double dt) {
  std::vector<Instrument>& instruments = all.list();
  for (std::size_t tool = 0; tool < instruments.size(); ++tool) {
    Instrument& instrument = instruments[tool];
    if (instrument.grasp.torn && organs_[instrument.grasped].sculpture) {
      Organ& organ = organs_[instrument.grasped];
      held_cells(organ.tissue, instrument.grasp, cells_);
      release(instrument.grasp);
      take_over(instrument.grasped, remove_cells(*organ.sculpture, organ.tissue, cells_), kTorn);
    }
    if (instrument.energy != Diathermy::Off) burn_with(all, tool, dt);
    if (bites(all, tool)) instrument.snipped = true, instrument.blades_open = false;
    if (!instrument.snipped) continue;
    bonds_.snip(blade_cut(instrument));
    for (std::size_t k = 0; k < organs_.size(); ++k) {
      Organ& organ = organs_[k];
      if (!organ.sculpture || !reaches_anything(organ, tool)) continue;
      const SculptChange& change = snip(*organ.sculpture, organ.tissue, organ.state, blade_cut(instrument));
      take_over(k, change, kSnipped);
      if (!change.nothing()) slips_.let_slip(tool, k);
    }
  }
  for (Instrument& instrument : instruments)
    if (const Organ& organ = organs_[instrument.grasped]; instrument.grasp.holding() && !organ.change.empty())
      follow_change(organ.tissue, organ.unused, instrument.grasp);
  if (std::any_of(organs_.begin(), organs_.end(), [](const Organ& organ) { return !organ.change.empty(); })) {
    clips_.follow_change(organs_);
    bonds_.take_struts(clips_, organs_);
  }
}

// Cuts or coagulates the tissue around the hot wire where it touches an organ.
void TissueWorld::burn_with(Instruments& all, std::size_t tool, double dt) {
  Instrument& instrument = all.list()[tool];
  wire_.move(instrument, all.shapes(tool), all.motion(tool));
  HotMetal hot{wire_.metal(), {}, sear_params(instrument.hook), static_cast<float>(dt)};
  if (instrument.energy == Diathermy::Cut) hot.cut = wire_.cut();
  bonds_.burn(hot.cut);
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    Organ& organ = organs_[k];
    if (!organ.sculpture || !wire_.acts_on(organ)) continue;
    instrument.heats |= organ_bit(k);
    take_over(k, cauterise(*organ.sculpture, organ.tissue, organ.state, hot, seared_), kBurnt);
    show_sear(organ, seared_);
  }
}

void TissueWorld::take_over(std::size_t k, const SculptChange& change, DamageMark how) {
  if (change.nothing()) return;
  tissue_removed(models_, static_cast<std::uint32_t>(k), change.cells, organ_contacts_);
  take_over_change(organs_[k], how);
  bonds_.follow_change();
  show_sear_of_new(organs_[k]);
  bleeding_.follow_change(static_cast<std::uint32_t>(k), organs_[k], change, how);
  film_.follow_change(k, organs_[k]);
}

}  // namespace trocar
