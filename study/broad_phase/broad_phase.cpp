#include "study/broad_phase/broad_phase.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "geometry/error.hpp"
#include "geometry/face_numbers.hpp"

namespace trocar::broad {
namespace {

constexpr std::uint8_t kPlanes = 6;

bool separates(std::uint8_t plane, const Box& a, const Box& b) {
  return plane < 3 ? a.high[plane] < b.low[plane] : b.high[plane - 3] < a.low[plane - 3];
}

// Returns the first plane that separates, or kPlanes.
std::uint8_t search(const Box& a, const Box& b) {
  std::uint8_t plane = 0;
  while (plane < kPlanes && !separates(plane, a, b)) ++plane;
  return plane;
}

}  // namespace

std::span<const Pair> PlaneCache::pairs(std::span<const Box> boxes) {
  counters_ = {};
  pairs_.clear();
  const std::size_t count = boxes.size();
  plane_.resize(count < 2 ? 0 : count * (count - 1) / 2, 0);
  std::uint8_t* plane = plane_.data();
  for (std::uint32_t j = 0; j < count; ++j) {
    const bool nothing = empty(boxes[j]);
    for (std::uint32_t i = 0; i < j; ++i, ++plane) {
      if (separates(*plane, boxes[i], boxes[j])) {
        ++counters_.kept;
        continue;
      }
      if (nothing || empty(boxes[i])) continue;
      ++counters_.searched;
      const std::uint8_t found = search(boxes[i], boxes[j]);
      if (found < kPlanes) {
        *plane = found;
      } else {
        pairs_.push_back({ObjectId(i), ObjectId(j)});
      }
    }
  }
  std::sort(pairs_.begin(), pairs_.end());
  return pairs_;
}

namespace {

// A box in more cells than this is compared with every other box instead.
constexpr std::int64_t kMostEntries = 512;

// Cells of a box on a periodic axis extend by this part of a cell: rounding may differ between images.
constexpr double kImageSlack = 1e-6;

// A periodic axis as a circle: the interval begins at `from` in [0, length) and runs on to `to`, perhaps beyond length.
struct Arc {
  double from, to;
};

Arc arc_of(float low, float high, double length) {
  const double start = low, from = start - length * std::floor(start / length);
  const double begin = from < length && from >= 0.0 ? from : 0.0;
  return {begin, begin + (static_cast<double>(high) - start)};
}

bool arcs_overlap(const Arc& a, const Arc& b, double length) {
  if (a.from > b.from) return arcs_overlap(b, a, length);
  return b.from <= a.to || a.from + length <= b.to;
}

bool goes_round(float low, float high, double length) {
  return !(static_cast<double>(high) - static_cast<double>(low) < length);
}

bool axis_overlap(float low_a, float high_a, float low_b, float high_b, const GridAxis& axis) {
  if (axis.border != Border::Periodic) return low_a <= high_b && low_b <= high_a;
  const double length = axis.length();
  if (goes_round(low_a, high_a, length) || goes_round(low_b, high_b, length)) return true;
  return arcs_overlap(arc_of(low_a, high_a, length), arc_of(low_b, high_b, length), length);
}

// Monotone in x, so two intervals that overlap share a cell.
std::int32_t cell_at(double x, double size) {
  return static_cast<std::int32_t>(std::clamp(std::floor(x / size), -1.0 * kMostGridCells, 1.0 * kMostGridCells - 1.0));
}

std::int32_t wrapped(std::int32_t cell, std::int32_t cells) {
  const std::int32_t remainder = cell % cells;
  return remainder < 0 ? remainder + cells : remainder;
}

std::uint64_t packed(const std::array<std::int32_t, 3>& cell) {
  constexpr std::uint64_t kBits = 21, kMask = (1u << kBits) - 1;
  std::uint64_t sum = 0;
  for (int axis = 0; axis < 3; ++axis)
    sum = sum << kBits | (static_cast<std::uint64_t>(std::int64_t{cell[axis]} + kMostGridCells) & kMask);
  return sum;
}

std::uint64_t scrambled(std::uint64_t cell) {
  cell *= 0x9e3779b97f4a7c15ull;
  return cell ^ cell >> 32;
}

void check(const GridAxis& axis) {
  if (!(axis.cell > 0.0) || !std::isfinite(axis.cell))
    throw InputError(fmt::format("a grid's cell has a side of {} m; give a length above 0", axis.cell));
  if (axis.border != Border::Unbounded && (axis.cells < 1 || axis.cells > kMostGridCells))
    throw InputError(
        fmt::format("a grid has {} cells along a bounded or periodic axis; give 1 to {}", axis.cells, kMostGridCells));
}

}  // namespace

bool overlap(const Box& a, const Box& b, const GridAxes& axes) {
  if (empty(a) || empty(b)) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (!axis_overlap(a.low[axis], a.high[axis], b.low[axis], b.high[axis], axes[axis])) return false;
  return true;
}

void brute_force_pairs(std::span<const Box> boxes, const GridAxes& axes, std::vector<Pair>& pairs) {
  pairs.clear();
  for (std::uint32_t i = 0; i < boxes.size(); ++i)
    for (std::uint32_t j = i + 1; j < boxes.size(); ++j)
      if (overlap(boxes[i], boxes[j], axes)) pairs.push_back({ObjectId(i), ObjectId(j)});
}

UniformGrid::UniformGrid(const GridAxes& axes) : axes_(axes) {
  for (const GridAxis& axis : axes_) check(axis);
}

std::size_t UniformGrid::memory_bytes() const {
  return held_bytes(cells_, entries_, sorted_, first_, oversize_, is_oversize_, pairs_);
}

std::span<const Pair> UniformGrid::pairs(std::span<const Box> boxes) {
  counters_ = {};
  boxes_ = boxes;
  pairs_.clear();
  entries_.clear();
  oversize_.clear();
  cells_.resize(boxes.size());
  is_oversize_.assign(boxes.size(), 0);
  for (std::uint32_t object = 0; object < boxes.size(); ++object) enter(object);
  sort_entries();
  for (std::size_t bucket = 0; bucket + 1 < first_.size(); ++bucket) pair_up(first_[bucket], first_[bucket + 1]);
  for (const std::uint32_t object : oversize_) pair_oversize(object);
  std::sort(pairs_.begin(), pairs_.end());
  counters_.entries = entries_.size();
  counters_.oversize = oversize_.size();
  return pairs_;
}

UniformGrid::Cells UniformGrid::cells_of(const Box& box) const {
  Cells cells{};
  for (int k = 0; k < 3; ++k) {
    const GridAxis& axis = axes_[k];
    std::int32_t first = cell_at(box.low[k], axis.cell), last = cell_at(box.high[k], axis.cell);
    if (axis.border == Border::Periodic) {
      const double length = axis.length();
      first = 0, last = axis.cells - 1;
      if (!goes_round(box.low[k], box.high[k], length)) {
        const Arc arc = arc_of(box.low[k], box.high[k], length);
        const std::int32_t from = cell_at(arc.from - kImageSlack * axis.cell, axis.cell);
        const std::int32_t to = cell_at(arc.to + kImageSlack * axis.cell, axis.cell);
        if (to - from < axis.cells) first = wrapped(from, axis.cells), last = first + (to - from);
      }
    } else if (axis.border == Border::Bounded) {
      first = std::clamp(first, 0, axis.cells - 1), last = std::clamp(last, 0, axis.cells - 1);
    }
    cells.first[k] = first, cells.count[k] = last - first + 1;
  }
  return cells;
}

void UniformGrid::enter(std::uint32_t object) {
  if (empty(boxes_[object])) return;
  const Cells& cells = cells_[object] = cells_of(boxes_[object]);
  std::int64_t entries = 1;
  for (const std::int32_t count : cells.count) entries = std::min(entries * count, kMostEntries + 1);
  if (entries > kMostEntries) {
    oversize_.push_back(object);
    is_oversize_[object] = 1;
    return;
  }
  std::array<std::int32_t, 3> at;
  const auto set_cell = [&](int axis, std::int32_t step) {
    const std::int32_t cell = cells.first[axis] + step;
    at[axis] = axes_[axis].border == Border::Periodic && cell >= axes_[axis].cells ? cell - axes_[axis].cells : cell;
  };
  for (std::int32_t i = 0; i < cells.count[0]; ++i) {
    set_cell(0, i);
    for (std::int32_t j = 0; j < cells.count[1]; ++j) {
      set_cell(1, j);
      for (std::int32_t k = 0; k < cells.count[2]; ++k) {
        set_cell(2, k);
        entries_.push_back({packed(at), object});
      }
    }
  }
}

// Sorts the entries into buckets: there is one bucket per entry, rounded up to a power of two. Cells may share a
// bucket, so entries store their cell.
void UniformGrid::sort_entries() {
  const std::size_t buckets = std::bit_ceil(std::max<std::size_t>(entries_.size(), 1));
  const auto bucket_of = [mask = buckets - 1](const Entry& entry) { return scrambled(entry.cell) & mask; };
  first_.assign(buckets + 1, 0);
  for (const Entry& entry : entries_) ++first_[bucket_of(entry)];
  std::uint32_t sum = 0;
  for (std::uint32_t& first : first_) first = sum += first;
  sorted_.resize(entries_.size());
  // The loop fills each bucket from the back, so that afterwards first_[bucket] is the bucket's begin.
  for (std::size_t i = entries_.size(); i-- > 0;) sorted_[--first_[bucket_of(entries_[i])]] = entries_[i];
}

// The pair's cell is, along each axis, where one of the two boxes begins within the other: exactly one shared cell.
bool UniformGrid::tells(const Cells& a, const Cells& b, std::uint64_t cell) const {
  std::array<std::int32_t, 3> begin;
  for (int k = 0; k < 3; ++k) {
    std::int32_t ahead = a.first[k] - b.first[k];
    if (axes_[k].border == Border::Periodic && ahead < 0) ahead += axes_[k].cells;
    begin[k] = ahead >= 0 && ahead < b.count[k] ? a.first[k] : b.first[k];
  }
  return packed(begin) == cell;
}

void UniformGrid::pair_up(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    for (std::size_t j = i + 1; j < last; ++j) {
      const Entry &a = sorted_[i], &b = sorted_[j];
      if (a.cell != b.cell) continue;
      ++counters_.box_tests;
      if (!overlap(boxes_[a.object], boxes_[b.object], axes_)) continue;
      if (tells(cells_[a.object], cells_[b.object], a.cell))
        pairs_.push_back(pair_of(ObjectId(a.object), ObjectId(b.object)));
    }
}

void UniformGrid::pair_oversize(std::uint32_t object) {
  for (std::uint32_t other = 0; other < boxes_.size(); ++other) {
    if (other == object || (is_oversize_[other] && other < object)) continue;
    ++counters_.box_tests;
    if (overlap(boxes_[object], boxes_[other], axes_)) pairs_.push_back(pair_of(ObjectId(object), ObjectId(other)));
  }
}

namespace {

// Returns the first t in [0, 1] with |gap + t closing| <= distance.
std::optional<double> first_touch(const glm::dvec3& gap, const glm::dvec3& closing, double distance) {
  const double c = glm::dot(gap, gap) - distance * distance;
  if (!std::isfinite(c)) return {};
  if (c <= 0.0) return 0.0;
  const double a = glm::dot(closing, closing), half_b = glm::dot(gap, closing);
  if (!(half_b < 0.0) || !std::isfinite(a)) return {};
  // The discriminant over a, from the closest point of the path: avoids a difference of large numbers.
  const glm::dvec3 nearest = gap - (half_b / a) * closing;
  const double margin = distance * distance - glm::dot(nearest, nearest);
  if (margin < 0.0) return {};
  const double time = c / (-half_b + std::sqrt(a * margin));
  return time <= 1.0 ? std::optional(time) : std::nullopt;
}

}  // namespace

std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b) {
  return first_touch(b.centre - a.centre, b.motion - a.motion, a.radius + b.radius);
}

