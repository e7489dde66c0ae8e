#include "deform/tissue.hpp"
