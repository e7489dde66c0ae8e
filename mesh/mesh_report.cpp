#include "mesh/mesh_report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "geometry/error.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {
namespace {

bool finite(const glm::vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

void require_sound_arrays(const MeshView& organ) {
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

// One half-edge for each kind of fault; kNoHalfEdge when there is none.
struct Examples {
  std::uint32_t open = kNoHalfEdge, unbalanced = kNoHalfEdge, inconsistent = kNoHalfEdge;
};

std::uint32_t first_of(const HalfEdges& adjacency, EdgeKind kind) {
  const auto found = std::find(adjacency.kind.begin(), adjacency.kind.end(), kind);
  return found == adjacency.kind.end() ? kNoHalfEdge : static_cast<std::uint32_t>(found - adjacency.kind.begin());
}

// Several solids may share one edge: then equal numbers of faces run along it in both directions.
void count_unbalanced(const HalfEdges& adjacency, SolidCheck& check, Examples& examples) {
  struct Side {
    std::uint32_t low, high;
    int turn;
    std::uint32_t half_edge;
  };
  std::vector<Side> sides;
  for (std::uint32_t h = 0; h < adjacency.kind.size(); ++h) {
    if (adjacency.kind[h] != EdgeKind::NonManifold) continue;
    const std::uint32_t from = adjacency.vertex[h], to = adjacency.end(h);
    sides.push_back({std::min(from, to), std::max(from, to), from < to ? 1 : -1, h});
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.half_edge) < std::tie(b.low, b.high, b.half_edge);
  });
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    int turns = 0;
    for (; end < sides.size() && sides[end].low == sides[begin].low && sides[end].high == sides[begin].high; ++end)
      turns += sides[end].turn;
    if (turns == 0) continue;
    ++check.unbalanced_edges;
    examples.unbalanced = std::min(examples.unbalanced, sides[begin].half_edge);
  }
}

double signed_volume(const MeshView& organ) {
  if (organ.faces.empty()) return 0.0;
  const glm::dvec3 base(organ.positions[organ.faces[0].x]);
  double six_volumes = 0.0;
  for (const glm::uvec3& face : organ.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    six_volumes += glm::dot(t.a - base, glm::cross(t.b - base, t.c - base));
  }
  return six_volumes / 6.0;
}

std::string position_of(const MeshView& organ, const HalfEdges& adjacency, std::uint32_t h) {
  const std::uint32_t from = adjacency.vertex[h], to = adjacency.end(h);
  const glm::vec3 middle = 500.f * (organ.positions[from] + organ.positions[to]);
  return fmt::format("edge {}-{} of face {}, near ({:.1f}, {:.1f}, {:.1f}) mm", from, to, face_of(h), middle.x,
                     middle.y, middle.z);
}

std::string fault_of(const MeshView& organ, const HalfEdges& adjacency, const SolidCheck& check,
                     const Examples& examples) {
  const auto s = [](std::size_t count) { return count == 1 ? "" : "s"; };
  if (organ.faces.empty()) return "the organ has no faces; tissue needs a closed surface to fill";
  if (check.open_edges > 0)
    return fmt::format(
        "the organ's surface has a hole at {} ({} open edge{} in all); close it, for instance with `trocar mesh "
        "repair`",
        position_of(organ, adjacency, examples.open), check.open_edges, s(check.open_edges));
  if (check.unbalanced_edges > 0)
    return fmt::format(
        "three or more faces of the organ meet at {} without bounding a solid ({} such edge{}); remove the surplus "
        "faces",
        position_of(organ, adjacency, examples.unbalanced), check.unbalanced_edges, s(check.unbalanced_edges));
  if (check.inconsistent_edges > 0)
    return fmt::format("two faces of the organ disagree about the outside at {} ({} such edge{}); orient the mesh",
                       position_of(organ, adjacency, examples.inconsistent), check.inconsistent_edges,
                       s(check.inconsistent_edges));
  if (check.volume < 0.0)
    return fmt::format("the organ is inside out (volume {:.3g} ml); flip its faces", check.volume * 1e6);
  if (!(check.volume > 0.0)) return "the organ encloses no volume; tissue needs a solid to fill";
  return "";
}

}  // namespace

