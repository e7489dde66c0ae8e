#include "sim/session/organ.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cpu_collision/queries.hpp"
#include "deform/cut/sculpt_steps.hpp"
#include "geometry/error.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {
namespace {

void find_unused(Organ& organ) {
  organ.unused.assign(organ.positions.size(), 1);
  for (const glm::uvec3& face : organ.mesh.faces)
    for (int corner = 0; corner < 3; ++corner) organ.unused[face[corner]] = 0;
}

TubeParams tube_params(const OrganScene& scene) {
  const TissueParams& tissue = scene.tissue;
  return {.radius = scene.tube->radius,
          .wall = scene.tube->wall,
          .youngs_modulus = static_cast<double>(tissue.youngs_modulus),
          .poisson = static_cast<double>(tissue.poisson_ratio),
          .density = static_cast<double>(tissue.density),
          .damping_time = static_cast<double>(tissue.damping_time),
          .drag = static_cast<double>(tissue.drag)};
}

// Marks the vertices of new walls as fully charred; skin faces that share these vertices look singed.
void char_walls(Organ& organ) {
  const LiveFaces& faces = organ.sculpture->faces;
  for (std::size_t slot = faces.size() - organ.sculpture->change.faces.new_faces; slot < faces.size(); ++slot) {
    if (faces.kind[slot] == FaceKind::Skin) continue;
    for (int corner = 0; corner < 3; ++corner) organ.charred[faces.corners[slot][corner]] = 1.f;
  }
}

}  // namespace

void restore_rods(Organ& organ) {
  if (!organ.tissue.tube.empty() && organ.sculpture)
    restore_rods(organ.tissue, node_parts(*organ.sculpture, organ.tissue.lattice));
}

void restore_sheet(Organ& organ) {
  if (organ.tissue.slab.empty()) return;
  restore_slab(organ.tissue.slab);
  std::copy(organ.mesh.positions.begin(), organ.mesh.positions.end(), organ.tissue.rest.begin());
}

void use_backend(Organ& organ, BackendMaker& backends, const std::string& backend) {
  organ.query = backends.make(backend);
  organ.query->rebuild({organ.positions, organ.mesh.faces});
}

void use_scan(Organ& organ) {
  organ.query = make_scan_query();
  organ.query->rebuild({organ.positions, organ.mesh.faces});
}

void follow_nodes(Organ& organ) {
  organ.skin.resize(organ.mesh.positions.size());
  PositionBox box = embed_surface(organ.tissue, organ.state.x, organ.skin);
  organ.positions = organ.skin;
  add_dents(organ.dents, organ.positions, box);
  organ.box = {box.low, box.high};
}

void follow_dents(Organ& organ, std::span<const std::span<const GraspedPoint>> held, float dt, DentedPlace& place) {
  const TissueState& state = organ.state;
  const std::vector<std::uint32_t>& first = organ.contacts.first;
  const float spacing = organ.tissue.params.node_spacing;
  const std::size_t parts = state.dents.size();
  for (std::size_t part = 0; part < parts && part + 1 < first.size(); ++part) {
    place.clear();
    const bool shows = state.dents[part].shift != glm::vec3(0.f);
    for (std::uint32_t i = first[part]; shows && i < first[part + 1]; ++i) {
      const PreparedPoint& c = organ.state.scratch.contacts[i];
      if (c.push == glm::vec3(0.f)) continue;
      place.points.push_back(c.core);
      place.add_face(organ.mesh.faces[index(organ.contacts.face_of[i])], organ.skin);
    }
    follow_dent(state.dents[part], place, spacing, dt, organ.dents[part]);
  }
  for (std::size_t tool = 0; tool < held.size() && tool < state.held_dents.size(); ++tool) {
    place.clear();
    const Dent& dent = state.held_dents[tool];
    for (const GraspedPoint& point : held[tool]) {
      place.points.push_back(organ.skin[point.vertex] - dent.shift);
      for (std::uint32_t k = organ.around.first[point.vertex]; k < organ.around.first[point.vertex + 1]; ++k)
        place.add_face(organ.mesh.faces[index(organ.around.face[k])], organ.skin);
    }
    follow_dent(dent, place, spacing, dt, organ.dents[parts + tool]);
  }
}

