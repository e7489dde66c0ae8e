// Runs Embree 3 as a contestant, on a device of one thread. A dynamic scene of triangles, rebuilt in Morton order or
// refitted every frame, is queried with a chain of ball queries along the shaft. The same scene as boxes of a user
// geometry is queried with rtcCollide.
#include <embree3/rtcore.h>

#include <array>
#include <cstring>

#include "bench/contestant.hpp"

namespace trocar::bench {
namespace {

// The fastest of 4 .. 64 on the liver, for each kind of query.
constexpr std::size_t kBalls = 32, kBoxes = 16;

enum class Form { TrianglesAskedWithBalls, BoxesAskedWithBoxes };

class EmbreeTree final : public Contestant {
 public:
  EmbreeTree(RTCBuildQuality quality, Form form) : quality_(quality), form_(form) {
    device_ = rtcNewDevice("threads=1,set_affinity=0");
    scene_ = new_scene(quality_);
    tool_scene_ = new_scene(RTC_BUILD_QUALITY_LOW);
    tool_boxes_ = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(tool_boxes_, kBoxes);
    rtcSetGeometryUserData(tool_boxes_, this);
    rtcSetGeometryBoundsFunction(tool_boxes_, tool_bounds, nullptr);
    rtcSetGeometryBuildQuality(tool_boxes_, RTC_BUILD_QUALITY_LOW);
    rtcAttachGeometry(tool_scene_, tool_boxes_);
  }

  ~EmbreeTree() override {
    if (organ_) rtcReleaseGeometry(organ_);
    rtcReleaseGeometry(tool_boxes_);
    rtcReleaseScene(tool_scene_);
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }

  void rebuild(const MeshView& mesh) override {
    faces_.assign(mesh.faces.begin(), mesh.faces.end());
    positions_.assign(mesh.positions.begin(), mesh.positions.end());
    positions_.resize(positions_.size() + 2);  // Embree reads 16 bytes per vertex
    vertex_count_ = mesh.positions.size();
    if (organ_) {
      rtcDetachGeometry(scene_, 0);
      rtcReleaseGeometry(organ_);
    }
    organ_ = form_ == Form::TrianglesAskedWithBalls ? triangle_geometry() : box_geometry();
    rtcSetGeometryBuildQuality(organ_, quality_);
    rtcCommitGeometry(organ_);
    rtcAttachGeometryByID(scene_, organ_, 0);
    rtcCommitScene(scene_);
  }

  void update(std::span<const glm::vec3> positions) override {
    std::memcpy(positions_.data(), positions.data(), positions.size_bytes());
    if (form_ == Form::TrianglesAskedWithBalls) rtcUpdateGeometryBuffer(organ_, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(organ_);
    rtcCommitScene(scene_);
  }

  void query(const ToolVolume& tool) override {
    candidates_.clear();
    const Polytope polytope = polytope_of(tool);
    if (form_ == Form::TrianglesAskedWithBalls)
      ask_with_balls(polytope, tool);
    else
      ask_with_boxes(polytope, tool);
    candidates_.decide({std::span(positions_).first(vertex_count_), faces_}, tool);
  }

  std::vector<FaceId> answer() const override { return candidates_.faces(); }

 private:
  RTCScene new_scene(RTCBuildQuality quality) {
    const RTCScene scene = rtcNewScene(device_);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_DYNAMIC);
    rtcSetSceneBuildQuality(scene, quality == RTC_BUILD_QUALITY_REFIT ? RTC_BUILD_QUALITY_LOW : quality);
    return scene;
  }

  RTCGeometry triangle_geometry() {
    const RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, positions_.data(), 0,
                               sizeof(glm::vec3), vertex_count_);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, faces_.data(), 0,
                               sizeof(glm::uvec3), faces_.size());
    return geometry;
  }

