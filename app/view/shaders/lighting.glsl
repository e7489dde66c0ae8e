// Light of the scope's lamp on wet tissue. Lens and lamp are so close together that one direction, towards the point
// halfway between them, serves as light direction and as half vector of the highlight.
float lamp_strength(float squared_distance) { return 0.062 / (0.012 + squared_distance); }

// The lens transmits less light towards the edge of its field.
float vignette() {
  vec2 p = (gl_FragCoord.xy - field.xy) * field.z;
  float squared = dot(p, p);
  return 1.0 - 0.62 * field.w * squared * squared;
}

// exp(-n a) with a = 1 - cos approximates a highlight cos^n: equal near its peak, and cheap.
float lobe(float a, float n) { return exp2(-1.4427 * n * a); }

// wet: 0 dry .. 1 covered by a film of fluid.
vec3 lamp_light(vec3 towards, float falloff, vec3 n, vec3 film, vec3 albedo, float wet) {
  float facing = dot(n, towards);
  // Subsurface scattering: the terminator is soft and red.
  vec3 diffuse = max(vec3(facing) * vec3(0.769, 0.893, 0.909) + vec3(0.231, 0.107, 0.091), 0.0);
  float a = 1.0 - max(dot(film, towards), 0.0);
  float shine = wet * (1.1 * lobe(a, 240.0) + 0.20 * lobe(a, 26.0));
  float grazing = 1.0 - max(facing, 0.0);
  grazing *= grazing;
  return falloff * (albedo * (diffuse + 0.10 * wet * grazing * grazing) + vec3(1.0, 0.97, 0.92) * shine);
}

// Tone mapping of linear light: the filmic curve of Hejl and Burgess-Dawson (SIGGRAPH 2010 course "Color Enhancement
// and Rendering in Film and Game Production"), which includes the gamma and needs no pow().
vec3 to_screen(vec3 light) {
  vec3 c = max(light * (0.80 * up.w * vignette()) - 0.004, 0.0);
  return (c * (6.2 * c + 0.5)) / (c * (6.2 * c + 1.7) + 0.06);
}
