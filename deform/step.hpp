// Steps tissue through time. The parts of a time step are declared here, so that several organs can be stepped
// together: begin_step, then `advance` for each substep, with the coupling between organs solved after each substep,
// then end_step. Each substep computes elastic forces, restores cells that are pressed flat, moves the nodes, and then
// the points that tools push and jaws hold. Units: metres, kilograms, seconds, newtons. Tested in
// tests/deform/tissue_test.cpp, contact_test.cpp and organ_contact_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/join/bonds.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/team.hpp"

namespace trocar {

struct Substep {
  int number, count;  // 1 .. count
  float dt;           // s
};

// Returns substep_count(model, dt), or more while tissue is crushed or stretched stiff. Call it between begin_step and
// the first `advance`.
int substep_count(const TissueModel& model, const SteppedTissue& state, float dt);

void begin_step(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads);
void advance(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep);
void end_step(const TissueModel& model, SteppedTissue& state, const Substep& last, float dt);

// Sets the positions of the next elastic forces, x + time v.
void look_ahead(float time, TissueScratch& s);

// Restores cells that are pressed flat or inside out: springs depend on lengths only, so a mirror image is also an
// equilibrium for them. Each corner of a cell spans a volume with its three edges. When the smallest falls below half
// its rest volume, the cell is drawn to its rotated rest shape. Sound tissue under small strain is never affected.
// Source: Mueller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching", SIGGRAPH 2005;
// rotation: Mueller, Bender, Chentanez, Macklin, "A robust method to extract the rotational part", MIG 2016.

constexpr float kSqueezed = 0.5f;  // fraction of its rest volume below which a corner is restored
constexpr float kWatched = 0.75f;  // fraction below which it may fall under kSqueezed before the step ends

// Computes flatness[index of a cell in TissueModel::bulk]: the smallest of the cell's eight corner volumes, relative to
// that at rest; negative: inside out. `x` needs space for kLanes nodes more than the model has.
void measure_flatness(const TissueModel& model, const NodeColumns& x, std::span<float> flatness);

// Adds the forces that draw one cell towards its rest shape and damp the relative motion of its corners. They sum to
// zero. `x` and `v`: positions and velocities of the nodes, m and m/s.
void add_unfolding_forces(const TissueModel& model, const CrushedCell& cell, const NodeColumns& x, const NodeColumns& v,
                          NodeColumns& force);

// Returns the rotation nearest to `f`, never a reflection; an arbitrary rotation where f has none.
glm::mat3 nearest_rotation(const glm::mat3& f);

// The surface of a duct or sheet stays this deep inside a tool, so that the next query still detects the touch and the
// tissue does not bounce against an instrument at rest. At most a tenth of the tool's radius. Other organs have dents.
constexpr double kContactSlack = 1e-4;  // m

// Steps several organs together, with the contacts and bonds between them, on one or more threads. The bits do not
// depend on the number of threads: within a substep organs share no data, and one thread solves what lies between them.

struct SteppedOrgan {
  const TissueModel* model;
  SteppedTissue* state;
  TissueLoads loads;
};

class OrganStepper {
 public:
  explicit OrganStepper(int threads);  // >= 1

  // Steps the organs. `contacts`: found for this step. `bonds`: of these organs; those that are stretched too far
  // break. Does nothing when dt is not finite or not above 0. Allocates only when there are more organs than ever
  // before.
  void step(std::span<const SteppedOrgan> organs, OrganContacts& contacts, Bonds& bonds, float dt);

  // The threads, for other work between steps.
  Team& team() { return team_; }

 private:
  void begin(std::span<const SteppedOrgan> organs, const Bonds& bonds, float dt);
  // Finds joined_ and alone_. Broken fibres count too, so that the substeps do not change when one breaks.
  void sort_organs(const OrganContacts& contacts, const Bonds& bonds);
  void count_substeps(const Bonds& bonds, float dt);
  void advance_alone(float dt);
  void advance_joined(const Substep& common, OrganContacts& contacts, Bonds& bonds);
  void end(float dt);
  // Of a common substep; `i`: organ. Several threads run the second to fourth for different organs.
  void step_sheets(const Substep& common, OrganContacts& contacts, const Bonds& bonds);
  void move_tube(std::size_t i, const Substep& common, OrganContacts& contacts, Bonds& bonds);
  void pull_solid(std::size_t i, const Substep& common, Bonds& bonds);
  void advance_solid(std::size_t i, const Substep& common);
  Substep part_of(const Substep& common, std::size_t i, int number) const;

  Team team_;
  std::span<const SteppedOrgan> organs_;  // of the step
  std::vector<const TissueModel*> models_;
  std::vector<SteppedTissue*> states_;
  std::vector<char> is_joined_;              // [organ] 1: contacts or bonds join it with another organ or the wall
  std::vector<std::size_t> joined_, alone_;  // organs with is_joined_; the others
  std::vector<std::size_t> tubes_, solids_, sheets_;  // of those that are joined
  int common_ = 1;                                    // 1  common substeps
  std::vector<int> own_;                              // [organ] 1  substeps of its own
  std::vector<int> divisions_;                        // [organ] 1  parts of a common substep
  std::vector<float> scale_;                          // [organ] 1  the same, of forces in the first part
};

}  // namespace trocar
