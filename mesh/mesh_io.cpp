#include "mesh/mesh_io.hpp"
