// Tests what a recording says about its run: who, what kind, with which devices, and how it ended; also after packing,
// after a kill, and in a recording that has none of it.
#include "sim/record/run_note.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "geometry/error.hpp"
#include "sim/hdf5/pack.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/link/make_device.hpp"
#include "sim/scene/scene.hpp"
#include "tests/sim/recorded_script.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using test::Script;

class RunNoteTest : public ::testing::Test {
 protected:
  std::filesystem::path record(RunNote run, Ending ending) {
    Script script;
    script.header.run = std::move(run);
    script.header.devices = {"mouse", "haptic", "script"};
    const auto file = folder_.path() / "s.h5";
    Recorder recorder(file, script.header);
    for (std::uint32_t frame = 0; frame < 3; ++frame) script.append(recorder, frame);
    recorder.set_ending(ending);
    recorder.close();
    return file;
  }

  static void expect_note(const Recording& recording, Ending ending) {
    EXPECT_EQ(recording.activity(), Activity::Attempt);
    EXPECT_EQ(recording.text("person"), "Zoë 7");
    EXPECT_EQ(recording.devices(), (std::vector<std::string>{"mouse", "haptic", "script"}));
    EXPECT_EQ(recording.ending(), ending);
  }

  TemporaryFolder folder_;
};

TEST_F(RunNoteTest, IsReadBackAlsoFromAPackedRecording) {
  for (const Ending ending : {Ending::Done, Ending::NotDone, Ending::Stopped}) {
    const auto file = record({ScoreClock::Wall, Activity::Attempt, "Zoë 7"}, ending);
    expect_note(Recording(file), ending);
    pack_recording(file, folder_.path() / "packed.h5");
    expect_note(Recording(folder_.path() / "packed.h5"), ending);
    unpack_recording(folder_.path() / "packed.h5", folder_.path() / "full.h5");
    expect_note(Recording(folder_.path() / "full.h5"), ending);
    for (const char* name : {"s.h5", "packed.h5", "full.h5"}) std::filesystem::remove(folder_.path() / name);
  }
}

TEST_F(RunNoteTest, ALiveRecordingHasNoEnding) {
  Script script;
  Recorder recorder(folder_.path() / "live.h5", script.header);
  for (std::uint32_t frame = 0; frame < 3; ++frame) script.append(recorder, frame);
  std::size_t frames = 0;
  for (int k = 0; k < 200 && frames == 0; ++k) try {
      const Recording live(folder_.path() / "live.h5");
      frames = live.frame_count();
      EXPECT_EQ(live.ending(), Ending::Unknown);
    } catch (const InputError&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  EXPECT_EQ(frames, 3u);
}

TEST_F(RunNoteTest, APersonWhoseNameCannotBeWrittenIsRefused) {
  Script script;
  for (const char* person : {"a\nb", " a", "..", "a/b"}) {
    script.header.run.person = person;
    EXPECT_THROW(Recorder(folder_.path() / "s.h5", script.header), InputError) << person;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(RunNoteTest, OneLiveDeviceMakesAnAttempt) {
  Scene scene;
  scene.instruments.resize(2);
  scene.instruments[0].device = scene.instruments[1].device = scene.scope.device = "script";
  EXPECT_EQ(activity_of(scene), Activity::Script);
  scene.instruments[1].device = "trajectory";
  EXPECT_EQ(activity_of(scene), Activity::Replay);
  scene.scope.device = "mouse";
  EXPECT_EQ(activity_of(scene), Activity::Attempt);
}

}  // namespace
}  // namespace trocar
