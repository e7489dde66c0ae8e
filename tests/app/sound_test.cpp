// Tests the sound: spectra of the mixer's samples, and of what OpenAL Soft writes to a wave file, by Goertzel's
// algorithm (Goertzel, "An algorithm for the evaluation of finite trigonometric series", Amer. Math. Monthly 65, 1958).
#include "app/sound/sound.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

constexpr int kRate = 44100;  // Hz
const SoundParams kParams;

// Returns the amplitude of a frequency, 1: full scale.
double amplitude(std::span<const std::int16_t> samples, double frequency, double rate = kRate) {
  const double turn = 2.0 * 3.141592653589793 * frequency / rate, twice = 2.0 * std::cos(turn);
  double before = 0.0, last = 0.0;
  for (const std::int16_t sample : samples) {
    const double now = sample / 32768.0 + twice * last - before;
    before = last, last = now;
  }
  const double power = last * last + before * before - twice * last * before;
  return 2.0 * std::sqrt(std::max(power, 0.0)) / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
}

double loudest(std::span<const std::int16_t> samples) {
  int most = 0;
  for (const std::int16_t sample : samples) most = std::max(most, std::abs(static_cast<int>(sample)));
  return most / 32768.0;
}

std::vector<std::int16_t> heard(Mixer& mixer, double seconds, double volume = 1.0) {
  std::vector<std::int16_t> samples(static_cast<std::size_t>(seconds * kRate));
  mixer.fill(samples, volume);
  return samples;
}

TEST(Mixer, IsSilentWithoutCuesAndWithoutVolume) {
  Mixer mixer(kRate);
  EXPECT_TRUE(mixer.silent());
  EXPECT_EQ(loudest(heard(mixer, 0.5)), 0.0);
  mixer.hear({.cut = true});
  EXPECT_FALSE(mixer.silent());
  EXPECT_EQ(loudest(heard(mixer, 0.5, 0.0)), 0.0);
  mixer.fill({}, 1.0);
}

TEST(Mixer, EachPedalHasItsHum) {
  for (const bool cuts : {true, false}) {
    Mixer mixer(kRate);
    mixer.hear({.cut = cuts, .coagulate = !cuts});
    heard(mixer, 0.1);
    const auto samples = heard(mixer, 1.0);
    const double on = amplitude(samples, cuts ? kParams.cut : kParams.coagulate),
                 off = amplitude(samples, cuts ? kParams.coagulate : kParams.cut);
    std::printf("%s: %.3f, the other %.5f, peak %.3f\n", cuts ? "cut" : "coagulate", on, off, loudest(samples));
    EXPECT_GT(on, 0.4 * kParams.hum);
    EXPECT_LT(off, 0.01 * on);
    mixer.hear({});
    heard(mixer, 0.1);
    EXPECT_TRUE(mixer.silent());
    EXPECT_EQ(loudest(heard(mixer, 0.2)), 0.0);
  }
}

// No sample differs from the next by more than the steepest sine of this amplitude: hums begin and end without a click.
TEST(Mixer, BeginsAndEndsWithoutAClick) {
  Mixer mixer(kRate);
  std::vector<std::int16_t> all;
  for (const bool on : {false, true, false}) {
    mixer.hear({.cut = on});
    const auto part = heard(mixer, 0.05 + 0.0003);
    all.insert(all.end(), part.begin(), part.end());
  }
  const double steepest = 2.0 * 3.15 * 3.0 * kParams.cut / kRate * kParams.hum;
  for (std::size_t k = 0; k + 1 < all.size(); ++k)
    ASSERT_LT(std::abs(all[k + 1] - all[k]) / 32768.0, steepest + 1e-3) << k;
}

TEST(Mixer, ARiseOfACountPlaysItsToneOnce) {
  Mixer mixer(kRate);
  mixer.hear({.errors = 1});
  auto samples = heard(mixer, 0.15);
  EXPECT_GT(amplitude(samples, 392.0), 0.02);
  heard(mixer, 0.3);
  EXPECT_TRUE(mixer.silent());
  mixer.hear({.errors = 1, .reached = 2});
  samples = heard(mixer, 0.11);
  EXPECT_GT(amplitude(samples, 660.0), 0.02);
  EXPECT_LT(amplitude(samples, 392.0), 0.01);
  heard(mixer, 0.3);
  mixer.hear({});  // the next session
  EXPECT_TRUE(mixer.silent());
}

TEST(Mixer, ThePulseBeatsAtItsRate) {
  Mixer mixer(kRate);
  mixer.hear({.pulse = true});
  const auto samples = heard(mixer, 6.0);
  int beats = 0;
  bool quiet = true;
  std::size_t last = 0;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    if (std::abs(samples[k]) < 400) {
      quiet = quiet || k > last + kRate / 10;
      continue;
    }
    if (quiet) ++beats;
    quiet = false, last = k;
  }
  EXPECT_NEAR(beats, 6.0 * kParams.heart_rate / 60.0, 1.0);
  EXPECT_LE(loudest(samples), kParams.pulse + 1e-3);
}

