// Tests which faces a tool may touch. One invocation per face. A face with all corners outside one plane is out; every
// other face is recorded with its corners, and the caller decides it in double, unless one of its corners lies inside
// all planes: such a face is certain.
//
// Float rounding: every plane is moved outwards by `slack`, which exceeds the rounding error, so that no touched face
// is lost; a corner inside by `slack` is certain.
//
// Defined by the caller, after #version and compute_tools.glsl:
//   CULLED  1: workgroups are the (block, tool) pairs of compute_cull; 0: four blocks each, with all tools of the pass
layout(binding = 10) uniform samplerBuffer positions;  // [3 vertex + axis] m
layout(binding = 13) uniform usamplerBuffer corners;   // [3 slot + corner] vertex numbers; slot = 64 block + lane

layout(std430, binding = 6) buffer Counters {
  uint record_count, call_done, groups_done, unused;
};
layout(std430, binding = 7) writeonly buffer Records {
  uvec4 records[];  // [3 record]: slot | kCertain, tool, then the nine coordinates of the corners, m
};
const float kRelativeSlack = 1e-6;  // of the coordinates' size: several times the rounding of a plane's height
const uint kCertain = 0x80000000u;

vec3 position_of(uint vertex) {
  int at = 3 * int(vertex);
  return vec3(texelFetch(positions, at).x, texelFetch(positions, at + 1).x, texelFetch(positions, at + 2).x);
}

float sum_of_sizes(vec3 p) { return abs(p.x) + abs(p.y) + abs(p.z); }

void record(uint slot, uint tool, vec3 a, vec3 b, vec3 c) {
  uint at = 3u * atomicAdd(record_count, 1u);
  if (at >= uint(records.length())) return;
  records[at] = uvec4(slot, tool, floatBitsToUint(a.xy));
  records[at + 1u] = uvec4(floatBitsToUint(a.z), floatBitsToUint(b));
  records[at + 2u] = uvec4(floatBitsToUint(c), 0u);
}

// `tool`: number within the pass.
void test_face(uint slot, uint tool, vec3 a, vec3 b, vec3 c, float size) {
  vec4 margin = tools[tool].margin;
  float slack = margin.x + kRelativeSlack * size;
  vec3 lowest = vec3(3e38);  // of each corner, over the planes
  for (int k = 0; k < int(margin.y); ++k) {
    vec4 plane = tools[tool].planes[k];
    vec3 heights = vec3(dot(plane.xyz, a), dot(plane.xyz, b), dot(plane.xyz, c)) + plane.w;
    if (max(max(heights.x, heights.y), heights.z) < -slack) return;
    lowest = min(lowest, heights);
  }
  bool certain = max(max(lowest.x, lowest.y), lowest.z) >= slack;
  record(certain ? slot | kCertain : slot, first_tool + tool, a, b, c);
}

// Tests the face of a slot with the tools `from` to `to` - 1.
void test_slot(uint slot, uint from, uint to) {
  int at = 3 * int(slot);
  vec3 a = position_of(texelFetch(corners, at).x);
  vec3 b = position_of(texelFetch(corners, at + 1).x);
  vec3 c = position_of(texelFetch(corners, at + 2).x);
  float size = max(max(sum_of_sizes(a), sum_of_sizes(b)), sum_of_sizes(c));
  for (uint tool = from; tool < to; ++tool) test_face(slot, tool, a, b, c, size);
}

#if CULLED
layout(local_size_x = 64) in;

layout(std430, binding = 5) readonly buffer Work {
  uvec2 work[];  // (block, tool)
};

void main() {
  uvec2 item = work[gl_WorkGroupID.x];
  test_slot(64u * item.x + gl_LocalInvocationID.x, item.y, item.y + 1u);
}
#else
layout(local_size_x = 256) in;

layout(std430, binding = 4) writeonly buffer Reply {
  uint reply_count, reply_call;
};

// The last workgroup of the call copies the number of records to host memory, where the records are, and resets the
// counters for the next call.
void main() {
  if (gl_GlobalInvocationID.x < 64u * block_count) test_slot(gl_GlobalInvocationID.x, 0u, tool_count);
  memoryBarrier();
  barrier();
  if (gl_LocalInvocationID.x != 0u || atomicAdd(groups_done, 1u) + 1u < group_count) return;
  reply_count = atomicExchange(record_count, 0u);
  reply_call = call;
  groups_done = 0u;
}
#endif
