#include "deform/contact/organ_contact.hpp"

#include <algorithm>
#include <cmath>

#include "deform/node_sum.hpp"
#include "deform/organ_foresight.hpp"
#include "deform/trilinear_cell.hpp"

namespace trocar {
namespace {

// Tolerance on a vertex's rest overlap; rounding errors of an organ at rest are a hundredth of it.
constexpr float kRestSlack = 2e-5f;  // m

// Contacts are kept at a smaller distance while the organs have hardly moved, because forces are small then.
constexpr float kReachPerMotion = 0.5f;  // 1    of the motion of vertex and body from rest

// Tolerance, as a fraction of the cell's side, for a point to count as inside: covers rounding between neighbours.
constexpr float kCellSlack = 1e-3f;

// Where the gradient is shorter than this, the field gives no reliable direction outwards.
constexpr float kShortestGradient = 0.2f;

// A vertex is ignored when at least this fraction of its weight is on nodes without tissue.
constexpr float kMostWeightWithoutTissue = 0.5f;

// Limit on how much longer a gap is in rest space than in the world; beyond it the tissue is squeezed too much.
constexpr float kLongestStretch = 3.f;

constexpr int kMostBins = 64;  // along an axis

using Box = OrganContacts::Box;
using Near = OrganContacts::Near;

Box box_of(std::span<const glm::vec3> points) {
  Box box{glm::vec3(INFINITY), glm::vec3(-INFINITY)};
  for (const glm::vec3& p : points) box.low = glm::min(box.low, p), box.high = glm::max(box.high, p);
  return box;
}

Box grown(const Box& box, float by) { return {box.low - by, box.high + by}; }
Box common(const Box& a, const Box& b) { return {glm::max(a.low, b.low), glm::min(a.high, b.high)}; }
bool empty(const Box& box) { return !glm::all(glm::lessThanEqual(box.low, box.high)); }
bool holds(const Box& box, const glm::vec3& p) {
  return p.x >= box.low.x && p.x <= box.high.x && p.y >= box.low.y && p.y <= box.high.y && p.z >= box.low.z &&
         p.z <= box.high.z;
}

float admittance_of(const Embedding& e, const TissueModel& model) {
  float sum = 0.f, were_all_free = 0.f;
  for (int i = 0; i < 8; ++i) {
    const float square = e.weight[i] * e.weight[i], mass = model.mass[e.node[i]];
    sum += square * model.inverse_mass[e.node[i]];
    if (mass > 0.f) were_all_free += square / mass;
  }
  return sum > 0.f ? std::max(sum, kLeastFreedom * were_all_free) : 0.f;
}

bool without_support(const Embedding& e, const TissueModel& model) {
  float without_tissue = 0.f;
  for (int i = 0; i < 8; ++i) without_tissue += model.mass[e.node[i]] > 0.f ? 0.f : e.weight[i];
  return without_tissue >= kMostWeightWithoutTissue;
}

bool full(const Lattice& lattice, const glm::ivec3& at) {
  if (glm::any(glm::lessThan(at, glm::ivec3(0))) || glm::any(glm::greaterThanEqual(at, lattice.size))) return false;
  const std::int32_t cell = lattice.cell_of[lattice.flat(at)];
  return cell >= 0 && lattice.cells[cell].fullness > 0.f;
}

std::vector<char> rim_of(const Lattice& lattice) {
  std::vector<char> rim(lattice.cells.size(), 0);
  for (std::size_t c = 0; c < rim.size(); ++c)
    for (int axis = 0; axis < 3; ++axis)
      for (const int side : {-1, 1}) {
        glm::ivec3 at = lattice.cells[c].at;
        at[axis] += side;
        if (!full(lattice, at)) rim[c] = 1;
      }
  return rim;
}

// Returns the rest overlap of vertex v of a with b, as a distance < 0 including a tolerance: its contact begins there.
float zero_of(const TissueModel& a, std::size_t v, const RestDistance& b) {
  return std::min(sample(b, weighted(a.embedding[v], a.rest)).distance, 0.f) - kRestSlack;
}

// Adds the rest overlap of new vertices.
void add_zeros(const TissueModel& a, const RestDistance& b, std::vector<float>& zero) {
  for (std::size_t v = zero.size(); v < a.embedding.size(); ++v) zero.push_back(zero_of(a, v, b));
}

// One direction of one pair: the vertices of a against the solid of b.
class Search {
 public:
  Search(std::span<const OrganBody> organs, std::uint32_t a, std::uint32_t b, float dt, OrganContacts& out)
      : out_(out), a_(a), b_(b), vertices_(organs[a]), solid_(organs[b]), dt_(dt) {
    size_ = static_cast<float>(solid_.model->lattice.spacing);
    range_ = std::min(foresight(out.fastest[a] + out.fastest[b]), size_);
  }

