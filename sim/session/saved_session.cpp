// Implements Session::save() and restore(). The block of bytes holds a header, the organs and their contacts, the
// instruments and the scope. restore() reads all of it, checks it, and only then recomputes what
// follows from it, so a block that is refused changes nothing.
#include "sim/session/saved_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "deform/contact/grasp.hpp"
#include "deform/contact/organ_contact.hpp"
#include "deform/cut/sculpt.hpp"
#include "deform/cut/sculpt_steps.hpp"
#include "deform/model_version.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/error.hpp"
#include "sim/device/device_guard.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/session.hpp"
#include "sim/session/session_bleeding.hpp"
#include "sim/session/session_joins.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {
namespace {

// Derived numbers may differ by this share: sums in another order.
constexpr float kRounding = 1e-3f;
// Emptied cells allow substeps that are shorter by a small factor; a much shorter one would stop the session.
constexpr float kShortestSubstep = 1.f / 16.f;  // 1  of that of the intact organ
constexpr double kMostTurn = 1e9;               // degrees

bool nearly(float value, float wanted) { return std::abs(value - wanted) <= kRounding * std::abs(wanted); }

bool nearly(std::span<const float> values, std::span<const float> wanted) {
  return std::ranges::equal(values, wanted, [](float a, float b) { return nearly(a, b); });
}

template <typename List>
bool all_within(const List& values, double low, double high) {
  return std::ranges::all_of(values, [&](auto value) { return lies_within(static_cast<double>(value), low, high); });
}

template <typename List>
bool all_below(const List& numbers, std::size_t count) {
  return std::ranges::all_of(numbers, [&](std::uint32_t number) { return number < count; });
}

bool same(const Embedding& a, const Embedding& b) {
  for (int i = 0; i < 8; ++i)
    if (a.node[i] != b.node[i] || !(std::abs(a.weight[i] - b.weight[i]) <= kRounding)) return false;
  return true;
}

bool same(const Tether& a, const Tether& b) {
  return a.node == b.node && a.stiffness == b.stiffness && a.diaphragm == b.diaphragm;
}

bool same(const RimEdge& a, const RimEdge& b) { return a.u == b.u && a.v == b.v && a.net == b.net; }

template <typename List>
bool equal_lists(const List& a, const List& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return same(x, y); });
}

bool before(const glm::uvec2& a, const glm::uvec2& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }

std::size_t product(const glm::ivec3& size) { return static_cast<std::size_t>(size.x) * size.y * size.z; }

// The checks of one organ, from what the others depend on to what depends on them.
class OrganCheck {
 public:
  OrganCheck(const Organ& organ, const IntactOrgan& intact)
      : organ_(organ), model_(organ.tissue), intact_(intact), at_rest_(intact.tissue) {}

  void check() {
    require(model_.mass.size() == nodes() && model_.inverse_mass.size() == nodes() && model_.gravity.size() == nodes(),
            "an array of its nodes has another length");
    if (!model_.slab.empty()) return check_sheet();
    if (organ_.sculpture) {
      check_voxels();
      check_cells();
      check_slits();
      check_skin();
      check_faces();
    } else {
      check_uncut();
    }
    check_surface();
    check_model();
    check_state();
    check_damage();
    check_contacts();
  }

 private:
  void require(bool fits, const char* what) const { require_saved(fits, "organ " + organ_.name, what); }
  std::size_t nodes() const { return at_rest_.rest.size(); }
  std::size_t vertices() const { return organ_.mesh.positions.size(); }
  std::size_t voxels() const { return product(organ_.sculpture->voxels.count); }
  bool has_tissue(std::uint32_t voxel) const {
    return voxel < voxels() && organ_.sculpture->voxels.kind[voxel] != Voxel::Outside;
  }

  void check_uncut() const {
    require(organ_.topology == 0 && organ_.mesh.positions == intact_.mesh.positions,
            "it has no cuts, but its mesh has");
    require(model_.gravity == at_rest_.gravity, "its gravity is not that of the scene");
    for (std::size_t c = 0; c < model_.lattice.cells.size(); ++c) {
      const LatticeCell& cell = model_.lattice.cells[c];
      require(!cell.divided && cell.volume_fraction == at_rest_.lattice.cells[c].volume_fraction,
              "it has no cuts, but its cells have");
    }
  }

  void check_voxels() const {
    const Sculpture& s = *organ_.sculpture;
    const std::vector<Voxel>& kind = s.voxels.kind;
    require(kind.size() == voxels() && s.voxels.heat.size() == voxels() && s.shown.size() == voxels() &&
                s.pieces.of.size() == voxels() && s.corner_vertex.size() == product(s.voxels.count + 1),
            "an array of its voxels has another length");
    require(all_within(s.voxels.heat, -1.0, 1.0) && all_within(s.shown, -1.0, 1.0), "a heat is not between -1 and 1");
    const auto pieces = static_cast<std::int64_t>(s.pieces.first.size());
    require(std::ranges::all_of(s.pieces.first, [&](std::int64_t first) { return first >= 0 && first < pieces; }),
            "a piece of tissue comes from a piece that does not exist");
    for (std::size_t v = 0; v < voxels(); ++v) {
      require(kind[v] <= Voxel::Burnt, "a voxel is of no known kind");
      const std::int64_t piece = s.pieces.of[v];
      require(kind[v] == Voxel::Outside ? piece == -1 : piece >= 0 && piece < pieces,
              "a voxel is in a piece that does not exist");
    }
  }

  void check_cells() {
    const Sculpture& s = *organ_.sculpture;
    require(s.cells.size() == model_.lattice.cells.size(), "an array of its cells has another length");
    std::size_t inside = 0;
    std::vector<glm::uvec2> hosted;
    for (std::uint32_t c = 0; c < s.cells.size(); ++c) {
      const SculptCell& cell = s.cells[c];
      const auto [at_first, left] = count_voxels(c);
      inside += at_first;
      require(cell.whole == at_rest_.lattice.cells[c].volume_fraction && cell.at_first == at_first && cell.left == left,
              "a cell does not have the tissue of its voxels");
      require(at_first == 0 ? cell.host == kNoVoxel || has_tissue(cell.host)
                            : cell.host == kNoVoxel && cell.dead == (left == 0),
              "a cell without tissue is alive, or has no host");
      if (cell.host != kNoVoxel) hosted.push_back({cell.host, c});
      const bool changed = cell.dead || cell.left != cell.at_first;
      float volume_fraction = cell.whole;
      if (changed) {
        volume_fraction = cell.dead
                              ? 0.f
                              : std::max(cell.whole * static_cast<float>(cell.left) / static_cast<float>(cell.at_first),
                                         kEmptiestCell);
        changed_.push_back(c), volume_fractions_.push_back(volume_fraction);
      }
      require(nearly(model_.lattice.cells[c].volume_fraction, volume_fraction), "a cell is not as full as its voxels");
    }
    require(inside == voxels() - static_cast<std::size_t>(std::ranges::count(s.voxels.kind, Voxel::Outside)),
            "there is tissue outside of its cells");
    std::sort(hosted.begin(), hosted.end(), before);
    require(hosted == s.hosted, "its cells without voxels have other hosts");
  }

