#include "app/window/task_scan.hpp"

#include <chrono>
#include <optional>

#include "geometry/error.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

struct TaskScan::Content {
  const Recording* recording;
  std::vector<OrganSurface> surfaces;
  std::optional<TaskRun> run;
  std::optional<RecordingObserver> observer;
  MarkTrack track;
  DrawnMarks drawn;
  std::size_t next = 0;

  void step() {
    run->step(observer->observe(next++));
    drawn.targets.clear(), drawn.paths.clear(), drawn.zones.clear();
    run->draw(drawn);
    track.add(drawn);
  }
};

TaskScan::TaskScan(const Recording& recording, const Scene& scene) : content_(std::make_unique<Content>()) {
  content_->recording = &recording;
  if (!scene.task) return;
  try {
    content_->run.emplace(*scene.task, stage_of(recording, scene, content_->surfaces));
    content_->observer.emplace(recording, scene.scope, content_->run->marks());
  } catch (const InputError&) {
    content_->run.reset();
  }
}
TaskScan::~TaskScan() = default;

bool TaskScan::work(double ms) {
  Content& c = *content_;
  if (!c.run) return true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(ms);
  while (c.next < c.recording->frame_count() && !c.run->feed().finished && std::chrono::steady_clock::now() < end)
    c.step();
  return c.next == c.recording->frame_count() || c.run->feed().finished;
}

std::vector<TaskEvent> TaskScan::events() const {
  return content_->run ? content_->run->result().events : std::vector<TaskEvent>{};
}

const MarkTrack& TaskScan::marks() const { return content_->track; }

}  // namespace trocar
