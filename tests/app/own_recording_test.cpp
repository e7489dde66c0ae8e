// Tests which files are the recording of an attempt: its station, person, key and kind of file decide, not its path.
#include "app/lab/lab_attempt.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/support/machine.hpp"
#include "tests/app/recorded_attempt.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

class OwnRecordingTest : public ::testing::Test {
 protected:
  OwnRecordingTest() : scene_(test::coarse_scene("touch_targets", folder_)) {}
  fs::path at(const char* name) const { return folder_.path() / name; }
  RecordingClaim recorded(const char* name, const std::string& person, const std::string& key) const {
    test::record_attempt(scene_, at(name), 5, true, {ScoreClock::Tick, Activity::Attempt, person, "", key});
    return {at(name).string(), host_name(), "zoe", key, {}};
  }
  static void expect(Claimed answer, const RecordingClaim& claim, const std::string& why) {
    const OwnRecording own = own_recording(claim);
    EXPECT_EQ(own.answer, answer) << claim.recording << ": " << own.why;
    EXPECT_NE(own.why.find(why), std::string::npos) << own.why;
    EXPECT_EQ(own.why.empty(), answer == Claimed::Ours) << own.why;
  }

  TemporaryFolder folder_;
  Scene scene_;
};

TEST_F(OwnRecordingTest, PersonStationAndKeyDecide) {
  RecordingClaim claim = recorded("s.h5", "zoe", new_attempt_key());
  expect(Claimed::Ours, claim, "");
  claim.key.clear();  // a note of an earlier version
  expect(Claimed::Ours, claim, "");
  claim.key = new_attempt_key();
  expect(Claimed::Foreign, claim, "another attempt");
  claim = recorded("s2.h5", "li", new_attempt_key());
  expect(Claimed::Foreign, claim, "is a recording of li, not of zoe");
  claim = recorded("s3.h5", "zoe", new_attempt_key());
  claim.station = "elsewhere";
  expect(Claimed::Foreign, claim, "is on the machine elsewhere");
  claim.station.clear();
  expect(Claimed::Foreign, claim, "unknown machine");
}

// The key says whose attempt it is when the recording names no person.
TEST_F(OwnRecordingTest, ARecordingWithoutAPersonNeedsTheKey) {
  RecordingClaim claim = recorded("s.h5", "", new_attempt_key());
  expect(Claimed::Ours, claim, "");
  claim.key = new_attempt_key();
  expect(Claimed::Foreign, claim, "names no person");
  claim.key.clear();
  expect(Claimed::Foreign, claim, "names no person");
}

TEST_F(OwnRecordingTest, AnOlderRecordingNeedsTheDate) {
  RecordingClaim claim = recorded("s.h5", "zoe", "");
  const Recording recording(at("s.h5"));
  claim.key = new_attempt_key();
  expect(Claimed::Foreign, claim, "another attempt");
  claim.started = date_in_text(recording.text("date"));
  expect(Claimed::Ours, claim, "");
  *claim.started += 1.0;
  expect(Claimed::Foreign, claim, "another attempt");
}

TEST_F(OwnRecordingTest, OnlyRegularRecordingsCount) {
  const RecordingClaim own = recorded("s.h5", "zoe", new_attempt_key());
  const auto expect_at = [&](const fs::path& path, Claimed answer, const char* why) {
    RecordingClaim claim = own;
    claim.recording = path.string();
    expect(answer, claim, why);
  };
  expect_at(at("none.h5"), Claimed::Away, "is not there");
  expect_at(at("none/s.h5"), Claimed::Away, "is not there");
  expect_at(at("s.h5") / "x", Claimed::Away, "is not there");
  expect_at("/" + std::string(300, 'x'), Claimed::Away, "File name too long");
  fs::create_symlink(at("s.h5"), at("link.h5"));
  expect_at(at("link.h5"), Claimed::Foreign, "symbolic link");
  fs::create_symlink(at("loop"), at("loop"));
  expect_at(at("loop"), Claimed::Foreign, "symbolic link");
  expect_at(at("loop") / "s.h5", Claimed::Away, "cannot be read");
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  for (const fs::path& odd : {at("pipe"), folder_.path(), fs::path("/dev/zero")})
    expect_at(odd, Claimed::Foreign, "is a folder, a pipe or a device");
  expect_at("s.h5", Claimed::Foreign, "whole path");
  expect_at("", Claimed::Foreign, "whole path");
  expect_at(folder_.write("text.h5", "no recording"), Claimed::Foreign, "is not a recording");
  expect_at(folder_.write("empty.h5", ""), Claimed::Foreign, "is empty");
  fs::copy_file(at("s.h5"), at("cut.h5"));
  fs::resize_file(at("cut.h5"), 4000);
  expect_at(at("cut.h5"), Claimed::Foreign, "cannot be read as a recording");
  fs::copy_file(at("s.h5"), at("foreign.h5"));
  test::change_text(at("foreign.h5"), "format", "other-1");
  expect_at(at("foreign.h5"), Claimed::Foreign, "not a recording");
}

// Every copy has the recorded key; an older recording gets the same one from what every copy has.
TEST_F(OwnRecordingTest, KeysFollowFromTheContent) {
  const std::string key = new_attempt_key();
  recorded("s.h5", "zoe", key), recorded("old.h5", "zoe", "");
  EXPECT_EQ(attempt_key_of(Recording(at("s.h5")), "s.h5"), key);
  const std::string derived = attempt_key_of(Recording(at("old.h5")), "old.h5");
  EXPECT_TRUE(is_attempt_key(derived)) << derived;
  test::change_text(at("old.h5"), "version", "0.9");
  EXPECT_EQ(attempt_key_of(Recording(at("old.h5")), "old.h5"), derived);
  for (const char* attribute : {"date", "person"}) {
    fs::copy_file(at("old.h5"), at("other.h5"), fs::copy_options::overwrite_existing);
    test::change_text(at("other.h5"), attribute, "2020-01-01 00:00:00");
    EXPECT_NE(attempt_key_of(Recording(at("other.h5")), "other.h5"), derived) << attribute;
  }
  test::change_text(at("s.h5"), kAttemptKeyAttribute, "../../x");
  EXPECT_THROW(attempt_key_of(Recording(at("s.h5")), "s.h5"), InputError);
}

}  // namespace
}  // namespace trocar
