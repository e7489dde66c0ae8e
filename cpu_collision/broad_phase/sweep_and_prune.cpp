#include "cpu_collision/broad_phase/sweep_and_prune.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "geometry/face_numbers.hpp"

namespace trocar::broad {
namespace {

// An id takes 31 bits of an End.
constexpr std::uint64_t kHigh = std::uint64_t{1} << 31;
constexpr std::uint64_t kIdMask = kHigh - 1;

// Swap budget of an insertion: this many swaps per box test and comparison of a full sort. Measured:
// docs/broad-phase.md.
constexpr double kSwapsPerTest = 0.5;

// After repeated failures of the insertion, it is tried again after at most this many frames.
constexpr std::uint32_t kLongestPause = 32;

constexpr std::uint8_t kAllAxes = 7, kListed = 8;  // status bits: overlap on all axes; is in the list of pairs

// Integers that sort as the floats do, -0 as 0. Empty boxes use the values beyond both infinities.
std::uint32_t sortable(float bound) {
  const auto bits = std::bit_cast<std::uint32_t>(bound + 0.f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

std::uint32_t id_of(std::uint64_t end) { return static_cast<std::uint32_t>(end & kIdMask); }
bool is_high(std::uint64_t end) { return (end & kHigh) != 0; }

void sort_unique(std::vector<Pair>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

}  // namespace

SweepAndPrune::Bounds SweepAndPrune::bounds_of(const Box& box) {
  Bounds bounds;
  const bool is_empty = empty(box);
  for (int axis = 0; axis < 3; ++axis) {
    bounds.low[axis] = is_empty ? ~0u : sortable(box.low[axis]);
    bounds.high[axis] = is_empty ? 0u : sortable(box.high[axis]);
  }
  return bounds;
}

bool SweepAndPrune::overlap(const Bounds& a, const Bounds& b) {
  // The test has no branch, because a processor cannot predict which axis separates two boxes.
  return (a.low[0] <= b.high[0]) & (b.low[0] <= a.high[0]) & (a.low[1] <= b.high[1]) & (b.low[1] <= a.high[1]) &
         (a.low[2] <= b.high[2]) & (b.low[2] <= a.high[2]);
}

// So few objects never make the lists of pairs grow.
constexpr std::size_t kFewObjects = 32;

ObjectId SweepAndPrune::add(const Box& box) {
  std::uint32_t id;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(objects_.size());
    assert(id < kIdMask);
    objects_.emplace_back();
    slot_.push_back(0);
    if (objects_.size() <= kFewObjects)
      for (std::vector<Pair>* pairs : {&pairs_, &begun_, &ended_, &spare_})
        pairs->reserve(kFewObjects * kFewObjects / 2);
    if (keeps_status()) {
      status_.resize(objects_.size() * (objects_.size() - 1) / 2, 0);
    } else {
      status_ = {};
    }
  } else {
    id = free_.back();
    free_.pop_back();
  }
  objects_[id] = {bounds_of(box), bounds_of({}), true};
  // Appended to the lists as an object without overlaps; the next update sorts it in.
  for (auto& ends : ends_) {
    ends.push_back(id);
    ends.push_back(id | kHigh);
  }
  ++count_;
  return ObjectId(id);
}

void SweepAndPrune::remove(ObjectId object) {
  assert(objects_[index(object)].used);
  objects_[index(object)].used = false;
  objects_[index(object)].now = bounds_of({});
  removed_.push_back(index(object));
  --count_;
}

void SweepAndPrune::set(ObjectId object, const Box& box) {
  assert(objects_[index(object)].used);
  objects_[index(object)].now = bounds_of(box);
}

bool SweepAndPrune::overlapping(ObjectId a, ObjectId b) const {
  return a != b && std::binary_search(pairs_.begin(), pairs_.end(), pair_of(a, b));
}

std::size_t SweepAndPrune::memory_bytes() const {
  std::size_t bytes =
      held_bytes(objects_, status_, active_, free_, removed_, slot_, passed_, pairs_, begun_, ended_, spare_);
  for (const auto& ends : ends_) bytes += held_bytes(ends);
  return bytes;
}

void SweepAndPrune::update() {
  counters_ = {};
  begun_.clear();
  ended_.clear();
  drop_removed();
  if (insert_ends()) {
    if (keeps_status()) list_final_status();
    sort_unique(begun_);
    sort_unique(ended_);
    apply_changes();
  } else {
    sweep_afresh();
  }
  for (Object& object : objects_) object.before = object.now;
}

// Returns false when a full sort is cheaper, or was cheaper recently.
bool SweepAndPrune::insert_ends() {
  if (pause_left_ > 0) {
    --pause_left_;
    return false;
  }
  if (insert_along(0) && insert_along(1) && insert_along(2)) {
    pause_ = 0;
    return true;
  }
  // The first failure causes no pause, because a single frame may have moved everything.
  pause_left_ = pause_;
  pause_ = std::clamp(2 * pause_, 1u, kLongestPause);
  return false;
}

// Removes removed objects from the lists and from every pair.
void SweepAndPrune::drop_removed() {
  if (removed_.empty()) return;
  for (auto& ends : ends_) std::erase_if(ends, [this](End end) { return !objects_[id_of(end)].used; });
  const auto is_removed = [this](const Pair& pair) {
    return !objects_[index(pair.first)].used || !objects_[index(pair.second)].used;
  };
  for (const Pair& pair : pairs_)
    if (is_removed(pair)) ended_.push_back(pair);
  std::erase_if(pairs_, is_removed);
  if (keeps_status())
    for (const std::uint32_t id : removed_)
      for (std::uint32_t other = 0; other < objects_.size(); ++other)
        if (other != id) status(id, other) = 0;
  for (const std::uint32_t id : removed_) objects_[id].before = bounds_of({});
  free_.insert(free_.end(), removed_.begin(), removed_.end());
  removed_.clear();
}

SweepAndPrune::End SweepAndPrune::end_now(End end, int axis) const {
  const Bounds& now = objects_[id_of(end)].now;
  const std::uint32_t bound = is_high(end) ? now.high[axis] : now.low[axis];
  return static_cast<End>(bound) << 32 | (end & (kHigh | kIdMask));
}

// Insertion sort by the current ends. False when it would cost more than a full sort.
bool SweepAndPrune::insert_along(int axis) {
  End* const ends = ends_[axis].data();
  const std::size_t count = ends_[axis].size();
  passed_.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    const End moved = end_now(ends[k], axis);
    // Only passed ends of the other kind matter, about every second one. They are recorded without a branch.
    const End other_kind = ~moved & kHigh;
    std::size_t at = k, noted = 0;
    for (; at > 0 && ends[at - 1] > moved; --at) {
      ends[at] = ends[at - 1];
      passed_[noted] = id_of(ends[at]);
      noted += (ends[at] & kHigh) == other_kind;
    }
    ends[at] = moved;
    counters_.swaps += k - at;
    counters_.status_swaps += noted;
    const std::span<const std::uint32_t> others(passed_.data(), noted);
    is_high(moved) ? high_passed_lows(id_of(moved), others, axis) : low_passed_highs(id_of(moved), others, axis);
    if (counters_.swaps > swap_budget_) return false;
  }
  return true;
}

std::uint8_t& SweepAndPrune::status(std::uint32_t a, std::uint32_t b) {
  if (a < b) std::swap(a, b);
  return status_[static_cast<std::size_t>(a) * (a - 1) / 2 + b];
}

// The mover did not overlap these objects along this axis; now it may.
void SweepAndPrune::low_passed_highs(std::uint32_t mover, std::span<const std::uint32_t> others, int axis) {
  const Bounds a = objects_[mover].now;
  for (const std::uint32_t other : others) {
    const Bounds& b = objects_[other].now;
    if (!keeps_status()) {
      if (overlap(a, b) && other != mover) begun_.push_back(pair_of(ObjectId(mover), ObjectId(other)));
      continue;
    }
    if (b.low[axis] > a.high[axis] || other == mover) continue;
    std::uint8_t& now = status(mover, other);
    now |= static_cast<std::uint8_t>(1u << axis);
    if ((now & kAllAxes) == kAllAxes) begun_.push_back(pair_of(ObjectId(mover), ObjectId(other)));
  }
}

// The mover may have overlapped these objects along this axis; now it does not.
void SweepAndPrune::high_passed_lows(std::uint32_t mover, std::span<const std::uint32_t> others, int axis) {
  const Bounds a = objects_[mover].before;
  for (const std::uint32_t other : others) {
    if (!keeps_status()) {
      if (overlap(a, objects_[other].before) && other != mover)
        ended_.push_back(pair_of(ObjectId(mover), ObjectId(other)));
      continue;
    }
    if (other == mover) continue;
    std::uint8_t& now = status(mover, other);
    if ((now & kAllAxes) == kAllAxes) ended_.push_back(pair_of(ObjectId(mover), ObjectId(other)));
    now &= static_cast<std::uint8_t>(~(1u << axis));
  }
}

// Within an update a pair may start to overlap along one axis before it stops along another: only the final state
// counts.
void SweepAndPrune::list_final_status() {
  const auto of = [this](const Pair& pair) -> std::uint8_t& { return status(index(pair.first), index(pair.second)); };
  std::erase_if(begun_, [&](const Pair& pair) { return of(pair) != kAllAxes; });
  std::erase_if(ended_, [&](const Pair& pair) {
    return objects_[index(pair.first)].used && objects_[index(pair.second)].used && !(of(pair) & kListed);
  });
  for (const Pair& pair : begun_) of(pair) |= kListed;
  for (const Pair& pair : ended_) of(pair) &= static_cast<std::uint8_t>(~kListed);
}

void SweepAndPrune::apply_changes() {
  if (begun_.empty() && ended_.empty()) return;
  spare_.clear();
  auto begun = begun_.begin();
  auto ended = ended_.begin();
  for (const Pair& pair : pairs_) {
    for (; begun != begun_.end() && *begun < pair; ++begun) spare_.push_back(*begun);
    while (ended != ended_.end() && *ended < pair) ++ended;
    if (ended == ended_.end() || *ended != pair) spare_.push_back(pair);
  }
  spare_.insert(spare_.end(), begun, begun_.end());
  pairs_.swap(spare_);
}

void SweepAndPrune::sweep_afresh() {
  counters_.swept_afresh = true;
  for (int axis = 0; axis < 3; ++axis) {
    for (End& end : ends_[axis]) end = end_now(end, axis);
    std::sort(ends_[axis].begin(), ends_[axis].end());
  }
  int best = 0;
  std::uint64_t fewest = tests_along(0);
  for (int axis = 1; axis < 3; ++axis)
    if (const std::uint64_t tests = tests_along(axis); tests < fewest) best = axis, fewest = tests;
  spare_.clear();
  sweep_along(best);
  counters_.box_tests = fewest;
  const std::uint64_t ends = ends_[0].size();
  swap_budget_ = static_cast<std::uint64_t>(kSwapsPerTest * double(fewest + 3 * ends * std::bit_width(ends)));
  std::sort(spare_.begin(), spare_.end());
  // Pairs of removed objects are already in neither list.
  std::erase_if(ended_, [this](const Pair& pair) {
    return objects_[index(pair.first)].used && objects_[index(pair.second)].used;
  });
  begun_.clear();
  std::set_difference(spare_.begin(), spare_.end(), pairs_.begin(), pairs_.end(), std::back_inserter(begun_));
  std::set_difference(pairs_.begin(), pairs_.end(), spare_.begin(), spare_.end(), std::back_inserter(ended_));
  std::sort(ended_.begin(), ended_.end());
  pairs_.swap(spare_);
  if (keeps_status()) fill_status();
}

// Returns the number of pairs that overlap along the axis.
std::uint64_t SweepAndPrune::tests_along(int axis) const {
  std::uint64_t sum = 0, open = 0;
  for (const End end : ends_[axis]) {
    const Bounds& now = objects_[id_of(end)].now;
    if (now.low[axis] > now.high[axis]) continue;
    if (is_high(end)) {
      --open;
    } else {
      sum += open++;
    }
  }
  return sum;
}

// Writes the overlapping pairs into spare_, unordered.
void SweepAndPrune::sweep_along(int axis) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  active_.clear();
  for (const End end : ends_[axis]) {
    const std::uint32_t id = id_of(end);
    const Bounds& now = objects_[id].now;
    if (now.low[axis] > now.high[axis]) continue;
    if (is_high(end)) {
      active_[slot_[id]] = active_.back();
      slot_[active_.back().id] = slot_[id];
      active_.pop_back();
      continue;
    }
    const Active mine{now.low[u], now.high[u], now.low[v], now.high[v], id};
    for (const Active& other : active_) {
      const bool apart = (mine.low_u > other.high_u) | (other.low_u > mine.high_u) | (mine.low_v > other.high_v) |
                         (other.low_v > mine.high_v);
      if (!apart) spare_.push_back(pair_of(ObjectId(id), ObjectId(other.id)));
    }
    slot_[id] = static_cast<std::uint32_t>(active_.size());
    active_.push_back(mine);
  }
}

void SweepAndPrune::fill_status() {
  for (std::uint32_t a = 0; a < objects_.size(); ++a)
    for (std::uint32_t b = 0; b < a; ++b) {
      const Bounds &of_a = objects_[a].now, &of_b = objects_[b].now;
      std::uint8_t now = 0;
      for (int axis = 0; axis < 3; ++axis)
        if (of_a.low[axis] <= of_b.high[axis] && of_b.low[axis] <= of_a.high[axis])
          now |= static_cast<std::uint8_t>(1u << axis);
      status(a, b) = now == kAllAxes ? kAllAxes | kListed : now;
    }
}

}  // namespace trocar::broad
