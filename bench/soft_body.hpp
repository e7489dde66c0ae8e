// Defines the soft bodies that the bench times, ours and Bullet's, on one lattice: nodes, masses and springs are the
// same, without contacts. A pass is one call of a method. Its time is divided by the number of springs and by the
// number of iterations, which are substeps for us and sweeps over the links for Bullet. Units: metres, kilograms,
// seconds; the names of times contain their units.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/compare/compare.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar::bench {

class SoftBody {
 public:
  virtual ~SoftBody() = default;
  virtual void pass() = 0;
};

struct SoftBodyWay {
  std::string name, how;
  int iterations = 1;  // per pass
  std::unique_ptr<SoftBody> body;
};

// Ours: step() of a frame and of a millisecond, the elastic forces, and the springs only.
std::vector<SoftBodyWay> own_soft_bodies(const TissueModel& model);
// Bullet's: sweeps over the links in several orders, whole steps with one and ten sweeps. Empty if Bullet was not
// found when the bench was configured.
std::vector<SoftBodyWay> bullet_soft_bodies(const TissueModel& model);

// Returns the start position of a node for timed passes: displaced from rest by about a hundredth of the spacing.
glm::vec3 shaken(const TissueModel& model, std::uint32_t node);

// Mean sag of the lowest nodes of a column at rest under gravity, at 60 frames per second.
struct Sag {
  std::string name;
  int iterations;  // per frame
  double metres;
};
TissueModel hanging_column();
double column_sag_in_theory(const TissueModel& column);  // m
std::vector<Sag> own_sags(const TissueModel& column, std::span<const int> iterations);
std::vector<Sag> bullet_sags(const TissueModel& column, std::span<const int> iterations);

constexpr double kFrame = 1.0 / 60.0;  // s
constexpr int kSettlingFrames = 600;   // 1

// Returns the mean drop of the lowest nodes, m. `height`: [node] m.
double mean_drop(const TissueModel& column, std::span<const float> height);

}  // namespace trocar::bench
