#include "deform/sculpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "deform/loft.hpp"
#include "deform/sculpt_parts.hpp"
#include "geometry/error.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {
namespace {

// Largest distance that a strip bridges between skin and wall; a loop without a partner within it is capped.
constexpr float kStripRange = 2.5f;  // voxels

void require_valid(const SculptParams& params) {
  if (params.voxels_per_cell < 1 || params.voxels_per_cell > 8)
    throw InputError(fmt::format("{} voxels along a lattice cell; choose 1 to 8", params.voxels_per_cell));
  if (params.smallest_piece < 0)
    throw InputError(fmt::format("the smallest piece has {} voxels; choose 0 or more", params.smallest_piece));
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(params.fall[axis])) throw InputError("the gravity of loose parts is not a finite number");
}

void count_cells(Sculpture& sculpture, const TissueModel& model) {
  const Lattice& lattice = model.lattice;
  sculpture.cells.resize(lattice.cells.size());
  for (std::uint32_t v = 0; v < sculpture.voxels.kind.size(); ++v)
    if (sculpture.voxels.kind[v] == Voxel::Tissue) {
      SculptCell& cell = sculpture.cells[sculpture.voxels.cell_of(lattice, sculpture.voxels.at(v))];
      ++cell.at_first;
      ++cell.left;
    }
  for (std::uint32_t c = 0; c < lattice.cells.size(); ++c) {
    SculptCell& cell = sculpture.cells[c];
    cell.whole = lattice.cells[c].fullness;
    if (cell.at_first > 0) continue;
    const glm::dvec3 centre = lattice.origin + lattice.spacing * (glm::dvec3(lattice.cells[c].at) + 0.5);
    cell.host = nearest_tissue(sculpture.voxels, glm::vec3(centre), 2 * sculpture.voxels.per_cell);
    if (cell.host != kNoVoxel) sculpture.hosted.push_back({cell.host, c});
  }
  std::sort(sculpture.hosted.begin(), sculpture.hosted.end(),
            [](const glm::uvec2& a, const glm::uvec2& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
}

// Where tissue was removed without heat, the outside voxels next to it get the mean heat of the inside voxels around
// them: the skin between them is then cut at the edge of the tissue.
void spread_heat(Voxels& voxels, std::span<const std::uint32_t> cold) {
  const auto neighbour = [](int i) { return glm::ivec3(i % 3, i / 3 % 3, i / 9) - 1; };
  for (const std::uint32_t voxel : cold)
    for (int i = 0; i < 27; ++i) {
      const glm::ivec3 outside = voxels.at(voxel) + neighbour(i);
      if (!voxels.is(Voxel::Outside, outside)) continue;
      float sum = 0.f, inside = 0.f;
      for (int j = 0; j < 27; ++j) {
        const glm::ivec3 at = outside + neighbour(j);
        if (!voxels.holds(at) || voxels.kind[voxels.flat(at)] == Voxel::Outside) continue;
        sum += voxels.heat[voxels.flat(at)];
        ++inside;
      }
      float& heat = voxels.heat[voxels.flat(outside)];
      heat = std::max(heat, sum / inside);
    }
}

void apply_fullness(Sculpture& sculpture, TissueModel& model) {
  SculptChange& change = sculpture.change;
  for (std::uint32_t c = 0; c < sculpture.cells.size(); ++c) {
    if (!sculpture.scratch.changed[c]) continue;
    sculpture.scratch.changed[c] = 0;
    const SculptCell& cell = sculpture.cells[c];
    change.cells.push_back(c);
    change.fullness.push_back(
        cell.dead ? 0.f : cell.whole * static_cast<float>(cell.left) / static_cast<float>(cell.at_first));
  }
  if (!change.cells.empty()) set_fullness(model, change.cells, change.fullness);
}

// Returns the corners in the face's order, starting with the lowest.
std::array<std::uint32_t, 3> from_lowest(glm::uvec3 f) {
  while (f.x > f.y || f.x > f.z) f = {f.y, f.z, f.x};
  return {f.x, f.y, f.z};
}

// Strips and caps are rebuilt; unchanged ones keep their face ids.
void update_strips(Sculpture& sculpture) {
  const Loops loops = find_loops(sculpture.rim);
  std::vector<char> wall;
  for (std::size_t k = 0; k < loops.count(); ++k) wall.push_back(sculpture.vertices[loops.loop(k)[0]].wall);
  std::vector<glm::uvec3> wanted =
      close_loops(sculpture.rest, loops, wall, kStripRange * static_cast<float>(sculpture.voxels.size));

  std::vector<std::pair<std::array<std::uint32_t, 3>, std::size_t>> had;
  for (std::size_t slot = 0; slot < sculpture.faces.size(); ++slot)
    if (sculpture.faces.kind[slot] == FaceKind::Strip) {
      had.emplace_back(from_lowest(sculpture.faces.corners[slot]), slot);
      sculpture.faces.removed[slot] = 1;
    }
  std::sort(had.begin(), had.end());
  for (const glm::uvec3& face : wanted) {
    const auto key = from_lowest(face);
    auto known = std::lower_bound(had.begin(), had.end(), std::pair{key, std::size_t{0}});
    while (known != had.end() && known->first == key && !sculpture.faces.removed[known->second]) ++known;
    if (known != had.end() && known->first == key)
      sculpture.faces.removed[known->second] = 0;
    else
      sculpture.faces.add(FaceKind::Strip, face);
  }
}

// A strip face may coincide with another face in opposite orientation. The two enclose nothing, so both are removed;
// the surface stays closed, because their edges cancel.
void drop_back_to_back(Sculpture& sculpture) {
  LiveFaces& faces = sculpture.faces;
  std::vector<char> on_strip(sculpture.rest.size(), 0);
  for (std::size_t slot = 0; slot < faces.size(); ++slot)
    if (faces.kind[slot] == FaceKind::Strip && !faces.removed[slot])
      for (int corner = 0; corner < 3; ++corner) on_strip[faces.corners[slot][corner]] = 1;
  struct Side {
    std::array<std::uint32_t, 3> corners;  // ascending
    bool turned;                           // the face has the opposite orientation
    std::size_t slot;
  };
  std::vector<Side> sides;
  for (std::size_t slot = 0; slot < faces.size(); ++slot) {
    const glm::uvec3& f = faces.corners[slot];
    if (faces.removed[slot] || !on_strip[f.x] || !on_strip[f.y] || !on_strip[f.z]) continue;
    const auto [low, second, third] = from_lowest(f);
    sides.push_back({{low, std::min(second, third), std::max(second, third)}, second > third, slot});
  }
  const auto key = [](const Side& side) { return std::tie(side.corners, side.turned, side.slot); };
  std::sort(sides.begin(), sides.end(), [&](const Side& a, const Side& b) { return key(a) < key(b); });
  sculpture.scratch.edges.clear();
  for (std::size_t begin = 0, turned = 0, end = 0; begin < sides.size(); begin = end) {
    for (end = begin; end < sides.size() && sides[end].corners == sides[begin].corners && !sides[end].turned;) ++end;
    for (turned = end; end < sides.size() && sides[end].corners == sides[begin].corners;) ++end;
    for (std::size_t i = begin, j = turned; i < turned && j < end; ++i, ++j)
      for (const std::size_t slot : {sides[i].slot, sides[j].slot}) {
        faces.removed[slot] = 1;
        if (faces.kind[slot] != FaceKind::Strip) add_edges(faces.corners[slot], -1, sculpture.scratch.edges);
      }
  }
  update_rim(sculpture.rim, sculpture.scratch.edges);
}

const SculptChange& resurface(Sculpture& sculpture, TissueModel& model) {
  part_pieces(sculpture, model.lattice);
  spread_heat(sculpture.voxels, sculpture.scratch.cold);
  apply_fullness(sculpture, model);
  if (sculpture.scratch.cell_died) release_loose(sculpture, model);
  std::vector<std::uint32_t>& moved = sculpture.scratch.moved;
  moved.insert(moved.end(), sculpture.scratch.burnt.begin(), sculpture.scratch.burnt.end());
  refine_skin(sculpture, model);
  cut_skin(sculpture, model);
  update_wall(sculpture, model);
  note_edges(sculpture);
  update_strips(sculpture);
  drop_back_to_back(sculpture);
  settle(sculpture.faces, sculpture.change.faces);
  for (const std::uint32_t voxel : moved) sculpture.shown[voxel] = sculpture.voxels.heat[voxel];
  sculpture.change.new_vertices = static_cast<std::uint32_t>(sculpture.rest.size()) - sculpture.change.first_vertex;
  sculpture.change.burnt_voxels = static_cast<std::uint32_t>(sculpture.scratch.burnt.size());
  return sculpture.change;
}

const SculptChange& resurface_if_changed(Sculpture& sculpture, TissueModel& model) {
  const bool changed = !sculpture.scratch.burnt.empty() || !sculpture.scratch.moved.empty();
  return changed ? resurface(sculpture, model) : sculpture.change;
}

void kill_cell(Sculpture& sculpture, std::uint32_t c) {
  sculpture.cells[c].dead = true;
  sculpture.scratch.changed[c] = 1;
  sculpture.scratch.cell_died = true;
}

}  // namespace

void begin_change(Sculpture& sculpture) {
  sculpture.change.faces.removed.clear();
  sculpture.change.faces.first_new = FaceId(sculpture.faces.next_id);
  sculpture.change.faces.new_faces = 0;
  sculpture.change.first_vertex = static_cast<std::uint32_t>(sculpture.rest.size());
  sculpture.change.new_vertices = 0;
  sculpture.change.carried.clear();
  sculpture.change.cells.clear();
  sculpture.change.fullness.clear();
  sculpture.change.loose.clear();
  sculpture.change.slit_walls = 0;
  sculpture.change.burnt_voxels = 0;
  sculpture.scratch.burnt.clear();
  sculpture.scratch.cold.clear();
  sculpture.scratch.moved.clear();
  sculpture.scratch.cell_died = false;
}

void note_edges(Sculpture& sculpture) {
  const LiveFaces& faces = sculpture.faces;
  sculpture.scratch.edges.clear();
  for (std::size_t slot = 0; slot < faces.size(); ++slot) {
    const bool old = slot < faces.id.size();
    if (faces.kind[slot] == FaceKind::Strip || old != (faces.removed[slot] != 0)) continue;
    add_edges(faces.corners[slot], old ? -1 : 1, sculpture.scratch.edges);
  }
  update_rim(sculpture.rim, sculpture.scratch.edges);
}

void burn_voxel(Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel) {
  if (sculpture.voxels.kind[voxel] != Voxel::Tissue) return;
  sculpture.voxels.kind[voxel] = Voxel::Burnt;
  if (!(sculpture.voxels.heat[voxel] > 0.f)) {
    sculpture.voxels.heat[voxel] = 1.f;
    sculpture.scratch.cold.push_back(voxel);
  }
  sculpture.scratch.burnt.push_back(voxel);
  const auto c = static_cast<std::uint32_t>(sculpture.voxels.cell_of(lattice, sculpture.voxels.at(voxel)));
  sculpture.scratch.changed[c] = 1;
  if (--sculpture.cells[c].left == 0) kill_cell(sculpture, c);
  auto guest = std::lower_bound(sculpture.hosted.begin(), sculpture.hosted.end(), voxel,
                                [](const glm::uvec2& a, std::uint32_t v) { return a.x < v; });
  for (; guest != sculpture.hosted.end() && guest->x == voxel; ++guest)
    if (!sculpture.cells[guest->y].dead) kill_cell(sculpture, guest->y);
}

void burn_cell(Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell) {
  if (sculpture.cells[cell].dead) return;
  const int n = sculpture.voxels.per_cell;
  for (int i = 0; i < n * n * n; ++i)
    burn_voxel(sculpture, lattice,
               sculpture.voxels.flat(lattice.cells[cell].at * n + glm::ivec3(i % n, i / n % n, i / n / n)));
  if (!sculpture.cells[cell].dead) kill_cell(sculpture, cell);
}

std::uint32_t add_vertex(Sculpture& sculpture, TissueModel& model, const glm::vec3& rest, const SculptVertex& vertex) {
  sculpture.rest.push_back(rest);
  sculpture.vertices.push_back(vertex);
  model.embedding.push_back(embed_in(model.lattice, vertex.cell, rest));
  return static_cast<std::uint32_t>(sculpture.rest.size() - 1);
}

Sculpture make_sculpture(const MeshView& organ, const TissueModel& model, const SculptParams& params) {
  require_valid(params);
  Sculpture sculpture;
  sculpture.params = params;
  sculpture.voxels = make_voxels(organ, model.lattice, params.voxels_per_cell, params.smallest_piece);
  count_cells(sculpture, model);
  const std::vector<char> held = held_nodes(model);
  sculpture.any_held = std::find(held.begin(), held.end(), 1) != held.end();
  sculpture.pieces = first_pieces(sculpture.voxels);
  sculpture.rest.assign(organ.positions.begin(), organ.positions.end());
  for (const glm::vec3& p : organ.positions)
    sculpture.vertices.push_back(attach_to_skin(sculpture, model.lattice, p, SculptVertex{}));
  sculpture.faces = make_live_faces(welded_faces(organ.positions, organ.faces));
  const glm::ivec3 corners = sculpture.voxels.count + 1;
  sculpture.shown = sculpture.voxels.heat;
  sculpture.corner_vertex.assign(static_cast<std::size_t>(corners.x) * corners.y * corners.z, kNoVoxel);
  sculpture.scratch.sides.assign(model.rest.size(), 0);
  sculpture.scratch.changed.assign(sculpture.cells.size(), 0);
  begin_change(sculpture);
  return sculpture;
}

const SculptChange& burn(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const HotSegment& hot) {
  begin_change(sculpture);
  heat_tissue(sculpture, model.lattice, state.x, std::span(&hot, 1), false);
  return resurface_if_changed(sculpture, model);
}

const SculptChange& cauterise(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const HotMetal& hot,
                              SearBox& box) {
  begin_change(sculpture);
  if (!hot.cut.empty()) heat_tissue(sculpture, model.lattice, state.x, hot.cut, true);
  box = sear(sculpture, model.lattice, state.x, hot.metal, hot.sear, hot.time);
  return resurface_if_changed(sculpture, model);
}

const SculptChange& remove_cells(Sculpture& sculpture, TissueModel& model, std::span<const std::uint32_t> cells) {
  begin_change(sculpture);
  for (const std::uint32_t cell : cells)
    if (cell < sculpture.cells.size()) burn_cell(sculpture, model.lattice, cell);
  return sculpture.scratch.cell_died ? resurface(sculpture, model) : sculpture.change;
}

std::size_t slot_of(const Sculpture& sculpture, FaceId face) {
  const auto found = std::lower_bound(sculpture.faces.id.begin(), sculpture.faces.id.end(), face);
  return found != sculpture.faces.id.end() && *found == face
             ? static_cast<std::size_t>(found - sculpture.faces.id.begin())
             : sculpture.faces.size();
}

}  // namespace trocar
