#include "sim/session/session_bleeding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "deform/fluid/fluid_film.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/session/saved_session.hpp"

namespace trocar {
namespace {

// Water from an instrument reaches tissue within this distance of its tip.
constexpr float kJet = 0.02f;  // m

// A vertex of an organ.
struct VertexAt {
  std::size_t organ = 0;
  std::uint32_t vertex = 0;
  float away = kJet;  // m
  bool found = false;
};

// Drops land on another organ, or on the same one if it is this far below.
constexpr float kSameOrgan = 0.006f, kOtherOrgan = 1e-4f;  // m

// Returns where drops from an organ land.
DropLanding landing_of(const std::vector<Organ>& organs, std::size_t organ, const glm::vec3& from,
                       const glm::vec3& down) {
  DropLanding best;
  for (std::size_t k = 0; k < organs.size(); ++k)
    find_landing(from, down, k == organ ? kSameOrgan : kOtherOrgan, k, organs[k].positions, organs[k].unused, best);
  return best;
}

// Drops fall from the lowest thick part of a film onto the nearest surface below. What meets none is out of sight.
void drip(const std::vector<Organ>& organs, std::size_t organ, const glm::vec3& down, const FilmVolume& drops,
          std::vector<FluidFilm>& films, FluidAmounts& amounts) {
  const std::vector<glm::vec3>& positions = organs[organ].positions;
  const DropLanding at = landing_of(organs, organ, positions[drip_vertex(films[organ], positions, down)], down);
  if (!at.found) return add(drops, amounts.dripped);
  for (std::size_t k = 0; k < drops.size(); ++k)
    pour(films[at.surface], at.vertex, static_cast<FilmFluid>(k), drops[k]);
}

VertexAt nearest_to(const std::vector<Organ>& organs, const glm::vec3& tip) {
  VertexAt best;
  for (std::size_t k = 0; k < organs.size(); ++k)
    for (std::uint32_t v = 0; v < organs[k].positions.size(); ++v) {
      const float away = glm::distance(organs[k].positions[v], tip);
      if (away < best.away && (organs[k].unused.empty() || !organs[k].unused[v])) best = {k, v, away, true};
    }
  return best;
}

}  // namespace

SessionFilm::SessionFilm(const Scene& scene, const std::vector<Organ>& organs) {
  const bool bleeds = std::ranges::any_of(
      scene.organs, [](const OrganScene& organ) { return organ.vessel || organ.blood || organ.bile; });
  if (!bleeds && std::ranges::count(scene.instruments, InstrumentKind::Suction, &InstrumentScene::kind) == 0) return;
  films_.resize(organs.size());
  looks_.resize(organs.size());
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const glm::vec3 fall = organs[k].sculpture ? organs[k].sculpture->params.fall : scene.organs[k].cut.fall;
    const float length = glm::length(fall);
    down_.push_back(length > 0.f ? fall / length : glm::vec3(0.f, 0.f, -1.f));
    follow_change(k, organs[k]);
  }
}

void SessionFilm::follow_change(std::size_t organ, const Organ& now) {
  if (!possible()) return;
  add(follow_surface(films_[organ], now.positions.size(), now.unused), amounts_.dripped);
  looks_[organ].resize(now.positions.size(), glm::vec2(0.f));
}

void SessionFilm::check_read(const std::vector<Organ>& organs) const {
  // Rounding may leave a little less than nothing.
  const auto sound = [](const FilmVolume& volume) {
    return std::ranges::all_of(volume, [](double part) { return lies_within(part, -kMillilitre, 1.0); });
  };
  require_saved(films_.size() == looks_.size(), "fluid", "an array has another length");
  for (std::size_t k = 0; k < films_.size(); ++k) {
    const FluidFilm& film = films_[k];
    const std::size_t vertices = organs[k].mesh.positions.size();
    std::vector<char> is_wet(vertices, 0);
    require_saved(film.volume.size() == vertices && film.next <= film.wet.size() &&
                      std::ranges::all_of(film.wet, [&](std::uint32_t v) { return v < vertices && !is_wet[v]++; }),
                  "fluid", "a wet vertex does not exist, or is listed twice");
    require_saved(std::ranges::all_of(film.volume, sound), "fluid", "a volume is out of range");
  }
  require_saved(sound(amounts_.on) && sound(amounts_.dripped) && sound(amounts_.removed) &&
                    lies_within(amounts_.rinsed, 0.0, 1.0),
                "fluid", "a volume is out of range");
}

