// Gives a frame of a recording as a task sees it. The values are bit-identical to those of SessionObserver during the
// recording.
// Tested in tests/sim/task/observer_test.cpp
#pragma once

#include <vector>

#include "sim/hdf5/recording.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// Returns the initial surfaces of a recording at rest, and names. `surfaces` owns what the stage borrows.
// `scene`: the recorded scene, for the parameters of the jaws.
TaskStage stage_of(const Recording& recording, const Scene& scene, std::vector<OrganSurface>& surfaces);

class RecordingObserver {
 public:
  // The recording must outlive this object. `lens`: of the recorded scene.
  RecordingObserver(const Recording& recording, const Lens& lens, std::vector<SurfaceMark> marks);

  // Returns the observation of a frame, valid until the next call. Any order is allowed; forward is fastest.
  const Observation& observe(std::size_t frame);

 private:
  SeenFibres fibres_in(std::size_t frame);
  SeenBleeding bleeding_in(std::size_t frame);

  const Recording* recording_;
  Lens lens_;
  std::vector<SurfaceMark> marks_;
  std::vector<RecordedOrganFrames> frames_;  // [organ]
  std::vector<glm::vec3> locations_;         // [mark] m
  MarkWatch watch_;
  std::size_t next_ = 0;  // the frame after the last one
  std::vector<SeenTool> tools_;
  std::vector<SeenOrgan> organs_;
  ClipsNow clips_;
  std::vector<BleedSource> sources_;
  RecordedFibres fibres_;
  std::vector<std::uint8_t> intact_;               // [fibre]
  std::vector<FibreEnds> fibre_ends_;              // [fibre]
  std::vector<std::span<const glm::vec3>> nodes_;  // [organ]
  Observation seen_;
};

}  // namespace trocar
