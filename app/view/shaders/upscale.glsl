#ifdef VERTEX_SHADER
out vec2 uv;  // 0 .. 1
void main() {
  uv = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
}
#else
in vec2 uv;
uniform sampler2D picture;
out vec4 result;
void main() { result = texture(picture, uv); }
#endif
