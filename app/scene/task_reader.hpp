// The [task] of a scene file.   Keys: docs/file-formats.md
// Tested in tests/app/task_reader_test.cpp
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/scene/scene.hpp"
#include "app/scene/toml_table.hpp"

namespace trocar {

// As the file names them; the order is that of TaskKind.
const std::vector<std::string>& task_kind_names();
std::string_view name_of(TaskKind kind);

// Nothing when the file has no [task]. Organs, instruments and scope are those of the same file. Error: InputError
// naming file, line and key: a key that is missing, misspelt or outside its limits, an organ or an instrument that the
// scene does not have or that cannot do it, a zone that is no simple polygon, too few places.
std::optional<TaskScene> read_task(TomlTable& root, const std::vector<OrganScene>& organs,
                                   const std::vector<InstrumentScene>& instruments);

}  // namespace trocar