std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b, const GridAxes& axes) {
  glm::dvec3 gap = b.centre - a.centre, length(0.0);
  for (int k = 0; k < 3; ++k) {
    if (axes[k].border != Border::Periodic) continue;
    length[k] = axes[k].length();
    gap[k] -= length[k] * std::round(gap[k] / length[k]);
  }
  const glm::ivec3 images(length.x > 0.0, length.y > 0.0, length.z > 0.0);
  std::optional<double> first;
  for (int i = -images.x; i <= images.x; ++i)
    for (int j = -images.y; j <= images.y; ++j)
      for (int k = -images.z; k <= images.z; ++k) {
        const glm::dvec3 image = gap + length * glm::dvec3(i, j, k);
        const std::optional<double> time = first_touch(image, b.motion - a.motion, a.radius + b.radius);
        if (time && (!first || *time < *first)) first = time;
      }
  return first;
}

Box swept_box(const MovingSphere& sphere) {
  const glm::dvec3 end = sphere.centre + sphere.motion;
  // The box is larger than the sphere by a multiple of the distance that rounding of the time of impact can change.
  const double distance = sphere.radius + 1e-12 * (1.0 + glm::length(sphere.centre) + glm::length(sphere.motion));
  return box_around(glm::min(sphere.centre, end) - distance, glm::max(sphere.centre, end) + distance);
}

void CollisionOrder::keep_first(std::size_t objects) {
  std::sort(all_.begin(), all_.end(), [](const Collision& a, const Collision& b) {
    return a.time != b.time ? a.time < b.time : a.pair < b.pair;
  });
  kept_.clear();
  had_.assign(objects, 0);
  for (const Collision& collision : all_) {
    char &first = had_[index(collision.pair.first)], &second = had_[index(collision.pair.second)];
    if (first || second) continue;
    first = second = 1;
    kept_.push_back(collision);
  }
}

}  // namespace trocar::broad
