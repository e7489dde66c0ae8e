#include "deform/contact/organ_contact.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "geometry/closest.hpp"
#include "mesh/face_tree.hpp"

namespace trocar {
namespace {

// Rows pass slightly beside the nodes, so that none meets an edge of the surface; each retry increases the offset.
constexpr double kHair = 1e-6;  // of the grid's spacing
constexpr int kTries = 8;

// A row is a line of nodes along x. A crossing is the point where it enters (+1) or leaves (-1) the organ.
struct RayCrossing {
  std::uint32_t row;
  int turn;
  double x;  // m
};

double turn_of(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

// Computes the crossing of the face with the line along x through `p` = (y, z).
bool crosses(const Triangle& t, const glm::dvec2& p, RayCrossing& crossing) {
  const glm::dvec2 a(t.a.y, t.a.z), b(t.b.y, t.b.z), c(t.c.y, t.c.z);
  const double ab = turn_of(a, b, p), bc = turn_of(b, c, p), ca = turn_of(c, a, p);
  const bool left = ab > 0.0 && bc > 0.0 && ca > 0.0, right = ab < 0.0 && bc < 0.0 && ca < 0.0;
  if (!left && !right) return false;
  crossing.turn = left ? -1 : 1;
  crossing.x = (bc * t.a.x + ca * t.b.x + ab * t.c.x) / (ab + bc + ca);
  return true;
}

class InsideRows {
 public:
  InsideRows(const MeshView& organ, const RestDistance& grid)
      : organ_(organ), grid_(grid), inside_(grid.value.size(), 0) {
    for (const glm::uvec3& face : organ.faces) add(triangle_of(organ.positions, face));
    std::sort(crossings_.begin(), crossings_.end(), before);
    auto begin = crossings_.begin();
    for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(grid.size.y * grid.size.z); ++row) {
      auto end = begin;
      while (end != crossings_.end() && end->row == row) ++end;
      fill_row(row, std::span(crossings_)
                        .subspan(static_cast<std::size_t>(begin - crossings_.begin()),
                                 static_cast<std::size_t>(end - begin)));
      begin = end;
    }
  }
  const std::vector<char>& inside() const { return inside_; }

 private:
  static bool before(const RayCrossing& a, const RayCrossing& b) {
    return std::tie(a.row, a.x, a.turn) < std::tie(b.row, b.x, b.turn);
  }

  glm::dvec2 row_position(int j, int k, int attempt) const {
    const double hair = (attempt + 1) * kHair;
    return glm::dvec2(grid_.origin.y, grid_.origin.z) + grid_.spacing * glm::dvec2(j + hair, k + 0.618 * hair);
  }

  void add(const Triangle& t) {
    const glm::dvec3 low = glm::min(t.a, glm::min(t.b, t.c)), high = glm::max(t.a, glm::max(t.b, t.c));
    const glm::ivec3 first = glm::max(glm::ivec3(glm::floor((low - grid_.origin) / grid_.spacing)), 0);
    const glm::ivec3 last = glm::min(glm::ivec3(glm::ceil((high - grid_.origin) / grid_.spacing)), grid_.size - 1);
    for (int k = first.z; k <= last.z; ++k)
      for (int j = first.y; j <= last.y; ++j) {
        RayCrossing crossing{static_cast<std::uint32_t>(k * grid_.size.y + j), 0, 0.0};
        if (crosses(t, row_position(j, k, 0), crossing)) crossings_.push_back(crossing);
      }
  }

  // When the turns of a row do not cancel, it met an edge: repeat it with a larger offset.
  void fill_row(std::uint32_t row, std::span<const RayCrossing> crossings) {
    std::vector<RayCrossing> again;
    for (int attempt = 1; attempt < kTries && !balanced(crossings); ++attempt) {
      again.clear();
      const int j = static_cast<int>(row) % grid_.size.y, k = static_cast<int>(row) / grid_.size.y;
      for (const glm::uvec3& face : organ_.faces) {
        RayCrossing crossing{row, 0, 0.0};
        if (crosses(triangle_of(organ_.positions, face), row_position(j, k, attempt), crossing))
          again.push_back(crossing);
      }
      std::sort(again.begin(), again.end(), before);
      crossings = again;
    }
    int winding = 0;
    for (std::size_t i = 0; i + 1 < crossings.size(); ++i) {
      winding += crossings[i].turn;
      if (winding > 0) fill(row, crossings[i].x, crossings[i + 1].x);
    }
  }

  static bool balanced(std::span<const RayCrossing> crossings) {
    int turns = 0;
    for (const RayCrossing& crossing : crossings) turns += crossing.turn;
    return turns == 0;
  }

  void fill(std::uint32_t row, double from, double to) {
    const double first = std::ceil((from - grid_.origin.x) / grid_.spacing);
    const double last = std::floor((to - grid_.origin.x) / grid_.spacing);
    for (int i = std::max(0, static_cast<int>(first)); i <= std::min(grid_.size.x - 1, static_cast<int>(last)); ++i)
      inside_[static_cast<std::size_t>(row) * grid_.size.x + i] = 1;
  }

  const MeshView& organ_;
  const RestDistance& grid_;
  std::vector<RayCrossing> crossings_;
  std::vector<char> inside_;  // [node]
};

// The nearest face, starting from the last result: neighbouring nodes mostly have the same nearest face.
class NearestFace {
 public:
  explicit NearestFace(const MeshView& organ) : tree_(build_face_tree(organ)) {
    for (const glm::uvec3& face : organ.faces) faces_.push_back(closest::face(triangle_of(organ.positions, face)));
  }

