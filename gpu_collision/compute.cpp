// Answers the touch query by compute shaders. A face with all corners outside one plane is rejected, a face with a
// corner inside all planes is accepted; the host decides the few others in double, from the corners that the GPU
// returns with them. All tools share one submission; all organs of a frame share one wait. Based on: the volumes of
// Lombardo, Cani, Neyret, "Real-time collision detection for virtual surgery", Computer Animation 1999, with Cohen and
// Sutherland's outcodes. We differ: faces lie in blocks of neighbours; on software OpenGL, a block wholly outside one
// plane is rejected before its faces are tested (best_compute_tuning). Units: metres.
// Checked against the reference in tests/gpu_collision/query_test.cpp; measured by bench/gpu_kit
#include "gpu_collision/compute.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "geometry/face_numbers.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "geometry/tool_volume.hpp"
#include "gpu_collision/gl_fault.hpp"

namespace trocar {
namespace {

// Converts the GPU's records to the answer: unordered (face, tool) pairs in float become the sorted touch list, with
// every uncertain face decided in double from the corners that the GPU saw. It contains no OpenGL.

// One face that may touch one tool's volume, as the shader writes it.
struct ComputeRecord {
  std::uint32_t slot;  // of the face (compute.hpp); bit 31: certain touch
  std::uint32_t tool;
  glm::vec3 a, b, c;  // m
  std::uint32_t unused;
};
static_assert(sizeof(ComputeRecord) == 48);
constexpr std::uint32_t kCertainTouch = 0x8000'0000u;

// Keeps its storage: allocates only when an answer has more touches than all earlier ones.
class ComputeAnswer {
 public:
  void resize(std::size_t faces);  // for a new mesh; the list becomes empty
  // Makes the list of touches from `records`, which holds every touching (face, tool) at least once and may hold
  // others. Returns false, with an empty list, when a record names a slot or a tool that does not exist.
  bool settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
              std::span<const std::uint32_t> face_of_slot);
  void clear() { book_.open(); }  // empties the list: no tools, no touches
  // Appends tools without touches up to this number of tools.
  void pad(std::size_t tools) { book_.pad(tools); }
  TouchList list() const { return book_.list(); }
  std::size_t memory_bytes() const;

 private:
  bool bucket_by_tool(std::span<const ComputeRecord> records, std::size_t tools, std::size_t slots);

  TouchBook book_;
  std::vector<std::uint32_t> bucketed_, ends_;  // [record] record numbers by tool; [tool] end of its records
  FaceSet members_;                             // candidates of one tool; empty between calls
  std::vector<std::uint32_t> record_of_;        // [face] of a member
  std::vector<FaceId> candidates_;              // the members, sorted
  std::vector<Triangle> corners_;               // [candidate]
};

Triangle triangle_of(const ComputeRecord& record) {
  return {glm::dvec3(record.a), glm::dvec3(record.b), glm::dvec3(record.c)};
}

void ComputeAnswer::resize(std::size_t faces) {
  members_.resize(faces);
  record_of_.resize(faces);
  clear();
}

bool ComputeAnswer::settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
                           std::span<const std::uint32_t> face_of_slot) {
  clear();
  if (!bucket_by_tool(records, tools.size(), face_of_slot.size())) return false;
  std::uint32_t begin = 0;
  for (std::size_t tool = 0; tool < tools.size(); begin = ends_[tool++]) {
    for (std::uint32_t i = begin; i < ends_[tool]; ++i) {
      const ComputeRecord& record = records[bucketed_[i]];
      const bool in = set == TouchSet::Exact || (record.slot & kCertainTouch) != 0 ||
                      face_touches_volume(triangle_of(record), tools[tool]);
      if (!in) continue;
      const std::uint32_t face = face_of_slot[record.slot & ~kCertainTouch];
      members_.insert(face);
      record_of_[face] = bucketed_[i];
    }
    candidates_.clear();
    corners_.clear();
    members_.drain([&](std::uint32_t face) {
      candidates_.push_back(FaceId{face});
      if (set == TouchSet::Exact) corners_.push_back(triangle_of(records[record_of_[face]]));
    });
    book_.add_tool(tools[tool], set, std::span<const Triangle>(corners_), candidates_);
  }
  return true;
}

