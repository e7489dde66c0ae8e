// The scope's own lamp: light and eye stand at the same point, as in the operating theatre.
float lamp_strength(float distance) { return 0.062 / (0.012 + distance * distance); }

// wet: 0 dry .. 1 covered by a film of fluid.
vec3 lamp(vec3 to_eye, float distance_to_eye, vec3 n, vec3 film_normal, vec3 albedo, float wet) {
  float facing = dot(n, to_eye);
  // Light that enters tissue leaves beside where it entered: the terminator is soft and red.
  vec3 wrap = vec3(0.30, 0.12, 0.10);
  vec3 diffuse = max((vec3(facing) + wrap) / (1.0 + wrap), 0.0);
  float falloff = lamp_strength(distance_to_eye);
  float shine = max(dot(film_normal, to_eye), 0.0);
  float highlight = wet * (0.55 * pow(shine, 220.0) + 0.16 * pow(shine, 34.0));
  float rim = 0.08 * wet * pow(1.0 - max(facing, 0.0), 4.0);
  return falloff * (albedo * diffuse + vec3(1.0, 0.97, 0.92) * highlight + rim * albedo);
}

// Linear light to what a screen shows, with a shoulder that keeps highlights from clipping.
vec3 to_screen(vec3 c) {
  c = c * (1.0 + c / 6.0) / (1.0 + c);
  return pow(clamp(c * 1.12, 0.0, 1.0), vec3(1.0 / 2.2));
}
