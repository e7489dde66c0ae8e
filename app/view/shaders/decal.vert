layout(location = 0) in vec3 position;
layout(location = 1) in vec4 begin_radius;
layout(location = 2) in vec4 end_style;
layout(location = 3) in vec4 paint;
out vec3 world;
flat out vec4 from_radius;
flat out vec4 to_style;
flat out vec4 colour;
void main() {
  world = position;
  from_radius = begin_radius;
  to_style = end_style;
  colour = paint;
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