glm::vec3 deepest_dent(const Organ& organ, const PartTable& parts, std::size_t tool) {
  glm::vec3 deepest(0.f);
  if (tool + 1 >= parts.first.size()) return deepest;
  for (std::size_t part = parts.first[tool]; part < parts.first[tool + 1] && part < organ.state.dents.size(); ++part)
    if (const glm::vec3& shift = organ.state.dents[part].shift; glm::length(shift) > glm::length(deepest))
      deepest = shift;
  return deepest;
}

void AskedVolumes::split(const FrameVolumes& frame, std::span<const std::uint32_t> near_tools) {
  count = frame.volumes.size();
  near.clear(), far.clear(), near_k.clear(), far_k.clear();
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t tool = frame.parts.tool[frame.part_of_volume[k]];
    const bool is_near = std::binary_search(near_tools.begin(), near_tools.end(), tool);
    (is_near ? near : far).push_back(frame.volumes[k]);
    (is_near ? near_k : far_k).push_back(k);
  }
}

void ask(Organ& organ, const AskedVolumes& asked) {
  if (asked.anyone() || organ.query->position_buffer() != 0) organ.query->update(organ.positions);
  if (asked.anyone()) organ.query->submit(asked.near, TouchSet::Exact);
}

void take_answer(Organ& organ, AskedVolumes& asked, const FrameVolumes& frame) {
  asked.touches = {};
  asked.first.assign(asked.count + 1, 0);
  if (asked.anyone()) {
    const TouchList answer = organ.query->collect();
    asked.touches = answer.touches;
    for (std::size_t k = 0; k < asked.near.size(); ++k)
      asked.first[asked.near_k[k] + 1] = static_cast<std::uint32_t>(answer.of_tool(k).size());
    for (std::size_t k = 0; k < asked.count; ++k) asked.first[k + 1] += asked.first[k];
  }
  collect(asked.answer(), frame, organ.touched);
  organ.touches = {organ.touched.touches, organ.touched.tool_first};
  find_tip_faces(organ.touched, frame.parts, organ.tip_faces, organ.tip_first);
}

std::span<const FaceId> queried_ids(const Organ& organ) {
  return organ.topology == organ.topology_before ? organ.face_ids : organ.ids_before;
}

std::optional<FaceId> slot_now(const Organ& organ, FaceId queried) {
  const std::vector<FaceId>& removed = organ.removed_slots;
  const auto next = std::lower_bound(removed.begin(), removed.end(), queried);
  if (next != removed.end() && *next == queried) return {};
  return FaceId(index(queried) - static_cast<std::uint32_t>(next - removed.begin()));
}

void stop_fallen_parts(Organ& organ) {
  if (organ.topology == 0 || !organ.sculpture) return;
  const float out_of_sight = organ.sculpture->params.out_of_sight;
  for (std::size_t node = 0; node < organ.state.x.size(); ++node) {
    if (organ.tissue.gravity[node] == organ.tissue.params.gravity) continue;
    if (glm::distance(organ.state.x[node], organ.tissue.rest[node]) < out_of_sight) continue;
    organ.tissue.gravity[node] = glm::vec3(0.f);
    organ.state.v[node] = glm::vec3(0.f);
    if (!organ.tissue.tube.empty())
      std::ranges::fill(organ.state.tube.rods[organ.tissue.tube.nodes[node].rod].v, glm::dvec3(0.0));
  }
}

void SurfaceChange::clear() {
  removed.clear();
  new_faces.clear();
  new_rest.clear();
  new_embedding.clear();
  carried.clear();
  carried_embedding.clear();
}

void SurfaceChange::add(const Sculpture& sculpture, const TissueModel& tissue) {
  const SculptChange& change = sculpture.change;
  removed.insert(removed.end(), change.faces.removed.begin(), change.faces.removed.end());
  const auto& faces = sculpture.faces.corners;
  new_faces.insert(new_faces.end(), faces.end() - change.faces.new_faces, faces.end());
  const auto first = change.first_vertex, last = first + change.new_vertices;
  new_rest.insert(new_rest.end(), sculpture.rest.begin() + first, sculpture.rest.begin() + last);
  new_embedding.insert(new_embedding.end(), tissue.embedding.begin() + first, tissue.embedding.begin() + last);
  for (const std::uint32_t vertex : change.carried) {
    carried.push_back(vertex);
    carried_embedding.push_back(tissue.embedding[vertex]);
  }
}

