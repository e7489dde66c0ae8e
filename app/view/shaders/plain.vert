layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform mat4 clip_from_world;
uniform mat4 world_from_model;
out vec3 world_position;
out vec3 world_normal;
out vec3 rest_position;
void main() {
  vec4 world = world_from_model * vec4(position, 1.0);
  world_position = world.xyz;
  world_normal = mat3(world_from_model) * normal;
  rest_position = position;
  gl_Position = through_lens(clip_from_world * world);
}
