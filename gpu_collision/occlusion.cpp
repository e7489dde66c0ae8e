// Answers the touch query by occlusion: a geometry shader clips each face against the tools' volumes and emits one
// point per touched face and tool. A samples-passed query counts the points; only when there are any does the host read
// their faces, which transform feedback has recorded in the same pass (recording nothing costs nothing; a second pass
// for the faces would double the work). Four tools per pass. Based on the idea of 1999 that the hardware first reports
// whether anything is visible. The faces are a superset by a few micrometres and are decided in double
// (drawn_query.hpp). Units: metres.   Checked against the reference in tests/gpu_collision/query_test.cpp
#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <glm/gtc/type_ptr.hpp>
#include <string>
#include <thread>
#include <vector>

#include "geometry/machine.hpp"
#include "gpu_collision/drawn_query.hpp"
#include "gpu_collision/gl_context.hpp"
#include "gpu_collision/gl_fault.hpp"
#include "gpu_collision/queries.hpp"

namespace trocar {
namespace {

// Saves the OpenGL state that an occlusion pass changes, sets a known state, and restores the old one on destruction,
// so that a renderer sharing the context is not affected.

// During its lifetime `framebuffer` is bound with a viewport of one pixel, every sample passes, and clip distances are
// off. A context must be current, without an active transform feedback or samples-passed query of the renderer.
class OcclusionState {
 public:
  OcclusionState(const GlInfo& info, unsigned framebuffer);
  ~OcclusionState();
  OcclusionState(const OcclusionState&) = delete;
  OcclusionState& operator=(const OcclusionState&) = delete;

 private:
  void save();
  void save_feedback_buffer();

  static constexpr int kFeatures = 13;
  const bool compatibility_;
  std::array<bool, kFeatures> enabled_{};
  std::array<int, 4> viewport_{};
  int program_ = 0, framebuffer_ = 0, vertex_array_ = 0, read_buffer_ = 0;
  int feedback_buffer_ = 0, feedback_slot_ = 0;
  std::int64_t feedback_start_ = 0, feedback_size_ = 0;
};

// These features are switched off, because they can keep a point from counting as one sample, or make a shader without
// clip distances undefined. GL_ALPHA_TEST, which core contexts do not have, comes last.
constexpr GLenum kSwitchedOff[] = {
    GL_RASTERIZER_DISCARD, GL_SCISSOR_TEST,   GL_PRIMITIVE_RESTART, GL_PROGRAM_POINT_SIZE, GL_CLIP_DISTANCE0,
    GL_CLIP_DISTANCE1,     GL_CLIP_DISTANCE2, GL_CLIP_DISTANCE3,    GL_CLIP_DISTANCE4,     GL_CLIP_DISTANCE5,
    GL_CLIP_DISTANCE6,     GL_CLIP_DISTANCE7, GL_ALPHA_TEST};

GLuint unsigned_name(GLint name) { return static_cast<GLuint>(name); }

OcclusionState::OcclusionState(const GlInfo& info, unsigned framebuffer) : compatibility_(info.compatibility_profile) {
  static_assert(std::size(kSwitchedOff) == kFeatures);
  save();
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  glViewport(0, 0, 1, 1);
  for (int i = 0; i < kFeatures; ++i) {
    if (enabled_[i]) glDisable(kSwitchedOff[i]);
  }
}

void OcclusionState::save() {
  glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer_);
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array_);
  glGetIntegerv(GL_VIEWPORT, viewport_.data());
  glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &read_buffer_);
  for (int i = 0; i < kFeatures; ++i) {
    enabled_[i] = (kSwitchedOff[i] != GL_ALPHA_TEST || compatibility_) && glIsEnabled(kSwitchedOff[i]);
  }
  save_feedback_buffer();
}

void OcclusionState::save_feedback_buffer() {
  glGetIntegerv(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, &feedback_buffer_);
  glGetIntegeri_v(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 0, &feedback_slot_);
  GLint64 start = 0, size = 0;
  glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_START, 0, &start);
  glGetInteger64i_v(GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, 0, &size);
  feedback_start_ = start;
  feedback_size_ = size;
}

OcclusionState::~OcclusionState() {
  for (int i = 0; i < kFeatures; ++i) {
    if (enabled_[i]) glEnable(kSwitchedOff[i]);
  }
  if (feedback_size_ > 0) {
    glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, unsigned_name(feedback_slot_), feedback_start_, feedback_size_);
  } else {
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, unsigned_name(feedback_slot_));
  }
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, unsigned_name(feedback_buffer_));
  glBindBuffer(GL_COPY_READ_BUFFER, unsigned_name(read_buffer_));
  glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
  glBindVertexArray(unsigned_name(vertex_array_));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, unsigned_name(framebuffer_));
  glUseProgram(unsigned_name(program_));
}