  // Returns the voxels of a cell that had tissue at first, and those that have it now.
  std::pair<std::size_t, std::size_t> count_voxels(std::uint32_t c) const {
    const Voxels& v = organ_.sculpture->voxels;
    const int n = v.per_cell;
    std::size_t at_first = 0, left = 0;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) {
        const std::uint32_t row = v.flat(model_.lattice.cells[c].at * n + glm::ivec3(0, j, k));
        for (int i = 0; i < n; ++i) {
          at_first += v.kind[row + i] != Voxel::Outside;
          left += v.kind[row + i] == Voxel::Tissue;
        }
      }
    return {at_first, left};
  }

  void check_slits() const {
    const Sculpture& s = *organ_.sculpture;
    require(
        std::ranges::all_of(s.severed, [&](const glm::uvec2& pair) { return pair.x < pair.y && pair.y < nodes(); }) &&
            std::is_sorted(s.severed.begin(), s.severed.end(), before),
        "a slit severs a spring that does not exist");
    const auto follows = [](const glm::uvec2& a, const glm::uvec2& b) { return a.x >= b.x; };
    require(std::ranges::adjacent_find(s.carried_voxels, follows) == s.carried_voxels.end() &&
                std::ranges::all_of(s.carried_voxels,
                                    [&](const glm::uvec2& v) { return has_tissue(v.x) && v.y < s.cells.size(); }),
            "a slit moves a voxel or a cell that does not exist");
    require(all_below(s.slit_sides, 6 * voxels()) && std::ranges::is_sorted(s.slit_sides),
            "a slit splits a side that does not exist");
    const auto doses = static_cast<std::size_t>(s.voxels.per_cell) * s.voxels.per_cell * s.voxels.per_cell;
    const CoagulationField& coagulated = s.coagulated;
    require((coagulated.block.empty() || coagulated.block.size() == s.cells.size()) &&
                std::ranges::all_of(coagulated.block,
                                    [&](std::size_t first) {
                                      return first == kNoDose ||
                                             (first % doses == 0 && first + doses <= coagulated.dose.size());
                                    }),
            "the doses of a cell are missing");
    require(all_within(coagulated.dose, 0.0, kLargestQuantity) &&
                lies_within(static_cast<double>(coagulated.char_dose), 1e-3, kLargestQuantity),
            "a dose of heat is out of range");
  }

  void check_skin() const {
    const Sculpture& s = *organ_.sculpture;
    const std::size_t first = intact_.mesh.positions.size();
    require(s.rest == organ_.mesh.positions && vertices() >= first && s.vertices.size() == vertices() &&
                std::equal(intact_.mesh.positions.begin(), intact_.mesh.positions.end(), s.rest.begin()),
            "a vertex does not lie where it is at rest");
    for (std::size_t v = 0; v < vertices(); ++v) {
      const SculptVertex& vertex = s.vertices[v];
      require(vertex.cell < s.cells.size(), "a vertex is in a cell that does not exist");
      require(vertex.anchor == kNoVoxel || has_tissue(vertex.anchor), "a vertex lies on tissue that does not exist");
      require(lies_within(static_cast<double>(vertex.reach), 0.0, static_cast<double>(kFarthestNode)) &&
                  lies_within(glm::dvec3(s.rest[v]), kLargestCoordinate),
              "the position of a vertex is out of range");
    }
    require(
        std::ranges::all_of(s.corner_vertex, [&](std::uint32_t v) { return v == kNoVoxel || v < s.vertices.size(); }),
        "a corner of the wall is not one of its vertices");
  }

  void check_faces() const {
    const Sculpture& s = *organ_.sculpture;
    const LiveFaces& f = s.faces;
    require(f.corners == organ_.mesh.faces && f.id == organ_.face_ids && f.kind.size() == f.size() &&
                f.side.size() == f.size() && f.removed.size() == f.size(),
            "an array of its faces has another length or content");
    require(std::ranges::all_of(f.kind, [](FaceKind kind) { return kind <= FaceKind::Strip; }) &&
                all_below(f.side, 6 * voxels()) && std::ranges::count(f.removed, 0) == std::ssize(f.removed),
            "a face is of no known kind");
    require(f.next_id == organ_.damage.peak.size(), "its damage has another length");
  }

  void check_surface() const {
    const std::vector<glm::uvec3>& faces = organ_.mesh.faces;
    const std::vector<FaceId>& ids = organ_.face_ids;
    for (const glm::uvec3& face : faces)
      require(face.x < vertices() && face.y < vertices() && face.z < vertices(),
              "a corner of a face is not one of its vertices");
    require(ids.size() == faces.size() &&
                std::ranges::adjacent_find(ids, [](FaceId a, FaceId b) { return a >= b; }) == ids.end() &&
                (ids.empty() || index(ids.back()) < organ_.damage.peak.size()),
            "the ids of its faces do not ascend");
    if (organ_.topology == 0) {
      require(faces == intact_.mesh.faces && vertices() == intact_.mesh.positions.size() && organ_.unused.empty(),
              "it has no cuts, but its faces have");
      require(!organ_.sculpture || organ_.sculpture->rim.empty(), "its boundary is not that of its faces");
      return;
    }
    std::vector<char> unused(vertices(), 1);
    for (const glm::uvec3& face : faces) unused[face.x] = unused[face.y] = unused[face.z] = 0;
    require(organ_.unused == unused, "a vertex without faces counts as used");
    check_boundary();
  }

  // Skin and wall have the boundary that is stored, and strips close it.
  void check_boundary() const {
    const Sculpture& s = *organ_.sculpture;
    std::vector<RimEdge> rim, open, edges, strips;
    for (std::size_t slot = 0; slot < s.faces.size(); ++slot)
      add_edges(s.faces.corners[slot], 1, s.faces.kind[slot] == FaceKind::Strip ? strips : edges);
    update_rim(rim, edges);
    require(equal_lists(rim, s.rim), "its boundary is not that of its faces");
    open = rim;
    update_rim(open, strips);
    require(open.empty(), "its surface is not closed");
  }

  void check_model() const {
    if (changed_.empty() && !is_slit()) return check_model_against(at_rest_);
    TissueModel wanted = at_rest_;
    for (std::size_t c = 0; c < wanted.lattice.cells.size(); ++c)
      wanted.lattice.cells[c].divided = model_.lattice.cells[c].divided;
    if (!changed_.empty()) set_volume_fractions(wanted, changed_, volume_fractions_);
    for (std::size_t c = 0; c < wanted.lattice.cells.size(); ++c)
      if (wanted.lattice.cells[c].divided) wanted.bulk[wanted.bulk_index[c]] = 0.f;
    for (const SpringRow& row : wanted.spring_rows)
      for (std::uint32_t i = 0; i < row.count; ++i)
        if (!is_connected(*organ_.sculpture, row.a + i, row.b + i)) wanted.stiffness[row.first + i] = 0.f;
    check_model_against(wanted);
  }

  bool is_slit() const {
    return (organ_.sculpture && !organ_.sculpture->severed.empty()) ||
           std::ranges::any_of(model_.lattice.cells, [](const LatticeCell& cell) { return cell.divided; });
  }

  void check_model_against(const TissueModel& wanted) const {
    require(nearly(model_.mass, wanted.mass) && nearly(model_.inverse_mass, wanted.inverse_mass),
            "the mass of a node does not follow from its cuts");
    require(nearly(model_.stiffness, wanted.stiffness) && nearly(model_.bulk, wanted.bulk) &&
                model_.centre == wanted.centre,
            "a stiffness does not follow from its cuts");
    require(equal_lists(model_.tethers, wanted.tethers) && model_.diaphragm == wanted.diaphragm,
            "an attachment is not that of the scene");
    require(model_.longest_substep <= (1.f + kRounding) * at_rest_.longest_substep &&
                model_.longest_substep >= kShortestSubstep * wanted.longest_substep,
            "its substep does not follow from its cuts");
    const glm::vec3 none(0.f);
    for (const glm::vec3& gravity : model_.gravity)
      require(gravity == model_.params.gravity || gravity == none ||
                  (organ_.sculpture && gravity == organ_.sculpture->params.fall),
              "its gravity is not that of the scene");
    require(model_.embedding.size() == vertices(), "an array of its vertices has another length");
    for (std::uint32_t v = 0; v < vertices(); ++v)
      require((v < at_rest_.embedding.size() && same(model_.embedding[v], at_rest_.embedding[v])) ||
                  (organ_.sculpture &&
                   same(model_.embedding[v],
                        embed_in(model_.lattice, organ_.sculpture->vertices[v].cell, organ_.mesh.positions[v]))),
              "a vertex does not follow the nodes around it");
  }

  void check_state() const {
    const SteppedTissue& state = organ_.state;
    require(state.x.size() == nodes() && state.v.size() == nodes(), "an array of its nodes has another length");
    require(lies_within(state.time, 0.0, kLongestTime), "its time is out of range");
    std::vector<char> moves(nodes(), 0);
    for (const std::uint32_t node : model_.diaphragm) moves[node] = 1;
    for (std::size_t node = 0; node < nodes(); ++node) {
      const glm::dvec3 rest(at_rest_.rest[node]);
      require(lies_within(glm::dvec3(state.x[node]) - rest, static_cast<double>(kFarthestNode)) &&
                  lies_within(glm::dvec3(state.v[node]), static_cast<double>(kFastestNode)),
              "a node is more than 10 m from its position at rest, faster than 1000 m/s, or not a number");
      require(moves[node] || at_rest_.inverse_mass[node] > 0.f || !model_.tube.empty() || !model_.slab.empty() ||
                  model_.rigid || state.x[node] == at_rest_.rest[node],
              "a fixed node is not where it is fixed");
    }
    for (const Dent& dent : state.dents) check(dent);
    for (const Dent& dent : state.held_dents) check(dent);
    for (const SurfaceDent& dent : organ_.dents) check(dent);
    if (!model_.tube.empty()) check_rods();
  }

  void check(const Dent& dent) const {
    require(lies_within(glm::dvec3(dent.shift), static_cast<double>(kFarthestNode)) &&
                lies_within(glm::dvec3(dent.speed), static_cast<double>(kFastestNode)),
            "a dent of a tool is deeper than 10 m, faster than 1000 m/s, or not a number");
    for (const float size : {dent.radius, dent.length, dent.width, dent.spread, dent.hollow})
      require(lies_within(static_cast<double>(size), 0.0, static_cast<double>(kFarthestNode)),
              "the place of a dent is out of range");
    require(lies_within(static_cast<double>(dent.closeness), 0.0, kLargestQuantity) &&
                lies_within(static_cast<double>(dent.held), 0.0, kLongestTime) &&
                lies_within(static_cast<double>(dent.owes), -kLargestQuantity, kLargestQuantity),
            "the place of a dent is out of range");
  }

  void check(const SurfaceDent& dent) const {
    require(lies_within(glm::dvec3(dent.from), kLargestCoordinate) &&
                lies_within(glm::dvec3(dent.to), kLargestCoordinate) &&
                lies_within(glm::dvec3(dent.shift), static_cast<double>(kFarthestNode)),
            "the place of a dent in its surface is out of range");
    for (const float size : {dent.full, dent.fade})
      require(lies_within(static_cast<double>(size), 0.0, kLargestQuantity),
              "the size of a dent of its surface is out of range");
  }

  // A sheet: its faces, what follows from them, and a motion that a sheet can have.
  void check_sheet() {
    check_sheet_arrays();
    check_sheet_faces();
    TissueModel wanted = at_rest_;
    wanted.slab = model_.slab;
    follow_sheet(wanted);
    check_sheet_surface(wanted);
    check_state();
    check_sheet_state();
    const std::size_t ids = organ_.damage.peak.size();
    require(
        ids >= organ_.mesh.faces.size() && organ_.damage.integral.size() == ids && organ_.damage.marks.size() == ids,
        "its damage has another length");
    require(all_within(organ_.damage.peak, 0.0, kLargestQuantity) &&
                all_within(organ_.damage.integral, 0.0, kLargestQuantity) &&
                all_within(organ_.damage.marks, 0.0, kBurnt | kTorn | kCrushed | kSnipped),
            "its damage is out of range");
    require(organ_.charred.size() == vertices() && all_within(organ_.charred, 0.0, 1.0),
            "how charred a vertex is, is not between 0 and 1");
    check_contacts();
  }

  void check_sheet_arrays() const {
    const SlabModel& slab = model_.slab;
    const SheetModel& sheet = slab.sheet;
    const SheetState& state = organ_.state.slab.sheet;
    const std::size_t count = slab.rest.size(), faces = sheet.faces.size(), edges = sheet.edges.size();
    require(count >= at_rest_.slab.rest.size() && count <= slab.room && sheet.mass.size() == count &&
                sheet.fixed.size() == count && slab.planned.size() == count && sheet.elements.size() == faces &&
                sheet.clamped.size() == edges && sheet.beside.size() == edges && state.x.size() == count &&
                state.v.size() == count && state.direction.size() == edges &&
                state.opened.size() == sheet.ties.size() && organ_.state.slab.lean.size() == nodes() &&
                organ_.state.slab.lean_on.size() == nodes(),
            "an array of its sheet has another length");
    require(all_within(sheet.fixed, 0.0, 1.0) && all_within(sheet.clamped, 0.0, 1.0), "a node is in no known state");
    for (const SlabFixed& fixed : slab.fixed)
      require(fixed.node < count && sheet.fixed[fixed.node], "a fixed node does not exist");
    require(static_cast<std::ptrdiff_t>(slab.fixed.size()) == std::ranges::count(sheet.fixed, 1),
            "a fixed node is not listed");
    for (const SheetTie& tie : sheet.ties)
      require(tie.face[0] < faces && tie.face[1] < faces && tie.corner[0] < 3 && tie.corner[1] < 3 &&
                  lies_within(tie.area, 0.0, 1.0) && lies_within(tie.length, 1e-9, 1.0),
              "a tear has no sides");
    for (const auto& pair : sheet.scored) require(pair[0] < count && pair[1] < count, "a cut is between no nodes");
  }

  void check_sheet_faces() const {
    const SlabModel& slab = model_.slab;
    const SheetModel& sheet = slab.sheet;
    std::vector<double> mass(slab.rest.size(), 0.0);
    std::vector<int> sides(sheet.edges.size(), 0);
    for (std::size_t f = 0; f < sheet.faces.size(); ++f) {
      const SheetFace& face = sheet.faces[f];
      const SheetElement& e = sheet.elements[f];
      for (std::size_t k = 0; k < 3; ++k) {
        require(face.node[k] < slab.rest.size() && face.edge[k] < sheet.edges.size(),
                "a corner of a face is not one of its vertices");
        const auto& edge = sheet.edges[face.edge[k]];
        const std::uint32_t a = face.node[k], b = face.node[(k + 1) % 3];
        require(a != b && ((edge[0] == a && edge[1] == b) || (edge[0] == b && edge[1] == a)),
                "an edge of a face does not join its corners");
        ++sides[face.edge[k]];
        require(lies_within(glm::dvec3(e.corner[k], 0.0), 10.0), "a face has no shape");
      }
      const SheetElement wanted = element_of(e.corner, sheet.params.poisson);
      require(wanted.area > 1e-12 && wanted.area == e.area && wanted.gradient == e.gradient && wanted.bend == e.bend &&
                  lies_within(e.turn, 1e3) && lies_within(e.integrity, 0.0, 1.0),
              "the stiffness of a face does not follow from its shape");
      for (const std::uint32_t node : face.node) mass[node] += section_of(sheet.params).per_square * e.area / 3.0;
    }
    for (std::size_t e = 0; e < sides.size(); ++e)
      require(sides[e] >= 1 && sides[e] <= 2 && sheet.beside[e] < sheet.faces.size() &&
                  std::ranges::count(sheet.faces[sheet.beside[e]].edge, e) == 1,
              "an edge has no faces, or too many");
    for (std::size_t k = 0; k < mass.size(); ++k)
      require(std::abs(mass[k] - sheet.mass[k]) <= 1e-9 * (mass[k] + 1e-12),
              "the mass of a node does not follow from its faces");
  }

  void check_sheet_surface(const TissueModel& wanted) const {
    require(vertices() == 2 * model_.slab.rest.size() && model_.embedding.size() == vertices(),
            "an array of its vertices has another length");
    const auto sorted = [](std::vector<glm::uvec3> faces) {
      for (glm::uvec3& f : faces)
        while (f.x > f.y || f.x > f.z) f = {f.y, f.z, f.x};
      std::ranges::sort(faces, [](const glm::uvec3& a, const glm::uvec3& b) {
        return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
      });
      return faces;
    };
    require(sorted(organ_.mesh.faces) == sorted(slab_faces(model_.slab)), "its surface is not that of its sheet");
    const std::vector<FaceId>& ids = organ_.face_ids;
    require(ids.size() == organ_.mesh.faces.size() &&
                std::ranges::adjacent_find(ids, [](FaceId a, FaceId b) { return a >= b; }) == ids.end() &&
                (ids.empty() || index(ids.back()) < organ_.damage.peak.size()),
            "the ids of its faces do not ascend");
    std::vector<char> unused(vertices(), 1);
    for (const glm::uvec3& face : organ_.mesh.faces) unused[face.x] = unused[face.y] = unused[face.z] = 0;
    require(organ_.topology == 0 ? organ_.unused.empty() : organ_.unused == unused,
            "a vertex without faces counts as used");
    for (const glm::vec3& p : organ_.mesh.positions)
      require(lies_within(glm::dvec3(p), kLargestCoordinate), "the position of a vertex is out of range");
    require(model_.mass == wanted.mass && model_.inverse_mass == wanted.inverse_mass &&
                equal_lists(model_.embedding, wanted.embedding) && equal_lists(model_.tethers, wanted.tethers) &&
                model_.diaphragm == wanted.diaphragm && model_.longest_substep == wanted.longest_substep &&
                model_.stiffness.empty() && model_.bulk.empty() && model_.centre.empty(),
            "its mass does not follow from its cuts");
    for (std::size_t c = 0; c < model_.lattice.cells.size(); ++c)
      require(!model_.lattice.cells[c].divided &&
                  model_.lattice.cells[c].volume_fraction == wanted.lattice.cells[c].volume_fraction,
              "a cell is not as full as its faces");
    for (const glm::vec3& gravity : model_.gravity)
      require(lies_within(glm::dvec3(gravity), 100.0), "its gravity is out of range");
  }

  void check_sheet_state() const {
    const SheetState& state = organ_.state.slab.sheet;
    for (std::size_t k = 0; k < state.x.size(); ++k)
      require(lies_within(state.x[k] - model_.slab.rest[k], static_cast<double>(kFarthestNode)) &&
                  lies_within(state.v[k], static_cast<double>(kFastestNode)) &&
                  lies_within(model_.slab.planned[k], kLargestCoordinate),
              "a node of its sheet is out of range");
    for (const glm::dvec3& direction : state.direction) require(nearly_unit(direction), "an edge has no direction");
    require(all_within(state.opened, 0.0, 1.0) && lies_within(state.torn, 0.0, kLargestQuantity) &&
                all_within(organ_.state.slab.lean, 0.0, kLargestQuantity),
            "a force on its sheet is out of range");
  }

  // The rods that its parts have, in a motion that rods can have.
  void check_rods() const {
    TissueModel wanted = model_;
    if (organ_.sculpture) restore_rods(wanted, node_parts(*organ_.sculpture, model_.lattice));
    const TubeMotion& motion = organ_.state.tube;
    require(motion.rods.size() == wanted.tube.rods.size() && motion.sections.size() == wanted.tube.rods.size(),
            "it has another number of rods than parts");
    for (std::size_t r = 0; r < motion.rods.size(); ++r) {
      const RodState& rod = motion.rods[r];
      const std::size_t count = wanted.tube.rods[r].rest.size();
      require(rod.x.size() == count && rod.v.size() == count && rod.turn.size() == count &&
                  motion.sections[r].size() == count && rod.angle.size() + 1 == count && rod.spin.size() + 1 == count &&
                  rod.axis.size() + 1 == count,
              "an array of a rod has another length");
      for (std::size_t k = 0; k < count; ++k)
        require(lies_within(rod.x[k] - wanted.tube.rods[r].rest[k], static_cast<double>(kFarthestNode)) &&
                    lies_within(rod.v[k], static_cast<double>(kFastestNode)) && lies_within(rod.turn[k], -1e6, 1e6) &&
                    lies_within(motion.sections[r][k].flatness, 0.01, 1.0) &&
                    nearly_unit(glm::dvec3(motion.sections[r][k].across, 0.0)),
                "a node of a rod is out of range");
      for (std::size_t e = 0; e + 1 < count; ++e) {
        const glm::dvec3 edge = rod.x[e + 1] - rod.x[e];
        require(glm::length(edge) > 1e-9 && lies_within(rod.angle[e], -1e6, 1e6) &&
                    lies_within(rod.spin[e], -1e9, 1e9) && nearly_unit(rod.axis[e]) &&
                    std::abs(glm::dot(rod.axis[e], edge)) < 1e-6 * glm::length(edge),
                "an edge of a rod is out of range");
      }
    }
  }
  static bool nearly_unit(const glm::dvec3& v) { return std::abs(glm::length(v) - 1.0) < 1e-6; }

  void check_damage() const {
    const TissueDamage& damage = organ_.damage;
    const std::size_t ids = organ_.sculpture ? organ_.sculpture->faces.next_id : organ_.mesh.faces.size();
    require(damage.peak.size() == ids && damage.integral.size() == ids && damage.marks.size() == ids,
            "its damage has another length");
    require(all_within(damage.peak, 0.0, kLargestQuantity) && all_within(damage.integral, 0.0, kLargestQuantity) &&
                all_within(damage.marks, 0.0, kBurnt | kTorn | kCrushed | kSnipped),
            "its damage is out of range");
    require(organ_.charred.size() == vertices() && all_within(organ_.charred, 0.0, 1.0),
            "how charred a vertex is, is not between 0 and 1");
  }

  void check_contacts() const {
    const ContactList& list = organ_.contacts;
    const std::vector<std::uint32_t>& first = list.first_candidate;
    require(
        !first.empty() && first.front() == 0 && first.back() == list.candidates.size() && std::ranges::is_sorted(first),
        "its contacts are not sorted by instrument");
    require(std::ranges::all_of(list.candidates, [&](FaceId face) { return index(face) < organ_.mesh.faces.size(); }),
            "a contact is with a face that does not exist");
  }

  const Organ& organ_;
  const TissueModel& model_;
  const IntactOrgan& intact_;
  const TissueModel& at_rest_;
  std::vector<std::uint32_t> changed_;   // cells that lost tissue
  std::vector<float> volume_fractions_;  // [of these]
};