void SessionFilm::follow_read(const std::vector<Organ>& organs) {
  for (std::size_t k = 0; k < films_.size(); ++k) {
    const std::uint32_t next = films_[k].next;
    follow_surface(films_[k], organs[k].positions.size(), {});
    films_[k].next = next;
    looks_[k].assign(organs[k].positions.size(), glm::vec2(0.f));
  }
}

// Sucks first the mixture near the tip, or rinses the nearest tissue. Water that reaches none runs off.
void SessionFilm::pump(const std::vector<Organ>& organs, const Instrument& instrument, double dt) {
  const glm::vec3 tip(instrument.pose.tip);
  if (instrument.pump == Pump::Suck) {
    double most = instrument.suction.suck_ml_min * kMlPerMin * dt;
    for (std::size_t k = 0; k < organs.size() && most > 0.0; ++k) {
      const FilmVolume taken =
          take(films_[k], organs[k].positions, tip, static_cast<float>(instrument.suction.reach), most);
      add(taken, amounts_.removed);
      most -= total(taken);
    }
  } else if (instrument.pump == Pump::Rinse) {
    const double volume = instrument.suction.rinse_ml_min * kMlPerMin * dt;
    amounts_.rinsed += volume;
    if (const VertexAt at = nearest_to(organs, tip); at.found)
      pour(films_[at.organ], at.vertex, FilmFluid::Water, volume);
    else
      amounts_.dripped[static_cast<std::size_t>(FilmFluid::Water)] += volume;
  }
}

// A part of the blood of a vessel flies, if something is in its way.
void SessionFilm::pour_out(const std::vector<Organ>& organs, const BleedSource& source, double volume) {
  FluidFilm& film = films_[source.organ];
  if (source.kind != BleedKind::Vessel)
    return pour(film, source.vertex, source.kind == BleedKind::Perforation ? FilmFluid::Bile : FilmFluid::Blood,
                volume);
  if (source.state != BleedState::Flows) return;
  const Organ& organ = organs[source.organ];
  Spurt spurt{organ.positions[source.vertex],
              spurt_direction({organ.positions, organ.mesh.positions, organ.mesh.faces, organ.around}, source.vertex)};
  DropLanding at;
  if (spurt.towards != glm::vec3(0.f)) at = landing_of(organs, source.organ, spurt.from, spurt.towards);
  const bool lands = at.found && at.height <= kSpurtReach;
  pour(film, source.vertex, FilmFluid::Blood, lands ? (1.0 - kSpurtShare) * volume : volume);
  if (lands) pour(films_[at.surface], at.vertex, FilmFluid::Blood, kSpurtShare * volume);
  if (lands) spurt.length = at.height;
  spurt.flow = static_cast<float>(beat_at(organs.front().state.time));
  spurts_.push_back(spurt);
}

void SessionFilm::end_frame(const std::vector<Organ>& organs, const SessionBleeding& bleeding,
                            std::span<const Instrument> instruments, double dt) {
  if (!possible()) return;
  spurts_.clear();
  for (std::size_t k = 0; k < bleeding.sources().size(); ++k)
    pour_out(organs, bleeding.sources()[k], bleeding.spilt()[k]);
  for (const Instrument& instrument : instruments) pump(organs, instrument, dt);
  amounts_.on = {};
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const Organ& organ = organs[k];
    const FilmSurface surface{organ.positions, organ.mesh.positions, organ.mesh.faces, organ.around, down_[k]};
    if (const FilmVolume drops = run_down(films_[k], surface, dt); total(drops) > 0.0)
      drip(organs, k, down_[k], drops, films_, amounts_);
  }
  for (const FluidFilm& film : films_) add(volume_of(film), amounts_.on);
  show();
}