Organ make_organ(const OrganScene& scene, const Breathing& breathing, bool cuttable, BackendMaker& backends,
                 const std::string& backend) {
  Organ organ;
  organ.name = scene.name;
  organ.colour = scene.colour;
  organ.look = scene.look;
  try {
    organ.mesh = solid_surface_of(scene);
  } catch (const InputError& error) {
    if (!scene.sheet) throw;
    throw InputError(fmt::format("organ {} ({}): {}", scene.name, origin_of(scene), error.what()));
  }
  // Tissue has no seams: cuts, pressure and the picture need one connected surface.
  organ.mesh.faces = welded_faces(organ.mesh.positions, organ.mesh.faces);
  try {
    organ.tissue = scene.rigid   ? make_rigid_tissue(organ.mesh.view())
                   : scene.sheet ? make_sheet_tissue(patch_of(scene), sheet_params_of(scene), scene.tissue,
                                                     scene.attachments, breathing)
                                 : make_tissue(organ.mesh.view(), scene.tissue, scene.attachments, breathing);
    if (scene.tube && scene.tube->wall > 0.0) make_tube_of(organ.tissue, tube_params(scene), centre_line(*scene.tube));
  } catch (const InputError& error) {
    throw InputError(fmt::format("organ {} ({}): {}", scene.name, origin_of(scene), error.what()));
  }
  organ.state = rest_state(organ.tissue);
  organ.contacts.params = scene.contact;
  const std::size_t faces = organ.mesh.faces.size();
  for (std::uint32_t face = 0; face < faces; ++face) organ.face_ids.push_back(FaceId(face));
  organ.charred.resize(organ.mesh.positions.size());
  organ.damage.resize(faces);
  organ.pressure.resize(faces);
  follow_nodes(organ);
  organ.around = faces_around(organ.mesh.faces, organ.positions.size());
  if (cuttable && scene.sheet) organ.tissue.floor = floor_of(scene.cut);
  if (cuttable && !scene.sheet && !scene.rigid) {
    SculptParams params = scene.cut;
    if (scene.tissue.gravity != glm::vec3(0.f)) params.fall = scene.tissue.gravity;
    organ.sculpture = make_sculpture(organ.mesh.view(), organ.tissue, params);
    organ.tissue.floor = floor_of(params);
  }
  use_backend(organ, backends, backend);
  return organ;
}

void begin_change(Organ& organ) {
  organ.change.clear();
  organ.removed_slots.clear();
  organ.topology_before = organ.topology;
}

// Faces that were both added and removed in the frame had no slot.
void find_removed(Organ& organ) {
  const std::vector<FaceId>& ids = organ.ids_before;
  for (const FaceId face : organ.change.removed)
    if (const auto at = std::lower_bound(ids.begin(), ids.end(), face); at != ids.end() && *at == face)
      organ.removed_slots.push_back(FaceId(static_cast<std::uint32_t>(at - ids.begin())));
  std::sort(organ.removed_slots.begin(), organ.removed_slots.end());
}

void finish_change(Organ& organ) {
  if (!organ.change.empty()) organ.query->change_faces({organ.positions, organ.mesh.faces}, organ.removed_slots);
}

void take_over_change(Organ& organ, DamageMark how) {
  const Sculpture& sculpture = *organ.sculpture;
  organ.damage.mark(sculpture.change.faces.removed, how);
  organ.damage.resize(sculpture.faces.next_id);
  organ.mesh.faces = sculpture.faces.corners;
  organ.mesh.positions = sculpture.rest;
  if (organ.topology == organ.topology_before) organ.ids_before.swap(organ.face_ids);
  organ.face_ids = sculpture.faces.id;
  organ.pressure.assign(organ.mesh.faces.size(), 0.f);
  follow_nodes(organ);
  organ.around = faces_around(organ.mesh.faces, organ.positions.size());
  find_unused(organ);
  organ.charred.resize(organ.positions.size(), 0.f);
  if (how == kBurnt) char_walls(organ);
  organ.contacts.forget();
  organ.change.add(sculpture, organ.tissue);
  ++organ.topology;
  if (!organ.tissue.tube.empty()) follow_cuts(organ.tissue, organ.state, node_parts(sculpture, organ.tissue.lattice));
}

}  // namespace trocar