// The samples of a wave file with 16 bits, of its first channel, and their rate.
struct Wave {
  std::vector<std::int16_t> samples;
  double rate = kRate;
};
Wave read_wave(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  const auto number = [&](std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    if (at + count <= bytes.size()) std::memcpy(&value, bytes.data() + at, count);
    return value;
  };
  Wave wave;
  if (bytes.size() < 44) return wave;
  const std::size_t channels = number(22, 2), bits = number(34, 2), data = bytes.find("data");
  wave.rate = number(24, 4);
  EXPECT_EQ(bits, 16u);
  for (std::size_t at = data + 8; data != std::string::npos && at + 2 * channels <= bytes.size(); at += 2 * channels)
    wave.samples.push_back(static_cast<std::int16_t>(number(at, 2)));
  return wave;
}

// The functions below run in processes of their own, because OpenAL reads its settings once.
[[noreturn]] void play_into_a_file(const TemporaryFolder& folder, const SoundCues& cues, double volume) {
  const auto settings = folder.write(
      "openal.conf", "[general]\ndrivers=wave\nfrequency=44100\nsample-type=int16\nchannels=mono\n[wave]\nfile=" +
                         (folder.path() / "sound.wav").string() + "\n");
  setenv("ALSOFT_CONF", settings.c_str(), 1);
  setenv("ALSOFT_DRIVERS", "wave", 1);
  {
    Sound sound(true);
    if (!sound.on()) std::exit(3);
    sound.hear(cues, volume);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    sound.hear({}, volume);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::exit(0);
}

// `driver`: null: none is named.
[[noreturn]] void play_without_a_device(const char* driver) {
  for (const char* name : {"ALSOFT_CONF", "ALSOFT_DRIVERS", "PULSE_SERVER", "XDG_RUNTIME_DIR"}) unsetenv(name);
  if (driver) setenv("ALSOFT_DRIVERS", driver, 1);
  Sound sound(true);
  sound.hear({.cut = true}, 1.0);
  std::exit(driver && sound.on() ? 1 : 0);
}

[[noreturn]] void open_and_close() {
  setenv("ALSOFT_DRIVERS", "null", 1);
  for (int k = 0; k < 3; ++k) {
    Sound sound(true);
    if (!sound.on()) std::exit(1);
    sound.hear({.cut = true, .pulse = true, .errors = 1}, 1.0);
  }
  std::exit(0);
}

TEST(Sound, OpenAlPlaysTheHumOfTheCutAndNothingElse) {
  const TemporaryFolder folder;
  const auto sound_of = [&](const SoundCues& cues, double volume) {
    std::filesystem::remove(folder.path() / "sound.wav");
    EXPECT_EXIT(play_into_a_file(folder, cues, volume), testing::ExitedWithCode(0), "");
    return read_wave(folder.path() / "sound.wav");
  };
  const Wave cut = sound_of({.cut = true}, 1.0);
  const double most = loudest(cut.samples);
  std::printf("%zu samples at %.0f Hz, peak %.3f, cut %.4f, coagulate %.4f\n", cut.samples.size(), cut.rate, most,
              amplitude(cut.samples, kParams.cut, cut.rate), amplitude(cut.samples, kParams.coagulate, cut.rate));
  EXPECT_GT(cut.samples.size(), 10000u);
  EXPECT_GT(amplitude(cut.samples, kParams.cut, cut.rate), 0.02);
  EXPECT_LT(amplitude(cut.samples, kParams.coagulate, cut.rate), 0.005);
  const Wave coagulate = sound_of({.coagulate = true}, 1.0);
  EXPECT_GT(amplitude(coagulate.samples, kParams.coagulate, coagulate.rate), 0.015);
  const Wave silence = sound_of({}, 1.0);
  EXPECT_GT(silence.samples.size(), 10000u);
  EXPECT_LE(loudest(silence.samples), 2.0 / 32768.0);  // OpenAL Soft adds a dither of a bit
  EXPECT_LE(loudest(sound_of({.cut = true}, 0.0).samples), 2.0 / 32768.0);
}

// Where nothing suggests a sound device, and where the named driver has none.
TEST(Sound, WithoutADeviceNothingIsPlayedAndNothingIsSaid) {
  EXPECT_EXIT(play_without_a_device(nullptr), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(play_without_a_device("none"), testing::ExitedWithCode(0), "^$");
  Sound muted(false);
  EXPECT_FALSE(muted.on());
  muted.hear({.cut = true}, 1.0);
}

// OpenAL Soft's null driver is a device without a loudspeaker: it can be opened and closed at any time.
TEST(Sound, ADeviceCanBeOpenedAndClosed) { EXPECT_EXIT(open_and_close(), testing::ExitedWithCode(0), "^$"); }

}  // namespace
}  // namespace trocar
