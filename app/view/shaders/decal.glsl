// Draws a mark on the tissue by the distance of a fragment from a segment (of a path) or a point (a target), in radii.
// The styles are those of MarkStyle in app/view/mark_layer.hpp; every line has a dark rim, so that it is visible on
// pale and on dark tissue.
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 begin_radius;
layout(location = 2) in vec4 end_style;
layout(location = 3) in vec4 paint;
out vec3 world;
flat out vec4 from_radius;
flat out vec4 to_style;
flat out vec4 colour;
void main() {
  world = position;
  from_radius = begin_radius;
  to_style = end_style;
  colour = paint;
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 world;
flat in vec4 from_radius;
flat in vec4 to_style;
flat in vec4 colour;
out vec4 result;

float aa;  // radii per pixel
float within(float d, float low, float high) {
  return clamp((d - low) / aa + 0.5, 0.0, 1.0) * clamp((high - d) / aa + 0.5, 0.0, 1.0);
}

void main() {
  vec3 axis = to_style.xyz - from_radius.xyz, r = world - from_radius.xyz;
  float t = clamp(dot(r, axis) / max(dot(axis, axis), 1e-12), 0.0, 1.0);
  r = (r - t * axis) / from_radius.w;
  float d = length(r);
  aa = max(fwidth(d), 1e-4);
  int style = int(to_style.w + 0.5);
  float bright, dark;
  if (style == 0) {  // ribbon
    bright = within(d, -1.0, 1.0);
    dark = 0.0;
  } else if (style == 1) {  // waiting: thin ring and dot
    bright = max(within(d, 0.72, 0.88), within(d, -1.0, 0.20));
    dark = max(within(d, 0.64, 0.96), within(d, -1.0, 0.28));
  } else if (style == 2) {  // next: broad ring and dot
    bright = max(within(d, 0.56, 0.90), within(d, -1.0, 0.26));
    dark = max(within(d, 0.48, 1.0), within(d, -1.0, 0.34));
  } else if (style == 3) {  // done: a disc
    bright = 0.75 * within(d, -1.0, 0.80);
    dark = within(d, -1.0, 0.90);
  } else {  // error: ring and cross
    vec2 p = vec2(dot(r, right_pixel.xyz), dot(r, up.xyz));
    float cross = abs(abs(p.x) - abs(p.y));
    bright = max(within(d, 0.72, 0.90), within(cross, -1.0, 0.13) * within(d, -1.0, 0.8));
    dark = max(within(d, 0.64, 0.98), within(cross, -1.0, 0.22) * within(d, -1.0, 0.8));
  }
  float alpha = max(bright, 0.55 * dark);
  result = vec4(colour.rgb * (bright / max(alpha, 1e-4)), alpha * colour.a);
}
#endif
