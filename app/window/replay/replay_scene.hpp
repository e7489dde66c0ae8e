// Reads frames of a recording on demand, in the form that the view draws: organs with the surface of that frame,
// instruments, touched faces, strands of connective tissue, clips, the scope. Charring is not recorded, so it is not
// shown. Units: metres, newtons.   Tested in tests/app/window_replay_test.cpp
#pragma once

#include <vector>

#include "app/view/view.hpp"
#include "sim/review/recorded_fibres.hpp"
#include "sim/review/recorded_film.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

class ReplayScene {
 public:
  // Throws InputError when the file is not a recording.
  explicit ReplayScene(const std::filesystem::path& file);

  const Recording& recording() const { return recording_; }
  // Returns the recorded scene; empty when this version cannot parse it.
  const Scene& scene() const { return scene_; }

  // Loads a frame. Any order is allowed; loading the current frame again costs nothing.
  void load(std::size_t frame);
  std::size_t frame() const { return frame_; }
  std::span<const DrawnOrgan> organs() const { return organs_; }
  std::span<const DrawnTool> tools() const { return tools_; }
  const DrawnBonds& bonds() const { return bonds_; }
  const ScopePose& scope() const { return pose_; }
  const Lens& lens() const { return scene_.scope.lens; }
  std::size_t touched(std::size_t organ, std::size_t tool) const;  // faces
  float pressure(std::size_t organ, std::size_t tool) const;       // Pa, the highest

 private:
  struct ShownOrgan {
    RecordedOrganFrames frames;
    std::vector<Touch> touches;  // faces as slots
    std::vector<FaceId> tip_faces;
    std::uint32_t topology = 0;
    bool reshaped = true;
  };

  void show_organ(std::size_t organ);
  void show_tools();
  void show_bonds();
  void show_film();

  Recording recording_;
  Scene scene_;
  std::vector<ShownOrgan> shown_;
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  RecordedFibres fibres_;
  std::vector<std::span<const glm::vec3>> nodes_;  // [organ]
  DrawnBonds bonds_;
  ClipsNow clips_;
  RecordedFilm film_;
  std::vector<FilmedOrgan> filmed_;  // [organ]
  ScopePose pose_;
  std::size_t frame_ = static_cast<std::size_t>(-1);
};

// Returns the magnitude of the force on an instrument in every frame, N.
std::vector<float> force_of(const Recording& recording, std::size_t tool);

}  // namespace trocar
