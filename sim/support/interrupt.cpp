#include "sim/support/interrupt.hpp"

#include <csignal>

namespace trocar {
namespace {

volatile std::sig_atomic_t flag = 0;

void note(int signal_number) {
  flag = 1;
  std::signal(signal_number, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

bool interrupted() { return flag != 0; }

}  // namespace trocar
