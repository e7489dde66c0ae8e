// Uniform data shared by all shaders of a picture: app/view/frame_block.hpp.
layout(std140) uniform Frame {
  mat4 clip_from_world;
  vec4 eye_barrel;    // m, 1
  vec4 lamp_aspect;   // m, 1
  vec4 light_time;    // m, s: point halfway between lens and lamp; time
  vec4 field;         // pixels: centre; 1 / its radius; 1 round, 0 not
  vec4 right_pixel;   // 1, half heights per pixel
  vec4 up;            // 1; exposure: display brightness of linear light
  vec4 haze;          // linear light that smoke in the abdomen adds; share of the light that it lets pass
};
