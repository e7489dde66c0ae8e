// Defines the quality levels of the picture and selects one automatically. High: full shading and resolution. Medium:
// the film of fluid is smooth, no smoke, at most 480 lines. Low: at most 320 lines.
// Tested in tests/app/quality_test.cpp
#pragma once

#include <optional>

namespace trocar {

enum class Quality { Low, Medium, High };

struct QualityParams {
  double slowest_ms = 33.0;  // ms  longer drawing lowers the level
  double room_ms = 14.0;     // ms  shorter drawing raises the level; below slowest_ms by more than a level costs
  int down_after = 20;       // 1   slow pictures minus others before the level is lowered
  int up_after = 240;        // 1   consecutive quick pictures before it is raised; doubled after each failed step up
};

// Call drawn() after each picture; quality() is the level of the next.
class QualityKeeper {
 public:
  explicit QualityKeeper(const QualityParams& params = {}) : params_(params), up_after_(params.up_after) {}

  // Call after each picture. picture_ms: time of the completed drawing, without the wait for the display.
  void drawn(double picture_ms);
  Quality quality() const { return fixed_.value_or(quality_); }
  // Sets the user's choice; empty: automatic from the current level. The function may be called before every picture.
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