SolidCheck check_solid(const MeshView& welded, const HalfEdges& adjacency) {
  SolidCheck check;
  Examples examples{.open = first_of(adjacency, EdgeKind::Boundary),
                    .inconsistent = first_of(adjacency, EdgeKind::Inconsistent)};
  check.open_edges = adjacency.boundary_edges;
  check.non_manifold_edges = adjacency.non_manifold_edges;
  check.inconsistent_edges = adjacency.inconsistent_edges;
  count_unbalanced(adjacency, check, examples);
  check.volume = signed_volume(welded);
  check.fault = fault_of(welded, adjacency, check, examples);
  return check;
}

SolidCheck check_solid(const MeshView& organ) {
  const std::vector<glm::uvec3> faces = welded_faces(organ.positions, organ.faces);
  return check_solid({organ.positions, faces}, half_edges(organ.positions.size(), faces));
}

double closed_volume(const MeshView& organ) {
  require_sound_arrays(organ);
  const SolidCheck check = check_solid(organ);
  if (!check.fault.empty()) throw InputError(check.fault);
  return check.volume;
}

namespace {

std::vector<Hole> holes_of(const MeshView& mesh, const HalfEdges& adjacency) {
  const BoundaryLoops loops = boundary_loops(adjacency);
  std::vector<Hole> holes;
  for (std::size_t k = 0; k < loops.count(); ++k) {
    Hole hole;
    for (std::uint32_t h : loops.of_loop(k)) {
      const glm::dvec3 from(mesh.positions[adjacency.vertex[h]]), to(mesh.positions[adjacency.end(h)]);
      hole.length += glm::distance(from, to);
      hole.position += from;
      ++hole.edges;
    }
    hole.position /= static_cast<double>(hole.edges);
    holes.push_back(hole);
  }
  std::stable_sort(holes.begin(), holes.end(), [](const Hole& a, const Hole& b) { return a.length > b.length; });
  return holes;
}

Topology topology_of(const MeshView& mesh, const HalfEdges& adjacency) {
  Topology topology;
  topology.edges = adjacency.edges;
  topology.boundary_edges = adjacency.boundary_edges;
  topology.inconsistent_edges = adjacency.inconsistent_edges;
  topology.non_manifold_edges = adjacency.non_manifold_edges;
  topology.non_manifold_vertices = adjacency.non_manifold_vertices;
  const auto unused = std::count(adjacency.outgoing.begin(), adjacency.outgoing.end(), kNoHalfEdge);
  topology.used_vertices = adjacency.outgoing.size() - static_cast<std::size_t>(unused);
  const auto degenerate = std::count(adjacency.kind.begin(), adjacency.kind.end(), EdgeKind::Degenerate) / 3;
  topology.euler_characteristic = static_cast<std::int64_t>(topology.used_vertices) -
                                  static_cast<std::int64_t>(topology.edges) +
                                  static_cast<std::int64_t>(mesh.faces.size()) - degenerate;
  const std::vector<std::uint32_t> components = face_components(mesh.positions.size(), mesh.faces);
  for (std::uint32_t component : components)
    topology.components = std::max<std::size_t>(topology.components, component + 1);
  topology.holes = holes_of(mesh, adjacency);
  return topology;
}

void count_bad_faces(const MeshView& welded, MeshReport& report) {
  std::vector<std::array<std::uint32_t, 3>> corners;
  corners.reserve(welded.faces.size());
  for (const glm::uvec3& face : welded.faces) {
    corners.push_back({face.x, face.y, face.z});
    std::sort(corners.back().begin(), corners.back().end());
    const bool first = report.degenerate_faces() == 0;
    if (face.x == face.y || face.y == face.z || face.z == face.x) {
      ++report.repeated_corner_faces;
    } else if (!has_area(welded.positions[face.x], welded.positions[face.y], welded.positions[face.z])) {
      ++report.zero_area_faces;
    }
    if (first && report.degenerate_faces() > 0) report.first_degenerate = corners.size() - 1;
  }
  std::vector<std::uint32_t> order(corners.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::tie(corners[a], a) < std::tie(corners[b], b); });
  report.first_duplicate = corners.size();
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (corners[order[k]] != corners[order[k - 1]]) continue;
    ++report.duplicate_faces;
    report.first_duplicate = std::min<std::size_t>(report.first_duplicate, order[k]);
  }
}

