#include "sim/session/session_bonds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "deform/join/bonds.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

// Returns the wall for an empty name.
std::uint32_t organ_named(const Scene& scene, const std::string& name) {
  if (name.empty()) return kWall;
  const auto found =
      std::find_if(scene.organs.begin(), scene.organs.end(), [&](const OrganScene& o) { return o.name == name; });
  return static_cast<std::uint32_t>(found - scene.organs.begin());
}

}  // namespace

SessionBonds::SessionBonds(const Scene& scene, std::vector<Organ>& organs, const OrganContacts& contacts) {
  std::vector<BondedOrgan> bonded;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    models_.push_back(&organs[k].tissue);
    states_.push_back(&organs[k].state);
    hanging_.push_back({organs[k].sculpture ? &*organs[k].sculpture : nullptr, &organs[k].tissue});
    bonded.push_back({models_[k], organs[k].mesh.view(), k < contacts.field.size() ? &contacts.field[k] : nullptr});
  }
  for (const LayerScene& layer : scene.layers) {
    if (add_layer(layer.params, organ_named(scene, layer.organ), organ_named(scene, layer.to), bonded, bonds_) == 0)
      throw InputError(fmt::format(
          "{}: no face of '{}' is within {:g} mm of '{}'; raise reach_mm of the layer '{}', or move its centre_mm",
          scene.file.string(), layer.organ, static_cast<double>(layer.params.reach) * 1e3, layer.to, layer.name));
    groups_.resize(bonds_.fibres.size(), static_cast<std::uint32_t>(names_.size()));
    names_.push_back(layer.name);
  }
  for (const BandScene& band : scene.bands) {
    if (add_band(band.params, organ_named(scene, band.organ), organ_named(scene, band.to), bonded, bonds_) <
        static_cast<std::size_t>(band.params.strands))
      throw InputError(
          fmt::format("{}: an end of the band '{}' is too far from the tissue of its organ; move its lines onto it",
                      scene.file.string(), band.name));
    groups_.resize(bonds_.fibres.size(), static_cast<std::uint32_t>(names_.size()));
    names_.push_back(band.name);
  }
  measure_slowdown(models_, bonds_);
  bonds_.broken.reserve(bonds_.fibres.size());
  bonds_.broken_how.reserve(bonds_.fibres.size());
  if (bonds_.empty()) return;
  mark_bonded(hanging_, bonds_);
  expect_to_hang(hanging_);
}

void SessionBonds::burn(std::span<const HotSegment> metal) { burn_fibres(metal, models_, states_, bonds_); }

void SessionBonds::snip(const BladeCut& cut) { snip_fibres(cut, models_, states_, bonds_); }

void SessionBonds::follow_restored() {
  if (bonds_.empty()) return;
  break_loose_fibres(models_, bonds_);
  measure_slowdown(models_, bonds_);
  mark_bonded(hanging_, bonds_);
}

void SessionBonds::follow_change() {
  follow_restored();
  parted_ = !bonds_.empty();
}

void SessionBonds::take_struts(SessionClips& clips, const std::vector<Organ>& organs) {
  if (clips.clips().empty() && bonds_.struts.empty()) return;
  clips.list_struts(organs, bonds_);
  measure_slowdown(models_, bonds_);
  parted_ = true;
}

void SessionBonds::settle() {
  if (bonds_.broken.empty() && !parted_) return;
  parted_ = false;
  mark_bonded(hanging_, bonds_);
  release_unheld(hanging_, bonds_);
}

}  // namespace trocar
