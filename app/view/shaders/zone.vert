layout(location = 0) in vec2 corner;  // half heights, pinhole
layout(location = 1) in vec2 aside;   // 1, normal of an outline
uniform float half_width;             // half heights
uniform float scale;                  // 1, of the whole picture
void main() {
  vec2 seen = seen_from_pinhole(scale * corner) + half_width * aside;
  gl_Position = vec4(seen.x / lamp_aspect.w, seen.y, 0.0, 1.0);
}
