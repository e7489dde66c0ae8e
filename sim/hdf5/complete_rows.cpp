#include "sim/hdf5/complete_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "geometry/error.hpp"

namespace trocar {
namespace {

bool has_shape(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& wanted) {
  return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(),
                    [](std::uint64_t has, std::uint64_t wants) { return wants == 0 || has == wants; });
}

std::uint64_t shortest(const OrganTables& organ, std::size_t first, std::size_t last) {
  std::uint64_t rows = organ[first].rows();
  for (std::size_t k = first; k < last; ++k) rows = std::min(rows, organ[k].rows());
  return rows;
}

// `needed`: the frames of rows that take effect then, in ascending order; other tables have `rows` of these rows.
// Returns the number of frames, at most `frames`, before the first one that needs a missing row.
std::uint64_t frames_before_gap(const H5Table& needed, std::uint64_t rows, std::uint64_t frames) {
  if (needed.rows() <= rows) return frames;
  const std::uint64_t missed = needed.read_rows<std::uint32_t>(rows, 1).front();
  return std::min(frames, missed == 0 ? 0 : missed - 1);
}

std::uint64_t frames_with_surface(const OrganTables& organ, std::uint64_t frames) {
  for (const SurfaceRows& kind : kSurfaceRows)
    frames = frames_before_gap(organ[kind.frame], shortest(organ, kind.first, kind.frame), frames);
  return frames;
}

// Returns the number of rows that take effect up to frame `frames`: they were written with the frames before it.
std::uint64_t rows_up_to(const H5Table& effect, std::uint64_t frames) {
  const auto all = effect.read_all<std::uint32_t>();
  return static_cast<std::uint64_t>(std::upper_bound(all.begin(), all.end(), frames) - all.begin());
}

}  // namespace

std::vector<H5Table> open_tables(const H5File& file, const std::vector<GrowingTable>& kinds) {
  std::vector<H5Table> tables;
  for (const auto& kind : kinds) {
    tables.push_back(file.table(kind.path, kind.cell));
    if (!has_shape(tables.back().row_shape(), kind.row_shape))
      throw InputError(fmt::format("{}: table {} has rows of another shape; the file is not a Trocar recording",
                                   file.path().string(), kind.path));
  }
  return tables;
}

std::size_t rows_until(const std::vector<std::uint32_t>& frames, std::size_t frame) {
  return static_cast<std::size_t>(std::upper_bound(frames.begin(), frames.end(), frame) - frames.begin());
}

std::uint64_t touch_rows(const OrganTables& organ) { return shortest(organ, kTouchFace, organ.size()); }

std::uint64_t complete_frames(const std::vector<H5Table>& session, const std::vector<OrganTables>& organs,
                              RecordingForm form) {
  std::uint64_t frames = session[kTime].rows();
  for (const auto& table : session) frames = std::min(frames, table.rows());
  for (const auto& organ : organs) {
    frames = std::min(frames, organ[kTouchFirst].rows());
    if (form != RecordingForm::Compact) frames = std::min(frames, organ[kNodes].rows());
    frames = frames_with_surface(organ, frames);
    const std::uint64_t touches = touch_rows(organ);
    while (frames > 0 && organ[kTouchFirst].read_rows<std::uint64_t>(frames - 1, 1).back() > touches) --frames;
  }
  return frames;
}

std::uint64_t frames_with_tips(const std::vector<H5Table>& tips, std::uint64_t frames) {
  frames = std::min(frames, tips[kTipFirst].rows());
  while (frames > 0 && tips[kTipFirst].read_rows<std::uint64_t>(frames - 1, 1).back() > tips[kTipFace].rows()) --frames;
  return frames;
}

std::uint64_t frames_with_parts(const OrganTables& organ, const std::vector<H5Table>& later, std::uint64_t frames) {
  if (later.size() <= kTouchPart) return frames;
  while (frames > 0 && organ[kTouchFirst].read_rows<std::uint64_t>(frames - 1, 1).back() > later[kTouchPart].rows())
    --frames;
  return frames;
}

