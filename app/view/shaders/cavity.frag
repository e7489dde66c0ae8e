// The wall of the belly: peritoneum over muscle, with islands of yellow fat.
in vec3 to_light;
in vec3 world_normal;
in vec3 model_position;
uniform sampler3D grain;
out vec4 result;
void main() {
  float squared = dot(to_light, to_light);
  vec3 towards = to_light * inversesqrt(squared);
  vec3 n = -normalize(world_normal);
#if QUALITY == 0
  vec3 albedo = vec3(0.42, 0.15, 0.11);
  float wet = 0.1;
#else
  vec4 broad = texture(grain, model_position * 2.6);
  float fat = smoothstep(0.42, 0.85, broad.r + 0.35 * (broad.g - 0.5));
  vec3 albedo = mix(vec3(0.40, 0.115, 0.085), vec3(0.56, 0.34, 0.14), fat) * (0.75 + 0.5 * broad.b);
  float line = max(1.0 - 14.0 * abs(broad.a - 0.5), 0.0);
  albedo *= 1.0 - vec3(0.2, 0.5, 0.45) * line;
  float wet = 0.35;
  n += 0.9 * (broad.rgb - 0.5);
#if QUALITY == 2
  vec4 fine = texture(grain, model_position * 13.0);
  albedo *= 0.86 + 0.28 * fine.a;
  n += 0.30 * (fine.rgb - 0.5);
#endif
  n = normalize(n);
#endif
  result = vec4(to_screen(lamp_light(towards, lamp_strength(squared), n, n, albedo, wet)), 1.0);
}