// Computes the volume by the divergence theorem, relative to the centre of the box, because far from the origin the
// terms would cancel.
void measure(const MeshView& welded, MeshReport& report) {
  if (welded.faces.empty()) return;
  report.low = report.high = glm::dvec3(welded.positions[welded.faces[0].x]);
  std::vector<double> edges;
  for (const glm::uvec3& face : welded.faces) {
    for (int corner = 0; corner < 3; ++corner) {
      const glm::dvec3 from(welded.positions[face[corner]]), to(welded.positions[face[(corner + 1) % 3]]);
      report.low = glm::min(report.low, from);
      report.high = glm::max(report.high, from);
      edges.push_back(glm::distance(from, to));
    }
  }
  std::nth_element(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(edges.size() / 2), edges.end());
  report.median_edge = edges[edges.size() / 2];

  const glm::dvec3 middle = 0.5 * (report.low + report.high);
  const std::vector<std::uint32_t> components = face_components(welded.positions.size(), welded.faces);
  std::vector<double> volumes(report.welded.components, 0.0);
  for (std::size_t f = 0; f < welded.faces.size(); ++f) {
    const Triangle t = triangle_of(welded.positions, welded.faces[f]);
    report.area += 0.5 * glm::length(glm::cross(t.b - t.a, t.c - t.a));
    volumes[components[f]] += glm::dot(t.a - middle, glm::cross(t.b - middle, t.c - middle)) / 6.0;
  }
  for (double volume : volumes) {
    report.volume += volume;
    report.inward_pieces += volume < 0.0;
  }
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string crossing_fault(const MeshReport& report) {
  const std::string first =
      report.listed_pairs.empty()
          ? ""
          : fmt::format(" (the first: faces {} and {})", report.listed_pairs[0].first, report.listed_pairs[0].second);
  const char* remedy = "cut them apart where the mesh was made";
  if (report.crossing_pairs == 0)
    return fmt::format("{} of the organ fold over each other{}; {}",
                       counted(report.folded_pairs, "pair of neighbouring faces", "pairs of neighbouring faces"), first,
                       remedy);
  return fmt::format("{} of the organ cross{}; {}", counted(report.crossing_pairs, "pair of faces", "pairs of faces"),
                     first, remedy);
}

// What a sound surface must not have, beyond what keeps tissue from filling it.
std::string verdict_of(const MeshReport& report) {
  const Topology& topology = report.welded;
  const char* repair = "`trocar mesh repair`";
  if (!report.solid.fault.empty()) return report.solid.fault;
  if (report.degenerate_faces() > 0)
    return fmt::format("{} no area (the first is face {}); replace them, for instance with {}",
                       counted(report.degenerate_faces(), "face of the organ has", "faces of the organ have"),
                       report.first_degenerate, repair);
  if (report.duplicate_faces > 0)
    return fmt::format("{} the corners of an earlier face (the first is face {}); remove them, for instance with {}",
                       counted(report.duplicate_faces, "face of the organ has", "faces of the organ have"),
                       report.first_duplicate, repair);
  if (topology.non_manifold_edges > 0)
    return fmt::format("four or more faces of the organ meet at {}; move its parts apart or join them",
                       counted(topology.non_manifold_edges, "edge", "edges"));
  if (topology.non_manifold_vertices > 0)
    return fmt::format("separate parts of the organ meet at {}; move them apart or join them",
                       counted(topology.non_manifold_vertices, "point", "points"));
  if (!report.outward())
    return fmt::format("{} inside out; flip the faces, for instance with {}",
                       counted(report.inward_pieces, "piece of the organ is", "pieces of the organ are"), repair);
  return report.crossing_pairs + report.folded_pairs > 0 ? crossing_fault(report) : "";
}

struct Unit {
  SizeUnit unit;
  const char* name;
  double millimetres;
};
constexpr Unit kUnits[] = {{SizeUnit::Millimetre, "millimetres", 1.0},
                           {SizeUnit::Centimetre, "centimetres", 10.0},
                           {SizeUnit::Metre, "metres", 1e3},
                           {SizeUnit::Micrometre, "micrometres", 1e-3}};
constexpr Unit kInches{SizeUnit::Unclear, "inches", 25.4};  // only a file that says so

std::string length_text(double metres) {
  return metres < 1.0 ? fmt::format("{:.3g} mm", metres * 1e3) : fmt::format("{:.0f} mm", metres * 1e3);
}

}  // namespace