std::size_t ComputeAnswer::memory_bytes() const {
  return book_.memory_bytes() + members_.memory_bytes() +
         held_bytes(candidates_, corners_, record_of_, bucketed_, ends_);
}

// Counting sort: ends_ first holds counts, then the position of each tool's next record.
bool ComputeAnswer::bucket_by_tool(std::span<const ComputeRecord> records, std::size_t tools, std::size_t slots) {
  ends_.assign(tools, 0);
  for (const ComputeRecord& record : records) {
    if (record.tool >= tools || (record.slot & ~kCertainTouch) >= slots) return false;
    ++ends_[record.tool];
  }
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends_) begin += std::exchange(end, begin);
  bucketed_.resize(records.size());
  for (std::uint32_t i = 0; i < records.size(); ++i) bucketed_[ends_[records[i].tool]++] = i;
  return true;
}

// Holds the faces of `compute` in blocks, on the host and in buffers on the GPU. A change of faces uploads only what it
// changes. The OpenGL context must be current.
class ComputeMesh {
 public:
  ComputeMesh();
  void clear() { blocks_ = {}; }  // on the host
  void rebuild(const MeshView& mesh);
  // Applies a change as TouchQuery::change_faces() defines it. Returns false when the faces must be rebuilt instead.
  bool change_faces(const MeshView& mesh, std::span<const FaceId> removed);
  // Uploads the change. Two calls, because the change may turn out to be too large for the GPU.
  void upload_change();

  std::uint32_t block_count() const { return blocks_.block_count(); }
  std::span<const std::uint32_t> face_of_slot() const { return blocks_.face_of_slot; }
  // The textures that the shaders read: vertices and ranges of the blocks, corners of the faces.
  std::array<gl::Name, 3> textures() const {
    return {block_vertices_.texture(), block_ranges_.texture(), corners_.texture()};
  }
  std::size_t memory_bytes() const;

 private:
  FaceBlocks blocks_;
  BlockChange change_;
  gl::TexelBuffer corners_, block_vertices_, block_ranges_;
};

constexpr std::size_t kNumber = sizeof(std::uint32_t), kBlock = 3 * kBlockFaces * kNumber;  // bytes

void write(gl::TexelBuffer& texture, const std::vector<std::uint32_t>& values, std::size_t first, std::size_t last) {
  texture.write(reinterpret_cast<const std::byte*>(values.data()), first * kNumber, (last - first) * kNumber);
}

ComputeMesh::ComputeMesh() : corners_(GL_R32UI), block_vertices_(GL_R32UI), block_ranges_(GL_R32UI) {}

void ComputeMesh::rebuild(const MeshView& mesh) {
  blocks_ = make_face_blocks(mesh);
  write(corners_, blocks_.corners, 0, blocks_.corners.size());
  write(block_vertices_, blocks_.vertices, 0, blocks_.vertices.size());
  write(block_ranges_, blocks_.ranges, 0, blocks_.ranges.size());
}

bool ComputeMesh::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  return change_.apply(mesh, removed, blocks_);
}

// The corners are written from the last block down: if the buffer must grow, that write uploads everything.
void ComputeMesh::upload_change() {
  const std::span<const std::uint32_t> changed = change_.changed();
  for (std::size_t k = changed.size(); k-- > 0;)
    corners_.write(reinterpret_cast<const std::byte*>(blocks_.corners.data()), changed[k] * kBlock, kBlock);
  write(block_vertices_, blocks_.vertices, change_.first_vertex(), blocks_.vertices.size());
  write(block_ranges_, blocks_.ranges, 0, blocks_.ranges.size());
}

