// Lists every key and mouse action in words. F1 shows this table, and docs/user-guide.md prints it.
// Compared with the guide in tests/app/window_state_test.cpp
#pragma once

#include <span>

namespace trocar {

struct KeyLine {
  const char* keys;
  const char* what;
};

struct KeyGroup {
  const char* title;
  std::span<const KeyLine> lines;
};

std::span<const KeyGroup> key_table();

}  // namespace trocar
