// Divides faces at points of a path, and separates their corners along its edges.
#include "deform/thin/sheet_cut.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "geometry/closest.hpp"
#include "geometry/disjoint_sets.hpp"

namespace trocar {
namespace {

using glm::dot;
using glm::dvec2;
using glm::dvec3;
using NodePair = std::array<std::uint32_t, 2>;  // lower number first

constexpr std::size_t kLastSide = 2;  // of the rim of a sweep: where the blade is now
constexpr int kBurnRounds = 8;        // halvings of the faces that a hot segment meets
// A side of a tear that still holds carries the strength of its tie; a branch from it needs more.
constexpr double kBranchLoad = 2.0;
constexpr double kPushed = 0.3;           // cosine up to which sides that shear count as pulled apart
constexpr double kLeastIntegrity = 0.05;  // of a face beside a burn: its edges still need some stiffness

NodePair pair_of(std::uint32_t a, std::uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

dvec3 unit(int k) { return {k == 0, k == 1, k == 2}; }

double rest_length(const SheetElement& e, int k) { return glm::distance(e.corner[k], e.corner[(k + 1) % 3]); }

// A part of a face that is divided.
struct FacePart {
  SheetFace face;                // its edges: those that they continue, or kNoPoint
  std::array<dvec3, 3> corners;  // weights in the whole face
  dvec3 turn;                    // [edge] at rest
};

// A sheet while it is changed: its edges, masses and plan are those of before.
struct Surgery {
  SheetModel& model;
  SheetState& state;
  SheetChange& change;

  std::uint32_t add_node(const dvec3& x, const dvec3& v, bool fixed) const {
    state.x.push_back(x), state.v.push_back(v);
    model.mass.push_back(0.0), model.fixed.push_back(fixed ? 1 : 0);
    return static_cast<std::uint32_t>(state.x.size() - 1);
  }
  // Replaces a face by parts that keep its rest shape and plane.
  void divide(std::uint32_t f, std::span<const FacePart> parts) const {
    const SheetFace whole_face = model.faces[f];
    const SheetElement whole = model.elements[f];
    SheetSplit split{f, {kNoPoint, kNoPoint, kNoPoint}, {}};
    for (std::size_t p = 0; p < parts.size(); ++p) {
      std::array<dvec2, 3> corner;
      for (int i = 0; i < 3; ++i) {
        const dvec3& w = parts[p].corners[i];
        corner[i] = w[0] * whole.corner[0] + w[1] * whole.corner[1] + w[2] * whole.corner[2];
      }
      SheetElement element = element_of(corner, model.params.poisson);
      element.turn = parts[p].turn, element.integrity = whole.integrity;
      split.part[p] = p == 0 ? f : static_cast<std::uint32_t>(model.faces.size());
      split.corners[p] = parts[p].corners;
      if (p == 0)
        model.faces[f] = parts[p].face, model.elements[f] = element;
      else
        model.faces.push_back(parts[p].face), model.elements.push_back(element);
    }
    move_ties(whole_face, split);
    change.splits.push_back(split);
  }
  // A tie at a corner of a divided face belongs to the first part with this corner.
  void move_ties(const SheetFace& whole, const SheetSplit& split) const {
    for (SheetTie& tie : model.ties)
      for (int side = 0; side < 2; ++side) {
        if (tie.face[side] != split.face) continue;
        const std::uint32_t node = whole.node[tie.corner[side]];
        bool found = false;
        for (const std::uint32_t part : split.part)
          for (std::uint32_t k = 0; k < 3 && part != kNoPoint && !found; ++k)
            if (model.faces[part].node[k] == node) tie.face[side] = part, tie.corner[side] = k, found = true;
      }
  }
  // Splits the edge from a to b at the share t; returns the new node.
  std::uint32_t split_edge(std::uint32_t a, std::uint32_t b, double t) const {
    const std::uint32_t p = add_node(glm::mix(state.x[a], state.x[b], t), glm::mix(state.v[a], state.v[b], t),
                                     model.fixed[a] && model.fixed[b]);
    const auto faces = static_cast<std::uint32_t>(model.faces.size());
    for (std::uint32_t f = 0; f < faces; ++f)
      for (int k = 0; k < 3; ++k) {
        const SheetFace face = model.faces[f];
        const int next = (k + 1) % 3, apex = (k + 2) % 3;
        if (pair_of(face.node[k], face.node[next]) != pair_of(a, b)) continue;
        const double share = face.node[k] == a ? t : 1.0 - t;
        const dvec3 at = (1.0 - share) * unit(k) + share * unit(next), &turn = model.elements[f].turn;
        const FacePart parts[] = {{{{face.node[k], p, face.node[apex]}, {face.edge[k], kNoPoint, face.edge[apex]}},
                                   {unit(k), at, unit(apex)},
                                   {turn[k], 0.0, turn[apex]}},
                                  {{{p, face.node[next], face.node[apex]}, {face.edge[k], face.edge[next], kNoPoint}},
                                   {at, unit(next), unit(apex)},
                                   {turn[k], turn[next], 0.0}}};
        divide(f, parts);
        break;
      }
    return p;
  }
  // Divides a face in three at a point inside it; returns the new node.
  std::uint32_t split_face(const SheetPoint& point) const {
    const SheetFace face = model.faces[point.face];
    const dvec3 turn = model.elements[point.face].turn;
    dvec3 v(0.0);
    for (int k = 0; k < 3; ++k) v += point.weight[k] * state.v[face.node[k]];
    const std::uint32_t p = add_node(position(model, state.x, point), v, false);
    std::array<FacePart, 3> parts;
    for (int k = 0; k < 3; ++k)
      parts[k] = {{{face.node[k], face.node[(k + 1) % 3], p}, {face.edge[k], kNoPoint, kNoPoint}},
                  {unit(k), unit((k + 1) % 3), point.weight},
                  {turn[k], 0.0, 0.0}};
    divide(point.face, parts);
    return p;
  }
};

// A side of a face, by its nodes.
struct FaceSide {
  NodePair nodes;
  std::uint32_t face;
  int side;
  bool operator<(const FaceSide& other) const {
    return std::tie(nodes, face, side) < std::tie(other.nodes, other.face, other.side);
  }
};

std::vector<FaceSide> sides_of(const SheetModel& model) {
  std::vector<FaceSide> sides;
  for (std::uint32_t f = 0; f < model.faces.size(); ++f)
    for (int k = 0; k < 3; ++k)
      sides.push_back({pair_of(model.faces[f].node[k], model.faces[f].node[(k + 1) % 3]), f, k});
  std::sort(sides.begin(), sides.end());
  return sides;
}

// A corner that gets a node of its own.
struct Rename {
  std::uint32_t face;
  int corner;
  std::uint32_t node;
};

// Separates the faces around a node that no uncut edge joins: all but the first group get a copy of the node.
void separate(const Surgery& surgery, std::uint32_t node, std::span<const std::array<std::uint32_t, 2>> corners,
              const std::vector<NodePair>& cuts, std::vector<Rename>& renames) {
  const SheetModel& model = surgery.model;
  const auto is_cut = [&](std::uint32_t other) {
    return std::binary_search(cuts.begin(), cuts.end(), pair_of(node, other));
  };
  DisjointSets groups(corners.size());
  for (std::uint32_t i = 0; i < corners.size(); ++i)
    for (std::uint32_t j = 0; j < i; ++j)
      for (const std::uint32_t a : model.faces[corners[i][0]].node)
        for (const std::uint32_t b : model.faces[corners[j][0]].node)
          if (a == b && a != node && !is_cut(a)) groups.join(i, j);
  std::vector<std::uint32_t> copy(corners.size(), kNoPoint);
  for (std::uint32_t i = 0; i < corners.size(); ++i) {
    const std::uint32_t root = groups.root(i);
    if (root == 0) continue;
    if (copy[root] == kNoPoint)
      copy[root] = surgery.add_node(surgery.state.x[node], surgery.state.v[node], model.fixed[node] != 0);
    renames.push_back({corners[i][0], static_cast<int>(corners[i][1]), copy[root]});
  }
}

// Opens edges as far as they separate their faces; the others wait in `scored`. `held`: a tie at each end.
void open(const Surgery& surgery, std::vector<NodePair> cuts, bool held) {
  SheetModel& model = surgery.model;
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const std::vector<FaceSide> sides = sides_of(model);
  std::vector<std::array<std::uint32_t, 3>> corners;  // node, face, corner: of nodes at the cut
  std::vector<std::uint8_t> at_cut(surgery.state.x.size(), 0);
  for (const NodePair& c : cuts) at_cut[c[0]] = at_cut[c[1]] = 1;
  for (std::uint32_t f = 0; f < model.faces.size(); ++f)
    for (std::uint32_t k = 0; k < 3; ++k)
      if (at_cut[model.faces[f].node[k]]) corners.push_back({model.faces[f].node[k], f, k});
  std::sort(corners.begin(), corners.end());
  std::vector<Rename> renames;
  for (std::size_t i = 0; i < corners.size();) {
    const std::uint32_t node = corners[i][0];
    std::vector<std::array<std::uint32_t, 2>> around;
    for (; i < corners.size() && corners[i][0] == node; ++i) around.push_back({corners[i][1], corners[i][2]});
    separate(surgery, node, around, cuts, renames);
  }
  for (const Rename& r : renames) model.faces[r.face].node[r.corner] = r.node;
  model.scored.clear();
  for (const NodePair& c : cuts) {
    const auto first = std::lower_bound(sides.begin(), sides.end(), FaceSide{c, 0, 0});
    if (first == sides.end() || first + 1 == sides.end() || first->nodes != c || (first + 1)->nodes != c) continue;
    const FaceSide &f = *first, &g = *(first + 1);
    const int f_end = (f.side + 1) % 3, g_end = (g.side + 1) % 3;
    const auto node = [&](const FaceSide& s, int corner) { return model.faces[s.face].node[corner]; };
    if (node(f, f.side) == node(g, g_end) && node(f, f_end) == node(g, g.side)) {
      model.scored.push_back(c);
      continue;
    }
    const double length = rest_length(model.elements[f.face], f.side);
    surgery.change.length += length, ++surgery.change.edges;
    if (!held) continue;
    const double area = 0.5 * length * model.params.thickness;
    const auto tie = [&](int a, int b) {
      model.ties.push_back(
          {{f.face, g.face}, {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)}, area, length});
      surgery.state.opened.push_back(0.0);
    };
    tie(f.side, g_end), tie(f_end, g.side);
  }
}

Triangle triangle_of(const SheetModel& model, const SheetState& s, std::size_t f) {
  const auto& node = model.faces[f].node;
  return {s.x[node[0]], s.x[node[1]], s.x[node[2]]};
}

// The surface that a blade sweeps: two triangles, and its rim.
struct BladeSweep {
  std::array<Triangle, 2> triangles;
  std::array<std::array<dvec3, 2>, 4> rim;

