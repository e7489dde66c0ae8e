#include "deform/lattice_report.hpp"

#include <algorithm>
#include <numeric>

namespace trocar {
namespace {

constexpr float kWhole = 0.999f;

// Counts the connected components of the nodes; springs connect them.
std::size_t count_pieces(const TissueModel& model) {
  std::vector<std::uint32_t> parent(model.rest.size());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root_of = [&](std::uint32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for_each_spring(model, [&](const Spring& s) { parent[root_of(s.a)] = root_of(s.b); });
  std::size_t pieces = 0;
  for (std::uint32_t node = 0; node < parent.size(); ++node) pieces += parent[node] == node ? 1 : 0;
  return pieces;
}

// Lengths of unbroken runs of cells along each axis.
std::vector<int> run_lengths(const Lattice& lattice) {
  std::vector<int> lengths;
  for (int axis = 0; axis < 3; ++axis) {
    glm::ivec3 step(0);
    step[axis] = 1;
    const auto has = [&](const glm::ivec3& at) {
      return at[axis] >= 0 && at[axis] < lattice.size[axis] && lattice.cell_of[lattice.flat(at)] >= 0;
    };
    for (const LatticeCell& cell : lattice.cells) {
      if (has(cell.at - step)) continue;
      int length = 1;
      for (glm::ivec3 at = cell.at + step; has(at); at += step) ++length;
      lengths.push_back(length);
    }
  }
  return lengths;
}

}  // namespace

LatticeReport lattice_report(const TissueModel& model, std::span<const glm::vec3> rest_vertices) {
  LatticeReport report;
  report.cells = model.lattice.cells.size();
  report.nodes = model.rest.size();
  report.springs = spring_count(model);
  const double cell_volume = model.lattice.spacing * model.lattice.spacing * model.lattice.spacing;
  for (const LatticeCell& cell : model.lattice.cells) {
    report.whole += (cell.fullness > kWhole ? 1.0 : 0.0) / static_cast<double>(report.cells);
    report.volume += cell.fullness * cell_volume;
  }
  for (const float mass : model.mass) report.mass += mass;
  report.organ_volume = report.mass / model.params.density;
  report.pieces = count_pieces(model);
  std::vector<int> lengths = run_lengths(model.lattice);
  std::nth_element(lengths.begin(), lengths.begin() + lengths.size() / 2, lengths.end());
  report.cells_across = lengths[lengths.size() / 2];
  std::vector<glm::vec3> embedded(rest_vertices.size());
  embed_surface(model, model.rest, embedded);
  for (std::size_t v = 0; v < rest_vertices.size(); ++v)
    report.worst_embedding = std::max(report.worst_embedding, double(glm::distance(embedded[v], rest_vertices[v])));
  report.longest_substep = model.longest_substep;
  report.substeps_per_frame = substep_count(model, 1.f / 60.f);
  return report;
}

}  // namespace trocar