std::size_t ComputeMesh::memory_bytes() const {
  return corners_.bytes() + block_vertices_.bytes() + block_ranges_.bytes() + trocar::memory_bytes(blocks_) +
         change_.memory_bytes();
}

// Runs one call of `compute` on the GPU: writes the tools' planes, dispatches the shaders, and reads the records. Tools
// and records lie in buffers in host memory that stay mapped, so that a call copies nothing. The OpenGL context must be
// current.
class ComputeCall {
 public:
  ComputeCall(GlContext& context, const ComputeTuning& tuning, gl::FaultWatch& fault);
  ~ComputeCall();
  ComputeCall(const ComputeCall&) = delete;
  ComputeCall& operator=(const ComputeCall&) = delete;

  // The organ: textures of positions, block vertices, block ranges and corners (compute.hpp).
  struct Organ {
    std::array<gl::Name, 4> textures{};
    std::uint32_t blocks = 0;
  };

  // Returns whether the context's limits allow an organ with this number of slots for faces, and of vertices.
  bool can_hold(std::size_t slots, std::size_t vertices) const;
  // Returns whether blocks are rejected by their boxes before their faces are tested.
  bool culls(std::size_t blocks, std::size_t tools) const;
  // Makes room for these tools and for the records of an ordinary call. Raises TooLarge. Allocates when `blocks` or
  // `tools` is larger than before.
  void reserve(std::size_t blocks, std::size_t tools);
  // Dispatches the shaders. Every submit() is followed by collect() or drop(); until then `tools` stay unchanged.
  void submit(const Organ& organ, std::span<const ToolVolume> tools);
  // Waits for the records of the call; none if nothing was submitted. A call with more records than there is room for
  // is repeated with more room. After a fault, and when the records are not the answer to this call (which also raises
  // a fault): none. Valid until the next submit().
  std::span<const ComputeRecord> collect();
  void drop() { pending_ = false; }

  double gpu_ms();  // of the newest finished call; 0 without the timer
  std::size_t memory_bytes() const;

 private:
  void send();
  void write_tools();
  void bind() const;
  void bind_tools(std::size_t pass) const;
  void dispatch();
  void make_room(std::size_t records);
  // Waits and returns the number of records; nothing after a fault.
  std::size_t wait_for_count();

  GlContext& context_;
  gl::FaultWatch& fault_;
  const ComputeTuning tuning_;
  int max_groups_ = 0, max_texels_ = 0;
  std::size_t max_block_ = 0;  // bytes of a storage buffer that a shader can access
  gl::Program cull_, faces_of_work_, all_faces_;
  gl::Timer timer_;

  std::size_t block_capacity_ = 0, tool_capacity_ = 0, record_capacity_ = 0;
  gl::MappedBuffer tool_blocks_, answer_;
  gl::DeviceBuffer work_, counters_;
  // Of the submitted call.
  Organ organ_;
  std::span<const ToolVolume> tools_;
  std::uint32_t call_ = 0;  // number of the call
  std::uint64_t submission_ = 0;
  bool pending_ = false;  // submitted, not yet collected
};

// Distance by which the shaders move every plane outwards, without the part that they add for the coordinates' size.
constexpr float kSlack = 0.25e-6f;       // m
constexpr float kRelativeSlack = 1e-6f;  // of a plane's distance from the origin: several times its rounding
constexpr std::uint32_t kCullGroup = 32, kFacesGroup = 256;  // local_size_x of compute_cull and compute_faces
constexpr std::size_t kToolsPerPass = 64;                    // length of `tools` in compute_tools.glsl
constexpr std::size_t kAlignment = 256;  // of a part of a buffer that is bound on its own: the most that GL may demand
// Room for the records of an ordinary call, which takes 3 MB.
constexpr std::size_t kUsualRecords = 65536;

