// What every shader of a picture knows: app/view/frame_block.hpp.
layout(std140) uniform Frame {
  mat4 clip_from_world;
  vec4 eye_barrel;    // m, 1
  vec4 lamp_aspect;   // m, 1
  vec4 light_time;    // m, s: half-way between lens and lamp
  vec4 field;         // pixels: centre; 1 / its radius; 1 round, 0 not
  vec4 right_pixel;   // 1, half heights a pixel
  vec4 up;            // 1
};
