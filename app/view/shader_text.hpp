// Gives the text of the view's shaders, which the build embeds in the program.
#pragma once

#include <string_view>

namespace trocar {

// Returns the text of app/view/shaders/FILE; asserts that the file exists.
std::string_view view_shader(std::string_view file);

}  // namespace trocar
