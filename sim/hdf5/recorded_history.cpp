#include "sim/hdf5/recorded_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"

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

std::vector<Embedding> read_embedding(const H5Table& node_table, const H5Table& weight_table, std::uint64_t rows) {
  const auto nodes = node_table.read_rows<std::uint32_t>(0, rows);
  const auto weights = weight_table.read_rows<float>(0, rows);
  std::vector<Embedding> embedding(rows);
  for (std::size_t k = 0; k < rows; ++k) {
    std::copy_n(&nodes[k * 8], 8, embedding[k].node);
    std::copy_n(&weights[k * 8], 8, embedding[k].weight);
  }
  return embedding;
}

}  // namespace

SurfaceHistory read_surface(const OpenColumns& columns, std::uint64_t frames) {
  const auto faces = columns.rows(RowOf::Face, frames), vertices = columns.rows(RowOf::Vertex, frames),
             removed = columns.rows(RowOf::Removed, frames), carried = columns.rows(RowOf::Carried, frames);
  return {columns[kFaces].read_rows<glm::uvec3>(0, faces),
          columns[kFaceBorn].read_rows<std::uint32_t>(0, faces),
          columns[kRestPositions].read_rows<glm::vec3>(0, vertices),
          read_embedding(columns[kEmbeddingNode], columns[kEmbeddingWeight], vertices),
          columns[kVertexBorn].read_rows<std::uint32_t>(0, vertices),
          columns[kRemovedFaces].read_rows<FaceId>(0, removed),
          columns[kRemovedFrame].read_rows<std::uint32_t>(0, removed),
          columns[kCarriedVertex].read_rows<std::uint32_t>(0, carried),
          read_embedding(columns[kCarriedNode], columns[kCarriedWeight], carried),
          columns[kCarriedFrame].read_rows<std::uint32_t>(0, carried)};
}

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

namespace {

// Checks the numbers of rows before memory is allocated for them.
std::string fault_of_fibre_rows(const OpenColumns& columns) {
  const std::uint64_t fibres = columns[kFibreOrgan].rows();
  if (fibres > kMostFibres) return fmt::format("it has {} fibres, and the limit is {}", fibres, kMostFibres);
  for (std::size_t k = kFibreOrgan; k < kBrokenFibre; ++k)
    if (columns[k].rows() != fibres || columns[kFibreGroup].rows() != fibres)
      return "the tables of its fibres have different numbers of rows";
  if (std::max(columns[kBrokenFibre].rows(), columns[kBrokenFrame].rows()) > fibres)
    return "more fibres are broken than it has";
  return {};
}

std::vector<RecordedFibre> read_ends(const OpenColumns& columns) {
  const auto organ = columns[kFibreOrgan].read_all<std::uint32_t>(),
             node = columns[kFibreNode].read_all<std::uint32_t>();
  const auto weight = columns[kFibreWeight].read_all<float>();
  const auto point = columns[kFibrePoint].read_all<glm::vec3>();
  const auto length = columns[kFibreLength].read_all<glm::vec2>();
  const auto group = columns[kFibreGroup].read_all<std::uint32_t>();
  std::vector<RecordedFibre> fibres(length.size());
  for (std::size_t f = 0; f < fibres.size(); ++f) {
    fibres[f].free_length = length[f].x;
    fibres[f].reference = length[f].y;
    fibres[f].group = group[f];
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t row = 2 * f + side;
      RecordedFibreEnd& end = side == 0 ? fibres[f].a : fibres[f].b;
      end.organ = organ[row];
      end.point = point[row];
      std::copy_n(&node[8 * row], 8, end.embedding.node);
      std::copy_n(&weight[8 * row], 8, end.embedding.weight);
    }
  }
  return fibres;
}

bool finite(const glm::vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

bool fits(const RecordedFibreEnd& end, const std::vector<std::size_t>& nodes) {
  if (end.organ == kWall) return finite(end.point);
  if (end.organ >= nodes.size()) return false;
  const auto& [node, weight] = end.embedding;
  return std::all_of(std::begin(node), std::end(node), [&](std::uint32_t n) { return n < nodes[end.organ]; }) &&
         std::all_of(std::begin(weight), std::end(weight), [](float w) { return std::isfinite(w); });
}

}  // namespace

std::span<const std::uint32_t> broken_before(const FibreHistory& history, std::size_t frame) {
  const auto& frames = history.broken_frame;
  const auto after = std::upper_bound(frames.begin(), frames.end(), frame);
  return std::span(history.broken).first(static_cast<std::size_t>(after - frames.begin()));
}