// As in the shaders: a tool's planes are the bits of one byte, a pass's tools are the bytes of one word.
constexpr std::size_t kToolsAtOnce = 4;
constexpr std::size_t kPlanesPerTool = 8;
static_assert(kPlanesPerTool >= kMaxPlanes);
// Capacity for the hits of an ordinary pass; a pass with more hits reports their number and is drawn again.
constexpr std::size_t kFirstHits = 4096;
// A hit is face * kToolsAtOnce + tool in a signed integer.
constexpr std::size_t kMostFaces = (std::size_t{1} << 31) / kToolsAtOnce;

using PassPlanes = std::array<glm::vec4, kToolsAtOnce * kPlanesPerTool>;

// Returns the planes of up to four tools, moved outwards by the margin and padded with planes that exclude nothing.
PassPlanes planes_of(std::span<const ToolVolume> tools) {
  PassPlanes planes;
  planes.fill(glm::vec4(0.f, 0.f, 0.f, 1.f));
  for (std::size_t t = 0; t < tools.size(); ++t) {
    double scale = 0.0;
    for (int i = 0; i < tools[t].plane_count; ++i) scale = std::max(scale, std::abs(double(tools[t].planes[i].w)));
    const glm::vec4 outward(0.f, 0.f, 0.f, static_cast<float>(candidate_margin(scale)));
    for (int i = 0; i < tools[t].plane_count; ++i) planes[t * kPlanesPerTool + i] = tools[t].planes[i] + outward;
  }
  return planes;
}

void delete_query(gl::Name name) { glDeleteQueries(1, &name); }

// The program of a pass with `tools` tools.
struct PassProgram {
  gl::Program program;
  GLint planes_at = -1;
};

PassProgram make_pass_program(std::size_t tools) {
  const std::string head = "#version 330 core\n#define TOOL_COUNT " + std::to_string(tools) + "\n";
  const auto source = [&](std::string_view file) { return head + std::string(gl::shader_source(file)); };
  const std::string vertex = source("occlusion.vert"), geometry = source("occlusion.geom"),
                    fragment = source("occlusion.frag");
  const std::array<gl::ShaderStage, 3> stages{
      {{GL_VERTEX_SHADER, vertex}, {GL_GEOMETRY_SHADER, geometry}, {GL_FRAGMENT_SHADER, fragment}}};
  constexpr std::array<const char*, 1> kVaryings{"hit"};
  gl::Program program = gl::make_program("occlusion", stages, kVaryings);
  const GLint planes_at = glGetUniformLocation(program.name(), "planes");
  return {std::move(program), planes_at};
}

class OcclusionQuery final : public TouchQuery {
 public:
  explicit OcclusionQuery(GlContext& context);

  std::string_view name() const override { return "occlusion"; }
  void rebuild(const MeshView& mesh) override;
  void update(std::span<const glm::vec3> positions) override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override;
  TouchFault fault() const override { return fault_.fault(); }
  const StageTimes& times() const override { return times_; }
  std::size_t memory_bytes() const override;
  unsigned position_buffer() const override { return organ_.buffer(); }

 private:
  void ensure_capacity(std::size_t passes, std::size_t hits);
  void submit(std::span<const ToolVolume> tools);
  bool count_hits(std::span<const ToolVolume> tools, std::size_t passes);
  bool read_back(std::span<const ToolVolume> tools, std::size_t passes);
  void settle(std::span<const ToolVolume> tools, TouchSet set);

  GlInfo info_;
  gl::FaultWatch fault_;
  gl::OnePixelTarget target_;
  gl::PositionStore organ_;
  std::array<PassProgram, kToolsAtOnce> programs_;  // [tools - 1]
  gl::VertexArray faces_to_draw_;
  gl::Buffer face_buffer_, hit_buffer_;
  std::vector<gl::Owned<delete_query>> samples_;  // [pass]
  gl::Timer timer_;
  std::size_t pass_capacity_ = 0, hit_capacity_ = 0;  // hit_buffer_ is [pass_capacity_][hit_capacity_] words
  std::vector<std::uint32_t> hits_;                   // of all passes, concatenated
  std::vector<std::size_t> hits_end_;                 // [pass]
  std::vector<FaceId> candidates_;
  TouchBook book_;
  StageTimes times_;
};

