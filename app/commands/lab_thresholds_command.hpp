// trocar lab thresholds: thresholds of a task from the attempts of experts.   Tested in
// tests/app/lab_thresholds_test.cpp
#pragma once

#include <functional>

#include "app/lab/lab_database.hpp"

namespace CLI {
class App;
}

namespace trocar {

// `open`: opens the station's database.
void add_lab_thresholds_command(CLI::App& lab, std::function<LabDatabase()> open,
                                std::function<void(const LabDatabase&)> finish);

}  // namespace trocar
