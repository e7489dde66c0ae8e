#include "tests/gpu_collision/shader_runs.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <glm/gtc/type_ptr.hpp>
#include <string>

#include "gpu_collision/compute.hpp"
#include "gpu_collision/drawn_query.hpp"
#include "gpu_collision/gl_objects.hpp"

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

constexpr std::size_t kToolsPerPass = 64, kToolTexels = kPlanes + 1, kHeadTexels = 2;
constexpr GLuint kFacesGroup = 256;

// The uniform block of compute_tools.glsl, one per pass.
class ToolBlocks {
 public:
  ToolBlocks(std::span<const Tool> tools, std::size_t blocks, std::uint32_t call, std::uint32_t groups) {
    const std::size_t passes = (tools.size() + kToolsPerPass - 1) / kToolsPerPass;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      const std::size_t first = pass * kToolsPerPass, count = std::min(kToolsPerPass, tools.size() - first);
      // Unused planes exclude everything: a shader must not read them.
      std::vector<glm::vec4> texels(kHeadTexels + kToolsPerPass * kToolTexels, glm::vec4(0.f, 0.f, 0.f, -1e6f));
      const std::uint32_t head[] = {call, static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(count),
                                    static_cast<std::uint32_t>(first), groups * static_cast<std::uint32_t>(passes)};
      std::memcpy(texels.data(), head, sizeof head);
      for (std::size_t t = 0; t < count; ++t) {
        const Tool& tool = tools[first + t];
        const auto at = texels.begin() + static_cast<std::ptrdiff_t>(kHeadTexels + t * kToolTexels);
        std::copy(tool.planes.begin(), tool.planes.end(), at);
        at[kPlanes] = {tool.slack, static_cast<float>(tool.planes.size()), 0.f, 0.f};
      }
      buffers_.push_back(gl::make_buffer());
      gl::fill_buffer(buffers_.back(), texels.data(), texels.size() * sizeof(glm::vec4));
    }
  }
  std::size_t passes() const { return buffers_.size(); }
  void bind(std::size_t pass) const { glBindBufferBase(GL_UNIFORM_BUFFER, gl::kToolsBlock, buffers_[pass].name()); }

 private:
  std::vector<gl::Buffer> buffers_;
};

gl::Program compute_program(std::string_view file, const std::string& switches) {
  const std::string source = "#version 430\n" + switches + std::string(gl::shader_source("compute_tools.glsl")) +
                             std::string(gl::shader_source(file));
  const std::array<gl::ShaderStage, 1> stages{{{GL_COMPUTE_SHADER, source}}};
  return gl::make_program(file, stages);
}

gl::Program faces_program(bool culled) {
  return compute_program("compute_faces.comp", "#define CULLED " + std::to_string(culled) + "\n");
}

// A record as compute_faces.comp writes it.
struct Record {
  std::uint32_t slot, tool;
  std::array<glm::vec3, 3> corners;
  std::uint32_t unused;
};
static_assert(sizeof(Record) == 48);

// The storage blocks of both compute shaders.
class Storage {
 public:
  Storage(std::size_t work_pairs, std::size_t records)
      : work_(gl::make_buffer()),
        counters_(gl::make_buffer()),
        reply_(gl::make_buffer()),
        records_(gl::make_buffer()),
        work_words_(2 * work_pairs),
        record_words_(records * sizeof(Record) / sizeof(std::uint32_t)) {
    give(work_, std::vector(std::max<std::size_t>(work_words_, 2), kUnwritten), gl::kWorkBlock);
    give(counters_, {0, 0, 0, 0, 0, 1, 1, 0}, gl::kCountersBlock);
    give(reply_, std::vector(4, kUnwritten), gl::kReplyBlock);
    give(records_, std::vector(std::max<std::size_t>(record_words_, 12), kUnwritten), gl::kRecordsBlock);
  }

  void give_work(std::span<const Pair> work) {
    std::vector<std::uint32_t> words;
    for (const Pair& pair : work) words.insert(words.end(), {pair.item, pair.tool});
    give(work_, words, gl::kWorkBlock);
  }

  // Reads the counters and the work list.
  ComputeOutput read_work() const {
    ComputeOutput output = read_counters();
    const std::vector<std::uint32_t> work = words_of(work_, work_words_);
    for (std::size_t i = 0; i < work.size(); i += 2)
      if (work[i] != kUnwritten || work[i + 1] != kUnwritten) output.pairs.push_back({work[i], work[i + 1], false});
    std::sort(output.pairs.begin(), output.pairs.end());
    return output;
  }

