// Tests one small recording of every format, which stays in tests/recordings. It replays without a differing frame, and
// its score has, to the bit, every value of the version that recorded it. The recording of the present model
// version is also made again, from its own scene, with the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "deform/model_version.hpp"
#include "sim/hdf5/recording.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

// The format of a recording and the version of the model that made it. tests/recordings/README.md says how to add one.
struct Kept {
  const char* name;
  FormatVersion format;
  int model_version;
  const char* surface_changes;
  std::size_t fibres = 0, broken = 0;
  const char* skill = "clumsy";
};
constexpr Kept kKept[] = {
    {"format-2.0", {2, 0}, 1, ", 15 surface changes, 0 frames differ"},
    {"format-2.1", {2, 1}, 1, ", 15 surface changes, 0 frames differ"},
    {"format-2.2", {2, 2}, 2, ", 9 surface changes, 0 frames differ"},
    {"format-2.3", {2, 3}, 3, ", 29 surface changes, 0 frames differ"},
    {"format-2.3-model-4", {2, 3}, 4, ", 26 surface changes, 0 frames differ"},
    {"format-2.4", {2, 4}, 5, ", 29 surface changes, 0 frames differ", 20, 13},
    {"format-2.5", {2, 5}, 6, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
    {"format-2.7", {2, 7}, 7, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
    {"format-2.7-model-8", {2, 7}, 8, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
    {"format-2.9-model-9", {2, 9}, 9, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
    {"format-2.10-model-9", {2, 10}, 9, ", 0 surface changes, 0 frames differ", 4, 0, "expert"},
    {"format-2.10-model-10", {2, 10}, 10, ", 0 surface changes, 0 frames differ", 4, 0, "expert"}};

using Json = nlohmann::json;

// Metrics of jerk are now empty where they would measure the noise of the sensor.
bool may_be_empty(const Json& metric) { return metric["id"] == "ldlj" || metric["id"] == "mean_squared_jerk"; }

// Every value of then is in now, with the same bits. Metrics are found by their id; later versions have more of them.
void expect_kept(const Json& then, const Json& now, const std::string& where) {
  if (then.is_object()) {
    for (const auto& [key, value] : then.items()) {
      if (key == "note" || key == "label") continue;  // words may change
      ASSERT_TRUE(now.contains(key)) << where << ": " << key;
      if (key == "value" && now[key].is_null() && then.contains("id") && may_be_empty(then)) continue;
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
  std::filesystem::path unpacked(const char* name) {
    const auto file = folder_.path() / (std::string(name) + ".h5");
    const auto packed = repository_file("tests/recordings") / (std::string(name) + ".h5.gz");
    EXPECT_EQ(std::system(("gzip -dc " + packed.string() + " >" + file.string()).c_str()), 0) << packed;
    return file;
  }
  Outcome run_there(const std::string& arguments) { return run(arguments, "cd " + folder_.path().string() + " &&"); }
};

// Recordings of earlier formats have no fibres. Those of 2.4 break in several frames, by the hook and by themselves.
TEST_F(KeptRecordings, HaveFibresSinceFormat24) {
  for (const Kept& kept : kKept) {
    const Recording recording(unpacked(kept.name));
    EXPECT_EQ(recording.fibres().fibres.size(), kept.fibres) << kept.name;
    EXPECT_EQ(recording.fibres().broken.size(), kept.broken) << kept.name;
  }
}

// The expert closes three clips and then divides the duct between them.
TEST_F(KeptRecordings, HaveClipsSinceFormat25) {
  for (const Kept& kept : kKept) {
    const Recording recording(unpacked(kept.name));
    const bool clips = kept.format.minor >= 5;
    EXPECT_EQ(recording.clips().clips.size(), clips ? 3u : 0u) << kept.name;
    if (!clips) continue;
    ASSERT_FALSE(recording.clips().tubes.empty());
    EXPECT_EQ(recording.clips().tubes.back().state.clips_at_start, 2u);
    EXPECT_EQ(recording.clips().tubes.back().state.clips_at_end, 1u);
    EXPECT_TRUE(recording.clips().tubes.back().state.divided);
  }
}

TEST_F(KeptRecordings, ReplayAndScoreAsWhenRecorded) {
  for (const Kept& kept : kKept) {
    const std::string name = kept.name;
    const Recording recording(unpacked(kept.name));
    EXPECT_EQ(recording.format().major, kept.format.major) << name;
    EXPECT_EQ(recording.format().minor, kept.format.minor) << name;
    EXPECT_EQ(recording.model_version(), kept.model_version) << name;
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
    const Recording then(unpacked(kept.name));
    file("scene.toml", then.text("scene"));
    std::filesystem::copy_file(repository_file("tests/recordings/ball.obj"), folder_.path() / "ball.obj",
                               std::filesystem::copy_options::overwrite_existing);
    const Outcome perform =
        run_there(fmt::format("perform scene.toml --as {} --seed 7 --backend scan --force -o again.h5", kept.skill));
    ASSERT_EQ(perform.status, 0) << perform.err;
    expect_same_recording(Recording(folder_.path() / "again.h5"), then);
    if (HasFailure()) FAIL() << kept.name << ": raise kModelVersion in deform/model_version.hpp";
  }
  EXPECT_TRUE(any) << "no recording of model version " << kModelVersion << " is kept; add one to tests/recordings";
}

}  // namespace
}  // namespace trocar
