// Defines the interface of every backend, which answers: which faces of this organ does each tool touch? There is one
// object per organ and backend; a call handles several tools with one read-back. A frame with several organs submits
// the query of each before it collects the first answer, so that a GPU backend waits once. Our code does not allocate
// in a frame once the buffers have their size. Units: metres; times in milliseconds of wall clock (gpu_ms: of the GPU's
// own clock).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "geometry/touch_fault.hpp"

namespace trocar {

// The times of the stages of the last update() + touched(). A stage that a backend does not have stays 0.
struct StageTimes {
  double update_ms = 0.0;     // apply new positions: upload, refit or rebuild
  double submit_ms = 0.0;     // commands handed to the GPU
  double gpu_ms = 0.0;        // GPU time by timer query (overlaps submit and read-back; not part of the sum)
  double read_back_ms = 0.0;  // waiting for and reading the answer
  double search_ms = 0.0;     // traversal or scan on the CPU
  double refine_ms = 0.0;     // exact tests of the candidate faces in double, sorting

  double query_ms() const { return submit_ms + read_back_ms + search_ms + refine_ms; }
  double total_ms() const { return update_ms + query_ms(); }
};

// Counts for the cost formula T = Nv Cv + Np Cp + Nu Cu of the last update() + touched().
struct CostCounters {
  std::uint64_t volume_tests = 0;   // Nv
  std::uint64_t face_tests = 0;     // Np
  std::uint64_t updated_nodes = 0;  // Nu
};

class TouchQuery {
 public:
  virtual ~TouchQuery() = default;

  virtual std::string_view name() const = 0;  // as on the command line: "scan", "obb-refit", "compute", ...
  // Call for new faces (after a load or a cut). Copies the data that it needs; may allocate.
  virtual void rebuild(const MeshView& mesh) = 0;
  // Call instead of rebuild() when few faces have changed since the last rebuild() or change_faces(). `removed`: their
  // numbers before the change, ascending, each once. Remaining faces keep their corners and their order and are
  // numbered without gaps; new faces follow them; new vertices follow the old ones. The answers are those after
  // rebuild(mesh). A backend that overrides this function does work in proportion to the change, except for a few
  // passes over flat arrays.
  virtual void change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
    static_cast<void>(removed);
    rebuild(mesh);
  }
  // Call for new vertex positions; faces and number of vertices must be the same. The span may become invalid after the
  // call.
  virtual void update(std::span<const glm::vec3> positions) = 0;
  // Returns the touched faces of every tool. For TouchSet::Exact the volumes must be capsule covers (for a static tool:
  // of a step without motion). Never throws; check fault() before using the answer.
  virtual TouchList touched(std::span<const ToolVolume> tools, TouchSet set) = 0;
  // The same in two steps: submit() starts the query, collect() waits for its answer. `tools` must stay valid and
  // unchanged until collect(). Any other call in between drops the answer. A backend on the CPU does all its work in
  // submit().
  virtual void submit(std::span<const ToolVolume> tools, TouchSet set) { answer_ = touched(tools, set); }
  virtual TouchList collect() { return answer_; }
  // Returns None while the backend works. After a fault this answer and all later ones are invalid and empty: calls
  // return at once, and only a new object answers again. CPU backends never have a fault.
  virtual TouchFault fault() const { return TouchFault::None; }

  // Returns, for a renderer, the name of an OpenGL buffer with the current positions as tightly packed vec3 floats; 0
  // when there is none.
  virtual unsigned position_buffer() const { return 0; }
  virtual const StageTimes& times() const = 0;
  virtual CostCounters counters() const { return {}; }
  virtual std::size_t memory_bytes() const = 0;  // held by this object, host and device

 private:
  TouchList answer_;  // of the last submit(), where the backend has none of its own
};

}  // namespace trocar