  explicit BladeSweep(const SheetBlade& b)
      : triangles{Triangle{b.from, b.to, b.next_to}, Triangle{b.from, b.next_to, b.next_from}},
        rim{{{b.from, b.to}, {b.to, b.next_to}, {b.next_to, b.next_from}, {b.next_from, b.from}}} {}
  bool is_flat() const {
    double area = 0.0;
    for (const Triangle& t : triangles) area += glm::length(glm::cross(t.b - t.a, t.c - t.a));
    return !(area > 0.0);
  }
  // Where a segment meets the surface first, 0 .. 1.
  std::optional<double> crossing(const dvec3& from, const dvec3& to) const {
    const auto a = line_meets_triangle(from, to - from, 1.0, triangles[0]);
    const auto b = line_meets_triangle(from, to - from, 1.0, triangles[1]);
    return a && b ? std::min(*a, *b) : a ? a : b;
  }
};

// The lowest height of a face at rest, m.
double lowest_height(const std::array<dvec2, 3>& c) {
  double longest = 0.0;
  for (int k = 0; k < 3; ++k) longest = std::max(longest, glm::distance(c[k], c[(k + 1) % 3]));
  const dvec2 p = c[1] - c[0], q = c[2] - c[0];
  return std::abs(p.x * q.y - p.y * q.x) / longest;
}

// Whether a face may be split at a share of side k, from its first corner.
bool may_split(const SheetElement& e, int k, double share, const CutLimits& limits) {
  const dvec2 at = glm::mix(e.corner[k], e.corner[(k + 1) % 3], share), apex = e.corner[(k + 2) % 3];
  const double least = std::min(limits.least_height, (1.0 - 1e-9) * lowest_height(e.corner));
  return lowest_height({e.corner[k], at, apex}) >= least && lowest_height({at, e.corner[(k + 1) % 3], apex}) >= least;
}

// The points of a path on a sheet, before it is divided.
struct CutPoints {
  struct OnEdge {
    std::uint32_t edge;
    double share;        // from the first to the second node
    std::uint32_t node;  // on which it lies; kNoPoint: it needs one
  };
  struct InFace {
    std::uint32_t face, number;
  };
  std::vector<OnEdge> on_edge;
  std::vector<SheetPoint> inside;
  std::vector<std::uint32_t> of_edge;                    // [edge] in on_edge; kNoPoint: none
  std::vector<InFace> edge_ends, node_ends, inner_ends;  // ends of the path: numbers in on_edge, of nodes, in inside
  bool crosses = false;
  // Where the blade is now, if that is in the sheet: the last of one of the three lists.
  const std::vector<InFace>* last = nullptr;
  std::size_t last_number = 0;

