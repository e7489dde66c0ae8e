in vec3 to_light;
in vec2 corner;
flat in float seed, density;
uniform sampler3D grain;
out vec4 result;
void main() {
  float fade = max(1.0 - dot(corner, corner), 0.0);
  vec4 billow = texture(grain, vec3(corner * 0.13 + seed, seed * 1.7 + 0.03 * light_time.w));
  float body = fade * fade * clamp(3.4 * billow.r - 1.15, 0.0, 1.0);
  vec3 light = vec3(0.46, 0.45, 0.43) * lamp_strength(dot(to_light, to_light)) * (0.55 + 0.45 * billow.g);
  result = vec4(to_screen(light), density * body);
}
