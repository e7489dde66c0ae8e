// Writes the window's state to a file, for tests and remote control: one JSON object, rewritten at most ten times a
// second. {"screen","phase","in_hand","file","frames","touched","note","shown","places":{"Start":[x,y],...}}: `shown`
// counts the window's frames; `places` are the centres of the items that can be pressed, in pixels from its top left.
// On the start screen and the results also "step", on the curriculum. In a practice session also "tip_mm" (of the
// selected instrument), "goal_mm" (where its task continues), "progress". Used in tests/app/window_path_test.sh and
// window_burn_test.py
#pragma once

#include <chrono>
#include <filesystem>
#include <span>

#include "app/window/screen.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {

class StateFile {
 public:
  // With an empty name, nothing is written.
  explicit StateFile(std::filesystem::path file) : file_(std::move(file)) {}
  void write(ScreenName screen, const ScreenStatus& status, std::span<const theme::ItemPosition> locations);

 private:
  std::filesystem::path file_;
  std::chrono::steady_clock::time_point last_{};
  std::uint64_t shown_ = 0;
};

}  // namespace trocar