  // Adds a point of an edge unless it has one; returns its number.
  std::uint32_t add(const SheetModel& model, const CutLimits& limits, std::uint32_t e, double share) {
    if (of_edge[e] != kNoPoint) return of_edge[e];
    bool at_node = false;
    for (std::uint32_t f = 0; f < model.faces.size(); ++f)
      for (int k = 0; k < 3; ++k) {
        if (model.faces[f].edge[k] != e) continue;
        const double length = rest_length(model.elements[f], k);
        const double along = model.edges[e][0] == model.faces[f].node[k] ? share : 1.0 - share;
        at_node = at_node || !may_split(model.elements[f], k, along, limits) ||
                  std::min(share, 1.0 - share) * length < std::max(limits.least_edge, limits.least_share * length);
      }
    on_edge.push_back({e, share, at_node ? model.edges[e][share < 0.5 ? 0 : 1] : kNoPoint});
    return of_edge[e] = static_cast<std::uint32_t>(on_edge.size() - 1);
  }
};

// The sweep, moved to start at the tip of the cut.
SheetBlade from_tip(const SheetBlade& given, const SheetState& s) {
  SheetBlade blade = given;
  if (given.tip == kNoPoint) return blade;
  const dvec3 d = given.to - given.from, tip = s.x[given.tip];
  const double along = closest::clamp01(dot(tip - given.from, d) / std::max(dot(d, d), 1e-300));
  const dvec3 off = tip - (given.from + along * d);
  blade.from += off, blade.to += off;
  return blade;
}

dvec3 weights_in(const std::array<dvec3, 3>& x, const dvec3& at) {
  const dvec3 n = glm::cross(x[1] - x[0], x[2] - x[0]);
  dvec3 w;
  for (int k = 0; k < 3; ++k) {
    const dvec3 &from = x[(k + 1) % 3], &to = x[(k + 2) % 3];
    w[k] = std::max(dot(n, glm::cross(to - from, at - from)) / dot(n, n), 0.0);
  }
  return w / (w.x + w.y + w.z);
}

double shortest_side(const SheetElement& e) {
  return std::min({rest_length(e, 0), rest_length(e, 1), rest_length(e, 2)});
}

// An end of the path inside a face: a corner, a point of its own, or one of an edge that is near. Returns the list to
// which it was added.
const std::vector<CutPoints::InFace>* add_end(const SheetModel& model, const SheetState& s, const CutLimits& limits,
                                              const SheetPoint& end, CutPoints& points) {
  const SheetElement& e = model.elements[end.face];
  const dvec3 at = position(model, s.x, end);
  const double near = std::max(limits.least_edge, limits.least_share * shortest_side(e));
  const auto& corners = model.faces[end.face].node;
  const auto distance = [&](std::uint32_t node) { return glm::distance(s.x[node], at); };
  const std::uint32_t corner = *std::min_element(
      corners.begin(), corners.end(), [&](std::uint32_t a, std::uint32_t b) { return distance(a) < distance(b); });
  if (distance(corner) < near) {
    points.node_ends.push_back({end.face, corner});
    return &points.node_ends;
  }
  int nearest = 0;
  double least = INFINITY;
  for (int k = 0; k < 3; ++k) {
    const double height = 2.0 * e.area / rest_length(e, (k + 1) % 3);
    const double room = end.weight[k] * height / std::max(limits.least_edge, limits.least_share * height);
    if (room < least) least = room, nearest = k;
  }
  if (least >= 1.0) {
    const auto is_near = [&](const SheetPoint& p) {
      return p.face == end.face && glm::distance(position(model, s.x, p), at) < near;
    };
    const auto known = std::find_if(points.inside.begin(), points.inside.end(), is_near);
    points.inner_ends.push_back({end.face, static_cast<std::uint32_t>(known - points.inside.begin())});
    if (known == points.inside.end()) points.inside.push_back(end);
    return &points.inner_ends;
  }
  const int from = (nearest + 1) % 3, to = (nearest + 2) % 3;
  const std::uint32_t edge = model.faces[end.face].edge[from];
  double share = end.weight[to] / std::max(end.weight[from] + end.weight[to], 1e-300);
  if (model.edges[edge][0] != model.faces[end.face].node[from]) share = 1.0 - share;
  points.edge_ends.push_back({end.face, points.add(model, limits, edge, share)});
  return &points.edge_ends;
}

// Finds where the path crosses edges and where it ends.
CutPoints find_points(const SheetModel& model, const SheetState& s, const BladeSweep& sweep, const CutLimits& limits) {
  CutPoints points;
  points.of_edge.assign(model.edges.size(), kNoPoint);
  for (std::uint32_t e = 0; e < model.edges.size(); ++e)
    if (const auto t = sweep.crossing(s.x[model.edges[e][0]], s.x[model.edges[e][1]]))
      points.add(model, limits, e, *t), points.crosses = true;
  for (std::uint32_t f = 0; f < model.faces.size(); ++f) {
    const Triangle face = triangle_of(model, s, f);
    for (std::size_t side = 0; side < sweep.rim.size(); ++side) {
      const auto& [from, to] = sweep.rim[side];
      const auto t = line_meets_triangle(from, to - from, 1.0, face);
      if (!t) continue;
      const SheetPoint end{f, weights_in({face.a, face.b, face.c}, from + *t * (to - from))};
      const auto* list = add_end(model, s, limits, end, points);
      if (side == kLastSide) points.last = list, points.last_number = list->size() - 1;
    }
  }
  return points;
}

// Whether a path stays inside one face and is too short for an edge of its own.
bool is_waiting(const SheetModel& model, const SheetBlade& blade, const CutPoints& points) {
  if (points.crosses) return false;
  const double moved = std::max(glm::distance(blade.from, blade.next_from), glm::distance(blade.to, blade.next_to));
  double shortest = INFINITY;
  for (const auto* ends : {&points.edge_ends, &points.node_ends, &points.inner_ends})
    for (const CutPoints::InFace& end : *ends) shortest = std::min(shortest, shortest_side(model.elements[end.face]));
  return shortest < INFINITY && moved < 0.5 * shortest;
}

// Nodes of the path in one face become edges, one after another along it.
void join(const SheetState& s, std::vector<std::uint32_t> nodes, std::vector<NodePair>& cuts) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.size() < 2) return;
  dvec3 along(0.0);
  for (const std::uint32_t a : nodes)
    for (const std::uint32_t b : nodes)
      if (const dvec3 d = s.x[b] - s.x[a]; dot(d, d) > dot(along, along)) along = d;
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return dot(s.x[a], along) < dot(s.x[b], along); });
  for (std::size_t k = 1; k < nodes.size(); ++k) cuts.push_back(pair_of(nodes[k - 1], nodes[k]));
}