void check_grasp(const std::string& whose, const Instrument& instrument, const std::vector<Organ>& organs) {
  const Grasp& grasp = instrument.grasp;
  require_saved(instrument.grasped < organs.size(), whose, "it holds an organ that does not exist");
  require_saved(lies_within(static_cast<double>(grasp.youngs_modulus), 0.0, kLargestQuantity) &&
                    lies_within(static_cast<double>(grasp.area), 0.0, 1.0) &&
                    lies_within(static_cast<double>(grasp.squeeze), 0.0, kLargestQuantity) &&
                    lies_within(static_cast<double>(grasp.resistance), 0.0, kLargestQuantity) &&
                    lies_within(glm::dvec3(grasp.pull), kLargestQuantity) &&
                    lies_within(grasp.first_opening, grasp.holding() ? 1e-6 : 0.0, 7.0),
                whose, "the force of its jaws is out of range");
  require_saved(!grasp.holding() || has_jaws(instrument.kind), whose, "it has no jaws, but holds tissue");
  const Organ& organ = organs[instrument.grasped];
  for (const GraspedPoint& point : grasp.points) {
    require_saved(point.vertex < organ.mesh.positions.size() && same(point.point, organ.tissue.embedding[point.vertex]),
                  whose, "it holds a vertex that does not exist");
    require_saved(lies_within({point.between.x, point.between.from_hinge, point.between.share}, 10.0) &&
                      lies_within(static_cast<double>(point.area), 0.0, 1.0),
                  whose, "a point between its jaws is out of range");
  }
}

