uniform vec4 colour;
uniform float hatch;  // period of the stripes in pixels; 0: none
out vec4 result;
void main() {
  float stripe = hatch > 0.0 ? abs(fract((gl_FragCoord.x + gl_FragCoord.y) / hatch) - 0.5) * 2.0 : 1.0;
  result = vec4(colour.rgb, colour.a * mix(0.25, 1.0, smoothstep(0.55, 0.75, stripe)));
}
