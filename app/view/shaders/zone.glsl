#ifdef VERTEX_SHADER
layout(location = 0) in vec2 corner;  // half heights, pinhole
layout(location = 1) in vec2 aside;   // 1, normal of an outline
uniform float half_width;             // half heights
uniform float scale;                  // 1, of the whole picture
void main() {
  vec2 seen = seen_from_pinhole(scale * corner) + half_width * aside;
  gl_Position = vec4(seen.x / lamp_aspect.w, seen.y, 0.0, 1.0);
}
#else
uniform vec4 colour;
uniform float hatch;  // period of the stripes in pixels; 0: none
out vec4 result;
void main() {
  float stripe = hatch > 0.0 ? abs(fract((gl_FragCoord.x + gl_FragCoord.y) / hatch) - 0.5) * 2.0 : 1.0;
  result = vec4(colour.rgb, colour.a * mix(0.25, 1.0, smoothstep(0.55, 0.75, stripe)));
}
#endif
