// Defines the interface of every backend and its answer: which faces of this organ does each tool touch? There is one
// object per organ and backend; a call handles several tools with one read-back. A frame with several organs submits
// the query of each before it collects the first answer, so that a GPU backend waits once. Our code does not allocate
// in a frame once the buffers have their size. Units: metres, world frame; time 1 = one step; times in milliseconds of
// wall clock (gpu_ms: of the GPU's own clock). Backends: docs/architecture.md. They are compared with the reference in
// tests/cpu_collision/scan_test.cpp and tests/app/compare_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <string_view>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// One touched face. In a `Volume` answer only `face` is filled.
struct Touch {
  FaceId face{};
  glm::vec3 point{0.f};   // m     on the face, closest to the shaft's axis at `time`
  glm::vec3 normal{0.f};  // 1     unit, from point to the axis (tissue to tool); face normal if they cross at time 0
  float depth = 0.f;      // m     how far point must move along -normal to lie outside the tool's end pose, >= 0
  float time = 0.f;       // step  first instant in [0, 1] at which the face comes within the radius of the axis
};

// The query owns the data; they are valid until its next call.
struct TouchList {
  std::span<const Touch> touches;        // [touch] sorted by tool, then face
  std::span<const std::uint32_t> first;  // [tool + 1] touches of tool k are first[k] .. first[k + 1]

  std::span<const Touch> of_tool(std::size_t tool) const {  // [touch] sorted by face
    return touches.subspan(first[tool], first[tool + 1] - first[tool]);
  }
};

// The faults that end a touch query: the question was valid, but the graphics device failed. Recordings store these
// numbers, so their order must not change.   Tested in tests/gpu_collision/query_test.cpp
enum class TouchFault : std::uint8_t {
  None,
  LostContext,  // the driver was reset, or the GPU was removed
  TimedOut,     // no answer within gl::kLongestWait
  OutOfMemory,  // the driver had no memory left, or did not map a buffer
  DriverError,  // the driver refused a command
  WrongAnswer,  // the answer is impossible: it names a face or tool that does not exist, or belongs to another call
  TooLarge,     // more faces, vertices or touches than one buffer of this context holds
};
constexpr std::size_t kTouchFaults = 7;

// Returns the text after "backend NAME: "; empty for None.
constexpr std::string_view sentence_of(TouchFault fault) {
  constexpr std::array<std::string_view, kTouchFaults> kSentences{
      "",
      "the graphics driver lost its OpenGL context",
      "the graphics driver did not answer in time",
      "the graphics driver ran out of memory",
      "the graphics driver refused a command",
      "the graphics driver returned an impossible answer",
      "the organ has more faces, vertices or touches than this OpenGL context allows"};
  const auto number = static_cast<std::size_t>(fault);
  return number < kTouchFaults ? kSentences[number] : std::string_view();
}

// The times of the stages of the last update() + touched(). A stage that a backend does not have stays 0.
struct StageTimes {
  double update_ms = 0.0;     // apply new positions: upload, refit or rebuild
  double submit_ms = 0.0;     // commands handed to the GPU
  double gpu_ms = 0.0;        // GPU time by timer query (overlaps submit and read-back; not part of the sum)
  double read_back_ms = 0.0;  // waiting for and reading the answer
  double search_ms = 0.0;     // traversal or scan on the CPU
  double refine_ms = 0.0;     // exact tests of the candidate faces in double, sorting

  double query_ms() const { return submit_ms + read_back_ms + search_ms + refine_ms; }  // without the update
  double total_ms() const { return update_ms + query_ms(); }                            // with it
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
  // Call instead of rebuild() when few faces have changed since the last rebuild() or change_faces(). `removed`:
  // [removed face] their numbers before the change, ascending, each once. Remaining faces keep their corners and their
  // order and are numbered without gaps; new faces follow them; new vertices follow the old ones. The answers are those
  // after rebuild(mesh). A backend that overrides this function does work in proportion to the change, except for a few
  // passes over flat arrays.
  virtual void change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
    static_cast<void>(removed);
    rebuild(mesh);
  }
  // Call for new vertex positions, [vertex] m; faces and number of vertices must be the same. The span may become
  // invalid after the call.
  virtual void update(std::span<const glm::vec3> positions) = 0;
  // Returns the touched faces of every tool. `tools`: [tool]. For TouchSet::Exact the volumes must be capsule covers
  // (for a static tool: of a step without motion). Never throws; check fault() before using the answer.
  virtual TouchList touched(std::span<const ToolVolume> tools, TouchSet set) = 0;
  // The same in two steps: submit() starts the query, collect() waits for its answer. `tools`, [tool], must stay valid
  // and unchanged until collect(). Any other call in between drops the answer. A backend on the CPU does all its work
  // in submit().
  virtual void submit(std::span<const ToolVolume> tools, TouchSet set) { answer_ = touched(tools, set); }
  virtual TouchList collect() { return answer_; }  // valid until the next call
  // Returns None while the backend works. After a fault this answer and all later ones are invalid and empty: calls
  // return at once, and only a new object answers again. CPU backends never have a fault.
  virtual TouchFault fault() const { return TouchFault::None; }

  // Returns, for a renderer, the name of an OpenGL buffer with the current positions as tightly packed vec3 floats; 0
  // when there is none.
  virtual unsigned position_buffer() const { return 0; }
  virtual const StageTimes& times() const = 0;          // ms
  virtual CostCounters counters() const { return {}; }  // zeros: this backend does not count
  virtual std::size_t memory_bytes() const = 0;         // held by this object, host and device

 private:
  TouchList answer_;  // of the last submit(), where the backend has none of its own
};

}  // namespace trocar
