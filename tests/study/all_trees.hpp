// Lists the names of all trees, the trainer's and the study's, refitted and rebuilt.
#pragma once

#include <string>
#include <vector>

#include "study/trees/study_volumes.hpp"

namespace trocar {

inline std::vector<std::string> all_tree_names() {
  std::vector<std::string> names;
  for (const TreeVolume& volume : kAllTreeVolumes)
    for (const char* ending : {"-refit", ""}) names.push_back(std::string(volume.name) + ending);
  return names;
}

}  // namespace trocar