std::span<const std::uint32_t> broken_in(const FibreHistory& history, std::size_t frame) {
  return broken_before(history, frame + 1).subspan(broken_before(history, frame).size());
}

std::span<const FibreBreak> how_broken_in(const FibreHistory& history, std::size_t frame) {
  return std::span(history.broken_how).subspan(broken_before(history, frame).size(), broken_in(history, frame).size());
}

FibreHistory read_fibres(const OpenColumns& columns, std::uint64_t frames, const std::vector<std::size_t>& nodes,
                         const std::string& file) {
  FibreHistory history;
  std::string fault = fault_of_fibre_rows(columns);
  if (fault.empty()) {
    const std::uint64_t broken = columns.rows(RowOf::Broken, frames);
    history = {read_ends(columns), columns[kBrokenFibre].read_rows<std::uint32_t>(0, broken),
               columns[kBrokenHow].read_rows<FibreBreak>(0, broken),
               columns[kBrokenFrame].read_rows<std::uint32_t>(0, broken)};
    fault = fault_of(history, nodes);
  }
  if (!fault.empty()) throw InputError(fmt::format("{}: {}; the file is damaged", file, fault));
  return history;
}

std::string fault_of(const FibreHistory& history, const std::vector<std::size_t>& nodes) {
  for (std::size_t f = 0; f < history.fibres.size(); ++f) {
    const RecordedFibre& fibre = history.fibres[f];
    if (!fits(fibre.a, nodes) || !fits(fibre.b, nodes)) return fmt::format("an end of fibre {} is not in an organ", f);
    if (!(fibre.free_length >= 0.f && fibre.reference > 0.f && std::isfinite(fibre.free_length + fibre.reference)))
      return fmt::format("the length of fibre {} is not a length", f);
  }
  if (!std::is_sorted(history.broken_frame.begin(), history.broken_frame.end()))
    return "the frames of its broken fibres are not in ascending order";
  std::vector<std::uint8_t> intact(history.fibres.size(), 1);
  for (const std::uint32_t fibre : history.broken) {
    if (fibre >= intact.size() || !intact[fibre]) return fmt::format("fibre {} breaks twice or does not exist", fibre);
    intact[fibre] = 0;
  }
  for (const FibreBreak how : history.broken_how)
    if (how > FibreBreak::NotKnown) return "the cause of a broken fibre is unknown";
  return {};
}

namespace {

// A session changes the state of tubes at most this many times; a reader allocates no more.
constexpr std::uint64_t kMostTubeRows = 1 << 16;

std::string fault_of_clip_rows(const OpenColumns& columns) {
  const std::uint64_t clips = std::max(columns[kClipFrame].rows(), columns[kLostClipFrame].rows());
  if (clips > kMostClips) return fmt::format("it has {} clips, and the limit is {}", clips, kMostClips);
  if (columns[kTubeFrame].rows() > kMostTubeRows) return "its ducts and vessels change too often";
  return {};
}

std::vector<PlacedClip> read_placed(const OpenColumns& columns, std::uint64_t rows) {
  const auto numbers = columns[kClipVertices].read_rows<std::uint32_t>(0, rows);
  const auto sizes = columns[kClipShape].read_rows<float>(0, rows);
  std::vector<PlacedClip> clips(rows);
  for (std::size_t k = 0; k < rows; ++k) {
    const std::uint32_t* number = &numbers[k * kClipNumbers];
    const float* size = &sizes[k * kClipNumbers];
    PlacedClip& placed = clips[k];
    placed.clip.organ = number[0], placed.tool = number[1], placed.clip.count = number[2];
    placed.length = size[0], placed.along = size[1], placed.closed = size[2];
    for (std::size_t i = 0; i < kMostStruts; ++i)
      placed.clip.struts[i] = {number[3 + 2 * i], number[4 + 2 * i], {size[3 + 2 * i], size[4 + 2 * i]}};
  }
  return clips;
}

std::vector<RecordedTube> read_tubes(const OpenColumns& columns, std::uint64_t rows) {
  const auto states = columns[kTubeState].read_rows<std::uint32_t>(0, rows);
  const auto at = columns[kTubeAt].read_rows<float>(0, rows);
  std::vector<RecordedTube> tubes(rows);
  for (std::size_t k = 0; k < rows; ++k)
    tubes[k] = {states[4 * k], {states[4 * k + 1] != 0, states[4 * k + 2], states[4 * k + 3], at[k]}};
  return tubes;
}

// Do the clip's vertices exist when it closes?
bool fits(const PlacedClip& placed, std::uint32_t frame, std::span<const SurfaceHistory* const> surfaces) {
  if (placed.clip.organ == kNoOrgan) return placed.clip.count == 0;
  if (placed.clip.organ >= surfaces.size() || placed.clip.count > kMostStruts || !std::isfinite(placed.length))
    return false;
  const std::vector<std::uint32_t>& born = surfaces[placed.clip.organ]->vertex_born;
  const auto exists = [&](std::uint32_t vertex) { return vertex < born.size() && born[vertex] <= frame; };
  return std::all_of(placed.clip.struts.begin(), placed.clip.struts.begin() + placed.clip.count,
                     [&](const ClipStrut& strut) {
                       return exists(strut.a) && exists(strut.b) && std::isfinite(strut.at.x + strut.at.y);
                     });
}

}  // namespace

