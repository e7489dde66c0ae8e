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
