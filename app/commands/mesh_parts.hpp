// trocar mesh parts: lists the parts of a glTF file and writes each as a mesh file.
#pragma once

#include <CLI/CLI.hpp>

namespace trocar {

void add_mesh_parts_command(CLI::App& mesh);

}  // namespace trocar
