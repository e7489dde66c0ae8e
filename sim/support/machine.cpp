#include "sim/support/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

namespace trocar {

std::string machine_description() {
  std::ifstream cpu_info("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  while (std::getline(cpu_info, line)) {
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  }
  return fmt::format("{}, {} hardware threads", model, std::thread::hardware_concurrency());
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

namespace {

std::string moment(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = {};
  if (gmtime_r(&now, &parts)) std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace

std::string today() { return moment("%Y-%m-%d"); }

std::string this_second() { return moment("%Y-%m-%d %H:%M:%S"); }

std::string utc_text(const std::string& date) { return date.empty() ? date : date + " UTC"; }

}  // namespace trocar
