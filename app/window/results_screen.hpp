// After an attempt: what it came to, and where to go from here.
#pragma once

#include "app/window/screen.hpp"

namespace trocar {

class ResultsScreen final : public Screen {
 public:
  // The recording of the attempt, closed.
  explicit ResultsScreen(std::filesystem::path recording);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  void picture(const glm::ivec2& size) override;
  Ask panels() override;
  ScreenStatus status() const override;

  const std::filesystem::path& recording() const { return recording_; }

 private:
  std::filesystem::path recording_;
  bool escape_ = false;
};

}  // namespace trocar
