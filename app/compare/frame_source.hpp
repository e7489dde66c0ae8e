// Supplies the input frames of a comparison of backends: organs whose vertices move in every frame, and the volumes of
// the tools. Units: metres.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/device/trajectory.hpp"

namespace trocar {

// How a tool's motion is turned into a query.
struct QueryKind {
  ToolMode mode = ToolMode::Swept;
  Cover cover = Cover::Capsule;
  TouchSet set = TouchSet::Exact;
};

// The kinds of query that differ, for tests of agreement.
inline constexpr std::array<QueryKind, 5> kQueryKinds{{{ToolMode::Static, Cover::Capsule, TouchSet::Volume},
                                                       {ToolMode::Static, Cover::Capsule, TouchSet::Exact},
                                                       {ToolMode::Swept, Cover::Paper, TouchSet::Volume},
                                                       {ToolMode::Swept, Cover::Capsule, TouchSet::Volume},
                                                       {ToolMode::Swept, Cover::Capsule, TouchSet::Exact}}};
// Those of the simulator.
inline constexpr std::span<const QueryKind> kSweptCapsules = std::span(kQueryKinds).last(2);

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual std::size_t frame_count() const = 0;
  virtual std::size_t organ_count() const = 0;
  virtual MeshView organ(std::size_t organ) const = 0;  // rest positions, and the faces of the loaded frame
  // Returns true when the loaded frame has other faces or more vertices than the previously loaded one: rebuild the
  // queries.
  virtual bool reshaped(std::size_t) const { return false; }
  virtual void load(std::size_t frame) = 0;
  virtual std::span<const glm::vec3> positions(std::size_t organ) const = 0;  // of the loaded frame, [vertex] m
  virtual std::span<const ToolVolume> tools() const = 0;                      // of the loaded frame, [tool]
  virtual QueryKind kind() const = 0;
  virtual double radius() const = 0;  // m, of the first tool
};

// A smooth deformation of the whole organ: every vertex moves in every frame, by at most `amplitude`.
struct Wobble {
  double amplitude = 0.0;   // m, >= 0
  double wavelength = 1.0;  // m, > 0
  double period = 37.0;     // frames; a prime number, so that shape and tool pose rarely repeat together
};
void apply_wobble(const Wobble& wobble, std::size_t frame, std::span<const glm::vec3> rest,
                  std::span<glm::vec3> positions);

// Makes a source with one organ and one tool that follows a trajectory. `wobble_fraction`: amplitude as a fraction of
// the diagonal of the organ's bounding box.
std::unique_ptr<FrameSource> make_mesh_source(TriangleMesh mesh, Trajectory trajectory, double radius, QueryKind kind,
                                              double wobble_fraction);

// The trocar is outside the sphere around the organ's bounding box; the tip starts at a random vertex. Of the steps,
// one half are short steps in a random direction; one eighth each are pauses, motions along the shaft, jumps to a
// random vertex, and jumps to within 10 mm of a random vertex. `organ` must have at least one vertex.
Trajectory random_motion(std::uint64_t seed, const MeshView& organ, std::size_t frames);

}  // namespace trocar
