// Calls rebuild, change_faces, update, touched, submit and collect in any order: a query object must answer like a new
// object with the same mesh. Units: metres.   Used by tests/gpu_collision/compute_test.cpp and
// tests/app/compare_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "geometry/touch_query.hpp"

namespace trocar::checks {

using QueryMaker = std::function<std::unique_ptr<TouchQuery>()>;

struct SequencePlan {
  std::uint32_t first_seed = 1;
  int sequences = 12;
  int calls = 30;  // of rebuild, change_faces, update and touched, in each sequence
};

// `make`: the object under test; `make_fresh`: a new object. Every third query is made in two steps, some of them are
// never collected. Prints the seeds.
void check_random_sequences(const std::string& what, const QueryMaker& make, const QueryMaker& make_fresh,
                            const SequencePlan& plan);

}  // namespace trocar::checks
