#include "tests/gpu_collision/guest_state.hpp"

#include <glad/gl.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace trocar {
namespace {

struct NamedEnum {
  const char* name;
  GLenum value;
};
#define NAMED(value) \
  NamedEnum { #value, value }

constexpr NamedEnum kSwitches[] = {NAMED(GL_RASTERIZER_DISCARD),
                                   NAMED(GL_SCISSOR_TEST),
                                   NAMED(GL_CULL_FACE),
                                   NAMED(GL_DEPTH_CLAMP),
                                   NAMED(GL_DEPTH_TEST),
                                   NAMED(GL_STENCIL_TEST),
                                   NAMED(GL_PRIMITIVE_RESTART),
                                   NAMED(GL_PROGRAM_POINT_SIZE),
                                   NAMED(GL_CLIP_DISTANCE0),
                                   NAMED(GL_CLIP_DISTANCE1),
                                   NAMED(GL_CLIP_DISTANCE2),
                                   NAMED(GL_CLIP_DISTANCE3),
                                   NAMED(GL_CLIP_DISTANCE4),
                                   NAMED(GL_CLIP_DISTANCE5),
                                   NAMED(GL_CLIP_DISTANCE6),
                                   NAMED(GL_CLIP_DISTANCE7),
                                   NAMED(GL_BLEND),
                                   NAMED(GL_MULTISAMPLE),
                                   NAMED(GL_POLYGON_OFFSET_FILL)};
constexpr NamedEnum kOldSwitches[] = {NAMED(GL_ALPHA_TEST),  NAMED(GL_LIGHTING),     NAMED(GL_NORMALIZE),
                                      NAMED(GL_FOG),         NAMED(GL_VERTEX_ARRAY), NAMED(GL_COLOR_ARRAY),
                                      NAMED(GL_NORMAL_ARRAY)};

struct NamedValues {
  const char* name;
  GLenum value;
  int count;
};
#define VALUES(value, count) \
  NamedValues { #value, value, count }

constexpr NamedValues kValues[] = {VALUES(GL_CURRENT_PROGRAM, 1),
                                   VALUES(GL_DRAW_FRAMEBUFFER_BINDING, 1),
                                   VALUES(GL_READ_FRAMEBUFFER_BINDING, 1),
                                   VALUES(GL_RENDERBUFFER_BINDING, 1),
                                   VALUES(GL_VERTEX_ARRAY_BINDING, 1),
                                   VALUES(GL_ARRAY_BUFFER_BINDING, 1),
                                   VALUES(GL_ELEMENT_ARRAY_BUFFER_BINDING, 1),
                                   VALUES(GL_COPY_READ_BUFFER_BINDING, 1),
                                   VALUES(GL_COPY_WRITE_BUFFER_BINDING, 1),
                                   VALUES(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, 1),
                                   VALUES(GL_VIEWPORT, 4),
                                   VALUES(GL_DEPTH_RANGE, 2),
                                   VALUES(GL_POLYGON_MODE, 2),
                                   VALUES(GL_CULL_FACE_MODE, 1),
                                   VALUES(GL_FRONT_FACE, 1),
                                   VALUES(GL_POINT_SIZE, 1),
                                   VALUES(GL_COLOR_WRITEMASK, 4),
                                   VALUES(GL_SCISSOR_BOX, 4),
                                   VALUES(GL_ACTIVE_TEXTURE, 1),
                                   VALUES(GL_TEXTURE_BINDING_2D, 1),
                                   VALUES(GL_TEXTURE_BINDING_BUFFER, 1)};
constexpr NamedValues kOldValues[] = {
    VALUES(GL_MATRIX_MODE, 1),           VALUES(GL_MODELVIEW_MATRIX, 16),    VALUES(GL_PROJECTION_MATRIX, 16),
    VALUES(GL_MODELVIEW_STACK_DEPTH, 1), VALUES(GL_ATTRIB_STACK_DEPTH, 1),   VALUES(GL_PROJECTION_STACK_DEPTH, 1),
    VALUES(GL_VERTEX_ARRAY_SIZE, 1),     VALUES(GL_COLOR_ARRAY_SIZE, 1),     VALUES(GL_CLIENT_ATTRIB_STACK_DEPTH, 1),
    VALUES(GL_CLIENT_ACTIVE_TEXTURE, 1), VALUES(GL_SELECTION_BUFFER_SIZE, 1)};
constexpr NamedValues kValues43[] = {VALUES(GL_DISPATCH_INDIRECT_BUFFER_BINDING, 1),
                                     VALUES(GL_SHADER_STORAGE_BUFFER_BINDING, 1)};
// Slots that `compute` uses; a renderer may use them too.
constexpr GLenum kFirstUnit = 10, kUnits = 6, kStorageBlocks[] = {4, 5, 6, 7};
constexpr NamedValues kValues45[] = {VALUES(GL_CLIP_ORIGIN, 1), VALUES(GL_CLIP_DEPTH_MODE, 1),
                                     VALUES(GL_PROGRAM_PIPELINE_BINDING, 1)};

void append(std::vector<std::string>& lines, std::span<const NamedEnum> switches) {
  for (const NamedEnum& entry : switches)
    lines.push_back(std::string(entry.name) + " = " + (glIsEnabled(entry.value) ? "on" : "off"));
}

void append(std::vector<std::string>& lines, std::span<const NamedValues> values) {
  for (const NamedValues& entry : values) {
    std::array<GLdouble, 16> numbers{};
    glGetDoublev(entry.value, numbers.data());
    std::string line = std::string(entry.name) + " =";
    for (int i = 0; i < entry.count; ++i) line += " " + std::to_string(numbers[i]);
    lines.push_back(line);
  }
}

constexpr const char* kVertexShader =
    "#version 330 core\nlayout(location = 3) in vec3 p;\nvoid main() { gl_Position = vec4(p + 9.0, 1); }\n";
constexpr const char* kFragmentShader = "#version 330 core\nout vec4 c;\nvoid main() { c = vec4(1); }\n";

gl::Program some_program() {
  const std::array<gl::ShaderStage, 2> stages{
      {{GL_VERTEX_SHADER, kVertexShader}, {GL_FRAGMENT_SHADER, kFragmentShader}}};
  return gl::make_program("some renderer", stages);
}

}  // namespace

HostileRenderer::HostileRenderer(const GlInfo& info)
    : compatibility_(info.compatibility_profile),
      program_(some_program()),
      vertex_array_(gl::make_vertex_array()),
      array_(gl::make_buffer()),
      feedback_(gl::make_buffer()),
      copy_read_(gl::make_buffer()),
      copy_write_(gl::make_buffer()),
      storage_(gl::make_buffer()) {
  if (compatibility_) set_fixed_function();
  glUseProgram(program_.name());
  glBindFramebuffer(GL_FRAMEBUFFER, target_.framebuffer());
  glGenRenderbuffers(1, &renderbuffer_);
  glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer_);
  bind_buffers();
  if (gl::at_least(info, 4, 3)) bind_storage();
  bind_textures();
  set_switches_and_values();
  if (!gl::at_least(info, 4, 5)) return;
  glClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE);
  glGenProgramPipelines(1, &pipeline_);
  glBindProgramPipeline(pipeline_);
}

