#include "app/view/view.hpp"

#include <glad/gl.h>

#include <array>
#include <cstring>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/type_ptr.hpp>

#include "app/view/shader_text.hpp"
#include "app/view/surface.hpp"
#include "app/view/tool_shape.hpp"
#include "gpu_collision/gl_objects.hpp"

namespace trocar {
namespace {

constexpr double kNear = 0.005, kFar = 2.0;  // m

// Okabe and Ito's colour-blind-safe palette: sky blue and yellow stand out on red tissue, one for each instrument in
// turn.
constexpr glm::vec3 kTouchColours[] = {
    {0.34f, 0.71f, 0.91f}, {0.94f, 0.89f, 0.26f}, {0.0f, 0.62f, 0.45f}, {0.80f, 0.47f, 0.65f}};

// A vertex array with positions, normals and (organs) rest positions in separate buffers.
struct Drawable {
  gl::VertexArray array;
  gl::Buffer positions, normals, rest, charred, faces;
  GLsizei index_count = 0;
  std::uint32_t topology = 0;
};

template <typename T>
void fill(const gl::Buffer& buffer, GLenum target, std::span<const T> data, GLenum usage) {
  glBindBuffer(target, buffer.name());
  glBufferData(target, static_cast<GLsizeiptr>(data.size_bytes()), data.data(), usage);
}

void attribute(GLuint location, unsigned buffer, GLint numbers = 3) {
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glEnableVertexAttribArray(location);
  glVertexAttribPointer(location, numbers, GL_FLOAT, GL_FALSE, 0, nullptr);
}

Drawable make_drawable(const MeshView& mesh, unsigned shared_positions) {
  Drawable drawable{gl::make_vertex_array(), gl::make_buffer(), gl::make_buffer(),
                    gl::make_buffer(),       gl::make_buffer(), gl::make_buffer()};
  std::vector<glm::vec3> normals(mesh.positions.size());
  vertex_normals(mesh, normals);
  glBindVertexArray(drawable.array.name());
  fill(drawable.positions, GL_ARRAY_BUFFER, mesh.positions, GL_STREAM_DRAW);
  fill(drawable.normals, GL_ARRAY_BUFFER, std::span<const glm::vec3>(normals), GL_STREAM_DRAW);
  fill(drawable.rest, GL_ARRAY_BUFFER, mesh.positions, GL_STATIC_DRAW);
  fill(drawable.faces, GL_ELEMENT_ARRAY_BUFFER, mesh.faces, GL_STATIC_DRAW);
  attribute(0, shared_positions ? shared_positions : drawable.positions.name());
  attribute(1, drawable.normals.name());
  attribute(2, drawable.rest.name());
  glBindVertexArray(0);
  drawable.index_count = static_cast<GLsizei>(mesh.faces.size() * 3);
  return drawable;
}

Drawable make_drawable(const DrawnOrgan& organ) {
  Drawable drawable = make_drawable(organ.rest, organ.gpu ? organ.gpu->position_buffer() : 0);
  drawable.topology = organ.topology;
  if (organ.charred.size() != organ.rest.positions.size()) return drawable;
  glBindVertexArray(drawable.array.name());
  fill(drawable.charred, GL_ARRAY_BUFFER, organ.charred, GL_STATIC_DRAW);
  attribute(3, drawable.charred.name(), 1);
  glBindVertexArray(0);
  return drawable;
}

struct Uniforms {
  GLuint program;
  explicit Uniforms(const gl::Program& owner) : program(owner.name()) { glUseProgram(program); }
  GLint at(const char* name) const { return glGetUniformLocation(program, name); }
  void set(const char* name, float value) const { glUniform1f(at(name), value); }
  void set(const char* name, const glm::vec3& value) const { glUniform3fv(at(name), 1, glm::value_ptr(value)); }
  void set(const char* name, const glm::mat4& value) const {
    glUniformMatrix4fv(at(name), 1, GL_FALSE, glm::value_ptr(value));
  }
};

gl::Program program_of(bool detail, const char* label, const char* vertex,
                       std::initializer_list<const char*> fragment_parts) {
  std::string fragment = detail ? "#version 330\n#define DETAIL 1\n" : "#version 330\n#define DETAIL 0\n";
  for (const char* part : fragment_parts) fragment += view_shader(part);
  std::string placed = "#version 330\n";
  placed += view_shader("lens.glsl");
  placed += view_shader(vertex);
  const gl::ShaderStage stages[] = {{GL_VERTEX_SHADER, placed}, {GL_FRAGMENT_SHADER, fragment}};
  return gl::make_program(label, stages);
}

// The ellipsoid of the insufflated belly around the organs.
TriangleMesh cavity_around(std::span<const DrawnOrgan> organs) {
  glm::vec3 low(1e9f), high(-1e9f);
  for (const auto& organ : organs) {
    for (const glm::vec3& position : organ.rest.positions) {
      low = glm::min(low, position);
      high = glm::max(high, position);
    }
  }
  return make_cavity(0.5f * (low + high), 0.95f * (high - low) + glm::vec3(0.10f));
}

// The parts of one kind of instrument as the view keeps them.
struct DrawnPart {
  ToolPart part;  // for its pose; the mesh is in `shape`
  Drawable shape;
};

constexpr double kDrawnRadius = 0.0025;  // m, of the meshes; other instruments are scaled

std::vector<DrawnPart> make_parts(InstrumentKind kind) {
  std::vector<ToolPart> parts = tip_parts(kind, kDrawnRadius);
  for (ToolPart& part : shaft_parts(kind, kDrawnRadius)) parts.push_back(std::move(part));
  std::vector<DrawnPart> drawn;
  for (ToolPart& part : parts) {
    Drawable shape = make_drawable(part.mesh.view(), 0);
    drawn.push_back({std::move(part), std::move(shape)});
  }
  return drawn;
}

struct Finish {
  glm::vec3 colour;  // linear
  float shine;       // 0 plastic .. 1 polished steel
};

Finish finish_of(ToolSurface surface, bool energy) {
  switch (surface) {
    case ToolSurface::Insulation:
      return {glm::vec3(0.035f), 0.12f};
    case ToolSurface::Ceramic:
      return {{0.72f, 0.69f, 0.62f}, 0.25f};
    case ToolSurface::Wire:
      return energy ? Finish{{1.0f, 0.55f, 0.30f}, 0.6f} : Finish{{0.55f, 0.55f, 0.57f}, 1.f};
    default:
      return {{0.62f, 0.63f, 0.66f}, 1.f};
  }
}

}  // namespace

struct View::Content {
  bool detail = true;
  gl::Program organ = program_of(detail, "organ", "organ.vert", {"noise.glsl", "lighting.glsl", "organ.frag"});
  gl::Program touched = program_of(detail, "touched", "organ.vert", {"touched.frag"});
  gl::Program cavity = program_of(detail, "cavity", "plain.vert", {"noise.glsl", "lighting.glsl", "cavity.frag"});
  gl::Program metal = program_of(detail, "metal", "plain.vert", {"lighting.glsl", "metal.frag"});
  gl::Program scope = program_of(detail, "scope", "screen.vert", {"scope.frag"});
  std::vector<Drawable> organs;                 // [organ]
  std::vector<std::vector<glm::vec3>> normals;  // [organ][vertex]
  Drawable cavity_shape;
  std::array<std::vector<DrawnPart>, 4> tools;  // [kind][part]
  gl::VertexArray touched_array = gl::make_vertex_array(), empty_array = gl::make_vertex_array();
  gl::Buffer touched_faces = gl::make_buffer();
  std::vector<glm::uvec3> touched_indices;