  // Reads the counters, or the reply of the last workgroup, and the records, with face numbers in place of slots and
  // without the records of slots that repeat a face.
  ComputeOutput read_records(const Faces& faces, bool replied) const {
    ComputeOutput output = read_counters();
    if (replied) {
      output.counters_reset = output.records == 0 && words_of(counters_, kHeaderWords)[2] == 0;
      const std::vector<std::uint32_t> reply = words_of(reply_, 2);
      output.records = reply[0], output.call_done = reply[1];
    }
    const std::vector<std::uint32_t> words = words_of(records_, record_words_);
    for (std::size_t i = 0; i < words.size(); i += 12) {
      Record record;
      std::memcpy(&record, &words[i], sizeof record);
      if (record.slot == kUnwritten && record.tool == kUnwritten) continue;
      const std::uint32_t slot = record.slot & ~kCertain;
      if (slot >= faces.corners.size()) {
        --output.records;
        continue;
      }
      for (int k = 0; k < 3; ++k) output.wrong_corners += record.corners[k] != faces.positions[faces.corners[slot][k]];
      output.pairs.push_back({faces.numbers[slot], record.tool, (record.slot & kCertain) != 0});
    }
    std::sort(output.pairs.begin(), output.pairs.end());
    return output;
  }

 private:
  static void give(const gl::Buffer& buffer, const std::vector<std::uint32_t>& words, GLuint block) {
    gl::fill_buffer(buffer, words.data(), words.size() * sizeof(std::uint32_t));
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, block, buffer.name());
  }

  static std::vector<std::uint32_t> words_of(const gl::Buffer& buffer, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    if (count == 0) return words;
    glBindBuffer(GL_COPY_READ_BUFFER, buffer.name());
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(count * sizeof(std::uint32_t)), words.data());
    return words;
  }

  ComputeOutput read_counters() const {
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    const std::vector<std::uint32_t> header = words_of(counters_, kHeaderWords);
    ComputeOutput output;
    output.records = header[0], output.call_done = header[1];
    std::memcpy(output.groups, &header[4], sizeof output.groups);
    return output;
  }

  gl::Buffer work_, counters_, reply_, records_;
  std::size_t work_words_, record_words_;
};

// The last block repeats its last face.
std::size_t padding_of(const Faces& faces) { return (64 - faces.corners.size() % 64) % 64; }
GLuint blocks_of(const Faces& faces) { return static_cast<GLuint>((faces.corners.size() + 63) / 64); }
GLuint groups_of(const Faces& faces) { return (64 * blocks_of(faces) + kFacesGroup - 1) / kFacesGroup; }

// The textures of compute_faces.comp, bound.
class FaceTextures {
 public:
  explicit FaceTextures(const Faces& faces) {
    fill(positions_, faces.positions);
    std::vector<glm::uvec3> corners = faces.corners;
    corners.resize(corners.size() + padding_of(faces), corners.back());
    fill(corners_, corners);
    bind(positions_, 10);
    bind(corners_, 13);
  }

 private:
  gl::TexelBuffer positions_{GL_R32F}, corners_{GL_R32UI};
};

}  // namespace

ComputeOutput run_all_faces(const Faces& faces, std::span<const Tool> tools, std::uint32_t call, std::size_t capacity) {
  const gl::Program program = faces_program(false);
  const FaceTextures textures(faces);
  const ToolBlocks blocks(tools, blocks_of(faces), call, groups_of(faces));
  const Storage storage(0, capacity + padding_of(faces) * tools.size());
  glUseProgram(program.name());
  for (std::size_t pass = 0; pass < blocks.passes(); ++pass) {
    blocks.bind(pass);
    glDispatchCompute(groups_of(faces), 1, 1);
  }
  return storage.read_records(faces, true);
}

ComputeOutput run_faces_of_work(const Faces& faces, std::span<const Tool> tools, std::span<const Pair> work,
                                std::size_t capacity) {
  const gl::Program program = faces_program(true);
  const FaceTextures textures(faces);
  const ToolBlocks blocks(tools, blocks_of(faces), 0, 0);
  Storage storage(work.size(), capacity + padding_of(faces) * tools.size());
  storage.give_work(work);
  blocks.bind(0);
  glUseProgram(program.name());
  glDispatchCompute(static_cast<GLuint>(work.size()), 1, 1);
  return storage.read_records(faces, false);
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
  gl::TexelBuffer positions_of_all(GL_R32F), vertices_of_all(GL_R32UI), ranges_of_all(GL_R32UI);
  positions_of_all.fill(positions.data(), positions.size_bytes());
  fill(vertices_of_all, vertices);
  fill(ranges_of_all, ranges);
  bind(positions_of_all, 10);
  bind(vertices_of_all, 11);
  bind(ranges_of_all, 12);
  const ToolBlocks tool_blocks(tools, blocks.size(), call, 0);
  tool_blocks.bind(0);
  const Storage storage(blocks.size() * tools.size(), 0);
  glUseProgram(program.name());
  glDispatchCompute(static_cast<GLuint>((blocks.size() + 31) / 32), 1, 1);
  return storage.read_work();
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
  for (const std::uint32_t word : words)
    if (word != kUnwritten) output.hits.push_back({word / 4, word % 4, false});
  std::sort(output.hits.begin(), output.hits.end());
  return output;
}

}  // namespace trocar::shaders