void SessionFilm::show() {
  blood_area_ = 0.0;
  for (std::size_t k = 0; k < films_.size(); ++k) blood_area_ += show_film(films_[k], looks_[k]);
}

namespace {

// A cut or torn surface has a source for each cube of this side that it passes through.
constexpr float kPatch = 0.004f;  // m
// A hole deeper than the wall and nearer than this to another perforation is part of it.
constexpr float kSameHole = 0.006f;  // m
// Hot tissue is pale from here on, which is coagulated (Organ::charred).
constexpr float kPale = 0.5f;
// A vessel that is open on one side bleeds with this share of the flow from its end; an assumption.
constexpr double kFromHole = 0.5;  // 1
// An instrument presses on a source when it touches tissue this near.
constexpr float kPressNear = 0.003f;  // m
// The pressure that stops a source: mean arterial pressure 93 mmHg, capillary pressure 25 mmHg, and 10 mmHg in the
// gallbladder. [BleedKind]
constexpr std::array<float, 3> kStops{12.4e3f, 3.3e3f, 1.3e3f};  // Pa
constexpr double kSquareCentimetre = 1e-4;                       // m^2
// Sources that the memory is made for at first; more allocate when they open.
constexpr std::size_t kUsualSources = 256;

bool coagulated(const Organ& organ, std::uint32_t vertex) { return organ.charred[vertex] >= kPale; }

// The area of a layer for which one of its fibres stands, m^2.
double area_of(const Fibre& fibre, const LayerParams& layer) {
  return static_cast<double>(fibre.stiffness * layer.thickness / layer.modulus);
}

double distance_to(std::span<const glm::dvec3> line, const glm::dvec3& p) {
  double squared = INFINITY;
  for (std::size_t k = 0; k + 1 < line.size(); ++k) {
    const glm::dvec3 d = line[k + 1] - line[k];
    const double share = std::clamp(glm::dot(p - line[k], d) / glm::dot(d, d), 0.0, 1.0);
    const glm::dvec3 away = line[k] + share * d - p;
    squared = std::min(squared, glm::dot(away, away));
  }
  return std::sqrt(squared);
}

bool in_use(const Organ& organ, std::uint32_t vertex) { return organ.unused.empty() || !organ.unused[vertex]; }

// Returns the vertex in use that is nearest at rest; the one with the lowest number in a tie.
std::uint32_t nearest_vertex(const Organ& organ, const glm::vec3& rest) {
  std::uint32_t best = 0;
  float nearest = INFINITY;
  for (std::uint32_t v = 0; v < organ.mesh.positions.size(); ++v) {
    const glm::vec3 away = organ.mesh.positions[v] - rest;
    const float squared = glm::dot(away, away);
    if (squared < nearest && in_use(organ, v)) best = v, nearest = squared;
  }
  return best;
}

// A part of a cut surface.
struct Patch {
  double area = 0.0;   // m^2
  glm::vec3 sum{0.f};  // m^3, centre times area
  std::vector<glm::uvec3> faces = {};

  // Returns the vertex nearest to the middle.
  std::uint32_t vertex(const Organ& organ) const {
    const glm::vec3 middle = sum / static_cast<float>(area);
    std::uint32_t best = faces[0].x;
    float nearest = INFINITY;
    for (const glm::uvec3& face : faces)
      for (int corner = 0; corner < 3; ++corner) {
        const float away = glm::distance(organ.mesh.positions[face[corner]], middle);
        if (away < nearest) best = face[corner], nearest = away;
      }
    return best;
  }
};

}  // namespace

