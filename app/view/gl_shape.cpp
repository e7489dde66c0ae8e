#include "app/view/gl_shape.hpp"

#include <glad/gl.h>

#include <glm/gtc/type_ptr.hpp>
#include <string>

#include "app/view/shader_text.hpp"
#include "app/view/surface.hpp"

namespace trocar {
namespace {

// The shaders are written in what GLSL 3.30 and GLSL ES 3.00 have in common.
#if defined(__EMSCRIPTEN__)
constexpr const char* kHead =
    "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2D;\n"
    "precision highp sampler3D;\n";
#else
constexpr const char* kHead = "#version 330\n";
#endif

gl::Program compile(const char* label, const char* vertex, std::initializer_list<const char*> fragment,
                    std::string_view defines) {
  std::string head = kHead;
  head += defines;
  head += view_shader("frame.glsl");
  std::string vertex_text = head;
  vertex_text += view_shader("lens.glsl");
  vertex_text += view_shader(vertex);
  std::string fragment_text = head;
  for (const char* part : fragment) fragment_text += view_shader(part);
  const gl::ShaderStage stages[] = {{GL_VERTEX_SHADER, vertex_text}, {GL_FRAGMENT_SHADER, fragment_text}};
  return gl::make_program(label, stages);
}

GLint location_of(GLuint program, const char* name) { return glGetUniformLocation(program, name); }

void fill(GLenum target, const gl::Buffer& buffer, const void* data, std::size_t bytes, bool often) {
  glBindBuffer(target, buffer.name());
  glBufferData(target, static_cast<GLsizeiptr>(bytes), data, often ? GL_STREAM_DRAW : GL_STATIC_DRAW);
}

// Without mipmaps: the volumes are never seen from far enough.
Texture make_volume(const glm::ivec3& size, GLenum stored, GLenum given, std::span<const std::uint8_t> bytes,
                    GLenum outside) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_3D, name);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage3D(GL_TEXTURE_3D, 0, static_cast<GLint>(stored), size.x, size.y, size.z, 0, given, GL_UNSIGNED_BYTE,
               bytes.data());
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_3D, filter, GL_LINEAR);
  for (const GLenum axis : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R})
    glTexParameteri(GL_TEXTURE_3D, axis, static_cast<GLint>(outside));
  glBindTexture(GL_TEXTURE_3D, 0);
  return Texture(name);
}

}  // namespace

Shader::Shader(const char* label, const char* vertex, std::initializer_list<const char*> fragment,
               std::string_view defines)
    : program_(compile(label, vertex, fragment, defines)) {
  const GLuint block = glGetUniformBlockIndex(program_.name(), "Frame");
  if (block != GL_INVALID_INDEX) glUniformBlockBinding(program_.name(), block, kFrameBinding);
}

void Shader::use() const { glUseProgram(program_.name()); }
void Shader::set(const char* name, float value) const { glUniform1f(location_of(program_.name(), name), value); }
void Shader::set(const char* name, int value) const { glUniform1i(location_of(program_.name(), name), value); }
void Shader::set(const char* name, const glm::vec2& value) const {
  glUniform2fv(location_of(program_.name(), name), 1, glm::value_ptr(value));
}
void Shader::set(const char* name, const glm::vec3& value) const {
  glUniform3fv(location_of(program_.name(), name), 1, glm::value_ptr(value));
}
void Shader::set(const char* name, const glm::vec4& value) const {
  glUniform4fv(location_of(program_.name(), name), 1, glm::value_ptr(value));
}
void Shader::set(const char* name, std::span<const glm::vec4> values) const {
  glUniform4fv(location_of(program_.name(), name), static_cast<GLsizei>(values.size()), glm::value_ptr(values[0]));
}
void Shader::set(const char* name, const glm::mat4& value) const {
  glUniformMatrix4fv(location_of(program_.name(), name), 1, GL_FALSE, glm::value_ptr(value));
}

void vertex_attribute(unsigned location, unsigned buffer, int numbers, int stride, int offset) {
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glEnableVertexAttribArray(location);
  glVertexAttribPointer(location, numbers, GL_FLOAT, GL_FALSE, stride,
                        reinterpret_cast<const void*>(static_cast<std::intptr_t>(offset)));
}

void fill_vertices(const gl::Buffer& buffer, std::span<const std::byte> bytes, bool often) {
  fill(GL_ARRAY_BUFFER, buffer, bytes.data(), bytes.size(), often);
}

void fill_faces(const gl::Buffer& buffer, std::span<const glm::uvec3> faces, bool often) {
  fill(GL_ELEMENT_ARRAY_BUFFER, buffer, faces.data(), faces.size_bytes(), often);
}

void update_vertices(const gl::Buffer& buffer, std::span<const std::byte> bytes) {
  glBindBuffer(GL_ARRAY_BUFFER, buffer.name());
  glBufferSubData(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(bytes.size()), bytes.data());
}

void Shape::draw() const {
  glBindVertexArray(array.name());
  glDrawElements(GL_TRIANGLES, index_count, GL_UNSIGNED_INT, nullptr);
}

Shape make_rigid_shape(const MeshView& mesh, double crease_deg) {
  const CreasedMesh creased = with_creases(mesh, crease_deg);
  Shape shape;
  glBindVertexArray(shape.array.name());
  fill_vertices(shape.positions, std::as_bytes(std::span(creased.mesh.positions)), false);
  fill_vertices(shape.normals, std::as_bytes(std::span(creased.normals)), false);
  fill_faces(shape.faces, creased.mesh.faces, false);
  vertex_attribute(0, shape.positions.name(), 3);
  vertex_attribute(1, shape.normals.name(), 3);
  glBindVertexArray(0);
  shape.index_count = static_cast<int>(creased.mesh.faces.size() * 3);
  return shape;
}

void delete_texture(gl::Name name) { glDeleteTextures(1, &name); }

Texture make_repeating_volume(int side, std::span<const std::uint8_t> rgba) {
  return make_volume(glm::ivec3(side), GL_RGBA8, GL_RGBA, rgba, GL_REPEAT);
}

Texture make_byte_volume(const glm::ivec3& size, std::span<const std::uint8_t> texels) {
  return make_volume(size, GL_R8, GL_RED, texels, GL_CLAMP_TO_EDGE);
}

void bind_volume(const Texture& texture, unsigned unit) {
  glActiveTexture(GL_TEXTURE0 + unit);
  glBindTexture(GL_TEXTURE_3D, texture.name());
  glActiveTexture(GL_TEXTURE0);
}

}  // namespace trocar
