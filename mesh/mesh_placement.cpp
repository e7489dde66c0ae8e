#include "mesh/mesh_placement.hpp"

#include <cmath>
#include <optional>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// Columns: where the x, y and z axis of the file point in a scene.
glm::dmat3 axes_of(MeshAxes axes) {
  switch (axes) {
    case MeshAxes::Lps:
      return {glm::dvec3(1, 0, 0), glm::dvec3(0, 0, -1), glm::dvec3(0, 1, 0)};
    case MeshAxes::Ras:
      return {glm::dvec3(-1, 0, 0), glm::dvec3(0, 0, 1), glm::dvec3(0, 1, 0)};
    case MeshAxes::Trocar:
      break;
  }
  return glm::dmat3(1.0);
}

// The rotation about a coordinate axis. Whole quarter turns are taken out of the angle, so that they are exact.
glm::dmat3 about(int axis, double degrees) {
  const double rest = std::remainder(degrees, 90.0), angle = glm::radians(rest);
  const double sine = elementary::sin(angle), cosine = elementary::cos(angle);
  const int quarters = static_cast<int>(std::floor((degrees - rest) / 90.0 + 0.5)) & 3;
  const double cosines[] = {cosine, -sine, -cosine, sine}, sines[] = {sine, cosine, -sine, -cosine};
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  glm::dmat3 matrix(1.0);
  matrix[u][u] = matrix[v][v] = cosines[quarters];
  matrix[u][v] = sines[quarters];
  matrix[v][u] = -sines[quarters];
  return matrix;
}

}  // namespace

std::string_view name_of(MeshAxes axes) {
  return axes == MeshAxes::Lps ? "LPS" : axes == MeshAxes::Ras ? "RAS" : "trocar";
}

glm::dmat3 rotation_of(const MeshPlacement& placement) {
  const glm::dvec3& turn = placement.rotate_deg;
  return about(2, turn.z) * about(1, turn.y) * about(0, turn.x) * axes_of(placement.axes);
}

LoadedMesh load_placed(const std::filesystem::path& file, const MeshPlacement& placement, const std::string& part) {
  // Without a turn the positions are not multiplied, so that they keep their bits, signs of zeros included.
  const bool turned = placement.axes != MeshAxes::Trocar || placement.rotate_deg != glm::dvec3(0.0);
  std::optional<glm::dmat3> rotation;
  if (turned) rotation = rotation_of(placement);
  LoadedMesh loaded = load_turned(file, placement.mm_per_unit * kMillimetre, rotation, part);
  for (glm::vec3& position : loaded.mesh.positions) position += placement.offset;
  return loaded;
}

}  // namespace trocar
