// Declares the commands of the program; each has its own file. Each add_* function declares the options of its command
// and registers the callback that runs it.
#pragma once

namespace CLI {
class App;
}

namespace trocar {

void add_demo_command(CLI::App& program);
void add_run_command(CLI::App& program);
void add_query_command(CLI::App& program);
void add_touch_command(CLI::App& program);
void add_meet_command(CLI::App& program);
void add_compare_command(CLI::App& program);
void add_record_command(CLI::App& program);
void add_perform_command(CLI::App& program);
void add_recording_commands(CLI::App& program);  // recover, replay
void add_pack_commands(CLI::App& program);       // pack, unpack
void add_score_command(CLI::App& program);
void add_export_command(CLI::App& program);
void add_report_command(CLI::App& program);
void add_picture_command(CLI::App& program);
void add_mesh_command(CLI::App& program);
void add_tissue_command(CLI::App& program);
void add_sweep_command(CLI::App& program);
void add_lab_command(CLI::App& program);
void add_doctor_command(CLI::App& program);

// Parses the arguments and runs the named command. Returns the exit status: 0 success, 1 the run failed, 2 wrong input
// or usage. A failure prints one sentence on stderr.
int run_program(int argument_count, const char* const* arguments);

}  // namespace trocar
