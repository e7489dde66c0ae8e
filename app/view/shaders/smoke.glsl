#ifdef VERTEX_SHADER
layout(location = 0) in vec4 centre_radius;
layout(location = 1) in vec4 corner_seed_density;
out vec3 to_light;
out vec2 corner;
flat out float seed, density;
void main() {
  corner = corner_seed_density.xy;
  seed = corner_seed_density.z;
  density = corner_seed_density.w;
  vec3 towards = normalize(eye_barrel.xyz - centre_radius.xyz);
  // The puff is moved towards the eye, so that the tissue below does not clip it.
  vec3 world = centre_radius.xyz + centre_radius.w * (corner.x * right_pixel.xyz + corner.y * up.xyz + 0.8 * towards);
  to_light = light_time.xyz - world;
  gl_Position = through_lens(clip_from_world * vec4(world, 1.0));
}
#else
in vec3 to_light;
in vec2 corner;
flat in float seed, density;
uniform sampler3D grain;
out vec4 result;
void main() {
  float fade = max(1.0 - dot(corner, corner), 0.0);
  vec4 billow = texture(grain, vec3(corner * 0.13 + seed, seed * 1.7 + 0.03 * light_time.w));
  float body = fade * fade * clamp(3.4 * billow.r - 1.15, 0.0, 1.0);
  vec3 light = vec3(0.46, 0.45, 0.43) * lamp_strength(to_light) * (0.55 + 0.45 * billow.g);
  result = vec4(to_screen(light), density * body);
}
#endif
