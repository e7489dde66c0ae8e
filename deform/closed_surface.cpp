#include "deform/closed_surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// One side of a face, between welded corners u < v; `turn` is +1 when the face runs from u to v, -1 when from v to u.
struct FaceSide {
  std::uint32_t u, v;
  int turn;
  std::uint32_t face;
};

bool finite(const glm::vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

void require_sound_arrays(const MeshView& organ) {
  if (organ.faces.empty()) throw InputError("the organ has no faces; tissue needs a closed surface to fill");
  for (std::size_t v = 0; v < organ.positions.size(); ++v)
    if (!finite(organ.positions[v]))
      throw InputError(
          fmt::format("vertex {} of the organ has a coordinate that is not a finite number; repair the mesh", v));
  for (std::size_t f = 0; f < organ.faces.size(); ++f)
    for (int corner = 0; corner < 3; ++corner)
      if (organ.faces[f][corner] >= organ.positions.size())
        throw InputError(fmt::format("face {} of the organ uses vertex {}, the mesh has {}; export the mesh again", f,
                                     organ.faces[f][corner], organ.positions.size()));
}

// [vertex] the first vertex, in order of position, at exactly the same place.
std::vector<std::uint32_t> weld_by_position(std::span<const glm::vec3> positions) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const glm::vec3 &p = positions[a], &q = positions[b];
    return p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : p.z < q.z;
  };
  std::vector<std::uint32_t> order(positions.size()), welded(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), before);
  for (std::size_t i = 0; i < order.size(); ++i)
    welded[order[i]] = i > 0 && positions[order[i]] == positions[order[i - 1]] ? welded[order[i - 1]] : order[i];
  return welded;
}

std::vector<FaceSide> sorted_sides(const MeshView& organ) {
  const std::vector<std::uint32_t> welded = weld_by_position(organ.positions);
  std::vector<FaceSide> sides;
  sides.reserve(3 * organ.faces.size());
  for (std::size_t f = 0; f < organ.faces.size(); ++f)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t u = welded[organ.faces[f][corner]], v = welded[organ.faces[f][(corner + 1) % 3]];
      if (u != v) sides.push_back({std::min(u, v), std::max(u, v), u < v ? 1 : -1, static_cast<std::uint32_t>(f)});
    }
  std::stable_sort(sides.begin(), sides.end(),
                   [](const FaceSide& a, const FaceSide& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; });
  return sides;
}

struct Faults {
  std::size_t open = 0, flipped = 0;  // edges
  const FaceSide *first_open = nullptr, *first_flipped = nullptr;
};

// An edge is sound when as many faces run along it one way as the other.
Faults find_faults(const std::vector<FaceSide>& sides) {
  Faults faults;
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    int turns = 0;
    while (end < sides.size() && sides[end].u == sides[begin].u && sides[end].v == sides[begin].v)
      turns += sides[end++].turn;
    if (turns == 0) continue;
    const bool open = (end - begin) % 2 == 1;
    const FaceSide*& first = open ? faults.first_open : faults.first_flipped;
    if (!first) first = &sides[begin];
    ++(open ? faults.open : faults.flipped);
  }
  return faults;
}

std::string place_mm(const MeshView& organ, const FaceSide& side) {
  const glm::vec3 middle = 500.f * (organ.positions[side.u] + organ.positions[side.v]);
  return fmt::format("edge {}-{} of face {}, near ({:.1f}, {:.1f}, {:.1f}) mm", side.u, side.v, side.face, middle.x,
                     middle.y, middle.z);
}

double signed_volume(const MeshView& organ) {
  const glm::dvec3 base(organ.positions[organ.faces[0].x]);
  double six_volumes = 0.0;
  for (const glm::uvec3& face : organ.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    six_volumes += glm::dot(t.a - base, glm::cross(t.b - base, t.c - base));
  }
  return six_volumes / 6.0;
}

}  // namespace

double closed_volume(const MeshView& organ) {
  require_sound_arrays(organ);
  const std::vector<FaceSide> sides = sorted_sides(organ);
  const Faults faults = find_faults(sides);
  if (faults.open > 0)
    throw InputError(
        fmt::format("the organ's surface has a hole at {} ({} open edge{} in all); close it before making tissue",
                    place_mm(organ, *faults.first_open), faults.open, faults.open == 1 ? "" : "s"));
  if (faults.flipped > 0)
    throw InputError(
        fmt::format("two faces of the organ disagree about the outside at {} ({} such edge{}); orient the mesh",
                    place_mm(organ, *faults.first_flipped), faults.flipped, faults.flipped == 1 ? "" : "s"));
  const double volume = signed_volume(organ);
  if (volume < 0.0)
    throw InputError(fmt::format("the organ is inside out (volume {:.3g} ml); flip its faces", volume * 1e6));
  if (!(volume > 0.0)) throw InputError("the organ encloses no volume; tissue needs a solid to fill");
  return volume;
}

}  // namespace trocar
