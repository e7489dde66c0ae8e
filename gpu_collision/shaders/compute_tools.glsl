// The tools of one pass, as every shader of `compute` reads them (ToolBlock of compute.cpp).
struct Tool {
  vec4 planes[8];  // inside where n.x + d >= 0, m
  vec4 margin;     // slack in metres, number of planes
};

layout(std140, binding = 9) uniform Tools {
  uint call;         // number of the call
  uint block_count;  // blocks of faces
  uint tool_count;   // tools of this pass
  uint first_tool;   // number of its first tool in the call
  uint group_count;  // workgroups of all passes
  Tool tools[64];
};
