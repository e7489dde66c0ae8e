// Checks the answers of a session's backend: other backends answer the same queries, and a sample of faces is compared
// with the double reference in every frame. A check never changes the session.
// Units: milliseconds of wall clock.   Tested in tests/sim/session/session_test.cpp and reference_sample_test.cpp
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deform/contact/contact.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/tick_clock.hpp"

namespace trocar {

// Describes a touch query that failed during a session: which backend, in which frame, why, and what the session does
// next. Tested in tests/sim/session/backend_fault_test.cpp
struct BackendFault {
  std::size_t frame = 0;  // the first frame that the backend did not answer
  std::string backend;
  TouchFault fault = TouchFault::None;
  bool check = false;  // true: the backend only checked answers, and stops. false: scan answers from this frame on
};

// Returns a sentence such as "frame 120: backend compute: the graphics driver lost its OpenGL context; scan answers
// from this frame on"
std::string sentence_of(const BackendFault& fault);

// Prints each fault once on standard error. Keep one object for each session.
class FaultTeller {
 public:
  void tell(const std::vector<BackendFault>& faults);

 private:
  std::size_t told_ = 0;
};

// Compares the answers of two backends about the same frame: which faces only one of them found, and whether these
// faces are borderline (docs/method.md).   Tested through sessions in tests/sim/session/session_test.cpp
struct CrossCheckResult {
  std::uint32_t in_both = 0, borderline = 0, disagreements = 0;  // faces
};

// Keeps its scratch buffers: after the first frames it allocates only in frames with differences.
class CrossCheck {
 public:
  // Compares two answers. `mesh`: positions of this frame and all faces. The double reference decides each face that is
  // in only one list.
  CrossCheckResult compare(const MeshView& mesh, const ToolVolume& tool, TouchSet set, std::span<const Touch> first,
                           std::span<const Touch> second);

 private:
  std::vector<glm::uvec3> differing_;
};

// Compares a seeded sample of faces with the double reference (cpu_collision/reference.hpp) in every frame. This
// complements the check of one backend by another: backends share the refinement, and with it a fault of the
// refinement. At least one face a frame is compared, more within a time budget. Every other face is a culled one
// (reported untouched): at the border of the touched region, or nearest to the tool where it touches nothing. The
// record of a touched face is checked, too.
// Units: metres; times in milliseconds.   Tested in tests/sim/session/reference_sample_test.cpp
struct ReferenceSampleParams {
  std::uint64_t seed = 1999;
  double budget_ms = 0.04;        // ms  per frame, for the faces after the first
  std::uint32_t most_faces = 32;  // 1   per frame
};

struct SampleCount {
  std::uint64_t faces = 0;          // compared with the reference
  std::uint64_t culled = 0;         // of these, reported untouched
  std::uint64_t of = 0;             // number of all answers: faces times tools, tips included
  std::uint64_t borderline = 0;     // differ from the reference within the band of docs/method.md
  std::uint64_t disagreements = 0;  // differ beyond it, or have an impossible record
};

// One answer of a backend: one organ, one tool, set `Exact`.
struct SampledAnswer {
  MeshView mesh;
  const FacesAround& around;
  const ToolVolume& tool;
  std::span<const Touch> touches;  // sorted by face
};

// Samples faces and compares them. No function throws; only the constructor allocates.
class ReferenceSample {
 public:
  // Prepares the sample. `answers`: number of organs times number of tools.
  explicit ReferenceSample(std::size_t answers = 0, const ReferenceSampleParams& params = {});

  // Starts a frame. `of`: as in SampleCount, of this frame. `more`: there is time for more than one face.
  void open_frame(std::uint64_t of, bool more);
  bool wants_more() const;
  // Returns a random number below `count` (> 0), for the choice of an answer.
  std::uint32_t pick(std::uint32_t count);
  // Compares one face of the answer with the reference, if the organ has any face.
  void hold(std::size_t answer, const SampledAnswer& asked);

