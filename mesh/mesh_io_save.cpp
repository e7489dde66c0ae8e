// Writes STL, OBJ, PLY and legacy VTK, and moves a finished file to its final path. Text has 9 significant digits and
// binary numbers are doubles, so that a float in metres is restored exactly. Only binary STL, whose numbers are floats,
// may differ in the last bit.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "geometry/error.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "mesh/whole_file.hpp"

namespace trocar {
namespace mesh_io {
namespace {

constexpr char kTitle[] = "Trocar mesh";

void add_text(std::string& out, double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 9);
  out.append(digits, end);
}

void add_text(std::string& out, const glm::dvec3& p) {
  for (int axis = 0; axis < 3; ++axis) {
    if (axis > 0) out += ' ';
    add_text(out, p[axis]);
  }
}

// Appends the value's bytes in the given order.
template <class Value>
void add_bytes(std::string& out, Value value, std::endian order) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  if (order != std::endian::native) std::reverse(bytes, bytes + sizeof value);
  out.append(bytes, sizeof value);
}

glm::dvec3 normal_of(const FileMesh& mesh, const glm::uvec3& face) {
  const glm::dvec3 a = mesh.points[face.x];
  const glm::dvec3 normal = glm::cross(mesh.points[face.y] - a, mesh.points[face.z] - a);
  const double length = glm::length(normal);
  return length > 0.0 ? normal / length : glm::dvec3(0.0);
}

std::string ascii_stl(const FileMesh& mesh) {
  std::string out = std::string("solid ") + kTitle + "\n";
  for (const glm::uvec3& face : mesh.faces) {
    out += "facet normal ";
    add_text(out, normal_of(mesh, face));
    out += "\n outer loop\n";
    for (int corner = 0; corner < 3; ++corner) {
      out += "  vertex ";
      add_text(out, mesh.points[face[corner]]);
      out += '\n';
    }
    out += " endloop\nendfacet\n";
  }
  return out + "endsolid " + kTitle + "\n";
}

std::string binary_stl(const FileMesh& mesh) {
  std::string out = kTitle;
  out.resize(80, '\0');
  add_bytes(out, static_cast<std::uint32_t>(mesh.faces.size()), std::endian::little);
  const auto add = [&out](const glm::dvec3& p) {
    for (int axis = 0; axis < 3; ++axis) add_bytes(out, static_cast<float>(p[axis]), std::endian::little);
  };
  for (const glm::uvec3& face : mesh.faces) {
    add(normal_of(mesh, face));
    for (int corner = 0; corner < 3; ++corner) add(mesh.points[face[corner]]);
    out.append(2, '\0');
  }
  return out;
}

}  // namespace

std::string write_stl(const FileMesh& mesh, MeshEncoding encoding) {
  return encoding == MeshEncoding::Ascii ? ascii_stl(mesh) : binary_stl(mesh);
}

std::string write_obj(const FileMesh& mesh, MeshEncoding) {
  std::string out = std::string("# ") + kTitle + "\n";
  for (const glm::dvec3& point : mesh.points) {
    out += "v ";
    add_text(out, point);
    out += '\n';
  }
  for (const glm::uvec3& face : mesh.faces) {
    out += "f " + std::to_string(face.x + 1ull) + ' ' + std::to_string(face.y + 1ull) + ' ' +
           std::to_string(face.z + 1ull) + '\n';
  }
  return out;
}

std::string write_ply(const FileMesh& mesh, MeshEncoding encoding) {
  const bool ascii = encoding == MeshEncoding::Ascii;
  const bool big = encoding == MeshEncoding::BinaryBigEndian;
  std::string out = std::string("ply\nformat ") +
                    (ascii ? "ascii"
                     : big ? "binary_big_endian"
                           : "binary_little_endian") +
                    " 1.0\ncomment " + kTitle + "\nelement vertex " + std::to_string(mesh.points.size()) +
                    "\nproperty double x\nproperty double y\nproperty double z\nelement face " +
                    std::to_string(mesh.faces.size()) + "\nproperty list uchar uint vertex_indices\nend_header\n";
  const std::endian order = big ? std::endian::big : std::endian::little;
  for (const glm::dvec3& point : mesh.points) {
    if (ascii) {
      add_text(out, point);
      out += '\n';
      continue;
    }
    for (int axis = 0; axis < 3; ++axis) add_bytes(out, point[axis], order);
  }
  for (const glm::uvec3& face : mesh.faces) {
    if (ascii) {
      out += "3 " + std::to_string(face.x) + ' ' + std::to_string(face.y) + ' ' + std::to_string(face.z) + '\n';
      continue;
    }
    out += '\3';
    for (int corner = 0; corner < 3; ++corner) add_bytes(out, face[corner], order);
  }
  return out;
}

std::string write_vtk(const FileMesh& mesh, MeshEncoding encoding) {
  const bool ascii = encoding == MeshEncoding::Ascii;
  std::string out = std::string("# vtk DataFile Version 3.0\n") + kTitle + (ascii ? "\nASCII" : "\nBINARY") +
                    "\nDATASET POLYDATA\nPOINTS " + std::to_string(mesh.points.size()) + " double\n";
  for (const glm::dvec3& point : mesh.points) {
    if (ascii) {
      add_text(out, point);
      out += '\n';
      continue;
    }
    for (int axis = 0; axis < 3; ++axis) add_bytes(out, point[axis], std::endian::big);
  }
  out += "\nPOLYGONS " + std::to_string(mesh.faces.size()) + ' ' + std::to_string(4 * mesh.faces.size()) + '\n';
  for (const glm::uvec3& face : mesh.faces) {
    if (ascii) {
      out += "3 " + std::to_string(face.x) + ' ' + std::to_string(face.y) + ' ' + std::to_string(face.z) + '\n';
      continue;
    }
    add_bytes(out, std::int32_t{3}, std::endian::big);
    for (int corner = 0; corner < 3; ++corner) {
      add_bytes(out, static_cast<std::int32_t>(face[corner]), std::endian::big);
    }
  }
  return out + (ascii ? "" : "\n");
}

void commit_file(const std::filesystem::path& file, const std::string& bytes) {
  WholeFile out(file);
  out.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.commit();
}

}  // namespace mesh_io
}  // namespace trocar
