layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
out vec3 to_light;
out vec3 world_normal;
out vec3 pattern;  // m, rotated so that no surface is aligned with the volume's cells
out vec2 patches;  // 1: islands of fat, light and dark
const mat3 turned = mat3(0.36, 0.48, -0.80, -0.80, 0.60, 0.00, 0.48, 0.64, 0.60);
void main() {
  to_light = light_time.xyz - position;
  world_normal = normal;
  pattern = turned * position;
  vec3 m = sin(pattern * 38.0 + 2.2 * sin(pattern.yzx * 29.0 + 1.7 * sin(pattern.zxy * 21.0)));
  patches = vec2(m.x + 0.6 * m.y * m.z, m.z);
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
