// Reports to the trace where each test ends. A mutation run links this file into every GoogleTest program. Mutants
// reached between the tests of a suite (in its set-up) are recorded under "Suite.*".
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

void trocar_mutant_test_ends(const char* test, double seconds);

namespace {

class Listener final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    trocar_mutant_test_ends((std::string(test.test_suite_name()) + ".*").c_str(), 0.0);
    setenv("TROCAR_MUTANT_CASE", name(test).c_str(), 1);
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const bool counts = test.result()->Passed();
    trocar_mutant_test_ends((counts ? name(test) : "!" + name(test)).c_str(),
                            1e-3 * double(test.result()->elapsed_time()));
    unsetenv("TROCAR_MUTANT_CASE");
  }
  static std::string name(const testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
  }
};

// Reads the environment itself, because the order of initialisation of the files is unknown.
const bool appended = [] {
  const char* chosen = std::getenv("TROCAR_MUTANT");
  if (chosen && std::strcmp(chosen, "trace") == 0) testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}();

}  // namespace
