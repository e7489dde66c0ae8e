#include "gpu_collision/compute_call.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "gpu_collision/compute_blocks.hpp"
#include "gpu_collision/compute_state.hpp"
#include "gpu_collision/submissions.hpp"

namespace trocar {
namespace {

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

}  // namespace

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

}  // namespace trocar
