// Defines classes that own the view's OpenGL objects: triangle meshes, shader programs from named files, textures; and
// the normals of surfaces. No GL type appears here (gpu_collision/gl_objects.hpp).   Tested in tests/app/view_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Returns the text of app/view/shaders/FILE, embedded by the build; asserts that the file exists.
std::string_view view_shader(std::string_view file);

// Computes the area-weighted unit normal of every vertex; (0, 0, 1) where it is undefined. normals: [vertex].
void vertex_normals(const MeshView& mesh, std::span<glm::vec3> normals);

// A mesh with separate vertices for each face corner, and a normal for each of them.
struct CreasedMesh {
  TriangleMesh mesh;
  std::vector<glm::vec3> normals;  // [vertex]
};
// Returns the mesh with a normal for each corner: each corner's normal is the area-weighted mean over those faces at
// its vertex whose normals differ from its own by less than `crease_deg`.
CreasedMesh with_creases(const MeshView& mesh, double crease_deg);

// Returns whether the surface is closed, manifold, consistently oriented and outward: it can be drawn with back-face
// culling.
bool encloses(const MeshView& mesh);

// Binding of the frame's uniform block; high, so that it does not collide with other bindings.
constexpr unsigned kFrameBinding = 11;

// A program from app/view/shaders: the vertex file, and the fragment files in order; both include the frame block.
// `defines`: lines at their head. A file with both stages tells them apart by VERTEX_SHADER.
class Shader {
 public:
  Shader(const char* label, const char* vertex, std::initializer_list<const char*> fragment,
         std::string_view defines = {});
  void use() const;
  // Sets a uniform of the program in use.
  void set(const char* name, float value) const;
  void set(const char* name, int value) const;
  void set(const char* name, const glm::vec2& value) const;
  void set(const char* name, const glm::vec3& value) const;
  void set(const char* name, const glm::vec4& value) const;
  void set(const char* name, std::span<const glm::vec4> values) const;
  void set(const char* name, const glm::mat4& value) const;

 private:
  gl::Program program_;
};

// Sets attribute `location` of the bound vertex array to `numbers` floats from `buffer`, every `stride` bytes.
void vertex_attribute(unsigned location, unsigned buffer, int numbers, int stride = 0, int offset = 0);
// Replaces a buffer's content.
void fill_vertices(const gl::Buffer& buffer, std::span<const std::byte> bytes, bool often);
void fill_faces(const gl::Buffer& buffer, std::span<const glm::uvec3> faces, bool often);
// Overwrites the first bytes of a buffer.
void update_vertices(const gl::Buffer& buffer, std::span<const std::byte> bytes);

// A mesh with normals (locations 0 and 1).
struct Shape {
  gl::VertexArray array = gl::make_vertex_array();
  gl::Buffer positions = gl::make_buffer(), normals = gl::make_buffer(), faces = gl::make_buffer();
  int index_count = 0;

  void draw() const;
};

// Returns a rigid shape; edges sharper than `crease_deg` stay sharp.
Shape make_rigid_shape(const MeshView& mesh, double crease_deg = 40.0);

void delete_texture(gl::Name name);
using Texture = gl::Owned<delete_texture>;
// Returns a 3D texture of side^3 RGBA bytes that repeats in all directions.
Texture make_repeating_volume(int side, std::span<const std::uint8_t> rgba);
// Returns a 3D texture of one byte a texel, x fastest. Outside, the texels at its border continue.
Texture make_byte_volume(const glm::ivec3& size, std::span<const std::uint8_t> texels);
// Texture unit of the volume of lobules of fat; unit 0 has the grain, unit 1 an organ's vessels.
constexpr unsigned kFatUnit = 2;
// Binds the volume to a texture unit; unit 0 is active afterwards.
void bind_volume(const Texture& texture, unsigned unit = 0);

}  // namespace trocar
