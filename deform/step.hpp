// Steps several organs together, with the contacts and bonds between them, on one or more threads. The bits do not
// depend on the number of threads: within a substep organs share no data, and one thread solves what lies between them.
// Units: seconds.   Tested in tests/deform/organs_step_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/join/bonds.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

struct SteppedOrgan {
  const TissueModel* model;
  SteppedTissue* state;
  TissueLoads loads;
};

class OrganStepper {
 public:
  explicit OrganStepper(int threads);  // >= 1
  ~OrganStepper();

  // Steps the organs. `contacts`: found for this step. `bonds`: of these organs; those that are stretched too far
  // break. Does nothing when dt is not finite or not above 0. Allocates only when there are more organs than ever
  // before.
  void step(std::span<const SteppedOrgan> organs, OrganContacts& contacts, Bonds& bonds, float dt);

 private:
  struct Team;
  // Finds joined_ and alone_. Broken fibres count too, so that the substeps do not change when one breaks.
  void sort_organs(const OrganContacts& contacts, const Bonds& bonds);

  std::unique_ptr<Team> team_;
  std::vector<const TissueModel*> models_;
  std::vector<SteppedTissue*> states_;
  std::vector<char> is_joined_;              // [organ] 1: contacts or bonds join it with another organ or the wall
  std::vector<std::size_t> joined_, alone_;  // organs with is_joined_; the others
};

}  // namespace trocar
