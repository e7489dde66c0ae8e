// Stands in for the OpenGL loader: in the browser the functions of OpenGL ES 3 are there without one.
#pragma once

#include <GLES3/gl3.h>