  void draw_organs(std::span<const DrawnOrgan> drawn, const glm::mat4& clip_from_world, const glm::vec3& eye);
  void draw_touched(std::span<const DrawnOrgan> drawn, const glm::mat4& clip_from_world, const glm::vec3& eye);
  void draw_tool(const DrawnTool& tool, const Uniforms& uniforms);
};

View::View(GlContext& context, std::span<const DrawnOrgan> drawn) {
  gl::require_version(context, "view", 3, 3);
  content_ = std::make_unique<Content>();
  for (const auto& organ : drawn) {
    content_->organs.push_back(make_drawable(organ));
    content_->normals.emplace_back(organ.rest.positions.size());
  }
  content_->cavity_shape = make_drawable(cavity_around(drawn).view(), 0);
  for (std::size_t kind = 0; kind < content_->tools.size(); ++kind)
    content_->tools[kind] = make_parts(static_cast<InstrumentKind>(kind));
}

View::~View() = default;

void View::Content::draw_organs(std::span<const DrawnOrgan> drawn, const glm::mat4& clip_from_world,
                                const glm::vec3& eye) {
  const Uniforms uniforms(organ);
  uniforms.set("clip_from_world", clip_from_world);
  uniforms.set("eye", eye);
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    if (organs[k].topology != drawn[k].topology) {
      organs[k] = make_drawable(drawn[k]);
      normals[k].resize(drawn[k].positions.size());
    }
    const Drawable& shape = organs[k];
    vertex_normals({drawn[k].positions, drawn[k].rest.faces}, normals[k]);
    glBindBuffer(GL_ARRAY_BUFFER, shape.normals.name());
    glBufferSubData(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(normals[k].size() * sizeof(glm::vec3)),
                    normals[k].data());
    if (!drawn[k].gpu) {
      glBindBuffer(GL_ARRAY_BUFFER, shape.positions.name());
      glBufferSubData(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(drawn[k].positions.size_bytes()),
                      drawn[k].positions.data());
    }
    uniforms.set("colour", drawn[k].colour);
    uniforms.set("vessels", drawn[k].colour.g > 0.25f ? 1.f : 0.25f);
    glBindVertexArray(shape.array.name());
    glDrawElements(GL_TRIANGLES, shape.index_count, GL_UNSIGNED_INT, nullptr);
  }
}

