#include "mesh/even_remesh.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/error.hpp"

namespace trocar {

EditableSurface::EditableSurface(const RawSurface& surface)
    : positions_(surface.positions),
      outgoing_(surface.positions.size(), kDead),
      valence_(surface.positions.size(), 0),
      live_faces_(surface.faces.size()) {
  start_.reserve(3 * surface.faces.size());
  for (const glm::uvec3& f : surface.faces)
    for (int corner = 0; corner < 3; ++corner) {
      outgoing_[f[corner]] = static_cast<HalfEdge>(start_.size());
      ++valence_[f[corner]];
      start_.push_back(f[corner]);
    }
  link_twins();
}

void EditableSurface::link_twins() {
  // Half-edges sorted by their two end vertices: twins become neighbours.
  std::vector<std::pair<std::uint64_t, HalfEdge>> keys(start_.size());
  for (HalfEdge h = 0; h < start_.size(); ++h) {
    const std::uint64_t low = std::min(start(h), end(h)), high = std::max(start(h), end(h));
    keys[h] = {low << 32 | high, h};
  }
  std::sort(keys.begin(), keys.end());
  twin_.assign(start_.size(), kDead);
  for (std::size_t i = 0; i < keys.size(); i += 2) {
    const bool couple = i + 1 < keys.size() && keys[i].first == keys[i + 1].first &&
                        (i + 2 == keys.size() || keys[i + 2].first != keys[i].first) &&
                        start(keys[i].second) == end(keys[i + 1].second);
    if (!couple) throw RunError("the surface to remesh is not a closed, oriented manifold");
    pair(keys[i].second, keys[i + 1].second);
  }
}

double EditableSurface::length2(HalfEdge h) const {
  const glm::dvec3 d = positions_[end(h)] - positions_[start(h)];
  return glm::dot(d, d);
}

glm::dvec3 EditableSurface::face_normal2(HalfEdge h) const {
  const glm::dvec3& a = positions_[start(h)];
  return glm::cross(positions_[end(h)] - a, positions_[apex(h)] - a);
}

bool EditableSurface::connected(Vertex a, Vertex b) const {
  bool found = false;
  around(a, [&](HalfEdge h) { found |= end(h) == b; });
  return found;
}

void EditableSurface::split(HalfEdge h, const glm::dvec3& middle) {
  const HalfEdge t = twin_[h], h1 = next(h), t2 = previous(t);
  const Vertex b = end(h), c = apex(h), d = apex(t);
  const HalfEdge outer_h1 = twin_[h1], outer_t2 = twin_[t2];
  const auto m = static_cast<Vertex>(positions_.size());
  const auto n = static_cast<HalfEdge>(start_.size());

  // h now runs a -> m in face (a, m, c), t runs m -> a in face (m, a, d); the new faces are (m, b, c) and (b, m, d).
  positions_.push_back(middle);
  start_.insert(start_.end(), {m, b, c, b, m, d});
  twin_.resize(start_.size());
  start_[h1] = m;
  start_[t] = m;
  pair(n, n + 3);
  pair(h1, n + 2);
  pair(t2, n + 4);
  pair(n + 1, outer_h1);
  pair(n + 5, outer_t2);

  outgoing_.push_back(n);
  outgoing_[b] = n + 1;
  outgoing_[c] = n + 2;
  outgoing_[d] = n + 5;
  valence_.push_back(4);
  ++valence_[c];
  ++valence_[d];
  live_faces_ += 2;
}

bool EditableSurface::flip_allowed(HalfEdge h) const {
  return valence_[start(h)] > 3 && valence_[end(h)] > 3 && !connected(apex(h), apex(twin_[h]));
}

void EditableSurface::flip(HalfEdge h) {
  const HalfEdge t = twin_[h], h1 = next(h), h2 = previous(h), t1 = next(t), t2 = previous(t);
  const Vertex a = start(h), b = end(h), c = apex(h), d = apex(t);
  const HalfEdge bc = twin_[h1], ca = twin_[h2], ad = twin_[t1], db = twin_[t2];

  // h's face becomes (d, c, a), t's face (c, d, b).
  start_[h] = d, start_[h1] = c, start_[h2] = a;
  start_[t] = c, start_[t1] = d, start_[t2] = b;
  pair(h1, ca);
  pair(h2, ad);
  pair(t1, db);
  pair(t2, bc);
  outgoing_[a] = h2, outgoing_[b] = t2, outgoing_[c] = t, outgoing_[d] = h;
  --valence_[a], --valence_[b], ++valence_[c], ++valence_[d];
}

bool EditableSurface::collapse_allowed(HalfEdge h) const {
  const HalfEdge t = twin_[h];
  const Vertex a = start(h), b = end(h), c = apex(h), d = apex(t);
  if (c == d || valence_[c] <= 3 || valence_[d] <= 3 || valence_[a] + valence_[b] - 4 < 3) return false;
  int shared = 0;
  around(a, [&](HalfEdge x) {
    const Vertex neighbour = end(x);
    if (neighbour != b && connected(neighbour, b)) ++shared;
  });
  return shared == 2;
}

void EditableSurface::collapse(HalfEdge h, const glm::dvec3& to) {
  const HalfEdge t = twin_[h], h1 = next(h), h2 = previous(h), t1 = next(t), t2 = previous(t);
  const Vertex a = start(h), b = end(h), c = apex(h), d = apex(t);
  HalfEdge x = h;
  do {
    const HalfEdge following = twin_[previous(x)];
    start_[x] = b;
    x = following;
  } while (x != h);

  const HalfEdge bc = twin_[h1], ca = twin_[h2], ad = twin_[t1], db = twin_[t2];
  pair(bc, ca);
  pair(ad, db);
  outgoing_[b] = ca;
  outgoing_[c] = bc;
  outgoing_[d] = ad;
  valence_[b] = static_cast<std::uint16_t>(valence_[a] + valence_[b] - 4);
  --valence_[c], --valence_[d];
  outgoing_[a] = kDead;
  valence_[a] = 0;
  for (const HalfEdge dead : {h, h1, h2, t, t1, t2}) start_[dead] = kDead;
  positions_[b] = to;
  live_faces_ -= 2;
}

RawSurface EditableSurface::raw() const {
  RawSurface surface;
  std::vector<Vertex> number(positions_.size(), kDead);
  for (Vertex v = 0; v < positions_.size(); ++v)
    if (vertex_alive(v)) {
      number[v] = static_cast<Vertex>(surface.positions.size());
      surface.positions.push_back(positions_[v]);
    }
  for (HalfEdge h = 0; h < start_.size(); h += 3)
    if (alive(h)) surface.faces.emplace_back(number[start_[h]], number[start_[h + 1]], number[start_[h + 2]]);
  return surface;
}

void EditableSurface::drop_dead() {
  if (3 * live_faces_ != start_.size()) *this = EditableSurface(raw());
}

namespace {

using HalfEdge = EditableSurface::HalfEdge;
using Vertex = EditableSurface::Vertex;

// The least cosine between a face's directions before and after an edge is collapsed or flipped or a vertex is moved.
constexpr double kLeastTurnCosine = 0.3;

constexpr double kNoLimit = 1e9;  // mm   longer than any edge

double area(const EditableSurface& s) {
  double sum = 0.0;
  for (HalfEdge h = 0; h < s.half_edge_count(); h += 3)
    if (s.alive(h)) sum += 0.5 * glm::length(s.face_normal2(h));
  return sum;
}

// Returns the edge length of equilateral triangles of which `faces` cover `area`.
double even_edge(double area, std::size_t faces) { return std::sqrt(4.0 * area / (std::sqrt(3.0) * double(faces))); }

void split_long(EditableSurface& s, const SampledField& field, double longest) {
  const auto count = static_cast<HalfEdge>(s.half_edge_count());
  for (HalfEdge h = 0; h < count; ++h)
    if (h < s.twin(h) && s.length2(h) > longest * longest)
      s.split(h, field.project(0.5 * (s.position(s.start(h)) + s.position(s.end(h)))));
}

// Returns the reference direction of a face: its own normal, or the field's gradient where the face is too thin for a
// normal.
glm::dvec3 direction(const EditableSurface& s, const SampledField& field, HalfEdge h) {
  constexpr double kThin = 0.25;  // 1   height over longest edge, about
  const glm::dvec3 normal2 = s.face_normal2(h);
  const double longest2 = std::max({s.length2(h), s.length2(s.next(h)), s.length2(s.previous(h))});
  return glm::length(normal2) > kThin * longest2 ? normal2 : field.at(s.position(s.start(h))).gradient;
}

// Do the remaining faces around v keep their direction when v moves to `to`?
bool faces_keep_direction(const EditableSurface& s, const SampledField& field, Vertex v, Vertex removed,
                          const glm::dvec3& to) {
  bool fine = true;
  s.around(v, [&](HalfEdge h) {
    if (s.end(h) == removed || s.apex(h) == removed || !fine) return;
    const glm::dvec3 before = direction(s, field, h);
    const glm::dvec3 after = glm::cross(s.position(s.end(h)) - to, s.position(s.apex(h)) - to);
    fine = glm::dot(before, after) > kLeastTurnCosine * glm::length(before) * glm::length(after);
  });
  return fine;
}

bool edges_stay_short(const EditableSurface& s, Vertex v, const glm::dvec3& to, double longest) {
  bool fine = true;
  s.around(v, [&](HalfEdge h) {
    const glm::dvec3 d = s.position(s.end(h)) - to;
    fine &= glm::dot(d, d) < longest * longest;
  });
  return fine;
}

bool try_collapse(EditableSurface& s, const SampledField& field, HalfEdge h, double longest) {
  if (!s.collapse_allowed(h)) return false;
  const Vertex a = s.start(h), b = s.end(h);
  const glm::dvec3 to = field.project(0.5 * (s.position(a) + s.position(b)));
  if (!edges_stay_short(s, a, to, longest) || !edges_stay_short(s, b, to, longest)) return false;
  if (!faces_keep_direction(s, field, a, b, to) || !faces_keep_direction(s, field, b, a, to)) return false;
  s.collapse(h, to);
  return true;
}

void collapse_short(EditableSurface& s, const SampledField& field, double shortest, double longest) {
  for (HalfEdge h = 0; h < s.half_edge_count(); ++h)
    if (s.alive(h) && h < s.twin(h) && s.length2(h) < shortest * shortest) try_collapse(s, field, h, longest);
  s.drop_dead();
}

double cosine_at(const glm::dvec3& corner, const glm::dvec3& p, const glm::dvec3& q) {
  const glm::dvec3 u = p - corner, v = q - corner;
  return glm::dot(u, v) / std::sqrt(glm::dot(u, u) * glm::dot(v, v));
}

// Returns the smallest angle of a triangle, as the largest cosine.
double sharpest(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c) {
  return std::max({cosine_at(a, b, c), cosine_at(b, c, a), cosine_at(c, a, b)});
}

// After a flip both faces beside h must point in the common direction of the old two.
bool flip_keeps_direction(const EditableSurface& s, HalfEdge h) {
  const HalfEdge t = s.twin(h);
  const glm::dvec3 &a = s.position(s.start(h)), &b = s.position(s.end(h)), &c = s.position(s.apex(h)),
                   &d = s.position(s.apex(t));
  const glm::dvec3 before = s.face_normal2(h) + s.face_normal2(t);
  const glm::dvec3 n1 = glm::cross(c - d, a - d), n2 = glm::cross(d - c, b - c);
  const double limit = kLeastTurnCosine * glm::length(before);
  return glm::dot(before, n1) > limit * glm::length(n1) && glm::dot(before, n2) > limit * glm::length(n2);
}

int valence_gain(const EditableSurface& s, HalfEdge h) {
  const auto off = [](int valence) { return (valence - 6) * (valence - 6); };
  const int a = s.valence(s.start(h)), b = s.valence(s.end(h)), c = s.valence(s.apex(h)),
            d = s.valence(s.apex(s.twin(h)));
  return off(a) + off(b) + off(c) + off(d) - off(a - 1) - off(b - 1) - off(c + 1) - off(d + 1);
}

// Returns the gain of a flip: the decrease of the largest cosine of the two faces' angles.
double angle_gain(const EditableSurface& s, HalfEdge h) {
  const glm::dvec3 &a = s.position(s.start(h)), &b = s.position(s.end(h)), &c = s.position(s.apex(h)),
                   &d = s.position(s.apex(s.twin(h)));
  return std::max(sharpest(a, b, c), sharpest(b, a, d)) - std::max(sharpest(d, c, a), sharpest(c, d, b));
}

void flip_for_valence(EditableSurface& s) {
  for (HalfEdge h = 0; h < s.half_edge_count(); ++h)
    if (h < s.twin(h) && valence_gain(s, h) > 0 && angle_gain(s, h) > -0.2 && flip_keeps_direction(s, h) &&
        s.flip_allowed(h))
      s.flip(h);
}

void flip_for_angles(EditableSurface& s) {
  for (HalfEdge h = 0; h < s.half_edge_count(); ++h)
    if (h < s.twin(h) && angle_gain(s, h) > 1e-3 && flip_keeps_direction(s, h) && s.flip_allowed(h)) s.flip(h);
}

// Moves each vertex to the area-weighted mean of its neighbours, then projects it back onto the surface.
void relax(EditableSurface& s, const SampledField& field) {
  std::vector<double> weight(s.vertex_count(), 0.0);
  for (HalfEdge h = 0; h < s.half_edge_count(); h += 3) {
    const double face_area = glm::length(s.face_normal2(h));
    for (HalfEdge corner = h; corner < h + 3; ++corner) weight[s.start(corner)] += face_area;
  }
  for (Vertex v = 0; v < s.vertex_count(); ++v) {
    glm::dvec3 sum(0.0);
    double total = 0.0;
    s.around(v, [&](HalfEdge h) {
      sum += weight[s.end(h)] * s.position(s.end(h));
      total += weight[s.end(h)];
    });
    const glm::dvec3 normal = glm::normalize(field.at(s.position(v)).gradient);
    const glm::dvec3 pull = sum / total - s.position(v);
    const glm::dvec3 to = field.project(s.position(v) + pull - glm::dot(pull, normal) * normal);
    if (faces_keep_direction(s, field, v, v, to)) s.move(v, to);
  }
}

void even_pass(EditableSurface& s, const SampledField& field, double edge) {
  split_long(s, field, 4.0 / 3.0 * edge);
  collapse_short(s, field, 4.0 / 5.0 * edge, 4.0 / 3.0 * edge);
  flip_for_valence(s);
  relax(s, field);
}

std::vector<HalfEdge> edges_by_length(const EditableSurface& s) {
  std::vector<std::pair<double, HalfEdge>> order;
  for (HalfEdge h = 0; h < s.half_edge_count(); ++h)
    if (s.alive(h) && h < s.twin(h)) order.emplace_back(s.length2(h), h);
  std::sort(order.begin(), order.end());
  std::vector<HalfEdge> edges;
  for (const auto& [length2, h] : order) edges.push_back(h);
  return edges;
}

// Splits the longest or collapses the shortest edges until the face count is met; a round changes at most 1 edge in 20.
void meet_count(EditableSurface& s, const SampledField& field, std::size_t faces) {
  constexpr int kMostRounds = 40;
  for (int round = 0; round < kMostRounds && s.face_count() != faces; ++round) {
    const std::vector<HalfEdge> edges = edges_by_length(s);
    const bool too_many = s.face_count() > faces;
    std::size_t left =
        std::min((too_many ? s.face_count() - faces : faces - s.face_count()) / 2, edges.size() / 20 + 1);
    for (std::size_t i = 0; i < edges.size() && left > 0; ++i) {
      const HalfEdge h = edges[too_many ? i : edges.size() - 1 - i];
      if (!s.alive(h)) continue;
      if (!too_many) s.split(h, field.project(0.5 * (s.position(s.start(h)) + s.position(s.end(h)))));
      if (!too_many || try_collapse(s, field, h, kNoLimit)) --left;
    }
    s.drop_dead();
    flip_for_valence(s);
    relax(s, field);
  }
}

}  // namespace

RawSurface even_remesh(const RawSurface& raw, const SampledField& field, std::size_t faces) {
  faces += faces % 2;
  EditableSurface s(raw);
  for (Vertex v = 0; v < s.vertex_count(); ++v) s.move(v, field.project(s.position(v)));

  // Approach the target edge length in steps: slivers of the raw surface vanish while edges are long, and each
  // refinement starts from even triangles.
  const double surface = area(s);
  double edge = even_edge(surface, faces);
  for (double step = even_edge(surface, raw.faces.size()); step > edge; step *= 0.6)
    for (int pass = 0; pass < 2; ++pass) even_pass(s, field, step);

  // The passes yield slightly more or fewer faces than predicted, so the edge length is adjusted meanwhile.
  for (int pass = 0; pass < 10; ++pass) {
    even_pass(s, field, edge);
    const double ratio = double(s.face_count()) / double(faces);
    if (pass >= 4) edge *= std::sqrt(std::clamp(ratio, 0.8, 1.25));
  }
  // Now collapse the edges that stayed short because their neighbours were long; restore the count after each round.
  for (int round = 0; round < 3; ++round) {
    collapse_short(s, field, 0.6 * edge, kNoLimit);
    meet_count(s, field, faces);
    for (int pass = 0; pass < 2; ++pass) {
      flip_for_valence(s);
      relax(s, field);
    }
  }
  for (int pass = 0; pass < 4; ++pass) {
    flip_for_angles(s);
    relax(s, field);
  }
  return s.raw();
}

}  // namespace trocar