void check_guard(const std::string& whose, const GuardState& guard) {
  for (const DevicePose* pose : {&guard.last, &guard.frozen})
    require_saved(usable(*pose) && lies_within({pose->roll_deg, pose->grip, pose->grip_force}, kLargestQuantity) &&
                      pose->energy <= Diathermy::Coagulate,
                  whose, "a pose of its device is out of range");
  require_saved(lies_within(guard.since, -kLongestTime, kLongestTime) &&
                    lies_within(guard.duration, guard.returning ? 1e-6 : 0.0, kLongestTime),
                whose, "the time of its device is out of range");
}

}  // namespace

void require_saved(bool fits, const std::string& whose, const char* what) {
  if (!fits) throw InputError(fmt::format("the saved session contradicts itself: {}: {}; save it again", whose, what));
}

bool lies_within(const glm::dvec3& value, double most) {
  return lies_within(value.x, -most, most) && lies_within(value.y, -most, most) && lies_within(value.z, -most, most);
}

void check_saved(const Organ& organ, const IntactOrgan& intact) { OrganCheck(organ, intact).check(); }

ContactSizes::ContactSizes(const OrganContacts& contacts) {
  for (const RestDistance& distance : contacts.field) field.push_back(distance.value.size());
  for (const auto& cells : contacts.rim) rim.push_back(cells.size());
}

