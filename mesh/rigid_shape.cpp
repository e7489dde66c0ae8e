#include "mesh/rigid_shape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "geometry/elementary.hpp"
#include "geometry/frame.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

using glm::dvec2;
using glm::dvec3;

constexpr double kRootThree = 1.7320508075688772935;
constexpr int kArc = 4;                                // points of a rounded edge
constexpr int kRound = 12;                             // sides of a peg
constexpr int kCap = 4;                                // rings of its end
constexpr double kCut = 0.25;                          // of the wall: half of what is left of a corner of the hole
constexpr double kLeastRound = 1e-4, kSpacing = 0.01;  // m

// Half the side of an equilateral triangle is sqrt(3) times its inner radius.
double inner_radius(const RigidShape& shape) { return shape.side / (2.0 * kRootThree); }

// Corners of the ring's outline, counter-clockwise, moved outward by `off` from the middle of its wall. Corner k lies
// between side k - 1 and side k; even sides are long.
std::array<dvec2, 6> ring_outline(const RigidShape& shape, double off) {
  const double middle = inner_radius(shape) - 0.5 * shape.wall;
  const std::array<double, 2> reach{middle + off, 2.0 * middle - (0.5 + kCut) * shape.wall + off};
  std::array<dvec2, 6> corners;
  for (int k = 0; k < 6; ++k) {
    const double a = kFullTurn * (k - 1) / 6.0 - 0.25 * kFullTurn, b = kFullTurn * k / 6.0 - 0.25 * kFullTurn;
    const dvec2 na(elementary::cos(a), elementary::sin(a)), nb(elementary::cos(b), elementary::sin(b));
    const double ra = reach[static_cast<std::size_t>((k + 1) % 2)], rb = reach[static_cast<std::size_t>(k % 2)];
    // The point with na . p = ra and nb . p = rb.
    const double det = na.x * nb.y - na.y * nb.x;
    corners[static_cast<std::size_t>(k)] = {(ra * nb.y - rb * na.y) / det, (na.x * rb - nb.x * ra) / det};
  }
  return corners;
}

void add_quad(TriangleMesh& mesh, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  mesh.faces.emplace_back(a, b, c);
  mesh.faces.emplace_back(a, c, d);
}

// The outline of the ring's wall: offsets from its middle, and heights, counter-clockwise seen along the outline's
// direction from behind.
std::vector<dvec2> wall_profile(const RigidShape& shape) {
  const double out = 0.5 * shape.wall - shape.round, up = 0.5 * shape.height - shape.round;
  std::vector<dvec2> profile;
  for (int corner = 0; corner < 4; ++corner)
    for (int k = 0; k < kArc; ++k) {
      const double angle = 0.25 * kFullTurn * (corner + static_cast<double>(k) / (kArc - 1));
      const dvec2 middle(corner == 0 || corner == 3 ? out : -out, corner < 2 ? up : -up);
      profile.push_back(middle + shape.round * dvec2(elementary::cos(angle), elementary::sin(angle)));
    }
  return profile;
}

TriangleMesh ring_surface(const RigidShape& shape) {
  const std::vector<dvec2> profile = wall_profile(shape);
  const auto n = static_cast<std::uint32_t>(profile.size());
  TriangleMesh mesh;
  for (std::uint32_t k = 0; k < 6; ++k)
    for (const dvec2& p : profile) mesh.positions.emplace_back(dvec3(ring_outline(shape, p.x)[k], p.y));
  for (std::uint32_t k = 0; k < 6; ++k)
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t here = k * n, next = (k + 1) % 6 * n, j = (i + 1) % n;
      add_quad(mesh, here + i, next + i, next + j, here + j);
    }
  return mesh;
}

std::vector<RigidPiece> ring_pieces(const RigidShape& shape) {
  const double out = 0.5 * shape.wall - shape.round, up = 0.5 * shape.height - shape.round;
  const std::array<dvec2, 6> outer = ring_outline(shape, out), inner = ring_outline(shape, -out);
  std::vector<RigidPiece> pieces;
  for (std::size_t k = 0; k < 6; ++k) {
    RigidPiece piece{{}, shape.round};
    for (const double z : {-up, up})
      for (const std::size_t end : {k, (k + 1) % 6}) {
        piece.corners.emplace_back(outer[end], z);
        piece.corners.emplace_back(inner[end], z);
      }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// One side of a box: a grid of about 10 mm, with corners of its own where it meets another side.
void add_side(TriangleMesh& mesh, const dvec3& from, const dvec3& u, const dvec3& v) {
  const auto cells = [](const dvec3& d) { return static_cast<std::uint32_t>(std::ceil(glm::length(d) / kSpacing)); };
  const std::uint32_t nu = cells(u), nv = cells(v), first = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t j = 0; j <= nv; ++j)
    for (std::uint32_t i = 0; i <= nu; ++i)
      mesh.positions.emplace_back(from + static_cast<double>(i) / nu * u + static_cast<double>(j) / nv * v);
  for (std::uint32_t j = 0; j < nv; ++j)
    for (std::uint32_t i = 0; i < nu; ++i) {
      const std::uint32_t a = first + j * (nu + 1) + i;
      add_quad(mesh, a, a + 1, a + nu + 2, a + nu + 1);
    }
}

TriangleMesh box_surface(const dvec3& size, const dvec3& middle) {
  TriangleMesh mesh;
  const dvec3 h = 0.5 * size;
  const dvec3 x(size.x, 0.0, 0.0), y(0.0, size.y, 0.0), z(0.0, 0.0, size.z), low = middle - h;
  add_side(mesh, low, y, x), add_side(mesh, low + z, x, y);
  add_side(mesh, low, x, z), add_side(mesh, low + y, z, x);
  add_side(mesh, low, z, y), add_side(mesh, low + x, y, z);
  return mesh;
}

// A peg: a cylinder with a round end.
void add_peg(const RigidShape& shape, const dvec3& foot, TriangleMesh& mesh) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  std::vector<dvec2> rings{{shape.peg_radius, 0.0}};  // radius, height
  for (int k = 0; k < kCap; ++k) {
    const double angle = 0.25 * kFullTurn * k / kCap;
    rings.emplace_back(shape.peg_radius * elementary::cos(angle),
                       shape.peg_height - shape.peg_radius * (1.0 - elementary::sin(angle)));
  }
  for (const dvec2& ring : rings)
    for (int k = 0; k < kRound; ++k) {
      const double angle = kFullTurn * k / kRound;
      mesh.positions.emplace_back(foot +
                                  dvec3(ring.x * elementary::cos(angle), ring.x * elementary::sin(angle), ring.y));
    }
  const auto foot_middle = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.emplace_back(foot), mesh.positions.emplace_back(foot + dvec3(0.0, 0.0, shape.peg_height));
  const auto last = first + static_cast<std::uint32_t>(kRound * (rings.size() - 1));
  for (std::uint32_t k = 0; k < kRound; ++k) {
    const std::uint32_t next = (k + 1) % kRound;
    for (std::uint32_t ring = first; ring < last; ring += kRound)
      add_quad(mesh, ring + k, ring + next, ring + kRound + next, ring + kRound + k);
    mesh.faces.emplace_back(first + next, first + k, foot_middle);
    mesh.faces.emplace_back(last + k, last + next, foot_middle + 1);
  }
}

