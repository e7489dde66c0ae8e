#include "app/window/mark_track.hpp"

#include <algorithm>
#include <span>

namespace trocar {
namespace {

bool same_path(const DrawnPath& a, const DrawnPath& b) {
  return std::ranges::equal(a.points, b.points) && a.width == b.width && a.done == b.done && a.state == b.state;
}

bool same_zone(const DrawnZone& a, const DrawnZone& b) {
  return std::ranges::equal(a.outline, b.outline) && a.violated == b.violated;
}

}  // namespace

bool same_marks(const DrawnMarks& a, const DrawnMarks& b) {
  return std::ranges::equal(a.targets, b.targets) && std::ranges::equal(a.paths, b.paths, same_path) &&
         std::ranges::equal(a.zones, b.zones, same_zone);
}

template <typename T>
MarkTrack::Range MarkTrack::stored(std::span<const T> list, const Range& before, std::vector<T>& all) {
  if (std::ranges::equal(list, std::span<const T>(all).subspan(before.first, before.count))) return before;
  const Range range{all.size(), list.size()};
  all.insert(all.end(), list.begin(), list.end());
  return range;
}

void MarkTrack::add(const DrawnMarks& marks) {
  const Frame before = frames_.empty() ? Frame{} : frames_.back();
  paths_now_.clear(), zones_now_.clear();
  for (std::size_t k = 0; k < marks.paths.size(); ++k) {
    const DrawnPath& path = marks.paths[k];
    const Range points = k < before.paths.count ? paths_[before.paths.first + k].points : Range{};
    paths_now_.push_back({stored(path.points, points, points_), path.width, path.done, path.state});
  }
  for (std::size_t k = 0; k < marks.zones.size(); ++k) {
    const DrawnZone& zone = marks.zones[k];
    const Range corners = k < before.zones.count ? zones_[before.zones.first + k].outline : Range{};
    zones_now_.push_back({stored(zone.outline, corners, corners_), zone.violated});
  }
  frames_.push_back({stored(std::span<const DrawnTarget>(marks.targets), before.targets, targets_),
                     stored(std::span<const Path>(paths_now_), before.paths, paths_),
                     stored(std::span<const Zone>(zones_now_), before.zones, zones_)});
}

void MarkTrack::get(std::size_t frame, DrawnMarks& marks) const {
  marks.targets.clear(), marks.paths.clear(), marks.zones.clear();
  if (frames_.empty()) return;
  const Frame& shown = frames_[std::min(frame, frames_.size() - 1)];
  const auto targets = std::span(targets_).subspan(shown.targets.first, shown.targets.count);
  marks.targets.assign(targets.begin(), targets.end());
  for (const Path& path : std::span(paths_).subspan(shown.paths.first, shown.paths.count))
    marks.paths.push_back(
        {std::span(points_).subspan(path.points.first, path.points.count), path.width, path.done, path.state});
  for (const Zone& zone : std::span(zones_).subspan(shown.zones.first, shown.zones.count))
    marks.zones.push_back({std::span(corners_).subspan(zone.outline.first, zone.outline.count), zone.violated});
}

}  // namespace trocar
