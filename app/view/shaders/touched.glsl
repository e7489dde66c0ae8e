#ifdef VERTEX_SHADER
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
out float facing;
void main() {
  facing = max(dot(normal, normalize(light_time.xyz - position)), 0.0);
  gl_Position = through_lens(clip_from_world * vec4(position, 1.0));
}
#else
in float facing;
uniform vec3 colour;
out vec4 result;
void main() { result = vec4(colour * (0.55 + 0.45 * facing), 0.80); }
#endif
