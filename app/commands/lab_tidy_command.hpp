// trocar lab tidy: which recordings stay at this station.   Tested in tests/app/lab_retention_test.cpp
#pragma once

#include <functional>

#include "app/lab/lab_database.hpp"

namespace CLI {
class App;
}

namespace trocar {

// `open`: opens the station's database.
void add_lab_tidy_command(CLI::App& lab, std::function<LabDatabase()> open);

}  // namespace trocar
