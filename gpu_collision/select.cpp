// Answers the touch query as in 1999: the tool is a camera, the organ is drawn in GL_SELECT mode with one name per
// face, and the returned names are the faces that the camera sees. Based on: Lombardo, Cani, Neyret, "Real-time
// collision detection for virtual surgery", Computer Animation 1999. We differ: camera and clip planes are a few
// micrometres wider, so that float rounding loses no face, and every hit is decided in double (drawn_query.hpp); all
// tools share one selection, with the tool as the first of two names. Units: metres.   Checked against the reference in
// tests/gpu_collision/query_test.cpp
#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/gtc/type_ptr.hpp>
#include <limits>
#include <string>
#include <vector>

#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "gpu_collision/drawn_query.hpp"
#include "gpu_collision/gl_context.hpp"
#include "gpu_collision/gl_fault.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "gpu_collision/queries.hpp"

namespace trocar {
namespace {

// Saves the OpenGL state that a GL_SELECT pass changes, sets a known state, and restores the old one on destruction, so
// that a renderer sharing the context is not affected.

// During its lifetime: fixed function, `framebuffer` bound, no culling, client arrays off, the default vertex
// array bound, depth -1 to 1. A context must be current, in render mode.
class SelectState {
 public:
  SelectState(const GlInfo& info, unsigned framebuffer);
  ~SelectState();
  SelectState(const SelectState&) = delete;
  SelectState& operator=(const SelectState&) = delete;

 private:
  void save();
  void enter(unsigned framebuffer);

  const bool has_pipelines_, has_clip_control_;
  std::array<float, 16> model_view_{}, projection_{};
  int program_ = 0, pipeline_ = 0, framebuffer_ = 0, vertex_array_ = 0, selection_size_ = 0;
  void* selection_ = nullptr;  // for a renderer that also uses GL_SELECT
  bool discards_ = false;
};

// The transform group includes the clip control; the client's vertex arrays include the binding of GL_ARRAY_BUFFER.
constexpr GLbitfield kServerState = GL_TRANSFORM_BIT | GL_ENABLE_BIT | GL_POLYGON_BIT | GL_VIEWPORT_BIT;

// Disables every array of the default vertex array: an enabled one with a stale pointer would be read.
void disable_client_arrays() {
  for (const GLenum array : {GL_VERTEX_ARRAY, GL_NORMAL_ARRAY, GL_COLOR_ARRAY, GL_SECONDARY_COLOR_ARRAY, GL_INDEX_ARRAY,
                             GL_EDGE_FLAG_ARRAY, GL_FOG_COORD_ARRAY}) {
    glDisableClientState(array);
  }
  GLint texture_units = 0, attributes = 0;
  glGetIntegerv(GL_MAX_TEXTURE_COORDS, &texture_units);
  glGetIntegerv(GL_MAX_VERTEX_ATTRIBS, &attributes);
  for (GLint unit = 0; unit < texture_units; ++unit) {
    glClientActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    glDisableClientState(GL_TEXTURE_COORD_ARRAY);
  }
  for (GLint i = 0; i < attributes; ++i) glDisableVertexAttribArray(static_cast<GLuint>(i));
}

SelectState::SelectState(const GlInfo& info, unsigned framebuffer)
    : has_pipelines_(gl::at_least(info, 4, 1)), has_clip_control_(gl::at_least(info, 4, 5)) {
  save();
  enter(framebuffer);
}

void SelectState::save() {
  glGetIntegerv(GL_CURRENT_PROGRAM, &program_);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer_);
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array_);
  glGetFloatv(GL_MODELVIEW_MATRIX, model_view_.data());
  glGetFloatv(GL_PROJECTION_MATRIX, projection_.data());
  glGetPointerv(GL_SELECTION_BUFFER_POINTER, &selection_);
  glGetIntegerv(GL_SELECTION_BUFFER_SIZE, &selection_size_);
  discards_ = glIsEnabled(GL_RASTERIZER_DISCARD);
  if (has_pipelines_) glGetIntegerv(GL_PROGRAM_PIPELINE_BINDING, &pipeline_);
}

void SelectState::enter(unsigned framebuffer) {
  glPushAttrib(kServerState);
  glBindVertexArray(0);
  glPushClientAttrib(GL_CLIENT_VERTEX_ARRAY_BIT);
  glUseProgram(0);
  if (has_pipelines_) glBindProgramPipeline(0);
  if (has_clip_control_) glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  glViewport(0, 0, 1, 1);
  for (const GLenum feature : {GL_RASTERIZER_DISCARD, GL_CULL_FACE, GL_DEPTH_CLAMP}) {
    glDisable(feature);
  }
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  disable_client_arrays();
  glBindBuffer(GL_ARRAY_BUFFER, 0);
}

