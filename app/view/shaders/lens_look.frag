// Draws the finished picture as a camera shows it whose lens is fogged or whose head is turned. Water on the lens scatters:
// the picture is blurred, by its smaller copies, and mixed with its mean light. Drops are denser here than there.
in vec2 uv;
uniform sampler2D picture;  // with smaller copies, if there is fog
uniform float fog, dark, aspect, turn;  // 1, 1, width / height, rad
uniform float field_radius;  // half heights, radius of the round field, which the water does not blur
out vec4 result;
float hash(vec2 at) { return fract(sin(dot(at, vec2(127.1, 311.7))) * 43758.5453); }
float drops(vec2 at) {
  vec2 cell = floor(at), within = fract(at);
  within *= within * (3.0 - 2.0 * within);
  return mix(mix(hash(cell), hash(cell + vec2(1.0, 0.0)), within.x),
             mix(hash(cell + vec2(0.0, 1.0)), hash(cell + vec2(1.0, 1.0)), within.x), within.y);
}
float within_field(vec2 at, float soft) {
  return 1.0 - smoothstep(1.0 - soft, 1.0, length((2.0 * at - 1.0) * vec2(aspect, 1.0)) / field_radius);
}
// The black around the field does not count.
vec3 blurred(vec2 at, float level) {
  vec2 spread = exp2(level) / vec2(textureSize(picture, 0));
  vec4 sum = 2.0 * vec4(textureLod(picture, at, level).rgb, 1.0);
  for (int k = 0; k < 8; ++k) {
    float angle = 0.7853982 * float(k);
    vec2 beside = at + spread * vec2(cos(angle), sin(angle));
    sum += (0.02 + within_field(beside, 0.1)) * vec4(textureLod(picture, beside, level).rgb, 1.0);
  }
  return sum.rgb / sum.a;
}
void main() {
  vec2 from_centre = (uv - 0.5) * vec2(aspect, 1.0);
  vec2 turned = vec2(cos(turn) * from_centre.x - sin(turn) * from_centre.y, sin(turn) * from_centre.x + cos(turn) * from_centre.y);
  vec2 at = turned / vec2(aspect, 1.0) + 0.5;
  vec3 seen = texture(picture, at).rgb;
  if (fog > 0.0) {
    float thick = fog * (0.72 + 0.28 * (0.6 * drops(9.0 * from_centre + 3.0) + 0.4 * drops(31.0 * from_centre)));
    vec3 soft = blurred(at, 5.5 * sqrt(thick));
    vec3 veil = 0.26 + 1.1 * textureLod(picture, vec2(0.5), 7.0).rgb;
    seen = mix(mix(seen, soft, min(3.0 * thick, 1.0)), veil, 0.62 * thick);
  }
  result = vec4(within_field(uv, 0.015) * mix(seen, vec3(0.012, 0.010, 0.009), dark), 1.0);
}
