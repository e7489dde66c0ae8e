out vec2 place;  // -1 .. 1
void main() {
  place = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0;
  gl_Position = vec4(place, 0.0, 1.0);
}
