#include "app/sound/sound.hpp"

#include <AL/al.h>
#include <AL/alc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "geometry/units.hpp"
#include "sim/support/task.hpp"

namespace trocar {
namespace {

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
  const double angle = kFullTurn * phase;
  return params_.hum * level * (0.75 * std::sin(angle) + 0.2 * std::sin(2.0 * angle) + 0.05 * std::sin(3.0 * angle));
}

double Mixer::play(Tone& tone) const {
  if (tone.at > tone.length) return 0.0;
  const double half = 0.5 * tone.length, at = tone.at;
  tone.at += dt_;
  const double since = at < half ? at : at - half;
  return params_.tone * bell(since / half) * std::sin(kFullTurn * (at < half ? tone.first : tone.second) * since);
}

double Mixer::beat_of_heart() {
  since_beat_ += dt_;
  if (cues_.pulse && since_beat_ >= 60.0 / params_.heart_rate) since_beat_ = 0.0;
  return params_.pulse * bell(since_beat_ / kHeartbeat) * std::sin(kFullTurn * params_.heart * since_beat_);
}

void Mixer::fill(std::span<std::int16_t> samples, double volume) {
  for (std::int16_t& sample : samples) {
    advance(beat_phase_, params_.beat, dt_);
    const double beaten = 0.6 + 0.4 * std::sin(kFullTurn * beat_phase_);
    const double sum = hum(params_.cut, cues_.cut, cut_level_, cut_phase_) +
                       beaten * hum(params_.coagulate, cues_.coagulate, coagulate_level_, coagulate_phase_) +
                       play(error_) + play(reached_) + (since_beat_ < 1e8 || cues_.pulse ? beat_of_heart() : 0.0);
    sample = static_cast<std::int16_t>(std::lround(std::clamp(volume * sum, -1.0, 1.0) * 32767.0));
  }
}

namespace {

namespace fs = std::filesystem;

constexpr int kRate = 44100;                           // Hz
constexpr std::size_t kSamples = 512, kBuffers = 4;    // 12 ms each: together the delay of the sound
constexpr std::chrono::milliseconds kBetweenLooks{5};  // at the buffers that have been played

bool has_playback(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("pcm") && name.ends_with("p")) return true;
  }
  return false;
}

// OpenAL's drivers write many lines to the terminal of a machine without sound, so they are only asked where there may
// be a device. Who names a driver is asked for it.
bool may_have_device() {
  const auto named = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
  };
  if (named("ALSOFT_DRIVERS") || named("PULSE_SERVER")) return true;
  std::error_code error;
  if (const char* runtime = named("XDG_RUNTIME_DIR"))
    if (fs::exists(fs::path(runtime) / "pulse/native", error) || fs::exists(fs::path(runtime) / "pipewire-0", error))
      return true;
  return has_playback("/dev/snd") || fs::exists("/dev/dsp", error);
}

struct CloseDevice {
  void operator()(ALCdevice* device) const { alcCloseDevice(device); }
};
struct DestroyContext {
  void operator()(ALCcontext* context) const {
    alcMakeContextCurrent(nullptr);
    alcDestroyContext(context);
  }
};

}  // namespace

struct Sound::Content {
  std::unique_ptr<ALCdevice, CloseDevice> device;
  std::unique_ptr<ALCcontext, DestroyContext> context;
  ALuint source = 0;
  std::array<ALuint, kBuffers> buffers{}, names{};  // buffers: those that are free, 0: queued; names: all
  std::mutex mutex;                                 // of cues, volume and stop
  std::condition_variable changed;
  SoundCues cues, heard;  // heard: those that the mixer has
  double volume = 0.0;
  bool stop = false;
  Mixer mixer{kRate};
  std::thread thread;

  bool open();
  void start() {
    thread = std::thread([this] { run_guarded("The sound", [this] { run(); }); });
  }
  ~Content();
  void fill(ALuint buffer, double loud);
  void run();
  void play(std::size_t& queued, double loud);
};

bool Sound::Content::open() {
  device.reset(alcOpenDevice(nullptr));
  if (!device) return false;
  context.reset(alcCreateContext(device.get(), nullptr));
  if (!context || alcMakeContextCurrent(context.get()) == ALC_FALSE) return false;
  alGenSources(1, &source);
  alGenBuffers(static_cast<ALsizei>(kBuffers), buffers.data());
  names = buffers;
  return alGetError() == AL_NO_ERROR;
}

Sound::Content::~Content() {
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  changed.notify_all();
  if (thread.joinable()) thread.join();
  if (!context || source == 0) return;
  alSourceStop(source);
  alDeleteSources(1, &source);
  alDeleteBuffers(static_cast<ALsizei>(kBuffers), names.data());
}

void Sound::Content::fill(ALuint buffer, double loud) {
  std::array<std::int16_t, kSamples> samples{};
  mixer.fill(samples, loud);
  alBufferData(buffer, AL_FORMAT_MONO16, samples.data(), static_cast<ALsizei>(sizeof samples), kRate);
}

// Fills the buffers that have been played. `queued`: how many of them wait or play.
void Sound::Content::play(std::size_t& queued, double loud) {
  ALint played = 0;
  alGetSourcei(source, AL_BUFFERS_PROCESSED, &played);
  for (; played > 0; --played, --queued) {
    ALuint buffer = 0;
    alSourceUnqueueBuffers(source, 1, &buffer);
    *std::ranges::find(buffers, 0u) = buffer;
  }
  for (ALuint& buffer : buffers) {
    if (buffer == 0 || mixer.silent()) continue;
    fill(buffer, loud);
    alSourceQueueBuffers(source, 1, &buffer);
    buffer = 0;
    ++queued;
  }
  ALint state = 0;
  alGetSourcei(source, AL_SOURCE_STATE, &state);
  if (queued > 0 && state != AL_PLAYING) alSourcePlay(source);
}

// While nothing sounds, the thread sleeps.
void Sound::Content::run() {
  std::size_t queued = 0;
  std::unique_lock lock(mutex);
  while (!stop) {
    heard = cues;
    mixer.hear(heard);
    const double loud = volume;
    lock.unlock();
    play(queued, loud);
    lock.lock();
    if (queued == 0)
      changed.wait(lock, [this] { return stop || cues != heard; });
    else
      changed.wait_for(lock, kBetweenLooks, [this] { return stop; });
  }
}

void quiet_sound() { setenv("ALSOFT_LOGLEVEL", "0", 0); }

Sound::Sound(bool wanted) {
  if (!wanted || !may_have_device()) return;
  content_ = std::make_unique<Content>();
  if (content_->open())
    content_->start();
  else
    content_.reset();
}

Sound::~Sound() = default;

void Sound::hear(const SoundCues& cues, double volume) {
  if (!content_) return;
  {
    const std::lock_guard lock(content_->mutex);
    if (content_->cues == cues && content_->volume == volume) return;
    content_->cues = cues;
    content_->volume = volume;
  }
  content_->changed.notify_all();
}

}  // namespace trocar
