#include "gpu_collision/compute_call.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "gpu_collision/compute_blocks.hpp"
#include "gpu_collision/compute_state.hpp"

namespace trocar {
namespace {

// Distance by which the shaders move every plane outwards, without the part that they add for the coordinates' size.
constexpr float kSlack = 0.25e-6f;        // m
constexpr float kRelativeSlack = 1e-6f;   // of a plane's distance from the origin: several times its rounding
constexpr std::uint32_t kCullGroup = 32;  // local_size_x of compute_cull.comp
constexpr std::size_t kToolTexels =
    9;  // eight planes, then slack and plane count; before all, one texel about the call
constexpr std::uint32_t kMostCalls = 1u << 24;  // then their numbers begin again: float holds them exactly
constexpr std::size_t kAlignment = 256;  // of a part of a buffer that is bound on its own: the most that GL may demand

// Layout of the counters, and of the head of the answer.
struct Counters {
  std::uint32_t record_count, call_done, unused[2];
  std::uint32_t groups[3], unused_2;  // size of the dispatch of compute_clip that compute_cull counts
};
constexpr Counters kNothing{0, 0, {}, {0, 1, 1}, 0};
static_assert(sizeof(Counters) <= kAlignment);

gl::Program compute_program(std::string_view file, std::string_view prelude) {
  const std::string source = std::string(prelude) + std::string(gl::shader_source(file));
  const std::array<gl::ShaderStage, 1> stages{{{GL_COMPUTE_SHADER, source}}};
  return gl::make_program(file, stages);
}

gl::Program clip_program(bool culled, bool exact) {
  return compute_program("compute_clip.comp", "#version 430\n#define CULLED " + std::to_string(culled) +
                                                  "\n#define EXACT_CLIP " + std::to_string(exact) + "\n");
}

}  // namespace

ComputeCall::ComputeCall(GlContext& context, const ComputeTuning& tuning, gl::FaultWatch& fault)
    : fault_(fault), submissions_(context.submissions()), tuning_(tuning), tool_texture_(GL_RGBA32F) {
  if (tuning.cull_blocks) {
    cull_ = compute_program("compute_cull.comp", "");
    clip_culled_ = clip_program(true, tuning.clip_on_gpu);
  } else {
    clip_all_ = clip_program(false, tuning.clip_on_gpu);
  }
  if (!tuning.host_counters) finish_ = compute_program("compute_finish.comp", "");
  GLint64 max_block = 0;
  glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0, &max_groups_);
  glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &max_texels_);
  glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &max_block);
  max_block_ = static_cast<std::size_t>(max_block);
}

// In a context of our own one of the programs may still be in use; others could not restore it once it is deleted.
ComputeCall::~ComputeCall() {
  GLint in_use = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &in_use);
  for (const gl::Program* program : {&cull_, &clip_culled_, &clip_all_, &finish_})
    if (in_use != 0 && program->name() == static_cast<GLuint>(in_use)) glUseProgram(0);
}

// Corners and coordinates are texels, a block of faces is a workgroup.
bool ComputeCall::can_hold(std::size_t slots, std::size_t vertices) const {
  return 3 * std::max(slots, vertices) <= static_cast<std::size_t>(max_texels_) &&
         slots <= static_cast<std::size_t>(max_groups_) * kBlockFaces;
}

// Every (block, tool) pair may need a workgroup. With more pairs than workgroups all faces are tested.
bool ComputeCall::culls(std::size_t blocks, std::size_t tools) const {
  return tuning_.cull_blocks && blocks * tools <= static_cast<std::size_t>(max_groups_);
}

void ComputeCall::reserve(std::size_t blocks, std::size_t tools) {
  if (blocks <= block_capacity_ && tools <= tool_capacity_) return;
  const std::size_t more_blocks = blocks <= block_capacity_ ? block_capacity_ : gl::with_spare_room(blocks);
  const std::size_t more_tools = std::max(tools, tool_capacity_);
  const std::size_t work_bytes = std::max<std::size_t>(more_blocks * more_tools, 1) * 2 * sizeof(std::uint32_t);
  const std::size_t texels = 1 + more_tools * kToolTexels;
  if (work_bytes > max_block_ || texels > static_cast<std::size_t>(max_texels_))
    return fault_.raise(TouchFault::TooLarge);
  if (!submissions_.wait(submission_, fault_)) return;
  block_capacity_ = more_blocks;
  tool_capacity_ = more_tools;
  const std::size_t most = more_blocks * kBlockFaces * more_tools;
  record_capacity_ = std::clamp<std::size_t>(most, 1, max_block_ / sizeof(ComputeRecord));
  all_fit_ = record_capacity_ >= most;
  tools_.allocate(texels * sizeof(glm::vec4), fault_);
  tool_texture_.show(tools_.name());
  answer_.allocate(kAlignment + record_capacity_ * sizeof(ComputeRecord), fault_);
  if (tuning_.cull_blocks) work_.fill(nullptr, work_bytes);
  if (!tuning_.host_counters) counters_.fill(&kNothing, sizeof kNothing);
  // Compiled with the buffers, not in the frame that first has so many pairs.
  if (!culls(more_blocks, more_tools) && !clip_all_) clip_all_ = clip_program(false, tuning_.clip_on_gpu);
  fault_.check();
}

