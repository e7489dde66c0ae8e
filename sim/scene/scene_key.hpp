// Describes one key of a scene file, as scene_keys.hpp and task_keys.hpp declare it.
// Tested in tests/house/scene_keys_test.cpp
#pragma once

namespace trocar {

enum class Need {
  Optional,  // the default when absent; written when it differs from the default
  Written,   // the default when absent; always written
  Required
};

struct SceneKey {
  const char *name, *unit, *meaning;
  Need need = Need::Optional;
  // Texts of recordings may exceed the limits: older versions had none for this key.
  bool any_when_recorded = false;
};

}  // namespace trocar
