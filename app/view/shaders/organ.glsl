#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 rest;
layout(location = 3) in float charred;
layout(location = 4) in vec2 film;
out vec3 to_light;
out vec3 world_normal;
out vec3 pattern;  // m, rotated so that no surface is aligned with the volume's cells
out vec2 blood_bile;  // 0 none .. 1 opaque
#if VESSELS
uniform vec3 vessel_low, vessel_scale;  // m, 1 / m
out vec3 vessel_at;  // 0 .. 1 of the volume of vessels
#endif
out vec2 seared_mottle;  // 1: 0 intact .. 0.5 pale .. 1 charred; -1 .. 1
const mat3 turned = mat3(0.36, 0.48, -0.80, -0.80, 0.60, 0.00, 0.48, 0.64, 0.60);
void main() {
  to_light = light_time.xyz - position;
  world_normal = normal;
  pattern = turned * rest;
  // The colour varies in broad patches, far wider than a face.
  vec3 m = sin(pattern * 95.0 + 2.0 * sin(pattern.yzx * 53.0));
#if VESSELS
  vessel_at = (rest - vessel_low) * vessel_scale;
#endif
  blood_bile = film;
  seared_mottle = vec2(charred, 0.55 * m.x * m.y + 0.45 * m.z);
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 to_light;
in vec3 world_normal;
in vec3 pattern;
in vec2 blood_bile;  // 0 none .. 1 opaque
in vec2 seared_mottle;  // 0 intact .. 0.5 pale .. 1 charred; -1 .. 1
uniform sampler3D grain;
#if VESSELS
in vec3 vessel_at;
uniform sampler3D vessels;  // app/view/tissue_texture.hpp
#endif
uniform vec3 colour;
uniform float opacity;  // 0 .. 1, of a sheet at a right angle
out vec4 result;
void main() {
  float squared = dot(to_light, to_light);
  vec3 towards = to_light * inversesqrt(squared);
  vec3 n = normalize(world_normal);
  vec3 albedo = colour * (1.0 + 0.16 * seared_mottle.y);
  float wet = 1.0 + 0.3 * seared_mottle.y;
  vec3 film = n;
  vec4 fine = texture(grain, pattern * 36.0);
  vec3 bump = fine.rgb - 0.5;
  albedo *= 0.90 + 0.20 * fine.a;
  wet += 0.6 * bump.b;
#if FINE
  film = normalize(n + 0.16 * bump);
#endif
  n += 0.10 * bump;
#if VESSELS
  float line = clamp(7.2 * texture(vessels, vessel_at).r - 3.1, 0.0, 1.0);
  albedo *= 1.0 - vec3(0.24, 0.46, 0.44) * (line * (2.0 - line));
#endif
#if MARKED
  float dark = fine.b;
  // Coagulated tissue is pale and dull; charred tissue is dry, brown to black in patches.
  float pale = smoothstep(0.0, 0.5, seared_mottle.x), black = smoothstep(0.5, 0.95, seared_mottle.x);
  albedo = mix(albedo, vec3(0.43, 0.31, 0.22) * (0.85 + 0.30 * dark), 0.85 * pale);
  albedo = mix(albedo, mix(vec3(0.020, 0.009, 0.006), vec3(0.065, 0.030, 0.016), dark), black);
  wet *= 1.0 - 0.5 * pale - 0.4 * black;
  // Fluid absorbs the light that passes through it: thin blood is bright red, thick blood nearly black. A fluid surface is
  // smooth and shines.
  float ragged = 0.75 + 0.5 * dark;
  float blood = clamp(blood_bile.x * ragged, 0.0, 1.0), bile = clamp(blood_bile.y * ragged, 0.0, 1.0);
  albedo = mix(albedo * exp2(-bile * vec3(0.4, 0.5, 3.0)), vec3(0.20, 0.17, 0.012), 0.85 * smoothstep(0.0, 0.8, bile));
  albedo = mix(albedo * exp2(-blood * vec3(0.6, 4.0, 4.0)), vec3(0.105, 0.0045, 0.004),
               smoothstep(0.05, 0.75, blood));
  float covered = smoothstep(0.05, 0.5, max(blood, bile));
  wet = mix(wet, 1.25, covered);
  film = normalize(mix(film, normalize(world_normal), 0.8 * covered));
  n = mix(n, normalize(world_normal), 0.6 * covered);
#endif
  // Light goes a longer way through a sheet that is seen at an angle; a burn leaves it opaque.
  float alpha = 1.0;
  if (opacity < 1.0) {
    float facing = max(abs(dot(normalize(world_normal), towards)), 0.15);
    alpha = max(1.0 - pow(1.0 - opacity, 1.0 / facing), smoothstep(0.0, 0.6, seared_mottle.x));
  }
  result = vec4(to_screen(lamp_light(towards, lamp_strength(squared), n, film, albedo, wet)), alpha);
}
#endif