// Layout of compute_tools.glsl. Its size is the least that GL guarantees for a uniform block, or less.
struct ToolBlock {
  std::uint32_t call, block_count, tool_count, first_tool, group_count, unused[3];
  struct {
    std::array<glm::vec4, kMaxPlanes> planes;
    glm::vec4 margin;  // slack, plane count
  } tools[kToolsPerPass];
};
static_assert(kMaxPlanes == 8 && sizeof(ToolBlock) <= 16384);
constexpr std::size_t kPassBytes = (sizeof(ToolBlock) + kAlignment - 1) / kAlignment * kAlignment;

std::size_t passes_of(std::size_t tools) { return (tools + kToolsPerPass - 1) / kToolsPerPass; }

// Layout of the counters, and of the head of the answer.
struct Counters {
  std::uint32_t record_count, call_done, groups_done, unused;
  std::uint32_t groups[3], unused_2;  // size of the dispatch of compute_faces that compute_cull counts
};
constexpr Counters kNothing{0, 0, 0, 0, {0, 1, 1}, 0};
static_assert(sizeof(Counters) <= kAlignment);

gl::Program compute_program(std::string_view file, std::string_view prelude) {
  const std::string source = "#version 430\n" + std::string(prelude) +
                             std::string(gl::shader_source("compute_tools.glsl")) +
                             std::string(gl::shader_source(file));
  const std::array<gl::ShaderStage, 1> stages{{{GL_COMPUTE_SHADER, source}}};
  return gl::make_program(file, stages);
}

gl::Program faces_program(bool culled) {
  return compute_program("compute_faces.comp", culled ? "#define CULLED 1\n" : "#define CULLED 0\n");
}

std::uint32_t groups_of(std::uint32_t blocks) { return (blocks * kBlockFaces + kFacesGroup - 1) / kFacesGroup; }

ComputeCall::ComputeCall(GlContext& context, const ComputeTuning& tuning, gl::FaultWatch& fault)
    : context_(context), fault_(fault), tuning_(tuning) {
  if (tuning.cull_blocks) {
    cull_ = compute_program("compute_cull.comp", "");
    faces_of_work_ = faces_program(true);
  } else {
    all_faces_ = faces_program(false);
  }
  GLint64 max_block = 0;
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &max_groups_);
  glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &max_texels_);
  glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &max_block);
  max_block_ = static_cast<std::size_t>(max_block);
  counters_.fill(&kNothing, sizeof kNothing);
}

// In a context of our own one of the programs may still be in use; others could not restore it once it is deleted.
ComputeCall::~ComputeCall() {
  GLint in_use = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &in_use);
  for (const gl::Program* program : {&cull_, &faces_of_work_, &all_faces_})
    if (in_use != 0 && program->name() == static_cast<GLuint>(in_use)) glUseProgram(0);
}

// Corners and coordinates are texels, a block of faces is a workgroup.
bool ComputeCall::can_hold(std::size_t slots, std::size_t vertices) const {
  return 3 * std::max(slots, vertices) <= static_cast<std::size_t>(max_texels_) &&
         slots <= static_cast<std::size_t>(max_groups_) * kBlockFaces;
}

// Every (block, tool) pair may need a workgroup. With more pairs than workgroups, or more tools than one pass has, all
// faces are tested.
bool ComputeCall::culls(std::size_t blocks, std::size_t tools) const {
  return tuning_.cull_blocks && tools <= kToolsPerPass && blocks * tools <= static_cast<std::size_t>(max_groups_);
}