SessionBleeding::SessionBleeding(const Scene& scene, const std::vector<Organ>& organs, const OrganContacts& contacts,
                                 const SessionBonds& bonds)
    : hole_(organs.size()), lost_(organs.size()), left_(organs.size()) {
  for (std::size_t f = 0; f < bonds.groups().size(); ++f) {
    const std::size_t group = bonds.groups()[f];
    fibre_area_.push_back(group < scene.layers.size() ? area_of(bonds.bonds().fibres[f], scene.layers[group].params)
                                                      : 0.0);
  }
  bool spills = false;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const OrganScene& organ = scene.organs[k];
    vessels_.push_back(organ.vessel), blood_.push_back(organ.blood), bile_.push_back(organ.bile);
    if (organ.bile) left_[k] = organ.bile->volume_ml * kMillilitre;
    possible_ = possible_ || organ.vessel || organ.blood || organ.bile;
    spills = spills || organ.bile;
  }
  sources_.reserve(kUsualSources), spilt_.reserve(kUsualSources);
  shown_.reserve(kUsualSources), changed_.reserve(kUsualSources);
  if (!spills) return;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    // The end of a duct lies in the organ that it joins, and leaves its wall as thick as it is.
    const bool made = k < contacts.field.size() && !contacts.field[k].value.empty();
    fields_.push_back(scene.organs[k].tube || scene.organs[k].sheet ? RestDistance{}
                      : made                                        ? contacts.field[k]
                             : make_rest_distance(organs[k].mesh.view(), organs[k].tissue.lattice));
  }
}

void SessionBleeding::begin() {
  before_ = sources_.size();
  changed_.clear();
}

void SessionBleeding::check_read(const std::vector<Organ>& organs) const {
  constexpr double kMost = 1.0;  // m^3, m^3/s
  const char* const whose = "bleeding";
  require_saved(sources_.size() <= kMostBleedSources, whose, "there are too many sources");
  for (const BleedSource& source : sources_) {
    require_saved(source.organ < organs.size() && source.vertex < organs[source.organ].mesh.positions.size(), whose,
                  "a source is at a vertex that does not exist");
    require_saved(source.kind <= BleedKind::Perforation && source.state <= BleedState::Stopped &&
                      (source.kind == BleedKind::Vessel        ? vessels_[source.organ].has_value()
                       : source.kind == BleedKind::Perforation ? bile_[source.organ].has_value()
                                                               : blood_[source.organ].has_value()),
                  whose, "a source is of a kind that its organ does not have");
    require_saved(lies_within(source.rate, 0.0, kMost) && lies_within(source.half_time, 0.0, kLongestTime) &&
                      lies_within(source.clotting, 0.0, kLongestTime),
                  whose, "a flow is out of range");
  }
  require_saved(lost_.size() == organs.size() && left_.size() == organs.size(), whose, "an array has another length");
  for (std::size_t k = 0; k < organs.size(); ++k)
    require_saved(lies_within(lost_[k].blood, 0.0, kMost) && lies_within(lost_[k].bile, 0.0, kMost) &&
                      lies_within(left_[k], -kMillilitre, kMost),
                  whose, "a volume is out of range");
}

void SessionBleeding::follow_restored() {
  spilt_.assign(sources_.size(), 0.0);
  shown_.clear();
  for (const BleedSource& source : sources_) shown_.push_back({source.state, source.vertex});
  begin();
}

void SessionBleeding::open(std::uint32_t organ, std::uint32_t vertex, BleedKind kind, double rate, double half_time) {
  if (sources_.size() >= kMostBleedSources) return;
  sources_.push_back({organ, vertex, kind, BleedState::Flows, rate, half_time, 0.0});
  shown_.push_back({BleedState::Flows, vertex});
  spilt_.push_back(0.0);
}

