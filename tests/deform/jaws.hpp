// Makes jaws for tests: two plates of 3.6 x 2 x 16 mm with rounded edges, hinged at z = 16 mm, as sim/device makes them
// from the drawn shape. Units: metres, radians.
#pragma once

#include "deform/contact/grasp.hpp"

namespace trocar::test {

constexpr double kWidest = 1.0471975511965976;  // rad, 60 degrees

inline PartShape jaw(double side) {
  PartShape shape;
  shape.radius = 2.5e-4;
  shape.hinge_z = 0.016;
  shape.side = side;
  for (const double x : {-1.55e-3, 1.55e-3})
    for (const double y : {3e-4, 1.8e-3})
      for (const double z : {2.5e-4, 1.575e-2}) shape.corners.emplace_back(x, side * y, z);
  return shape;
}

// An instrument with two jaws, moved pose by pose.
struct Grasper {
  PartShape upper = jaw(1.0), lower = jaw(-1.0);
  Jaws jaws{&upper, &lower, kWidest};
  InstrumentPose pose;
  InstrumentMotion motion = {};

  void move(const InstrumentPose& to) {
    motion = instrument_motion(pose, to);
    pose = to;
  }
  ToolStep step(const PartShape& part) const {
    ToolStep made = motion.shaft;
    made.part = {&part, &motion};
    return made;
  }
};

}  // namespace trocar::test
