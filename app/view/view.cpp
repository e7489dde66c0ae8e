#include "app/view/view.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <cmath>
#include <glm/glm.hpp>
#include <utility>

#include "app/view/frame_block.hpp"
#include "app/view/gl_shape.hpp"
#include "app/view/mark_layer.hpp"
#include "app/view/organ_layer.hpp"
#include "app/view/tissue_light.hpp"
#include "app/view/tissue_texture.hpp"
#include "app/view/tool_layer.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

float organ_opacity(const Organ& organ) {
  return organ.tissue.slab.empty() ? 1.f : sheet_opacity(organ.tissue.slab.sheet.params.thickness);
}

std::vector<DrawnBackdrop> drawn_backdrops(std::span<const BackdropScene> backdrops) {
  std::vector<DrawnBackdrop> drawn;
  for (const BackdropScene& backdrop : backdrops)
    drawn.push_back({surface_of(backdrop), backdrop.colour, backdrop.look});
  return drawn;
}

void drawn_organs(const Session& session, std::vector<DrawnOrgan>& organs) {
  organs.clear();
  for (const Organ& organ : session.organs()) {
    DrawnOrgan drawn;
    drawn.rest = organ.mesh.view();
    drawn.colour = organ.colour;
    drawn.look = organ.look;
    drawn.positions = organ.positions;
    drawn.buffer = organ.query->position_buffer();
    drawn.charred = organ.charred;
    drawn.wet = session.film().look(organs.size());
    drawn.topology = organ.topology;
    drawn.opacity = organ_opacity(organ);
    // After a cut, the slots of the touched faces are out of date until the next frame.
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
    tools.push_back({instrument.pose, instrument.roll_deg, instrument.grip, touching, instrument.kind,
                     instrument.energy, instrument.heats != 0, instrument.limits});
  }
}

void add_strand(const FibreEnds& ends, float reference, std::vector<DrawnStrand>& strands) {
  constexpr float kVisible = 3e-4f;  // m  a shorter fibre is hidden between the organs
  constexpr float kThick = 3.5e-4f;  // m  radius of a fibre that is not stretched
  const float length = glm::distance(ends.a, ends.b);
  // A stretched fibre gets thinner, because its volume stays.
  if (length > kVisible)
    strands.push_back({ends.a, ends.b, kThick * std::sqrt(reference / std::max(length, reference))});
}

void add_jet(const Spurt& spurt, std::vector<DrawnStrand>& jets) {
  constexpr float kSpeed = 0.7f, kFall = 9.81f;  // m/s of the mean flow; m/s^2
  constexpr float kThick = 1.1e-3f;              // m
  constexpr int kPieces = 24, kWhole = 9;        // further on it breaks up into drops
  const float speed = kSpeed * spurt.flow;
  if (spurt.towards == glm::vec3(0.f) || !(speed > 0.f)) return;
  const auto at = [&](int piece) {
    const float way = spurt.length * static_cast<float>(piece) / kPieces, time = way / speed;
    return spurt.from + way * spurt.towards - glm::vec3(0.f, 0.f, 0.5f * kFall * time * time);
  };
  for (int k = 0; k < kPieces; ++k) {
    if (k > kWhole && k % 3 != 0) continue;
    const float thick = kThick * std::sqrt(spurt.flow) * (1.f - 0.6f * static_cast<float>(k) / kPieces);
    jets.push_back({at(k), at(k + 1), thick});
  }
}

DrawnPool pool_below(double volume, std::span<const BleedSource> sources, std::span<const MeshView> organs) {
  constexpr double kThick = 1e-3;  // m
  if (!(volume > 0.0)) return {};
  for (const BleedSource& source : sources) {
    const auto rest = organs[source.organ].positions;
    if (source.kind == BleedKind::Perforation || source.vertex >= rest.size()) continue;
    const double area = volume / kThick;
    return {glm::vec2(rest[source.vertex]), static_cast<float>(std::sqrt(2.0 * area / kFullTurn))};
  }
  return {};
}