void HostileRenderer::bind_buffers() {
  glBindVertexArray(vertex_array_.name());
  glBindBuffer(GL_ARRAY_BUFFER, array_.name());
  glBufferData(GL_ARRAY_BUFFER, 256, nullptr, GL_STATIC_DRAW);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, array_.name());
  glBindBuffer(GL_COPY_READ_BUFFER, copy_read_.name());
  glBindBuffer(GL_COPY_WRITE_BUFFER, copy_write_.name());
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, feedback_.name());
  glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 256, nullptr, GL_STATIC_DRAW);
  glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, feedback_.name(), 16, 64);
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, array_.name());
  if (!compatibility_) return;
  for (const GLenum array : {GL_VERTEX_ARRAY, GL_COLOR_ARRAY, GL_NORMAL_ARRAY}) glEnableClientState(array);
  glVertexPointer(2, GL_FLOAT, 0, nullptr);
  glColorPointer(3, GL_FLOAT, 0, nullptr);
}

void HostileRenderer::bind_storage() {
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, storage_.name());
  glBufferData(GL_SHADER_STORAGE_BUFFER, 4096, nullptr, GL_STATIC_DRAW);
  bind_storage_slots(0);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, copy_read_.name());
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, feedback_.name());
}

// Binds ranges and whole buffers in turn, beginning with a range (0) or a buffer (1).
void HostileRenderer::bind_storage_slots(unsigned first) {
  for (unsigned i = 0; i < std::size(kStorageBlocks); ++i) {
    const GLintptr start = 256 * (i + 1);
    if ((i + first) % 2 == 0) {
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, kStorageBlocks[i], storage_.name(), start, 1536 - start);
    } else {
      glBindBufferBase(GL_SHADER_STORAGE_BUFFER, kStorageBlocks[i], array_.name());
    }
  }
}

