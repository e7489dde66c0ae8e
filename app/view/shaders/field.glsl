// Blackens the picture outside the circular view, with a soft edge.
#ifdef VERTEX_SHADER
// Makes a ring around the centre of the picture, as a strip of 97 vertex pairs. Radii are relative to the radius of the
// circular view.
uniform float inner, outer, depth;
out float share;
void main() {
  float angle = float(gl_VertexID / 2) * (6.28318531 / 96.0);
  share = (gl_VertexID & 1) == 0 ? inner : outer;
  vec2 seen = share / field.z * right_pixel.w * vec2(cos(angle), sin(angle));
  gl_Position = vec4(seen.x / lamp_aspect.w, seen.y, depth, 1.0);
}
#else
in float share;
out vec4 result;
void main() { result = vec4(0.0, 0.0, 0.0, smoothstep(0.986, 1.0, share)); }
#endif
