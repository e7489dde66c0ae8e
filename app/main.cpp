// Starts the trocar program.
#include "app/commands/commands.hpp"
#include "sim/support/task.hpp"

int main(int argument_count, char** arguments) {
  return trocar::end_with_tasks(trocar::run_program(argument_count, arguments));
}
