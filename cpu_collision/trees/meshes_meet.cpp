#include "cpu_collision/trees/meshes_meet.hpp"

#include <algorithm>

#include "cpu_collision/solids/exact_edge.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {
namespace {

// The boxes of the faces' motions, each as a face whose corners are opposite corners of the box, for a tree of boxes.
class SweptBoxes {
 public:
  void add(const MovingMesh& mesh) {
    for (const glm::uvec3& face : mesh.faces) {
      glm::vec3 low(mesh.before[face.x]), high(low);
      for (int corner = 0; corner < 3; ++corner)
        for (const glm::vec3& p : {mesh.before[face[corner]], mesh.after[face[corner]]}) {
          low = glm::min(low, p);
          high = glm::max(high, p);
        }
      const auto first = static_cast<std::uint32_t>(boxes_.positions.size());
      boxes_.positions.push_back(low);
      boxes_.positions.push_back(high);
      boxes_.faces.push_back({first, first + 1, first});
    }
  }
  MeshView view() const { return boxes_.view(); }

 private:
  TriangleMesh boxes_;
};

MovingTriangle motion_of(const MovingMesh& mesh, std::uint32_t face) {
  return {triangle_of(mesh.before, mesh.faces[face]), triangle_of(mesh.after, mesh.faces[face])};
}

bool cross_at_the_start(const MovingMesh& first, std::uint32_t f, const MovingMesh& second, std::uint32_t g) {
  glm::vec3 a[3], b[3];
  for (int corner = 0; corner < 3; ++corner) {
    a[corner] = first.before[first.faces[f][corner]];
    b[corner] = second.before[second.faces[g][corner]];
  }
  return solids::faces_cross_exactly(a, b);
}

}  // namespace

std::vector<FaceMeeting> meshes_meet(const MovingMesh& first, const MovingMesh& second, double tolerance) {
  std::vector<FaceMeeting> meetings;
  if (first.faces.empty() || second.faces.empty()) return meetings;
  SweptBoxes boxes;
  boxes.add(first);
  boxes.add(second);
  const FaceTree tree = build_face_tree(boxes.view());
  const auto own = static_cast<std::uint32_t>(first.faces.size());
  for_each_overlapping_pair(tree, [&](std::uint32_t f, std::uint32_t box) {
    if (f >= own || box < own) return;
    const std::uint32_t g = box - own;
    if (cross_at_the_start(first, f, second, g)) {
      meetings.push_back({FaceId(f), FaceId(g), 0.0, 0.0});
    } else if (const auto meeting = triangles_meet(motion_of(first, f), motion_of(second, g), tolerance)) {
      meetings.push_back({FaceId(f), FaceId(g), meeting->time, meeting->apart});
    }
  });
  std::sort(meetings.begin(), meetings.end(), [](const FaceMeeting& a, const FaceMeeting& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  return meetings;
}

std::optional<FaceMeeting> first_contact(std::span<const FaceMeeting> meetings) {
  const auto earliest = std::min_element(meetings.begin(), meetings.end(),
                                         [](const FaceMeeting& a, const FaceMeeting& b) { return a.time < b.time; });
  return earliest == meetings.end() ? std::nullopt : std::optional(*earliest);
}

}  // namespace trocar
