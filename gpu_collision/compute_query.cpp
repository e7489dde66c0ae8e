// Answers the touch query by compute shaders. A face with all corners outside one plane is rejected, a face with a
// corner inside all planes is accepted, all others are clipped. All tools share one submission and one short read-back;
// the host decides in double the faces that float leaves uncertain. Based on: the clipping of Lombardo, Cani, Neyret,
// "Real-time collision detection for virtual surgery", Computer Animation 1999, with Cohen and Sutherland's outcodes.
// We differ: faces lie in blocks of neighbours; on software OpenGL, a block wholly outside one plane is rejected before
// its faces are tested, and the host does the clip (best_compute_tuning). Units: metres. Checked against the reference
// in tests/gpu_collision/compute_test.cpp; measured by bench/gpu_compute.cpp
#include "gpu_collision/compute_query.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "geometry/stopwatch.hpp"
#include "gpu_collision/compute_answer.hpp"
#include "gpu_collision/compute_mesh.hpp"
#include "gpu_collision/compute_state.hpp"
#include "gpu_collision/compute_transfer.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "gpu_collision/position_store.hpp"

namespace trocar {
namespace {

// Distance by which the shaders move every plane outwards, without the part that they add for the coordinates' size.
constexpr float kSlack = 0.25e-6f;           // m
constexpr float kRelativeSlack = 1e-6f;      // of a plane's distance from the origin: several times its rounding
constexpr std::uint32_t kCullGroup = 32;     // local_size_x of compute_cull.comp
constexpr std::size_t kToolTexels = 9;       // eight planes, then slack and plane count
constexpr std::size_t kFirstRecords = 1024;  // read back with the count at least; more after a larger answer

// Layout of the answer buffer: the indirect dispatch of compute_clip, the number of records, the call number written by
// the shaders, then the records.
struct AnswerHeader {
  std::uint32_t groups[3];
  std::uint32_t record_count;
  std::uint32_t call_done, unused;
};
static_assert(sizeof(AnswerHeader) % alignof(std::uint64_t) == 0);  // as std430 aligns the records

gl::Program compute_program(std::string_view file, std::string_view prelude) {
  const std::string source = std::string(prelude) + std::string(gl::shader_source(file));
  const std::array<gl::ShaderStage, 1> stages{{{GL_COMPUTE_SHADER, source}}};
  return gl::make_program(file, stages);
}

std::string clip_prelude(const ComputeTuning& tuning) {
  return "#version 430\n#define CULLED " + std::to_string(tuning.cull_blocks) + "\n#define EXACT_CLIP " +
         std::to_string(tuning.clip_on_gpu) + "\n";
}

class ComputeQuery final : public TouchQuery {
 public:
  ComputeQuery(GlContext& context, ReadBack read_back, const ComputeTuning& tuning);

  std::string_view name() const override { return "compute"; }
  void rebuild(const MeshView& mesh) override;
  void change_faces(const MeshView& mesh, std::span<const FaceId> removed) override;
  void update(std::span<const glm::vec3> positions) override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override;
  TouchFault fault() const override { return fault_.fault(); }
  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }
  std::size_t memory_bytes() const override;
  unsigned position_buffer() const override { return positions_.buffer(); }

 private:
  void ensure_capacity(std::size_t tools);
  void submit(std::span<const ToolVolume> tools);
  void send_tools(std::span<const ToolVolume> tools);
  void bind() const;
  void dispatch_culled(std::uint32_t tools);
  void dispatch_all(std::uint32_t tools);
  std::span<const ComputeRecord> read_records();
  void settle(std::span<const glm::vec3> positions, std::span<const ToolVolume> tools, TouchSet set);
  bool too_large(const MeshView& mesh) const;
  TouchList no_answer(std::size_t tools);

  gl::FaultWatch fault_;
  ReadBack read_back_;
  ComputeTuning tuning_;
  GLint max_groups_ = 0, max_texels_ = 0;
  GLint64 max_block_ = 0;  // bytes of a storage buffer that a shader can access
  gl::Program cull_, clip_;
  gl::Timer timer_;

  // The mesh.
  ComputeMesh mesh_;
  gl::BufferTexture positions_{GL_R32F};
  gl::PositionUpload upload_;

  // One call.
  gl::BufferTexture tools_{GL_RGBA32F};
  std::vector<glm::vec4> tool_texels_;
  std::size_t tool_capacity_ = 0, block_capacity_ = 0;  // of the buffers of a call
  gl::Buffer work_, answer_buffer_;
  std::size_t record_capacity_ = 0;
  std::uint32_t call_ = 0;  // number of the last dispatch
  bool submitted_ = false;  // the last call was dispatched, and its records are not yet read
  gl::ReadBackBuffer reply_;
  std::size_t requested_ = kFirstRecords;    // records that the first read-back fetches together with the count
  std::vector<ComputeRecord> many_records_;  // for a larger answer
  ComputeAnswer answer_;