SelectState::~SelectState() {
  glMatrixMode(GL_PROJECTION);
  glLoadMatrixf(projection_.data());
  glMatrixMode(GL_MODELVIEW);
  glLoadMatrixf(model_view_.data());
  glPopClientAttrib();
  glBindVertexArray(static_cast<GLuint>(vertex_array_));
  glPopAttrib();
  glUseProgram(static_cast<GLuint>(program_));
  if (has_pipelines_) glBindProgramPipeline(static_cast<GLuint>(pipeline_));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(framebuffer_));
  if (discards_) glEnable(GL_RASTERIZER_DISCARD);
  glSelectBuffer(selection_size_, static_cast<GLuint*>(selection_));
}

// A hit record: number of names (2), nearest and farthest depth, tool, face.
constexpr std::size_t kRecordLength = 5;
// Capacity for the hits of an ordinary frame; a frame with more is drawn again with twice the capacity.
constexpr std::size_t kFirstRecords = 1024;

double largest_coordinate(const glm::dvec3& at) { return std::max({std::abs(at.x), std::abs(at.y), std::abs(at.z)}); }

double largest_coordinate(std::span<const glm::vec3> positions) {
  glm::vec3 largest(0.f);
  for (const glm::vec3& position : positions) largest = glm::max(largest, glm::abs(position));
  return largest_coordinate(glm::dvec3(largest));
}

// Returns the camera with left and right moved outwards by `margin` metres. Their clip-space heights are w + x and w -
// x, so a larger constant in w moves both (and, a little further, near, far, top and bottom, which already lie outside
// the volume).
glm::mat4 widened(const glm::mat4& projection, double margin) {
  double steepest = 0.0;  // clip units per metre of height over left or right
  for (const float side : {1.f, -1.f}) {
    glm::dvec3 normal;
    for (int axis = 0; axis < 3; ++axis) normal[axis] = projection[axis][3] + side * projection[axis][0];
    steepest = std::max(steepest, glm::length(normal));
  }
  glm::mat4 wider = projection;
  wider[3][3] += static_cast<float>(margin * steepest);
  return wider;
}

void set_camera(const ToolVolume& tool, double margin) {
  glMatrixMode(GL_PROJECTION);
  glLoadMatrixf(glm::value_ptr(widened(tool.projection, margin)));
  glMatrixMode(GL_MODELVIEW);
  glLoadMatrixf(glm::value_ptr(tool.view));
  for (int i = 0; i < kMaxPlanes; ++i) {
    const GLenum plane = GL_CLIP_PLANE0 + static_cast<GLenum>(i);
    if (i >= tool.plane_count || (tool.clip_plane_mask >> i & 1u) == 0) {
      glDisable(plane);
      continue;
    }
    const glm::dvec4 equation = glm::dvec4(tool.planes[i]) + glm::dvec4(0.0, 0.0, 0.0, margin);
    glClipPlane(plane, glm::value_ptr(equation));
    glEnable(plane);
  }
}

class SelectQuery final : public TouchQuery {
 public:
  explicit SelectQuery(GlContext& context)
      : info_(context.info()), fault_(context), records_(kFirstRecords * kRecordLength) {}

  std::string_view name() const override { return "select"; }
  void rebuild(const MeshView& mesh) override;
  void update(std::span<const glm::vec3> positions) override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override;
  TouchFault fault() const override { return fault_.fault(); }
  const StageTimes& times() const override { return times_; }
  std::size_t memory_bytes() const override;
  unsigned position_buffer() const override { return organ_.buffer(); }

 private:
  void take_positions();
  std::size_t select(std::span<const ToolVolume> tools);
  void draw(std::span<const ToolVolume> tools);
  void settle(std::span<const ToolVolume> tools, TouchSet set, std::size_t hits);

  GlInfo info_;
  gl::FaultWatch fault_;
  gl::OnePixelTarget target_;
  gl::PositionStore organ_;
  gl::Timer timer_;
  std::vector<glm::vec3> corners_;  // [3 * face] m, drawn
  double largest_ = 0.0;            // m, largest coordinate
  std::vector<GLuint> records_;     // the select buffer
  std::vector<FaceId> candidates_;
  TouchBook book_;
  StageTimes times_;
};

void SelectQuery::rebuild(const MeshView& mesh) {
  if (!fault_.begin()) return;
  // glDrawArrays counts corners in a signed integer.
  if (mesh.faces.size() > std::numeric_limits<GLint>::max() / 3) return fault_.raise(TouchFault::TooLarge);
  organ_.rebuild(mesh);
  corners_.resize(3 * mesh.faces.size());
  take_positions();
  fault_.check();
}

void SelectQuery::update(std::span<const glm::vec3> positions) {
  const auto start = Clock::now();
  if (!fault_.begin()) return;
  organ_.update(positions);
  take_positions();
  fault_.check();
  times_.update_ms = milliseconds_since(start);
}

