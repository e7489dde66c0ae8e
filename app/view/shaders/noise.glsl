// Value noise in three dimensions and sums of it, after the well-known lattice construction; range about -1 .. 1.
float lattice_value(vec3 p) {
  uvec3 q = uvec3(ivec3(p)) * uvec3(1597334673u, 3812015801u, 2798796415u);
  uint n = (q.x ^ q.y ^ q.z) * 1597334673u;
  n = (n ^ (n >> 15)) * 2246822519u;
  return float(n >> 8) * (2.0 / 16777216.0) - 1.0;
}

float noise(vec3 p) {
  vec3 cell = floor(p), f = p - cell;
  f = f * f * (3.0 - 2.0 * f);
  float x00 = mix(lattice_value(cell), lattice_value(cell + vec3(1, 0, 0)), f.x);
  float x10 = mix(lattice_value(cell + vec3(0, 1, 0)), lattice_value(cell + vec3(1, 1, 0)), f.x);
  float x01 = mix(lattice_value(cell + vec3(0, 0, 1)), lattice_value(cell + vec3(1, 0, 1)), f.x);
  float x11 = mix(lattice_value(cell + vec3(0, 1, 1)), lattice_value(cell + vec3(1, 1, 1)), f.x);
  return mix(mix(x00, x10, f.y), mix(x01, x11, f.y), f.z);
}
