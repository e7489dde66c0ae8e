// A frame of a recording as a task sees it: bit-identical to what SessionObserver gave during the recording.
// Tested in tests/app/observer_test.cpp
#pragma once

#include <vector>

#include "app/compare/recording_source.hpp"
#include "app/record/recording.hpp"
#include "app/scene/scene.hpp"
#include "app/task/observation.hpp"
#include "app/task/task_run.hpp"

namespace trocar {

// The initial surfaces of a recording at rest, and names. `surfaces` owns what the stage borrows.
TaskStage stage_of(const Recording& recording, std::vector<OrganSurface>& surfaces);

class RecordingObserver {
 public:
  // The recording must outlive it. `scope`: of its scene, for the lens, and for the pose where the recording lacks it.
  RecordingObserver(const Recording& recording, const ScopeScene& scope, std::vector<SurfaceMark> marks);

  // In any order; forward is fastest. Valid until the next call.
  const Observation& observe(std::size_t frame);

 private:
  const Recording* recording_;
  ScopeScene scope_;
  std::vector<SurfaceMark> marks_;
  std::vector<RecordedOrganFrames> frames_;  // [organ]
  std::vector<glm::vec3> places_;            // [mark] m
  std::vector<SeenTool> tools_;
  std::vector<SeenOrgan> organs_;
  Observation seen_;
};

}  // namespace trocar
