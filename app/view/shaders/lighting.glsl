// Light of the lamp on wet tissue, and the picture that the camera makes of it. app/view/tissue_light.hpp has the same
// formulas in C++.

// The lens transmits less light towards the edge of its field.
float vignette() {
  vec2 p = (gl_FragCoord.xy - field.xy) * field.z;
  float squared = dot(p, p);
  return 1.0 - 0.45 * field.w * squared * squared;
}

// Light that comes out of tissue where it does not come in, pre-integrated over a round surface (Penner and Borshukov,
// "Pre-Integrated Skin Shading", GPU Pro 2, 2011). facing: N.L; spread: diffusion length times curvature. x red; y green
// and blue, whose lengths are alike.
vec2 scattered(vec2 facing, vec2 spread) {
  vec2 width = min(2.0 * spread + 0.02, 1.0);
  vec2 y = clamp(facing + width, vec2(0.0), 2.0 * width);
  vec2 local = y * y / (4.0 * width) + max(facing - width, 0.0);
  vec2 share = 1.0 / (1.0 + 1.6 * spread * spread);
  return mix(vec2(0.318), local, share);
}

// Highlight of a surface with light and eye in one direction: the distribution of Trowbridge and Reitz (GGX) with
// reflectance F0 over 4, relative to a white diffuse surface. sine2: squared sine of the angle between normal and light;
// alpha2: squared roughness alpha.
float highlight(float sine2, float alpha2, float f0) {
  float t = sine2 * (1.0 - alpha2) + alpha2;
  return 0.25 * f0 * alpha2 / (t * t);
}

const float kFilmF0 = 0.022;     // 1  of water with n = 1.35
const float kFilmAlpha2 = 0.006;  // 1  roughness 0.12 (alpha 0.014), the lamp's size, slopes finer than a pixel
const float kBaseAlpha2 = 0.07;  // 1  roughness 0.52

// n: unit normal of the tissue; bumped: with its grain; film: of the fluid upon it, any length.
// wet: 0 dry .. 1 covered by a film of fluid; spread: see scattered().
vec3 lamp_light(vec3 towards, float falloff, vec3 n, vec3 bumped, vec3 film, vec3 albedo, vec2 spread, float wet) {
  float smooth_facing = dot(n, towards), facing = dot(bumped, towards);
  // Red spreads farther than the grain is wide.
  vec2 diffuse = scattered(vec2(0.6 * smooth_facing + 0.4 * facing, facing), spread);
  float base = highlight(max(1.0 - facing * facing, 0.0), kBaseAlpha2, kFilmF0);
  float on_film = dot(film, towards);
  float shine = highlight(max(1.0 - on_film * on_film / dot(film, film), 0.0), kFilmAlpha2, kFilmF0);
  // The film reflects the tissue around it by Fresnel's law in Schlick's form.
  float grazing = 1.0 - max(smooth_facing, 0.0);
  float grazing2 = grazing * grazing;
  float mirror = wet * (kFilmF0 + (1.0 - kFilmF0) * grazing2 * grazing2 * grazing);
  vec3 light = albedo * (diffuse.xyy + 0.04) + vec3(0.10, 0.032, 0.026) * mirror;
  return falloff * (light + vec3(1.0, 0.97, 0.92) * (base + wet * shine));
}

// Tone mapping of linear light: the filmic curve of Hejl and Burgess-Dawson (SIGGRAPH 2010 course "Color Enhancement
// and Rendering in Film and Game Production"), which includes the gamma and needs no pow(). Smoke in the abdomen veils
// the picture.
vec3 to_screen(vec3 light) {
  vec3 c = max((light * haze.w + haze.rgb) * (up.w * vignette()) - 0.004, 0.0);
  return (c * (6.2 * c + 0.5)) / (c * (6.2 * c + 1.7) + 0.06);
}
