// Tissue under a film of fluid. Constants of a look: app/view/tissue_light.hpp.
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 rest;
layout(location = 3) in float charred;
layout(location = 4) in vec2 wetted;
layout(location = 5) in float curvature;  // 1/m
uniform vec2 diffusion;                   // m  lengths of red, and of green and blue
out vec3 towards;     // unit, to the light
out vec3 world_normal;
out vec3 wave;        // added to the normal: slow waves of the film
out vec3 pattern;     // m, rotated so that no surface is aligned with the volume's cells
out vec4 lit_spread;  // lamp_strength(); scattered()'s spread; coverage by fat
out vec2 blood_bile;  // 0 none .. 1 opaque
#if VESSELS
uniform vec3 vessel_low, vessel_scale;  // m, 1 / m
out vec3 vessel_at;  // 0 .. 1 of the volume of vessels
#endif
#if LOBULES
uniform float lobules;  // 0 none .. 1 all of the surface is fat
#endif
out vec2 seared_mottle;  // 1: 0 intact .. 0.5 pale .. 1 charred; -1 .. 1
const mat3 turned = mat3(0.36, 0.48, -0.80, -0.80, 0.60, 0.00, 0.48, 0.64, 0.60);
const float kFlow = 0.0012;  // m/s  of the film, down (-z: the patient lies on the back)
void main() {
  vec3 to_light = light_time.xyz - position;
  towards = normalize(to_light);
  world_normal = normal;
  pattern = turned * rest;
  // The colour varies in broad patches, far wider than a face.
  vec3 m = sin(pattern * 95.0 + 2.0 * sin(pattern.yzx * 53.0));
  // Waves of the film, 9 to 16 mm long, which flow down.
  vec3 flowing = pattern - turned * vec3(0.0, 0.0, -kFlow * light_time.w);
  vec3 slow = sin(flowing * 410.0 + 1.9 * sin(flowing.yzx * 270.0 + 0.8));
  wave = 0.10 * slow + 0.05 * slow.yzx * slow.zxy;
#if VESSELS
  vessel_at = (rest - vessel_low) * vessel_scale;
#endif
  blood_bile = wetted;
  seared_mottle = vec2(charred, 0.55 * m.x * m.y + 0.45 * m.z);
  lit_spread = vec4(lamp_strength(to_light), diffusion * curvature, 0.0);
#if LOBULES
  vec3 broad = sin(pattern * 61.0 + 1.3 + 1.6 * sin(pattern.zxy * 83.0));
  lit_spread.w = 2.4 * lobules - 1.2 + 0.55 * (broad.x + broad.y * broad.z);
#endif
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 towards;
in vec3 world_normal;
in vec3 wave;
in vec3 pattern;
in vec4 lit_spread;
in vec2 blood_bile;  // 0 none .. 1 opaque
in vec2 seared_mottle;  // 0 intact .. 0.5 pale .. 1 charred; -1 .. 1
uniform sampler3D grain;
#if VESSELS
in vec3 vessel_at;
uniform sampler3D vessels;  // app/view/tissue_texture.hpp
#endif
#if LOBULES
uniform sampler3D fat_cells;  // app/view/tissue_texture.hpp
#endif
uniform vec3 colour;
uniform float opacity;  // 0 .. 1, of a sheet at a right angle
uniform float gloss;    // 0 dry .. 1 covered by fluid
out vec4 result;
void main() {
  vec3 n = normalize(world_normal), bumped = n;
  vec3 albedo = colour * (1.0 + 0.16 * seared_mottle.y);
  vec4 fine = texture(grain, pattern * 36.0);
  vec3 bump = fine.rgb - 0.5;
  vec2 spread = lit_spread.yz;
  albedo *= 0.90 + 0.20 * fine.a;
  float wet = gloss * clamp(0.80 + 0.35 * seared_mottle.y + 1.5 * bump.b, 0.1, 1.4);
#if VESSELS
  float line = clamp(7.2 * texture(vessels, vessel_at).r - 3.1, 0.0, 1.0);
  albedo *= 1.0 - vec3(0.16, 0.62, 0.58) * (line * (2.0 - line));
#endif
#if LOBULES
  vec4 cells = texture(fat_cells, pattern * kFatRepeat);
  float fat = clamp(1.6 * (lit_spread.w + 0.9 * cells.a), 0.0, 1.0);
  albedo = mix(albedo, fat_colour(cells.a, fine.a), fat);
  bumped += (1.3 * fat) * (cells.rgb - 0.5);
  spread = mix(spread, vec2(0.9, 0.2), 0.6 * fat);
#endif
  vec3 film = bumped + wave;
#if FINE
  film += 0.13 * bump;
#endif
  bumped += 0.10 * bump;
#if MARKED
  float dark = fine.b;
  // Coagulated tissue is pale and dull, with a white rim where proteins have just denatured; charred tissue is dry, brown
  // to black in patches.
  float pale = smoothstep(0.0, 0.5, seared_mottle.x), black = smoothstep(0.5, 0.95, seared_mottle.x);
  float rim = pale * (1.0 - smoothstep(0.40, 0.75, seared_mottle.x));
  albedo = mix(albedo, mix(vec3(0.43, 0.31, 0.22), vec3(0.66, 0.57, 0.47), rim) * (0.85 + 0.30 * dark), 0.85 * pale);
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
  film = mix(film, n + 0.5 * wave, 0.8 * covered);
  bumped = mix(bumped, n, 0.6 * covered);
#endif
  // Light goes a longer way through a sheet that is seen at an angle; a burn leaves it opaque.
  float alpha = 1.0;
  if (opacity < 1.0) {
    float facing = max(abs(dot(n, towards)), 0.15);
    alpha = max(1.0 - pow(1.0 - opacity, 1.0 / facing), smoothstep(0.0, 0.6, seared_mottle.x));
  }
  result = vec4(to_screen(lamp_light(towards, lit_spread.x, n, bumped, film, albedo, spread, wet)), alpha);
}
#endif
