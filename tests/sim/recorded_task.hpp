// Lets a scripted trainee perform the task of a scene, records it, and scores the recording.
#pragma once

#include <cstdio>

#include "sim/hdf5/recorder.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recording_observer.hpp"
#include "tests/sim/performed_task.hpp"

namespace trocar::test {

// Performs the task and writes a recording.
inline TaskResult perform_recorded(const Scene& scene, const HandStyle& style, std::uint32_t seed,
                                   const std::filesystem::path& file) {
  CpuBackends backends;
  PerformedSession attempt(scene, style, seed, backends, "scan");
  SessionRecorder recorder(recording_file(file), scene, attempt.session(), "none");
  while (!attempt.task().feed().finished) {
    attempt.step();
    recorder.append(attempt.session(), attempt.time());
  }
  recorder.close();
  return attempt.task().result();
}

// Computes the result of the task from the recording alone.
inline TaskResult score_again(const Scene& scene, const std::filesystem::path& file) {
  const Recording recording(file);
  std::vector<OrganSurface> surfaces;
  TaskRun again(*scene.task, stage_of(recording, scene, surfaces));
  RecordingObserver observer(recording, scene.scope, again.marks());
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) again.step(observer.observe(frame));
  return again.result();
}

// Performs and records the task, prints the result, and expects the recording to give the same one.
inline TaskResult perform_and_score_again(const Scene& scene, const HandStyle& style, std::uint32_t seed,
                                          const TemporaryFolder& folder) {
  const std::filesystem::path file = folder.path() / "s.h5";
  const TaskResult live = perform_recorded(scene, style, seed, file), again = score_again(scene, file);
  EXPECT_EQ(again.score, live.score);
  EXPECT_EQ(again.events.size(), live.events.size());
  for (std::size_t k = 0; k < std::min(again.events.size(), live.events.size()); ++k)
    EXPECT_EQ(again.events[k].text, live.events[k].text);
  std::printf("score %.1f, %zu events, the last at %.1f s: %s\n", live.score, live.events.size(),
              live.events.empty() ? 0.0 : live.events.back().time,
              live.events.empty() ? "" : live.events.back().text.c_str());
  return live;
}

}  // namespace trocar::test
