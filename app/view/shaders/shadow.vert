layout(location = 0) in vec3 position;
out vec3 world;
void main() {
  world = position;
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
