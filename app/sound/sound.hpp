// Plays the sound of a session through OpenAL, in a thread of its own. Without a sound device it does nothing and says
// nothing.   Units: 1.   Tested in tests/app/sound_test.cpp
#pragma once

#include <memory>

#include "app/sound/mixer.hpp"

namespace trocar {

// Keeps the sound library from writing to the terminal about devices that are busy. Changes the environment, so call it
// before the program has threads.
void quiet_sound();

class Sound {
 public:
  // Opens the machine's sound device. `wanted` false: opens nothing.
  explicit Sound(bool wanted);
  ~Sound();
  Sound(const Sound&) = delete;
  Sound& operator=(const Sound&) = delete;

  // Returns whether there is a device.
  bool on() const { return content_ != nullptr; }
  // From now on these cues are heard. `volume`: 0 .. 1; 0: silence.
  void hear(const SoundCues& cues, double volume);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace trocar
