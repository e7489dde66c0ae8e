#include "cpu_collision/scan.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "cpu_collision/queries.hpp"
#include "cpu_collision/scan_change.hpp"
#include "geometry/face_numbers.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {
namespace {

// Touches of a usual frame. A frame with more allocates, but only when it exceeds all frames before.
constexpr std::size_t kUsualScanTouches = 4096;

// Masks for the codes of a patch's vertices: kClosed drops them.
constexpr PlaneCode kOpen = 0xff, kClosed = 0;

class ScanQuery final : public TouchQuery {
 public:
  explicit ScanQuery(const ScanKernels& kernels) : kernels_(kernels) {}

  std::string_view name() const override { return "scan"; }
  void rebuild(const MeshView& mesh) override;
  void change_faces(const MeshView& mesh, std::span<const FaceId> removed) override;
  void update(std::span<const glm::vec3> positions) override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override;
  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }
  std::size_t memory_bytes() const override;

 private:
  float* xyz() { return reinterpret_cast<float*>(positions_.data()); }
  const float* xyz() const { return reinterpret_cast<const float*>(positions_.data()); }
  void fit_buffers();
  void take(const float* positions, std::uint32_t first, std::uint32_t last, PatchBox& all);
  void take_last_vertex(const float* positions, PatchBox& all);
  void search_patches(const PlaneLanes<float>& planes);
  void search_seams();
  template <typename CodeOf>
  void collect(const FaceRange& range, CodeOf code_of);
  void settle(const ToolVolume& tool, const ScanPlanes& planes, TouchSet set);
  void report(const ToolVolume& tool, TouchSet set);
  Triangle corners_of(const ScanFace& face) const;

  const ScanKernels& kernels_;
  ScanLayout layout_;
  ScanChange change_;
  std::vector<PatchPositions> positions_;  // [patch] m
  std::vector<PatchBox> boxes_;            // [patch]
  std::vector<PlaneCode> patch_codes_;     // [patch] bits common to all vertices of the patch
  std::vector<PlaneCode> open_;            // [patch] kOpen where vertex_codes_ holds the codes of its vertices
  std::vector<PlaneCode> vertex_codes_;    // [slot]
  std::vector<std::uint32_t> seams_;       // [seam + 1] seams that may hold survivors
  std::vector<std::uint32_t> survivors_;   // [face + 1] indices into layout_.faces, the first survivor_count_ of them
  std::vector<FaceVerdict> verdicts_;      // [face]
  FaceSet touched_;
  std::vector<FaceId> found_;      // touched by one tool, sorted
  std::vector<Triangle> corners_;  // of found_
  TouchBook book_;
  std::size_t survivor_count_ = 0;
  float largest_ = 0.f;  // m, largest absolute coordinate
  StageTimes times_;
  CostCounters counters_;
};

void ScanQuery::rebuild(const MeshView& mesh) {
  layout_ = make_scan_layout(mesh);
  change_.begin(layout_);
  fit_buffers();
  update(mesh.positions);
}

void ScanQuery::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  if (!change_.apply(mesh, removed, layout_)) return rebuild(mesh);
  fit_buffers();
  update(mesh.positions);
}

void ScanQuery::fit_buffers() {
  const std::size_t faces = layout_.index_of.size();
  positions_.resize(layout_.patch_count);
  boxes_.resize(layout_.patch_count);
  patch_codes_.resize(layout_.patch_count);
  open_.resize(layout_.patch_count);
  seams_.resize(layout_.seams.size() + 1);
  vertex_codes_.resize(layout_.source.size());
  survivors_.resize(faces + 1);
  verdicts_.resize(faces);
  touched_.resize(faces);
  const std::size_t usual = std::min(faces, kUsualScanTouches);
  found_.reserve(usual);
  corners_.reserve(usual);
  book_.reserve(usual);
}

void ScanQuery::take(const float* positions, std::uint32_t first, std::uint32_t last, PatchBox& all) {
  if (first == last) return;
  kernels_.take_patches(positions, layout_.source.data() + std::size_t{first} * kPatchVertices, last - first,
                        positions_[first].xyz, boxes_.data() + first, all);
}

