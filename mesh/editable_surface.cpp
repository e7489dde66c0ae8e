#include "mesh/editable_surface.hpp"

#include <algorithm>
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

}  // namespace trocar