// Gives every point of a path a node. Returns the nodes in or on each face of before. [face]
std::vector<std::vector<std::uint32_t>> divide_along(const Surgery& surgery, CutPoints& points) {
  const SheetModel& model = surgery.model;
  const std::vector<SheetFace> faces = model.faces;
  std::vector<std::vector<std::uint32_t>> path(faces.size());
  std::vector<std::uint32_t> inside;
  for (const SheetPoint& p : points.inside) inside.push_back(surgery.split_face(*follow(surgery.change, p)));
  for (CutPoints::OnEdge& p : points.on_edge)
    if (p.node == kNoPoint) p.node = surgery.split_edge(model.edges[p.edge][0], model.edges[p.edge][1], p.share);
  for (CutPoints::InFace& end : points.edge_ends) end.number = points.on_edge[end.number].node;
  for (CutPoints::InFace& end : points.inner_ends) end.number = inside[end.number];
  for (std::size_t f = 0; f < faces.size(); ++f)
    for (const std::uint32_t e : faces[f].edge)
      if (points.of_edge[e] != kNoPoint) path[f].push_back(points.on_edge[points.of_edge[e]].node);
  for (const auto* ends : {&points.edge_ends, &points.node_ends, &points.inner_ends})
    for (const CutPoints::InFace& end : *ends) path[end.face].push_back(end.number);
  if (points.last != nullptr) surgery.change.tip = (*points.last)[points.last_number].number;
  return path;
}

