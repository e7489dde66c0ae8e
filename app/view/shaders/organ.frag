in vec3 to_light;
in vec3 world_normal;
in vec3 pattern;
in float burnt;  // 0 sound .. 1 charred
uniform sampler3D grain;
uniform vec3 colour;
uniform float vessels;  // 0 none (liver) .. 1 (stomach)
out vec4 result;
void main() {
  float squared = dot(to_light, to_light);
  vec3 towards = to_light * inversesqrt(squared);
  vec3 n = normalize(world_normal);
#if QUALITY == 0
  vec3 albedo = colour, film = n;
  float wet = 1.0;
  vec4 broad = vec4(0.5);
#else
  vec4 broad = texture(grain, pattern * 5.0);
  vec3 albedo = colour * (0.80 + 0.40 * broad.r);
  // Vessels: the thin zero lines of a warped noise field.
  float line = max(1.0 - 9.0 * abs(broad.a - 0.5), 0.0);
  albedo *= 1.0 - vec3(0.22, 0.42, 0.40) * (vessels * line * (2.0 - line) * 0.8);
  float wet = 0.65 + 0.7 * broad.g;
#if QUALITY == 1
  vec3 film = normalize(n + 0.10 * (broad.rgb - 0.5));
#else
  vec4 fine = texture(grain, pattern * 38.0);
  vec3 bump = fine.rgb - 0.5;
  albedo *= 0.86 + 0.28 * fine.a;
  vec3 film = normalize(n + 0.24 * bump + 0.10 * (broad.rgb - 0.5));
  n += 0.12 * bump;
#endif
#endif
  // Burnt tissue: dry, brown to black in patches, a pale singed rim where it meets sound tissue.
  if (burnt > 0.01) {
    float rim = burnt * (1.0 - burnt) * 4.0;
    vec3 char_colour = mix(vec3(0.022, 0.010, 0.007), vec3(0.11, 0.05, 0.025), broad.b);
    albedo = mix(albedo, char_colour, smoothstep(0.25, 0.75, burnt));
    albedo = mix(albedo, vec3(0.42, 0.27, 0.17), 0.6 * rim);
    wet *= 1.0 - 0.85 * smoothstep(0.2, 0.8, burnt);
  }
  result = vec4(to_screen(lamp_light(towards, lamp_strength(squared), n, film, albedo, wet)), 1.0);
}
