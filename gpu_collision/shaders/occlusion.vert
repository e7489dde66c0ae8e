// Computes one bit per plane of every tool: set when a corner lies outside. A corner within its slack counts as
// inside; the slack exceeds the rounding of its height in float. A tool has eight planes; unused ones exclude
// nothing. The program begins with #version and TOOL_COUNT, the number of tools of the pass (1 to 4).
const int kPlanesPerTool = 8;
const float kSlackPerMetre = 4e-6;  // 32 float steps

layout(location = 0) in vec3 position;  // m

uniform vec4 planes[TOOL_COUNT * kPlanesPerTool];  // inside where n.x + d >= 0; d already grown by the margin

out vec4 corner;        // m, with its slack
flat out uint outside;  // bit 8 tool + plane

void main() {
  float slack = kSlackPerMetre * (abs(position.x) + abs(position.y) + abs(position.z));
  outside = 0u;
  for (int i = 0; i < TOOL_COUNT * kPlanesPerTool; ++i) {
    if (dot(planes[i].xyz, position) + planes[i].w < -slack) outside |= 1u << uint(i);
  }
  corner = vec4(position, slack);
}
