// Starts the trocar program.
#include "app/commands/commands.hpp"

int main(int argument_count, char** arguments) { return trocar::run_program(argument_count, arguments); }
