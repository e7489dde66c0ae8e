#include "sim/session/session_joins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/join/bonds.hpp"
#include "geometry/error.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/session/saved_session.hpp"

namespace trocar {
namespace {

// A part of a tube with less of its mass is a scrap of tissue, not its end.
constexpr double kScrap = 0.05;  // 1

// The part of a tube that contains one of its ends, and how far the part goes along the line, m.
struct TubeEnd {
  std::uint32_t part = 0;
  double first = INFINITY, last = -INFINITY;
};

std::uint32_t part_at(const Embedding& at, std::span<const std::uint32_t> part) {
  return part[at.node[std::max_element(std::begin(at.weight), std::end(at.weight)) - std::begin(at.weight)]];
}

std::uint32_t part_of(const PlacedClip& placed, const TissueModel& model, std::span<const std::uint32_t> part) {
  return part_at(model.embedding[placed.clip.struts[0].a], part);
}

std::vector<std::uint32_t> parts_of(const Organ& organ) {
  if (!organ.sculpture) return std::vector<std::uint32_t>(organ.tissue.mass.size(), 0);
  return node_parts(*organ.sculpture, organ.tissue.lattice);
}

// Returns the parts with the start and with the end of the line.
std::pair<TubeEnd, TubeEnd> ends_of(std::span<const glm::dvec3> line, const TissueModel& model,
                                    std::span<const std::uint32_t> part) {
  std::vector<TubeEnd> parts(part.size());
  std::vector<double> mass(part.size());
  double whole = 0.0;
  for (std::size_t node = 0; node < part.size(); ++node) {
    const double at = along_line(line, glm::dvec3(model.rest[node]));
    TubeEnd& end = parts[part[node]];
    end = {part[node], std::min(end.first, at), std::max(end.last, at)};
    mass[part[node]] += static_cast<double>(model.mass[node]);
    whole += static_cast<double>(model.mass[node]);
  }
  TubeEnd start, end;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (mass[k] <= kScrap * whole) continue;
    if (parts[k].first < start.first) start = parts[k];
    if (parts[k].last > end.last) end = parts[k];
  }
  return {start, end};
}

}  // namespace

SessionClips::SessionClips(const Scene& scene, const std::vector<Organ>& organs) {
  for (const OrganScene& organ : scene.organs) {
    lines_.push_back(organ.tube ? centre_line(*organ.tube) : std::vector<glm::dvec3>{});
    spacing_.push_back(organ.tube ? glm::distance(lines_.back()[0], lines_.back()[1]) : 0.0);
  }
  tubes_.resize(organs.size());
}

void SessionClips::begin() {
  before_ = clips_.size();
  lost_.clear();
  changed_tubes_.clear();
  changed_ = false;
}

void SessionClips::close(const Instrument& instrument, std::size_t tool, const Jaws& jaws,
                         const std::vector<Organ>& organs) {
  if (clips_.size() >= kMostClips) return;
  PlacedClip placed;
  placed.tool = static_cast<std::uint32_t>(tool);
  placed.clip.organ = kNoOrgan;
  if (instrument.grasp.holding()) placed.clip = clip_on(instrument.grasp, jaws, instrument.clip.length);
  if (placed.on()) {
    placed.clip.organ = static_cast<std::uint32_t>(instrument.grasped);
    placed.length = static_cast<float>(instrument.clip.length);
    placed.stiffness = instrument.clip.stiffness, placed.holds = instrument.clip.holds;
    if (is_tube(instrument.grasped)) place_on_tube(organs[instrument.grasped], instrument.grasp, placed);
  } else {
    placed.clip.organ = kNoOrgan;
  }
  clips_.push_back(placed);
  changed_ = true;
}

// The circumference is that of the ring of vertices nearest to the clip.
void SessionClips::place_on_tube(const Organ& organ, const Grasp& grasp, PlacedClip& placed) const {
  const std::vector<glm::dvec3>& line = lines_[placed.clip.organ];
  const auto at = [&](std::uint32_t vertex) { return along_line(line, glm::dvec3(organ.mesh.positions[vertex])); };
  double sum = 0.0;
  for (const GraspedPoint& point : grasp.points) sum += at(point.vertex);
  const double middle = sum / double(grasp.points.size());
  placed.along = static_cast<float>(middle);
  const auto in_ring = [&](std::uint32_t vertex) {
    return (organ.unused.empty() || !organ.unused[vertex]) &&
           std::abs(at(vertex) - middle) <= 0.55 * spacing_[placed.clip.organ];
  };
  std::size_t around = 0, held = 0;
  for (std::uint32_t vertex = 0; vertex < organ.mesh.positions.size(); ++vertex) around += in_ring(vertex);
  for (const GraspedPoint& point : grasp.points) held += in_ring(point.vertex);
  placed.closed = around > 0 ? static_cast<float>(held) / static_cast<float>(around) : 0.f;
}

void SessionClips::follow_change(const std::vector<Organ>& organs) {
  for (std::uint32_t k = 0; k < clips_.size(); ++k) {
    PlacedClip& placed = clips_[k];
    if (!placed.on() || organs[placed.clip.organ].change.empty()) continue;
    trocar::follow_change(organs[placed.clip.organ].unused, placed.clip);
    if (!placed.on()) lost_.push_back(k);
  }
  changed_ = true;
}

