#include "sim/hdf5/surface_history.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trocar {
namespace {

struct Rows {
  std::size_t first, last;
};

// Returns the rows that take effect in frames first .. last - 1.
Rows rows_between(const std::vector<std::uint32_t>& frames, std::uint64_t first, std::uint64_t last) {
  const auto at = [&](std::uint64_t frame) {
    return static_cast<std::size_t>(std::lower_bound(frames.begin(), frames.end(), frame) - frames.begin());
  };
  return {at(first), at(last)};
}

void add_vertices(const SurfaceHistory& history, const Rows& rows, OrganSurface& surface) {
  for (std::size_t vertex = rows.first; vertex < rows.last; ++vertex) {
    surface.rest.push_back(history.rest[vertex]);
    surface.tissue.embedding.push_back(history.embedding[vertex]);
  }
}

void add_faces(const SurfaceHistory& history, const Rows& rows, OrganSurface& surface) {
  for (std::size_t face = rows.first; face < rows.last; ++face) {
    surface.faces.push_back(history.faces[face]);
    surface.ids.push_back(FaceId(static_cast<std::uint32_t>(face)));
  }
}

void remove_faces(const SurfaceHistory& history, const Rows& rows, OrganSurface& surface) {
  if (rows.first == rows.last) return;
  std::vector<FaceId> removed(history.removed.data() + rows.first, history.removed.data() + rows.last);
  std::sort(removed.begin(), removed.end());
  std::size_t kept = 0;
  for (std::size_t slot = 0; slot < surface.ids.size(); ++slot) {
    if (std::binary_search(removed.begin(), removed.end(), surface.ids[slot])) continue;
    surface.faces[kept] = surface.faces[slot];
    surface.ids[kept++] = surface.ids[slot];
  }
  surface.faces.resize(kept);
  surface.ids.resize(kept);
}

void update_embedding(const SurfaceHistory& history, const Rows& rows, OrganSurface& surface) {
  for (std::size_t row = rows.first; row < rows.last; ++row)
    surface.tissue.embedding[history.carried[row]] = history.carried_embedding[row];
}

// Returns whether these are eight nodes of the lattice, in which neighbours along x have consecutive numbers.
bool fits(const Embedding& embedding, std::size_t nodes) {
  for (int corner = 0; corner < 8; corner += 2)
    if (embedding.node[corner + 1] >= nodes || embedding.node[corner] + 1 != embedding.node[corner + 1]) return false;
  return true;
}

}  // namespace

bool go_to_frame(const SurfaceHistory& history, std::uint64_t frame, OrganSurface& surface) {
  const bool restarted = surface.frames == 0 || frame + 1 < surface.frames;
  if (restarted) surface = {};
  const std::uint64_t first = surface.frames, last = frame + 1;
  const Rows vertices = rows_between(history.vertex_born, first, last);
  const Rows faces = rows_between(history.face_born, first, last),
             removed = rows_between(history.removed_frame, first, last);
  add_vertices(history, vertices, surface);
  add_faces(history, faces, surface);
  remove_faces(history, removed, surface);
  update_embedding(history, rows_between(history.carried_frame, first, last), surface);
  surface.frames = last;
  return restarted || vertices.first < vertices.last || faces.first < faces.last || removed.first < removed.last;
}

std::string fault_of(const SurfaceHistory& history, std::size_t nodes) {
  for (const auto* frames : {&history.face_born, &history.vertex_born, &history.removed_frame, &history.carried_frame})
    if (!std::is_sorted(frames->begin(), frames->end()))
      return "the frames of its surface changes are not in ascending order";
  for (std::size_t face = 0; face < history.faces.size(); ++face)
    for (int corner = 0; corner < 3; ++corner)
      if (const std::uint32_t vertex = history.faces[face][corner];
          vertex >= history.rest.size() || history.vertex_born[vertex] > history.face_born[face])
        return fmt::format("face {} uses vertex {} before the vertex exists", face, vertex);
  for (std::size_t row = 0; row < history.removed.size(); ++row)
    if (const std::uint32_t face = index(history.removed[row]);
        face >= history.faces.size() || history.face_born[face] > history.removed_frame[row])
      return fmt::format("face {} is removed before it exists", face);
  for (std::size_t row = 0; row < history.carried.size(); ++row)
    if (const std::uint32_t vertex = history.carried[row];
        vertex >= history.rest.size() || history.vertex_born[vertex] > history.carried_frame[row])
      return fmt::format("vertex {} gets a new embedding before it exists", vertex);
  for (const auto* list : {&history.embedding, &history.carried_embedding})
    for (const Embedding& embedding : *list)
      if (!fits(embedding, nodes)) return "a vertex is embedded in nodes that do not form a cell of its lattice";
  return {};
}

}  // namespace trocar
