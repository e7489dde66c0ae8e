// Tests `trocar record --from`: the attempt of a scripted trainee, saved as the page saves it, becomes a recording with
// the same frames and the same score; what is not such an attempt is refused.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/app/run_program.hpp"
#include "tests/sim/logged_session.hpp"

namespace trocar {
namespace {

// The program's data folder is a folder of the test, with one scene.
class RecordAttempt : public Program {
 protected:
  RecordAttempt() {
    std::filesystem::create_directories(folder_.path() / "data/scenes");
    const std::filesystem::path written = test::write_ball_task(folder_);
    std::filesystem::rename(written, scene_);
    std::filesystem::rename(folder_.path() / "ball.obj", folder_.path() / "data/scenes/ball.obj");
    setenv("TROCAR_DATA", (folder_.path() / "data").c_str(), 1);
    attempt_ = test::perform_logged(load_scene(scene_), "scenes/ball.toml");
  }
  ~RecordAttempt() override { unsetenv("TROCAR_DATA"); }

  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string saved(const AttemptFile& attempt) { return file("attempt.json", attempt_text(attempt)); }
  std::string record(const AttemptFile& attempt, const std::string& more = "") {
    return "record --from " + saved(attempt) + " -o " + at("out.csv") + more;
  }

  std::filesystem::path scene_ = folder_.path() / "data/scenes/ball.toml";
  AttemptFile attempt_;
};

TEST_F(RecordAttempt, BecomesTheRecordingOfTheSession) {
  const Outcome outcome = run("record --from " + saved(attempt_) + " -o " + at("a.h5"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::uint64_t touched = 0;
  for (const LoggedFrame& frame : attempt_.log.frames) touched += frame.sums.touched;
  const std::string frames = std::to_string(attempt_.log.frames.size());
  EXPECT_NE(outcome.out.find(frames + " frames, " + std::to_string(touched) + " touched faces, written to "),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find(" events are those of the attempt: 0 differences\n"), std::string::npos) << outcome.out;
  const Recording recording(at("a.h5"));
  EXPECT_EQ(recording.frame_count(), attempt_.log.frames.size());
  EXPECT_EQ(recording.text("person"), "zoe");
  EXPECT_EQ(recording.text("clock"), "wall");
  const Attempt scored = score_recording(recording, "a.h5");
  ASSERT_TRUE(scored.task);
  EXPECT_EQ(scored.task->score, attempt_.score);
  EXPECT_EQ(scored.activity, "attempt");
  EXPECT_EQ(scored.ending, "done");
  EXPECT_NE(run("replay " + at("a.h5")).out.find(" 0 frames differ"), std::string::npos);
}

// The same attempt that is recorded twice is one attempt of the lab.
TEST_F(RecordAttempt, IsEnteredOnce) {
  const std::string environment = "XDG_DATA_HOME=" + at("home") + " XDG_CONFIG_HOME=" + at("settings");
  for (const char* name : {"a.h5", "b.h5"}) {
    ASSERT_EQ(run("record --from " + saved(attempt_) + " -o " + at(name)).status, 0);
    EXPECT_EQ(run("lab enter " + at(name), environment).status, 0);
  }
  EXPECT_NE(run("lab", environment).out.find("attempts  1"), std::string::npos);
}

// The page of the recording leads back to the task.
TEST_F(RecordAttempt, ReportsLinkToTheTaskInTheBrowser) {
  ASSERT_EQ(run("record --from " + saved(attempt_) + " -o " + at("a.h5")).status, 0);
  const std::string report = "report --force " + at("a.h5") + " -o " + at("out.csv");
  expect_refused(report + " --try-at 'javascript:alert(1)'", "is not the address of a page");
  ASSERT_EQ(run("report " + at("a.h5") + " -o " + at("plain.html")).status, 0);
  EXPECT_EQ(read_file(at("plain.html")).find("Try this task"), std::string::npos);
  ASSERT_EQ(run("report " + at("a.h5") + " -o " + at("r.html") + " --try-at https://example.org/trocar/").status, 0);
  EXPECT_NE(read_file(at("r.html")).find("<a href=\"https://example.org/trocar/#task=ball\""), std::string::npos);
}

TEST_F(RecordAttempt, AnotherBackendChecksEveryFrame) {
  const Outcome outcome = run(record(attempt_, " --backend aabb-refit --validate obb-refit"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("aabb-refit against obb-refit: 0 disagreements"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(": 0 differences\n"), std::string::npos) << outcome.out;
}

TEST_F(RecordAttempt, WithoutATaskOnlyFramesAreCompared) {
  AttemptFile free = attempt_;
  free.scene_text.resize(free.scene_text.find("[task]"));
  free.events.clear();
  free.score = 0.0;
  const Outcome outcome = run(record(free));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("every frame is that of the attempt: 0 differences\n"), std::string::npos) << outcome.out;
}

// The recording is kept and differs from what the attempt says.
TEST_F(RecordAttempt, DifferencesAreAnError) {
  const auto expect_difference = [&](const AttemptFile& attempt, const std::string& part) {
    const Outcome outcome = run(record(attempt, " --force"));
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_EQ(Recording(at("out.csv")).frame_count(), attempt.log.frames.size());
  };
  AttemptFile other = attempt_;
  other.log.frames[17].sums.checksum ^= 1;
  other.log.frames[20].sums.touched += 1;
  expect_difference(other, "2 of " + std::to_string(other.log.frames.size()) +
                               " frames differ from the attempt, the first of them is frame 17");
  other = attempt_;
  other.score = std::nextafter(other.score, 100.0);
  expect_difference(other, "the score is ");
  other = attempt_;
  other.events.back().time += 0.01;
  expect_difference(other, "events differ from the ");
}

TEST_F(RecordAttempt, WhatCannotRunAgainIsRefused) {
  AttemptFile other = attempt_;
  other.model_version = kModelVersion + 1;
  expect_refused(record(other), "version " + std::to_string(kModelVersion + 1) + " of the tissue model");
  for (const std::string& scene :
       {std::string("../data/scenes/ball.toml"), std::string("scenes/../scenes/ball.toml"), scene_.string(),
        std::string(), std::string("scenes/ball.toml\0.toml", 22), std::string("scenes/ball\n.toml"),
        std::string("scenes"), std::string("."), std::string("scenes/absent.toml")}) {
    other = attempt_;
    other.scene = scene;
    expect_refused(record(other), scene == "scenes/absent.toml" ? "not found" : "its scene '");
  }
  other = attempt_;
  other.scene_text += "nonsense = 1\n";
  expect_refused(record(other), "its scene is refused: ");
  other = attempt_;
  const std::size_t mesh = other.scene_text.find("ball.obj");
  other.scene_text.replace(mesh, 8, "../../m.obj");
  expect_refused(record(other), "outside the folder of the scene");
  other = attempt_;
  other.log.devices.front().name = "hook";
  expect_refused(record(other), "other instruments");
  expect_refused("record --from " + file("attempt.json", "{}") + " -o " + at("out.csv"), "is not an attempt");
  expect_refused("record --from " + at("absent.json") + " -o " + at("out.csv"), "absent.json");
}

TEST_F(RecordAttempt, OutputsAreNotInputsNorForeignFiles) {
  const std::string from = saved(attempt_), command = "record --force --from " + from + " -o ";
  expect_refused(command + from, "is also read");
  std::filesystem::create_symlink(from, at("link.h5"));
  expect_refused(command + at("link.h5"), "is also read");
  expect_refused(command + scene_.string(), "is also read");
  expect_refused(command + mesh_, "is not overwritten");
  expect_refused("record --from " + from + " -o " + mesh_, "is not overwritten");
  ASSERT_EQ(run("record --from " + from + " -o " + at("a.h5")).status, 0);
  expect_refused("record --from " + from + " -o " + at("a.h5"), "add --force");
  EXPECT_EQ(run("record --force --from " + from + " -o " + at("a.h5")).status, 0);
  EXPECT_EQ(read_file(from), attempt_text(attempt_));
}

TEST_F(RecordAttempt, HasNoOptionOfAScene) {
  const std::string from = saved(attempt_), out = " -o " + at("out.csv");
  for (const std::string& other :
       {" " + scene_.string(), " --trajectory " + trajectory_, std::string(" --person li"), std::string(" --anatomy 3"),
        std::string(" --level 1"), std::string(" --igtl-port 18944"), std::string(" --allow-outside")})
    expect_refused("record --from " + from + out + other, "--from");
  expect_refused("record" + out, "record needs either");
  expect_refused("record " + scene_.string() + out, "record needs either");
}

}  // namespace
}  // namespace trocar