bool SessionClips::end_frame(const std::vector<Organ>& organs) {
  for (std::uint32_t k = 0; k < clips_.size(); ++k) {
    PlacedClip& placed = clips_[k];
    if (!placed.on() || k >= before_) continue;
    if (tension_of(placed.clip, organs[placed.clip.organ].skin, placed.used) <= placed.holds) continue;
    placed.clip.count = 0;
    lost_.push_back(k);
    changed_ = true;
  }
  if (!changed_) return false;
  look_at_tubes(organs);
  return true;
}

void SessionClips::list_struts(const std::vector<Organ>& organs, Bonds& bonds) {
  bonds.struts.clear();
  for (PlacedClip& placed : clips_)
    if (placed.on()) placed.used = add_struts(placed.clip, organs[placed.clip.organ].tissue, placed.stiffness, bonds);
}

void SessionClips::check_read(const std::vector<Organ>& organs, std::size_t tools) const {
  constexpr double kMostAlong = 100.0, kMostRange = 1.0;  // m
  const char* const whose = "clips";
  require_saved(clips_.size() <= kMostClips, whose, "there are too many");
  for (const PlacedClip& placed : clips_) {
    const Clip& clip = placed.clip;
    require_saved(placed.tool < tools && clip.count <= kMostStruts &&
                      (clip.organ == kNoOrgan ? clip.count == 0 : clip.organ < organs.size()),
                  whose, "a clip is on an organ or of an instrument that does not exist");
    for (const ClipStrut& strut : std::span(clip.struts).first(clip.count))
      require_saved(strut.a < organs[clip.organ].mesh.positions.size() &&
                        strut.b < organs[clip.organ].mesh.positions.size() &&
                        lies_within(glm::dvec3(strut.at, 0.0), kMostRange),
                    whose, "a clip holds a vertex that does not exist");
    for (const float number : {placed.stiffness, placed.holds})
      require_saved(lies_within(static_cast<double>(number), 0.0, kLargestQuantity), whose, "a force is out of range");
    require_saved(lies_within({placed.length, placed.along, placed.closed}, kMostAlong), whose,
                  "a length is out of range");
  }
  require_saved(tubes_.size() == organs.size(), whose, "an array has another length");
  for (const TubeState& tube : tubes_)
    require_saved(tube.clips_at_start <= clips_.size() && tube.clips_at_end <= clips_.size() &&
                      lies_within(static_cast<double>(tube.at), -kMostAlong, kMostAlong),
                  whose, "a duct has more clips than there are");
}

void SessionClips::look_at_tubes(const std::vector<Organ>& organs) {
  for (std::uint32_t k = 0; k < organs.size(); ++k) {
    if (!is_tube(k)) continue;
    const TubeState now = state_of(k, organs[k]);
    if (now == tubes_[k]) continue;
    tubes_[k] = now;
    changed_tubes_.push_back(k);
  }
}

std::uint32_t SessionClips::stump_vertex(std::uint32_t organ, const Organ& tube, bool of_start) const {
  const std::vector<std::uint32_t> part = parts_of(tube);
  const auto [start, end] = ends_of(lines_[organ], tube.tissue, part);
  const std::uint32_t wanted = of_start ? start.part : end.part;
  std::uint32_t best = 0;
  double farthest = -INFINITY;
  for (std::uint32_t v = 0; v < tube.mesh.positions.size(); ++v) {
    if ((!tube.unused.empty() && tube.unused[v]) || part_at(tube.tissue.embedding[v], part) != wanted) continue;
    const double along = along_line(lines_[organ], glm::dvec3(tube.mesh.positions[v]));
    if (const double far = of_start ? along : -along; far > farthest) best = v, farthest = far;
  }
  return best;
}

TubeState SessionClips::state_of(std::uint32_t organ, const Organ& tube) const {
  const std::vector<std::uint32_t> part = parts_of(tube);
  const auto [start, end] = ends_of(lines_[organ], tube.tissue, part);
  TubeState state;
  state.divided = start.part != end.part;
  if (state.divided)
    state.at = tubes_[organ].divided ? tubes_[organ].at : static_cast<float>(0.5 * (start.last + end.first));
  for (const PlacedClip& placed : clips_) {
    if (!placed.on() || placed.clip.organ != organ || placed.closed < kClosesTube) continue;
    const std::uint32_t at = part_of(placed, tube.tissue, part);
    state.clips_at_start += at == start.part;
    state.clips_at_end += at == end.part;
  }
  return state;
}

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
  if (bonds_.empty()) return;
  break_loose_fibres(models_, bonds_);
  mark_bonded(hanging_, bonds_);
  parted_ = true;
}

void SessionBonds::end_cuts(SessionClips& clips, const std::vector<Organ>& organs) {
  const bool changed = std::ranges::any_of(organs, [](const Organ& organ) { return !organ.change.empty(); });
  if (changed) clips.follow_change(organs);
  if (changed && (!clips.clips().empty() || !bonds_.struts.empty())) clips.list_struts(organs, bonds_), parted_ = true;
  if (!parted_ && bonds_.broken.empty()) return;
  measure_slowdown(models_, bonds_);
  broken_before_ = bonds_.broken.size();
}

void SessionBonds::take_struts(SessionClips& clips, const std::vector<Organ>& organs) {
  if (clips.clips().empty() && bonds_.struts.empty()) return;
  clips.list_struts(organs, bonds_);
  measure_slowdown(models_, bonds_);
  parted_ = true;
}

void SessionBonds::end_frame() {
  if (bonds_.broken.empty() && !parted_) return;
  parted_ = false;
  if (bonds_.broken.size() > broken_before_) measure_slowdown(models_, bonds_);
  mark_bonded(hanging_, bonds_);
  release_unheld(hanging_, bonds_);
}

}  // namespace trocar
