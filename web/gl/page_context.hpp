// The WebGL 2 context of the page's canvas, as the OpenGL context that the view draws in.
#pragma once

#include <memory>
#include <string>

#include "gpu_collision/gl_context.hpp"

namespace trocar {

// `canvas`: CSS selector. Returns nullptr, with the reason in `why`, when the browser gives no WebGL 2.
std::unique_ptr<GlContext> make_page_context(const char* canvas, std::string& why);

}  // namespace trocar
