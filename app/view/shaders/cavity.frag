in vec3 world_position;
in vec3 world_normal;
uniform vec3 eye;
out vec4 result;
void main() {
  vec3 to_eye = eye - world_position;
  float distance_to_eye = length(to_eye);
  to_eye /= distance_to_eye;
  vec3 p = world_position * 1000.0;
  float broad = noise(p * 0.012), fold = noise(p * 0.03 + 2.0 * vec3(broad));
#if DETAIL
  float fine = noise(p * 0.16);
  vec3 bump = 0.35 * vec3(noise(p * 0.05), noise(p * 0.05 + 9.0), noise(p * 0.05 + 21.0)) + 0.08 * vec3(fine);
#else
  float fine = 0.0;
  vec3 bump = 0.25 * vec3(fold, broad, -fold);
#endif
  // Peritoneum over muscle, with islands of yellow fat.
  float fat = 0.75 * smoothstep(-0.15, 0.75, fold + 0.5 * broad);
  vec3 albedo = mix(vec3(0.46, 0.15, 0.12), vec3(0.60, 0.36, 0.17), fat) * (1.0 + 0.12 * fine);
  vec3 n = normalize(-normalize(world_normal) + bump);
  result = vec4(to_screen(lamp(to_eye, distance_to_eye, n, n, albedo, 0.35)), 1.0);
}
