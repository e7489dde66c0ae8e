// Queries a BSP tree of a mesh at rest for the faces that a segment meets, front to back, and for the side on which a
// point lies. Source: section 5 of the game-engine report; the walk from front to back is that of Fuchs, Kedem, Naylor,
// "On visible surface generation by a priori tree structures", SIGGRAPH 1980. Units: metres.   Checked against brute
// force over all faces and against the winding number in tests/study/bsp_test.cpp
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cpu_collision/solids/point_in_solid.hpp"
#include "study/bsp/bsp_tree.hpp"

namespace trocar {

struct SegmentMeeting {
  FaceId face;
  double t;  // 1  where on the segment, 0 .. 1, the face is first met
};

// Returns where the segment first comes within `tolerance` of the face, also when it lies in the face's plane. Faces
// without area count as lines.
std::optional<double> first_meeting(const glm::dvec3& from, const glm::dvec3& to, const Triangle& face,
                                    double tolerance);

class BspSolid {
 public:
  // The view must outlive the object.
  explicit BspSolid(const MeshView& mesh, const BspParams& params = {});

  // Returns all faces that the closed segment meets, by t, then by face. Valid until the next query.
  std::span<const SegmentMeeting> crossed(const glm::dvec3& from, const glm::dvec3& to);
  // Returns the first face that the segment meets.
  std::optional<SegmentMeeting> first_crossed(const glm::dvec3& from, const glm::dvec3& to);
  // Decides where the point lies, for a closed surface with outward faces. Uses the winding number in an unsplit leaf,
  // and where the tree cannot decide.
  solids::PointLocation locate(const glm::dvec3& point) const;

  const BspTree& tree() const { return tree_; }

 private:
  struct Stretch {
    std::uint32_t node;
    double from, to;
  };
  void walk(const glm::dvec3& from, const glm::dvec3& to, bool only_first);
  void meet_faces(const BspNode& node, const glm::dvec3& from, const glm::dvec3& to);
  bool on_a_face(const BspNode& node, const glm::dvec3& point) const;
  std::optional<solids::PointLocation> locate_below(std::uint32_t node, const glm::dvec3& point) const;

  MeshView mesh_;
  BspTree tree_;
  std::vector<std::uint32_t> asked_;  // [face] the last query that tested it
  std::uint32_t question_ = 0;
  std::vector<Stretch> waiting_;
  std::vector<SegmentMeeting> meetings_;
  double nearest_ = 0.0;  // smallest t of this query
};

}  // namespace trocar
