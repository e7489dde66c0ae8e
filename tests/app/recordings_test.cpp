// Tests recordings through the program: kept ones of every model version, packed ones, and attempts that are recorded
// again.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "deform/model_version.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/app/run_program.hpp"
#include "tests/sim/recording/logged_session.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Tests one small recording of every version of the tissue model, which stays in tests/recordings. It replays without a
// differing frame, and its score has, to the bit, every kept value. The recording of the present model version is also
// made again, from its own scene, with the same bits.

// tests/recordings/README.md says how to add one.
struct Kept {
  int model_version;
  const char* surface_changes;
  std::size_t fibres = 0, broken = 0;
  const char* skill = "clumsy";

  std::string name() const { return fmt::format("model-{}", model_version); }
};
constexpr Kept kKept[] = {{1, ", 15 surface changes, 0 frames differ"},
                          {2, ", 9 surface changes, 0 frames differ"},
                          {3, ", 29 surface changes, 0 frames differ"},
                          {4, ", 26 surface changes, 0 frames differ"},
                          {5, ", 29 surface changes, 0 frames differ", 20, 13},
                          {6, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
                          {7, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
                          {8, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
                          {9, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
                          {10, ", 0 surface changes, 0 frames differ", 4, 0, "expert"}};
constexpr int kFirstWithClips = 6;

using Json = nlohmann::json;

// Every value of then is in now, with the same bits. Metrics are found by their id; later versions have more of them.
void expect_kept(const Json& then, const Json& now, const std::string& where) {
  if (then.is_object()) {
    for (const auto& [key, value] : then.items()) {
      if (key == "note" || key == "label") continue;  // words may change
      ASSERT_TRUE(now.contains(key)) << where << ": " << key;
      expect_kept(value, now[key], where + "/" + key);
    }
  } else if (then.is_array() && !then.empty() && then[0].contains("id")) {
    for (const Json& metric : then) {
      const auto same = std::find_if(now.begin(), now.end(), [&](const Json& m) { return m["id"] == metric["id"]; });
      ASSERT_NE(same, now.end()) << where << ": " << metric["id"];
      expect_kept(metric, *same, where + "/" + std::string(metric["id"]));
    }
  } else if (then.is_array()) {
    ASSERT_EQ(then.size(), now.size()) << where;
    for (std::size_t k = 0; k < then.size(); ++k) expect_kept(then[k], now[k], fmt::format("{}[{}]", where, k));
  } else {
    EXPECT_EQ(then, now) << where;
  }
}

class KeptRecordings : public Program {
 protected:
  std::filesystem::path unpacked(const Kept& kept) {
    const auto file = folder_.path() / (kept.name() + ".h5");
    const auto packed = repository_file("tests/recordings") / (kept.name() + ".h5.gz");
    EXPECT_EQ(std::system(("gzip -dc " + packed.string() + " >" + file.string()).c_str()), 0) << packed;
    return file;
  }
  Outcome run_there(const std::string& arguments) { return run(arguments, "cd " + folder_.path().string() + " &&"); }
};

// Those of model 5 break in several frames, by the hook and by themselves.
TEST_F(KeptRecordings, HaveFibresSinceModel5) {
  for (const Kept& kept : kKept) {
    const Recording recording(unpacked(kept));
    EXPECT_EQ(recording.fibres().fibres.size(), kept.fibres) << kept.name();
    EXPECT_EQ(recording.fibres().broken.size(), kept.broken) << kept.name();
  }
}

// The expert closes three clips and then divides the duct between them.
TEST_F(KeptRecordings, HaveClipsSinceModel6) {
  for (const Kept& kept : kKept) {
    const Recording recording(unpacked(kept));
    const bool clips = kept.model_version >= kFirstWithClips;
    EXPECT_EQ(recording.clips().clips.size(), clips ? 3u : 0u) << kept.name();
    if (!clips) continue;
    ASSERT_FALSE(recording.clips().tubes.empty());
    EXPECT_EQ(recording.clips().tubes.back().state.clips_at_start, 2u);
    EXPECT_EQ(recording.clips().tubes.back().state.clips_at_end, 1u);
    EXPECT_TRUE(recording.clips().tubes.back().state.divided);
  }
}

TEST_F(KeptRecordings, ReplayAndScoreAsKept) {
  for (const Kept& kept : kKept) {
    const std::string name = kept.name();
    EXPECT_EQ(Recording(unpacked(kept)).model_version(), kept.model_version) << name;
    const Outcome replay = run_there("replay " + name + ".h5 --backend scan");
    EXPECT_EQ(replay.status, 0) << name << ": " << replay.err;
    EXPECT_NE(replay.out.find(kept.surface_changes), std::string::npos) << replay.out;
    const Outcome score = run_there("score " + name + ".h5 --json score.json");
    EXPECT_EQ(score.status, 0) << name << ": " << score.err;
    expect_kept(Json::parse(read_file(repository_file("tests/recordings") / (name + ".json"))),
                Json::parse(read_file(folder_.path() / "score.json")), name);
    std::filesystem::remove(folder_.path() / "score.json");
  }
}

void expect_same_frame(const OrganFrame& now, const OrganFrame& then, std::size_t frame) {
  ASSERT_EQ(now.nodes, then.nodes) << "frame " << frame << ": the bits of the tissue have changed";
  ASSERT_EQ(now.first, then.first) << "frame " << frame;
  ASSERT_EQ(now.pressure, then.pressure) << "frame " << frame;
  ASSERT_EQ(now.tip_ids, then.tip_ids) << "frame " << frame << ": the shapes of the tips have changed";
  ASSERT_EQ(now.part, then.part) << "frame " << frame;
  for (std::size_t k = 0; k < now.touches.size(); ++k) ASSERT_EQ(now.touches[k].face, then.touches[k].face);
}

void expect_same_recording(const Recording& now, const Recording& then) {
  ASSERT_EQ(now.frame_count(), then.frame_count());
  EXPECT_EQ(now.organs()[0].history.faces, then.organs()[0].history.faces);
  EXPECT_EQ(now.organs()[0].history.removed, then.organs()[0].history.removed);
  EXPECT_EQ(now.fibres().fibres.size(), then.fibres().fibres.size());
  EXPECT_EQ(now.clips().clip_frame, then.clips().clip_frame) << "clips close in other frames";
  EXPECT_EQ(now.clips().tube_frame, then.clips().tube_frame) << "ducts change in other frames";
  EXPECT_EQ(now.fibres().broken, then.fibres().broken) << "other fibres break";
  EXPECT_EQ(now.fibres().broken_frame, then.fibres().broken_frame) << "fibres break in other frames";
  OrganFrame a, b;
  for (std::size_t frame = 0; frame < now.frame_count(); ++frame) {
    for (std::size_t tool = 0; tool < now.tools().size(); ++tool) {
      ASSERT_EQ(now.pose(frame, tool).tip, then.pose(frame, tool).tip) << "frame " << frame;
      ASSERT_EQ(now.force(frame, tool), then.force(frame, tool)) << "frame " << frame;
    }
    now.read_frame(frame, 0, a), then.read_frame(frame, 0, b);
    ASSERT_NO_FATAL_FAILURE(expect_same_frame(a, b, frame));
  }
}

// Other bits need a higher kModelVersion, and a new model version needs a kept recording.
TEST_F(KeptRecordings, ArePerformedAgainWithTheSameBits) {
  bool any = false;
  for (const Kept& kept : kKept) {
    if (kept.model_version != kModelVersion) continue;
    any = true;
    const Recording then(unpacked(kept));
    file("scene.toml", then.text("scene"));
    std::filesystem::copy_file(repository_file("tests/recordings/ball.obj"), folder_.path() / "ball.obj",
                               std::filesystem::copy_options::overwrite_existing);
    const Outcome perform =
        run_there(fmt::format("perform scene.toml --as {} --seed 7 --backend scan --force -o again.h5", kept.skill));
    ASSERT_EQ(perform.status, 0) << perform.err;
    expect_same_recording(Recording(folder_.path() / "again.h5"), then);
    if (HasFailure()) FAIL() << kept.name() << ": raise kModelVersion in deform/model_version.hpp";
  }
  EXPECT_TRUE(any) << "no recording of model version " << kModelVersion << " is kept; add one to tests/recordings";
}

// Tests trocar file pack and unpack as a user runs them: a performed task in both forms, read by other commands and
// by h5py, and what they refuse.

class PackProgram : public Program {
 protected:
  PackProgram() {
    const std::string scene = (repository_file("tests/recordings") / "ball_bands.toml").string();
    EXPECT_EQ(run("perform " + scene + " --as clumsy --seed 7 --backend scan -o " + at("full.h5")).status, 0);
  }
  std::uintmax_t size(const std::string& name) const { return std::filesystem::file_size(at(name)); }
  void expect_done(const std::string& arguments) {
    const Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.status, 0) << arguments << "\n" << outcome.err;
  }
};

TEST_F(PackProgram, OtherCommandsReadAPackedRecording) {
  expect_done("file pack " + at("full.h5") + " -o " + at("packed.h5"));
  EXPECT_NE(run("replay " + at("packed.h5")).out.find(" 0 frames differ"), std::string::npos);
  expect_done("score " + at("full.h5") + " --csv " + at("a.csv"));
  expect_done("score " + at("packed.h5") + " --csv " + at("b.csv"));
  std::string of_packed = read_file(at("b.csv"));
  for (std::size_t place; (place = of_packed.find("packed.h5")) != std::string::npos;)
    of_packed.replace(place, 9, "full.h5");
  EXPECT_EQ(of_packed, read_file(at("a.csv")));
}

// The lines of docs/file-formats.md, for the whole recording.
TEST_F(PackProgram, H5pyReadsPackedNodes) {
  expect_done("file pack " + at("full.h5") + " -o " + at("packed.h5"));
  const std::string script = file("look.py",
                                  "import sys, h5py, numpy as np\n"
                                  "full, packed = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])\n"
                                  "for name, organ in packed['organs'].items():\n"
                                  "    for k in range(0, len(organ['packed_nodes']), 120):\n"
                                  "        z = organ['packed_nodes'][k:k + 120]\n"
                                  "        d = (z >> 1) ^ (0 - (z & 1))\n"
                                  "        nodes = d.cumsum(axis=0, dtype='u4').cumsum(axis=0, dtype='u4').view('f4')\n"
                                  "        assert np.array_equal(nodes, full['organs'][name]['nodes'][k:k + 120])\n");
  EXPECT_EQ(std::system(("/usr/bin/python3 " + script + " " + at("full.h5") + " " + at("packed.h5")).c_str()), 0);
}

TEST_F(PackProgram, ACompactRecordingIsUnpackedAndReplayed) {
  const Outcome outcome = run("file pack " + at("full.h5") + " --compact -o " + at("compact.h5"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("MB a second"), std::string::npos) << outcome.out;
  EXPECT_LT(size("compact.h5") * 5, size("full.h5"));
  expect_done("file unpack " + at("compact.h5") + " -o " + at("again.h5"));
  EXPECT_NE(run("replay " + at("again.h5")).out.find(" 0 frames differ"), std::string::npos);
  for (const char* command : {"replay ", "score "}) {
    const Outcome refused = run(command + at("compact.h5"));
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("trocar file unpack"), std::string::npos) << refused.err;
  }
}

TEST_F(PackProgram, AFullDiskKeepsTheOldRecording) {
  expect_done("file pack " + at("full.h5") + " --compact -o " + at("compact.h5"));
  std::filesystem::copy_file(at("full.h5"), at("old.h5"));
  const std::string before = read_file(at("old.h5"));
  for (const std::string& command :
       {"file pack " + at("full.h5"), "file pack " + at("full.h5") + " --compact", "file unpack " + at("compact.h5")}) {
    const Outcome outcome = run(command + " --force -o " + at("old.h5"), "ulimit -f 64;");
    EXPECT_EQ(outcome.status, 1) << command << outcome.out;
    EXPECT_NE(outcome.err.find("old.h5: the file could not be written (File too large)"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(read_file(at("old.h5")), before) << command;
    EXPECT_FALSE(std::filesystem::exists(at("old.h5.partial"))) << command;
  }
}

TEST_F(PackProgram, PacksInPlaceUnderTheSameName) {
  std::filesystem::copy_file(at("full.h5"), at("kept.h5"));
  const Outcome outcome = run("file pack " + at("full.h5") + " --replace");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(size("full.h5") * 2, size("kept.h5"));
  expect_no_partial_file();
  expect_done("file unpack " + at("full.h5") + " -o " + at("again.h5"));
  EXPECT_NE(run("replay " + at("full.h5")).out.find(" 0 frames differ"), std::string::npos);
  expect_refused("file pack " + at("full.h5") + " --replace", "is a packed recording");
  expect_refused("file pack " + at("again.h5"), "-o OUT, or --replace");
  expect_refused("file pack " + at("again.h5") + " --replace --compact", "--compact and --replace");
  // The recording is a demonstration, so a folder does not pack it.
  const Outcome folder = run("file pack " + folder_.path().string() + " --replace");
  EXPECT_EQ(folder.status, 0) << folder.err;
  EXPECT_EQ(folder.out, "");
  EXPECT_EQ(std::system(("h5diff -q " + at("again.h5") + " " + at("kept.h5") + " /organs").c_str()), 0);
}

TEST_F(PackProgram, RecordingsOfEveryModelArePackedInPlace) {
  for (const auto& kept : std::filesystem::directory_iterator(repository_file("tests/recordings"))) {
    if (kept.path().extension() != ".gz") continue;
    const std::string old = at(kept.path().stem().string());
    ASSERT_EQ(std::system(("gzip -dc " + kept.path().string() + " > " + old).c_str()), 0);
    expect_done("file pack " + old + " --replace");
    EXPECT_NE(run("replay " + old).out.find(" 0 frames differ"), std::string::npos) << old;
  }
}

TEST_F(PackProgram, AFullDiskLeavesTheFullRecordingInPlace) {
  const std::string before = read_file(at("full.h5"));
  const Outcome outcome = run("file pack " + at("full.h5") + " --replace", "ulimit -f 64;");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_NE(outcome.err.find("full.h5: is not packed: the file could not be written (File too large)"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(read_file(at("full.h5")), before);
  expect_no_partial_file();
}

TEST_F(PackProgram, RefusesWhatItCannotRewrite) {
  const std::string full = at("full.h5"), old = at("old.h5");
  expect_refused("file pack " + full + " -o " + full, "--out is also read");
  expect_refused("file pack " + mesh_ + " -o " + at("out.csv"), "is not a recording");
  expect_refused("file unpack " + full + " -o " + at("out.csv"), "is a full recording already");
  expect_refused("file pack " + full + " -o " + mesh_, "add --force");
  expect_refused("file pack " + full + " --force -o " + mesh_, "is not overwritten");
  const std::string kept = (repository_file("tests/recordings") / "model-5.h5.gz").string();
  ASSERT_EQ(std::system(("gzip -dc " + kept + " > " + old).c_str()), 0);
  expect_refused("file pack " + old + " --compact -o " + at("out.csv"), "version 5 of the tissue model");
  expect_done("file pack " + old + " -o " + at("packed.h5"));  // every model version has a packed form
  EXPECT_NE(run("replay " + at("packed.h5")).out.find(" 0 frames differ"), std::string::npos);
}

// Tests `trocar record --from`: the attempt of a scripted trainee, saved as the page saves it, becomes a recording with
// the same frames and the same score; what is not such an attempt is refused.

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
