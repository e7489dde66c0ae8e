uniform float blood;  // 1: a jet, 0: a fibre
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in float radius;
out vec3 to_light;
out vec3 across;   // unit, from the middle to the right border
out float border;  // -1 left .. 1 right
out float cover;   // 1: share of a pixel that a strand thinner than one fills

// Evenly distributed in -1 .. 1, the same for the same number.
vec3 scatter(float number) { return 2.0 * fract(sin(number * vec3(12.9898, 78.233, 39.425)) * 43758.5453) - 1.0; }

// A fibre is drawn as a bundle of three, scattered, that begin below the surfaces and are broad there.
void main() {
  const float kPieces = 8.0;
  float scatter_by = mix(0.0011, 0.00015, blood), below = mix(0.0008, 0.0, blood);
  float along = float(gl_VertexID / 2) / kPieces;
  border = float(gl_VertexID % 2) * 2.0 - 1.0;
  vec3 way = to - from;
  float size = length(way);
  way /= max(size, 1e-9);
  vec3 a = from + scatter_by * scatter(float(gl_InstanceID) + 0.31) - below * way,
       b = to + scatter_by * scatter(float(gl_InstanceID) + 0.77) + below * way;
  float end = 2.0 * along - 1.0;
  float width = size > 0.0 ? radius * mix(0.55 + 0.6 * end * end * end * end, 1.0, blood) : 0.0;
  vec3 middle = mix(a, b, along);
  vec3 side = cross(b - a, eye_barrel.xyz - middle);
  across = side / max(length(side), 1e-12);
  // A strand thinner than a pixel would flicker: it is drawn a pixel wide, and fainter.
  vec4 at = clip_from_world * vec4(middle, 1.0), beside = clip_from_world * vec4(middle + across, 1.0);
  float pixel = 0.5 * right_pixel.w * max(at.w, 1e-3) /
                max(length((beside.xy - at.xy) * vec2(lamp_aspect.w, 1.0)), 1e-3);
  cover = width / max(width, pixel);
  width = size > 0.0 ? max(width, pixel) : 0.0;
  vec3 world = middle + across * (border * width);
  to_light = light_time.xyz - world;
  gl_Position = through_lens(clip_from_world * vec4(world, 1.0));
}
#else
in vec3 to_light;
in vec3 across;
in float border;
in float cover;
out vec4 result;
void main() {
  vec3 towards = normalize(to_light);
  // The strand is round: its normal turns from the eye, which is near the light, to the side.
  vec3 n = normalize(across * border + towards * sqrt(max(1.0 - border * border, 0.0)));
  vec3 light = lamp_light(towards, lamp_strength(to_light), n, n, n,
                          mix(vec3(0.52, 0.31, 0.20), vec3(0.30, 0.010, 0.008), blood), vec2(0.9, 0.3), 0.6);
  result = vec4(to_screen(light), mix(0.5, 0.8, blood) * cover * (1.0 - 0.5 * border * border));
}
#endif
