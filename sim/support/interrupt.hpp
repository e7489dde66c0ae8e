// Turns Ctrl-C into a flag: long work calls interrupted() between frames and ends cleanly.
#pragma once

namespace trocar {

// After this call the first SIGINT or SIGTERM only sets a flag; a second one ends the program as usual.
void catch_interrupts();
bool interrupted();

}  // namespace trocar