DrawnPool pool_of(const Session& session) {
  if (session.bleeding().sources().empty()) return {};
  std::vector<MeshView> organs;
  for (const Organ& organ : session.organs()) organs.push_back(organ.mesh.view());
  return pool_below(session.film().amounts().dripped[0], session.bleeding().sources(), organs);
}

void drawn_bonds(const Session& session, DrawnBonds& drawn) {
  const SessionBonds& bonds = session.bonds();
  drawn.strands.clear();
  for (std::size_t f = 0; f < bonds.bonds().fibres.size(); ++f)
    if (bonds.bonds().intact[f]) add_strand(bonds.ends(f), bonds.bonds().fibres[f].reference, drawn.strands);
  drawn.blood_area = session.film().blood_area();
  drawn.jets.clear();
  for (const Spurt& spurt : session.film().spurts()) add_jet(spurt, drawn.jets);
  drawn.pool = pool_of(session);
  drawn.clips.clear();
  for (const PlacedClip& placed : session.clips().clips())
    if (placed.on())
      drawn.clips.push_back({pose_of(placed.clip, session.organs()[placed.clip.organ].positions), placed.length});
}

namespace {

// Renders with OpenGL at a reduced resolution, smooths the edges, and scales the result up to the full picture.
class SmallTarget {
 public:
  ~SmallTarget();
  // Redirects drawing into this target and remembers the bound framebuffer.
  void begin(const glm::ivec2& size);
  // Binds that framebuffer again and scales the picture up to it, within `field` half heights left and right of the
  // centre; the remaining columns become black. A fogged or turned lens acts on it.
  void end(const glm::ivec2& full_size, double field, const LensLook& look);

 private:
  void allocate(const glm::ivec2& size);
  void free();
  // Draws from a texture over the bound framebuffer with the program in use, in the columns within `field` half heights
  // of the centre.
  static void copy(unsigned texture, const glm::ivec2& size, double field);
  void use_lens(const glm::ivec2& full_size, double field, const LensLook& look) const;

  glm::ivec2 size_{0};
  unsigned framebuffers_[2]{}, colours_[2]{}, depth_ = 0;  // [0] what is drawn, [1] with smooth edges
  int outer_ = 0;
  Shader smooth_{"smooth", "upscale.glsl", {"smooth.frag"}};
  Shader upscale_{"upscale", "upscale.glsl", {"upscale.glsl"}};
  Shader lens_look_{"lens_look", "upscale.glsl", {"lens_look.frag"}};
  gl::VertexArray empty_ = gl::make_vertex_array();
};

SmallTarget::~SmallTarget() { free(); }

void SmallTarget::free() {
  glDeleteFramebuffers(2, framebuffers_);
  glDeleteTextures(2, colours_);
  glDeleteRenderbuffers(1, &depth_);
}

void SmallTarget::allocate(const glm::ivec2& size) {
  free();
  size_ = size;
  glGenFramebuffers(2, framebuffers_);
  glGenTextures(2, colours_);
  glGenRenderbuffers(1, &depth_);
  glBindRenderbuffer(GL_RENDERBUFFER, depth_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, size.x, size.y);
  for (int k = 0; k < 2; ++k) {
    glBindTexture(GL_TEXTURE_2D, colours_[k]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.x, size.y, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    for (const GLenum axis : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      glTexParameteri(GL_TEXTURE_2D, axis, GL_CLAMP_TO_EDGE);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[k]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colours_[k], 0);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[0]);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth_);
}

void SmallTarget::begin(const glm::ivec2& size) {
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &outer_);
  if (size != size_) allocate(size);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[0]);
}

