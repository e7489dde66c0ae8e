// The inside of the abdomen: peritoneum over muscle, thin and glossy, and fat in lobules (omentum, mesentery) below and
// towards the feet.
const mat3 turned = mat3(0.36, 0.48, -0.80, -0.80, 0.60, 0.00, 0.48, 0.64, 0.60);
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 patches;  // 1: coverage by fat; light and dark
out vec3 towards;
out vec3 world_normal;
out vec3 pattern;  // m, rotated so that no surface is aligned with the volume's cells
out vec3 lit_patches;  // lamp_strength(); coverage by fat; light and dark
void main() {
  vec3 to_light = light_time.xyz - position;
  towards = normalize(to_light);
  pattern = turned * position;
  world_normal = -normal;
  lit_patches = vec3(lamp_strength(to_light), patches);
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 towards;
in vec3 world_normal;
in vec3 pattern;
in vec3 lit_patches;
uniform vec3 pool;  // m  blood on the floor: x and y of its middle, radius; 0: none
uniform sampler3D fat_cells;  // app/view/tissue_texture.hpp
out vec4 result;
void main() {
  vec3 n = normalize(world_normal);
  // Lobules of the omentum are larger than those of an organ's fat.
  vec4 cells = texture(fat_cells, pattern * (0.6 * kFatRepeat));
  float fat = clamp(1.5 * (lit_patches.y + 0.7 * (cells.a - 0.5)), 0.0, 1.0);
  vec3 muscle = vec3(0.43, 0.100, 0.105) * (0.72 + 0.36 * cells.a + 0.20 * lit_patches.z);
  vec3 yellow = fat_colour(cells.a, 0.5 + 0.3 * lit_patches.z) * (1.05 + 0.25 * lit_patches.z);
  vec3 albedo = mix(muscle, yellow, fat);
  vec3 bumped = n + mix(0.10, 0.9, fat) * (cells.rgb - 0.5);
  vec2 spread = mix(vec2(0.08, 0.02), vec2(0.6, 0.15), fat);
  float gloss = mix(0.8, 0.25, fat);
  if (pool.z > 0.0) {
    float away = distance((pattern * turned).xy, pool.xy) / pool.z + 0.5 * (cells.a - 0.5);
    float wet = smoothstep(1.0, 0.85, away) * smoothstep(0.0, 0.25, n.z);
    albedo = mix(albedo, vec3(0.17, 0.006, 0.006), 0.95 * wet);
    bumped = mix(bumped, n + 0.12 * (cells.rgb - 0.5), wet);
    spread = mix(spread, vec2(0.05, 0.0), wet);
    gloss = mix(gloss, 1.0, wet);
  }
  vec3 light = lamp_light(towards, lit_patches.x, n, bumped, bumped, albedo, spread, gloss);
  result = vec4(to_screen(light), 1.0);
}
#endif
