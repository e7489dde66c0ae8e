// Fat in lobules of 3 to 6 mm: cells of the volume of make_lobule_volume() (app/view/tissue_texture.hpp), whose side is
// 36 mm. Yellow cells, pale septa between them, and fine red vessels in some of the valleys.
const float kFatRepeat = 27.8;  // 1/m

// height: 0 in a valley .. 1 at the top of a lobule; mottle: 0 .. 1
vec3 fat_colour(float height, float mottle) {
  vec3 cell = mix(vec3(0.60, 0.255, 0.085), vec3(0.84, 0.44, 0.165), height);
  float valley = clamp(1.0 - 5.0 * height, 0.0, 1.0);
  vec3 between = mix(vec3(0.40, 0.085, 0.055), vec3(0.66, 0.46, 0.33), smoothstep(0.40, 0.62, mottle));
  return mix(cell, between, 0.8 * valley);
}