void SessionBleeding::follow_change(std::uint32_t organ, const Organ& now, const SculptChange& change, DamageMark how) {
  if (!possible_) return;
  for (BleedSource& source : sources_) {
    if (source.organ != organ || source.done() || in_use(now, source.vertex)) continue;
    if (how == kBurnt && source.kind != BleedKind::Perforation) source.state = BleedState::Coagulated;
    source.vertex = nearest_vertex(now, now.mesh.positions[source.vertex]);
  }
  const std::size_t faces = now.mesh.faces.size();
  if (blood_[organ] && how == kSnipped) open_surfaces(organ, now, faces - change.slit_walls, true);
  if (blood_[organ] && how == kTorn) open_surfaces(organ, now, faces - change.faces.new_faces, false);
  if (bile_[organ] && left_[organ] > 0.0) open_wall(organ, now, change);
  if (vessels_[organ] && how != kBurnt) find_hole(organ, now, change);
}

// What hot metal has parted is sealed.
void SessionBleeding::follow_bonds(const std::vector<Organ>& organs, const Bonds& bonds) {
  for (std::size_t k = 0; possible_ && k < bonds.broken.size(); ++k) {
    const Fibre& fibre = bonds.fibres[bonds.broken[k]];
    const double area = fibre_area_[bonds.broken[k]];
    if (!(area > 0.0) || (bonds.broken_how[k] != FibreBreak::Torn && bonds.broken_how[k] != FibreBreak::Cut)) continue;
    for (const BondEnd* end : {&fibre.a, &fibre.b}) {
      if (end->organ == kWall || !blood_[end->organ]) continue;
      const std::uint32_t vertex = nearest_vertex(organs[end->organ], end->point);
      if (coagulated(organs[end->organ], vertex)) continue;
      const BloodParams& blood = *blood_[end->organ];
      open(end->organ, vertex, BleedKind::Surface, blood.rate_ml_min_cm2 * kMlPerMin * area / kSquareCentimetre,
           blood.half_time);
    }
  }
}

// A vessel bleeds once its lumen is open: where a cut or a tear comes nearer to its middle than its wall.
void SessionBleeding::find_hole(std::uint32_t organ, const Organ& now, const SculptChange& change) {
  const TubeModel& tube = now.tissue.tube;
  double nearest = tube.params.radius - tube.params.wall;
  for (std::uint32_t v = change.first_vertex; v < change.first_vertex + change.new_vertices; ++v) {
    if (!in_use(now, v)) continue;
    if (const double away = distance_to(tube.line, glm::dvec3(now.mesh.positions[v])); away < nearest)
      nearest = away, hole_[organ] = v;
  }
}

// The faces from `first_slot` on are new. The walls of a slit count as skin; of torn tissue only walls and strips are
// open. Both sides of a slit lie at the same points at rest, so they share their sources.
void SessionBleeding::open_surfaces(std::uint32_t organ, const Organ& now, std::size_t first_slot, bool slit) {
  std::map<std::tuple<int, int, int>, Patch> patches;
  for (std::size_t slot = first_slot; slot < now.mesh.faces.size(); ++slot) {
    const glm::uvec3& face = now.mesh.faces[slot];
    if (!slit && now.sculpture->faces.kind[slot] == FaceKind::Skin) continue;
    if (coagulated(now, face.x) && coagulated(now, face.y) && coagulated(now, face.z)) continue;
    const glm::vec3 &a = now.mesh.positions[face.x], &b = now.mesh.positions[face.y], &c = now.mesh.positions[face.z];
    const glm::vec3 middle = (a + b + c) / 3.f;
    const glm::ivec3 at(glm::floor(middle / kPatch));
    const float area = 0.5f * glm::length(glm::cross(b - a, c - a));
    Patch& patch = patches[{at.x, at.y, at.z}];
    patch.area += static_cast<double>(area);
    patch.sum += area * middle;
    patch.faces.push_back(face);
  }
  for (const auto& [at, patch] : patches) {
    if (!(patch.area > 0.0)) continue;
    const BloodParams& blood = *blood_[organ];
    const double rate = blood.rate_ml_min_cm2 * kMlPerMin * patch.area / kSquareCentimetre;
    open(organ, patch.vertex(now), BleedKind::Surface, rate, blood.half_time);
  }
}