// Drops a new cut of a face that would lose all its neighbours by two or more of them: a path that turns back on itself
// in one face would cut a crumb off.
void keep_crumbs(const SheetModel& model, std::vector<NodePair>& cuts) {
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const std::vector<FaceSide> sides = sides_of(model);
  std::vector<std::uint8_t> held(model.faces.size(), 0), cut_sides(model.faces.size(), 0);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const bool twice = (i > 0 && sides[i - 1].nodes == sides[i].nodes) ||
                       (i + 1 < sides.size() && sides[i + 1].nodes == sides[i].nodes);
    const bool is_cut = std::binary_search(cuts.begin(), cuts.end(), sides[i].nodes);
    if (twice && is_cut) ++cut_sides[sides[i].face];
    if (twice && !is_cut) held[sides[i].face] = 1;
  }
  for (std::size_t f = 0; f < model.faces.size(); ++f) {
    if (held[f] || cut_sides[f] < 2) continue;
    NodePair longest{};
    double length = 0.0;
    for (int k = 0; k < 3; ++k) {
      const NodePair side = pair_of(model.faces[f].node[k], model.faces[f].node[(k + 1) % 3]);
      if (!std::binary_search(cuts.begin(), cuts.end(), side) || rest_length(model.elements[f], k) <= length) continue;
      longest = side, length = rest_length(model.elements[f], k);
    }
    if (length > 0.0) cuts.erase(std::lower_bound(cuts.begin(), cuts.end(), longest));
  }
}