RigidPiece box_corners(const dvec3& size, double round, const dvec3& middle) {
  RigidPiece piece{{}, round};
  const dvec3 h = 0.5 * size - round;
  for (int k = 0; k < 8; ++k)
    piece.corners.push_back(middle + h * dvec3(k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k & 4 ? 1.0 : -1.0));
  return piece;
}

dvec3 box_middle(const RigidShape& shape) {
  return shape.form == RigidForm::Board ? dvec3(0.0, 0.0, -0.5 * shape.size.z) : dvec3(0.0);
}

}  // namespace

std::string_view name_of(RigidForm form) {
  return form == RigidForm::Box ? "box" : form == RigidForm::Ring ? "ring" : "board";
}

std::string rigid_fault(const RigidShape& shape) {
  const double round = shape.round;
  if (!(round >= kLeastRound)) return "round_mm must be at least 0.1";
  if (shape.form == RigidForm::Ring) {
    if (!(shape.wall > 2.0 * round && shape.height > 2.0 * round))
      return "the wall and the height of a ring must be more than twice round_mm";
    if (!(inner_radius(shape) > 1.25 * shape.wall))
      return fmt::format("a wall of {:g} mm leaves no hole in a ring whose side is {:g} mm", shape.wall * 1e3,
                         shape.side * 1e3);
    return "";
  }
  for (int axis = 0; axis < 3; ++axis)
    if (!(shape.size[axis] > 2.0 * round)) return "each size_mm must be more than twice round_mm";
  if (shape.form == RigidForm::Box) return "";
  if (!(shape.peg_height > 2.0 * shape.peg_radius)) return "pegs must be higher than they are wide";
  for (const dvec3& peg : shape.pegs)
    if (!(std::abs(peg.x) + shape.peg_radius <= 0.5 * shape.size.x &&
          std::abs(peg.y) + shape.peg_radius <= 0.5 * shape.size.y && peg.z == 0.0))
      return fmt::format("the peg at {:g}, {:g}, {:g} mm does not stand on the board", peg.x * 1e3, peg.y * 1e3,
                         peg.z * 1e3);
  return "";
}

TriangleMesh own_surface(const RigidShape& shape) {
  if (shape.form == RigidForm::Ring) return ring_surface(shape);
  TriangleMesh mesh = box_surface(shape.size, box_middle(shape));
  if (shape.form == RigidForm::Board)
    for (const dvec3& peg : shape.pegs) add_peg(shape, peg, mesh);
  return mesh;
}

std::vector<RigidPiece> own_pieces(const RigidShape& shape) {
  if (shape.form == RigidForm::Ring) return ring_pieces(shape);
  std::vector<RigidPiece> pieces{box_corners(shape.size, shape.round, box_middle(shape))};
  if (shape.form == RigidForm::Board)
    for (const dvec3& peg : shape.pegs)
      pieces.push_back({{peg, peg + dvec3(0.0, 0.0, shape.peg_height - shape.peg_radius)}, shape.peg_radius});
  return pieces;
}

glm::dmat3 turn_of(const RigidShape& shape) {
  glm::dquat turn(1.0, 0.0, 0.0, 0.0);
  for (int axis = 0; axis < 3; ++axis) {
    dvec3 about(0.0);
    about[axis] = 1.0;
    if (shape.turn_deg[axis] != 0.0) turn = turn_about(about, kFullTurn * shape.turn_deg[axis] / 360.0) * turn;
  }
  return glm::mat3_cast(turn);
}

std::vector<glm::dvec3> peg_feet(const RigidShape& shape) {
  const RigidFrame frame{turn_of(shape), shape.at};
  std::vector<glm::dvec3> feet;
  if (shape.form != RigidForm::Board) return feet;
  for (const glm::dvec3& peg : shape.pegs) feet.push_back(frame.to_world(peg));
  return feet;
}

TriangleMesh rigid_surface(const RigidShape& shape) {
  TriangleMesh mesh = own_surface(shape);
  const RigidFrame frame{turn_of(shape), shape.at};
  for (glm::vec3& p : mesh.positions) p = glm::vec3(frame.to_world(glm::dvec3(p)));
  return mesh;
}

}  // namespace trocar
