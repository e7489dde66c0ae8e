// Lists the keys of a scene as a page of Markdown: one more visitor of the declarations in scene_keys.hpp, for the
// reference pages that `./run docs` makes (docs/reference.cpp). Lengths are in millimetres, as in the file.
// Tested in tests/house/scene_keys_test.cpp
#pragma once

#include <string>
#include <vector>

namespace trocar::reference {

struct KeyRow {
  std::string key, standard, limits, meaning;
  bool operator==(const KeyRow&) const = default;
};
struct KeyBlock {
  std::string table;  // "`[organ.tissue]`"
  std::vector<KeyRow> rows;
};

// Returns the tables of a scene with their keys; tables with the same keys share one block.
std::vector<KeyBlock> scene_key_blocks();

// Returns one section for each table of a scene, with a row for each key.
std::string scene_key_page();

}  // namespace trocar::reference
