// Derives from a practice session what is to be heard.   Tested in tests/app/sound_test.cpp
#pragma once

#include "app/sound/mixer.hpp"
#include "app/window/practice/practice.hpp"

namespace trocar {

// Returns the cues of the last frame; none while time stands still. `pulse`: whether the pulse is wanted.
SoundCues sound_of(const Practice& practice, bool pulse);

}  // namespace trocar