// Takes the patch of the caller's last vertex from a padded copy: vector loads read one float past a vertex.
void ScanQuery::take_last_vertex(const float* positions, PatchBox& all) {
  const std::uint32_t patch = layout_.last_vertex_patch;
  const std::uint32_t* source = layout_.source.data() + std::size_t{patch} * kPatchVertices;
  std::array<float, 3 * kPatchVertices + 1> copy;
  std::array<std::uint32_t, kPatchVertices> offset;
  for (std::uint32_t i = 0; i < kPatchVertices; ++i) {
    std::memcpy(copy.data() + 3 * i, positions + source[i], 3 * sizeof(float));
    offset[i] = 3 * i;
  }
  copy.back() = 0.f;
  kernels_.take_patches(copy.data(), offset.data(), 1, positions_[patch].xyz, boxes_.data() + patch, all);
}

void ScanQuery::update(std::span<const glm::vec3> positions) {
  assert(positions.size() == layout_.vertex_count);
  const Clock::time_point start = Clock::now();
  times_ = {};
  if (layout_.patch_count > 0) {
    constexpr float kMax = std::numeric_limits<float>::max();
    PatchBox all{{kMax, kMax, kMax, kMax}, {-kMax, -kMax, -kMax, -kMax}};
    const float* floats = &positions[0].x;
    const std::uint32_t careful = layout_.last_vertex_patch;
    take(floats, 0, careful, all);
    take_last_vertex(floats, all);
    take(floats, careful + 1, layout_.patch_count, all);
    largest_ = 0.f;
    for (int axis = 0; axis < 3; ++axis)
      largest_ = std::max({largest_, std::abs(all.low[axis]), std::abs(all.high[axis])});
  }
  counters_.updated_nodes = layout_.patch_count;
  times_.update_ms = milliseconds_since(start);
}

TouchList ScanQuery::touched(std::span<const ToolVolume> tools, TouchSet set) {
  times_ = {.update_ms = times_.update_ms};
  counters_ = {.updated_nodes = counters_.updated_nodes};
  book_.open();
  for (const ToolVolume& tool : tools) {
    const Clock::time_point start = Clock::now();
    const ScanPlanes planes = scan_planes(tool, largest_);
    search_patches(planes.out);
    search_seams();
    times_.search_ms += milliseconds_since(start);
    const Clock::time_point searched = Clock::now();
    settle(tool, planes, set);
    report(tool, set);
    times_.refine_ms += milliseconds_since(searched);
  }
  return book_.list();
}

// Computes the patch codes; for patches outside no plane, also the vertex codes and the survivors among the inner
// faces.
void ScanQuery::search_patches(const PlaneLanes<float>& planes) {
  kernels_.box_codes(planes, boxes_.data(), layout_.patch_count, patch_codes_.data());
  std::fill(open_.begin(), open_.end(), kClosed);
  counters_.volume_tests += layout_.patch_count;
  survivor_count_ = 0;
  for (std::uint32_t patch = 0; patch < layout_.patch_count; ++patch) {
    if (patch_codes_[patch]) continue;
    const std::size_t first = std::size_t{patch} * kPatchVertices;
    patch_codes_[patch] = kernels_.vertex_codes(planes, xyz() + 3 * first, vertex_codes_.data() + first);
    open_[patch] = kOpen;
    if (patch_codes_[patch]) continue;
    const PlaneCode* codes = vertex_codes_.data();
    collect(layout_.within[patch], [codes](std::uint32_t slot) { return codes[slot]; });
  }
}

// Survivors among the faces that cross from patch to patch. For an unopened patch, its code stands for its vertices.
void ScanQuery::search_seams() {
  const PlaneCode* codes = patch_codes_.data();
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < layout_.seams.size(); ++s) {
    const std::uint32_t* patch = layout_.seams[s].patch;
    seams_[count] = s;
    count += (codes[patch[0]] & codes[patch[1]] & codes[patch[2]] & codes[patch[3]] & codes[patch[4]]) == 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    collect(layout_.seams[seams_[i]].faces, [this](std::uint32_t slot) {
      const std::uint32_t patch = slot / kPatchVertices;
      return patch_codes_[patch] | (vertex_codes_[slot] & open_[patch]);
    });
  }
}

