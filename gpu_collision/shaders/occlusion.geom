#version 330 core
// Clips a face against the volume of each tool and emits one point, into the only pixel there is, for each that it
// touches. A face whose corners are all outside one plane is rejected, one with a corner inside every plane accepted,
// at once; the rest is clipped plane by plane.
const int kPlanesPerTool = 8;
const int kToolsPerPass = 4;
const uint kToolBits = 0xffu;
const int kMaxCorners = 3 + kPlanesPerTool;

layout(triangles) in;
layout(points, max_vertices = 4) out;

uniform vec4 planes[kToolsPerPass * kPlanesPerTool];
uniform int tool_count;

in vec3 corner[];
in float slack[];
flat in uint outside[];

flat out uint hit;  // face * kToolsPerPass + tool

// Does anything of the face remain inside the planes of `tool` whose bit is set in `crossed`?
bool remains(int tool, uint crossed, float tolerance) {
  vec3 polygon[kMaxCorners], kept[kMaxCorners];
  int count = 3;
  for (int i = 0; i < 3; ++i) polygon[i] = corner[i];
  for (int p = 0; p < kPlanesPerTool; ++p) {
    if ((crossed >> uint(p) & 1u) == 0u) continue;
    vec4 plane = planes[tool * kPlanesPerTool + p];
    int kept_count = 0;
    vec3 from = polygon[count - 1];
    float from_height = dot(plane.xyz, from) + plane.w + tolerance;
    for (int i = 0; i < count; ++i) {
      vec3 to = polygon[i];
      float to_height = dot(plane.xyz, to) + plane.w + tolerance;
      if ((from_height < 0.0) != (to_height < 0.0) && kept_count < kMaxCorners)
        kept[kept_count++] = mix(from, to, clamp(from_height / (from_height - to_height), 0.0, 1.0));
      if (to_height >= 0.0 && kept_count < kMaxCorners) kept[kept_count++] = to;
      from = to;
      from_height = to_height;
    }
    if (kept_count == 0) return false;
    count = kept_count;
    for (int i = 0; i < count; ++i) polygon[i] = kept[i];
  }
  return true;
}

void main() {
  uint all_outside = outside[0] & outside[1] & outside[2];
  uint any_outside = outside[0] | outside[1] | outside[2];
  float tolerance = max(max(slack[0], slack[1]), slack[2]);
  for (int tool = 0; tool < tool_count; ++tool) {
    uint shift = uint(tool * kPlanesPerTool);
    if ((all_outside >> shift & kToolBits) != 0u) continue;
    bool corner_inside = false;
    for (int i = 0; i < 3; ++i) corner_inside = corner_inside || (outside[i] >> shift & kToolBits) == 0u;
    if (!corner_inside && !remains(tool, any_outside >> shift & kToolBits, tolerance)) continue;
    hit = uint(gl_PrimitiveIDIn * kToolsPerPass + tool);
    gl_Position = vec4(0.0, 0.0, 0.5, 1.0);
    EmitVertex();
    EndPrimitive();
  }
}
