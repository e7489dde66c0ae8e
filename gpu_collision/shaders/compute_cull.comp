// Finds the blocks of faces that a tool can touch. One invocation per block: computes the box of its vertices and tests
// each tool's planes against it. Appends (block, tool) for compute_faces, whose indirect dispatch counts them. The
// program begins with #version and compute_tools.glsl.
layout(local_size_x = 32) in;

layout(binding = 10) uniform samplerBuffer positions;        // [3 vertex + axis] m
layout(binding = 11) uniform usamplerBuffer block_vertices;  // vertex numbers, block after block
layout(binding = 12) uniform usamplerBuffer block_ranges;    // [2 block], [2 block + 1] begin and end in block_vertices

layout(std430, binding = 5) writeonly buffer Work {
  uvec2 work[];  // (block, tool)
};
layout(std430, binding = 6) buffer Counters {
  uint record_count, call_done, groups_done, unused;
  uint work_count, one_y, one_z;  // size of the dispatch of compute_faces
};

const float kRelativeSlack = 1e-6;  // of the coordinates' size: several times the rounding of a plane's height

void main() {
  uint block = gl_GlobalInvocationID.x;
  if (block >= block_count) return;
  if (block == 0u) call_done = call;  // proves in the answer that this dispatch ran

  int begin = int(texelFetch(block_ranges, 2 * int(block)).x);
  int end = int(texelFetch(block_ranges, 2 * int(block) + 1).x);
  vec3 low = vec3(3e38), high = vec3(-3e38);
  for (int i = begin; i < end; ++i) {
    int at = 3 * int(texelFetch(block_vertices, i).x);
    vec3 p = vec3(texelFetch(positions, at).x, texelFetch(positions, at + 1).x, texelFetch(positions, at + 2).x);
    low = min(low, p);
    high = max(high, p);
  }
  vec3 centre = 0.5 * (low + high), half_size = 0.5 * (high - low);
  vec3 extent = abs(centre) + half_size;
  float size = kRelativeSlack * (extent.x + extent.y + extent.z);

  for (uint tool = 0u; tool < tool_count; ++tool) {
    vec4 margin = tools[tool].margin;
    float slack = margin.x + size;
    bool outside = false;
    for (int k = 0; k < int(margin.y); ++k) {
      vec4 plane = tools[tool].planes[k];
      outside = outside || dot(plane.xyz, centre) + plane.w + dot(abs(plane.xyz), half_size) < -slack;
    }
    if (!outside) work[atomicAdd(work_count, 1u)] = uvec2(block, tool);
  }
}
