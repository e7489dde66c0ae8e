#include "geometry/refine.hpp"