  double distance(const glm::dvec3& p) {
    const closest::Segment point = closest::segment(p, p);
    squared_ = closest::closest_axis_face(point, faces_[nearest_]).squared;
    descend(tree_.nodes[0], point);
    return std::sqrt(squared_);
  }

 private:
  static double squared_to_box(const FaceBox& box, const glm::dvec3& p) {
    const glm::dvec3 beyond = glm::max(glm::max(glm::dvec3(box.low) - p, p - glm::dvec3(box.high)), 0.0);
    return glm::dot(beyond, beyond);
  }

  void descend(const FaceTree::Node& node, const closest::Segment& point) {
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
      const std::uint32_t face = tree_.order[i];
      if (!(squared_to_box(tree_.boxes[face], point.p) < squared_)) continue;
      const double squared = closest::closest_axis_face(point, faces_[face]).squared;
      if (squared < squared_) squared_ = squared, nearest_ = face;
    }
    if (node.count > 0) return;
    const FaceTree::Node *near = &tree_.nodes[node.first], *far = near + 1;
    double to_near = squared_to_box(near->box, point.p), to_far = squared_to_box(far->box, point.p);
    if (to_far < to_near) std::swap(near, far), std::swap(to_near, to_far);
    if (to_near < squared_) descend(*near, point);
    if (to_far < squared_) descend(*far, point);
  }

  FaceTree tree_;
  std::vector<closest::Face> faces_;  // [face]
  std::uint32_t nearest_ = 0;         // of the last point
  double squared_ = 0.0;              // m^2
};

RestDistance make_grid(const Lattice& lattice) {
  RestDistance grid;
  grid.spacing = lattice.spacing / kDistanceSteps;
  grid.origin = lattice.origin - kDistanceRim * lattice.spacing;
  grid.size = kDistanceSteps * (lattice.size + 2 * kDistanceRim) + 1;
  grid.value.assign(grid.flat(grid.size - 1) + 1, static_cast<float>(kDistanceRim * lattice.spacing));
  return grid;
}

// Calls visit(node) for the grid nodes in a cell and up to `rim` cells around it.
template <typename Visit>
void for_each_node(const RestDistance& grid, const glm::ivec3& cell, int rim, Visit visit) {
  const glm::ivec3 first = glm::max(kDistanceSteps * (cell + kDistanceRim - rim), 0);
  const glm::ivec3 last = glm::min(kDistanceSteps * (cell + kDistanceRim + rim + 1), grid.size - 1);
  for (int z = first.z; z <= last.z; ++z)
    for (int y = first.y; y <= last.y; ++y)
      for (int x = first.x; x <= last.x; ++x) visit(glm::ivec3(x, y, z));
}

glm::dvec3 position(const RestDistance& grid, const glm::ivec3& at) {
  return grid.origin + grid.spacing * glm::dvec3(at);
}

float box_distance(const glm::dvec3& p, const glm::dvec3& centre, double half) {
  const glm::dvec3 beyond = glm::abs(p - centre) - half;
  const double inside = std::min(std::max({beyond.x, beyond.y, beyond.z}), 0.0);
  return static_cast<float>(glm::length(glm::max(beyond, 0.0)) + inside);
}

}  // namespace

