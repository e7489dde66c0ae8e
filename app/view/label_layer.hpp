// Draws with OpenGL what faces the eye at a task's targets: rings and numbers.   Tested in tests/app/view_test.cpp
#pragma once

#include <vector>

#include "app/view/gl_shape.hpp"
#include "app/view/label_shape.hpp"

namespace trocar {

class LabelLayer {
 public:
  LabelLayer();
  // Draws over the tissue, blended; what lies in front hides the labels.
  // `pixel`: half heights.
  void draw(const DrawnMarks& marks, const ScopePose& scope, double time, float pixel);

 private:
  Shader shader_{"label", "label.vert", {"label.frag"}};
  gl::VertexArray array_ = gl::make_vertex_array();
  gl::Buffer buffer_ = gl::make_buffer();
  Texture digits_ = make_byte_volume(kDigitTexels, make_digits());
  std::vector<LabelVertex> vertices_;
};

}  // namespace trocar
