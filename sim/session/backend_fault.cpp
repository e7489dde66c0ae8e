#include "sim/session/backend_fault.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace trocar {

std::string sentence_of(const BackendFault& fault) {
  return fmt::format("frame {}: backend {}: {}; {}", fault.frame, fault.backend, sentence_of(fault.fault),
                     fault.check ? "it checks no further frame" : "scan answers from this frame on");
}

void FaultTeller::tell(const std::vector<BackendFault>& faults) {
  if (told_ >= faults.size()) return;
  // A progress bar may occupy the line: erase it first.
  const char* fresh_line = isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" : "";
  for (; told_ < faults.size(); ++told_) fmt::print(stderr, "{}{}\n", fresh_line, sentence_of(faults[told_]));
}

}  // namespace trocar
