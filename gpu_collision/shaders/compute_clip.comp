// Tests which faces of a block a tool touches. One invocation per face. A face with all corners outside one plane is
// out; one with a corner inside all planes is in; all others are clipped. A face and a convex volume share a point
// when an edge of the face has a part inside every plane, or when the line in which the face crosses one plane has a
// part inside the other planes; so no polygon is stored.
//
// Float rounding: every plane is moved outwards by `slack` (2 slack where a plane clips the crossing line of another),
// which exceeds the rounding error, so that no touched face is lost; a face inside by `slack` is certain. The caller
// decides every other recorded face in double.
// Defined by the caller:
//   CULLED      1: workgroups are the (block, tool) pairs of compute_cull; 0: all blocks, each with all tools
//   EXACT_CLIP  1: clip here; 0: record the candidate faces, the caller decides them
layout(local_size_x = 64) in;

layout(binding = 10) uniform samplerBuffer positions;  // [3 vertex + axis] m
layout(binding = 13) uniform usamplerBuffer corners;   // [3 slot + corner] vertex numbers; slot = 64 block + lane
layout(binding = 14) uniform samplerBuffer tools;      // 0: number of the call, blocks, tools; then
                                                       // [1 + 9 tool + k] plane k; k = 8: slack, plane count

layout(std430, binding = 5) readonly buffer Work {
  uvec2 work[];  // (block, tool)
};
layout(std430, binding = 6) buffer Counters {
  uint record_count, call_done, unused_0, unused_1;
};
layout(std430, binding = 7) writeonly buffer Records {
  uvec2 records[];  // (slot | kCertain, tool)
};
const float kRelativeSlack = 1e-6;
const uint kCertain = 0x80000000u;
const int kNoPlane = -1;

int tool_base;    // first texel of the tool
int plane_count;

vec3 position_of(uint vertex) {
  int at = 3 * int(vertex);
  return vec3(texelFetch(positions, at).x, texelFetch(positions, at + 1).x, texelFetch(positions, at + 2).x);
}

float sum_of_sizes(vec3 p) { return abs(p.x) + abs(p.y) + abs(p.z); }

float height(int plane, vec3 p) {
  vec4 n = texelFetch(tools, tool_base + plane);
  return dot(n.xyz, p) + n.w;
}

#if EXACT_CLIP
// Does the segment p q have a part inside all planes except `skip`, all moved outwards by `slack`?
bool part_inside(vec3 p, vec3 q, float slack, int skip) {
  float from = 0.0, to = 1.0;
  for (int k = 0; k < plane_count; ++k) {
    if (k == skip) continue;
    float hp = height(k, p) + slack, hq = height(k, q) + slack;
    if (max(hp, hq) < 0.0) return false;
    if (hp < 0.0) from = max(from, hp / (hp - hq));
    if (hq < 0.0) to = min(to, hp / (hp - hq));
  }
  return from <= to;
}

// Does the line in which the face crosses `plane` have a part inside the other planes?
bool crossing_inside(int plane, vec3 a, vec3 b, vec3 c, float slack) {
  float ha = height(plane, a) + slack, hb = height(plane, b) + slack, hc = height(plane, c) + slack;
  bool out_a = ha < 0.0, out_b = hb < 0.0, out_c = hc < 0.0;
  if (out_a == out_b && out_b == out_c) return false;
  // The plane separates one corner from the other two. It crosses the two edges at that corner.
  vec3 alone = a, left = b, right = c;
  float h = ha, h_left = hb, h_right = hc;
  if (out_a == out_c) {
    alone = b; left = c; right = a;
    h = hb; h_left = hc; h_right = ha;
  } else if (out_a == out_b) {
    alone = c; left = a; right = b;
    h = hc; h_left = ha; h_right = hb;
  }
  return part_inside(mix(alone, left, h / (h - h_left)), mix(alone, right, h / (h - h_right)), 2.0 * slack, plane);
}

bool any_edge_inside(vec3 a, vec3 b, vec3 c, float slack) {
  return part_inside(a, b, slack, kNoPlane) || part_inside(b, c, slack, kNoPlane) || part_inside(c, a, slack, kNoPlane);
}

bool any_crossing_inside(vec3 a, vec3 b, vec3 c, float slack) {
  for (int k = 0; k < plane_count; ++k) {
    if (crossing_inside(k, a, b, c, slack)) return true;
  }
  return false;
}
#endif

void test_face(uint slot, uint tool, vec3 a, vec3 b, vec3 c, float size) {
  tool_base = 1 + int(9u * tool);
  vec2 slack_and_count = texelFetch(tools, tool_base + 8).xy;
  plane_count = int(slack_and_count.y);
  float slack = slack_and_count.x + kRelativeSlack * size;

  vec3 lowest = vec3(3e38);  // of each corner, over the planes
  for (int k = 0; k < plane_count; ++k) {
    vec3 heights = vec3(height(k, a), height(k, b), height(k, c));
    if (max(max(heights.x, heights.y), heights.z) < -slack) return;
    lowest = min(lowest, heights);
  }
  bool certain = max(max(lowest.x, lowest.y), lowest.z) >= slack;
#if EXACT_CLIP
  certain = certain || any_edge_inside(a, b, c, -slack);
  if (!certain && !any_edge_inside(a, b, c, 2.0 * slack) && !any_crossing_inside(a, b, c, slack)) return;
#endif
  uint at = atomicAdd(record_count, 1u);
  if (at < uint(records.length())) records[at] = uvec2(certain ? slot | kCertain : slot, tool);
}

void main() {
#if CULLED
  uvec2 item = work[gl_WorkGroupID.x];
  uint block = item.x, from = item.y, to = item.y + 1u;
#else
  uvec3 this_call = uvec3(texelFetch(tools, 0).xyz);  // number, blocks, tools
  uint block = gl_WorkGroupID.x, from = 0u, to = this_call.z;
  if (gl_GlobalInvocationID.x == 0u) call_done = this_call.x;  // proves in the answer that this dispatch ran
#endif
  uint slot = 64u * block + gl_LocalInvocationID.x;
  int at = 3 * int(slot);
  vec3 a = position_of(texelFetch(corners, at).x);
  vec3 b = position_of(texelFetch(corners, at + 1).x);
  vec3 c = position_of(texelFetch(corners, at + 2).x);
  float size = max(max(sum_of_sizes(a), sum_of_sizes(b)), sum_of_sizes(c));
  for (uint tool = from; tool < to; ++tool) test_face(slot, tool, a, b, c, size);
}
