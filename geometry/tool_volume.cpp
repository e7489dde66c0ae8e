#include "geometry/tool_volume.hpp"