// The longest side of a face at rest.
int longest_side(const SheetElement& e) {
  int longest = 0;
  for (int k = 1; k < 3; ++k)
    if (rest_length(e, k) > rest_length(e, longest)) longest = k;
  return longest;
}

// Divides the faces that a hot segment meets until they are about as small as its radius.
void refine(const Surgery& surgery, const dvec3& from, const dvec3& to, double radius, const CutLimits& limits) {
  SheetModel& model = surgery.model;
  const double least = std::max(radius, 2.0 * limits.least_edge);
  for (int round = 0; round < kBurnRounds; ++round) {
    const std::size_t faces = model.faces.size();
    for (std::size_t f = 0; f < faces; ++f) {
      const int k = longest_side(model.elements[f]);
      if (rest_length(model.elements[f], k) <= least) continue;
      if (closest_segment_triangle(from, to, triangle_of(model, surgery.state, f)).distance >= radius) continue;
      surgery.split_edge(model.faces[f].node[k], model.faces[f].node[(k + 1) % 3], 0.5);
    }
    if (model.faces.size() == faces) return;
  }
}

// Removes faces; what was tied to them is free.
void remove_faces(SheetModel& model, SheetState& s, const std::vector<std::uint8_t>& burnt, SheetChange& change) {
  change.face_now.assign(model.faces.size(), kNoPoint);
  std::uint32_t kept = 0;
  for (std::size_t f = 0; f < model.faces.size(); ++f) {
    if (burnt[f]) {
      change.area += model.elements[f].area;
      continue;
    }
    model.faces[kept] = model.faces[f], model.elements[kept] = model.elements[f];
    change.face_now[f] = kept++;
  }
  model.faces.resize(kept), model.elements.resize(kept);
  std::size_t ties = 0;
  for (std::size_t t = 0; t < model.ties.size(); ++t) {
    SheetTie tie = model.ties[t];
    for (std::uint32_t& face : tie.face) face = change.face_now[face];
    if (tie.face[0] == kNoPoint || tie.face[1] == kNoPoint) continue;
    model.ties[ties] = tie, s.opened[ties++] = s.opened[t];
  }
  model.ties.resize(ties), s.opened.resize(ties);
}

// One edge at a node of the boundary that could tear, or two at a node inside: what the node carries over what it
// could.
struct TearCandidate {
  double load;
  std::uint32_t node;
  std::array<std::uint32_t, 2> other;  // the second: kNoPoint at the boundary
};

// A corner of a face.
struct FanCorner {
  std::uint32_t node, face;
  int corner;
  auto operator<=>(const FanCorner&) const = default;
};

std::vector<FanCorner> sorted_corners(const SheetModel& model) {
  std::vector<FanCorner> corners;
  for (std::uint32_t f = 0; f < model.faces.size(); ++f)
    for (int k = 0; k < 3; ++k) corners.push_back({model.faces[f].node[k], f, k});
  std::sort(corners.begin(), corners.end());
  return corners;
}

// Faces around a node, counter-clockwise from the boundary if the node lies there.
struct Fan {
  std::vector<FanCorner> corners;
  bool closed = false;

  Fan(const SheetModel& model, std::span<const FanCorner> given) {
    const auto next = [&](const FanCorner& c) { return model.faces[c.face].node[(c.corner + 1) % 3]; };
    const auto last = [&](const FanCorner& c) { return model.faces[c.face].node[(c.corner + 2) % 3]; };
    const FanCorner* first = given.data();
    closed = true;
    for (const FanCorner& c : given)
      if (std::none_of(given.begin(), given.end(), [&](const FanCorner& d) { return last(d) == next(c); })) {
        first = &c, closed = false;
        break;
      }
    corners.push_back(*first);
    while (corners.size() < given.size()) {
      const auto after =
          std::find_if(given.begin(), given.end(), [&](const FanCorner& d) { return next(d) == last(corners.back()); });
      if (after == given.end()) break;
      corners.push_back(*after);
    }
  }
};

