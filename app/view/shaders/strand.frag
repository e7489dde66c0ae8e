in vec3 to_light;
in vec3 across;
in float border;
out vec4 result;
void main() {
  float squared = dot(to_light, to_light);
  vec3 towards = to_light * inversesqrt(squared);
  // The strand is round: its normal turns from the eye, which is near the light, to the side.
  vec3 n = normalize(across * border + towards * sqrt(max(1.0 - border * border, 0.0)));
  vec3 light = lamp_light(towards, lamp_strength(squared), n, n, vec3(0.55, 0.36, 0.30), 0.6);
  result = vec4(to_screen(light), 0.62 * (1.0 - 0.5 * border * border));
}
