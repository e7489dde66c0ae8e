#include "tests/gpu_collision/shader_runs.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <glm/gtc/type_ptr.hpp>
#include <string>

#include "gpu_collision/compute_state.hpp"
#include "gpu_collision/compute_transfer.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "gpu_collision/one_pixel_target.hpp"
#include "gpu_collision/position_store.hpp"

namespace trocar::shaders {
namespace {

constexpr std::uint32_t kCertain = 0x8000'0000u;
constexpr std::size_t kPlanes = 8, kHeaderWords = 8;  // counters and one dispatch size
// No face and no tool has this number: it marks words that the shader did not write.
constexpr std::uint32_t kUnwritten = 0xdead'beefu;

template <class T>
void fill(gl::TexelBuffer& texture, const std::vector<T>& values) {
  texture.fill(values.data(), values.size() * sizeof(T));
}

void bind(const gl::TexelBuffer& texture, GLuint unit) { glBindTextureUnit(unit, texture.texture()); }

std::vector<glm::vec4> texels_of(std::span<const Tool> tools, std::size_t blocks, std::uint32_t call) {
  std::vector<glm::vec4> texels{
      {static_cast<float>(call), static_cast<float>(blocks), static_cast<float>(tools.size()), 0.f}};
  for (const Tool& tool : tools) {
    // Unused planes exclude everything: a shader must not read them.
    std::vector<glm::vec4> nine(kPlanes + 1, glm::vec4(0.f, 0.f, 0.f, -1e6f));
    std::copy(tool.planes.begin(), tool.planes.end(), nine.begin());
    nine[kPlanes] = {tool.slack, static_cast<float>(tool.planes.size()), 0.f, 0.f};
    texels.insert(texels.end(), nine.begin(), nine.end());
  }
  return texels;
}

gl::Program compute_program(std::string_view file, const std::string& head) {
  const std::string source = head + std::string(gl::shader_source(file));
  const std::array<gl::ShaderStage, 1> stages{{{GL_COMPUTE_SHADER, source}}};
  return gl::make_program(file, stages);
}

gl::Program clip_program(bool culled, bool exact_clip) {
  return compute_program("compute_clip.comp", "#version 430\n#define CULLED " + std::to_string(culled) +
                                                  "\n#define EXACT_CLIP " + std::to_string(exact_clip) + "\n");
}

// The storage blocks of both compute shaders.
class Storage {
 public:
  Storage(std::size_t work_pairs, std::size_t records)
      : work_(gl::make_buffer()),
        counters_(gl::make_buffer()),
        answer_(gl::make_buffer()),
        work_words_(2 * work_pairs),
        records_(records) {
    const std::vector<std::uint32_t> unwritten(std::max<std::size_t>(work_words_, 2), kUnwritten);
    gl::fill_buffer(work_, unwritten.data(), unwritten.size() * sizeof(std::uint32_t));
    const std::array<std::uint32_t, kHeaderWords> header{0, 0, 0, 0, 0, 1, 1, 0};
    gl::fill_buffer(counters_, header.data(), sizeof header);
    const std::vector<std::uint32_t> answer(2 * records + 2, kUnwritten);
    gl::fill_buffer(answer_, answer.data(), answer.size() * sizeof(std::uint32_t));
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, gl::kWorkBlock, work_.name());
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, gl::kCountersBlock, counters_.name());
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, gl::kRecordsBlock, answer_.name(), 0,
                      static_cast<GLsizeiptr>(std::max<std::size_t>(2 * records, 2) * sizeof(std::uint32_t)));
  }

  void give_work(std::span<const Pair> work) {
    std::vector<std::uint32_t> words;
    for (const Pair& pair : work) words.insert(words.end(), {pair.item, pair.tool});
    gl::fill_buffer(work_, words.data(), words.size() * sizeof(std::uint32_t));
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, gl::kWorkBlock, work_.name());
  }

  // Reads the header and the pairs: the work list, or the records.
  ComputeOutput read(bool work_list) const {
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    const std::vector<std::uint32_t> header = words_of(counters_, kHeaderWords),
                                     answer = words_of(answer_, 2 * records_);
    ComputeOutput output;
    output.records = header[0];
    output.call_done = header[1];
    std::memcpy(output.groups, &header[4], sizeof output.groups);
    const std::vector<std::uint32_t> work = words_of(work_, work_words_);
    const std::uint32_t* word = work_list ? work.data() : answer.data();
    const std::size_t count = work_list ? work.size() / 2 : records_;
    for (std::size_t i = 0; i < count; ++i, word += 2) {
      if (word[0] == kUnwritten && word[1] == kUnwritten) continue;
      if (work_list) {
        output.pairs.push_back({word[0], word[1], false});
      } else {
        output.pairs.push_back({word[0] & ~kCertain, word[1], (word[0] & kCertain) != 0});
      }
    }
    std::sort(output.pairs.begin(), output.pairs.end());
    return output;
  }

 private:
  static std::vector<std::uint32_t> words_of(const gl::Buffer& buffer, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    if (count == 0) return words;
    glBindBuffer(GL_COPY_READ_BUFFER, buffer.name());
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(count * sizeof(std::uint32_t)), words.data());
    return words;
  }

  gl::Buffer work_, counters_, answer_;
  std::size_t work_words_, records_;
};