OcclusionQuery::OcclusionQuery(GlContext& context)
    : info_(context.info()),
      fault_(context),
      programs_{make_pass_program(1), make_pass_program(2), make_pass_program(3), make_pass_program(4)},
      faces_to_draw_(gl::make_vertex_array()),
      face_buffer_(gl::make_buffer()),
      hit_buffer_(gl::make_buffer()) {}

void OcclusionQuery::rebuild(const MeshView& mesh) {
  if (!fault_.begin()) return;
  if (mesh.faces.size() > kMostFaces) return fault_.raise(TouchFault::TooLarge);
  organ_.rebuild(mesh);
  gl::fill_buffer(face_buffer_, mesh.faces.data(), mesh.faces.size_bytes());
  GLint vertex_array = 0, array_buffer = 0;
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array);
  glGetIntegerv(GL_ARRAY_BUFFER_BINDING, &array_buffer);
  glBindVertexArray(faces_to_draw_.name());
  glBindBuffer(GL_ARRAY_BUFFER, organ_.buffer());
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, nullptr);
  glEnableVertexAttribArray(0);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, face_buffer_.name());
  glBindVertexArray(static_cast<GLuint>(vertex_array));
  glBindBuffer(GL_ARRAY_BUFFER, static_cast<GLuint>(array_buffer));
  fault_.check();
}

void OcclusionQuery::update(std::span<const glm::vec3> positions) {
  const auto start = Clock::now();
  if (!fault_.begin()) return;
  organ_.update(positions);
  fault_.check();
  times_.update_ms = milliseconds_since(start);
}

TouchList OcclusionQuery::touched(std::span<const ToolVolume> tools, TouchSet set) {
  times_ = {.update_ms = times_.update_ms};
  const bool anything = !tools.empty() && !organ_.view().faces.empty();
  const std::size_t passes = anything ? (tools.size() + kToolsAtOnce - 1) / kToolsAtOnce : 0;
  hits_.clear();
  hits_end_.clear();
  if (!fault_.begin()) return book_.none(tools.size());
  if (passes > 0) {
    const OcclusionState state(info_, target_.framebuffer());
    ensure_capacity(passes, kFirstHits);
    do {
      submit(tools);
    } while (!read_back(tools, passes) && !fault_.any());
  }
  if (!fault_.check()) return book_.none(tools.size());
  const auto start = Clock::now();
  settle(tools, set);
  if (fault_.any()) return book_.none(tools.size());
  times_.refine_ms = milliseconds_since(start);
  times_.gpu_ms = timer_.latest_ms();
  return book_.list();
}

void OcclusionQuery::ensure_capacity(std::size_t passes, std::size_t hits) {
  while (samples_.size() < passes) {
    GLuint query = 0;
    glGenQueries(1, &query);
    samples_.emplace_back(query);
  }
  if (passes <= pass_capacity_ && hits <= hit_capacity_) return;
  pass_capacity_ = std::max(passes, pass_capacity_);
  hit_capacity_ = std::max(hits, hit_capacity_);
  gl::fill_buffer(hit_buffer_, nullptr, pass_capacity_ * hit_capacity_ * sizeof(std::uint32_t));
}

// Every pass draws all faces once for four tools; it counts and records hits in its own part of the hit buffer.
void OcclusionQuery::submit(std::span<const ToolVolume> tools) {
  const auto start = Clock::now();
  const auto index_count = static_cast<GLsizei>(3 * organ_.view().faces.size());
  const auto pass_bytes = static_cast<GLsizeiptr>(hit_capacity_ * sizeof(std::uint32_t));
  glBindVertexArray(faces_to_draw_.name());
  timer_.begin();
  for (std::size_t first = 0, pass = 0; first < tools.size(); first += kToolsAtOnce, ++pass) {
    const auto batch = tools.subspan(first, std::min(kToolsAtOnce, tools.size() - first));
    const PassPlanes planes = planes_of(batch);
    const PassProgram& program = programs_[batch.size() - 1];
    glUseProgram(program.program.name());
    glUniform4fv(program.planes_at, static_cast<GLsizei>(batch.size() * kPlanesPerTool),
                 glm::value_ptr(planes.front()));
    glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, hit_buffer_.name(), static_cast<GLintptr>(pass) * pass_bytes,
                      pass_bytes);
    glBeginQuery(GL_SAMPLES_PASSED, samples_[pass].name());
    glBeginTransformFeedback(GL_POINTS);
    glDrawElements(GL_TRIANGLES, index_count, GL_UNSIGNED_INT, nullptr);
    glEndTransformFeedback();
    glEndQuery(GL_SAMPLES_PASSED);
  }
  timer_.end();
  glFlush();
  times_.submit_ms += milliseconds_since(start);
}

