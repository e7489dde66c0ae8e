#include "app/view/gl_shape.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cmath>
#include <glm/gtc/type_ptr.hpp>
#include <string>
#include <utility>

namespace trocar {

void vertex_normals(const MeshView& mesh, std::span<glm::vec3> normals) {
  std::fill(normals.begin(), normals.end(), glm::vec3(0.f));
  for (const glm::uvec3& face : mesh.faces) {
    const glm::vec3 a = mesh.positions[face.x];
    const glm::vec3 weighted = glm::cross(mesh.positions[face.y] - a, mesh.positions[face.z] - a);
    normals[face.x] += weighted;
    normals[face.y] += weighted;
    normals[face.z] += weighted;
  }
  for (glm::vec3& normal : normals) {
    const float length = glm::length(normal);
    normal = length > 0.f ? normal / length : glm::vec3(0.f, 0.f, 1.f);
  }
}

CreasedMesh with_creases(const MeshView& mesh, double crease_deg) {
  std::vector<glm::vec3> weighted(mesh.faces.size());  // [face] normal times twice its area
  std::vector<std::vector<std::uint32_t>> around(mesh.positions.size());
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const glm::uvec3& face = mesh.faces[f];
    const glm::vec3 a = mesh.positions[face.x];
    weighted[f] = glm::cross(mesh.positions[face.y] - a, mesh.positions[face.z] - a);
    for (int corner = 0; corner < 3; ++corner) around[face[corner]].push_back(f);
  }
  const auto direction = [](const glm::vec3& v) {
    return glm::length(v) > 0.f ? glm::normalize(v) : glm::vec3(0, 0, 1);
  };
  const float smooth = static_cast<float>(std::cos(glm::radians(crease_deg)));
  CreasedMesh out;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const auto first = static_cast<std::uint32_t>(out.mesh.positions.size());
    for (int corner = 0; corner < 3; ++corner) {
      glm::vec3 sum(0.f);
      for (const std::uint32_t other : around[mesh.faces[f][corner]])
        if (other == f || glm::dot(direction(weighted[other]), direction(weighted[f])) > smooth) sum += weighted[other];
      out.mesh.positions.push_back(mesh.positions[mesh.faces[f][corner]]);
      out.normals.push_back(direction(sum));
    }
    out.mesh.faces.emplace_back(first, first + 1, first + 2);
  }
  return out;
}

// Every side u - v of a face must occur once, and so must v - u. The sides are sorted by their first vertex.
bool encloses(const MeshView& mesh) {
  std::vector<std::uint32_t> first(mesh.positions.size() + 1, 0), ends(3 * mesh.faces.size());
  double volume = 0.0;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    volume += glm::dot(t.a, glm::cross(t.b, t.c));
    for (int corner = 0; corner < 3; ++corner) ++first[face[corner]];
  }
  std::uint32_t before = 0;
  for (std::uint32_t& count : first) before += std::exchange(count, before);
  for (const glm::uvec3& face : mesh.faces)
    for (int corner = 0; corner < 3; ++corner) ends[first[face[corner]]++] = face[(corner + 1) % 3];
  // Now first[u] is the end of the sides from u.
  const auto count_from = [&](std::uint32_t u, std::uint32_t v) {
    return std::count(ends.begin() + (u > 0 ? first[u - 1] : 0), ends.begin() + first[u], v);
  };
  for (const glm::uvec3& face : mesh.faces)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t u = face[corner], v = face[(corner + 1) % 3];
      if (count_from(u, v) != 1 || count_from(v, u) != 1) return false;
    }
  return volume > 0.0;
}

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
  head += view_shader("lamp.glsl");
  std::string vertex_text = head + "#define VERTEX_SHADER\n";
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
