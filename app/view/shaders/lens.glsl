// Barrel distortion by the division model of app/scope/lens.hpp, applied to where a vertex lands: meshes are fine
// enough for the straight lines between. Far outside the field the factor is held, so that what crosses the eye's plane
// stays put.
vec2 seen_from_pinhole(vec2 pinhole) {
  return pinhole * (2.0 / (1.0 + sqrt(1.0 + 4.0 * eye_barrel.w * dot(pinhole, pinhole))));
}
vec4 through_lens(vec4 clip) {
  vec2 pinhole = clip.xy * vec2(lamp_aspect.w, 1.0);
  float squared = clip.w > 0.0 ? min(dot(pinhole, pinhole), 64.0 * clip.w * clip.w) / (clip.w * clip.w) : 64.0;
  clip.xy *= 2.0 / (1.0 + sqrt(1.0 + 4.0 * eye_barrel.w * squared));
  return clip;
}
