#include "app/view/drawn.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

Quality moved(Quality quality, int by) {
  return static_cast<Quality>(std::clamp(static_cast<int>(quality) + by, 0, static_cast<int>(Quality::High)));
}

// Longest wait before a step up, as a multiple of the first.
constexpr int kLongestWait = 16;

}  // namespace

void QualityKeeper::drawn(double picture_ms, bool late) {
  if (fixed_) return;
  slow_ = late || picture_ms > params_.slowest_ms ? slow_ + 1 : std::max(slow_ - 1, 0);
  quick_ = !late && picture_ms < params_.room_ms ? quick_ + 1 : 0;
  if (since_up_ >= 0 && ++since_up_ > up_after_) since_up_ = -1;
  if (slow_ >= params_.down_after && quality_ != Quality::Low) {
    // The last step up was too much: the next one waits longer.
    if (since_up_ >= 0) up_after_ = std::min(2 * up_after_, kLongestWait * params_.up_after);
    quality_ = moved(quality_, -1);
    slow_ = quick_ = 0;
    since_up_ = -1;
  } else if (quick_ >= up_after_ && quality_ != Quality::High) {
    quality_ = moved(quality_, 1);
    slow_ = quick_ = since_up_ = 0;
  }
}

void QualityKeeper::fix(std::optional<Quality> quality) {
  if (quality == fixed_) return;
  if (fixed_ && !quality) quality_ = *fixed_;
  fixed_ = quality;
  slow_ = quick_ = 0;
  since_up_ = -1;
}

float sheet_opacity(double thickness) { return static_cast<float>(1.0 - std::exp2(-thickness / 6e-4)); }

}  // namespace trocar
