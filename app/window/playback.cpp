#include "app/window/playback.hpp"

#include <algorithm>
#include <iterator>

namespace trocar {
namespace {

constexpr double kSpeeds[] = {0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0};

}  // namespace

double Playback::speed() const { return kSpeeds[speed_]; }

std::size_t Playback::frame_at(double time) const {
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  return after == times_.begin() ? 0 : static_cast<std::size_t>(after - times_.begin()) - 1;
}

void Playback::advance(double elapsed) {
  if (!playing_) return;
  time_ = std::min(time_ + elapsed * speed(), times_.back());
  frame_ = frame_at(time_);
  if (frame_ + 1 == times_.size()) playing_ = false;
}

void Playback::toggle() {
  if (!playing_ && frame_ + 1 == times_.size()) seek(0);
  playing_ = !playing_;
}

void Playback::step(int frames) {
  playing_ = false;
  const auto last = static_cast<std::ptrdiff_t>(times_.size()) - 1;
  seek(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(frame_) + frames, 0, last)));
}

void Playback::seek(std::size_t frame) {
  frame_ = std::min(frame, times_.size() - 1);
  time_ = times_[frame_];
}

void Playback::show(double time) {
  playing_ = false;
  seek(frame_at(time));
}

void Playback::faster(int steps) {
  const auto last = static_cast<int>(std::size(kSpeeds)) - 1;
  speed_ = static_cast<std::size_t>(std::clamp(static_cast<int>(speed_) + steps, 0, last));
}

double Playback::share() const { return duration() > 0.0 ? time() / duration() : 0.0; }

std::size_t Playback::frame_at_share(double share) const {
  return frame_at(times_.front() + std::clamp(share, 0.0, 1.0) * duration());
}

std::vector<TimeMark> force_marks(std::span<const float> force, const MarkParams& params) {
  std::vector<TimeMark> marks;
  std::size_t highest = force.size();
  bool touching = false;
  for (std::size_t frame = 0; frame <= force.size(); ++frame) {
    const float now = frame < force.size() ? force[frame] : 0.f;
    if (now > params.peak && (highest == force.size() || now > force[highest])) highest = frame;
    if (now <= params.peak && highest < force.size()) {
      marks.push_back({highest, MarkKind::ForcePeak});
      highest = force.size();
    }
    if (now > params.touch && !touching) marks.push_back({frame, MarkKind::Touch});
    touching = now > params.touch;
  }
  std::ranges::stable_sort(marks, {}, &TimeMark::frame);
  return marks;
}

std::vector<float> profile_of(std::span<const float> values, std::size_t bins) {
  std::vector<float> profile(bins, 0.f);
  for (std::size_t k = 0; k < values.size(); ++k) {
    float& bin = profile[k * bins / values.size()];
    bin = std::max(bin, values[k]);
  }
  return profile;
}

}  // namespace trocar