std::uint64_t frames_with_broken(const std::vector<H5Table>& fibres, std::uint64_t frames) {
  const std::uint64_t rows = fibres[kBrokenFibre].rows();
  const std::uint64_t causes = fibres.size() > kBrokenHow ? fibres[kBrokenHow].rows() : rows;
  return frames_before_gap(fibres[kBrokenFrame], std::min(rows, causes), frames);
}

std::uint64_t frames_with_clips(const std::vector<H5Table>& clips, std::uint64_t frames) {
  frames =
      frames_before_gap(clips[kClipFrame], std::min(clips[kClipVertices].rows(), clips[kClipShape].rows()), frames);
  frames = frames_before_gap(clips[kLostClipFrame], clips[kLostClip].rows(), frames);
  return frames_before_gap(clips[kTubeFrame], std::min(clips[kTubeState].rows(), clips[kTubeAt].rows()), frames);
}

std::uint64_t frames_with_bleeding(const std::vector<H5Table>& bleeding, std::uint64_t frames) {
  frames = std::min({frames, bleeding[kBleedLost].rows(), bleeding[kBleedFluids].rows()});
  frames = frames_before_gap(bleeding[kBleedSourceFrame],
                             std::min(bleeding[kBleedSource].rows(), bleeding[kBleedRate].rows()), frames);
  return frames_before_gap(bleeding[kBleedChangeFrame], bleeding[kBleedChange].rows(), frames);
}

bool starts_fit(const H5Table& starts, std::uint64_t frames, std::uint64_t rows) {
  const auto all = starts.read_rows<std::uint64_t>(0, frames);
  const std::size_t columns = starts.row_cells();
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const std::span row = std::span(all).subspan(frame * columns, columns);
    if (!std::is_sorted(row.begin(), row.end()) || row.back() > rows) return false;
  }
  return true;
}

RowCounts rows_of(const OrganTables& organ, std::uint64_t frames) {
  RowCounts rows;
  rows[RowOf::Frame] = frames;
  rows[RowOf::Touch] = organ[kTouchFirst].read_rows<std::uint64_t>(frames - 1, 1).back();
  for (const SurfaceRows& kind : kSurfaceRows) rows[kind.rows] = rows_up_to(organ[kind.frame], frames);
  return rows;
}

std::uint64_t broken_rows(const std::vector<H5Table>& fibres, std::uint64_t frames) {
  return rows_up_to(fibres[kBrokenFrame], frames);
}

ClipRows clip_rows(const std::vector<H5Table>& tables, std::uint64_t frames) {
  return {rows_up_to(tables[kClipFrame], frames), rows_up_to(tables[kLostClipFrame], frames),
          rows_up_to(tables[kTubeFrame], frames)};
}

BleedRows bleed_rows(const std::vector<H5Table>& tables, std::uint64_t frames) {
  return {rows_up_to(tables[kBleedSourceFrame], frames), rows_up_to(tables[kBleedChangeFrame], frames)};
}

namespace {

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

SurfaceHistory read_surface(const std::vector<H5Table>& tables, const RowCounts& rows) {
  const auto faces = rows[RowOf::Face], vertices = rows[RowOf::Vertex], removed = rows[RowOf::Removed],
             carried = rows[RowOf::Carried];
  return {tables[kFaces].read_rows<glm::uvec3>(0, faces),
          tables[kFaceBorn].read_rows<std::uint32_t>(0, faces),
          tables[kRestPositions].read_rows<glm::vec3>(0, vertices),
          read_embedding(tables[kEmbeddingNode], tables[kEmbeddingWeight], vertices),
          tables[kVertexBorn].read_rows<std::uint32_t>(0, vertices),
          tables[kRemovedFace].read_rows<FaceId>(0, removed),
          tables[kRemovedFrame].read_rows<std::uint32_t>(0, removed),
          tables[kCarriedVertex].read_rows<std::uint32_t>(0, carried),
          read_embedding(tables[kCarriedNode], tables[kCarriedWeight], carried),
          tables[kCarriedFrame].read_rows<std::uint32_t>(0, carried)};
}

}  // namespace trocar
