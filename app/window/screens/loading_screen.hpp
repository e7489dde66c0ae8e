// Shows that a session is being loaded, in a thread of its own, until it is ready or the user goes back.
// Tested in tests/app/practice_test.cpp; driven in tests/app/window_path_test.sh
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "app/window/practice/practice.hpp"
#include "app/window/screen.hpp"
#include "sim/support/task.hpp"

namespace trocar {

class LoadingScreen final : public Screen {
 public:
  // Begins at once. `context`: as of Practice; it must outlive the session.
  LoadingScreen(const Scene& scene, const PracticePlan& plan, GlContext* context);

  void step(const WindowInput& input, double elapsed, bool listens) override;
  Ask panels() override;
  ScreenStatus status() const override;

  // Returns the session after Ask::Loaded, once. Call in the window's thread. Throws what prevented it.
  std::unique_ptr<Practice> take();

 private:
  struct Loaded {
    std::unique_ptr<Practice> practice;
    std::exception_ptr fault;  // null: none
  };

  std::string title_, backend_;
  double elapsed_ = 0.0;  // s  since the start
  bool back_ = false;
  std::optional<TaskOutcome<Loaded>> loaded_;
  Task<Loaded> loading_;
};

}  // namespace trocar