// Waits for each pass's count. Returns false, and raises a fault, when a count does not arrive or exceeds faces x
// tools of the pass.
bool OcclusionQuery::count_hits(std::span<const ToolVolume> tools, std::size_t passes) {
  const auto deadline = Clock::now() + gl::kLongestWait;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    GLuint available = 0, count = 0;
    for (;;) {
      glGetQueryObjectuiv(samples_[pass].name(), GL_QUERY_RESULT_AVAILABLE, &available);
      if (available != 0 || Clock::now() > deadline) break;
      std::this_thread::yield();
    }
    if (available == 0) return fault_.raise(TouchFault::TimedOut), false;
    glGetQueryObjectuiv(samples_[pass].name(), GL_QUERY_RESULT, &count);
    const std::size_t batch = std::min(kToolsAtOnce, tools.size() - pass * kToolsAtOnce);
    if (count > batch * organ_.view().faces.size()) return fault_.raise(TouchFault::WrongAnswer), false;
    hits_end_.push_back((pass == 0 ? 0 : hits_end_.back()) + count);
  }
  return true;
}

// Waits for the counts and reads the hits of nonzero counts. Returns false after a fault, and when a pass had more hits
// than the capacity: the capacity is then enlarged, and the caller draws again.
bool OcclusionQuery::read_back(std::span<const ToolVolume> tools, std::size_t passes) {
  const auto start = Clock::now();
  hits_.clear();
  hits_end_.clear();
  if (!count_hits(tools, passes)) return false;
  std::size_t most = 0;
  for (std::size_t pass = 0; pass < passes; ++pass)
    most = std::max(most, hits_end_[pass] - (pass == 0 ? 0 : hits_end_[pass - 1]));
  if (most <= hit_capacity_ && most > 0) {
    hits_.resize(hits_end_.back());
    glBindBuffer(GL_COPY_READ_BUFFER, hit_buffer_.name());
    for (std::size_t pass = 0, first = 0; pass < passes; first = hits_end_[pass++]) {
      if (hits_end_[pass] == first) continue;
      glGetBufferSubData(GL_COPY_READ_BUFFER, static_cast<GLintptr>(pass * hit_capacity_ * sizeof(std::uint32_t)),
                         static_cast<GLsizeiptr>((hits_end_[pass] - first) * sizeof(std::uint32_t)), &hits_[first]);
    }
  }
  const bool all_fit = most <= hit_capacity_;
  if (!all_fit) ensure_capacity(passes, most + most / 2);
  times_.read_back_ms += milliseconds_since(start);
  return all_fit;
}

// The hits of a pass belong to several tools, in any order. A hit is face * kToolsAtOnce + the tool's number within
// the pass.
void OcclusionQuery::settle(std::span<const ToolVolume> tools, TouchSet set) {
  book_.open();
  for (std::size_t tool = 0; tool < tools.size(); ++tool) {
    candidates_.clear();
    if (!hits_.empty()) {
      const std::size_t pass = tool / kToolsAtOnce, first = pass == 0 ? 0 : hits_end_[pass - 1];
      for (std::size_t i = first; i < hits_end_[pass]; ++i) {
        if (pass * kToolsAtOnce + hits_[i] % kToolsAtOnce >= tools.size()) return fault_.raise(TouchFault::WrongAnswer);
        if (hits_[i] % kToolsAtOnce == tool % kToolsAtOnce)
          candidates_.push_back(FaceId{static_cast<std::uint32_t>(hits_[i] / kToolsAtOnce)});
      }
    }
    if (!trocar::settle(tools[tool], set, organ_.view(), candidates_, book_))
      return fault_.raise(TouchFault::WrongAnswer);
  }
}

std::size_t OcclusionQuery::memory_bytes() const {
  return organ_.memory_bytes() + organ_.view().faces.size_bytes() +
         pass_capacity_ * hit_capacity_ * sizeof(std::uint32_t) + held_bytes(hits_, candidates_) + book_.memory_bytes();
}

}  // namespace

std::unique_ptr<TouchQuery> make_occlusion_query(GlContext& context) {
  gl::require_version(context, "occlusion", 3, 3);
  return std::make_unique<OcclusionQuery>(context);
}

}  // namespace trocar