bool credible_size(double longest_side) { return longest_side >= kSmallestOrgan && longest_side <= kLargestOrgan; }

SizeUnit suggested_unit(double longest_side) {
  for (const Unit& unit : kUnits)
    if (credible_size(longest_side * unit.millimetres * 1e-3)) return unit.unit;
  return SizeUnit::Unclear;
}

FileUnit unit_of_file(double longest_side, double mm_per_unit, const MeshFacts& facts) {
  for (const Unit& unit : {kUnits[0], kUnits[1], kUnits[2], kUnits[3], kInches})
    if (facts.mm_per_unit == unit.millimetres) return {unit.name, unit.millimetres, true};
  const SizeUnit suggested = suggested_unit(longest_side * 1e3 / mm_per_unit / facts.mm_per_number);
  for (const Unit& unit : kUnits)
    if (unit.unit == suggested) return {unit.name, unit.millimetres / facts.mm_per_number, false};
  return {"unclear", 0.0, false};
}

std::string size_fault(double longest_side, double mm_per_unit, const MeshFacts& facts, const std::string& setting) {
  if (credible_size(longest_side)) return "";
  const std::string size = fmt::format("the longest side is {}, but an organ measures {:g} to {:g} mm",
                                       length_text(longest_side), kSmallestOrgan * 1e3, kLargestOrgan * 1e3);
  FileUnit unit = unit_of_file(longest_side, mm_per_unit, facts);
  if (unit.stated && std::abs(unit.mm_per_unit / mm_per_unit - 1.0) < 1e-9)  // in use, and does not help
    unit = unit_of_file(longest_side, mm_per_unit, MeshFacts{{}, {}, 0.0, facts.mm_per_number});
  if (unit.mm_per_unit > 0.0)
    return fmt::format("{}; the file is {} in {}: set {} {:g}", size, unit.stated ? "said to be" : "probably",
                       unit.name, setting, unit.mm_per_unit);
  if (!(longest_side > 0.0)) return size;
  const double per_metre = mm_per_unit / longest_side;
  return fmt::format("{}; set {} between {:.3g} and {:.3g}, the millimetres per unit of the file", size,
                     setting.substr(0, setting.find(' ')), kSmallestOrgan * per_metre, kLargestOrgan * per_metre);
}

bool MeshReport::fit_for_simulation() const { return sound() && solid.fault.empty() && credible_size(longest_side()); }

MeshReport mesh_report(const MeshView& mesh, const ReportOptions& options) {
  MeshReport report;
  report.vertices = mesh.positions.size();
  report.faces = mesh.faces.size();
  report.metres_per_unit = options.metres_per_unit;
  const Weld welding = weld(mesh.positions);
  report.repeated_positions = mesh.positions.size() - welding.point_of.size();
  const std::vector<glm::uvec3> faces = welded_faces(welding, mesh.faces);
  const MeshView welded{mesh.positions, faces};
  const HalfEdges adjacency = half_edges(mesh.positions.size(), faces);

  report.welded = topology_of(welded, adjacency);
  report.topology =
      report.repeated_positions == 0 ? report.welded : topology_of(mesh, half_edges(mesh.positions.size(), mesh.faces));
  report.solid = check_solid(welded, adjacency);
  count_bad_faces(welded, report);
  measure(welded, report);
  report.suggested = suggested_unit(report.longest_side() / options.metres_per_unit);
  if (options.find_crossings) {
    SelfCrossings crossings = self_crossings(welded, options.listed_pairs);
    report.crossing_pairs = crossings.crossing;
    report.folded_pairs = crossings.folded;
    report.listed_pairs = std::move(crossings.pairs);
  }
  report.fault = verdict_of(report);
  return report;
}

}  // namespace trocar
