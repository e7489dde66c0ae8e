// Checks the answers of a session's backend: other backends answer the same queries, and a sample of faces is compared
// with the double reference in every frame. A check never changes the session.
// Units: milliseconds of wall clock.   Tested in tests/sim/session_test.cpp and reference_sample_test.cpp
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/session/backend_fault.hpp"
#include "sim/session/backend_maker.hpp"
#include "sim/session/cross_check.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/reference_sample.hpp"
#include "sim/session/stages.hpp"

namespace trocar {

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

// A frame's answers: the organs after their query, and the queried volumes.
struct AnsweredFrame {
  std::size_t frame = 0;
  std::span<const Organ> organs;
  std::span<const AskedVolumes> asked;  // [organ]
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
