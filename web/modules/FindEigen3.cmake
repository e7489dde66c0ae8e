# Finds Eigen3 for the browser.
include(TrocarHeaders)
trocar_header_library(Eigen3::Eigen eigen3/Eigen)
# Eigen takes the emulated instructions of Emscripten for those of a processor.
set_property(TARGET Eigen3::Eigen PROPERTY INTERFACE_COMPILE_DEFINITIONS EIGEN_DONT_VECTORIZE)
set(Eigen3_FOUND TRUE)