  RTCGeometry box_geometry() {
    const RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(faces_.size()));
    rtcSetGeometryUserData(geometry, this);
    rtcSetGeometryBoundsFunction(geometry, face_bounds, nullptr);
    return geometry;
  }

  static void set_bounds(RTCBounds& bounds, const glm::vec3& low, const glm::vec3& high) {
    bounds = {low.x, low.y, low.z, 0.f, high.x, high.y, high.z, 0.f};
  }

  static void face_bounds(const RTCBoundsFunctionArguments* args) {
    const auto& self = *static_cast<const EmbreeTree*>(args->geometryUserPtr);
    const glm::uvec3& face = self.faces_[args->primID];
    const glm::vec3 &a = self.positions_[face.x], &b = self.positions_[face.y], &c = self.positions_[face.z];
    set_bounds(*args->bounds_o, glm::min(glm::min(a, b), c), glm::max(glm::max(a, b), c));
  }

  static void tool_bounds(const RTCBoundsFunctionArguments* args) {
    const auto& self = *static_cast<const EmbreeTree*>(args->geometryUserPtr);
    const Piece& piece = self.boxes_[args->primID];
    set_bounds(*args->bounds_o, piece.low, piece.high);
  }

  void ask_with_balls(const Polytope& polytope, const ToolVolume& tool) {
    std::array<Piece, kBalls> pieces;
    slice(polytope, tool, pieces);
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    for (const Piece& piece : pieces) {
      const glm::vec3 centre = piece.centre();
      RTCPointQuery ball{centre.x, centre.y, centre.z, 0.f, piece.radius()};
      rtcPointQuery(scene_, &ball, &context, offer_face, &candidates_);
    }
  }

  static bool offer_face(RTCPointQueryFunctionArguments* args) {
    static_cast<Candidates*>(args->userPtr)->offer(args->primID);
    return false;
  }

  void ask_with_boxes(const Polytope& polytope, const ToolVolume& tool) {
    slice(polytope, tool, boxes_);
    rtcCommitGeometry(tool_boxes_);
    rtcCommitScene(tool_scene_);
    rtcCollide(scene_, tool_scene_, offer_collisions, &candidates_);
  }

  static void offer_collisions(void* candidates, RTCCollision* collisions, unsigned int count) {
    for (unsigned int i = 0; i < count; ++i) static_cast<Candidates*>(candidates)->offer(collisions[i].primID0);
  }

  RTCBuildQuality quality_;
  Form form_;
  RTCDevice device_ = nullptr;
  RTCScene scene_ = nullptr, tool_scene_ = nullptr;
  RTCGeometry organ_ = nullptr, tool_boxes_ = nullptr;
  std::vector<glm::vec3> positions_;
  std::vector<glm::uvec3> faces_;
  std::size_t vertex_count_ = 0;
  std::array<Piece, kBoxes> boxes_{};
  Candidates candidates_;
};

Entry entry(std::string name, std::string how, RTCBuildQuality quality, Form form) {
  return {std::move(name), true, std::move(how), [=] { return std::make_unique<EmbreeTree>(quality, form); }};
}

}  // namespace

std::vector<Entry> embree_entries() {
  constexpr auto kTriangles = Form::TrianglesAskedWithBalls, kFaceBoxes = Form::BoxesAskedWithBoxes;
  return {entry("embree_morton", "triangles rebuilt in Morton order; candidates by ball queries, decided by our clip",
                RTC_BUILD_QUALITY_LOW, kTriangles),
          entry("embree_refit", "triangles refitted; candidates by ball queries, decided by our clip",
                RTC_BUILD_QUALITY_REFIT, kTriangles),
          entry("embree_morton_boxes", "boxes rebuilt in Morton order; candidates by rtcCollide, decided by our clip",
                RTC_BUILD_QUALITY_LOW, kFaceBoxes),
          entry("embree_refit_boxes", "boxes refitted; candidates by rtcCollide, decided by our clip",
                RTC_BUILD_QUALITY_REFIT, kFaceBoxes)};
}

}  // namespace trocar::bench