std::uint32_t node_at(const SheetModel& model, const SheetTie& tie, int side) {
  return model.faces[tie.face[side]].node[tie.corner[side]];
}

// Finds edges that could tear.
struct TearSearch {
  const SheetModel& model;
  const SheetState& state;
  std::vector<std::array<dvec3, 3>> force = {};  // [face][corner] N
  std::vector<double> tied = {};                 // [node] m^2 of ties that are not open there
  std::vector<std::uint8_t> holds = {};          // [node] 1: a side of a tear that still holds
  std::vector<TearCandidate> found = {};

  void prepare() {
    for (std::uint32_t f = 0; f < model.faces.size(); ++f) force.push_back(corner_forces(model, state, f));
    tied.assign(model.mass.size(), 0.0), holds.assign(model.mass.size(), 0);
    for (const SheetTie& tie : model.ties) {
      const std::uint32_t a = node_at(model, tie, 0), b = node_at(model, tie, 1);
      if (a == b) tied[a] += tie.area;
      if (a != b) holds[a] = holds[b] = 1;
    }
  }
  double strength(double length) const { return tear_law(model.params, length).strength; }
  // Corners `from` up to `to` of a fan come off along the edges before them and after them.
  void try_group(const Fan& fan, std::size_t from, std::size_t to) {
    const std::uint32_t node = fan.corners[0].node;
    dvec3 pull(0.0), inward(0.0);
    for (std::size_t i = from; i < to; ++i) {
      const FanCorner& c = fan.corners[i];
      const Triangle t = triangle_of(model, state, c.face);
      pull += force[c.face][c.corner], inward += t.a + t.b + t.c - 3.0 * state.x[node];
    }
    const double size = glm::length(pull);
    if (dot(pull, inward) < -kPushed * size * glm::length(inward)) return;
    TearCandidate candidate{0.0, node, {kNoPoint, kNoPoint}};
    double capacity = 0.0, integrity = 1.0;
    int edges = 0;
    const auto add_edge = [&](std::size_t i) {  // before corner i
      const FanCorner& c = fan.corners[i % fan.corners.size()];
      const double length = rest_length(model.elements[c.face], c.corner);
      capacity += 0.5 * length * model.params.thickness * strength(length);
      if (edges == 0) capacity += tied[node] * strength(length);
      integrity = std::min(integrity, model.elements[c.face].integrity);
      candidate.other[edges++] = model.faces[c.face].node[(c.corner + 1) % 3];
    };
    add_edge(from);
    if (fan.closed) add_edge(to);
    candidate.load = size / (capacity * integrity);
    if (candidate.load >= (holds[node] ? kBranchLoad : 1.0)) found.push_back(candidate);
  }
  void try_fan(const Fan& fan) {
    double most = 0.0, shortest = INFINITY;
    for (const FanCorner& c : fan.corners) {
      most += glm::length(force[c.face][c.corner]);
      shortest = std::min(shortest, shortest_side(model.elements[c.face]) * model.elements[c.face].integrity);
    }
    if (most < 0.5 * shortest * model.params.thickness * strength(shortest)) return;
    const std::size_t count = fan.corners.size();
    if (!fan.closed)
      for (std::size_t from = 1; from < count; ++from) try_group(fan, from, count);
    else
      for (std::size_t from = 0; from < count; ++from)
        for (std::size_t to = from + 2; to + 2 <= from + count && to < count; ++to) try_group(fan, from, to);
  }
};

// The most loaded first.
std::vector<TearCandidate> tear_candidates(const SheetModel& model, const SheetState& s) {
  TearSearch search{model, s};
  search.prepare();
  const std::vector<FanCorner> corners = sorted_corners(model);
  for (std::size_t begin = 0, end = 0; begin < corners.size(); begin = end) {
    while (end < corners.size() && corners[end].node == corners[begin].node) ++end;
    search.try_fan(Fan(model, std::span(corners).subspan(begin, end - begin)));
  }
  std::sort(search.found.begin(), search.found.end(), [](const TearCandidate& a, const TearCandidate& b) {
    return a.load != b.load ? a.load > b.load : std::tie(a.node, a.other) < std::tie(b.node, b.other);
  });
  return search.found;
}

}  // namespace