void SmallTarget::copy(unsigned texture, const glm::ivec2& size, double field) {
  const int half = std::min(size.x / 2 + 1, static_cast<int>(0.5 * size.y * field) + 2);
  glViewport(0, 0, size.x, size.y);
  glScissor(size.x / 2 - half, 0, 2 * half, size.y);
  glBindTexture(GL_TEXTURE_2D, texture);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void SmallTarget::use_lens(const glm::ivec2& full_size, double field, const LensLook& look) const {
  if (look.fog > 0.f) {
    glBindTexture(GL_TEXTURE_2D, colours_[1]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glGenerateMipmap(GL_TEXTURE_2D);
  }
  lens_look_.use();
  lens_look_.set("fog", std::clamp(look.fog, 0.f, 1.f));
  lens_look_.set("dark", std::clamp(look.dark, 0.f, 1.f));
  lens_look_.set("aspect", static_cast<float>(full_size.x) / static_cast<float>(full_size.y));
  lens_look_.set("turn", glm::radians(look.turn_deg));
  lens_look_.set("field_radius", static_cast<float>(field));
}

void SmallTarget::end(const glm::ivec2& full_size, double field, const LensLook& look) {
  glDisable(GL_DEPTH_TEST);
  glEnable(GL_SCISSOR_TEST);
  glActiveTexture(GL_TEXTURE0);
  glBindVertexArray(empty_.name());
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffers_[1]);
  smooth_.use();
  smooth_.set("texel", 1.f / glm::vec2(size_));
  copy(colours_[0], size_, field);
  glDisable(GL_SCISSOR_TEST);
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(outer_));
  glClear(GL_COLOR_BUFFER_BIT);
  glEnable(GL_SCISSOR_TEST);
  if (look.is_plain())
    upscale_.use();
  else
    use_lens(full_size, field, look);
  copy(colours_[1], full_size, field);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glDisable(GL_SCISSOR_TEST);
  glBindTexture(GL_TEXTURE_2D, 0);
}

constexpr float kBeyond = 8.f;         // radii of the round field, outside any picture
constexpr int kFieldCorners = 2 * 97;  // vertices of the ring in shaders/field.glsl

// Returns the largest number of lines of a picture.
int most_lines(Quality quality) {
  switch (quality) {
    case Quality::Low:
      return 320;
    case Quality::Medium:
      return 480;
    default:
      return 1 << 20;
  }
}

// The insufflated abdomen: an ellipsoid around the organs, whose floor is fat (omentum, mesentery), in folds.
struct Cavity {
  TriangleMesh mesh;
  std::vector<glm::vec2> patches;  // [vertex] 1: coverage by fat; light and dark
};

Cavity cavity_around(std::span<const DrawnOrgan> organs) {
  glm::vec3 low(1e9f), high(-1e9f);
  for (const auto& organ : organs) {
    for (const glm::vec3& position : organ.rest.positions) {
      low = glm::min(low, position);
      high = glm::max(high, position);
    }
  }
  Cavity cavity{make_cavity(0.5f * (low + high), 0.95f * (high - low) + glm::vec3(0.10f)), {}};
  constexpr float kBelow = 0.080f,
                  kBegins = 0.040f;  // m  of the floor below the organs; over which the wall turns to fat
  const float fat_below = glm::mix(low.z, high.z, 0.30f);
  for (glm::vec3& p : cavity.mesh.positions) {
    const glm::vec3 q = turned(p), m = glm::sin(q * 38.f + 2.2f * glm::sin(glm::vec3(q.y, q.z, q.x) * 29.f)),
                    fold = glm::sin(q * 170.f + 2.6f * glm::sin(glm::vec3(q.y, q.z, q.x) * 87.f));
    const float fat = (fat_below - p.z) / kBegins + 0.5f * (m.x + 0.6f * m.y * m.z);
    cavity.patches.emplace_back(fat, m.z);
    // The floor is nearly level; its folds are 25 to 45 mm wide and 8 mm deep.
    const float floor = low.z - kBelow + 0.004f * (fold.x + fold.y * fold.z) + 0.006f * m.x;
    if (p.z < floor) p.z = floor + 0.15f * (p.z - floor);
  }
  return cavity;
}

struct CavityShape {
  Shape shape;
  gl::Buffer patches = gl::make_buffer();
};

