#include "sim/hdf5/clip_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/hdf5/complete_rows.hpp"

namespace trocar {
namespace {

// A session changes the state of tubes at most this many times; a reader allocates no more.
constexpr std::uint64_t kMostTubeRows = 1 << 16;

std::string fault_of_clip_rows(const std::vector<H5Table>& tables) {
  const std::uint64_t clips = std::max(tables[kClipFrame].rows(), tables[kLostClipFrame].rows());
  if (clips > kMostClips) return fmt::format("it has {} clips, and the limit is {}", clips, kMostClips);
  if (tables[kTubeFrame].rows() > kMostTubeRows) return "its ducts and vessels change too often";
  return {};
}

std::vector<PlacedClip> read_placed(const std::vector<H5Table>& tables, std::uint64_t rows) {
  const auto numbers = tables[kClipVertices].read_rows<std::uint32_t>(0, rows);
  const auto sizes = tables[kClipShape].read_rows<float>(0, rows);
  std::vector<PlacedClip> clips(rows);
  for (std::size_t k = 0; k < rows; ++k) {
    const std::uint32_t* number = &numbers[k * kClipNumbers];
    const float* size = &sizes[k * kClipSizes];
    PlacedClip& placed = clips[k];
    placed.clip.organ = number[0], placed.tool = number[1], placed.clip.count = number[2];
    placed.length = size[0], placed.along = size[1], placed.closed = size[2];
    for (std::size_t i = 0; i < kMostStruts; ++i)
      placed.clip.struts[i] = {number[3 + 2 * i], number[4 + 2 * i], {size[3 + 2 * i], size[4 + 2 * i]}};
  }
  return clips;
}

std::vector<RecordedTube> read_tubes(const std::vector<H5Table>& tables, std::uint64_t rows) {
  const auto states = tables[kTubeState].read_rows<std::uint32_t>(0, rows);
  const auto at = tables[kTubeAt].read_rows<float>(0, rows);
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

ClipHistory read_clips(const std::vector<H5Table>& tables, std::uint64_t frames,
                       std::span<const SurfaceHistory* const> surfaces, const std::string& file) {
  ClipHistory history;
  std::string fault = fault_of_clip_rows(tables);
  if (fault.empty()) {
    const ClipRows rows = clip_rows(tables, frames);
    history.clips = read_placed(tables, rows.clips);
    history.clip_frame = tables[kClipFrame].read_rows<std::uint32_t>(0, rows.clips);
    history.lost = tables[kLostClip].read_rows<std::uint32_t>(0, rows.lost);
    history.lost_frame = tables[kLostClipFrame].read_rows<std::uint32_t>(0, rows.lost);
    history.tubes = read_tubes(tables, rows.tubes);
    history.tube_frame = tables[kTubeFrame].read_rows<std::uint32_t>(0, rows.tubes);
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

}  // namespace trocar