void check_saved(const OrganContacts& contacts, const ContactSizes& before, const std::vector<Organ>& organs) {
  constexpr double kFarthest = 1e6;  // m
  const char* const whose = "contacts between organs";
  require_saved(ContactSizes(contacts) == before, whose, "an array has another length");
  for (const RestDistance& distance : contacts.field)
    require_saved(all_within(distance.value, -kFarthest, kFarthest), whose, "a distance is out of range");
  for (std::size_t pair = 0; pair < contacts.zero.size(); ++pair)
    require_saved(contacts.zero[pair].size() <= organs[pair / organs.size()].mesh.positions.size() &&
                      all_within(contacts.zero[pair], -kFarthest, kFarthest),
                  whose, "a distance at rest is out of range");
  for (const auto& cells : contacts.rim)
    require_saved(all_within(cells, 0.0, 1.0), whose, "a cell is of no known kind");
}

void check_saved(const Instrument& instrument, const std::vector<Organ>& organs) {
  constexpr double kMostOpen = 1.5;  // 1  held tissue may keep jaws open beyond 1
  const std::string whose = "instrument " + instrument.name;
  const ToolPose& pose = instrument.pose;
  require_saved(usable({pose.pivot, pose.tip, instrument.roll_deg, 0.0, {}, 0.0}) &&
                    lies_within(instrument.roll_deg, -kMostTurn, kMostTurn),
                whose, "its pose is out of range");
  for (const double share : {instrument.grip, instrument.commanded_grip, instrument.opened})
    require_saved(lies_within(share, -kMostOpen, kMostOpen), whose, "its aperture is out of range");
  require_saved(lies_within(instrument.grip_force, 0.0, kLargestQuantity) &&
                    lies_within(glm::dvec3(instrument.force), kLargestQuantity) &&
                    lies_within(glm::dvec3(instrument.torque), kLargestQuantity),
                whose, "its force is out of range");
  require_saved(instrument.energy <= Diathermy::Coagulate && instrument.health <= DeviceHealth::Lost &&
                    instrument.health >= DeviceHealth::Good,
                whose, "its pedal or its device is in no known state");
  const int magazine = instrument.kind == InstrumentKind::ClipApplier ? instrument.clip.magazine : 0;
  require_saved(instrument.clips_left >= 0 && instrument.clips_left <= magazine, whose,
                "it has more clips than its magazine");
  check_grasp(whose, instrument, organs);
  check_guard(whose, instrument.device->state());
  const DevicePose& last = instrument.device->state().last;
  require_saved(last.pivot == pose.pivot && last.tip == pose.tip, whose, "its device was left at another pose");
}