  // Deferred: the call whose answer is not yet read; its positions are pinned in upload_.
  bool pending_ = false;
  TouchSet pending_set_ = TouchSet::Volume;
  std::vector<ToolVolume> pending_tools_;

  StageTimes times_;
  CostCounters counters_;
};

const std::byte* bytes_of(std::span<const glm::vec3> values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

bool has_buffer_storage(const GlContext& context) {
  return gl::at_least(context.info(), 4, 4) || gl::has_extension("GL_ARB_buffer_storage");
}

ComputeQuery::ComputeQuery(GlContext& context, ReadBack read_back, const ComputeTuning& tuning)
    : fault_(context),
      read_back_(read_back),
      tuning_(tuning),
      clip_(compute_program("compute_clip.comp", clip_prelude(tuning))),
      upload_(tuning.persistent_upload && has_buffer_storage(context), tuning.upload_parts, fault_),
      work_(gl::make_buffer()),
      answer_buffer_(gl::make_buffer()),
      reply_(has_buffer_storage(context), fault_) {
  if (tuning.cull_blocks) cull_ = compute_program("compute_cull.comp", "");
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &max_groups_);
  glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &max_texels_);
  glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &max_block_);
  rebuild({});
}

// Limits: corners and coordinates are texels, a block of faces is a workgroup. Blocks that are not full after a change
// of faces count as full.
bool ComputeQuery::too_large(const MeshView& mesh) const {
  const auto texels = static_cast<std::size_t>(max_texels_), groups = static_cast<std::size_t>(max_groups_);
  const std::size_t slots = std::max(mesh.faces.size(), mesh_.face_of_slot().size());
  return 3 * std::max(slots, mesh.positions.size()) > texels || slots > groups * kBlockFaces;
}

void ComputeQuery::rebuild(const MeshView& mesh) {
  pending_ = submitted_ = false;
  if (!fault_.begin()) return;
  mesh_.clear();
  if (too_large(mesh)) return fault_.raise(TouchFault::TooLarge);
  const gl::BindingsGuard guard;
  mesh_.rebuild(mesh);
  block_capacity_ = gl::with_spare_room(mesh_.block_count());
  positions_.write(bytes_of(mesh.positions), 0, mesh.positions.size_bytes());
  upload_.resize(mesh.positions.size());
  upload_.send(mesh.positions, positions_.buffer());
  answer_.resize(mesh.faces.size());
  tool_capacity_ = 0;
  ensure_capacity(2);
  fault_.check();
}

void ComputeQuery::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  if (fault_.any() || !mesh_.change_faces(mesh, removed) || too_large(mesh)) return rebuild(mesh);
  pending_ = submitted_ = false;
  if (!fault_.begin()) return;
  const gl::BindingsGuard guard;
  mesh_.upload_change();
  positions_.write(bytes_of(mesh.positions), 0, mesh.positions.size_bytes());
  upload_.grow(mesh.positions.size());
  upload_.send(mesh.positions, positions_.buffer());
  answer_.resize(mesh.faces.size());
  if (mesh_.block_count() > block_capacity_) {
    block_capacity_ = gl::with_spare_room(mesh_.block_count());
    ensure_capacity(std::exchange(tool_capacity_, 0));
  }
  fault_.check();
}

void ComputeQuery::update(std::span<const glm::vec3> positions) {
  const auto start = Clock::now();
  if (!fault_.begin()) return;
  const gl::BindingsGuard guard;
  upload_.send(positions, positions_.buffer());
  fault_.check();
  times_.update_ms = milliseconds_since(start);
}

TouchList ComputeQuery::no_answer(std::size_t tools) {
  answer_.clear();
  answer_.pad(tools);
  return answer_.list();
}

TouchList ComputeQuery::touched(std::span<const ToolVolume> tools, TouchSet set) {
  times_ = {.update_ms = times_.update_ms};
  if (!fault_.begin()) return no_answer(tools.size());
  const gl::BindingsGuard bindings;
  const gl::DispatchGuard guard;
  if (read_back_ == ReadBack::Immediate) {
    submit(tools);
    settle(upload_.newest(), tools, set);
    return fault_.check() ? answer_.list() : no_answer(tools.size());
  }
  if (pending_) {
    settle(upload_.pinned(), pending_tools_, pending_set_);
  } else {
    answer_.clear();
  }
  answer_.pad(tools.size());
  submit(tools);
  upload_.pin_newest();
  pending_tools_.assign(tools.begin(), tools.end());
  pending_set_ = set;
  pending_ = true;
  return fault_.check() ? answer_.list() : no_answer(tools.size());
}