void ComputeCall::reserve(std::size_t blocks, std::size_t tools) {
  if (blocks <= block_capacity_ && tools <= tool_capacity_) return;
  const std::size_t more_blocks = blocks <= block_capacity_ ? block_capacity_ : gl::with_spare_room(blocks);
  const std::size_t more_tools = std::max(tools, tool_capacity_);
  const std::size_t work_bytes = std::max<std::size_t>(more_blocks * more_tools, 1) * 2 * sizeof(std::uint32_t);
  if (tuning_.cull_blocks && work_bytes > max_block_) return fault_.raise(TouchFault::TooLarge);
  if (!context_.submissions().wait(submission_, fault_)) return;
  block_capacity_ = more_blocks;
  tool_capacity_ = more_tools;
  tool_blocks_.allocate(std::max<std::size_t>(passes_of(more_tools), 1) * kPassBytes, fault_);
  make_room(std::min(more_blocks * kBlockFaces * more_tools, kUsualRecords));
  if (tuning_.cull_blocks) work_.fill(nullptr, work_bytes);
  // Compiled with the buffers, not in the frame that first has so many pairs.
  if (!culls(more_blocks, more_tools) && !all_faces_) all_faces_ = faces_program(false);
  fault_.check();
}

void ComputeCall::make_room(std::size_t records) {
  const std::size_t most = max_block_ / sizeof(ComputeRecord);
  const std::size_t capacity = std::clamp<std::size_t>(records, 1, most);
  if (capacity <= record_capacity_) return;
  record_capacity_ = capacity;
  answer_.allocate(kAlignment + record_capacity_ * sizeof(ComputeRecord), fault_);
}

void ComputeCall::write_tools() {
  const auto groups = static_cast<std::uint32_t>(passes_of(tools_.size())) * groups_of(organ_.blocks);
  for (std::size_t first = 0; first < tools_.size(); first += kToolsPerPass) {
    auto& block = *reinterpret_cast<ToolBlock*>(tool_blocks_.data() + first / kToolsPerPass * kPassBytes);
    const auto tools = tools_.subspan(first, std::min(kToolsPerPass, tools_.size() - first));
    block.call = call_;
    block.block_count = organ_.blocks;
    block.tool_count = static_cast<std::uint32_t>(tools.size());
    block.first_tool = static_cast<std::uint32_t>(first);
    block.group_count = groups;
    for (std::size_t t = 0; t < tools.size(); ++t) {
      const ToolVolume& tool = tools[t];
      float farthest = 0.f;
      for (int k = 0; k < tool.plane_count; ++k) {
        block.tools[t].planes[k] = tool.planes[k];
        farthest = std::max(farthest, std::abs(tool.planes[k].w));
      }
      block.tools[t].margin = {kSlack + kRelativeSlack * farthest, static_cast<float>(tool.plane_count), 0.f, 0.f};
    }
  }
}

void ComputeCall::submit(const Organ& organ, std::span<const ToolVolume> tools) {
  if (tools.empty() || organ.blocks == 0 || !context_.submissions().wait(submission_, fault_)) return;
  reserve(organ.blocks, tools.size());
  if (fault_.any()) return;
  organ_ = organ;
  tools_ = tools;
  send();
}

void ComputeCall::send() {
  ++call_;
  write_tools();
  std::memcpy(answer_.data(), &kNothing, sizeof kNothing);
  std::optional<gl::DispatchGuard> guard;
  if (context_.shared()) guard.emplace();
  bind();
  if (tuning_.timer_query) timer_.begin();
  dispatch();
  if (tuning_.timer_query) timer_.end();
  submission_ = context_.submissions().add();
  pending_ = true;
}

void ComputeCall::bind() const {
  static_assert(gl::kUnits == std::tuple_size_v<decltype(Organ::textures)>);
  glBindTextures(gl::kFirstUnit, static_cast<GLsizei>(gl::kUnits), organ_.textures.data());
  // The counters of a culled call are in host memory, at the head of the answer: a software driver counts there at no
  // cost.
  const bool culled = culls(organ_.blocks, tools_.size());
  const GLuint answer = answer_.name(), counters = culled ? answer : counters_.name();
  const GLuint buffers[gl::kBlocks] = {answer, culled ? work_.name() : counters, counters, answer};
  constexpr GLintptr kOffsets[gl::kBlocks] = {0, 0, 0, kAlignment};
  constexpr auto kCounters = static_cast<GLsizeiptr>(sizeof(Counters));
  const GLsizeiptr sizes[gl::kBlocks] = {kCounters, culled ? static_cast<GLsizeiptr>(work_.bytes()) : kCounters,
                                         kCounters, static_cast<GLsizeiptr>(record_capacity_ * sizeof(ComputeRecord))};
  glBindBuffersRange(GL_SHADER_STORAGE_BUFFER, gl::kFirstBlock, gl::kBlocks, buffers, kOffsets, sizes);
}

