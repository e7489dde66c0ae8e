// Colours the abdominal wall: peritoneum over muscle, with islands of yellow fat.
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