// Appends the faces whose three codes share no bit. Branch-free, because the outcome is unpredictable.
template <typename CodeOf>
void ScanQuery::collect(const FaceRange& range, CodeOf code_of) {
  std::uint32_t* survivors = survivors_.data();
  std::size_t count = survivor_count_;
  for (std::uint32_t f = range.first; f < range.last; ++f) {
    const ScanFace& face = layout_.faces[f];
    survivors[count] = f;
    count += (code_of(face.corner[0]) & code_of(face.corner[1]) & code_of(face.corner[2])) == 0;
  }
  survivor_count_ = count;
}

// For the exact set every survivor is a candidate. The volume's float planes may cut off a part of the sweep (30
// micrometres deep, 300 m from the origin); the planes of the survivor test lie farther out than that.
void ScanQuery::settle(const ToolVolume& tool, const ScanPlanes& planes, TouchSet set) {
  const std::span<const std::uint32_t> survivors = std::span(survivors_).first(survivor_count_);
  counters_.face_tests += survivors.size();
  if (set == TouchSet::Exact) {
    for (const std::uint32_t i : survivors) touched_.insert_if(true, layout_.faces[i].face);
    return;
  }
  kernels_.classify_faces(planes, xyz(), layout_.faces.data(), survivors, verdicts_.data());
  for (std::size_t i = 0; i < survivors.size(); ++i) {
    const ScanFace& face = layout_.faces[survivors[i]];
    bool in = verdicts_[i] == FaceVerdict::In;
    if (verdicts_[i] == FaceVerdict::Clip) in = face_touches_volume(corners_of(face), tool);
    touched_.insert_if(in, face.face);
  }
}

void ScanQuery::report(const ToolVolume& tool, TouchSet set) {
  found_.clear();
  touched_.drain([&](std::uint32_t face) { found_.push_back(FaceId{face}); });
  corners_.clear();
  if (set == TouchSet::Exact)
    for (const FaceId face : found_) corners_.push_back(corners_of(layout_.faces[layout_.index_of[index(face)]]));
  book_.add_tool(tool, set, std::span<const Triangle>(corners_), found_);
}

Triangle ScanQuery::corners_of(const ScanFace& face) const {
  const auto corner = [&](int i) {
    const float* point = xyz() + std::size_t{3} * face.corner[i];
    return glm::dvec3(point[0], point[1], point[2]);
  };
  return {corner(0), corner(1), corner(2)};
}

std::size_t ScanQuery::memory_bytes() const {
  return sizeof(*this) + trocar::memory_bytes(layout_) + change_.memory_bytes() + touched_.memory_bytes() +
         book_.memory_bytes() +
         held_bytes(positions_, boxes_, patch_codes_, open_, seams_, vertex_codes_, survivors_, verdicts_, found_,
                    corners_);
}

}  // namespace

std::vector<FaceId> scan_volume(const MeshView& mesh, const ToolVolume& tool) {
  std::vector<float> xyz;
  for (const glm::vec3& position : mesh.positions) xyz.insert(xyz.end(), {position.x, position.y, position.z});
  const ScanPlanes planes = scan_planes(tool, 0.f);
  std::vector<FaceId> in;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const ScanFace face{{mesh.faces[f].x, mesh.faces[f].y, mesh.faces[f].z}, f};
    const std::array<std::uint32_t, 1> listed{0};
    FaceVerdict verdict;
    plain_scan_kernels().classify_faces(planes, xyz.data(), &face, listed, &verdict);
    if (verdict == FaceVerdict::Clip)
      verdict =
          face_touches_volume(triangle_of(mesh.positions, mesh.faces[f]), tool) ? FaceVerdict::In : FaceVerdict::Out;
    if (verdict == FaceVerdict::In) in.push_back(FaceId{f});
  }
  return in;
}

std::unique_ptr<TouchQuery> make_scan_query(const ScanKernels& kernels) { return std::make_unique<ScanQuery>(kernels); }
std::unique_ptr<TouchQuery> make_scan_query() { return make_scan_query(best_scan_kernels()); }

}  // namespace trocar
