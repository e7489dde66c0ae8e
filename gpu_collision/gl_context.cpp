#include "gpu_collision/gl_context.hpp"
