#include "cpu_collision/queries.hpp"
