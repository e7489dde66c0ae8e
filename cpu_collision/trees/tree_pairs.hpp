// Implements the queries of VolumeTreeQuery for pairs of faces of two trees, or of one tree with itself. Where two
// volumes overlap, the traversal descends into the larger. Each .cpp file that makes a kind of tree includes this file.
#pragma once

#include "cpu_collision/trees/tree_query.hpp"

namespace trocar {

// Faces count as meeting during the motion when they come this close, as a part of the largest coordinate.
constexpr double kMeetingTolerance = 1e-7;

template <class Volume>
template <class Visit>
void VolumeTreeQuery<Volume>::open(TreePart part, Visit visit) const {
  if (tree_.own[part.node] > 0) visit(TreePart{part.node, true});
  for (std::uint32_t c = part.node + 1; c != tree_.skip[part.node]; c = tree_.skip[c]) visit(TreePart{c, false});
}

// Compares a part with itself: compares each of its own parts with itself and with those after it.
template <class Volume>
void VolumeTreeQuery<Volume>::open_same(TreePart part) {
  open(part, [&](TreePart first) {
    open_pairs_.push_back({first, first});
    bool after = false;
    open(part, [&](TreePart second) {
      if (after) open_pairs_.push_back({first, second});
      after = after || second == first;
    });
  });
}

template <class Volume>
template <class Test>
void VolumeTreeQuery<Volume>::walk_pairs(const VolumeTreeQuery& other, Test test) {
  begin_question();
  pairs_.clear();
  open_pairs_.clear();
  if (tree_.nodes.empty() || other.tree_.nodes.empty()) return;
  open_pairs_.push_back({{0, false}, {0, false}});
  while (!open_pairs_.empty()) {
    const TreePart a = open_pairs_.back().first, b = open_pairs_.back().second;
    open_pairs_.pop_back();
    const bool same = this == &other && a == b;
    if (!same) {
      ++counters_.volume_tests;
      if (!overlap(tree_.nodes[a.node], other.tree_.nodes[b.node])) continue;
    }
    if (closed(a) && other.closed(b)) {
      test(own_slots(a.node), other.own_slots(b.node), same);
    } else if (same) {
      open_same(a);
    } else if (other.closed(b) || (!closed(a) && size_of(tree_.nodes[a.node]) >= size_of(other.tree_.nodes[b.node]))) {
      open(a, [&](TreePart part) { open_pairs_.push_back({part, b}); });
    } else {
      other.open(b, [&](TreePart part) { open_pairs_.push_back({a, part}); });
    }
  }
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::pair_answer() {
  std::sort(pairs_.begin(), pairs_.end());
  return {pairs_, counters_};
}

namespace tree_pairs {

// A face with its box, which separates most pairs of a leaf's faces.
struct BoxedFace {
  glm::vec3 corner[3];
  glm::vec3 low, high;

  BoxedFace(std::span<const glm::vec3> positions, const glm::uvec3& face)
      : corner{positions[face.x], positions[face.y], positions[face.z]},
        low(glm::min(glm::min(corner[0], corner[1]), corner[2])),
        high(glm::max(glm::max(corner[0], corner[1]), corner[2])) {}
  bool sound() const { return has_area(corner[0], corner[1], corner[2]); }
};

inline bool apart(const BoxedFace& a, const BoxedFace& b) {
  return glm::any(glm::lessThan(a.high, b.low)) || glm::any(glm::lessThan(b.high, a.low));
}

// Returns the box around a face's motion.
inline SweptBox swept_box(const PaddedPositions& before, const PaddedPositions& after, const glm::uvec3& face) {
  SweptBox box{before[face.x], before[face.x]};
  for (const PaddedPositions* positions : {&before, &after})
    for (int k = 0; k < 3; ++k) {
      const Lanes4 corner = (*positions)[face[k]];
      box = {min(box.low, corner), max(box.high, corner)};
    }
  return {first_three(box.low), first_three(box.high)};
}

inline bool apart(const SweptBox& a, const SweptBox& b) {
  return negative_lanes(min(a.high - b.low, b.high - a.low)) != 0;
}

inline bool share_a_vertex(const glm::uvec3& a, const glm::uvec3& b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (a[i] == b[j]) return true;
  return false;
}

}  // namespace tree_pairs

// Returns `other` itself, or a tree of our kind over its faces.
template <class Volume>
const VolumeTreeQuery<Volume>& VolumeTreeQuery<Volume>::of_this_kind(const SurfaceTree& other) {
  if (const auto* same = dynamic_cast<const VolumeTreeQuery*>(&other)) return *same;
  if (!guest_) {
    TreePlan plan = plan_;
    plan.update = TreeUpdate::Rebuild;  // its build keeps its scratch buffers
    guest_ = std::make_unique<VolumeTreeQuery>(name_, plan);
  }
  guest_->rebuild(other.mesh());
  return *guest_;
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::crossing(const SurfaceTree& other_tree) {
  using tree_pairs::BoxedFace;
  const VolumeTreeQuery& other = of_this_kind(other_tree);
  walk_pairs(other, [&](IndexRange ours, IndexRange theirs, bool) {
    for (std::uint32_t i = ours.first; i < ours.first + ours.count; ++i) {
      const std::uint32_t f = tree_.face_of_slot[i];
      const BoxedFace face(positions_.view(), faces_[f]);
      for (std::uint32_t j = theirs.first; j < theirs.first + theirs.count; ++j) {
        const std::uint32_t g = other.tree_.face_of_slot[j];
        const BoxedFace against(other.positions_.view(), other.faces_[g]);
        ++counters_.face_tests;
        if (tree_pairs::apart(face, against)) continue;
        if (solids::faces_cross_exactly(face.corner, against.corner)) pairs_.emplace_back(f, g);
      }
    }
  });
  return pair_answer();
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::self_crossing() {
  using tree_pairs::BoxedFace;
  walk_pairs(*this, [&](IndexRange ours, IndexRange theirs, bool same) {
    for (std::uint32_t i = ours.first; i < ours.first + ours.count; ++i) {
      const std::uint32_t f = tree_.face_of_slot[i];
      const BoxedFace face(positions_.view(), faces_[f]);
      for (std::uint32_t j = same ? i + 1 : theirs.first; j < theirs.first + theirs.count; ++j) {
        const std::uint32_t g = tree_.face_of_slot[j];
        const BoxedFace against(positions_.view(), faces_[g]);
        ++counters_.face_tests;
        if (tree_pairs::apart(face, against) || !face.sound() || !against.sound()) continue;
        if (contact_of(face.corner, against.corner) != Contact::None)
          pairs_.emplace_back(std::min(f, g), std::max(f, g));
      }
    }
  });
  return pair_answer();
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::self_crossing_on_the_way(std::span<const glm::vec3> after) {
  after_.assign(after);
  const float largest = std::max(reach_, reach_of(after));
  fit_tree<Volume>(positions_, &after_, largest, tree_);
  const double tolerance = kMeetingTolerance * static_cast<double>(largest);
  swept_.resize(faces_.size());
  for (std::size_t f = 0; f < faces_.size(); ++f) swept_[f] = tree_pairs::swept_box(positions_, after_, faces_[f]);
  const auto motion = [&](std::uint32_t face) {
    return MovingTriangle{triangle(face), triangle_of(after_.view(), faces_[face])};
  };
  walk_pairs(*this, [&](IndexRange ours, IndexRange theirs, bool same) {
    for (std::uint32_t i = ours.first; i < ours.first + ours.count; ++i) {
      const std::uint32_t f = tree_.face_of_slot[i];
      for (std::uint32_t j = same ? i + 1 : theirs.first; j < theirs.first + theirs.count; ++j) {
        const std::uint32_t g = tree_.face_of_slot[j];
        if (tree_pairs::share_a_vertex(faces_[f], faces_[g])) continue;
        ++counters_.face_tests;
        if (tree_pairs::apart(swept_[f], swept_[g])) continue;
        if (triangles_meet_at_all(motion(f), motion(g), tolerance)) pairs_.emplace_back(std::min(f, g), std::max(f, g));
      }
    }
  });
  return pair_answer();
}

}  // namespace trocar
