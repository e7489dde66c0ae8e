#include "app/sound/mixer.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

constexpr double kTurn = 6.283185307179586;
constexpr double kHeartbeat = 0.09;  // s
constexpr double kInaudible = 1e-4;

void advance(double& phase, double frequency, double dt) { phase = std::fmod(phase + frequency * dt, 1.0); }

// Rises and falls smoothly, 0 .. 1, over a share 0 .. 1 of a note.
double bell(double share) {
  if (share <= 0.0 || share >= 1.0) return 0.0;
  const double rise = std::min(share / 0.08, 1.0), fall = std::min((1.0 - share) / 0.5, 1.0);
  return rise * fall * fall;
}

}  // namespace

void Mixer::hear(const SoundCues& cues) {
  if (cues.errors > cues_.errors) error_.at = 0.0;
  if (cues.reached > cues_.reached) reached_.at = 0.0;
  if (cues.pulse && !cues_.pulse) since_beat_ = 60.0 / params_.heart_rate - 0.4;
  cues_ = cues;
}

bool Mixer::silent() const {
  return !cues_.cut && !cues_.coagulate && !cues_.pulse && std::max(cut_level_, coagulate_level_) < kInaudible &&
         error_.at > error_.length && reached_.at > reached_.length && since_beat_ > kHeartbeat;
}

// A fundamental with two overtones.
double Mixer::hum(double frequency, bool on, double& level, double& phase) const {
  level += ((on ? 1.0 : 0.0) - level) * std::min(dt_ / (0.3 * params_.soft), 1.0);
  if (!on && level < kInaudible) {
    level = 0.0;
    return 0.0;
  }
  advance(phase, frequency, dt_);
  const double angle = kTurn * phase;
  return params_.hum * level * (0.75 * std::sin(angle) + 0.2 * std::sin(2.0 * angle) + 0.05 * std::sin(3.0 * angle));
}

double Mixer::play(Tone& tone) const {
  if (tone.at > tone.length) return 0.0;
  const double half = 0.5 * tone.length, at = tone.at;
  tone.at += dt_;
  const double since = at < half ? at : at - half;
  return params_.tone * bell(since / half) * std::sin(kTurn * (at < half ? tone.first : tone.second) * since);
}

double Mixer::beat_of_heart() {
  since_beat_ += dt_;
  if (cues_.pulse && since_beat_ >= 60.0 / params_.heart_rate) since_beat_ = 0.0;
  return params_.pulse * bell(since_beat_ / kHeartbeat) * std::sin(kTurn * params_.heart * since_beat_);
}

void Mixer::fill(std::span<std::int16_t> samples, double volume) {
  for (std::int16_t& sample : samples) {
    advance(beat_phase_, params_.beat, dt_);
    const double beaten = 0.6 + 0.4 * std::sin(kTurn * beat_phase_);
    const double sum = hum(params_.cut, cues_.cut, cut_level_, cut_phase_) +
                       beaten * hum(params_.coagulate, cues_.coagulate, coagulate_level_, coagulate_phase_) +
                       play(error_) + play(reached_) + (since_beat_ < 1e8 || cues_.pulse ? beat_of_heart() : 0.0);
    sample = static_cast<std::int16_t>(std::lround(std::clamp(volume * sum, -1.0, 1.0) * 32767.0));
  }
}

}  // namespace trocar
