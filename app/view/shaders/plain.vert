layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform mat4 world_from_model;
out vec3 to_light;
out vec3 world_normal;
out vec3 model_position;
void main() {
  vec4 world = world_from_model * vec4(position, 1.0);
  to_light = light_time.xyz - world.xyz;
  world_normal = mat3(world_from_model) * normal;
  model_position = position;
  gl_Position = through_lens(clip_from_world * world);
}
