// What Dear ImGui begins and must end, as objects: a scope ends what it began when it is left, also by an exception.
// Nothing else in app/window calls ImGui's End..., Pop... or Unindent.   Tested in tests/app/window_fault_test.cpp;
// tests/house holds the rule
#pragma once

#include <glm/glm.hpp>
#include <string>

namespace trocar::theme {

class [[nodiscard]] Scope {
 public:
  using End = void (*)(float);

  // `open`: whether its content is shown. `end` may be null: nothing is to be ended.
  Scope(bool open, End end, float value = 0.f) : end_(end), value_(value), open_(open) {}
  ~Scope() {
    if (end_) end_(value_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  explicit operator bool() const { return open_; }

 private:
  End end_;
  float value_;
  bool open_;
};

// Part of a panel that scrolls by itself. `size`: pixels; 0: the remaining space. `flags`: ImGuiWindowFlags.
Scope child(const char* name, const glm::vec2& size, int flags = 0, bool border = false);
// Only while these are true, they are shown. Flags are those of ImGui's functions.
Scope table(const char* name, int columns, int flags, float height = 0.f);
Scope combo(const char* name, const std::string& shown, int flags = 0);
Scope tab_bar(const char* name);
Scope tab(const char* name, int flags = 0);
// These are always shown.
Scope group();
Scope indent(float pixels);
Scope with_id(std::size_t id);
Scope with_cell_padding(const glm::vec2& pixels);

}  // namespace trocar::theme
