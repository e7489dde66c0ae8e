// Makes the wall of the burnt cavity: squares between voxels, with corners on the boundary of the heat.
#include <algorithm>

#include "deform/cut/sculpt_steps.hpp"

namespace trocar {
namespace {

std::uint32_t corner_index(const Voxels& voxels, const glm::ivec3& at) {
  const glm::ivec3 corners = voxels.count + 1;
  return (static_cast<std::uint32_t>(at.z) * corners.y + at.y) * corners.x + at.x;
}

// Returns the corners of a voxel's side, counter-clockwise seen from outside the voxel.
std::array<glm::ivec3, 4> side_corners(const glm::ivec3& voxel, int side) {
  const int axis = side / 2;
  glm::ivec3 base = voxel, u(0), w(0);
  base[axis] += side % 2;
  u[(axis + 1) % 3] = 1;
  w[(axis + 2) % 3] = 1;
  return side % 2 ? std::array{base, base + u, base + u + w, base + w}
                  : std::array{base, base + w, base + u + w, base + u};
}

// Moves the end of the wall above the centres of the last voxels below the skin, by this fraction of the distance to
// their sides: where tissue is one voxel thin, its two ends then stay apart.
constexpr double kLift = 0.2;  // 1

// Returns the mean of the points with heat 0 on the twelve edges between the eight voxels around a corner. Voxels
// outside the organ are ignored: the wall ends below the skin.
glm::vec3 corner_position(const Voxels& voxels, const glm::ivec3& corner) {
  std::array<float, 8> heat{};
  std::array<bool, 8> known{};
  glm::dvec3 inside(0.0);
  int voxels_inside = 0;
  for (int i = 0; i < 8; ++i) {
    const glm::ivec3 at = corner - 1 + corner_offset(i);
    known[i] = voxels.holds(at) && voxels.kind[voxels.flat(at)] != Voxel::Outside;
    if (!known[i]) continue;
    heat[i] = voxels.heat[voxels.flat(at)];
    inside += glm::dvec3(corner_offset(i));
    ++voxels_inside;
  }
  glm::dvec3 sum(0.0);
  int crossings = 0;
  for (int i = 0; i < 8; ++i)
    for (int axis = 0; axis < 3; ++axis) {
      const int j = i | 1 << axis;
      if (j == i || !known[i] || !known[j] || (heat[i] > 0.f) == (heat[j] > 0.f)) continue;
      glm::dvec3 zero_point(corner_offset(i));
      zero_point[axis] += static_cast<double>(heat[i]) / (static_cast<double>(heat[i]) - static_cast<double>(heat[j]));
      sum += zero_point;
      ++crossings;
    }
  glm::dvec3 mean = crossings > 0 ? sum / static_cast<double>(crossings) : glm::dvec3(0.5);
  mean += kLift * (0.5 - inside / static_cast<double>(voxels_inside));
  return glm::vec3(voxels.origin + voxels.size * (glm::dvec3(corner) - 0.5 + mean));
}

// Returns the cell with tissue next to the corner that lies closest to `p`. As long as the corner's voxels do not
// change, this cell has tissue.
std::uint32_t carrier(const Sculpture& sculpture, const Lattice& lattice, const glm::ivec3& corner,
                      const glm::vec3& p) {
  std::uint32_t best = 0;
  double nearest = INFINITY;
  for (int i = 0; i < 8; ++i) {
    const glm::ivec3 at = corner - 1 + corner_offset(i);
    if (!sculpture.voxels.is(Voxel::Tissue, at)) continue;
    const std::uint32_t cell = carrier_of(sculpture, lattice, sculpture.voxels.flat(at));
    const glm::dvec3 low = lattice.origin + lattice.spacing * glm::dvec3(lattice.cells[cell].at);
    const glm::dvec3 gap = glm::dvec3(p) - glm::clamp(glm::dvec3(p), low, low + lattice.spacing);
    if (const double squared = glm::dot(gap, gap); squared < nearest) nearest = squared, best = cell;
  }
  return best;
}

class WallMaker {
 public:
  WallMaker(Sculpture& sculpture, TissueModel& model) : s_(sculpture), model_(model) {}