// The first texel describes the call.
void ComputeCall::write_tools(std::uint32_t blocks, std::span<const ToolVolume> tools) {
  auto* texels = reinterpret_cast<glm::vec4*>(tools_.data());
  *texels++ = {static_cast<float>(call_), static_cast<float>(blocks), static_cast<float>(tools.size()), 0.f};
  for (const ToolVolume& tool : tools) {
    float farthest = 0.f;
    for (int k = 0; k < tool.plane_count; ++k) {
      texels[k] = tool.planes[k];
      farthest = std::max(farthest, std::abs(tool.planes[k].w));
    }
    texels[kMaxPlanes] = {kSlack + kRelativeSlack * farthest, static_cast<float>(tool.plane_count), 0.f, 0.f};
    texels += kToolTexels;
  }
}

void ComputeCall::submit(const Organ& organ, std::span<const ToolVolume> tools) {
  if (tools.empty() || organ.blocks == 0 || !submissions_.wait(submission_, fault_)) return;
  reserve(organ.blocks, tools.size());
  if (fault_.any()) return;
  call_ = call_ % kMostCalls + 1;
  write_tools(organ.blocks, tools);
  if (tuning_.host_counters) std::memcpy(answer_.data(), &kNothing, sizeof kNothing);
  bind(organ);
  if (tuning_.timer_query) timer_.begin();
  dispatch(organ.blocks, culls(organ.blocks, tools.size()));
  if (!tuning_.host_counters) {
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    glUseProgram(finish_.name());
    glDispatchCompute(1, 1, 1);
  }
  if (tuning_.timer_query) timer_.end();
  submission_ = submissions_.add();
  pending_ = true;
}

void ComputeCall::bind(const Organ& organ) const {
  std::array<GLuint, gl::kUnits> textures{};
  std::copy(organ.textures.begin(), organ.textures.end(), textures.begin());
  textures.back() = tool_texture_.name();
  glBindTextures(gl::kFirstUnit, static_cast<GLsizei>(textures.size()), textures.data());
  const GLuint answer = answer_.name(), counters = tuning_.host_counters ? answer : counters_.name();
  const bool has_work = tuning_.cull_blocks;
  const GLuint buffers[gl::kBlocks] = {answer, has_work ? work_.name() : counters, counters, answer};
  constexpr GLintptr kOffsets[gl::kBlocks] = {0, 0, 0, kAlignment};
  constexpr auto kCounters = static_cast<GLsizeiptr>(sizeof(Counters));
  const GLsizeiptr sizes[gl::kBlocks] = {kCounters, has_work ? static_cast<GLsizeiptr>(work_.bytes()) : kCounters,
                                         kCounters, static_cast<GLsizeiptr>(record_capacity_ * sizeof(ComputeRecord))};
  glBindBuffersRange(GL_SHADER_STORAGE_BUFFER, gl::kFirstBlock, gl::kBlocks, buffers, kOffsets, sizes);
}

void ComputeCall::dispatch(std::uint32_t blocks, bool culled) {
  if (!culled) {
    glUseProgram(clip_all_.name());
    glDispatchCompute(blocks, 1, 1);
    return;
  }
  glUseProgram(cull_.name());
  glDispatchCompute((blocks + kCullGroup - 1) / kCullGroup, 1, 1);
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_COMMAND_BARRIER_BIT);
  glUseProgram(clip_culled_.name());
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, tuning_.host_counters ? answer_.name() : counters_.name());
  glDispatchComputeIndirect(offsetof(Counters, groups));
}

std::span<const ComputeRecord> ComputeCall::collect() {
  if (!pending_) return {};
  pending_ = false;
  if (!submissions_.wait(submission_, fault_)) return {};
  Counters counters;
  std::memcpy(&counters, answer_.data(), sizeof counters);
  if (counters.call_done != call_) fault_.raise(TouchFault::WrongAnswer);
  if (counters.record_count > record_capacity_) fault_.raise(all_fit_ ? TouchFault::WrongAnswer : TouchFault::TooLarge);
  if (fault_.any()) return {};
  return {reinterpret_cast<const ComputeRecord*>(answer_.data() + kAlignment), counters.record_count};
}

void ComputeCall::drop() { pending_ = false; }

double ComputeCall::gpu_ms() { return tuning_.timer_query ? timer_.latest_ms() : 0.0; }

std::size_t ComputeCall::memory_bytes() const {
  return tools_.bytes() + answer_.bytes() + work_.bytes() + counters_.bytes();
}

}  // namespace trocar
