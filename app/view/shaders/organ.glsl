// Tissue under a film of fluid. Constants of a look: app/view/tissue_light.hpp.
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 rest;
layout(location = 3) in float charred;
layout(location = 4) in vec2 wetted;
layout(location = 5) in vec3 skin;  // 1/m, 1, 1: SkinVertex of app/view/tissue_texture.hpp
uniform vec2 diffusion;                   // m  lengths of red, and of green and blue
out vec3 towards;     // unit, to the light
out vec3 world_normal;
#if FINE
out vec3 wave;        // added to the normal: slow waves of the film
#endif
out vec3 pattern;     // m, rotated so that no surface is aligned with the volume's cells
out vec3 lit_spread;  // lamp_strength(); scattered()'s spread
#if LOBULES
out float covered_by_fat;
#endif
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
// A sine with a period of 1, within 6 %: of parabolas.
vec3 swing(vec3 turns) {
  vec3 x = 2.0 * fract(turns) - 1.0;
  return 4.0 * x * (abs(x) - 1.0);
}

void main() {
  vec3 to_light = light_time.xyz - position;
  towards = normalize(to_light);
  world_normal = normal;
  pattern = turned * rest;
#if FINE
  // Waves of the film, 15 to 23 mm long, which flow down.
  vec3 flowing = pattern - turned * vec3(0.0, 0.0, -kFlow * light_time.w);
  vec3 slow = swing(flowing * 65.0 + 0.30 * swing(flowing.yzx * 43.0 + 0.13));
  wave = 0.15 * slow + 0.10 * slow.yzx * slow.zxy;
#endif
#if VESSELS
  vessel_at = (rest - vessel_low) * vessel_scale;
#endif
  blood_bile = wetted;
  seared_mottle = vec2(charred, skin.y);
  lit_spread = vec3(lamp_strength(to_light), diffusion * skin.x);
#if LOBULES
  covered_by_fat = 2.4 * lobules - 1.2 + 0.55 * skin.z;
#endif
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 towards;
in vec3 world_normal;
#if FINE
in vec3 wave;
#endif
in vec3 pattern;
in vec3 lit_spread;
#if LOBULES
in float covered_by_fat;
#endif
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
  vec3 albedo = colour * (1.0 + 0.20 * seared_mottle.y);
  vec4 fine = texture(grain, pattern * 36.0);
  vec3 bump = fine.rgb - 0.5;
  vec2 spread = lit_spread.yz;
  albedo *= 0.90 + 0.20 * fine.a;
  float wet = gloss * clamp(0.85 + 0.45 * seared_mottle.y + 1.9 * bump.b, 0.05, 1.5);
#if VESSELS
  float line = clamp(8.4 * texture(vessels, vessel_at).r - 3.95, 0.0, 1.0);
  albedo *= 1.0 - vec3(0.16, 0.62, 0.58) * (line * (2.0 - line));
#endif
#if LOBULES
  vec4 cells = texture(fat_cells, pattern * kFatRepeat);
  float fat = clamp(1.6 * (covered_by_fat + 0.9 * cells.a), 0.0, 1.0);
  albedo = mix(albedo, fat_colour(cells.a, fine.a), fat);
  bumped += (1.3 * fat) * (cells.rgb - 0.5);
  spread = mix(spread, vec2(0.9, 0.2), 0.6 * fat);
#endif
  vec3 film = bumped;
#if FINE
  film += wave + 0.18 * bump;
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
  film = mix(film, n, 0.8 * covered);
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
