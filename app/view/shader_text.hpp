// The text of the view's shaders, embedded at build time.
#pragma once

#include <string_view>

namespace trocar {

// Text of app/view/shaders/FILE; asserts that the file exists.
std::string_view view_shader(std::string_view file);

}  // namespace trocar
