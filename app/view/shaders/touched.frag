in float facing;
uniform vec3 colour;
out vec4 result;
void main() { result = vec4(colour * (0.55 + 0.45 * facing), 0.80); }
