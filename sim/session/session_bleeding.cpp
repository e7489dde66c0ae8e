#include "sim/session/session_bleeding.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "sim/session/saved_check.hpp"

namespace trocar {
namespace {

// A cut or torn surface has a source for each cube of this side that it passes through.
constexpr float kPatch = 0.004f;  // m
// A hole deeper than the wall and nearer than this to another perforation is part of it.
constexpr float kSameHole = 0.006f;  // m
// Hot tissue is pale from here on, which is coagulated (Organ::charred).
constexpr float kPale = 0.5f;
// An instrument presses on a source when it touches tissue this near.
constexpr float kPressNear = 0.003f;  // m
// The pressure that stops a source: mean arterial pressure 93 mmHg, capillary pressure 25 mmHg, and 10 mmHg in the
// gallbladder. [BleedKind]
constexpr std::array<float, 3> kStops{12.4e3f, 3.3e3f, 1.3e3f};  // Pa
constexpr double kSquareCentimetre = 1e-4;                       // m^2
// Sources that the memory is made for at first; more allocate when they open.
constexpr std::size_t kUsualSources = 256;

bool coagulated(const Organ& organ, std::uint32_t vertex) { return organ.charred[vertex] >= kPale; }

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

SessionBleeding::SessionBleeding(const Scene& scene, const std::vector<Organ>& organs, const OrganContacts& contacts)
    : lost_(organs.size()), left_(organs.size()) {
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
    fields_.push_back(scene.organs[k].tube ? RestDistance{}
                      : made               ? contacts.field[k]
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
    } else if ((from_start ? tube.clips_at_start : tube.clips_at_end) == 0 && !coagulated(organs[k], vertex)) {
      const VesselParams& flow = vessels_[k]->flow;
      open(k, vertex, BleedKind::Vessel, flow.rate_ml_min * kMlPerMin, flow.half_time);
    }
  }
}

// The supplied end of a vessel is closed by any clip on its part, other sources by a clip over them.
bool SessionBleeding::closed(const BleedSource& source, const Organ& organ, const SessionClips& clips) const {
  if (source.kind == BleedKind::Vessel) {
    const TubeState& tube = clips.tubes()[source.organ];
    return (vessels_[source.organ]->supplied_from == TubeSide::Start ? tube.clips_at_start : tube.clips_at_end) > 0;
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
  for (std::size_t k = 0; k < organ.touched_by_id.size() && k < organ.touch_pressure.size(); ++k)
    if (organ.touch_pressure[k] >= stops && glm::distance(organ.touched_by_id[k].point, at) <= kPressNear) return true;
  return std::ranges::any_of(instruments, [&](const Instrument& instrument) {
    const Grasp& grasp = instrument.grasp;
    return grasp.holding() && instrument.grasped == source.organ && grasp.squeeze >= stops * grasp.area &&
           std::ranges::any_of(grasp.points, [&](const GraspedPoint& point) {
             return glm::distance(organ.positions[point.vertex], at) <= kPressNear;
           });
  });
}

void SessionBleeding::settle(const std::vector<Organ>& organs, const SessionClips& clips,
                             std::span<const Instrument> instruments, double dt) {
  if (!possible_) return;
  open_vessels(organs, clips);
  for (std::uint32_t k = 0; k < sources_.size(); ++k) {
    BleedSource& source = sources_[k];
    spilt_[k] = 0.0;
    if (!source.done()) {
      const Organ& organ = organs[source.organ];
      const BleedTreatment treatment{coagulated(organ, source.vertex), closed(source, organ, clips),
                                     pressed(source, organ, instruments)};
      spilt_[k] = bleed(source, treatment, dt, left_[source.organ]);
      FluidLoss& lost = lost_[source.organ];
      (source.kind == BleedKind::Perforation ? lost.bile : lost.blood) += spilt_[k];
    }
    if (source.state == shown_[k].state && source.vertex == shown_[k].vertex) continue;
    shown_[k] = {source.state, source.vertex};
    changed_.push_back(k);
  }
}

}  // namespace trocar
