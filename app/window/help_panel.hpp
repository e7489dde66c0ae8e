// The table of keys, over everything.
#pragma once

namespace trocar {

// False: it wants to be closed.
bool draw_help();

}  // namespace trocar
