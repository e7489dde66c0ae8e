in vec3 world_position;
in vec3 world_normal;
in vec3 rest_position;
in float burnt;  // 0 sound .. 1 charred
uniform vec3 eye;
uniform vec3 colour;
uniform float vessels;  // 0 none (liver) .. 1 (stomach)
out vec4 result;
void main() {
  vec3 to_eye = eye - world_position;
  float distance_to_eye = length(to_eye);
  to_eye /= distance_to_eye;
  vec3 n = normalize(world_normal);
  vec3 p = rest_position * 1000.0;  // mm: the pattern sticks to the tissue
  float broad = noise(p * 0.035), fine = noise(p * 0.45);
#if DETAIL
  float grain = noise(p * 1.7);
#else
  float grain = 0.0;
#endif
  vec3 albedo = colour * (1.0 + 0.16 * broad + 0.10 * fine + 0.07 * grain);
  // Vessels: the thin zero lines of a warped noise field.
#if DETAIL
  vec3 warped = p * 0.055 + 0.55 * vec3(noise(p * 0.11), noise(p * 0.11 + 7.0), noise(p * 0.11 + 13.0));
  vec3 bumps = vec3(noise(p * 0.5 + 3.1), noise(p * 0.5 + 17.7), noise(p * 0.5 + 29.3));
  vec3 film = normalize(n + 0.085 * bumps + 0.03 * vec3(grain, noise(p * 1.7 + 5.0), noise(p * 1.7 + 11.0)));
#else
  vec3 warped = p * 0.055 + 0.9 * vec3(broad, -broad, broad);
  vec3 bumps = vec3(fine, -broad, -fine);
  vec3 film = normalize(n + 0.085 * bumps);
#endif
  float line = 1.0 - smoothstep(0.0, 0.055, abs(noise(warped)));
  albedo = mix(albedo, albedo * vec3(0.72, 0.42, 0.44), 0.65 * vessels * line);
  // Burnt tissue: dry, brown to black in patches, a pale singed rim where it meets sound tissue.
  float rim = burnt * (1.0 - burnt) * 4.0;
  vec3 char_colour = mix(vec3(0.030, 0.014, 0.010), vec3(0.16, 0.075, 0.035), clamp(0.5 + 0.5 * broad + 0.6 * fine, 0.0, 1.0));
  albedo = mix(albedo, char_colour, smoothstep(0.25, 0.75, burnt));
  albedo = mix(albedo, vec3(0.42, 0.27, 0.17), 0.6 * rim);
  float wet = 1.0 - 0.85 * smoothstep(0.2, 0.8, burnt);
  result = vec4(to_screen(lamp(to_eye, distance_to_eye, normalize(n + 0.05 * bumps), film, albedo, wet)), 1.0);
}