void check_saved(const SessionScope& scope) {
  require_saved(lies_within(scope.pose.port, kLargestCoordinate) && lies_within(scope.pose.eye, kLargestCoordinate) &&
                    lies_within(scope.pose.spin_deg, -kMostTurn, kMostTurn) &&
                    lies_within(scope.pose.field_of_view_deg, 1.0, 179.0) && scope.health >= DeviceHealth::Good &&
                    scope.health <= DeviceHealth::Lost,
                "the scope", "its pose is out of range");
  if (scope.device) check_guard("the scope", scope.device->state());
}

// Lists the fields of a session on which the next frame depends, for ByteWriter and ByteReader. Data that a frame
// recomputes from them (queries, boxes, contacts, buffers) are not listed. The order is fixed: a change of it raises
// kSessionVersion. Tested in tests/sim/session/saved_session_test.cpp

template <typename A>
void fields(A& a, Embedding& e) {
  a.raw(e.node, sizeof e.node);
  a.raw(e.weight, sizeof e.weight);
}

template <typename A>
void fields(A& a, RodState& r) {
  all(a, r.x, r.v, r.angle, r.spin, r.axis, r.turn);
}

template <typename A>
void fields(A& a, TubeSection& s) {
  all(a, s.flatness, s.across);
}

template <typename A>
void fields(A& a, TubeMotion& t) {
  all(a, t.rods, t.sections);
}

template <typename A>
void fields(A& a, SheetState& s) {
  all(a, s.x, s.v, s.direction, s.opened, s.torn);
}

template <typename A>
void fields(A& a, SlabMotion& m) {
  all(a, m.sheet, m.lean, m.lean_on);
}

template <typename A>
void fields(A& a, Dent& d) {
  all(a, d.shift, d.speed, d.radius, d.length, d.width, d.closeness, d.spread, d.hollow, d.held, d.owes);
}

// Only a sheet has the fields of one.
template <typename A>
void fields(A& a, TissueState& s) {
  all(a, s.x, s.v, s.time, s.dents, s.held_dents, s.tube);
  if (!s.slab.lean.empty()) field(a, s.slab);
}

template <typename A>
void fields(A& a, SheetFace& f) {
  a.raw(f.node.data(), sizeof f.node);
  a.raw(f.edge.data(), sizeof f.edge);
}

template <typename A>
void fields(A& a, SheetElement& e) {
  for (std::size_t k = 0; k < 3; ++k) all(a, e.corner[k], e.gradient[k]);
  for (int k = 0; k < 3; ++k) field(a, e.bend[k]);
  all(a, e.area, e.turn, e.integrity);
}

template <typename A>
void fields(A& a, SheetTie& t) {
  a.raw(t.face.data(), sizeof t.face);
  a.raw(t.corner.data(), sizeof t.corner);
  all(a, t.area, t.length);
}

template <typename A, std::size_t N>
void fields(A& a, std::array<std::uint32_t, N>& numbers) {
  a.raw(numbers.data(), sizeof numbers);
}

template <typename A>
void fields(A& a, SlabFixed& f) {
  all(a, f.node, f.diaphragm);
}

template <typename A>
void fields(A& a, SlabModel& m) {
  SheetModel& s = m.sheet;
  all(a, s.faces, s.elements, s.edges, s.beside, s.mass, s.fixed, s.clamped, s.ties, s.scored, m.rest, m.fixed,
      m.planned);
}

template <typename A>
void fields(A& a, Tether& t) {
  all(a, t.node, t.stiffness, t.diaphragm);
}