CavityShape make_cavity_shape(const Cavity& cavity) {
  CavityShape made;
  std::vector<glm::vec3> normals(cavity.mesh.positions.size());
  vertex_normals(cavity.mesh.view(), normals);
  glBindVertexArray(made.shape.array.name());
  fill_vertices(made.shape.positions, std::as_bytes(std::span(cavity.mesh.positions)), false);
  fill_vertices(made.shape.normals, std::as_bytes(std::span(normals)), false);
  fill_vertices(made.patches, std::as_bytes(std::span(cavity.patches)), false);
  fill_faces(made.shape.faces, cavity.mesh.faces, false);
  vertex_attribute(0, made.shape.positions.name(), 3);
  vertex_attribute(1, made.shape.normals.name(), 3);
  vertex_attribute(2, made.patches.name(), 2);
  glBindVertexArray(0);
  made.shape.index_count = static_cast<int>(cavity.mesh.faces.size() * 3);
  return made;
}

// Blood absorbs light that tissue would scatter, so the whole field gets darker: 60 cm^2 take a third of it.
float light_left(double blood_area) {
  constexpr double kHalves = 0.012;  // m^2
  return static_cast<float>(kHalves / (kHalves + std::max(blood_area, 0.0)));
}

// Returns FrameBlock::haze: smoke near the lens scatters the lamp's light back. gain: of the exposure.
glm::vec4 haze_of(float density, float gain) {
  constexpr float kDensest = 0.55f;                   // 1  share of the light that the densest haze takes
  constexpr glm::vec3 kGrey(0.150f, 0.146f, 0.140f);  // 1  opaque haze, after the exposure
  const float taken = kDensest * density;
  return {taken / gain * kGrey, 1.f - taken};
}

void blending(bool on) {
  if (!on) {
    glDisable(GL_BLEND);
    glDepthMask(GL_TRUE);
    return;
  }
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  glDepthMask(GL_FALSE);
}

}  // namespace

struct View::Content {
  Content(std::span<const DrawnOrgan> drawn, std::vector<DrawnBackdrop> behind)
      : backdrops(std::move(behind)),
        organs(with_backdrops(drawn)),
        cavity_shape(make_cavity_shape(cavity_around(drawn))) {}

  std::vector<DrawnBackdrop> backdrops;
  std::vector<DrawnOrgan> tissue;  // of the picture: organs, then backdrops
  OrganLayer organs;               // of both
  ToolLayer tools;
  ClipLayer clips;
  MarkLayer marks;
  LabelLayer labels;
  StrandLayer strands;
  CavityShape cavity_shape;
  Shader cavity{"cavity", "cavity.glsl", {"fat.glsl", "lighting.glsl", "cavity.glsl"}};
  Shader field{"field", "field.glsl", {"field.glsl"}};
  Shader smoke_shader{"smoke", "smoke.glsl", {"lighting.glsl", "smoke.glsl"}};
  Texture grain = make_repeating_volume(kNoiseSide, make_noise_volume());
  Texture fat_cells = make_repeating_volume(kLobuleSide, make_lobule_volume());
  gl::Buffer frame_buffer = gl::make_buffer(), smoke_buffer = gl::make_buffer();
  gl::VertexArray smoke_array = gl::make_vertex_array(), empty_array = gl::make_vertex_array();
  SmallTarget small;
  SmokeState smoke;
  LightMeter light_meter;
  Exposure exposure;
  std::vector<SmokeVertex> smoke_corners;

  // Returns the organs and the backdrops behind them.
  std::span<const DrawnOrgan> with_backdrops(std::span<const DrawnOrgan> drawn);
  void set_frame(const FrameBlock& block, int width, int height);
  void draw_field(float inner, float outer, float depth);
  void draw_cavity(const DrawnPool& pool);
  void draw_on_tissue(std::span<const DrawnOrgan> drawn, std::span<const DrawnTool> held, const DrawnMarks& marked,
                      const ViewSettings& settings, const glm::vec3& lamp, const std::optional<ViewPyramid>& seen);
  void draw_smoke();
  float exposed(std::span<const DrawnOrgan> drawn, const FrameBlock& block, const ScopePose& scope, const Lens& lens,
                const std::optional<ViewPyramid>& seen, double time);
};

