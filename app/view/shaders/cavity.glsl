// The inside of the abdomen: peritoneum over muscle, thin and glossy, and fat in lobules (omentum, mesentery) below and
// towards the feet.
#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform vec2 omentum;  // m, 1/m: height below which the wall is fat; how fast it begins
out vec3 towards;
out vec3 world_normal;
out vec3 pattern;  // m, rotated so that no surface is aligned with the volume's cells
out vec3 lit_patches;  // lamp_strength(); coverage by fat; light and dark
const mat3 turned = mat3(0.36, 0.48, -0.80, -0.80, 0.60, 0.00, 0.48, 0.64, 0.60);
void main() {
  vec3 to_light = light_time.xyz - position;
  towards = normalize(to_light);
  pattern = turned * position;
  vec3 m = sin(pattern * 38.0 + 2.2 * sin(pattern.yzx * 29.0 + 1.7 * sin(pattern.zxy * 21.0)));
  float fat = (omentum.x - position.z) * omentum.y + 0.5 * (m.x + 0.6 * m.y * m.z);
  // Folds of 25 to 40 mm, deeper where the wall is fat.
  vec3 fold = cos(pattern * 190.0 + 2.6 * sin(pattern.yzx * 117.0));
  world_normal = -normal + mix(0.08, 0.55, clamp(fat, 0.0, 1.0)) * (fold + 0.6 * fold.yzx * fold.zxy);
  lit_patches = vec3(lamp_strength(to_light), fat, m.z);
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in vec3 towards;
in vec3 world_normal;
in vec3 pattern;
in vec3 lit_patches;
uniform sampler3D fat_cells;  // app/view/tissue_texture.hpp
out vec4 result;
void main() {
  vec3 n = normalize(world_normal);
  vec4 cells = texture(fat_cells, pattern * kFatRepeat);
  float fat = clamp(1.5 * (lit_patches.y + 0.7 * (cells.a - 0.5)), 0.0, 1.0);
  vec3 muscle = vec3(0.43, 0.100, 0.105) * (0.72 + 0.36 * cells.a + 0.20 * lit_patches.z);
  vec3 albedo = mix(muscle, fat_colour(cells.a, 0.5 + 0.3 * lit_patches.z), fat);
  vec3 bumped = n + mix(0.12, 1.2, fat) * (cells.rgb - 0.5);
  vec2 spread = mix(vec2(0.08, 0.02), vec2(0.6, 0.15), fat);
  vec3 light = lamp_light(towards, lit_patches.x, n, bumped, bumped, albedo, spread, 0.7);
  result = vec4(to_screen(light), 1.0);
}
#endif
