// Clips a face against the volume of each tool and emits one point, into the only pixel, for each tool that touches it.
// A face with all corners outside one plane is rejected at once, one with a corner inside every plane is accepted at
// once; all others are clipped plane by plane. The program begins with #version and TOOL_COUNT (1 to 4).
const int kPlanesPerTool = 8;
const int kToolsPerPass = 4;
const uint kToolBits = 0xffu;
const int kMaxCorners = 3 + kPlanesPerTool;

layout(triangles) in;
layout(points, max_vertices = TOOL_COUNT) out;

uniform vec4 planes[TOOL_COUNT * kPlanesPerTool];

in vec4 corner[];  // m, with its slack
flat in uint outside[];

flat out uint hit;  // face * kToolsPerPass + tool

// Does a part of the face lie inside the planes whose bit is set in `crossed`? The first of these planes is
// planes[plane_at]. The polygon is stored as weights of the second and third corner, in two halves of one array: one is
// read, one written. Drivers that run eight faces at once step through each loop body once even where no face needs it,
// so they are short.
bool part_inside(int plane_at, uint crossed, float slack) {
  vec2 polygon[2 * kMaxCorners];
  polygon[0] = vec2(0.0, 0.0);
  polygon[1] = vec2(1.0, 0.0);
  polygon[2] = vec2(0.0, 1.0);
  vec2 last = polygon[2];
  int count = 3, read = 0;
  for (; crossed != 0u && count > 0; crossed >>= 1, ++plane_at) {
    if ((crossed & 1u) == 0u) continue;
    vec4 plane = planes[plane_at];
    vec3 heights = vec3(dot(plane.xyz, corner[0].xyz), dot(plane.xyz, corner[1].xyz), dot(plane.xyz, corner[2].xyz));
    vec2 slope = heights.yz - heights.x;
    float start = heights.x + plane.w + slack;
    int write = kMaxCorners - read, kept = 0;
    vec2 from = last;
    float from_height = start + dot(slope, from);
    for (int i = 0; i < count; ++i) {
      vec2 to = polygon[read + i];
      float to_height = start + dot(slope, to);
      if ((from_height < 0.0) != (to_height < 0.0) && kept < kMaxCorners) {
        last = mix(from, to, clamp(from_height / (from_height - to_height), 0.0, 1.0));
        polygon[write + kept++] = last;
      }
      if (to_height >= 0.0 && kept < kMaxCorners) {
        last = to;
        polygon[write + kept++] = last;
      }
      from = to;
      from_height = to_height;
    }
    count = kept;
    read = write;
  }
  return count > 0;
}

void main() {
  uint all_outside = outside[0] & outside[1] & outside[2];
  uint any_outside = outside[0] | outside[1] | outside[2];
  uint touched = 0u, undecided = 0u;  // bit per tool
  for (int tool = 0; tool < TOOL_COUNT; ++tool) {
    uint bits = kToolBits << uint(tool * kPlanesPerTool);
    bool rejected = (all_outside & bits) != 0u;
    bool accepted = (outside[0] & bits) == 0u || (outside[1] & bits) == 0u || (outside[2] & bits) == 0u;
    if (accepted) touched |= 1u << uint(tool);
    if (!accepted && !rejected) undecided |= 1u << uint(tool);
  }
  float slack = max(max(corner[0].w, corner[1].w), corner[2].w);
  for (int tool = 0; undecided >> uint(tool) != 0u; ++tool) {
    if ((undecided >> uint(tool) & 1u) == 0u) continue;
    int plane_at = tool * kPlanesPerTool;
    if (part_inside(plane_at, any_outside >> uint(plane_at) & kToolBits, slack)) touched |= 1u << uint(tool);
  }
  for (int tool = 0; tool < TOOL_COUNT; ++tool) {
    if ((touched >> uint(tool) & 1u) == 0u) continue;
    hit = uint(gl_PrimitiveIDIn * kToolsPerPass + tool);
    gl_Position = vec4(0.0, 0.0, 0.5, 1.0);
    EmitVertex();
    EndPrimitive();
  }
}