View::View(GlContext& context, std::span<const DrawnOrgan> drawn, std::vector<DrawnBackdrop> backdrops) {
  gl::require_version(context, "view", 3, 3);
  context.share();
  content_ = std::make_unique<Content>(drawn, std::move(backdrops));
  glBindVertexArray(content_->smoke_array.name());
  vertex_attribute(0, content_->smoke_buffer.name(), 4, sizeof(SmokeVertex), offsetof(SmokeVertex, centre_radius));
  vertex_attribute(1, content_->smoke_buffer.name(), 4, sizeof(SmokeVertex),
                   offsetof(SmokeVertex, corner_seed_density));
  glBindVertexArray(0);
}

View::~View() = default;

std::span<const DrawnOrgan> View::Content::with_backdrops(std::span<const DrawnOrgan> drawn) {
  tissue.assign(drawn.begin(), drawn.end());
  for (const DrawnBackdrop& backdrop : backdrops) {
    DrawnOrgan still;
    still.rest = backdrop.mesh.view();
    still.colour = backdrop.colour;
    still.positions = backdrop.mesh.positions;
    still.look = backdrop.look;
    tissue.push_back(still);
  }
  return tissue;
}

void View::Content::set_frame(const FrameBlock& block, int width, int height) {
  glBindBuffer(GL_UNIFORM_BUFFER, frame_buffer.name());
  glBufferData(GL_UNIFORM_BUFFER, sizeof(block), &block, GL_STREAM_DRAW);
  glBindBufferBase(GL_UNIFORM_BUFFER, kFrameBinding, frame_buffer.name());
  bind_volume(grain);
  bind_volume(fat_cells, kFatUnit);
  glViewport(0, 0, width, height);
  glClearColor(0.f, 0.f, 0.f, 1.f);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LEQUAL);
  glCullFace(GL_BACK);
  glDisable(GL_CULL_FACE);
  blending(false);
}

void View::Content::draw_field(float inner, float outer, float depth) {
  field.use();
  field.set("inner", inner);
  field.set("outer", outer);
  field.set("depth", depth);
  glBindVertexArray(empty_array.name());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, kFieldCorners);
}

void View::Content::draw_cavity(const DrawnPool& pool) {
  cavity.use();
  cavity.set("pool", glm::vec3(pool.middle, pool.radius));
  cavity.set("fat_cells", static_cast<int>(kFatUnit));
  glEnable(GL_CULL_FACE);  // drawn from inside only: an eye outside sees through it
  glCullFace(GL_FRONT);
  cavity_shape.shape.draw();
  glCullFace(GL_BACK);
  glDisable(GL_CULL_FACE);
}

// Draws layers on top of drawn faces: blended, with a small depth offset.
void View::Content::draw_on_tissue(std::span<const DrawnOrgan> drawn, std::span<const DrawnTool> held,
                                   const DrawnMarks& marked, const ViewSettings& settings, const glm::vec3& lamp,
                                   const std::optional<ViewPyramid>& seen) {
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(-1.f, -2.f);
  if (settings.show_touched) organs.draw_touched(drawn);
  organs.draw_shadows(drawn, held, lamp, seen);
  marks.draw_on_tissue(marked, drawn, settings.time);
  glDisable(GL_POLYGON_OFFSET_FILL);
}

void View::Content::draw_smoke() {
  smoke_vertices(smoke, smoke_corners);
  if (smoke_corners.empty()) return;
  smoke_shader.use();
  glBindVertexArray(smoke_array.name());
  fill_vertices(smoke_buffer, std::as_bytes(std::span(smoke_corners)), true);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(smoke_corners.size()));
}

// Returns the gain of the automatic exposure.
float View::Content::exposed(std::span<const DrawnOrgan> drawn, const FrameBlock& block, const ScopePose& scope,
                             const Lens& lens, const std::optional<ViewPyramid>& seen, double time) {
  light_meter.start(block.clip_from_world, block.lamp_aspect.w, static_cast<float>(lens.field),
                    glm::vec3(block.light_time), glm::vec3(axes_of(scope).forward));
  organs.meter(drawn, seen, light_meter);
  return exposure.advance(light_meter.mean(), block.clip_from_world, time);
}