// Tissue in a neighbour does not count, and the neighbour's surface bounds the organ: organs overlap at rest.
double SessionBleeding::depth_of(std::uint32_t organ, const glm::vec3& p) const {
  double depth = -static_cast<double>(sample(fields_[organ], p).distance);
  for (std::size_t k = 0; k < fields_.size() && depth > 0.0; ++k)
    if (k != organ && !fields_[k].value.empty())
      depth = std::min(depth, static_cast<double>(sample(fields_[k], p).distance));
  return depth;
}

void SessionBleeding::open_wall(std::uint32_t organ, const Organ& now, const SculptChange& change) {
  double deepest = bile_[organ]->wall;
  std::optional<std::uint32_t> at;
  for (std::uint32_t v = change.first_vertex; v < change.first_vertex + change.new_vertices; ++v) {
    if (!in_use(now, v)) continue;
    if (const double depth = depth_of(organ, now.mesh.positions[v]); depth > deepest) deepest = depth, at = v;
  }
  if (!at) return;
  for (const BleedSource& source : sources_)
    if (source.organ == organ && source.kind == BleedKind::Perforation &&
        glm::distance(now.mesh.positions[source.vertex], now.mesh.positions[*at]) < kSameHole)
      return;
  open(organ, *at, BleedKind::Perforation, bile_[organ]->rate_ml_min * kMlPerMin, 0.0);
}

// A vessel opens when it is divided, or when the clip on its supplied end is lost.
void SessionBleeding::open_vessels(const std::vector<Organ>& organs, const SessionClips& clips) {
  for (const std::uint32_t k : clips.changed_tubes()) {
    const TubeState& tube = clips.tubes()[k];
    if (!vessels_[k] || !tube.divided) continue;
    const bool from_start = vessels_[k]->supplied_from == TubeSide::Start;
    const std::uint32_t vertex = clips.stump_vertex(k, organs[k], from_start);
    const auto known = std::ranges::find_if(
        sources_, [&](const BleedSource& source) { return source.organ == k && source.kind == BleedKind::Vessel; });
    if (known != sources_.end()) {
      known->vertex = vertex;
      known->rate = vessels_[k]->flow.rate_ml_min * kMlPerMin;  // it may have been a hole
    } else if ((from_start ? tube.clips_at_start : tube.clips_at_end) == 0 && !coagulated(organs[k], vertex)) {
      const VesselParams& flow = vessels_[k]->flow;
      open(k, vertex, BleedKind::Vessel, flow.rate_ml_min * kMlPerMin, flow.half_time);
    }
  }
}

void SessionBleeding::open_holes(const std::vector<Organ>& organs, const SessionClips& clips) {
  for (std::uint32_t k = 0; k < hole_.size(); ++k) {
    if (!hole_[k]) continue;
    const std::uint32_t vertex = *hole_[k];
    hole_[k].reset();
    const VesselParams& flow = vessels_[k]->flow;
    BleedSource hole{
        k, vertex, BleedKind::Vessel, BleedState::Flows, kFromHole * flow.rate_ml_min * kMlPerMin, flow.half_time};
    const bool bleeds = std::ranges::any_of(sources_, [&](const BleedSource& source) {
      return source.organ == k && source.kind == BleedKind::Vessel && !source.done();
    });
    if (bleeds || clips.tubes()[k].divided || !in_use(organs[k], vertex) || closed(hole, organs[k], clips)) continue;
    open(k, vertex, hole.kind, hole.rate, hole.half_time);
  }
}