// The lattice's geometry and the parameters belong to the scene; cuts change the fields listed here.
template <typename A>
void fields(A& a, TissueModel& m) {
  for (LatticeCell& cell : m.lattice.cells) all(a, cell.volume_fraction, cell.divided);
  all(a, m.mass, m.inverse_mass, m.gravity, m.stiffness, m.bulk, m.centre, m.tethers, m.diaphragm, m.embedding,
      m.longest_substep);
  if (!m.slab.empty()) field(a, m.slab);
}

template <typename A>
void fields(A& a, SculptCell& c) {
  all(a, c.whole, c.at_first, c.left, c.host, c.dead, c.loose);
}

template <typename A>
void fields(A& a, SculptVertex& v) {
  all(a, v.anchor, v.reach, v.cell, v.wall, v.removed);
}

template <typename A>
void fields(A& a, RimEdge& e) {
  all(a, e.u, e.v, e.net);
}

template <typename A>
void fields(A& a, LiveFaces& f) {
  all(a, f.corners, f.id, f.kind, f.side, f.removed, f.next_id);
}

template <typename A>
void fields(A& a, CoagulationField& s) {
  all(a, s.block, s.dose, s.char_dose);
}

template <typename A>
void fields(A& a, TissuePieces& p) {
  all(a, p.of, p.first);
}

template <typename A>
void fields(A& a, Sculpture& s) {
  all(a, s.voxels.kind, s.voxels.heat, s.cells, s.vertices, s.rest, s.faces, s.rim, s.corner_vertex, s.shown, s.hosted,
      s.pieces, s.any_held, s.severed, s.carried_voxels, s.slit_sides, s.coagulated);
}

// The contacts keep the faces that were near each tool in the last frame.
template <typename A>
void fields(A& a, ContactList& c) {
  all(a, c.candidates, c.first_candidate, c.met);
}

template <typename A>
void fields(A& a, TissueDamage& d) {
  all(a, d.peak, d.integral, d.marks);
}

template <typename A>
void fields(A& a, SurfaceDent& d) {
  all(a, d.from, d.to, d.shift, d.full, d.fade);
}

template <typename A>
void fields(A& a, Organ& o) {
  TissueState& state = o.state;
  all(a, o.mesh.positions, o.mesh.faces, o.face_ids, o.tissue, state, o.charred, o.unused, o.damage, o.topology,
      o.dents);
  if (o.sculpture) field(a, *o.sculpture);
  if constexpr (A::kReads) o.contacts.forget();
  field(a, o.contacts);
}

template <typename A>
void fields(A& a, OrganContacts& c) {
  for (RestDistance& distance : c.field) field(a, distance.value);
  for (auto& zero : c.zero) field(a, zero);
  for (auto& rim : c.rim) field(a, rim);
}

template <typename A>
void fields(A& a, PlacedClip& p) {
  all(a, p.clip.organ, p.clip.count, p.tool, p.length, p.stiffness, p.holds, p.along, p.closed);
  a.raw(p.clip.struts.data(), sizeof p.clip.struts);
}

template <typename A>
void fields(A& a, TubeState& t) {
  all(a, t.divided, t.clips_at_start, t.clips_at_end, t.at);
}

template <typename A>
void fields(A& a, BleedSource& s) {
  all(a, s.organ, s.vertex, s.kind, s.state, s.rate, s.half_time, s.clotting);
}

template <typename A>
void fields(A& a, FluidLoss& l) {
  all(a, l.blood, l.bile);
}

template <typename A>
void fields(A& a, FilmVolume& v) {
  a.raw(v.data(), sizeof v);
}

template <typename A>
void fields(A& a, FluidFilm& f) {
  all(a, f.volume, f.wet, f.next);
}

template <typename A>
void fields(A& a, FluidAmounts& f) {
  all(a, f.on, f.dripped, f.removed, f.rinsed);
}

template <typename A>
void fields(A& a, DevicePose& p) {
  all(a, p.pivot, p.tip, p.roll_deg, p.grip, p.energy, p.grip_force);
}

template <typename A>
void fields(A& a, GuardState& g) {
  all(a, g.last, g.frozen, g.since, g.duration, g.failed, g.returning, g.pedal_blocked);
}

template <typename A>
void fields(A& a, GraspedPoint& p) {
  all(a, p.vertex, p.point, p.between.x, p.between.from_hinge, p.between.share, p.area);
}

template <typename A>
void fields(A& a, Grasp& g) {
  all(a, g.points, g.first_opening, g.youngs_modulus, g.area, g.squeeze, g.resistance, g.pull, g.slipping, g.torn);
}

namespace {

constexpr std::array<char, 8> kMagic = {'T', 'r', 'o', 'c', 'a', 'r', 'S', 's'};
// Rises with every change of the block's layout; blocks of other versions are refused.
constexpr std::uint32_t kSessionVersion = 11;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kSessionVersion;
  std::uint32_t model_version = kModelVersion;
  std::uint64_t scene = 0;     // scene_key()
  std::uint64_t checksum = 0;  // of what follows the header
};
constexpr std::size_t kHeaderBytes = 32;
constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 40;

template <typename A>
void fields(A& a, Header& header) {
  a.raw(header.magic.data(), header.magic.size());
  all(a, header.version, header.model_version, header.scene, header.checksum);
}

// Equal for sessions of the same scene: its text, names, the lattices at rest, shapes of the instruments.
std::uint64_t scene_key(const Session& session, const std::string& scene_text) {
  ByteWriter out;
  const auto text = [&](const std::string& value) {
    out.count(value.size(), 1);
    out.raw(value.data(), value.size());
  };
  text(scene_text);
  for (const Organ& organ : session.organs()) {
    text(organ.name);
    out.count(organ.tissue.rest.size(), 1);
    out.count(organ.tissue.lattice.cells.size(), 1);
    out.count(organ.sculpture ? 1 : 0, 1);
    // Cuts of a sheet take nodes that have no place before.
    if (organ.tissue.slab.empty()) out.raw(organ.tissue.rest.data(), organ.tissue.rest.size() * sizeof(glm::vec3));
  }
  for (const Instrument& instrument : session.instruments()) {
    text(instrument.name);
    out.count(static_cast<std::uint64_t>(instrument.kind), 1);
    out.raw(&instrument.radius, sizeof instrument.radius);
  }
  return checksum_of(out.take());
}

// The touches of the frame before belong to the faces before.
void forget_touches(Organ& organ) {
  organ.touched.clear();
  organ.touches = {};
  organ.tip_faces.clear();
  organ.tip_first.clear();
  organ.touch_pressure.clear();
}

