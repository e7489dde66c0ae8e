in vec3 world_position;
in vec3 world_normal;
uniform vec3 eye;
uniform vec3 colour;
uniform float shine;  // 0 plastic .. 1 polished steel
out vec4 result;
void main() {
  vec3 to_eye = eye - world_position;
  float distance_to_eye = length(to_eye);
  to_eye /= distance_to_eye;
  vec3 n = normalize(world_normal);
  float facing = max(dot(n, to_eye), 0.0);
  float falloff = lamp_strength(distance_to_eye);
  // Steel mirrors the cavity around it: warm from below, dark at grazing angles.
  vec3 mirrored = mix(vec3(0.34, 0.16, 0.13), vec3(0.75), smoothstep(-0.4, 0.9, dot(reflect(-to_eye, n), to_eye)));
  vec3 body = colour * (0.25 + 0.75 * facing);
  vec3 light = mix(body, colour * mirrored * 1.25, 0.75 * shine);
  light += (0.22 + 0.7 * shine) * pow(facing, mix(30.0, 90.0, shine));
  result = vec4(to_screen(falloff * light), 1.0);
}