// The scene has injured a vessel: from the start on it bleeds there, and the blood that it has lost before lies there.
void SessionBleeding::open_injuries(const std::vector<Organ>& organs, const SessionClips& clips) {
  for (std::uint32_t k = 0; k < vessels_.size(); ++k) {
    if (!vessels_[k] || !vessels_[k]->opened || clips.tubes()[k].divided) continue;
    const VesselScene& vessel = *vessels_[k];
    const bool known = std::ranges::any_of(
        sources_, [&](const BleedSource& source) { return source.organ == k && source.kind == BleedKind::Vessel; });
    if (known) continue;
    open(k, nearest_vertex(organs[k], *vessel.opened), BleedKind::Vessel, vessel.flow.rate_ml_min * kMlPerMin,
         vessel.flow.half_time);
    if (closed(sources_.back(), organs[k], clips)) continue;
    spilt_.back() = vessel.pooled_ml * kMillilitre;
  }
}

// A vessel is closed by any clip between its source and the end that is supplied, other sources by a clip over them.
bool SessionBleeding::closed(const BleedSource& source, const Organ& organ, const SessionClips& clips) const {
  if (source.kind == BleedKind::Vessel) {
    const TubeState& tube = clips.tubes()[source.organ];
    const bool from_start = vessels_[source.organ]->supplied_from == TubeSide::Start;
    if (tube.divided) return (from_start ? tube.clips_at_start : tube.clips_at_end) > 0;
    const std::vector<glm::dvec3>& line = clips.lines()[source.organ];
    const double at = along_line(line, glm::dvec3(organ.mesh.positions[source.vertex]));
    return std::ranges::any_of(clips.clips(), [&](const PlacedClip& placed) {
      return placed.on() && placed.clip.organ == source.organ && placed.closed >= kClosesTube &&
             (static_cast<double>(placed.along) < at) == from_start;
    });
  }
  return std::ranges::any_of(clips.clips(), [&](const PlacedClip& placed) {
    return placed.on() && placed.clip.organ == source.organ &&
           glm::distance(pose_of(placed.clip, organ.positions).centre, organ.positions[source.vertex]) <=
               0.5f * placed.length;
  });
}

bool SessionBleeding::pressed(const BleedSource& source, const Organ& organ,
                              std::span<const Instrument> instruments) const {
  const glm::vec3& at = organ.positions[source.vertex];
  const float stops = kStops[static_cast<std::size_t>(source.kind)];
  const std::vector<Touch>& touches = organ.touched.touches;
  for (std::size_t k = 0; k < touches.size() && k < organ.touch_pressure.size(); ++k)
    if (organ.touch_pressure[k] >= stops && glm::distance(touches[k].point, at) <= kPressNear) return true;
  return std::ranges::any_of(instruments, [&](const Instrument& instrument) {
    const Grasp& grasp = instrument.grasp;
    return grasp.holding() && instrument.grasped == source.organ && grasp.squeeze >= stops * grasp.area &&
           std::ranges::any_of(grasp.points, [&](const GraspedPoint& point) {
             return glm::distance(organ.positions[point.vertex], at) <= kPressNear;
           });
  });
}

void SessionBleeding::end_frame(const std::vector<Organ>& organs, const SessionClips& clips,
                                std::span<const Instrument> instruments, double dt) {
  if (!possible_) return;
  std::ranges::fill(spilt_, 0.0);
  open_vessels(organs, clips);
  open_holes(organs, clips);
  open_injuries(organs, clips);
  const double beat = mean_beat(organs.front().state.time, dt);
  for (std::uint32_t k = 0; k < sources_.size(); ++k) {
    BleedSource& source = sources_[k];
    if (!source.done()) {
      const Organ& organ = organs[source.organ];
      const BleedTreatment treatment{coagulated(organ, source.vertex), closed(source, organ, clips),
                                     pressed(source, organ, instruments), beat};
      spilt_[k] += bleed(source, treatment, dt, left_[source.organ]);
      FluidLoss& lost = lost_[source.organ];
      (source.kind == BleedKind::Perforation ? lost.bile : lost.blood) += spilt_[k];
    }
    if (source.state == shown_[k].state && source.vertex == shown_[k].vertex) continue;
    shown_[k] = {source.state, source.vertex};
    changed_.push_back(k);
  }
}

}  // namespace trocar