// Copies corner by corner: glDrawArrays from client memory is the cheapest way to draw single faces (Mesa: 0.76 us a
// face against 0.85 for glDrawElements from client memory, 0.98 from buffers, 1.06 for glBegin / glEnd, 1.0 for a
// display list whose compilation costs another 1.3).
void SelectQuery::take_positions() {
  const MeshView mesh = organ_.view();
  glm::vec3* corner = corners_.data();
  for (const glm::uvec3& face : mesh.faces) {
    *corner++ = mesh.positions[face.x];
    *corner++ = mesh.positions[face.y];
    *corner++ = mesh.positions[face.z];
  }
  largest_ = largest_coordinate(mesh.positions);
}

TouchList SelectQuery::touched(std::span<const ToolVolume> tools, TouchSet set) {
  times_ = {.update_ms = times_.update_ms};
  if (!fault_.begin()) return book_.none(tools.size());
  const std::size_t hits = tools.empty() || corners_.empty() ? 0 : select(tools);
  if (!fault_.check()) return book_.none(tools.size());
  const auto start = Clock::now();
  settle(tools, set, hits);
  if (fault_.any()) return book_.none(tools.size());
  times_.refine_ms = milliseconds_since(start);
  times_.gpu_ms = timer_.latest_ms();
  return book_.list();
}

// Draws in GL_SELECT mode until the select buffer holds every hit; returns their number. The driver returns -1 when
// there are more; an impossible number is a fault.
std::size_t SelectQuery::select(std::span<const ToolVolume> tools) {
  const std::size_t most = organ_.view().faces.size() * tools.size();
  auto start = Clock::now();
  const SelectState state(info_, target_.framebuffer());
  for (;;) {
    glSelectBuffer(static_cast<GLsizei>(records_.size()), records_.data());
    glRenderMode(GL_SELECT);
    timer_.begin();
    draw(tools);
    timer_.end();
    times_.submit_ms += milliseconds_since(start);

    start = Clock::now();
    const int hits = glRenderMode(GL_RENDER);
    times_.read_back_ms += milliseconds_since(start);
    const std::size_t capacity = records_.size() / kRecordLength;
    if (hits >= 0 && static_cast<std::size_t>(hits) <= std::min(most, capacity)) return static_cast<std::size_t>(hits);
    if (hits >= 0 || capacity > most) return fault_.raise(TouchFault::WrongAnswer), 0;
    if (records_.size() > std::numeric_limits<GLsizei>::max() / 2) return fault_.raise(TouchFault::TooLarge), 0;
    records_.resize(2 * records_.size());
    start = Clock::now();
  }
}

void SelectQuery::draw(std::span<const ToolVolume> tools) {
  glInitNames();
  glPushName(0);
  glEnableClientState(GL_VERTEX_ARRAY);
  glVertexPointer(3, GL_FLOAT, 0, corners_.data());
  const auto corner_count = static_cast<GLint>(corners_.size());
  for (GLuint tool = 0; tool < tools.size(); ++tool) {
    const double pivot = largest_coordinate(tools[tool].step.pivot);
    set_camera(tools[tool], candidate_margin(std::max(largest_, pivot)));
    glLoadName(tool);
    glPushName(0);
    GLuint face = 0;
    for (GLint first = 0; first < corner_count; first += 3) {
      glLoadName(face++);
      glDrawArrays(GL_TRIANGLES, first, 3);
    }
    glPopName();
  }
}

// Hits come in drawing order: tool after tool, each with two names.
void SelectQuery::settle(std::span<const ToolVolume> tools, TouchSet set, std::size_t hits) {
  book_.open();
  const GLuint* record = records_.data();
  const GLuint* const end = record + hits * kRecordLength;
  for (GLuint tool = 0; tool < tools.size(); ++tool) {
    candidates_.clear();
    for (; record != end && record[0] == 2 && record[3] == tool; record += kRecordLength)
      candidates_.push_back(FaceId{record[4]});
    if (!trocar::settle(tools[tool], set, organ_.view(), candidates_, book_))
      return fault_.raise(TouchFault::WrongAnswer);
  }
  if (record != end) fault_.raise(TouchFault::WrongAnswer);
}

std::size_t SelectQuery::memory_bytes() const {
  return organ_.memory_bytes() + held_bytes(corners_, records_, candidates_) + book_.memory_bytes();
}

}  // namespace

std::unique_ptr<TouchQuery> make_select_query(GlContext& context) {
  const GlInfo& info = context.info();
  if (!info.compatibility_profile) throw InputError("backend select: this context has no compatibility profile");
  gl::require_version(context, "select", 3, 3);
  GLint planes = 0;
  glGetIntegerv(GL_MAX_CLIP_PLANES, &planes);
  if (planes < kMaxPlanes) {
    throw InputError("backend select: this context has " + std::to_string(planes) + " clip planes, " +
                     std::to_string(kMaxPlanes) + " are needed");
  }
  return std::make_unique<SelectQuery>(context);
}

}  // namespace trocar