void clips_before(const ClipHistory& history, std::size_t frame, std::size_t organs, ClipsNow& now) {
  const std::size_t clips = rows_until(history.clip_frame, frame), lost = rows_until(history.lost_frame, frame);
  now.clips.assign(history.clips.begin(), history.clips.begin() + static_cast<std::ptrdiff_t>(clips));
  for (std::size_t k = 0; k < lost; ++k) now.clips[history.lost[k]].clip.count = 0;
  now.tubes.assign(organs, {});
  for (std::size_t k = 0; k < rows_until(history.tube_frame, frame); ++k)
    now.tubes[history.tubes[k].organ] = history.tubes[k].state;
}

ClipHistory read_clips(const OpenColumns& columns, std::uint64_t frames,
                       std::span<const SurfaceHistory* const> surfaces, const std::string& file) {
  ClipHistory history;
  std::string fault = fault_of_clip_rows(columns);
  if (fault.empty()) {
    const auto clips = columns.rows(RowOf::Clip, frames), lost = columns.rows(RowOf::LostClip, frames),
               tubes = columns.rows(RowOf::Tube, frames);
    history.clips = read_placed(columns, clips);
    history.clip_frame = columns[kClipFrame].read_rows<std::uint32_t>(0, clips);
    history.lost = columns[kLostClip].read_rows<std::uint32_t>(0, lost);
    history.lost_frame = columns[kLostClipFrame].read_rows<std::uint32_t>(0, lost);
    history.tubes = read_tubes(columns, tubes);
    history.tube_frame = columns[kTubeFrame].read_rows<std::uint32_t>(0, tubes);
    fault = fault_of(history, surfaces);
  }
  if (!fault.empty()) throw InputError(fmt::format("{}: {}; the file is damaged", file, fault));
  return history;
}

std::string fault_of(const ClipHistory& history, std::span<const SurfaceHistory* const> surfaces) {
  for (const auto* frames : {&history.clip_frame, &history.lost_frame, &history.tube_frame})
    if (!std::is_sorted(frames->begin(), frames->end())) return "the frames of its clips are not in ascending order";
  for (std::size_t k = 0; k < history.clips.size(); ++k)
    if (!fits(history.clips[k], history.clip_frame[k], surfaces)) return fmt::format("clip {} is not on an organ", k);
  for (std::size_t k = 0; k < history.lost.size(); ++k)
    if (history.lost[k] >= history.clips.size() || history.clip_frame[history.lost[k]] > history.lost_frame[k])
      return fmt::format("clip {} comes off before it closes or does not exist", history.lost[k]);
  for (const RecordedTube& tube : history.tubes)
    if (tube.organ >= surfaces.size()) return fmt::format("the duct or vessel {} does not exist", tube.organ);
  return {};
}

