in vec3 world_position;
in vec3 world_normal;
uniform vec3 eye;
uniform vec3 colour;
out vec4 result;
void main() {
  vec3 to_eye = normalize(eye - world_position);
  float facing = max(dot(normalize(world_normal), to_eye), 0.0);
  result = vec4(colour * (0.55 + 0.45 * facing), 0.80);
}
