#version 330 core
// One bit per plane of every tool that a corner lies outside of. A corner counts as inside within `slack`: more than the
// rounding of its height in float. Planes are padded to eight per tool with ones that exclude nothing.
const int kPlanesPerTool = 8;
const int kToolsPerPass = 4;
const float kSlackPerMetre = 4e-6;  // 32 float steps

layout(location = 0) in vec3 position;  // m

uniform vec4 planes[kToolsPerPass * kPlanesPerTool];  // inside where n.x + d >= 0; d already grown by the margin
uniform int tool_count;

out vec3 corner;         // m
out float slack;         // m
flat out uint outside;   // bit 8 tool + plane

void main() {
  corner = position;
  slack = kSlackPerMetre * (abs(position.x) + abs(position.y) + abs(position.z));
  outside = 0u;
  for (int i = 0; i < tool_count * kPlanesPerTool; ++i) {
    if (dot(planes[i].xyz, position) + planes[i].w < -slack) outside |= 1u << uint(i);
  }
}
