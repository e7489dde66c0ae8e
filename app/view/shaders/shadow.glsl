// Darkens the picture in the instruments' shadows, by a factor. app/view/organ_layer.cpp has the same formula in C++.
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
out vec3 world;
void main() {
  world = position;
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 world;
uniform vec4 begin_radius[3];  // m, of one instrument's capsules
uniform vec4 end[3];           // m
uniform vec2 diffusion;        // m  lengths of the tissue: red, green and blue
out vec4 result;

// Radius of the lamp, m.
const float kLamp = 0.0022;

// Light that spreads in the tissue softens the shadow's edge, red farther than green and blue.
vec2 light_past(vec3 p, vec3 to_lamp, float far, vec3 a, vec3 b, float radius) {
  // The closest points of the ray towards the lamp and the axis decide the shadow.
  vec3 axis = b - a, r = p - a;
  float e = dot(axis, axis), f = dot(axis, r), c = dot(to_lamp, r), d = dot(to_lamp, axis);
  float s = clamp((d * f - c * e) / max(e - d * d, 1e-9), 0.0, far);
  float t = clamp((d * s + f) / e, 0.0, 1.0);
  s = clamp(d * t - c, 0.0, far);
  float gap = length(r + s * to_lamp - t * axis) - radius;
  // The penumbra is softer, the farther the instrument is from the tissue.
  vec2 soft = vec2(kLamp * s / max(far - s, 0.01) + 0.0004) + diffusion;
  vec2 lit = smoothstep(-soft, soft, vec2(gap));
  // Ambient occlusion: an instrument close to the tissue blocks light reflected by the tissue around it.
  float near = length(r - clamp(f / e, 0.0, 1.0) * axis) - radius;
  float open = 1.0 - 0.5 * exp2(-max(near, 0.0) * 1300.0);
  return mix(vec2(0.28), vec2(1.0), lit) * open;
}

void main() {
  vec3 to_lamp = lamp_aspect.xyz - world;
  float far = length(to_lamp);
  to_lamp /= far;
  // The loop is unrolled, because an index that is not constant is slow on a CPU.
  vec2 lit = light_past(world, to_lamp, far, begin_radius[0].xyz, end[0].xyz, begin_radius[0].w);
  lit = min(lit, light_past(world, to_lamp, far, begin_radius[1].xyz, end[1].xyz, begin_radius[1].w));
  lit = min(lit, light_past(world, to_lamp, far, begin_radius[2].xyz, end[2].xyz, begin_radius[2].w));
  // The picture holds display values, so the factor gets their gamma, about 1 / 2.
  result = vec4(sqrt(lit.xyy), 1.0);
}
#endif