namespace {

// Sources change their states at most this many times; a reader allocates no more.
constexpr std::uint64_t kMostChanges = 1 << 22;

std::string fault_of_bleed_rows(const OpenColumns& columns, std::size_t organs) {
  if (columns[kBleedLost].row_cells() != 2 * organs) return "the table of lost fluids does not fit its organs";
  if (columns[kBleedSourceFrame].rows() > kMostBleedSources)
    return fmt::format("it has {} sources of blood, and the limit is {}", columns[kBleedSourceFrame].rows(),
                       kMostBleedSources);
  if (columns[kBleedChangeFrame].rows() > kMostChanges) return "its sources of blood change too often";
  return {};
}

std::vector<BleedSource> read_sources(const OpenColumns& columns, std::uint64_t rows) {
  const auto at = columns[kBleedSource].read_rows<std::uint32_t>(0, rows);
  const auto rate = columns[kBleedRate].read_rows<double>(0, rows);
  std::vector<BleedSource> sources(rows);
  for (std::size_t k = 0; k < rows; ++k)
    sources[k] = {at[3 * k],
                  at[3 * k + 1],
                  static_cast<BleedKind>(std::min(at[3 * k + 2], 255u)),
                  BleedState::Flows,
                  rate[2 * k],
                  rate[2 * k + 1],
                  0.0};
  return sources;
}

std::vector<FluidAmounts> read_fluids(const OpenColumns& columns, std::uint64_t frames) {
  const auto all = columns[kBleedFluids].read_rows<double>(0, frames);
  std::vector<FluidAmounts> fluids(frames);
  for (std::size_t f = 0; f < frames; ++f) {
    const double* row = &all[f * kFluidNumbers];
    fluids[f] = {{row[0], row[1], row[2]}, {row[3], row[4], row[5]}, {row[6], row[7], row[8]}, row[9]};
  }
  return fluids;
}

std::vector<RecordedBleedChange> read_changes(const OpenColumns& columns, std::uint64_t rows) {
  const auto all = columns[kBleedChange].read_rows<std::uint32_t>(0, rows);
  std::vector<RecordedBleedChange> changes(rows);
  for (std::size_t k = 0; k < rows; ++k)
    changes[k] = {all[3 * k], all[3 * k + 1], static_cast<BleedState>(std::min(all[3 * k + 2], 255u))};
  return changes;
}

// Does the vertex exist in this frame?
bool fits(std::uint32_t organ, std::uint32_t vertex, std::uint32_t frame,
          std::span<const SurfaceHistory* const> surfaces) {
  if (organ >= surfaces.size()) return false;
  const std::vector<std::uint32_t>& born = surfaces[organ]->vertex_born;
  return vertex < born.size() && born[vertex] <= frame;
}

}  // namespace

void sources_before(const BleedingHistory& history, std::size_t frame, std::vector<BleedSource>& now) {
  const std::size_t sources = rows_until(history.source_frame, frame);
  now.assign(history.sources.begin(), history.sources.begin() + static_cast<std::ptrdiff_t>(sources));
  for (std::size_t k = 0; k < rows_until(history.change_frame, frame); ++k) {
    const RecordedBleedChange& change = history.changes[k];
    now[change.source].vertex = change.vertex, now[change.source].state = change.state;
  }
}

BleedingHistory read_bleeding(const OpenColumns& columns, std::uint64_t frames,
                              std::span<const SurfaceHistory* const> surfaces, const std::string& file) {
  BleedingHistory history;
  std::string fault = fault_of_bleed_rows(columns, surfaces.size());
  if (fault.empty()) {
    const auto sources = columns.rows(RowOf::BleedSource, frames), changes = columns.rows(RowOf::BleedChange, frames);
    for (const glm::dvec2& lost : columns[kBleedLost].read_rows<glm::dvec2>(0, frames))
      history.lost.push_back({lost.x, lost.y});
    history.fluids = read_fluids(columns, frames);
    history.sources = read_sources(columns, sources);
    history.source_frame = columns[kBleedSourceFrame].read_rows<std::uint32_t>(0, sources);
    history.changes = read_changes(columns, changes);
    history.change_frame = columns[kBleedChangeFrame].read_rows<std::uint32_t>(0, changes);
    fault = fault_of(history, surfaces);
  }
  if (!fault.empty()) throw InputError(fmt::format("{}: {}; the file is damaged", file, fault));
  return history;
}

std::string fault_of(const BleedingHistory& history, std::span<const SurfaceHistory* const> surfaces) {
  for (const auto* frames : {&history.source_frame, &history.change_frame})
    if (!std::is_sorted(frames->begin(), frames->end())) return "the frames of its bleeding are not in ascending order";
  for (std::size_t k = 0; k < history.sources.size(); ++k) {
    const BleedSource& source = history.sources[k];
    if (!fits(source.organ, source.vertex, history.source_frame[k], surfaces) || source.kind > BleedKind::Perforation)
      return fmt::format("source {} of its bleeding is not on an organ", k);
    if (!(source.rate >= 0.0 && source.half_time >= 0.0 && std::isfinite(source.rate + source.half_time)))
      return fmt::format("the rate of source {} of its bleeding is not a rate", k);
  }
  for (std::size_t k = 0; k < history.changes.size(); ++k) {
    const auto& [source, vertex, state] = history.changes[k];
    if (source >= history.sources.size() || history.source_frame[source] > history.change_frame[k] ||
        state > BleedState::Stopped || !fits(history.sources[source].organ, vertex, history.change_frame[k], surfaces))
      return fmt::format("source {} of its bleeding changes before it opens or does not exist", source);
  }
  for (const FluidLoss& lost : history.lost)
    if (!(lost.blood >= 0.0 && lost.bile >= 0.0 && std::isfinite(lost.blood + lost.bile)))
      return "the blood or bile that it lost is not a volume";
  return {};
}

}  // namespace trocar