// The touched faces once more, a hair nearer, blended over the tissue.
void View::Content::draw_touched(std::span<const DrawnOrgan> drawn, const glm::mat4& clip_from_world,
                                 const glm::vec3& eye) {
  const Uniforms uniforms(touched);
  uniforms.set("clip_from_world", clip_from_world);
  uniforms.set("eye", eye);
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(-1.f, -1.f);
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    for (std::size_t tool = 0; tool + 1 < drawn[k].touches.first.size(); ++tool) {
      touched_indices.clear();
      for (const Touch& touch : drawn[k].touches.of_tool(tool))
        touched_indices.push_back(drawn[k].rest.faces[index(touch.face)]);
      if (tool + 1 < drawn[k].tip_first.size())
        for (std::uint32_t i = drawn[k].tip_first[tool]; i < drawn[k].tip_first[tool + 1]; ++i)
          touched_indices.push_back(drawn[k].rest.faces[index(drawn[k].tip_faces[i])]);
      if (touched_indices.empty()) continue;
      glBindVertexArray(touched_array.name());
      attribute(0, drawn[k].gpu ? drawn[k].gpu->position_buffer() : organs[k].positions.name());
      attribute(1, organs[k].normals.name());
      fill(touched_faces, GL_ELEMENT_ARRAY_BUFFER, std::span<const glm::uvec3>(touched_indices), GL_STREAM_DRAW);
      uniforms.set("colour", kTouchColours[tool % std::size(kTouchColours)]);
      glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(touched_indices.size() * 3), GL_UNSIGNED_INT, nullptr);
    }
  }
  glDisable(GL_BLEND);
  glDisable(GL_POLYGON_OFFSET_FILL);
}

void View::Content::draw_tool(const DrawnTool& tool, const Uniforms& uniforms) {
  const double scale = tool.pose.radius / kDrawnRadius;
  for (const auto& [part, shape] : tools[static_cast<std::size_t>(tool.kind)]) {
    ToolPart sized{{}, part.hinge_z * scale, part.side};
    const glm::dmat4 frame = part_pose(tool.pose, tool.roll_deg, tool.grip, sized, tool.limits);
    const Finish finish = finish_of(part.surface, tool.energy);
    uniforms.set("world_from_model", glm::mat4(glm::scale(frame, glm::dvec3(scale))));
    uniforms.set("colour", finish.colour);
    uniforms.set("shine", finish.shine);
    glBindVertexArray(shape.array.name());
    glDrawElements(GL_TRIANGLES, shape.index_count, GL_UNSIGNED_INT, nullptr);
  }
}

