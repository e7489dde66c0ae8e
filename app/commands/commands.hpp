// The commands of the program. Each add_* function adds a command, its options and what it does to the table of the
// command line (app/command_line/command_line.hpp).
#pragma once

namespace trocar {

class Command;

void add_demo_command(Command& program);
void add_run_command(Command& program);
void add_perform_command(Command& program);
void add_record_command(Command& program);
void add_recording_commands(Command& program);  // replay, score, report
void add_export_command(Command& program);
void add_compare_command(Command& program);
void add_query_command(Command& program);
void add_mesh_command(Command& program);
void add_tissue_command(Command& program);
void add_lab_command(Command& program);
void add_doctor_command(Command& program);
void add_file_command(Command& program);

// Parses the arguments and runs the named command. Returns the exit status: 0 success, 1 the run failed, 2 wrong input
// or usage. A failure prints one sentence on stderr.
int run_program(int argument_count, const char* const* arguments);

}  // namespace trocar
