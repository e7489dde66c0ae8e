// Finds the faces that an instrument's tip touches. Its parts (two jaws, a hook, two blades, a ball) are convex pieces
// in the pose of the instrument. The backend finds candidate faces with a capsule that contains the open tip, in the
// same call as the shafts; each candidate is then tested exactly. The pieces are tested in the pose at the end of the
// frame; the sweep during the frame is covered by the shaft. Units: metres, world frame.
// Checked against all faces in tests/sim/tip_touch_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cpu_collision/solids/piece_faces.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "sim/device/joints.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// Pose of a tip and its movable parts.
struct TipStance {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;
};

class TipTouch {
 public:
  // Decomposes the tip. This is work for load time: about 0.1 s.
  TipTouch(InstrumentKind kind, double radius, const JointLimits& limits);

  // Returns the capsule that contains every part.
  ToolVolume around(const TipStance& stance) const;
  // Returns the faces of `candidates` (touches of that capsule) that share a point with a part, sorted, each once.
  // The span is valid until the next call; the function allocates only when the buffer must grow.
  std::span<const FaceId> touched(const TipStance& stance, const MeshView& mesh, std::span<const Touch> candidates);

  std::size_t pieces() const;
  double deviation() const;  // m, largest one-sided Hausdorff distance from a piece to its part

 private:
  struct Part {
    ToolPart shape;
    std::unique_ptr<solids::ConvexPieces> pieces;
    solids::PieceFaces faces;
  };

  JointLimits limits_;
  double length_ = 0.0;  // m, of the capsule's axis: from the tip to the last hinge
  double reach_ = 0.0;   // m, the capsule's radius: contains the fully open parts
  std::vector<Part> parts_;
  std::vector<FaceId> candidates_, touched_;
};

}  // namespace trocar
