// Barrel distortion by the division model of sim/scene/scope.hpp, applied to vertices: meshes are fine enough for
// straight lines between them. Far outside the field the factor is constant, so that triangles that cross the eye's
// plane stay valid.
vec2 seen_from_pinhole(vec2 pinhole) {
  return pinhole * (2.0 / (1.0 + sqrt(1.0 + 4.0 * eye_barrel.w * dot(pinhole, pinhole))));
}
vec4 through_lens(vec4 clip) {
  vec2 pinhole = clip.xy * vec2(lamp_aspect.w, 1.0);
  float squared = clip.w > 0.0 ? min(dot(pinhole, pinhole), 64.0 * clip.w * clip.w) / (clip.w * clip.w) : 64.0;
  clip.xy *= 2.0 / (1.0 + sqrt(1.0 + 4.0 * eye_barrel.w * squared));
  return clip;
}
