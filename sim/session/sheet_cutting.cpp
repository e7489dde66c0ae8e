#include "sim/session/sheet_cutting.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/closest.hpp"

namespace trocar {
namespace {

// A sheet may tear where a face carries this share of its strength.
constexpr double kMayTear = 0.3;
// New nodes of a burn keep this far from others, so that a burnt line takes some nodes for each of its millimetres.
constexpr CutLimits kBurnLimits{1.2e-3, 0.25, 6e-4};
// Tissue chars as far from the metal as this in a second.
constexpr double kCharReach = 1.5e-3, kCharRate = 2.0;  // m, 1/s

using Corners = std::array<std::uint32_t, 3>;

// The corners of a face in its order, from the lowest.
Corners from_lowest(glm::uvec3 f) {
  while (f.x > f.y || f.x > f.z) f = {f.y, f.z, f.x};
  return {f.x, f.y, f.z};
}

// Replaces the faces of the organ by those of its slab: what is the same keeps its id.
void change_faces(Organ& organ, DamageMark how) {
  const std::vector<glm::uvec3> wanted = slab_faces(organ.tissue.slab);
  std::vector<std::pair<Corners, std::uint32_t>> had;
  for (std::uint32_t slot = 0; slot < organ.mesh.faces.size(); ++slot)
    had.emplace_back(from_lowest(organ.mesh.faces[slot]), slot);
  std::sort(had.begin(), had.end());
  std::vector<char> stays(organ.mesh.faces.size(), 0);
  std::vector<glm::uvec3> added;
  for (const glm::uvec3& face : wanted) {
    const auto key = std::pair{from_lowest(face), 0u};
    const auto known = std::lower_bound(had.begin(), had.end(), key);
    if (known != had.end() && known->first == key.first)
      stays[known->second] = 1;
    else
      added.push_back(face);
  }
  std::vector<FaceId> removed, ids;
  std::vector<glm::uvec3> faces;
  for (std::uint32_t slot = 0; slot < stays.size(); ++slot) {
    if (stays[slot]) {
      faces.push_back(organ.mesh.faces[slot]), ids.push_back(organ.face_ids[slot]);
    } else {
      removed.push_back(organ.face_ids[slot]);
    }
  }
  organ.damage.mark(removed, how);
  auto next = static_cast<std::uint32_t>(organ.damage.peak.size());
  for (const glm::uvec3& face : added) faces.push_back(face), ids.push_back(FaceId(next++));
  organ.damage.resize(next);
  if (organ.topology == organ.topology_before) organ.ids_before.swap(organ.face_ids);
  organ.face_ids = std::move(ids), organ.mesh.faces = std::move(faces);
  organ.change.removed.insert(organ.change.removed.end(), removed.begin(), removed.end());
  organ.change.new_faces.insert(organ.change.new_faces.end(), added.begin(), added.end());
}

void follow_change(Organ& organ, DamageMark how) {
  follow_sheet(organ.tissue);
  carry_sheet(organ.tissue, organ.state);
  const std::size_t first = organ.mesh.positions.size(), now = organ.tissue.embedding.size();
  for (std::size_t v = first; v < now; ++v) {
    organ.mesh.positions.push_back(organ.tissue.rest[v]);
    organ.change.new_rest.push_back(organ.tissue.rest[v]);
    organ.change.new_embedding.push_back(organ.tissue.embedding[v]);
  }
  change_faces(organ, how);
  organ.pressure.assign(organ.mesh.faces.size(), 0.f);
  organ.charred.resize(now, 0.f);
  follow_nodes(organ);
  organ.around = faces_around(organ.mesh.faces, now);
  organ.unused.assign(now, 1);
  for (const glm::uvec3& face : organ.mesh.faces)
    for (int corner = 0; corner < 3; ++corner) organ.unused[face[corner]] = 0;
  organ.contacts.forget();
  ++organ.topology;
}

bool change_sheet(Organ& organ, const SheetSurgery& surgery, DamageMark how) {
  SheetChange change;
  if (!change_slab(organ.tissue.slab, organ.state.slab, surgery, change) || !change.changed()) return false;
  follow_change(organ, how);
  return true;
}

double distance_to(const closest::Segment& axis, const glm::dvec3& p) {
  return std::sqrt(closest::closest_segments(axis, closest::segment(p, p)).squared);
}

bool reaches(const Organ& organ, const HotSegment& hot) {
  const closest::Segment axis = closest::segment(glm::dvec3(hot.from), glm::dvec3(hot.to));
  const SheetState& state = organ.state.slab.sheet;
  const double most = static_cast<double>(hot.radius) * static_cast<double>(hot.radius);
  return std::ranges::any_of(organ.tissue.slab.sheet.faces, [&](const SheetFace& face) {
    const closest::Face corners = closest::face({state.x[face.node[0]], state.x[face.node[1]], state.x[face.node[2]]});
    return closest::closest_axis_face(axis, corners).squared <= most;
  });
}

}  // namespace

bool snip_sheet(Organ& organ, const BladeCut& cut) {
  if (cut.corners < 4) return false;
  const auto at = [&](int k) {
    const glm::vec2& p = cut.outline[static_cast<std::size_t>(k)];
    return glm::dvec3(cut.origin + p.x * cut.along + p.y * cut.across);
  };
  // From one blade to the other; the outline goes along the first and back along the second.
  const SheetBlade blade{at(0), at(1), at(cut.corners - 1), at(cut.corners - 2)};
  return change_sheet(
      organ, [&](SheetModel& model, SheetState& state) { return trocar::cut(model, state, blade); }, kSnipped);
}

bool burn_sheet(Organ& organ, std::span<const HotSegment> hot) {
  bool changed = false;
  for (const HotSegment& segment : hot) {
    if (!reaches(organ, segment)) continue;
    changed |= change_sheet(
        organ,
        [&](SheetModel& model, SheetState& state) {
          return burn(model, state, glm::dvec3(segment.from), glm::dvec3(segment.to),
                      static_cast<double>(segment.radius), kBurnLimits);
        },
        kBurnt);
  }
  if (changed) coagulate_sheet(organ, hot, 1.0);
  return changed;
}

bool tear_sheet(Organ& organ) {
  const SheetModel& sheet = organ.tissue.slab.sheet;
  const double least = kMayTear * sheet.params.strength;
  bool may = false;
  for (std::uint32_t f = 0; f < sheet.faces.size() && !may; ++f)
    may = stress_of(sheet, organ.state.slab.sheet, f).largest > least * sheet.elements[f].integrity;
  return may && change_sheet(organ, tear, kTorn);
}

void coagulate_sheet(Organ& organ, std::span<const HotSegment> metal, double dt) {
  for (const HotSegment& segment : metal) {
    const closest::Segment axis = closest::segment(glm::dvec3(segment.from), glm::dvec3(segment.to));
    for (std::size_t v = 0; v < organ.charred.size(); ++v)
      if (distance_to(axis, glm::dvec3(organ.positions[v])) < static_cast<double>(segment.radius) + kCharReach)
        organ.charred[v] = std::min(1.f, organ.charred[v] + static_cast<float>(kCharRate * dt));
  }
}

void release_loose_sheet(Organ& organ, const glm::vec3& fall) {
  TissueModel& tissue = organ.tissue;
  const SheetModel& sheet = tissue.slab.sheet;
  const std::vector<std::uint32_t> piece = pieces_of(sheet);
  std::vector<char> held(piece.size() + 1, 0), node_held(tissue.slab.nodes(), 0);
  for (const SlabFixed& fixed : tissue.slab.fixed) node_held[fixed.node] = 1;
  for (const Tether& tether : tissue.tethers) node_held[tether.node / 2] = 1;
  for (std::size_t n = 0; n < tissue.bonded.size() && n / 2 < node_held.size(); ++n)
    if (tissue.bonded[n]) node_held[n / 2] = 1;
  // A sheet that nothing has ever held stays as it is.
  if (std::ranges::count(node_held, 1) == 0) return;
  for (std::size_t f = 0; f < piece.size(); ++f)
    for (const std::uint32_t node : sheet.faces[f].node) held[piece[f]] |= node_held[node];
  for (std::size_t f = 0; f < piece.size(); ++f)
    for (const std::uint32_t node : sheet.faces[f].node)
      if (!held[piece[f]] && tissue.gravity[2 * node] == glm::vec3(0.f) && sheet.mass[node] > 0.0)
        tissue.gravity[2 * node] = tissue.gravity[2 * node + 1] = fall;
}

void stop_fallen_sheet(Organ& organ, float out_of_sight) {
  TissueModel& tissue = organ.tissue;
  SheetState& state = organ.state.slab.sheet;
  for (std::uint32_t k = 0; k < tissue.slab.nodes(); ++k) {
    if (tissue.gravity[2 * k] == glm::vec3(0.f) || tissue.slab.sheet.fixed[k] ||
        glm::distance(glm::vec3(state.x[k]), glm::vec3(tissue.slab.rest[k])) < out_of_sight)
      continue;
    tissue.gravity[2 * k] = tissue.gravity[2 * k + 1] = glm::vec3(0.f);
    state.v[k] = glm::dvec3(0.0);
  }
}

}  // namespace trocar
