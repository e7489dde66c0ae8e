// Several organs stepped side by side, with the contacts between them, on one thread or more: the same bits whatever
// their number, since within a substep organs share nothing and the contacts between them are solved by one thread.
// Units: seconds.   Tested in tests/deform/organs_step_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "deform/organ_contact.hpp"
#include "deform/tissue.hpp"

namespace trocar {

struct SteppedOrgan {
  const TissueModel* model;
  TissueState* state;
  TissueLoads loads;
};

class OrganStepper {
 public:
  explicit OrganStepper(int threads);  // >= 1
  ~OrganStepper();

  // `contacts` as found for this step. Times that are not finite, or not above 0, do nothing. Allocates only while it
  // has not yet seen so many organs.
  void step(std::span<const SteppedOrgan> organs, OrganContacts& contacts, float dt);

 private:
  struct Team;
  std::unique_ptr<Team> team_;
  std::vector<const TissueModel*> models_;
  std::vector<TissueState*> states_;
};

}  // namespace trocar