void HostileRenderer::swap_slots(const GlInfo& info) {
  glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, feedback_.name());
  glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, array_.name());
  if (!gl::at_least(info, 4, 3)) return;
  bind_storage_slots(1);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, copy_read_.name());
}

// Binds a buffer texture in every unit that `compute` uses, and makes one of those units active.
void HostileRenderer::bind_textures() {
  glGenTextures(static_cast<GLsizei>(textures_.size()), textures_.data());
  for (GLenum i = 0; i < kUnits; ++i) {
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glBindTexture(GL_TEXTURE_BUFFER, textures_[i]);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_R32F, array_.name());
  }
  glActiveTexture(GL_TEXTURE0 + kFirstUnit + 2);
  glBindTexture(GL_TEXTURE_2D, textures_.back());
}

void HostileRenderer::set_switches_and_values() {
  for (const NamedEnum& entry : kSwitches) glEnable(entry.value);
  glDisable(GL_MULTISAMPLE);
  if (compatibility_)
    for (const NamedEnum& entry : kOldSwitches)
      if (entry.value != GL_VERTEX_ARRAY && entry.value != GL_COLOR_ARRAY && entry.value != GL_NORMAL_ARRAY)
        glEnable(entry.value);
  glPrimitiveRestartIndex(0);
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  glCullFace(GL_FRONT_AND_BACK);
  glFrontFace(GL_CW);
  glDepthRange(0.25, 0.75);
  glViewport(3, 5, 7, 11);
  glScissor(100, 100, 1, 1);
  glPointSize(3.f);
  glColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
}

void HostileRenderer::set_fixed_function() {
  const std::array<GLfloat, 16> matrix{2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 5, 6, 7, 1};
  glPushAttrib(GL_POINT_BIT);
  glPushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
  for (const GLenum mode : {GL_PROJECTION, GL_MODELVIEW}) {
    glMatrixMode(mode);
    glPushMatrix();
    glLoadMatrixf(matrix.data());
  }
  glMatrixMode(GL_TEXTURE);
  for (GLenum i = 0; i < 8; ++i) {
    const std::array<GLdouble, 4> nothing_passes{0.0, 0.0, 0.0, -1.0 - i};
    glClipPlane(GL_CLIP_PLANE0 + i, nothing_passes.data());
  }
  glAlphaFunc(GL_NEVER, 0.f);
  glSelectBuffer(static_cast<GLsizei>(selection_.size()), selection_.data());
  // Arrays of the default vertex array that must not be read: their pointers are invalid.
  const auto* nowhere = reinterpret_cast<const void*>(8);
  glBindVertexArray(0);
  glColorPointer(3, GL_FLOAT, 0, nowhere);
  glEnableClientState(GL_COLOR_ARRAY);
  glVertexPointer(2, GL_FLOAT, 0, nowhere);
  glEnableClientState(GL_VERTEX_ARRAY);
  glClientActiveTexture(GL_TEXTURE3);
  glTexCoordPointer(2, GL_FLOAT, 0, nowhere);
  glEnableClientState(GL_TEXTURE_COORD_ARRAY);
  glVertexAttribPointer(5, 3, GL_FLOAT, GL_FALSE, 0, nowhere);
  glEnableVertexAttribArray(5);
}

