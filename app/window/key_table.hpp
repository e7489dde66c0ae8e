// Every key and every motion of the mouse, in words: what F1 shows and docs/user-guide.md prints.
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
