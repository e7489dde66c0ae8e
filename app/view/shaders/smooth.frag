// Blends along edges, which would otherwise show as stairs when the picture is enlarged. The direction of an edge follows
// from the brightness of four neighbours, as in FXAA (T. Lottes, NVIDIA white paper, 2009).
in vec2 uv;
uniform sampler2D picture;
uniform vec2 texel;  // its size in uv
out vec4 result;
float brightness(ivec2 offset) {
  ivec2 at = clamp(ivec2(gl_FragCoord.xy) + offset, ivec2(0), textureSize(picture, 0) - 1);
  return dot(texelFetch(picture, at, 0).rg, vec2(0.45, 0.55));
}
vec3 along_edge(vec2 offset) { return texture(picture, uv + offset * texel).rgb; }
void main() {
  float a = brightness(ivec2(-1, -1)), b = brightness(ivec2(1, -1)), c = brightness(ivec2(-1, 1)), d = brightness(ivec2(1, 1));
  float low = min(min(a, b), min(c, d)), high = max(max(a, b), max(c, d));
  vec2 along = vec2(c + d - a - b, a + c - b - d);
  // Without an edge the samples lie in the texel itself.
  float sharp = high - low < 0.04 + 0.08 * high ? 0.0 : 1.0;
  along *= sharp * min(1.0 / (min(abs(along.x), abs(along.y)) + 0.004), 4.0 / max(max(abs(along.x), abs(along.y)), 0.004));
  result = vec4(0.5 * (along_edge(along * -0.25) + along_edge(along * 0.25)), 1.0);
}