RestDistance make_rest_distance(const MeshView& organ, const Lattice& lattice) {
  RestDistance field = make_grid(lattice);
  const std::vector<char> inside = InsideRows(organ, field).inside();
  NearestFace nearest(organ);
  std::vector<char> near(field.value.size(), 0);
  for (const LatticeCell& cell : lattice.cells)
    for_each_node(field, cell.at, 1, [&](const glm::ivec3& at) { near[field.flat(at)] = 1; });
  for (int z = 0; z < field.size.z; ++z)
    for (int y = 0; y < field.size.y; ++y)
      for (int x = 0; x < field.size.x; ++x) {
        const std::size_t node = field.flat({x, y, z});
        if (!near[node]) continue;
        const auto distance = static_cast<float>(nearest.distance(position(field, {x, y, z})));
        field.value[node] = inside[node] ? -distance : distance;
      }
  return field;
}

DistanceSample sample(const RestDistance& field, const glm::vec3& p) {
  // Central differences need one more node on either side.
  const glm::vec3 grid_position((glm::dvec3(p) - field.origin) / field.spacing);
  const glm::vec3 inner = glm::clamp(grid_position, glm::vec3(1.f), glm::vec3(field.size - 2));
  const glm::ivec3 at = glm::min(glm::ivec3(inner), field.size - 3);
  const glm::vec3 w = inner - glm::vec3(at);
  const std::size_t first = field.flat(at), along[3] = {1, static_cast<std::size_t>(field.size.x),
                                                        static_cast<std::size_t>(field.size.x) * field.size.y};
  DistanceSample result{0.f, glm::vec3(0.f)};
  for (int corner = 0; corner < 8; ++corner) {
    const glm::ivec3 c = corner_offset(corner);
    const float share = (c.x ? w.x : 1.f - w.x) * (c.y ? w.y : 1.f - w.y) * (c.z ? w.z : 1.f - w.z);
    const std::size_t node = first + c.x * along[0] + c.y * along[1] + c.z * along[2];
    result.distance += share * field.value[node];
    for (int axis = 0; axis < 3; ++axis)
      result.gradient[axis] += share * (field.value[node + along[axis]] - field.value[node - along[axis]]);
  }
  result.gradient /= static_cast<float>(2.0 * field.spacing);
  return result;
}

void carve(RestDistance& field, const Lattice& lattice, std::span<const std::uint32_t> cells) {
  for (const std::uint32_t cell : cells) {
    const glm::ivec3 at = lattice.cells[cell].at;
    const glm::dvec3 centre = lattice.origin + lattice.spacing * (glm::dvec3(at) + 0.5);
    for_each_node(field, at, kDistanceRim, [&](const glm::ivec3& node) {
      float& value = field.value[field.flat(node)];
      value = std::max(value, -box_distance(position(field, node), centre, 0.5 * lattice.spacing));
    });
  }
}

namespace {

// A contact within this distance stays in the list, because forces may close the gap within a step.
constexpr float kOrganReach = 2e-3f;  // m

// Speeds may grow within a step: the look-ahead distance uses this multiple of the present speed.
constexpr float kSpeedReserve = 2.f;

// Returns the distance, m, within which contacts are searched when organs approach at `speed`.
float contact_foresight(float speed, float dt) { return kOrganReach + kSpeedReserve * dt * speed; }

// Bounding boxes and speeds of organs decide, before the search, which organs may touch.

using Box = OrganContacts::Box;

Box box_of(std::span<const glm::vec3> points) {
  Box box{glm::vec3(INFINITY), glm::vec3(-INFINITY)};
  for (const glm::vec3& p : points) box.low = glm::min(box.low, p), box.high = glm::max(box.high, p);
  return box;
}

float fastest_node(std::span<const glm::vec3> velocity) {
  float square = 0.f;
  for (const glm::vec3& v : velocity) square = std::max(square, glm::dot(v, v));
  return std::sqrt(square);
}

}  // namespace