  void run() {
    region_ = common(out_.box[a_], grown(out_.box[b_], range_));
    const glm::vec3 extent = region_.high - region_.low;
    if (empty(region_) || !std::isfinite(glm::dot(extent, extent))) return;
    collect();
    if (out_.near.empty()) return;
    sort_into_bins();
    const std::vector<LatticeCell>& cells = solid_.model->lattice.cells;
    out_.rim_cells.clear();
    for (std::uint32_t c = 0; c < cells.size(); ++c)
      if (cells[c].fullness > 0.f && !cells[c].divided) look_into(c);
    for (const std::uint32_t c : out_.rim_cells) look_around(c);
    for (const Near& near : out_.near)
      if (near.cell >= 0) check_depth(near);
  }

 private:
  // Returns the velocity, m/s, of one node, as an estimate for its neighbourhood.
  glm::vec3 beside_vertex(std::uint32_t v) const { return vertices_.state->v[vertices_.model->embedding[v].node[0]]; }
  glm::vec3 beside_cell(std::uint32_t c) const { return solid_.state->v[solid_.model->lattice.cells[c].node[0]]; }

  float foresight(float speed) const { return contact_foresight(speed, dt_); }

  void collect() {
    out_.near.clear();
    for (std::uint32_t v = 0; v < vertices_.surface.size(); ++v) {
      if (!holds(region_, vertices_.surface[v]) || (v < vertices_.unused.size() && vertices_.unused[v])) continue;
      out_.near.push_back({v, -1, INFINITY, glm::vec3(0.f)});
    }
  }

  glm::ivec3 bin_of(const glm::vec3& p) const {
    const glm::vec3 bin_position =
        glm::clamp((p - region_.low) * bins_per_metre_, glm::vec3(0.f), glm::vec3(bins_ - 1));
    return glm::ivec3(bin_position);
  }
  std::size_t flat(const glm::ivec3& bin) const {
    return (static_cast<std::size_t>(bin.z) * bins_.y + bin.y) * bins_.x + bin.x;
  }

  void sort_into_bins() {
    const glm::vec3 extent = region_.high - region_.low;
    const float longest = std::max({extent.x, extent.y, extent.z});
    bins_per_metre_ = 1.f / std::max(size_, longest / (kMostBins - 1));
    bins_ = glm::ivec3(extent * bins_per_metre_) + 1;
    out_.bin_first.assign(flat(bins_ - 1) + 2, 0);
    out_.bin_speed.assign(out_.bin_first.size(), 0.f);
    for (const Near& near : out_.near) ++out_.bin_first[flat(bin_of(vertices_.surface[near.vertex])) + 1];
    for (std::size_t i = 1; i < out_.bin_first.size(); ++i) out_.bin_first[i] += out_.bin_first[i - 1];
    out_.binned.resize(out_.near.size());
    // The loop fills each bin from the back, so that afterwards the entry of each bin is its first index.
    for (std::size_t i = out_.near.size(); i-- > 0;) {
      const glm::vec3& p = vertices_.surface[out_.near[i].vertex];
      const glm::vec3 v = beside_vertex(out_.near[i].vertex);
      const std::size_t bin = flat(bin_of(p));
      out_.binned[--out_.bin_first[bin + 1]] = {p, v, static_cast<std::uint32_t>(i)};
      out_.bin_speed[bin] = std::max(out_.bin_speed[bin], glm::length(v));
    }
  }

  std::array<glm::vec3, 8> corners(std::uint32_t c) const {
    std::array<glm::vec3, 8> corner;
    const LatticeCell& cell = solid_.model->lattice.cells[c];
    for (int k = 0; k < 8; ++k) corner[k] = solid_.state->x[cell.node[k]];
    return corner;
  }

  std::uint32_t first_in(std::size_t bin) const { return out_.bin_first[bin + 1]; }
  std::uint32_t end_of(std::size_t bin) const {
    return bin + 2 < out_.bin_first.size() ? out_.bin_first[bin + 2] : static_cast<std::uint32_t>(out_.near.size());
  }

  // visit(bin) for the bins with vertices that overlap the box.
  template <typename Visit>
  void for_each_bin(const Box& box, Visit visit) const {
    const glm::ivec3 first = bin_of(box.low), last = bin_of(box.high);
    for (glm::ivec3 at = first; at.z <= last.z; ++at.z)
      for (at.y = first.y; at.y <= last.y; ++at.y)
        for (at.x = first.x; at.x <= last.x; ++at.x)
          if (const std::size_t bin = flat(at); first_in(bin) < end_of(bin)) visit(bin, at);
  }