void ComputeCall::bind_tools(std::size_t pass) const {
  glBindBufferRange(GL_UNIFORM_BUFFER, gl::kToolsBlock, tool_blocks_.name(), static_cast<GLintptr>(pass * kPassBytes),
                    sizeof(ToolBlock));
}

void ComputeCall::dispatch() {
  if (!culls(organ_.blocks, tools_.size())) {
    glUseProgram(all_faces_.name());
    for (std::size_t pass = 0; pass < passes_of(tools_.size()); ++pass) {
      bind_tools(pass);
      glDispatchCompute(groups_of(organ_.blocks), 1, 1);
    }
    return;
  }
  bind_tools(0);
  glUseProgram(cull_.name());
  glDispatchCompute((organ_.blocks + kCullGroup - 1) / kCullGroup, 1, 1);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_COMMAND_BARRIER_BIT);
  glUseProgram(faces_of_work_.name());
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, answer_.name());
  glDispatchComputeIndirect(offsetof(Counters, groups));
}

std::size_t ComputeCall::wait_for_count() {
  pending_ = false;
  if (!context_.submissions().wait(submission_, fault_)) return 0;
  Counters counters;
  std::memcpy(&counters, answer_.data(), sizeof counters);
  const std::size_t most = std::size_t{organ_.blocks} * kBlockFaces * tools_.size();
  if (counters.call_done != call_ || counters.record_count > most) fault_.raise(TouchFault::WrongAnswer);
  return fault_.any() ? 0 : counters.record_count;
}

std::span<const ComputeRecord> ComputeCall::collect() {
  if (!pending_) return {};
  std::size_t count = wait_for_count();
  if (count > record_capacity_) {
    make_room(gl::with_spare_room(count));
    if (count > record_capacity_) fault_.raise(TouchFault::TooLarge);
    if (fault_.any()) return {};
    send();
    count = wait_for_count();
    if (count > record_capacity_) fault_.raise(TouchFault::WrongAnswer);
  }
  if (fault_.any()) return {};
  return {reinterpret_cast<const ComputeRecord*>(answer_.data() + kAlignment), count};
}

double ComputeCall::gpu_ms() { return tuning_.timer_query ? timer_.latest_ms() : 0.0; }

std::size_t ComputeCall::memory_bytes() const {
  return tool_blocks_.bytes() + answer_.bytes() + work_.bytes() + counters_.bytes();
}

class ComputeQuery final : public TouchQuery {
 public:
  ComputeQuery(GlContext& context, const ComputeTuning& tuning);

  std::string_view name() const override { return "compute"; }
  void rebuild(const MeshView& mesh) override;
  void change_faces(const MeshView& mesh, std::span<const FaceId> removed) override;
  void update(std::span<const glm::vec3> positions) override;
  void submit(std::span<const ToolVolume> tools, TouchSet set) override;
  TouchList collect() override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override {
    submit(tools, set);
    return collect();
  }
  TouchFault fault() const override { return fault_.fault(); }
  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }
  std::size_t memory_bytes() const override;
  unsigned position_buffer() const override { return positions_.buffer(); }

 private:
  bool too_large(const MeshView& mesh) const;
  bool settle();
  void forget_call();

  gl::FaultWatch fault_;

  ComputeMesh mesh_;
  gl::PositionBuffer positions_;
  ComputeCall call_;
  ComputeAnswer answer_;
  // Of the submitted call.
  std::span<const ToolVolume> tools_;
  TouchSet set_ = TouchSet::Volume;

  StageTimes times_;
  CostCounters counters_;
};

