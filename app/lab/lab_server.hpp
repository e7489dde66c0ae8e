// The read-only web pages of the lab: trocar lab serve. Runs until the program is interrupted.
// Source of the library: cpp-httplib, github.com/yhirose/cpp-httplib   Tested in tests/app/lab_server_test.py
#pragma once

#include <functional>
#include <string>

#include "app/lab/lab_station.hpp"

namespace trocar {

struct LabServerParams {
  int port = 8042;      // 1..65535; 0: any free one
  bool anyone = false;  // false: this machine only
};

// Serves the pages; `ready` is called with the port when the first page can be fetched. Throws InputError when the port
// is taken.
void serve_lab(const LabStation& station, const LabServerParams& params, const std::function<void(int)>& ready);

}  // namespace trocar
