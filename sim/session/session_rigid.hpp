// The rigid bodies of a session (deform/rigid): made from the organs with [organ.rigid], stepped with the instruments
// after the tissue, and carried over to the nodes of these organs. Rigid bodies and soft organs do not touch each
// other. Jaws that a body keeps open stay so in the next frame's touch query: the query knows the body before the step.
// Units: metres, newtons, radians.   Tested in tests/sim/session/session_rigid_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deform/rigid/rigid.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/organ.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {

// The surface of a body stays this deep inside an instrument that touches it, so that the touch query finds the touch.
constexpr double kRigidSlack = 5e-5;  // m
// Friction of what is not a jaw: smooth steel. An assumption.
constexpr double kShaftFriction = 0.3;

class SessionRigid {
 public:
  SessionRigid() = default;
  // Throws InputError naming the organ.
  SessionRigid(const Scene& scene, std::span<const Organ> organs);

  bool empty() const { return organs_.empty(); }
  // Steps the bodies, moves the nodes of their organs, and adds the forces on the instruments.
  void step(Instruments& instruments, std::span<Organ> organs, double dt);

  const RigidModel& model() const { return model_; }
  const RigidState& state() const { return state_; }
  std::span<const std::uint32_t> organs() const { return organs_; }  // [body]
  std::span<const glm::dvec3> pegs() const { return pegs_; }         // m, feet of the pegs of all boards
  double peg_height() const { return peg_height_; }                  // m, of the highest
  // Returns the organ that both jaws of an instrument press in the last step; kNoBody: none.
  std::uint32_t held_by(std::size_t tool) const;

  // The state that the next frame depends on. check_read() throws InputError where a scene cannot have it;
  // follow_read() finds the nodes and how far jaws are kept open.
  void save(ByteWriter& out) const;
  void read(ByteReader& in);
  void check_read() const;
  void follow_read(std::span<Organ> organs) const { carry(organs); }
  void keep_open(Instruments& instruments) const;

 private:
  void carry(std::span<Organ> organs) const;

  std::vector<std::uint32_t> organs_;              // [body] its organ
  std::vector<std::vector<glm::dvec3>> own_node_;  // [body][node] m, in the body's frame
  std::vector<glm::dvec3> pegs_;
  double peg_height_ = 0.0;
  RigidModel model_;
  RigidState state_;
  std::vector<double> commanded_;  // [tool] rad, opening of the handle after the last frame; empty before the first
  // Storage of a step.
  RigidScratch scratch_;
  std::vector<RigidToolStep> tools_;
};

}  // namespace trocar
