#include "mesh/organ_maker.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "geometry/error.hpp"
#include "mesh/even_remesh.hpp"
#include "mesh/organ_shapes.hpp"

namespace trocar {
namespace {

constexpr int kFewestFaces = 2000, kMostFaces = 4000000;
constexpr int kFewestOfNode = 200;  // a lymph node is small
constexpr double kMetre = 1e-3;     // m per mm of the shapes

// Spreads the lowest 21 bits so that each occupies every third bit.
std::uint64_t spread(std::uint64_t bits) {
  std::uint64_t result = 0;
  for (int i = 0; i < 21; ++i) result |= (bits >> i & 1) << (3 * i);
  return result;
}

std::uint64_t morton(const glm::dvec3& p, const FieldBox& box) {
  const glm::dvec3 t = glm::clamp((p - box.low) / (box.high - box.low), 0.0, 1.0) * 2097151.0;
  return spread(std::uint64_t(t.x)) | spread(std::uint64_t(t.y)) << 1 | spread(std::uint64_t(t.z)) << 2;
}

// Returns the order along the space-filling curve; equal codes keep their order.
std::vector<std::uint32_t> curve_order(const std::vector<std::uint64_t>& codes) {
  std::vector<std::uint32_t> order(codes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return codes[a] < codes[b]; });
  return order;
}

TriangleMesh numbered_along_curve(const RawSurface& raw, const FieldBox& box) {
  std::vector<std::uint64_t> codes;
  for (const glm::dvec3& p : raw.positions) codes.push_back(morton(p, box));
  TriangleMesh mesh;
  std::vector<std::uint32_t> number(raw.positions.size());
  for (const std::uint32_t v : curve_order(codes)) {
    number[v] = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.positions.emplace_back(kMetre * raw.positions[v]);
  }
  codes.clear();
  for (const glm::uvec3& f : raw.faces)
    codes.push_back(morton((raw.positions[f.x] + raw.positions[f.y] + raw.positions[f.z]) / 3.0, box));
  for (const std::uint32_t f : curve_order(codes)) {
    const glm::uvec3& corners = raw.faces[f];
    mesh.faces.emplace_back(number[corners.x], number[corners.y], number[corners.z]);
  }
  return mesh;
}

TriangleMesh make(double (*distance)(const glm::dvec3&), const FieldBox& box, int faces, int fewest = kFewestFaces) {
  if (faces < fewest || faces > kMostFaces)
    throw InputError("an organ of " + std::to_string(faces) + " faces cannot be made; ask for " +
                     std::to_string(fewest) + " to " + std::to_string(kMostFaces));
  const SampledField field(box, distance);
  return numbered_along_curve(even_remesh(iso_surface(field), field, static_cast<std::size_t>(faces)), box);
}

}  // namespace

TriangleMesh make_liver(const OrganParams& params) { return make(liver_distance, liver_box(), params.faces); }

TriangleMesh make_stomach(const OrganParams& params) { return make(stomach_distance, stomach_box(), params.faces); }

TriangleMesh make_gallbladder(const OrganParams& params) {
  return make(gallbladder_distance, gallbladder_box(), params.faces);
}

namespace {

struct Neighbour {
  std::string_view name;
  double (*distance)(const glm::dvec3&);
  FieldBox (*box)();
};
constexpr Neighbour kNeighbours[] = {{"colon", colon_distance, colon_box},
                                     {"omentum", omentum_distance, omentum_box},
                                     {"lesser-omentum", lesser_omentum_distance, lesser_omentum_box},
                                     {"retroperitoneum", retroperitoneum_distance, retroperitoneum_box},
                                     {"diaphragm", diaphragm_distance, diaphragm_box}};

}  // namespace

TriangleMesh make_organ(std::string_view name, const OrganParams& params) {
  if (name == "liver") return make_liver(params);
  if (name == "stomach") return make_stomach(params);
  if (name == "gallbladder") return make_gallbladder(params);
  if (name == "gallbladder-with-stone") return make(gallbladder_with_stone_distance, gallbladder_box(), params.faces);
  if (name == "lymph-node") return make(lymph_node_distance, lymph_node_box(), params.faces, kFewestOfNode);
  for (const Neighbour& one : kNeighbours)
    if (name == one.name) return make(one.distance, one.box(), params.faces);
  throw InputError("there is no organ called '" + std::string(name) +
                   "'; ask for liver, stomach, gallbladder, gallbladder-with-stone, lymph-node, colon, omentum, "
                   "lesser-omentum, retroperitoneum, "
                   "diaphragm, superellipsoid "
                   "or supertoroid");
}

}  // namespace trocar
