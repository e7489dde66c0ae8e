# Sets the compiler's options for the browser: exceptions, vector instructions, and the parts of C++20 that Emscripten's
# library lacks.
add_compile_options(-fwasm-exceptions -msimd128 -msse2 -include ${PROJECT_SOURCE_DIR}/web/std20.hpp)
add_link_options(-fwasm-exceptions)
include(TrocarHeaders)
trocar_header_library(trocar_fast_float fast_float)
link_libraries(trocar_fast_float)