std::size_t padding_of(const Faces& faces) { return (64 - faces.corners.size() % 64) % 64; }

// Replaces slots by face numbers, and drops the records of slots that repeat a face.
ComputeOutput with_numbers(ComputeOutput output, const Faces& faces) {
  const auto repeated =
      std::erase_if(output.pairs, [&](const Pair& pair) { return pair.item >= faces.corners.size(); });
  output.records -= static_cast<std::uint32_t>(repeated);
  for (Pair& pair : output.pairs) pair.item = faces.numbers[pair.item];
  std::sort(output.pairs.begin(), output.pairs.end());
  return output;
}

// The textures of compute_clip.comp, bound.
class ClipTextures {
 public:
  ClipTextures(const Faces& faces, std::span<const Tool> tools, std::uint32_t call = 0) {
    fill(positions_, faces.positions);
    // The last block repeats its last face.
    std::vector<glm::uvec3> corners = faces.corners;
    corners.resize(corners.size() + padding_of(faces), corners.back());
    fill(corners_, corners);
    fill(tools_, texels_of(tools, corners.size() / 64, call));
    bind(positions_, 10);
    bind(corners_, 13);
    bind(tools_, 14);
  }

 private:
  gl::TexelBuffer positions_{GL_R32F}, corners_{GL_R32UI}, tools_{GL_RGBA32F};
};

}  // namespace

ComputeOutput run_clip_all(bool exact_clip, const Faces& faces, std::span<const Tool> tools, std::uint32_t call,
                           std::size_t capacity) {
  const gl::Program program = clip_program(false, exact_clip);
  const ClipTextures textures(faces, tools, call);
  const Storage storage(0, capacity + padding_of(faces) * tools.size());
  glUseProgram(program.name());
  glDispatchCompute(static_cast<GLuint>((faces.corners.size() + 63) / 64), 1, 1);
  return with_numbers(storage.read(false), faces);
}

ComputeOutput run_clip_culled(bool exact_clip, const Faces& faces, std::span<const Tool> tools,
                              std::span<const Pair> work, std::size_t capacity) {
  const gl::Program program = clip_program(true, exact_clip);
  const ClipTextures textures(faces, tools);
  Storage storage(work.size(), capacity + padding_of(faces) * tools.size());
  storage.give_work(work);
  glUseProgram(program.name());
  glDispatchCompute(static_cast<GLuint>(work.size()), 1, 1);
  return with_numbers(storage.read(false), faces);
}

ComputeOutput run_cull(std::span<const glm::vec3> positions, std::span<const std::vector<std::uint32_t>> blocks,
                       std::span<const Tool> tools, std::uint32_t call) {
  std::vector<std::uint32_t> vertices, ranges;
  for (const std::vector<std::uint32_t>& block : blocks) {
    ranges.push_back(static_cast<std::uint32_t>(vertices.size()));
    vertices.insert(vertices.end(), block.begin(), block.end());
    ranges.push_back(static_cast<std::uint32_t>(vertices.size()));
  }
  const gl::Program program = compute_program("compute_cull.comp", "");
  gl::TexelBuffer positions_of_all(GL_R32F), vertices_of_all(GL_R32UI), ranges_of_all(GL_R32UI), planes(GL_RGBA32F);
  positions_of_all.fill(positions.data(), positions.size_bytes());
  fill(vertices_of_all, vertices);
  fill(ranges_of_all, ranges);
  fill(planes, texels_of(tools, blocks.size(), call));
  bind(positions_of_all, 10);
  bind(vertices_of_all, 11);
  bind(ranges_of_all, 12);
  bind(planes, 14);
  const Storage storage(blocks.size() * tools.size(), 0);
  glUseProgram(program.name());
  glDispatchCompute(static_cast<GLuint>((blocks.size() + 31) / 32), 1, 1);
  return storage.read(true);
}