// Allocates storage for the worst case, every face touched by every tool, so that no call is ever repeated. Where a
// storage block cannot be that large, the storage is smaller: the shaders count records beyond it but do not write
// them.
void ComputeQuery::ensure_capacity(std::size_t tools) {
  if (tools <= tool_capacity_) return;
  const auto largest = static_cast<std::size_t>(max_block_);
  const std::size_t work_bytes = std::max<std::size_t>(block_capacity_ * tools, 1) * 2 * sizeof(std::uint32_t);
  const std::size_t texels = tools * kToolTexels;
  if (work_bytes > largest || texels > static_cast<std::size_t>(max_texels_)) return fault_.raise(TouchFault::TooLarge);
  tool_capacity_ = tools;
  tool_texels_.resize(texels);
  tools_.fill(nullptr, tool_texels_.size() * sizeof(glm::vec4));
  record_capacity_ = std::min(std::max(block_capacity_ * kBlockFaces * tools, kFirstRecords),
                              (largest - sizeof(AnswerHeader)) / sizeof(ComputeRecord));
  gl::fill_buffer(work_, nullptr, work_bytes);
  gl::fill_buffer(answer_buffer_, nullptr, sizeof(AnswerHeader) + record_capacity_ * sizeof(ComputeRecord));
  fault_.check();
}

void ComputeQuery::submit(std::span<const ToolVolume> tools) {
  const auto start = Clock::now();
  submitted_ = false;
  const bool anything = !tools.empty() && mesh_.block_count() > 0;
  if (anything) ensure_capacity(tools.size());
  if (anything && !fault_.any()) {
    ++call_;
    send_tools(tools);
    bind();
    if (tuning_.timer_query) timer_.begin();
    const auto dispatched = Clock::now();
    if (tuning_.cull_blocks) {
      dispatch_culled(static_cast<std::uint32_t>(tools.size()));
    } else {
      dispatch_all(static_cast<std::uint32_t>(tools.size()));
    }
    times_.gpu_ms = milliseconds_since(dispatched);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    requested_ = std::min(requested_, record_capacity_);
    reply_.request(answer_buffer_.name(), sizeof(AnswerHeader) + requested_ * sizeof(ComputeRecord));
    if (tuning_.timer_query) timer_.end();
    submitted_ = true;
  }
  times_.submit_ms = milliseconds_since(start);
}

void ComputeQuery::send_tools(std::span<const ToolVolume> tools) {
  for (std::size_t t = 0; t < tools.size(); ++t) {
    glm::vec4* texels = &tool_texels_[t * kToolTexels];
    float farthest = 0.f;
    for (int k = 0; k < tools[t].plane_count; ++k) {
      texels[k] = tools[t].planes[k];
      farthest = std::max(farthest, std::abs(texels[k].w));
    }
    texels[kMaxPlanes] = {kSlack + kRelativeSlack * farthest, static_cast<float>(tools[t].plane_count), 0.f, 0.f};
  }
  glBindBuffer(GL_COPY_WRITE_BUFFER, tools_.buffer());
  glBufferSubData(GL_COPY_WRITE_BUFFER, 0, static_cast<GLsizeiptr>(tools.size() * kToolTexels * sizeof(glm::vec4)),
                  tool_texels_.data());
  constexpr AnswerHeader kNothing{{0, 1, 1}, 0, 0, 0};
  glBindBuffer(GL_COPY_WRITE_BUFFER, answer_buffer_.name());
  glBufferSubData(GL_COPY_WRITE_BUFFER, 0, sizeof kNothing, &kNothing);
}

void ComputeQuery::bind() const {
  const gl::BufferTexture* textures[] = {&positions_, mesh_.textures()[0], mesh_.textures()[1], mesh_.textures()[2],
                                         &tools_};
  static_assert(std::size(textures) == gl::kUnits);
  for (GLuint unit = 0; unit < std::size(textures); ++unit) textures[unit]->bind(gl::kFirstUnit + unit);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, gl::kWorkBlock, work_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, gl::kAnswerBlock, answer_buffer_.name());
}

// Two passes per batch of tools; a batch has as many tools as the workgroups of one dispatch allow.
void ComputeQuery::dispatch_culled(std::uint32_t tools) {
  const std::uint32_t blocks = mesh_.block_count();
  const std::uint32_t batch = std::max(1u, static_cast<std::uint32_t>(max_groups_) / blocks);
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, answer_buffer_.name());
  for (std::uint32_t first = 0; first < tools; first += batch) {
    if (first > 0) {
      constexpr std::uint32_t kNoGroup = 0;
      glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT);
      glBufferSubData(GL_DISPATCH_INDIRECT_BUFFER, 0, sizeof kNoGroup, &kNoGroup);
    }
    glUseProgram(cull_.name());
    glUniform1ui(0, blocks);
    glUniform1ui(1, first);
    glUniform1ui(2, std::min(tools, first + batch));
    glUniform1ui(3, call_);
    glDispatchCompute((blocks + kCullGroup - 1) / kCullGroup, 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_COMMAND_BARRIER_BIT);
    glUseProgram(clip_.name());
    glDispatchComputeIndirect(0);
  }
}

