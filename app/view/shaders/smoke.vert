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
