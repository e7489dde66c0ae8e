// Light of the scope's lamp at a point. Lens and lamp are so close together that one direction, towards the point halfway
// between them, serves as light direction and as half vector of the highlights. app/view/tissue_light.hpp has the same
// formula in C++.

// to_light: m. Returns the irradiance, 1 in the middle of the beam 100 mm away: the square of the distance, with a floor
// of (30 mm)^2 for light that the tissue around returns, and a beam as cos^4 of the angle to its axis.
float lamp_strength(vec3 to_light) {
  float squared = dot(to_light, to_light);
  float ahead = max(dot(to_light, cross(right_pixel.xyz, up.xyz)), 0.0);
  float beam = ahead * ahead / squared;
  return 0.0109 * beam * beam / (0.0009 + squared);
}