  const SampleCount& now() const { return now_; }      // in this frame
  const SampleCount& total() const { return total_; }  // this frame included

 private:
  using Clock = std::chrono::steady_clock;

  std::uint32_t nearest_vertex(std::size_t answer, const SampledAnswer& asked);
  std::optional<std::uint32_t> culled_at(std::uint32_t vertex, const SampledAnswer& asked);
  std::optional<std::uint32_t> culled_face(std::size_t answer, const SampledAnswer& asked);
  void compare_face(std::uint32_t face, const SampledAnswer& asked);

  ReferenceSampleParams params_;
  std::uint64_t state_;
  std::vector<std::uint32_t> near_;  // [answer] the vertex nearest to the tool in the last search
  SampleCount now_, total_;
  Clock::time_point start_;
  bool more_ = true, culled_next_ = false;
};

// Returns whether the record of a touched face is consistent: the point lies on the face and within the radius of the
// shaft at its time; at an earlier time the face is farther away; the depth leads to the surface of the end pose.
// `earlier`: fraction of the time at which the earlier distance is tested, [0, 1).
bool sound_record(const ToolStep& step, const Triangle& face, const Touch& touch, double earlier);

// Another backend that answers the same query every `every`-th frame.
struct CheckPlan {
  std::string backend;
  std::size_t every = 1;
};

struct BackendTimes {
  std::string name;
  std::size_t every = 1;
  std::vector<double> update_ms, query_ms, gpu_ms;  // [frame with a candidate pair], sum over the organs
  std::uint64_t touched = 0, borderline = 0, disagreements = 0;
  std::size_t runs = 0;      // frames with a candidate pair
  std::size_t limit = 4096;  // samples that are kept; afterwards the oldest are overwritten

  void start_again();  // forgets the samples and the counts
  void reserve(std::size_t frames);
  void keep(const StageTimes& sum);
};
void sum_up(const TouchQuery& query, StageTimes& sum);

std::vector<BackendTimes> times_of(const std::vector<CheckPlan>& plan);  // [checker] without samples

// A frame's answers: the organs after their query, the queried volumes, and what each backend answered about them.
struct AnsweredFrame {
  std::size_t frame = 0;
  std::span<const Organ> organs;
  std::span<const AskedVolumes> asked;  // [organ] with the answer
  FrameVolumes volumes;
};

class AnswerCheck {
 public:
  // Throws InputError when a backend of the plan is not available.
  AnswerCheck(std::span<const Organ> organs, std::size_t parts, const std::vector<CheckPlan>& plan,
              BackendMaker& backends);

  // Checks the answers of a frame. The sample always runs, with more faces if `on`; the backends run only if
  // `run_backends`. `times`: [checker]. Appends the faults of checkers to `faults`.
  void check(const AnsweredFrame& answered, bool on, bool run_backends, std::span<BackendTimes> times,
             std::vector<BackendFault>& faults, StageMs& stage_ms);
  // Call when all of the organ is new.
  void rebuild(std::size_t organ, const MeshView& mesh);
  // Call when the organ's last frame has changed its faces.
  void change_faces(std::size_t k, const Organ& organ);

  const ReferenceSample& sample() const { return sample_; }
  std::uint32_t disagreements() const { return disagreements_; }  // in the last frame

 private:
  struct Checker {
    std::vector<std::unique_ptr<TouchQuery>> queries;  // [organ]
    bool failed = false;                               // it has stopped checking
  };

  void sample_answers(const AnsweredFrame& answered, bool more);
  void sample_face(const AnsweredFrame& answered, std::size_t organ, std::size_t volume);
  void run(const AnsweredFrame& answered, Checker& checker, BackendTimes& times, std::vector<BackendFault>& faults);
  void check_organ(const AnsweredFrame& answered, std::size_t organ, TouchQuery& query, BackendTimes& times,
                   StageTimes& sum);

  std::vector<Checker> checkers_;
  CrossCheck cross_check_;
  ReferenceSample sample_;
  std::uint32_t disagreements_ = 0;
};

}  // namespace trocar
