#include "app/window/replay/recorded_pictures.hpp"

#include <algorithm>

namespace trocar {

RecordedPictures::RecordedPictures(const std::string& recording, GlContext& context, int width, int height)
    : context_(context), scene_(recording), width_(width), height_(height), target_(width, height) {}

std::size_t RecordedPictures::frame_at(double time) const {
  const std::vector<double>& times = scene_.recording().times();
  const auto at = std::lower_bound(times.begin(), times.end(), time);
  return std::min(static_cast<std::size_t>(at - times.begin()), times.size() - 1);
}

PictureTarget& RecordedPictures::draw(std::size_t frame) {
  scene_.load(frame);
  if (!view_) view_.emplace(context_, scene_.organs(), drawn_backdrops(scene_.scene().backdrops));
  ViewSettings settings;
  settings.time = time_of(frame);
  target_.bind();
  view_->draw(scene_.organs(), scene_.tools(), scene_.bonds(), scene_.scope(), scene_.lens(), {}, settings, width_,
              height_);
  PictureTarget::unbind();
  return target_;
}

std::vector<std::string> event_pictures(const std::string& recording, std::span<const double> times,
                                        GlContext& context) {
  RecordedPictures pictures(recording, context, 640, 480);
  std::vector<std::string> files;
  for (const double time : times) files.push_back(pictures.draw(pictures.frame_at(time)).png());
  return files;
}

}  // namespace trocar
