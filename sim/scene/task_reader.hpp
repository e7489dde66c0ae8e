// Reads the [task] table of a scene file. Keys: docs/file-formats.md
// Tested in tests/sim/task_reader_test.cpp
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/scene/scene.hpp"
#include "sim/scene/toml_table.hpp"

namespace trocar {

// The names in the file, in the order of TaskKind.
const std::vector<std::string>& task_kind_names();
std::string_view name_of(TaskKind kind);

// Returns nothing when the file has no [task]. `organs` and `instruments` are those of the same file. Error: InputError
// with file, line and key: a key that is missing, misspelt or outside its limits; an organ or an instrument that the
// scene does not have; an instrument of the wrong kind; a zone that is not a simple polygon; too few targets, or
// targets on different organs for a line.
std::optional<TaskScene> read_task(TomlTable& root, const std::vector<OrganScene>& organs,
                                   const std::vector<InstrumentScene>& instruments);

}  // namespace trocar