void View::draw(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools, const ScopePose& scope_pose,
                const Lens& lens, const DrawnMarks&, const ViewSettings& settings, int width, int height) {
  Content& c = *content_;
  const float aspect = static_cast<float>(width) / static_cast<float>(std::max(height, 1));
  const glm::mat4 clip_from_world(projection_matrix(scope_pose, aspect, kNear, kFar) * view_matrix(scope_pose));
  const glm::vec3 eye(scope_pose.eye);
  for (const gl::Program* program : {&c.organ, &c.touched, &c.cavity, &c.metal}) {
    const Uniforms uniforms(*program);
    uniforms.set("barrel", static_cast<float>(lens.barrel));
    uniforms.set("aspect", aspect);
  }
  glViewport(0, 0, width, height);
  glClearColor(0.f, 0.f, 0.f, 1.f);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LEQUAL);
  glDisable(GL_CULL_FACE);

  c.draw_organs(organs, clip_from_world, eye);
  if (settings.show_touched) c.draw_touched(organs, clip_from_world, eye);
  {
    const Uniforms uniforms(c.metal);
    uniforms.set("clip_from_world", clip_from_world);
    uniforms.set("eye", eye);
    for (const DrawnTool& tool : tools) c.draw_tool(tool, uniforms);
  }
  {
    const Uniforms uniforms(c.cavity);
    uniforms.set("clip_from_world", clip_from_world);
    uniforms.set("world_from_model", glm::mat4(1.f));
    uniforms.set("eye", eye);
    glEnable(GL_CULL_FACE);  // seen from within only: an eye outside of it looks in
    glCullFace(GL_FRONT);
    glBindVertexArray(c.cavity_shape.array.name());
    glDrawElements(GL_TRIANGLES, c.cavity_shape.index_count, GL_UNSIGNED_INT, nullptr);
    glDisable(GL_CULL_FACE);
  }
  glDisable(GL_DEPTH_TEST);
  if (settings.round_field) {
    const Uniforms uniforms(c.scope);
    uniforms.set("aspect", aspect);
    uniforms.set("strength", 1.f);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glBindVertexArray(c.empty_array.name());
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisable(GL_BLEND);
  }
  glBindVertexArray(0);
  glUseProgram(0);
}

void drawn_organs(const Session& session, std::vector<DrawnOrgan>& organs) {
  organs.clear();
  for (const Organ& organ : session.organs()) {
    DrawnOrgan drawn;
    drawn.rest = organ.mesh.view();
    drawn.colour = organ.colour;
    drawn.positions = organ.positions;
    drawn.gpu = organ.gpu;
    drawn.charred = organ.charred;
    drawn.topology = organ.topology;
    // In a frame that cut, the touched faces are no longer where they were asked about.
    if (organ.change.empty()) {
      drawn.touches = organ.touches;
      drawn.tip_faces = organ.tip_faces;
      drawn.tip_first = organ.tip_first;
    }
    organs.push_back(drawn);
  }
}

void drawn_tools(const Session& session, std::vector<DrawnTool>& tools) {
  tools.clear();
  for (std::size_t k = 0; k < session.instruments().size(); ++k) {
    const Instrument& instrument = session.instruments()[k];
    bool touching = false;
    for (const Organ& organ : session.organs()) {
      touching = touching || (!organ.touches.first.empty() && !organ.touches.of_tool(k).empty()) ||
                 (!organ.tip_first.empty() && organ.tip_first[k + 1] > organ.tip_first[k]);
    }
    tools.push_back(
        {instrument.pose, instrument.roll_deg, instrument.grip, touching, instrument.kind, instrument.energy, {}});
  }
}

}  // namespace trocar
