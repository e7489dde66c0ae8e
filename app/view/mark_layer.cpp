#include "app/view/mark_layer.hpp"

#include <glad/gl.h>

#include <algorithm>

namespace trocar {

MarkLayer::MarkLayer() {
  glBindVertexArray(decal_array_.name());
  constexpr int kStride = sizeof(DecalVertex);
  vertex_attribute(0, decals_.name(), 3, kStride, offsetof(DecalVertex, position));
  vertex_attribute(1, decals_.name(), 4, kStride, offsetof(DecalVertex, begin_radius));
  vertex_attribute(2, decals_.name(), 4, kStride, offsetof(DecalVertex, end_style));
  vertex_attribute(3, decals_.name(), 4, kStride, offsetof(DecalVertex, paint));
  glBindVertexArray(zone_array_.name());
  vertex_attribute(0, zone_vertices_.name(), 2, sizeof(ZoneVertex), offsetof(ZoneVertex, location));
  vertex_attribute(1, zone_vertices_.name(), 2, sizeof(ZoneVertex), offsetof(ZoneVertex, aside));
  glBindVertexArray(0);
}

void MarkLayer::draw_on_tissue(const DrawnMarks& marks, std::span<const DrawnOrgan> organs, double time) {
  mark_segments(marks, time, segments_);
  vertices_.clear();
  for (const DrawnOrgan& organ : organs) add_decals(segments_, {organ.positions, organ.rest.faces}, vertices_);
  if (vertices_.empty()) return;
  decal_.use();
  glBindVertexArray(decal_array_.name());
  fill_vertices(decals_, std::as_bytes(std::span(vertices_)), true);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices_.size()));
}

const ZoneShape& MarkLayer::shape_of(std::size_t zone, std::span<const glm::dvec2> outline) {
  if (zones_.size() <= zone) zones_.resize(zone + 1);
  Zone& known = zones_[zone];
  if (!std::equal(known.outline.begin(), known.outline.end(), outline.begin(), outline.end())) {
    known.outline.assign(outline.begin(), outline.end());
    known.shape = make_zone_shape(outline);
  }
  return known.shape;
}

void MarkLayer::draw_zone(std::span<const ZoneVertex> vertices, const glm::vec4& colour, float hatch,
                          float half_width) {
  if (vertices.empty()) return;
  zone_.set("colour", colour);
  zone_.set("hatch", hatch);
  zone_.set("half_width", half_width);
  fill_vertices(zone_vertices_, std::as_bytes(vertices), true);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices.size()));
}

void MarkLayer::draw_zones(const DrawnMarks& marks, float scale, float pixel) {
  if (marks.zones.empty()) return;
  zone_.use();
  zone_.set("scale", scale);
  glBindVertexArray(zone_array_.name());
  for (std::size_t k = 0; k < marks.zones.size(); ++k) {
    const DrawnZone& zone = marks.zones[k];
    const ZoneShape& shape = shape_of(k, zone.outline);
    // A zone is drawn in Okabe and Ito's orange; a violated one in vermillion, denser and with a broader outline.
    const glm::vec3 colour = zone.violated ? glm::vec3(0.95f, 0.32f, 0.02f) : glm::vec3(0.90f, 0.62f, 0.0f);
    const float line = std::max(0.0025f * (zone.violated ? 2.f : 1.f), pixel);
    draw_zone(shape.inside, glm::vec4(colour, zone.violated ? 0.55f : 0.30f), 0.035f / pixel, 0.f);
    draw_zone(shape.outline, glm::vec4(0.05f, 0.04f, 0.02f, 0.6f), 0.f, 2.f * line);
    draw_zone(shape.outline, glm::vec4(colour, 1.f), 0.f, line);
  }
}

}  // namespace trocar
