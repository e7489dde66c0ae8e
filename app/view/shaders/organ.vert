layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 rest;
layout(location = 3) in float charred;
uniform mat4 clip_from_world;
out vec3 world_position;
out vec3 world_normal;
out vec3 rest_position;
out float burnt;
void main() {
  world_position = position;
  world_normal = normal;
  rest_position = rest;
  burnt = charred;
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
