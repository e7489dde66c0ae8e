#include "app/view/strand_layer.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

constexpr int kCorners = 2 * 9;  // vertices of the strip in shaders/strand.vert
constexpr int kBundle = 3;       // strips of a fibre

}  // namespace

StrandLayer::StrandLayer() {
  glBindVertexArray(array_.name());
  constexpr int kStride = sizeof(DrawnStrand);
  vertex_attribute(0, ends_.name(), 3, kStride, offsetof(DrawnStrand, from));
  vertex_attribute(1, ends_.name(), 3, kStride, offsetof(DrawnStrand, to));
  vertex_attribute(2, ends_.name(), 1, kStride, offsetof(DrawnStrand, radius));
  for (unsigned location = 0; location < 3; ++location) glVertexAttribDivisor(location, kBundle);
  glBindVertexArray(0);
}

void StrandLayer::draw(std::span<const DrawnStrand> strands) const {
  if (strands.empty()) return;
  shader_.use();
  glBindVertexArray(array_.name());
  fill_vertices(ends_, std::as_bytes(strands), true);
  glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, kCorners, kBundle * static_cast<GLsizei>(strands.size()));
}

}  // namespace trocar
