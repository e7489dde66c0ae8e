// Lets abandoned work of a test program end before its static objects do, as main() does for the program. Work that is
// still running then ends with the process.
#include <gtest/gtest.h>

#include "sim/support/task.hpp"

namespace trocar {
namespace {

class TasksEnd : public ::testing::Environment {
 public:
  void TearDown() override { end_with_tasks(::testing::UnitTest::GetInstance()->Passed() ? 0 : 1); }
};

[[maybe_unused]] const ::testing::Environment* const tasks_end = ::testing::AddGlobalTestEnvironment(new TasksEnd);

}  // namespace
}  // namespace trocar