ComputeQuery::ComputeQuery(GlContext& context, const ComputeTuning& tuning)
    : fault_(context), call_(context, tuning, fault_) {
  rebuild({});
}

// Blocks that are not full after a change of faces count as full.
bool ComputeQuery::too_large(const MeshView& mesh) const {
  return !call_.can_hold(std::max(mesh.faces.size(), mesh_.face_of_slot().size()), mesh.positions.size());
}

void ComputeQuery::forget_call() {
  call_.drop();
  tools_ = {};
}

void ComputeQuery::rebuild(const MeshView& mesh) {
  forget_call();
  if (!fault_.begin()) return;
  mesh_.clear();
  if (too_large(mesh)) return fault_.raise(TouchFault::TooLarge);
  mesh_.rebuild(mesh);
  positions_.write(mesh.positions);
  answer_.resize(mesh.faces.size());
  call_.reserve(mesh_.block_count(), 2);
  fault_.check();
}

void ComputeQuery::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  if (fault_.any() || !mesh_.change_faces(mesh, removed) || too_large(mesh)) return rebuild(mesh);
  forget_call();
  if (!fault_.begin()) return;
  mesh_.upload_change();
  positions_.write(mesh.positions);
  answer_.resize(mesh.faces.size());
  call_.reserve(mesh_.block_count(), 0);
  fault_.check();
}

void ComputeQuery::update(std::span<const glm::vec3> positions) {
  const auto start = Clock::now();
  call_.drop();
  if (!fault_.begin()) return;
  positions_.write(positions);
  fault_.end();
  times_.update_ms = milliseconds_since(start);
}

void ComputeQuery::submit(std::span<const ToolVolume> tools, TouchSet set) {
  const auto start = Clock::now();
  times_ = {.update_ms = times_.update_ms};
  call_.drop();
  tools_ = tools;
  set_ = set;
  if (!fault_.begin()) return;
  const auto textures = mesh_.textures();
  call_.submit({{positions_.texture(), textures[0], textures[1], textures[2]}, mesh_.block_count()}, tools);
  fault_.end();
  times_.submit_ms = milliseconds_since(start);
}

TouchList ComputeQuery::collect() {
  if (fault_.begin() && settle()) return answer_.list();
  answer_.clear();
  answer_.pad(tools_.size());
  return answer_.list();
}

bool ComputeQuery::settle() {
  const auto start = Clock::now();
  const std::span<const ComputeRecord> records = call_.collect();
  times_.read_back_ms = milliseconds_since(start);
  const auto read = Clock::now();
  if (!answer_.settle(records, tools_, set_, mesh_.face_of_slot())) fault_.raise(TouchFault::WrongAnswer);
  times_.refine_ms = milliseconds_since(read);
  times_.gpu_ms = call_.gpu_ms();
  counters_ = {
      .volume_tests = call_.culls(mesh_.block_count(), tools_.size()) ? mesh_.block_count() * tools_.size() : 0,
      .face_tests = records.size()};
  return !fault_.any();
}

std::size_t ComputeQuery::memory_bytes() const {
  return positions_.bytes() + mesh_.memory_bytes() + call_.memory_bytes() + answer_.memory_bytes();
}

}  // namespace

// Mesa's llvmpipe runs a dispatch on the CPU before the call returns. Measured there with 31,000 faces: testing all
// faces takes 1.2 ms, rejecting blocks first 0.15 ms. A GPU tests all faces at once, which saves the second dispatch
// and its barrier.
ComputeTuning best_compute_tuning(const GlInfo& info) { return {.cull_blocks = info.software}; }

std::unique_ptr<TouchQuery> make_compute_query(GlContext& context, const ComputeTuning& tuning) {
  gl::require_version(context, "compute", 4, 5);
  return std::make_unique<ComputeQuery>(context, tuning);
}

std::unique_ptr<TouchQuery> make_compute_query(GlContext& context) {
  return make_compute_query(context, best_compute_tuning(context.info()));
}

}  // namespace trocar
