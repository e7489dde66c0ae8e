// The scope's round field: darkens towards its edge, black outside.
in vec2 place;
uniform float aspect;
uniform float strength;
out vec4 result;
void main() {
  float radius = length(place * vec2(aspect, 1.0)) / 1.16;
  float edge = smoothstep(0.985, 1.0, radius);
  float vignette = strength * 0.70 * smoothstep(0.40, 1.0, radius);
  result = vec4(0.0, 0.0, 0.0, max(vignette, edge * strength));
}
