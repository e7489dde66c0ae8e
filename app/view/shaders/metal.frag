in vec3 to_light;
in vec3 world_normal;
in vec3 model_position;
uniform vec3 colour;
uniform float shine;  // 0 plastic .. 1 polished steel
uniform float teeth;  // 1: cross cuts on the inner face, y = 0
uniform float heat;   // 0 cold .. 1 energised
out vec4 result;
void main() {
  vec3 towards = normalize(to_light);
  vec3 n = normalize(world_normal);
  // The jaws have teeth a millimetre apart, deepest on the inner face.
  float saw = fract(model_position.z * 1000.0) - 0.5;
  float near_face = teeth * max(1.0 - abs(model_position.y) * 1600.0, 0.0);
  n = normalize(n + vec3(0.0, 0.0, 1.2 * saw * near_face));
  float facing = max(dot(n, towards), 0.0);
  // Steel reflects the cavity around it: warm from the sides, dark at grazing angles.
  vec3 mirrored = mix(vec3(0.30, 0.13, 0.10), vec3(0.80), smoothstep(-0.3, 0.95, 2.0 * facing * facing - 1.0));
  vec3 light = mix(colour * (0.2 + 0.8 * facing), colour * mirrored * 1.2, 0.75 * shine);
  light *= 1.0 - 0.75 * near_face * smoothstep(0.15, 0.45, abs(saw));
  float a = 1.0 - facing;
  light += (0.03 + 0.75 * shine) * exp2(-1.4427 * mix(28.0, 90.0, shine) * a);
  result = vec4(to_screen(lamp_strength(to_light) * 0.8 * (1.0 - heat) * light + heat * vec3(1.5, 0.34, 0.04)), 1.0);
}
