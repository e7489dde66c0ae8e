// Colours the abdominal wall: peritoneum over muscle, with islands of yellow fat.
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
out vec3 to_light;
out vec3 world_normal;
out vec3 pattern;  // m, rotated so that no surface is aligned with the volume's cells
out vec2 patches;  // 1: islands of fat, light and dark
const mat3 turned = mat3(0.36, 0.48, -0.80, -0.80, 0.60, 0.00, 0.48, 0.64, 0.60);
void main() {
  to_light = light_time.xyz - position;
  world_normal = normal;
  pattern = turned * position;
  vec3 m = sin(pattern * 38.0 + 2.2 * sin(pattern.yzx * 29.0 + 1.7 * sin(pattern.zxy * 21.0)));
  patches = vec2(m.x + 0.6 * m.y * m.z, m.z);
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 to_light;
in vec3 world_normal;
in vec3 pattern;
in vec2 patches;
uniform sampler3D grain;
out vec4 result;
void main() {
  float squared = dot(to_light, to_light);
  vec3 towards = to_light * inversesqrt(squared);
  vec3 n = -normalize(world_normal);
  vec3 albedo = vec3(0.36, 0.100, 0.075);
  float fat = patches.x, wet = 0.15;
  vec4 fine = texture(grain, pattern * 7.0);
  fat += 1.1 * (fine.r - 0.5);
  albedo *= 0.72 + 0.5 * fine.g + 0.12 * patches.y;
  albedo *= 0.88 + 0.24 * fine.a;
  n = normalize(n + 0.35 * (fine.rgb - 0.5));
  albedo = mix(albedo, vec3(0.50, 0.255, 0.105), 0.7 * smoothstep(-0.1, 1.5, fat));
  result = vec4(to_screen(lamp_light(towards, lamp_strength(squared), n, n, albedo, wet)), 1.0);
}
#endif