void check_header(std::span<const std::byte> block, std::uint64_t scene) {
  ByteReader in(block);
  Header header;
  fields(in, header);
  if (header.magic != kMagic) throw InputError("this is not a saved session");
  if (header.version != kSessionVersion || header.model_version != kModelVersion)
    throw InputError("the session was saved by another version of Trocar; restore it with that version");
  if (header.checksum != checksum_of(block.subspan(kHeaderBytes)))
    throw InputError("the saved session is damaged; save it again");
  if (header.scene != scene) throw InputError("the session was saved from another scene; open that scene");
}

// The same fields in both directions.
template <typename A>
void instrument_fields(A& a, Instrument& i) {
  all(a, i.pose.pivot, i.pose.tip, i.roll_deg, i.grip, i.commanded_grip, i.grip_force, i.energy, i.heats, i.snipped,
      i.blades_open, i.opened, i.clip_loaded, i.clips_left, i.grasp, i.force, i.torque, i.health, i.frozen);
  std::uint64_t grasped = i.grasped;
  GuardState guard = i.device->state();
  all(a, grasped, guard);
  if constexpr (A::kReads) {
    i.grasped = grasped;
    i.device->set_state(guard);
  }
}

template <typename A>
void scope_fields(A& a, SessionScope& scope) {
  all(a, scope.pose.port, scope.pose.eye, scope.pose.spin_deg, scope.pose.field_of_view_deg, scope.health);
  bool moves = scope.device != nullptr;
  GuardState guard = moves ? scope.device->state() : GuardState{};
  all(a, moves, guard);
  if constexpr (A::kReads)
    if (moves && scope.device) scope.device->set_state(guard);
}

}  // namespace

// A ByteWriter does not change what it writes.
void TissueWorld::save(ByteWriter& out) const {
  auto& self = const_cast<TissueWorld&>(*this);
  for (Organ& organ : self.organs_) field(out, organ);
  field(out, self.organ_contacts_);
  field(out, self.slips_.state());
  field(out, self.bonds_.bonds().intact);
  field(out, self.clips_.clip_state());
  field(out, self.clips_.tube_state());
  field(out, self.bleeding_.source_state());
  field(out, self.bleeding_.loss_state());
  field(out, self.bleeding_.content_state());
  field(out, self.film_.film_state());
  field(out, self.film_.amount_state());
  self.rigid_.save(out);
}

void TissueWorld::read(ByteReader& in) {
  for (Organ& organ : organs_) field(in, organ);
  field(in, organ_contacts_);
  field(in, slips_.state());
  field(in, bonds_.bonds().intact);
  field(in, clips_.clip_state());
  field(in, clips_.tube_state());
  field(in, bleeding_.source_state());
  field(in, bleeding_.loss_state());
  field(in, bleeding_.content_state());
  field(in, film_.film_state());
  field(in, film_.amount_state());
  rigid_.read(in);
}

void TissueWorld::check_read(std::size_t tools) const {
  for (std::size_t k = 0; k < organs_.size(); ++k) check_saved(organs_[k], intact_[k]);
  check_saved(organ_contacts_, contact_sizes_, organs_);
  const std::vector<std::uint8_t>& intact = bonds_.bonds().intact;
  require_saved(slips_.state().size() == tools * organs_.size(), "the instruments", "an array has another length");
  require_saved(intact.size() == bonds_.bonds().fibres.size() &&
                    std::ranges::all_of(intact, [](int whole) { return whole <= 1; }),
                "connective tissue", "a fibre is in no known state");
  clips_.check_read(organs_, tools);
  bleeding_.check_read(organs_);
  film_.check_read(organs_);
  rigid_.check_read();
}

void TissueWorld::follow_read() {
  rigid_.follow_read(organs_);
  for (Organ& organ : organs_) {
    restore_rods(organ);
    restore_sheet(organ);
    follow_nodes(organ);
    organ.around = faces_around(organ.mesh.faces, organ.positions.size());
    organ.pressure.assign(organ.mesh.faces.size(), 0.f);  // each contact substep begins with 0
    begin_change(organ);
    forget_touches(organ);
    organ.query->rebuild({organ.positions, organ.mesh.faces});
  }
  film_.follow_read(organs_);
  clips_.begin();
  bonds_.take_struts(clips_, organs_);
  bonds_.follow_restored();
  bleeding_.follow_restored();
}

void Instruments::save(ByteWriter& out) const {
  auto& self = const_cast<Instruments&>(*this);
  for (Instrument& instrument : self.list_) instrument_fields(out, instrument);
  scope_fields(out, self.scope_);
}

void Instruments::read(ByteReader& in) {
  for (Instrument& instrument : list_) instrument_fields(in, instrument);
  scope_fields(in, scope_);
}

void Instruments::check_read(const std::vector<Organ>& organs) const {
  for (const Instrument& instrument : list_) check_saved(instrument, organs);
  check_saved(scope_);
}

std::vector<std::byte> Session::save() const {
  ByteWriter body;
  world_.save(body);
  instruments_.save(body);
  std::uint64_t frames = frames_;
  field(body, frames);
  const std::vector<std::byte> bytes = body.take();
  Header header;
  header.scene = scene_key(*this, scene_text_);
  header.checksum = checksum_of(bytes);
  ByteWriter out;
  fields(out, header);
  out.raw(bytes.data(), bytes.size());
  return out.take();
}

void Session::read(std::span<const std::byte> block) {
  ByteReader in(block.subspan(kHeaderBytes));
  world_.read(in);
  instruments_.read(in);
  std::uint64_t frames = 0;
  field(in, frames);
  if (!in.at_end()) throw InputError("the saved session contradicts itself: it is too long; save it again");
  frames_ = frames;
}

void Session::check_read() const {
  world_.check_read(instruments().size());
  instruments_.check_read(organs());
  require_saved(frames_ <= kMostFrames, "the session", "its number of frames is out of range");
}

void Session::follow_read() {
  world_.follow_read();
  world_.follow_read(instruments_);
  for (std::size_t k = 0; k < organs().size(); ++k) check_.rebuild(k, {organs()[k].positions, organs()[k].mesh.faces});
  tip_watch_ = {};
  sight_watch_.forget();
  mark_watch_.rewind();
  watched_topology_.clear();
}

void Session::restore(std::span<const std::byte> block) {
  check_header(block, scene_key(*this, scene_text_));
  const std::vector<std::byte> before = save();
  try {
    read(block);
    check_read();
  } catch (...) {
    read(before);  // what follows from the state has not been touched
    throw;
  }
  follow_read();
}

}  // namespace trocar
