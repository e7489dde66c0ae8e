// Lists every key and mouse action in words. F1 shows this table, and docs/user-guide.md prints it.
// Compared with the guide in tests/app/window_state_test.cpp
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/scene/scene.hpp"

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
// Returns what moves and works one instrument; without a kind, the scope. A short form of key_table().
std::vector<KeyLine> keys_of(std::optional<InstrumentKind> kind);

}  // namespace trocar
