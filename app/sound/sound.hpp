// The sound of a session, computed sample by sample: the hum of cutting and of coagulation, a tone for an error, a tone
// for a target, a soft pulse. No speech and no files: everything is made of sines, and played through OpenAL. Units:
// hertz, seconds, samples.   Tested in tests/app/practice_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace trocar {

// What is to be heard now.
struct SoundCues {
  bool cut = false, coagulate = false;  // diathermy that is on
  bool pulse = false;                   // a heartbeat, while a session runs
  std::size_t errors = 0, reached = 0;  // so far: each rise plays a tone; a fall begins a new session
  bool operator==(const SoundCues&) const = default;
};

// Frequencies and levels. Cutting and coagulation differ in pitch and in beat, so that they are told apart with the
// eyes on the picture, as on an electrosurgical unit.
struct SoundParams {
  double cut = 440.0;        // Hz
  double coagulate = 310.0;  // Hz
  double beat = 24.0;        // Hz  of the coagulation's loudness
  double hum = 0.16;         // 1   amplitude, of full scale
  double tone = 0.22;        // 1
  double pulse = 0.07;       // 1
  double heart_rate = 70.0;  // per minute
  double heart = 520.0;      // Hz
  double soft = 0.012;       // s   in which a hum begins and ends, so that it does not click
};

class Mixer {
 public:
  explicit Mixer(int rate, const SoundParams& params = {}) : params_(params), dt_(1.0 / rate) {}

  // The next samples follow these cues.
  void hear(const SoundCues& cues);
  // Makes the next samples. `volume`: 0 .. 1.
  void fill(std::span<std::int16_t> samples, double volume);
  // Returns whether nothing sounds any more.
  bool silent() const;

 private:
  // A tone that plays until `length`: two pitches, one after the other.
  struct Tone {
    double first, second, length;  // Hz, Hz, s
    double at = 1e9;               // s  since its start
  };
  double hum(double frequency, bool on, double& level, double& phase) const;
  double play(Tone& tone) const;
  double beat_of_heart();

  SoundParams params_;
  double dt_;
  SoundCues cues_;
  double cut_level_ = 0.0, coagulate_level_ = 0.0, cut_phase_ = 0.0, coagulate_phase_ = 0.0, beat_phase_ = 0.0;
  double since_beat_ = 1e9;  // s
  Tone error_{392.0, 262.0, 0.30}, reached_{660.0, 880.0, 0.22};
};

// Keeps the sound library from writing to the terminal about devices that are busy. Changes the environment, so call it
// before the program has threads.
void quiet_sound();

// Plays the sound in a thread of its own. Without a sound device it does nothing and says nothing.
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
