// Draws a label that faces the eye: a ring, or a dark disc with a number in the colour of its state. The styles are
// those of LabelStyle in app/view/mark_layer.hpp.
#ifdef VERTEX_SHADER
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
#else
in vec2 corner;  // -1 .. 1
flat in int style, number;
flat in vec4 colour;
uniform sampler3D digits;  // one layer a digit, 0.5 at the edge of a stroke
out vec4 result;

float aa;  // of the label, per pixel
float inside(float d) { return clamp(d / aa + 0.5, 0.0, 1.0); }

// `p`: from the centre of the digit, whose layer is 1 wide and 1.33 high.
float stroke(vec2 p, int digit) {
  vec2 share = p / vec2(1.0, 1.3333) + 0.5;  // outside, the border's distance continues
  float d = texture(digits, vec3(share, (float(digit) + 0.5) / 10.0)).r;
  return clamp((d - 0.5) / max(fwidth(d), 1e-3) + 0.5, 0.0, 1.0);
}

void main() {
  float d = length(corner);
  aa = max(fwidth(d), 1e-4);
  if (style == 0) {
    // As wide at every size of the ring: 0.4 % of the picture's height, with a dark rim.
    float wide = clamp(aa * 0.008 / right_pixel.w, 1.5 * aa, 0.12), rim = 0.4 * wide;
    float bright = inside(d - (1.0 - rim - wide)) * inside(1.0 - rim - d);
    float dark = inside(d - (1.0 - 2.0 * rim - wide)) * inside(1.0 - d);
    float alpha = max(bright, 0.5 * dark);
    result = vec4(colour.rgb * (bright / max(alpha, 1e-4)), alpha * colour.a);
    return;
  }
  float disc = inside(0.99 - d), rim = inside(d - 0.84) * disc;
  float ink;
  if (number < 10) {
    ink = stroke(corner / 1.05, number);
  } else {
    ink = max(stroke((corner + vec2(0.36, 0.0)) / 0.85, number / 10), stroke((corner - vec2(0.36, 0.0)) / 0.85, number % 10));
  }
  vec3 paint = mix(vec3(0.04, 0.05, 0.07), colour.rgb, max(ink, rim));
  result = vec4(paint, disc * colour.a * mix(0.82, 1.0, max(ink, rim)));
}
#endif