FinishOutput run_finish(std::uint32_t record_count, std::uint32_t call, std::uint32_t group_count) {
  const gl::Program program = compute_program("compute_finish.comp", "");
  const gl::Buffer reply = gl::make_buffer(), counters = gl::make_buffer();
  std::array<std::uint32_t, kHeaderWords> words{record_count, call, 0, 0, group_count, 1, 1, 0};
  const std::array<std::uint32_t, 4> unwritten{kUnwritten, kUnwritten, kUnwritten, kUnwritten};
  gl::fill_buffer(reply, unwritten.data(), sizeof unwritten);
  gl::fill_buffer(counters, words.data(), sizeof words);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, gl::kReplyBlock, reply.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, gl::kCountersBlock, counters.name());
  glUseProgram(program.name());
  glDispatchCompute(1, 1, 1);
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  std::array<std::uint32_t, 4> written{};
  glGetNamedBufferSubData(reply.name(), 0, sizeof written, written.data());
  glGetNamedBufferSubData(counters.name(), 0, sizeof words, words.data());
  return {written[0], written[1], words[0], {words[4], words[5], words[6]}};
}

namespace {

gl::Program occlusion_program(std::size_t tools) {
  const std::string head = "#version 330 core\n#define TOOL_COUNT " + std::to_string(tools) + "\n";
  const auto source = [&](std::string_view file) { return head + std::string(gl::shader_source(file)); };
  const std::string vertex = source("occlusion.vert"), geometry = source("occlusion.geom"),
                    fragment = source("occlusion.frag");
  const std::array<gl::ShaderStage, 3> stages{
      {{GL_VERTEX_SHADER, vertex}, {GL_GEOMETRY_SHADER, geometry}, {GL_FRAGMENT_SHADER, fragment}}};
  constexpr std::array<const char*, 1> kVaryings{"hit"};
  return gl::make_program("occlusion", stages, kVaryings);
}

std::vector<glm::vec4> padded_planes(std::span<const Tool> tools) {
  std::vector<glm::vec4> planes;
  for (const Tool& tool : tools) {
    std::vector<glm::vec4> eight(kPlanes, glm::vec4(0.f, 0.f, 0.f, 1.f));
    std::copy(tool.planes.begin(), tool.planes.end(), eight.begin());
    planes.insert(planes.end(), eight.begin(), eight.end());
  }
  return planes;
}

void draw_faces(const Faces& faces) {
  const gl::VertexArray array = gl::make_vertex_array();
  const gl::Buffer positions = gl::make_buffer(), corners = gl::make_buffer();
  gl::fill_buffer(positions, faces.positions.data(), faces.positions.size() * sizeof(glm::vec3));
  gl::fill_buffer(corners, faces.corners.data(), faces.corners.size() * sizeof(glm::uvec3));
  glBindVertexArray(array.name());
  glBindBuffer(GL_ARRAY_BUFFER, positions.name());
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, nullptr);
  glEnableVertexAttribArray(0);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, corners.name());
  glBeginTransformFeedback(GL_POINTS);
  glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(3 * faces.corners.size()), GL_UNSIGNED_INT, nullptr);
  glEndTransformFeedback();
  glBindVertexArray(0);
}

}  // namespace

OcclusionOutput run_occlusion(const Faces& faces, std::span<const Tool> tools) {
  const gl::Program program = occlusion_program(tools.size());
  const gl::OnePixelTarget target;
  const gl::Buffer hits = gl::make_buffer();
  // Twice the most hits: a shader may not emit more than one point per face and tool.
  const std::vector<std::uint32_t> unwritten(2 * faces.corners.size() * tools.size(), kUnwritten);
  gl::fill_buffer(hits, unwritten.data(), unwritten.size() * sizeof(std::uint32_t));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target.framebuffer());
  glViewport(0, 0, 1, 1);
  glUseProgram(program.name());
  const std::vector<glm::vec4> planes = padded_planes(tools);
  glUniform4fv(glGetUniformLocation(program.name(), "planes"), static_cast<GLsizei>(planes.size()),
               glm::value_ptr(planes.front()));
  glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, hits.name());
  GLuint query = 0;
  glGenQueries(1, &query);
  glBeginQuery(GL_SAMPLES_PASSED, query);
  draw_faces(faces);
  glEndQuery(GL_SAMPLES_PASSED);
  OcclusionOutput output;
  glGetQueryObjectuiv(query, GL_QUERY_RESULT, &output.samples);
  glDeleteQueries(1, &query);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);

  std::vector<std::uint32_t> words(unwritten.size());
  glBindBuffer(GL_COPY_READ_BUFFER, hits.name());
  glGetBufferSubData(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(words.size() * sizeof(std::uint32_t)),
                     words.data());
  for (const std::uint32_t word : words) {
    if (word != kUnwritten) output.hits.push_back({word / 4, word % 4, false});
  }
  std::sort(output.hits.begin(), output.hits.end());
  return output;
}

}  // namespace trocar::shaders