  void update() {
    for (const std::uint32_t voxel : s_.scratch.moved)
      for (int i = 0; i < 8; ++i)
        s_.corner_vertex[corner_index(s_.voxels, s_.voxels.at(voxel) + corner_offset(i))] = kNoVoxel;
    drop_changed();
    find_sides();
    for (const std::uint32_t side : sides_) add_square(side);
  }

 private:
  void drop_changed() {
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      if (s_.faces.kind[slot] != FaceKind::Wall || s_.faces.removed[slot]) continue;
      const std::uint32_t side = s_.faces.side[slot];
      bool changed = s_.voxels.kind[side / 6] != Voxel::Tissue;
      for (const glm::ivec3& corner : side_corners(s_.voxels.at(side / 6), static_cast<int>(side % 6)))
        changed |= s_.corner_vertex[corner_index(s_.voxels, corner)] == kNoVoxel;
      if (changed) s_.faces.removed[slot] = 1;
    }
  }

  // All sides between tissue and burnt voxels that touch a corner of a voxel in scratch.moved.
  void find_sides() {
    for (const std::uint32_t voxel : s_.scratch.moved) {
      const glm::ivec3 middle = s_.voxels.at(voxel);
      for (int i = 0; i < 27; ++i) {
        const glm::ivec3 at = middle + glm::ivec3(i % 3, i / 3 % 3, i / 9) - 1;
        if (!s_.voxels.is(Voxel::Tissue, at)) continue;
        for (int side = 0; side < 6; ++side) {
          const glm::ivec3 next = at + side_offset(side);
          if (s_.voxels.is(Voxel::Burnt, next) && touches(middle, at, side))
            sides_.push_back(6 * s_.voxels.flat(at) + static_cast<std::uint32_t>(side));
        }
      }
    }
    std::sort(sides_.begin(), sides_.end());
    sides_.erase(std::unique(sides_.begin(), sides_.end()), sides_.end());
    // The squares that a slit has split are skin now.
    std::erase_if(sides_, [&](std::uint32_t side) {
      return std::binary_search(s_.slit_sides.begin(), s_.slit_sides.end(), side);
    });
  }

  static bool touches(const glm::ivec3& voxel, const glm::ivec3& at, int side) {
    for (const glm::ivec3& corner : side_corners(at, side)) {
      const glm::ivec3 offset = corner - voxel;
      if (glm::all(glm::greaterThanEqual(offset, glm::ivec3(0))) && glm::all(glm::lessThanEqual(offset, glm::ivec3(1))))
        return true;
    }
    return false;
  }

  std::uint32_t vertex_at(const glm::ivec3& corner) {
    std::uint32_t& vertex = s_.corner_vertex[corner_index(s_.voxels, corner)];
    if (vertex == kNoVoxel) {
      const glm::vec3 position = corner_position(s_.voxels, corner);
      const SculptVertex owner{.cell = carrier(s_, model_.lattice, corner, position), .wall = true};
      vertex = add_vertex(s_, model_, position, owner);
    }
    return vertex;
  }

  void add_square(std::uint32_t side) {
    std::array<std::uint32_t, 4> v{};
    const auto corners = side_corners(s_.voxels.at(side / 6), static_cast<int>(side % 6));
    for (int i = 0; i < 4; ++i) v[i] = vertex_at(corners[i]);
    const bool first = glm::distance(s_.rest[v[0]], s_.rest[v[2]]) <= glm::distance(s_.rest[v[1]], s_.rest[v[3]]);
    s_.faces.add(FaceKind::Wall, first ? glm::uvec3(v[0], v[1], v[2]) : glm::uvec3(v[1], v[2], v[3]), side);
    s_.faces.add(FaceKind::Wall, first ? glm::uvec3(v[0], v[2], v[3]) : glm::uvec3(v[1], v[3], v[0]), side);
  }

  Sculpture& s_;
  TissueModel& model_;
  std::vector<std::uint32_t> sides_;  // 6 * tissue voxel + side
};

}  // namespace

bool touches_wall(const Sculpture& sculpture, std::uint32_t voxel) {
  for (int i = 0; i < 8; ++i)
    if (sculpture.corner_vertex[corner_index(sculpture.voxels, sculpture.voxels.at(voxel) + corner_offset(i))] !=
        kNoVoxel)
      return true;
  return false;
}

void update_wall(Sculpture& sculpture, TissueModel& model) { WallMaker(sculpture, model).update(); }

}  // namespace trocar