void measure_organs(std::span<const OrganBody> organs, OrganContacts& contacts) {
  if (organs.size() < 2) return;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    contacts.box[k] = box_of(organs[k].state->x);
    contacts.fastest[k] = fastest_node(organs[k].state->v);
  }
}

// Returns the box of an organ grown by half of the distance at which contacts of a pair are searched.
OrganContacts::Box contact_box(const OrganContacts& contacts, std::uint32_t organ, float dt) {
  constexpr float kRounding = 1e-5f;  // m
  if (organ >= contacts.box.size()) return {glm::vec3(INFINITY), glm::vec3(-INFINITY)};
  const Box& box = contacts.box[organ];
  const float share = contact_foresight(2.f * contacts.fastest[organ], dt) / 2.f + kRounding;
  return {box.low - share, box.high + share};
}

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

using Near = OrganContacts::Near;

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
  return cell >= 0 && lattice.cells[cell].volume_fraction > 0.f;
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

void measure_cells(const OrganBody& organ, std::vector<OrganContacts::Box>& boxes) {
  const std::vector<LatticeCell>& cells = organ.model->lattice.cells;
  boxes.resize(cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::array<glm::vec3, 8> corner;
    for (std::size_t k = 0; k < 8; ++k) corner[k] = organ.state->x[cells[c].node[k]];
    boxes[c] = box_of(corner);
  }
}

// One direction of one pair: the vertices of a against the solid of b.
class Search {
 public:
  Search(std::span<const OrganBody> organs, const OrganPair& search, float dt, const OrganContacts& all,
         OrganContacts::Found& out)
      : all_(all), out_(out), a_(search.a), b_(search.b), vertices_(organs[a_]), solid_(organs[b_]), dt_(dt) {
    size_ = static_cast<float>(solid_.model->lattice.spacing);
    range_ = std::min(foresight(all.fastest[a_] + all.fastest[b_]), size_);
  }

  void run() {
    out_.contacts.clear();
    region_ = common(all_.box[a_], grown(all_.box[b_], range_));
    const glm::vec3 extent = region_.high - region_.low;
    if (empty(region_) || !std::isfinite(glm::dot(extent, extent))) return;
    collect();
    if (out_.near.empty()) return;
    sort_into_bins();
    const std::vector<LatticeCell>& cells = solid_.model->lattice.cells;
    out_.rim_cells.clear();
    for (std::uint32_t c = 0; c < cells.size(); ++c)
      if (cells[c].volume_fraction > 0.f && !cells[c].divided) look_into(c);
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
    const Box &tight = all_.cell_box[b_][c], box = grown(tight, kCellSlack * size_);
    if (all_.rim[b_][c] && !empty(common(grown(tight, range_), region_))) out_.rim_cells.push_back(c);
    if (empty(common(box, region_))) return;
    const CellInverse cell = cell_inverse(corners(c), size_);
    if (!cell.usable) return;
    for_each_bin(box, [&](std::size_t bin, const glm::ivec3&) {
      for (std::uint32_t i = first_in(bin); i < end_of(bin); ++i)
        if (holds(box, out_.binned[i].p)) try_cell(cell, c, kCellSlack, out_.binned[i]);
    });
  }