void View::draw(std::span<const DrawnOrgan> moving, std::span<const DrawnTool> tools, const DrawnBonds& bonds,
                const ScopePose& whole_scope, const Lens& whole_lens, const DrawnMarks& marks,
                const ViewSettings& settings, int width, int height) {
  if (width < 1 || height < 1) return;  // minimised window
  Content& c = *content_;
  const std::span<const DrawnOrgan> organs = c.with_backdrops(moving);
  const int lines = std::clamp(height, 1, most_lines(settings.quality));
  const bool reduced = lines < height || !settings.look.is_plain();
  const glm::ivec2 size(reduced ? std::max(width * lines / height, 1) : width, lines);
  const double scale =
      settings.round_field && settings.whole_field ? whole_field_scale(whole_lens, width, height) : 1.0;
  const auto [scope, lens, shrink] = trocar::reduced(whole_scope, whole_lens, scale);
  FrameBlock block = frame_block(scope, lens, settings, size.x, size.y);
  const std::optional<ViewPyramid> seen = seen_pyramid(scope, lens, settings.round_field, width, height);
  const auto solid_end = std::ranges::find_if(tools, &DrawnTool::ghost);
  const auto solid = tools.first(static_cast<std::size_t>(solid_end - tools.begin()));
  advance(c.smoke, solid, settings.time);
  c.organs.update(organs);
  block.up.w = light_left(bonds.blood_area) * c.exposed(organs, block, scope, lens, seen, settings.time);
  block.haze = haze_of(settings.quality == Quality::High ? c.smoke.haze : 0.f, block.up.w);
  if (reduced) c.small.begin(size);
  c.set_frame(block, size.x, size.y);

  // Objects are drawn front to back, so that hidden fragments are not shaded. The black around the circular view comes
  // first.
  if (settings.round_field) c.draw_field(1.001f, kBeyond, -1.f);
  c.tools.draw(solid, seen);
  c.clips.draw(bonds.clips);
  c.organs.draw(organs, settings.quality, seen);
  c.draw_cavity(bonds.pool);

  blending(true);
  c.organs.draw_sheets(organs, settings.quality, seen);
  c.strands.draw(bonds.strands, false);
  c.strands.draw(bonds.jets, true);
  c.draw_on_tissue(moving, solid, marks, settings, glm::vec3(block.lamp_aspect), seen);
  c.labels.draw(marks, solid, scope, settings.time, block.right_pixel.w);
  c.tools.draw_ghosts(tools.subspan(solid.size()), seen);
  if (settings.quality == Quality::High) c.draw_smoke();
  glDisable(GL_DEPTH_TEST);
  c.marks.draw_zones(marks, static_cast<float>(shrink), block.right_pixel.w);
  if (settings.round_field) c.draw_field(0.985f, 1.01f, 0.f);
  blending(false);

  if (reduced) c.small.end({width, height}, settings.round_field ? lens.field : 1e3, settings.look);
  glBindVertexArray(0);
  glUseProgram(0);
}

namespace {

std::vector<DrawnOrgan> organs_of(const Session& session) {
  std::vector<DrawnOrgan> organs;
  drawn_organs(session, organs);
  return organs;
}

}  // namespace

SessionPicture::SessionPicture(GlContext& context, const Session& session)
    : organs_(organs_of(session)), view_(context, organs_, drawn_backdrops(session.backdrops())) {}

void SessionPicture::draw(const Session& session, const SessionLook& look, int width, int height) {
  drawn_organs(session, organs_);
  drawn_tools(session, tools_);
  tools_.insert(tools_.end(), look.ghosts.begin(), look.ghosts.end());
  drawn_bonds(session, bonds_);
  marks_.targets.clear(), marks_.paths.clear(), marks_.zones.clear();
  if (look.task && session.frames() > 0) look.task->draw(marks_);
  view_.draw(organs_, tools_, bonds_, look.scope.value_or(session.scope().pose),
             look.lens.value_or(session.scope().lens), marks_, look.settings, width, height);
}

}  // namespace trocar
