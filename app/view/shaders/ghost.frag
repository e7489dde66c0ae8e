// A transparent instrument: faint where it faces the eye, dense at its outline.
in vec3 to_light;
in vec3 world_normal;
in vec3 model_position;
out vec4 result;
void main() {
  vec3 world = light_time.xyz - to_light;
  float facing = abs(dot(normalize(world_normal), normalize(eye_barrel.xyz - world)));
  float rim = (1.0 - facing) * (1.0 - facing);
  result = vec4(mix(vec3(0.55, 0.80, 1.0), vec3(0.92, 0.97, 1.0), rim), mix(0.34, 0.85, rim));
}
