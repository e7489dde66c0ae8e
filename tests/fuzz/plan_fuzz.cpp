// Feeds files to the reader of sweep plans. Every case of an accepted plan has a command line; reading the plan again
// gives the same cases.
#include <algorithm>

#include "app/sweep/plan.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  const std::filesystem::path file = as_file({data, size}, ".toml");
  Plan plan;
  if (!accepted([&] { plan = load_plan(file); })) return 0;
  require(plan.cases > 0 && plan.cases <= kMostCases, "an accepted plan has no cases, or too many");
  std::uint64_t sum = 0;
  for (const CaseGroup& group : plan.groups) sum += group.count;
  require(sum == plan.cases, "the groups do not add up to the plan");
  const std::uint64_t step = std::max<std::uint64_t>(1, plan.cases / 50);
  for (std::uint64_t number = 0; number < plan.cases; number += step)
    require(!case_of(plan, number).commands.empty(), "a case without a command");
  Plan again;
  require(accepted([&] { again = load_plan(file); }), "a plan that was accepted is refused");
  require(again.cases == plan.cases && checksum_of(again) == checksum_of(plan), "the second reading differs");
  return 0;
}
