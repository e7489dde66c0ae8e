// Tests trocar export film from outside: ffprobe reads the films back, ffmpeg a picture of them.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/compare/backends.hpp"
#include "sim/hdf5/recording.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

class Film : public Program {
 protected:
  static void SetUpTestSuite() { shared_ = new TemporaryFolder; }
  static void TearDownTestSuite() { delete shared_; }

  void SetUp() override {
    if (std::system("command -v ffmpeg ffprobe >/dev/null") != 0) GTEST_SKIP() << "ffmpeg is missing";
    if (Backends backends; !backends.context()) GTEST_SKIP() << "no OpenGL: " << backends.why_no_context();
  }

  // A recording of two seconds of a task by the scripted expert, made once for all tests.
  const std::string& recording() {
    static const std::string file = (shared_->path() / "expert.h5").string();
    if (!fs_exists(file)) {
      const Outcome made =
          run("perform " + data("scenes/tasks/touch_targets.toml") + " --as expert --seed 1 -o " + file);
      EXPECT_EQ(made.status, 0) << made.err;
    }
    return file;
  }

  static bool fs_exists(const std::string& file) { return std::filesystem::exists(file); }

  std::string film(const std::string& name, const std::string& more = "") {
    return "export film " + recording() + " -o " + at(name) + " --width 320 --height 180 " + more;
  }

  nlohmann::json probe(const std::string& name) {
    const std::string line =
        "ffprobe -v error -count_frames -show_format -show_streams -of json " + at(name) + " >" + at("probe.json");
    EXPECT_EQ(std::system(line.c_str()), 0);
    return nlohmann::json::parse(read_file(at("probe.json")));
  }

  static TemporaryFolder* shared_;
};
TemporaryFolder* Film::shared_ = nullptr;

TEST_F(Film, HasTheSizeTheRateAndTheDurationThatWereAskedFor) {
  const Outcome made = run(film("f.mp4", "--from 1 --to 3 --fps 10"));
  ASSERT_EQ(made.status, 0) << made.err;
  const nlohmann::json film = probe("f.mp4");
  ASSERT_EQ(film["streams"].size(), 1u);
  const nlohmann::json& stream = film["streams"][0];
  EXPECT_EQ(stream["codec_name"], "h264");
  EXPECT_EQ(stream["pix_fmt"], "yuv420p");
  EXPECT_EQ(stream["width"], 320);
  EXPECT_EQ(stream["height"], 180);
  EXPECT_EQ(stream["r_frame_rate"], "10/1");
  EXPECT_EQ(stream["nb_read_frames"], "20");
  EXPECT_NEAR(std::stod(film["format"]["duration"].get<std::string>()), 2.0, 0.1);
  // The index comes first, so that a film plays while it is loaded.
  const std::string bytes = read_file(at("f.mp4"));
  EXPECT_LT(bytes.find("moov"), bytes.find("mdat"));
  EXPECT_EQ(bytes.find("expert.h5"), std::string::npos);
}

// The film begins and ends as the recording does.
TEST_F(Film, IsAsLongAsTheRecordingAtItsSpeed) {
  const Outcome made = run(film("whole.mp4", "--fps 5 --speed 4 --plain"));
  ASSERT_EQ(made.status, 0) << made.err;
  const Recording attempt(recording());
  const double seconds = (attempt.score_times().back() - attempt.score_times().front()) / 4.0;
  const nlohmann::json film = probe("whole.mp4");
  EXPECT_NEAR(std::stod(film["format"]["duration"].get<std::string>()), seconds, 0.2);
  EXPECT_EQ(film["streams"][0]["nb_read_frames"], fmt::format("{}", std::lround(seconds * 5.0)));
}

// The panels lie beside the round picture, which is black there without them.
TEST_F(Film, ShowsTextAndTimelineUnlessItIsPlain) {
  for (const bool plain : {false, true}) {
    ASSERT_EQ(run(film("text.mp4", fmt::format("--from 1 --to 1.1 --fps 10 {}", plain ? "--plain" : ""))).status, 0);
    // The mean brightness of the left tenth and of the lowest tenth of the first picture.
    for (const char* crop : {"iw/10:ih:0:0", "iw/5:ih/10:0:ih*9/10"}) {
      const std::string line = fmt::format(
          "ffmpeg -v error -y -i {} -vf crop={},scale=1:1:flags=area,format=gray -frames:v 1 -f rawvideo {}",
          at("text.mp4"), crop, at("mean"));
      ASSERT_EQ(std::system(line.c_str()), 0);
      const int mean = static_cast<unsigned char>(read_file(at("mean")).at(0));
      EXPECT_TRUE(plain ? mean <= 2 : mean >= 4) << crop << ": " << mean;
    }
  }
}

TEST_F(Film, ReplacesOnlyItself) {
  const std::string short_film = "--from 1 --to 1.2 --fps 10";
  for (int time = 0; time < 2; ++time) EXPECT_EQ(run(film("again.mp4", short_film)).status, 0);
  const std::string kept = file("other.mp4", "precious");
  expect_refused(film("other.mp4", short_film), "not written over");
  EXPECT_EQ(read_file(kept), "precious");
  expect_refused("export film " + recording() + " -o " + recording(), "is also read");
}

TEST_F(Film, WrongInputIsASentence) {
  expect_refused(film("f.mp4", "--from 999999"), "--from: the recording ends at");
  expect_refused(film("f.mp4", "--from 2 --to 1"), "--to: 1 s is before --from, 2 s");
  expect_refused("export film " + recording() + " -o " + at("f.mp4") + " --width 321", "--width: 321 is odd");
  expect_refused("export film " + mesh_ + " -o " + at("f.mp4"), "m.obj");
  expect_refused("export film " + recording() + " -o " + at("no/such/folder.mp4"), "folder.mp4: cannot be written");
  const Outcome without = run(film("f.mp4"), "PATH=/nonexistent");
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.err.find("needs the program ffmpeg, which is not on this machine; install"), std::string::npos)
      << without.err;
  EXPECT_FALSE(fs_exists(at("f.mp4")));
  expect_no_partial_file();
}

// A limit of the size of files is a full disk: every write beyond it fails.
TEST_F(Film, AFullDiskIsASentenceAndKeepsTheOldFilm) {
  ASSERT_EQ(run(film("full.mp4", "--from 1 --to 1.2 --fps 10")).status, 0);
  const std::string before = read_file(at("full.mp4"));
  const Outcome full = run(film("full.mp4", "--from 1 --to 3 --fps 20"), "ulimit -f 8;");
  EXPECT_EQ(full.status, 1) << full.out << full.err;
  EXPECT_NE(full.err.find("full.mp4: the film could not be written ("), std::string::npos) << full.err;
  EXPECT_NE(full.err.find("is the disk full?"), std::string::npos) << full.err;
  EXPECT_TRUE(full.err.ends_with("is the disk full?\n")) << full.err;  // a line of progress may come before
  EXPECT_TRUE(read_file(at("full.mp4")) == before);
  expect_no_partial_file();
}

}  // namespace
}  // namespace trocar
