#include "sim/hdf5/recording_rate.hpp"

#include <algorithm>

#include "deform/lattice.hpp"
#include "mesh/weld.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/scene/organ_surface.hpp"
#include "sim/session/tick_clock.hpp"

namespace trocar {
namespace {

// A press, a grasp and a burn touch some ten to a few hundred faces; most tools touch none most of the time.
constexpr double kTouchesOfAFrame = 60.0;

double row_bytes(const GrowingTable& table) {
  double bytes = static_cast<double>(bytes_of(table.cell));
  for (const std::uint64_t cells : table.row_shape) bytes *= static_cast<double>(cells);
  return bytes;
}

// What every frame adds to these tables, and what every touch does.
double frame_bytes(const std::vector<GrowingTable>& tables) {
  double bytes = 0.0;
  for (const GrowingTable& table : tables) {
    if (table.rows == RowOf::Frame) bytes += row_bytes(table);
    if (table.rows == RowOf::Touch) bytes += kTouchesOfAFrame * row_bytes(table);
  }
  return bytes;
}

}  // namespace

double recording_rate(const Scene& scene) {
  const std::size_t tools = scene.instruments.size();
  double bytes = frame_bytes(session_tables(tools, stage_names().size())) + frame_bytes(later_tables(tools)) +
                 frame_bytes(clash_tables(tools)) + frame_bytes(bleed_tables(scene.organs.size()));
  double touches = 0.0;  // of one organ at a time
  for (const OrganScene& organ : scene.organs) {
    TriangleMesh mesh = surface_of(organ);
    mesh.faces = welded_faces(mesh.positions, mesh.faces);
    const std::size_t nodes = make_lattice(mesh.view(), organ.tissue.node_spacing).node_at.size();
    auto tables = organ_tables(organ.name, nodes, tools);
    const auto later = organ_later_tables(organ.name, tools);
    tables.insert(tables.end(), later.begin(), later.end());
    const double all = frame_bytes(tables);
    std::erase_if(tables, [](const GrowingTable& table) { return table.rows == RowOf::Touch; });
    bytes += frame_bytes(tables);
    touches = std::max(touches, all - frame_bytes(tables));
  }
  return scene.frame_rate * (bytes + touches);
}

}  // namespace trocar