  // Finds the vertices inside the cell.
  void look_into(std::uint32_t c) {
    const std::array<glm::vec3, 8> corner = corners(c);
    const Box tight = box_of(corner), box = grown(tight, kCellSlack * size_);
    if (out_.rim[b_][c] && !empty(common(grown(tight, range_), region_))) out_.rim_cells.push_back(c);
    if (empty(common(box, region_))) return;
    const CellInverse cell = cell_inverse(corner, size_);
    if (!cell.usable) return;
    for_each_bin(box, [&](std::size_t bin, const glm::ivec3&) {
      for (std::uint32_t i = first_in(bin); i < end_of(bin); ++i)
        if (holds(box, out_.binned[i].p)) try_cell(cell, c, kCellSlack, out_.binned[i]);
    });
  }

  // Finds the vertices outside all cells that may enter the cell within the step, through a side without neighbour.
  void look_around(std::uint32_t c) {
    const std::array<glm::vec3, 8> corner = corners(c);
    const CellInverse cell = cell_inverse(corner, size_);
    if (!cell.usable) return;
    const Box tight = box_of(corner);
    const glm::vec3 v = beside_cell(c);
    const float speed = glm::length(v);
    for_each_bin(grown(tight, range_), [&](std::size_t bin, const glm::ivec3& at) {
      const glm::vec3 low = region_.low + (glm::vec3(at) - kCellSlack) / bins_per_metre_;
      const Box around = grown(tight, std::min(foresight(speed + out_.bin_speed[bin]), range_));
      if (empty(common(around, {low, low + (1.f + 2.f * kCellSlack) / bins_per_metre_}))) return;
      for (std::uint32_t i = first_in(bin); i < end_of(bin); ++i) {
        const OrganContacts::Binned& vertex = out_.binned[i];
        if (!holds(around, vertex.p)) continue;
        const float range = std::min(foresight(glm::distance(vertex.v, v)), range_);
        if (holds(grown(tight, range), vertex.p)) try_cell(cell, c, range / size_, vertex);
      }
    });
  }

  // The first cell that contains the vertex is used, otherwise the cell to which it is closest.
  void try_cell(const CellInverse& cell, std::uint32_t c, float beyond, const OrganContacts::Binned& vertex) {
    Near& near = out_.near[vertex.near];
    glm::vec3 local;
    if (near.beyond <= kCellSlack || !find_coordinates(cell, vertex.p, std::min(beyond, near.beyond), local)) return;
    const glm::vec3 side = glm::abs(local - 0.5f) - 0.5f;
    const float outside = std::max({side.x, side.y, side.z});
    if (!(outside < near.beyond)) return;
    near.cell = static_cast<std::int32_t>(c), near.beyond = outside, near.location = local;
  }

  // Adds a contact when the vertex is deep or fast enough to matter within the step.
  void check_depth(const Near& near) {
    const std::vector<float>& zeros = out_.zero[a_ * out_.field.size() + b_];
    const float zero = near.vertex < zeros.size() ? zeros[near.vertex] : -kRestSlack;
    const Lattice& lattice = solid_.model->lattice;
    const glm::dvec3 rest_position(glm::vec3(lattice.cells[near.cell].at) + near.location);
    const DistanceSample at = sample(out_.field[b_], glm::vec3(lattice.origin + lattice.spacing * rest_position));
    const float length = glm::length(at.gradient),
                farthest = foresight(glm::distance(beside_vertex(near.vertex), beside_cell(near.cell)));
    if (at.distance - zero > kLongestStretch * farthest || !(length > kShortestGradient)) return;
    const glm::mat3 f = gradient_at(trilinear_cell(corners(near.cell)), near.location) / size_;
    const glm::vec3 outward = glm::transpose(glm::inverse(f)) * (at.gradient / length);
    const float steepness = glm::length(outward);
    if (!(steepness > 0.f) || !std::isfinite(steepness)) return;
    const float gap = at.distance / steepness - zero;
    if (gap < farthest) add(near, outward / steepness, gap);
  }

  void add(const Near& near, const glm::vec3& normal, float gap) {
    PairContact contact{};
    contact.a = a_, contact.b = b_, contact.vertex = near.vertex;
    contact.normal = normal, contact.gap = gap;
    contact.on_a = vertices_.model->embedding[near.vertex];
    const glm::vec3 inside = glm::clamp(near.location, 0.f, 1.f);
    for (int k = 0; k < 8; ++k) {
      contact.on_b.node[k] = solid_.model->lattice.cells[near.cell].node[k];
      contact.on_b.weight[k] = corner_weight(k, inside);
    }
    const glm::vec3 p = vertices_.surface[near.vertex], q = weighted(contact.on_b, solid_.state->x);
    if (gap < 0.f || gap < margin(contact, p, q)) keep(contact, p, q);
  }