void ComputeQuery::dispatch_all(std::uint32_t tools) {
  glUseProgram(clip_.name());
  glUniform1ui(1, 0);
  glUniform1ui(2, tools);
  glUniform1ui(3, call_);
  glDispatchCompute(mesh_.block_count(), 1, 1);
}

// Returns the records of the last submission. Returns an empty span when nothing was submitted, and when the reply is
// not the answer to the last submission (then it also raises a fault).
std::span<const ComputeRecord> ComputeQuery::read_records() {
  if (!submitted_) return {};
  submitted_ = false;
  const std::span<const std::byte> reply = reply_.fetch();
  if (reply.empty()) return {};
  AnswerHeader header;
  std::memcpy(&header, reply.data(), sizeof header);
  const std::size_t count = header.record_count;
  if (header.call_done != call_) fault_.raise(TouchFault::WrongAnswer);
  const bool all_fit = record_capacity_ >= mesh_.face_of_slot().size() * tool_capacity_;
  if (count > record_capacity_) fault_.raise(all_fit ? TouchFault::WrongAnswer : TouchFault::TooLarge);
  if (fault_.any()) return {};
  const bool complete = count <= requested_;
  // The next read-back fetches at least 1.5 times the current number.
  requested_ = std::max(kFirstRecords, std::bit_ceil(count + count / 2));
  if (complete) return {reinterpret_cast<const ComputeRecord*>(reply.data() + sizeof header), count};
  many_records_.resize(count);
  glBindBuffer(GL_COPY_READ_BUFFER, answer_buffer_.name());
  glGetBufferSubData(GL_COPY_READ_BUFFER, sizeof header, static_cast<GLsizeiptr>(count * sizeof(ComputeRecord)),
                     many_records_.data());
  return many_records_;
}

void ComputeQuery::settle(std::span<const glm::vec3> positions, std::span<const ToolVolume> tools, TouchSet set) {
  const auto start = Clock::now();
  const std::span<const ComputeRecord> records = read_records();
  times_.read_back_ms = milliseconds_since(start);
  const auto read = Clock::now();
  if (!answer_.settle(records, tools, set, {positions, mesh_.faces()}, mesh_.face_of_slot()))
    fault_.raise(TouchFault::WrongAnswer);
  times_.refine_ms = milliseconds_since(read);
  if (tuning_.timer_query) times_.gpu_ms = timer_.latest_ms();
  counters_ = {.volume_tests = tuning_.cull_blocks ? mesh_.block_count() * tools.size() : 0,
               .face_tests = records.size()};
}

std::size_t ComputeQuery::memory_bytes() const {
  const std::size_t call = tool_capacity_ * block_capacity_ * 2 * sizeof(std::uint32_t) + sizeof(AnswerHeader) +
                           record_capacity_ * sizeof(ComputeRecord);
  return positions_.bytes() + tools_.bytes() + call + mesh_.memory_bytes() +
         held_bytes(many_records_, tool_texels_, pending_tools_) + upload_.memory_bytes() + reply_.size() +
         answer_.memory_bytes();
}

}  // namespace

// Mesa's llvmpipe runs a dispatch on the CPU before the call returns. Measured there with 31,000 faces: testing all
// faces takes 1.2 ms, rejecting blocks first 0.15 ms. The clip makes every invocation slower, survivor or not, by
// 0.04 ms in total, while the host decides the few uncertain faces in 0.001 ms. A timer query costs 0.015 ms and
// reads 0. A GPU tests all faces at once, which saves the second dispatch and its barrier; bench/gpu_compute.cpp
// compares.
ComputeTuning best_compute_tuning(const GlInfo& info) {
  ComputeTuning tuning;
  tuning.cull_blocks = info.software;
  tuning.clip_on_gpu = !info.software;
  tuning.timer_query = !info.software;
  return tuning;
}

std::unique_ptr<TouchQuery> make_compute_query(GlContext& context, ReadBack read_back, const ComputeTuning& tuning) {
  gl::require_version(context, "compute", 4, 3);
  return std::make_unique<ComputeQuery>(context, read_back, tuning);
}

std::unique_ptr<TouchQuery> make_compute_query(GlContext& context, ReadBack read_back) {
  return make_compute_query(context, read_back, best_compute_tuning(context.info()));
}

}  // namespace trocar
