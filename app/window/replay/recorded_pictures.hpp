// Draws frames of a recording off the screen, as the scope saw them.   Tested in tests/app/files_test.cpp
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/view/view.hpp"
#include "app/window/replay/replay_scene.hpp"

namespace trocar {

class RecordedPictures {
 public:
  // Throws InputError when the file is not a recording.
  RecordedPictures(const std::string& recording, GlContext& context, int width, int height);

  // Returns the frame nearest to a time, s; after the end the last one.
  std::size_t frame_at(double time) const;
  double time_of(std::size_t frame) const { return scene_.recording().times()[frame]; }  // s
  double end() const { return scene_.recording().times().back(); }                       // s
  // Draws a frame and returns the target that holds it until the next is drawn.
  PictureTarget& draw(std::size_t frame);

 private:
  GlContext& context_;
  ReplayScene scene_;
  std::optional<View> view_;
  int width_, height_;
  PictureTarget target_;
};

// Returns the pictures of a report's events as PNG files, 640 x 480. Throws InputError when the file is not a
// recording.
std::vector<std::string> event_pictures(const std::string& recording, std::span<const double> times,
                                        GlContext& context);

}  // namespace trocar
