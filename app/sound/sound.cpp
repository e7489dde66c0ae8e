#include "app/sound/sound.hpp"

#include <AL/al.h>
#include <AL/alc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "sim/support/task.hpp"

namespace trocar {
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
