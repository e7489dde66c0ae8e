// How much work a picture may be, and what keeps it within its time. High: full shading, every
// line. Medium: no fine grain, no smoke, at most 600 lines. Low: no grain, no shadows either, at most 400 lines. Pure.
// Tested in tests/app/quality_test.cpp
#pragma once

#include <optional>

namespace trocar {

enum class Quality { Low, Medium, High };

struct QualityParams {
  double slowest_ms = 33.0;  // ms  of a picture; longer for a while goes down
  double room_ms = 14.0;     // ms  of a picture; shorter for long goes up, < slowest_ms by more than a level costs
  int down_after = 20;       // 1   pictures in a row, on balance
  int up_after = 240;        // 1   pictures in a row; doubled each time that going up had to be taken back
};

// Feed it each picture's own time; ask it for the level of the next.
class QualityKeeper {
 public:
  explicit QualityKeeper(const QualityParams& params = {}) : params_(params), up_after_(params.up_after) {}

  // picture_ms: of drawing alone, finished; not the wait for the display.
  void drawn(double picture_ms);
  Quality quality() const { return fixed_.value_or(quality_); }
  // The user's choice; none: by itself again, from there. May be said before every picture.
  void fix(std::optional<Quality> quality);
  bool fixed() const { return fixed_.has_value(); }

 private:
  QualityParams params_;
  Quality quality_ = Quality::High;
  std::optional<Quality> fixed_;
  int slow_ = 0, quick_ = 0, since_up_ = -1;
  int up_after_;
};

}  // namespace trocar
