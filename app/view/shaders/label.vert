layout(location = 0) in vec4 centre_radius;
layout(location = 1) in vec4 corner_style_number;
layout(location = 2) in vec4 shift_towards;
layout(location = 3) in vec4 paint;
out vec2 corner;
flat out int style, number;
flat out vec4 colour;
void main() {
  corner = corner_style_number.xy;
  style = int(corner_style_number.z + 0.5);
  number = int(corner_style_number.w + 0.5);
  colour = paint;
  vec2 place = shift_towards.xy + centre_radius.w * corner;
  vec3 towards = normalize(eye_barrel.xyz - centre_radius.xyz);
  vec3 world = centre_radius.xyz + place.x * right_pixel.xyz + place.y * up.xyz + shift_towards.z * towards;
  gl_Position = through_lens(clip_from_world * vec4(world, 1.0));
}
