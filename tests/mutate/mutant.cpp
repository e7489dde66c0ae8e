// Holds the state of mutant.hpp in every program of a mutation run. TROCAR_MUTANT=17 activates mutant 17;
// TROCAR_MUTANT=trace appends the mutants that each test reached to the file TROCAR_MUTANT_TRACE.
// The driver defines the number of mutants as TROCAR_MUTANTS.
#include "mutant.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

unsigned char trocar_mutant_flag[TROCAR_MUTANTS];

namespace {

unsigned char reached[TROCAR_MUTANTS];  // [mutant]
int active = -1;
bool tracing = false;

void write_trace(const char* test, double seconds) {
  std::string line = std::string(test) + '\t' + std::to_string(seconds) + '\t';
  for (int mutant = 0; mutant < TROCAR_MUTANTS; ++mutant) {
    if (reached[mutant]) line += std::to_string(mutant) + ' ';
  }
  line += '\n';
  const int file = open(std::getenv("TROCAR_MUTANT_TRACE"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || write(file, line.data(), line.size()) < 0) std::abort();
  close(file);
  std::memset(reached, 0, sizeof reached);
  std::memset(trocar_mutant_flag, 1, sizeof trocar_mutant_flag);
}

// Reads the environment before main. Mutants that a program reached outside of tests (also a program started by a
// test) are written when it ends, under the name of the running test.
struct Start {
  Start() {
    const char* chosen = std::getenv("TROCAR_MUTANT");
    if (!chosen) return;
    if (std::strcmp(chosen, "trace") == 0) {
      tracing = true;
      std::memset(trocar_mutant_flag, 1, sizeof trocar_mutant_flag);
      return;
    }
    active = std::atoi(chosen);
    if (active >= 0 && active < TROCAR_MUTANTS) trocar_mutant_flag[active] = 1;
  }
  ~Start() {
    const char* test = std::getenv("TROCAR_MUTANT_CASE");
    if (tracing) write_trace(test ? test : "*", 0.0);
  }
} start;

}  // namespace

bool trocar_mutant_hit(int mutant) noexcept {
  if (!tracing) return mutant == active;
  reached[mutant] = 1;
  trocar_mutant_flag[mutant] = 0;
  return false;
}

void trocar_mutant_test_ends(const char* test, double seconds) { write_trace(test, seconds); }
