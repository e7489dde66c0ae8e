// Reads the `source` of an OpenIGTLink device in a scene: the address of its server, and the tool that it follows.
// Tested in tests/sim/igtl_test.cpp
#pragma once

#include <string>

namespace trocar {

struct IgtlSource {
  std::string host = "localhost";
  int port = 18944;
  std::string tool;  // device name of TRANSFORM and SENSOR, tool name in TDATA; empty: any pose, and no SENSOR
};

// Parses "HOST:PORT/TOOL"; each part has a default: "", "/Probe", "tracker:18945", ... Throws InputError for a port
// that is not a number from 1 to 65535.
IgtlSource parse_igtl_source(const std::string& text);

}  // namespace trocar