SheetChange cut(SheetModel& model, SheetState& s, const SheetBlade& given, const CutLimits& limits) {
  SheetChange change;
  const SheetBlade blade = from_tip(given, s);
  const BladeSweep sweep(blade);
  if (sweep.is_flat()) return change;
  CutPoints points = find_points(model, s, sweep, limits);
  if (is_waiting(model, blade, points)) {
    change.waits = true, change.tip = blade.tip;
    return change;
  }
  std::vector<NodePair> cuts = model.scored;
  for (const auto& nodes : divide_along(Surgery{model, s, change}, points)) join(s, nodes, cuts);
  keep_crumbs(model, cuts);
  open({model, s, change}, std::move(cuts), false);
  change.energy = change.length * model.params.thickness * model.params.cut_toughness;
  change.waits = points.last != nullptr && change.splits.empty() && change.edges == 0;
  if (change.waits) change.tip = blade.tip;
  if (change.changed()) rebuild(model, s);
  return change;
}

SheetChange tear(SheetModel& model, SheetState& s) {
  SheetChange change;
  std::vector<NodePair> cuts;
  std::vector<std::uint32_t> taken;
  for (const TearCandidate& c : tear_candidates(model, s)) {
    const std::array<std::uint32_t, 3> nodes{c.node, c.other[0], c.other[1]};
    if (std::find_first_of(taken.begin(), taken.end(), nodes.begin(), nodes.end() - (c.other[1] == kNoPoint)) !=
        taken.end())
      continue;
    for (const std::uint32_t other : c.other)
      if (other != kNoPoint) cuts.push_back(pair_of(c.node, other));
    taken.insert(taken.end(), nodes.begin(), nodes.end());
  }
  if (cuts.empty()) return change;
  const std::vector<NodePair> scored = model.scored;
  open({model, s, change}, std::move(cuts), true);
  model.scored = scored;
  if (change.changed()) rebuild(model, s);
  return change;
}

SheetChange burn(SheetModel& model, SheetState& s, const dvec3& from, const dvec3& to, double radius,
                 const CutLimits& limits) {
  SheetChange change;
  refine({model, s, change}, from, to, radius, limits);
  std::vector<std::uint8_t> burnt(model.faces.size(), 0);
  bool any = false;
  for (std::size_t f = 0; f < model.faces.size(); ++f) {
    const Triangle t = triangle_of(model, s, f);
    const dvec3 middle = (t.a + t.b + t.c) / 3.0, d = to - from;
    const double along = closest::clamp01(dot(middle - from, d) / std::max(dot(d, d), 1e-300));
    const double distance = glm::distance(middle, from + along * d);
    if (distance < radius) burnt[f] = 1, any = true;
    if (distance < 2.0 * radius) {
      double& integrity = model.elements[f].integrity;
      integrity = std::min(integrity, std::max((distance - radius) / radius, kLeastIntegrity));
    }
  }
  if (any) remove_faces(model, s, burnt, change);
  if (change.changed()) rebuild(model, s);
  return change;
}

std::optional<SheetPoint> follow(const SheetChange& change, SheetPoint point) {
  for (const SheetSplit& split : change.splits) {
    if (split.face != point.face) continue;
    const dvec3 whole = point.weight;
    double best = -INFINITY;
    dvec3 weight(0.0);
    for (int p = 0; p < 3 && split.part[p] != kNoPoint; ++p) {
      const auto& c = split.corners[p];
      const dvec3 w = glm::inverse(glm::dmat3(c[0], c[1], c[2])) * whole;
      const double least = std::min({w.x, w.y, w.z});
      if (least > best) best = least, weight = w, point.face = split.part[p];
    }
    weight = glm::max(weight, dvec3(0.0));
    point.weight = weight / (weight.x + weight.y + weight.z);
  }
  if (!change.face_now.empty()) point.face = change.face_now[point.face];
  if (point.face == kNoPoint) return std::nullopt;
  return point;
}

std::vector<std::uint32_t> pieces_of(const SheetModel& model) {
  DisjointSets sets(model.mass.size());
  for (const SheetFace& face : model.faces)
    sets.join(face.node[0], face.node[1]), sets.join(face.node[0], face.node[2]);
  std::vector<std::uint32_t> number(model.mass.size(), kNoPoint), piece;
  std::uint32_t count = 0;
  for (const SheetFace& face : model.faces) {
    std::uint32_t& n = number[sets.root(face.node[0])];
    if (n == kNoPoint) n = count++;
    piece.push_back(n);
  }
  return piece;
}

}  // namespace trocar