HostileRenderer::~HostileRenderer() {
  glUseProgram(0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glBindVertexArray(0);
  glDeleteTextures(static_cast<GLsizei>(textures_.size()), textures_.data());
  glDeleteRenderbuffers(1, &renderbuffer_);
  if (pipeline_ != 0) glDeleteProgramPipelines(1, &pipeline_);
}

namespace {

std::string line_of(const std::string& name, std::initializer_list<GLint64> values) {
  std::string line = name + " =";
  for (const GLint64 value : values) line += " " + std::to_string(value);
  return line;
}

void append_slot(std::vector<std::string>& lines, const std::string& name, GLuint slot, GLenum binding, GLenum start,
                 GLenum size) {
  GLint buffer = 0;
  GLint64 first = 0, bytes = 0;
  glGetIntegeri_v(binding, slot, &buffer);
  glGetInteger64i_v(start, slot, &first);
  glGetInteger64i_v(size, slot, &bytes);
  lines.push_back(line_of(name, {buffer, first, bytes}));
}

void append_units(std::vector<std::string>& lines) {
  GLint active = 0;
  glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
  for (GLenum i = 0; i < kUnits; ++i) {
    GLint texture = 0;
    glActiveTexture(GL_TEXTURE0 + kFirstUnit + i);
    glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, &texture);
    lines.push_back(line_of("buffer texture of unit " + std::to_string(kFirstUnit + i), {texture}));
  }
  glActiveTexture(static_cast<GLenum>(active));
}

// The arrays of the default vertex array, queried while it is bound.
void append_default_arrays(std::vector<std::string>& lines) {
  GLint vertex_array = 0, enabled = 0, size = 0;
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array);
  glBindVertexArray(0);
  glGetVertexAttribiv(5, GL_VERTEX_ATTRIB_ARRAY_ENABLED, &enabled);
  glGetIntegerv(GL_VERTEX_ARRAY_SIZE, &size);
  lines.push_back(line_of("default positions", {glIsEnabled(GL_VERTEX_ARRAY), size}));
  lines.push_back(line_of("default colours", {glIsEnabled(GL_COLOR_ARRAY)}));
  lines.push_back(line_of("default attribute 5", {enabled}));
  GLint unit = 0;
  glGetIntegerv(GL_CLIENT_ACTIVE_TEXTURE, &unit);
  glClientActiveTexture(GL_TEXTURE3);
  lines.push_back(line_of("default texture coordinates 3", {glIsEnabled(GL_TEXTURE_COORD_ARRAY)}));
  glClientActiveTexture(static_cast<GLenum>(unit));
  glBindVertexArray(static_cast<GLuint>(vertex_array));
}

}  // namespace

std::vector<std::string> gl_snapshot(const GlInfo& info) {
  std::vector<std::string> lines;
  append(lines, kSwitches);
  append(lines, kValues);
  append_units(lines);
  append_slot(lines, "feedback slot 0", 0, GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, GL_TRANSFORM_FEEDBACK_BUFFER_START,
              GL_TRANSFORM_FEEDBACK_BUFFER_SIZE);
  if (gl::at_least(info, 4, 3)) {
    append(lines, kValues43);
    for (const GLuint block : kStorageBlocks)
      append_slot(lines, "storage block " + std::to_string(block), block, GL_SHADER_STORAGE_BUFFER_BINDING,
                  GL_SHADER_STORAGE_BUFFER_START, GL_SHADER_STORAGE_BUFFER_SIZE);
  }
  if (gl::at_least(info, 4, 5)) append(lines, kValues45);
  if (!info.compatibility_profile) return lines;
  append(lines, kOldSwitches);
  append(lines, kOldValues);
  for (GLenum i = 0; i < 8; ++i) {
    std::array<GLdouble, 4> plane{};
    glGetClipPlane(GL_CLIP_PLANE0 + i, plane.data());
    lines.push_back("clip plane " + std::to_string(i) + " = " + std::to_string(plane[0]) + " " +
                    std::to_string(plane[1]) + " " + std::to_string(plane[2]) + " " + std::to_string(plane[3]));
  }
  void* selection = nullptr;
  glGetPointerv(GL_SELECTION_BUFFER_POINTER, &selection);
  lines.push_back(line_of("selection buffer", {static_cast<GLint64>(reinterpret_cast<std::intptr_t>(selection))}));
  append_default_arrays(lines);
  return lines;
}

}  // namespace trocar
