#include "app/view/label_layer.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

constexpr unsigned kDigitUnit = 1;  // the tissue's grain is bound to 0

}  // namespace

LabelLayer::LabelLayer() {
  glBindVertexArray(array_.name());
  constexpr int kStride = sizeof(LabelVertex);
  vertex_attribute(0, buffer_.name(), 4, kStride, offsetof(LabelVertex, centre_radius));
  vertex_attribute(1, buffer_.name(), 4, kStride, offsetof(LabelVertex, corner_style_number));
  vertex_attribute(2, buffer_.name(), 4, kStride, offsetof(LabelVertex, shift_towards));
  vertex_attribute(3, buffer_.name(), 4, kStride, offsetof(LabelVertex, paint));
  glBindVertexArray(0);
}

void LabelLayer::draw(const DrawnMarks& marks, const ScopePose& scope, double time, float pixel) {
  label_vertices(marks, scope, time, pixel, vertices_);
  if (vertices_.empty()) return;
  shader_.use();
  shader_.set("digits", static_cast<int>(kDigitUnit));
  bind_volume(digits_, kDigitUnit);
  glBindVertexArray(array_.name());
  fill_vertices(buffer_, std::as_bytes(std::span(vertices_)), true);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices_.size()));
}

}  // namespace trocar