  float margin(const PairContact& c, const glm::vec3& p, const glm::vec3& q) const {
    const float moved = glm::distance(p, weighted(c.on_a, vertices_.model->rest)) +
                        glm::distance(q, weighted(c.on_b, solid_.model->rest));
    const float approach = glm::dot(c.normal, weighted(c.on_b, solid_.state->v) - weighted(c.on_a, vertices_.state->v));
    return std::min(kOrganReach, kReachPerMotion * moved) + kSpeedReserve * dt_ * std::max(approach, 0.f);
  }

  void keep(PairContact& c, const glm::vec3& p, const glm::vec3& q) {
    if (without_support(c.on_a, *vertices_.model)) return;
    c.admittance = admittance_of(c.on_a, *vertices_.model) + admittance_of(c.on_b, *solid_.model);
    if (!(c.admittance > 0.f)) return;
    c.offset = c.gap - glm::dot(c.normal, p - q);
    out_.contacts.push_back(c);
  }

  OrganContacts& out_;
  std::uint32_t a_, b_;
  const OrganBody &vertices_, &solid_;
  float dt_, size_, range_;  // s, m, m: distance outside the lattice within which vertices matter
  Box region_{};
  glm::ivec3 bins_{1};
  float bins_per_metre_ = 0.f;
};

}  // namespace

OrganContacts make_organ_contacts(std::span<const MeshView> meshes, std::span<const TissueModel* const> models,
                                  const OrganContactParams& params) {
  OrganContacts made;
  made.params = params;
  const std::size_t organs = models.size();
  if (organs < 2) return made;
  for (std::size_t k = 0; k < organs; ++k) {
    made.field.push_back(make_rest_distance(meshes[k], models[k]->lattice));
    made.rim.push_back(rim_of(models[k]->lattice));
  }
  made.zero.resize(organs * organs);
  for (std::size_t a = 0; a < organs; ++a)
    for (std::size_t b = 0; b < organs; ++b)
      if (a != b) add_zeros(*models[a], made.field[b], made.zero[a * organs + b]);
  made.box.resize(organs);
  made.fastest.resize(organs);
  return made;
}

void find_organ_contacts(std::span<const OrganBody> organs, std::span<const OrganPair> pairs, float dt,
                         OrganContacts& contacts) {
  contacts.contacts.clear();
  contacts.searches.clear();
  for (const OrganPair& pair : pairs) {
    contacts.searches.push_back(pair);
    contacts.searches.push_back({pair.b, pair.a});
  }
  std::sort(contacts.searches.begin(), contacts.searches.end(),
            [](const OrganPair& p, const OrganPair& q) { return p.a != q.a ? p.a < q.a : p.b < q.b; });
  for (const OrganPair& search : contacts.searches) Search(organs, search.a, search.b, dt, contacts).run();
}

void find_organ_contacts(std::span<const OrganBody> organs, float dt, OrganContacts& contacts) {
  measure_organs(organs, contacts);
  contacts.all_pairs.clear();
  for (std::uint32_t a = 0; a < organs.size(); ++a)
    for (std::uint32_t b = a + 1; b < organs.size(); ++b) contacts.all_pairs.push_back({a, b});
  find_organ_contacts(organs, contacts.all_pairs, dt, contacts);
}

void tissue_removed(std::span<const TissueModel* const> models, std::uint32_t organ,
                    std::span<const std::uint32_t> cells, OrganContacts& contacts) {
  const Lattice& lattice = models[organ]->lattice;
  const std::size_t organs = models.size();
  if (organs < 2) return;
  for (std::size_t other = 0; other < organs; ++other)
    if (other != organ) add_zeros(*models[organ], contacts.field[other], contacts.zero[organ * organs + other]);
  bool carved = false;
  for (const std::uint32_t cell : cells) {
    if (lattice.cells[cell].fullness > 0.f) continue;
    carve(contacts.field[organ], lattice, {&cell, 1});
    carved = true;
  }
  if (!carved) return;
  contacts.rim[organ] = rim_of(lattice);
  // Carving only removes material: vertices that did not overlap still do not.
  for (std::size_t other = 0; other < organs; ++other) {
    std::vector<float>& zero = contacts.zero[other * organs + organ];
    for (std::size_t v = 0; v < zero.size(); ++v)
      if (zero[v] < -kRestSlack) zero[v] = zero_of(*models[other], v, contacts.field[organ]);
  }
}

}  // namespace trocar