  // Finds the vertices outside all cells that may enter the cell within the step, through a side without neighbour.
  void look_around(std::uint32_t c) {
    const CellInverse cell = cell_inverse(corners(c), size_);
    if (!cell.usable) return;
    const Box& tight = all_.cell_box[b_][c];
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
    const std::vector<float>& zeros = all_.zero[a_ * all_.field.size() + b_];
    const float zero = near.vertex < zeros.size() ? zeros[near.vertex] : -kRestSlack;
    const Lattice& lattice = solid_.model->lattice;
    const glm::dvec3 rest_position(glm::vec3(lattice.cells[near.cell].at) + near.location);
    const DistanceSample at = sample(all_.field[b_], glm::vec3(lattice.origin + lattice.spacing * rest_position));
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

  const OrganContacts& all_;
  OrganContacts::Found& out_;
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
    // Nothing enters a sheet: its own vertices are tested.
    made.field.push_back(models[k]->slab.empty() ? make_rest_distance(meshes[k], models[k]->lattice) : RestDistance{});
    made.rim.push_back(rim_of(models[k]->lattice));
  }
  made.zero.resize(organs * organs);
  for (std::size_t a = 0; a < organs; ++a)
    for (std::size_t b = 0; b < organs; ++b)
      if (a != b && models[b]->slab.empty()) add_zeros(*models[a], made.field[b], made.zero[a * organs + b]);
  made.box.resize(organs);
  made.searched.reserve(organs);
  for (const TissueModel* model : models) made.cell_box.emplace_back().reserve(model->lattice.cells.size());
  made.fastest.resize(organs);
  made.found.resize(organs * organs);
  for (std::size_t k = 0; k < organs * organs; ++k) {
    const std::size_t a = k / organs, vertices = a == k % organs ? 0 : models[a]->embedding.size();
    made.found[k].near.reserve(vertices), made.found[k].binned.reserve(vertices);
  }
  return made;
}

void find_organ_contacts(std::span<const OrganBody> organs, std::span<const OrganPair> pairs, float dt, Team& team,
                         OrganContacts& contacts) {
  contacts.contacts.clear();
  contacts.searches.clear();
  for (const OrganPair& pair : pairs) {
    const TissueModel &a = *organs[pair.a].model, &b = *organs[pair.b].model;
    if (!a.slab.empty() || !b.slab.empty()) {
      // Sheets lie on solids only; their vertices are tested.
      if (a.slab.empty() == b.slab.empty() || !a.tube.empty() || !b.tube.empty()) continue;
      contacts.searches.push_back(a.slab.empty() ? OrganPair{pair.b, pair.a} : pair);
      continue;
    }
    // Other organs have no vertices as near to each other as a tube is thick: its own ones are tested.
    if (organs[pair.b].model->tube.empty()) contacts.searches.push_back(pair);
    if (organs[pair.a].model->tube.empty()) contacts.searches.push_back({pair.b, pair.a});
    if (!organs[pair.a].model->tube.empty() && !organs[pair.b].model->tube.empty()) contacts.searches.push_back(pair);
  }
  std::sort(contacts.searches.begin(), contacts.searches.end(),
            [](const OrganPair& p, const OrganPair& q) { return p.a != q.a ? p.a < q.a : p.b < q.b; });
  contacts.searched.clear();
  for (const OrganPair& search : contacts.searches)
    if (std::ranges::find(contacts.searched, search.b) == contacts.searched.end())
      contacts.searched.push_back(search.b);
  team.share(contacts.searched.size(), [&](std::size_t k) {
    measure_cells(organs[contacts.searched[k]], contacts.cell_box[contacts.searched[k]]);
  });
  const auto found = [&](const OrganPair& search) -> OrganContacts::Found& {
    return contacts.found[search.a * organs.size() + search.b];
  };
  team.share(contacts.searches.size(), [&](std::size_t k) {
    Search(organs, contacts.searches[k], dt, contacts, found(contacts.searches[k])).run();
  });
  for (const OrganPair& search : contacts.searches) {
    const std::vector<PairContact>& list = found(search).contacts;
    contacts.contacts.insert(contacts.contacts.end(), list.begin(), list.end());
  }
}

void find_organ_contacts(std::span<const OrganBody> organs, float dt, OrganContacts& contacts) {
  measure_organs(organs, contacts);
  contacts.all_pairs.clear();
  for (std::uint32_t a = 0; a < organs.size(); ++a)
    for (std::uint32_t b = a + 1; b < organs.size(); ++b) contacts.all_pairs.push_back({a, b});
  Team alone(1);
  find_organ_contacts(organs, contacts.all_pairs, dt, alone, contacts);
}

