// The touch query on OpenGL: `compute`, `occlusion`, `select`, and the context that they need. Target
// Trocar::gpu_collision.   Guide: docs/library.md.
#pragma once

#include "gpu_collision/queries.hpp"
