// What an instrument's tip touches: its parts (two jaws, a hook, two blades, a ball) as convex pieces, posed as the
// instrument is, against an organ's faces. The faces to look at come from the backend, asked about the capsule that
// holds the open tip in the same call as about the shafts; each is then settled exactly. The pieces are asked about
// where the frame ends; the way there is the shaft's. Units: metres, world frame.
// Checked against all faces in tests/app/tip_touch_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/device/joints.hpp"
#include "app/scene/scene.hpp"
#include "app/view/tool_shape.hpp"
#include "cpu_collision/solids/piece_faces.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// How the movable parts of a tip stand.
struct TipStance {
  ToolPose pose;
  double roll_deg = 0.0, grip = 1.0;
};

class TipTouch {
 public:
  // Load-time work: a tenth of a second or so.
  TipTouch(InstrumentKind kind, double radius, const JointLimits& limits);

  // The capsule that holds every part.
  ToolVolume around(const TipStance& stance) const;
  // Those of `candidates`, touches of that capsule, that share a point with a part; by face, each once. Borrowed until
  // the next call; allocates only to grow.
  std::span<const FaceId> touched(const TipStance& stance, const MeshView& mesh, std::span<const Touch> candidates);

  std::size_t pieces() const;
  double bulge() const;  // m, the most that a piece stands off its part

 private:
  struct Part {
    ToolPart shape;
    std::unique_ptr<solids::ConvexPieces> pieces;
    solids::PieceFaces faces;
  };

  JointLimits limits_;
  double length_ = 0.0;  // m, of the capsule's axis: from the tip to the last hinge
  double reach_ = 0.0;   // m, of the parts around it, opened as wide as they go
  std::vector<Part> parts_;
  std::vector<FaceId> candidates_, touched_;
};

}  // namespace trocar