void tissue_removed(std::span<const TissueModel* const> models, std::uint32_t organ,
                    std::span<const std::uint32_t> cells, OrganContacts& contacts) {
  const Lattice& lattice = models[organ]->lattice;
  const std::size_t organs = models.size();
  if (organs < 2) return;
  for (std::size_t other = 0; other < organs; ++other)
    if (other != organ && models[other]->slab.empty())
      add_zeros(*models[organ], contacts.field[other], contacts.zero[organ * organs + other]);
  bool carved = false;
  for (const std::uint32_t cell : cells) {
    if (lattice.cells[cell].volume_fraction > 0.f) continue;
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

namespace {

// Resolves contacts between organs within a substep: moves positions, only apart, equally and oppositely.

// Contacts share nodes and disturb each other. Two rounds remove most of the error; the next substep reduces it
// further.
constexpr int kPushRounds = 2;

// Moves the point by its share of `push`; velocities follow.
void push_point(const Embedding& e, const TissueModel& model, const glm::vec3& push, float dt, TissueScratch& s) {
  NodeMover nodes(model, dt, s);
  for (int i = 0; i < 8; ++i) nodes.move(e.node[i], e.weight[i] * model.inverse_mass[e.node[i]] * push);
}

// The two organs of a contact during the solve.
struct Pair {
  const TissueModel &model_a, &model_b;
  TissueScratch &a, &b;
};

float gap_of(const PairContact& c, const Pair& pair) {
  return glm::dot(c.normal, weighted(c.on_a, pair.a.x) - weighted(c.on_b, pair.b.x)) + c.offset;
}

void push_apart(PairContact& c, const glm::vec3& push, float dt, const Pair& pair) {
  push_point(c.on_a, pair.model_a, push, dt, pair.a);
  push_point(c.on_b, pair.model_b, -push, dt, pair.b);
  c.impulse += push / dt;
}

// An overlap from before the substep decreases slowly; the overlap added in this substep is removed at once.
float wanted_gap(const OrganContactParams& params, float before, float dt) {
  const float depth = std::max(-before, 0.f);
  return std::min(before + dt * std::min(depth / params.settling_time, params.fastest), 0.f);
}

void separate(PairContact& c, float wanted, float gap, float dt, const Pair& pair) {
  const float pressed = std::max(c.pressed + (wanted - gap) / c.admittance, 0.f), more = pressed - c.pressed;
  c.pressed = pressed;
  c.gap = gap + more * c.admittance;
  if (more != 0.f) push_apart(c, more * c.normal, dt, pair);
}

// Tangential slip is reduced, by at most friction times the normal push.
void rub(PairContact& c, float friction, float dt, const Pair& pair) {
  const glm::vec3 slip = dt * (weighted(c.on_a, pair.a.v) - weighted(c.on_b, pair.b.v));
  const glm::vec3 along = slip - glm::dot(slip, c.normal) * c.normal;
  const float length = glm::length(along);
  if (!(length > 0.f)) return;
  push_apart(c, along * (-std::min(length / c.admittance, friction * c.pressed) / length), dt, pair);
}

}  // namespace

void solve_organ_contacts(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                          OrganContacts& contacts) {
  const auto pair_of = [&](const PairContact& c) {
    return Pair{*models[c.a], *models[c.b], states[c.a]->scratch, states[c.b]->scratch};
  };
  // Contacts that pushed in the previous substep start with that push. Otherwise contacts that share nodes oscillate.
  const auto of_tube = [&](const PairContact& c) { return !models[c.a]->tube.empty() || !models[c.a]->slab.empty(); };
  for (PairContact& c : contacts.contacts)
    if (c.pressed > 0.f && !of_tube(c)) push_apart(c, c.pressed * c.normal, dt, pair_of(c));
  contacts.active.clear();
  for (std::uint32_t i = 0; i < contacts.contacts.size(); ++i) {
    PairContact& c = contacts.contacts[i];
    if (of_tube(c)) continue;
    const Pair pair = pair_of(c);
    const float gap = gap_of(c, pair), wanted = wanted_gap(contacts.params, c.gap, dt);
    c.gap = gap;
    if (!(gap < wanted) && !(c.pressed > 0.f)) continue;
    separate(c, wanted, gap, dt, pair);
    contacts.active.push_back({i, wanted});
  }
  for (int round = 1; round < kPushRounds; ++round)
    for (const OrganContacts::Active& active : contacts.active) {
      PairContact& c = contacts.contacts[active.contact];
      const Pair pair = pair_of(c);
      separate(c, active.wanted, gap_of(c, pair), dt, pair);
    }
  for (const OrganContacts::Active& active : contacts.active) {
    PairContact& c = contacts.contacts[active.contact];
    if (c.pressed > 0.f && contacts.params.friction > 0.f) rub(c, contacts.params.friction, dt, pair_of(c));
  }
}

void add_deepest(const RodContact& contact, std::uint32_t source, std::vector<RodContact>& contacts,
                 std::vector<std::uint32_t>& sources) {
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    if (contacts[k].obstacle != contact.obstacle || contacts[k].at.edge != contact.at.edge) continue;
    // Together they push as much as before.
    const glm::dvec3 impulse = contacts[k].impulse + contact.impulse;
    if (contact.gap < contacts[k].gap) contacts[k] = contact, sources[k] = source;
    contacts[k].impulse = glm::length(impulse) * contacts[k].normal;
    return;
  }
  contacts.push_back(contact);
  sources.push_back(source);
}

namespace {

// A contact of a tube counts when the gap may close within this many substeps.
constexpr float kTubeForesight = 2.f;
constexpr float kTubeReach = 5e-5f;  // m

// Neighbouring contacts, and another tube's, push the same nodes of an organ without knowing of each other. A contact
// counts the motion that those of its tube give, as if they pushed alike, over this share: else a light piece of tissue
// between tubes would swing up.
constexpr double kShareOfPush = 0.5;

// Speed that an impulse gives to the other organ, per impulse, 1/kg. Of another tube: that of the nodes there.
double compliance_of(const PairContact& c, const TissueModel& other) {
  return static_cast<double>(admittance_of(c.on_b, other));
}

void press_tube_at(std::uint32_t i, std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                   float dt, OrganContacts& contacts) {
  PairContact& c = contacts.contacts[i];
  const TissueModel &model = *models[c.a], &other = *models[c.b];
  SteppedTissue& state = *states[c.a];
  const Pair pair{model, other, state.scratch, states[c.b]->scratch};
  c.gap = gap_of(c, pair);
  const glm::vec3 speed = weighted(c.on_b, pair.b.v), p = weighted(c.on_a, pair.a.x);
  const float approach = glm::dot(c.normal, speed - weighted(c.on_a, pair.a.v));
  const float pressed = c.pressed;
  c.pressed = 0.f;
  if (!(c.gap < kTubeReach + kTubeForesight * dt * std::max(approach, 0.f))) return;
  const TubePoint point = point_on(model.tube, state.tube, c.on_a.node, c.on_a.weight, p);
  const float slowest = -4.f * dt * contacts.params.fastest;  // what the rod takes back in a substep is limited
  TubeScratch& scratch = state.scratch.tube;
  RodContact contact{kOrganObstacles + c.b,
                     point.at,
                     c.normal,
                     static_cast<double>(std::max(c.gap, slowest)),
                     speed,
                     static_cast<double>(contacts.params.friction),
                     compliance_of(c, other),
                     glm::dvec3(pressed / dt * c.normal)};
  add_deepest(contact, i, scratch.contacts[point.rod], scratch.source[point.rod]);
}

// Sets the compliance of the contacts of a tube with solid organs.
void share_pushes(std::span<const TissueModel* const> models, const OrganContacts& contacts, TubeScratch& scratch) {
  const auto for_each_solid = [&](auto each) {
    for (std::size_t r = 0; r < scratch.contacts.size(); ++r)
      for (std::size_t k = 0; k < scratch.contacts[r].size(); ++k) {
        if (scratch.contacts[r][k].obstacle < kOrganObstacles) continue;
        const PairContact& c = contacts.contacts[scratch.source[r][k]];
        if (models[c.b]->tube.empty()) each(scratch.contacts[r][k], c.on_b, *models[c.b]);
      }
  };
  scratch.shared.resize(models.size());
  const auto shared_of = [&](const RodContact& contact) -> std::vector<float>& {
    return scratch.shared[contact.obstacle - kOrganObstacles];
  };
  for_each_solid([&](const RodContact& contact, const Embedding& e, const TissueModel& organ) {
    std::vector<float>& shared = shared_of(contact);
    shared.resize(organ.mass.size(), 0.f);
    for (int i = 0; i < 8; ++i) shared[e.node[i]] += e.weight[i];
  });
  for_each_solid([&](RodContact& contact, const Embedding& e, const TissueModel& organ) {
    const std::vector<float>& shared = shared_of(contact);
    float sum = 0.f;
    for (int i = 0; i < 8; ++i) sum += e.weight[i] * organ.inverse_mass[e.node[i]] * shared[e.node[i]];
    contact.compliance = std::max(contact.compliance, static_cast<double>(sum) / kShareOfPush);
  });
  for_each_solid([&](const RodContact& contact, const Embedding& e, const TissueModel&) {
    for (int i = 0; i < 8; ++i) shared_of(contact)[e.node[i]] = 0.f;
  });
}

}  // namespace

void press_tubes_together(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                          OrganContacts& contacts) {
  for (std::uint32_t i = 0; i < contacts.contacts.size(); ++i) {
    const PairContact& c = contacts.contacts[i];
    if (!models[c.a]->tube.empty() && !models[c.b]->tube.empty()) press_tube_at(i, models, states, dt, contacts);
  }
}

void press_tube(std::uint32_t tube, std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                float dt, OrganContacts& contacts) {
  const auto first = std::ranges::lower_bound(contacts.contacts, tube, {}, &PairContact::a);
  for (auto i = static_cast<std::uint32_t>(first - contacts.contacts.begin());
       i < contacts.contacts.size() && contacts.contacts[i].a == tube; ++i)
    if (models[contacts.contacts[i].b]->tube.empty()) press_tube_at(i, models, states, dt, contacts);
  share_pushes(models, contacts, states[tube]->scratch.tube);
}

void take_back_from_tubes(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                          OrganContacts& contacts) {
  for (std::size_t organ = 0; organ < states.size(); ++organ) {
    TubeScratch& scratch = states[organ]->scratch.tube;
    for (std::size_t r = 0; r < scratch.contacts.size(); ++r) {
      for (std::size_t k = 0; k < scratch.contacts[r].size(); ++k) {
        const RodContact& contact = scratch.contacts[r][k];
        if (contact.obstacle < kOrganObstacles) continue;
        PairContact& c = contacts.contacts[scratch.source[r][k]];
        const glm::vec3 impulse(contact.impulse);
        c.impulse += impulse;
        c.pressed = dt * std::max(glm::dot(impulse, c.normal), 0.f);
        const TissueModel& other = *models[c.b];
        if (other.tube.empty()) {
          push_point(c.on_b, other, -dt * impulse, dt, states[c.b]->scratch);
        } else {
          SteppedTissue& state = *states[c.b];
          const TubePoint point = point_on(other.tube, state.tube, c.on_b.node, c.on_b.weight,
                                           glm::dvec3(weighted(c.on_b, state.scratch.x)));
          RodAnchor push;
          push.at = point.at, push.force = glm::dvec3(-impulse / dt);
          state.scratch.tube.anchors[point.rod].push_back(push);
        }
      }
      scratch.contacts[r].clear();
      scratch.source[r].clear();
    }
  }
}

glm::vec3 organ_force(const OrganContacts& contacts, std::uint32_t a, float dt) {
  glm::vec3 sum(0.f);
  for (const PairContact& c : contacts.contacts) {
    if (c.a == a) sum += c.impulse;
    if (c.b == a) sum -= c.impulse;
  }
  return sum / dt;
}

}  // namespace trocar
