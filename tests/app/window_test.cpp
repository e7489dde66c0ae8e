// Tests the window's logic without a window: sequence of screens, debrief, plots and lists, and the settings that it
// keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <tuple>

#include "app/view/picture_file.hpp"
#include "app/window/input/keys.hpp"
#include "app/window/practice/hud.hpp"
#include "app/window/practice/plots.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/screen.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/settings.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "geometry/error.hpp"
#include "sim/scene/scene_writer.hpp"
#include "sim/support/files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

TEST(Screens, FromStartToReplayAndBack) {
  ScreenState state;
  for (const auto& [ask, expected] : {std::pair{Ask::Practise, ScreenName::Practice},
                                      {Ask::Nothing, ScreenName::Practice},
                                      {Ask::Again, ScreenName::Practice},
                                      {Ask::ShowMe, ScreenName::Practice},
                                      {Ask::Finish, ScreenName::Results},
                                      {Ask::OpenRecording, ScreenName::Replay},
                                      {Ask::Back, ScreenName::Results},
                                      {Ask::Again, ScreenName::Practice},
                                      {Ask::Back, ScreenName::Start},
                                      {Ask::OpenRecording, ScreenName::Replay},
                                      {Ask::Back, ScreenName::Start},
                                      {Ask::Practise, ScreenName::Practice},
                                      {Ask::Finish, ScreenName::Results},
                                      {Ask::NextStep, ScreenName::Practice},
                                      {Ask::Back, ScreenName::Start},
                                      {Ask::Edit, ScreenName::Editor},
                                      {Ask::Practise, ScreenName::Practice},
                                      {Ask::Quit, ScreenName::Quit},
                                      {Ask::Back, ScreenName::Quit}}) {
    state = next(state, ask);
    EXPECT_EQ(state.now, expected) << name_of(expected);
  }
}

TEST(Screens, RequestsThatDoNotApplyChangeNothing) {
  for (const Ask ask : {Ask::Finish, Ask::Again, Ask::Back}) EXPECT_EQ(next({}, ask).now, ScreenName::Start);
  const ScreenState results{ScreenName::Results, ScreenName::Practice};
  for (const Ask ask : {Ask::Finish, Ask::Edit, Ask::Practise, Ask::ShowMe})
    EXPECT_EQ(next(results, ask).now, ScreenName::Results);
}

TEST(Debrief, WithoutErrorsThereIsNoMoment) {
  const std::vector<TaskEvent> none, reached = {{3.0, false, "target 1 reached"}};
  for (const auto& events : {none, reached}) {
    EXPECT_FALSE(next_error(events, 0.0));
    EXPECT_FALSE(previous_error(events, 9.0));
    EXPECT_EQ(error_at(events, 3.0), nullptr);
  }
  EXPECT_TRUE(event_names(none).empty());
}

TEST(Debrief, GoesFromErrorToError) {
  const std::vector<TaskEvent> events = {{3.0, false, "target 1 reached"},
                                         {5.0, true, "left the line"},
                                         {5.01, true, "too much force"},
                                         {6.5, false, "target 2 reached"},
                                         {9.0, true, "contact lost"}};
  EXPECT_EQ(event_names(events), (std::vector<std::string>{"event 1", "error 1", "error 2", "event 2", "error 3"}));
  EXPECT_EQ(next_error(events, 0.0), 5.0 - kBeforeEvent);
  EXPECT_EQ(next_error(events, 3.0), 9.0 - kBeforeEvent) << "the first two are one moment";
  EXPECT_FALSE(next_error(events, 7.0));
  EXPECT_EQ(previous_error(events, 100.0), 9.0 - kBeforeEvent);
  EXPECT_EQ(previous_error(events, 7.0), 5.01 - kBeforeEvent);
  EXPECT_FALSE(previous_error(events, 3.0));
  EXPECT_EQ(error_at(events, 4.0), nullptr);
  EXPECT_EQ(error_at(events, 5.5)->text, "too much force");
  EXPECT_EQ(error_at(events, 8.0), nullptr);
  EXPECT_EQ(error_at(events, 9.0)->text, "contact lost");
}

TEST(Screens, AnAttemptEndsOnce) {
  EXPECT_EQ(next(Phase::Ready, PhaseEvent::Pause), Phase::Ready);
  EXPECT_EQ(next(Phase::Ready, PhaseEvent::Stop), Phase::Ready);
  EXPECT_EQ(next(Phase::Ready, PhaseEvent::Start), Phase::Running);
  EXPECT_EQ(next(Phase::Running, PhaseEvent::Pause), Phase::Paused);
  EXPECT_EQ(next(Phase::Paused, PhaseEvent::Start), Phase::Paused);
  EXPECT_EQ(next(Phase::Paused, PhaseEvent::Resume), Phase::Running);
  EXPECT_EQ(next(Phase::Paused, PhaseEvent::Stop), Phase::Ended);
  for (const PhaseEvent event : {PhaseEvent::Start, PhaseEvent::Pause, PhaseEvent::Resume})
    EXPECT_EQ(next(Phase::Ended, event), Phase::Ended);
}

TEST(StageHistory, KeepsTheLastFramesAndTheirMedians) {
  StageHistory history;
  EXPECT_FLOAT_EQ(history.median(kTissue), 0.f);
  std::array<float, kStages> stages{};
  for (int frame = 0; frame < 500; ++frame) {
    stages[kTissue] = static_cast<float>(frame);
    history.add(stages, 2.0, 1000.0);
  }
  EXPECT_EQ(history.frames(), StageHistory::kFrames);
  EXPECT_FLOAT_EQ(history.at(kTissue, 0), 499.f);
  EXPECT_FLOAT_EQ(history.at(kTissue, 179), 320.f);
  EXPECT_FLOAT_EQ(history.median(kTissue), 410.f);
  EXPECT_FLOAT_EQ(history.median(StageHistory::kDraw), 2.f);
}

TEST(StageHistory, MedianOfRecentSamples) {
  EXPECT_DOUBLE_EQ(recent_median({}), 0.0);
  std::vector<double> samples(400, 9.0);
  std::fill(samples.begin() + 220, samples.end(), 1.0);
  EXPECT_DOUBLE_EQ(recent_median(samples), 1.0);
}

TEST(SceneList, InvalidScenesKeepTheirErrorMessage) {
  TemporaryFolder folder;
  folder.write("bad.toml", "schema = 2\ntitle = \"Bad\"\nframe_rate = 3\n");
  const auto scenes = list_scenes({folder.path(), folder.path() / "missing"});
  ASSERT_EQ(scenes.size(), 1u);
  EXPECT_EQ(scenes[0].title, "bad");
  EXPECT_NE(scenes[0].fault.find("bad.toml:3: frame_rate"), std::string::npos) << scenes[0].fault;
}

TEST(SceneList, TasksAreInTheOrderOfTheCurriculum) {
  const auto folder = data_file("scenes");
  auto scenes = list_scenes({folder, folder / "procedures", folder / "tasks"});
  sort_scenes(scenes, load_curriculum(data_file("curricula/basic.toml")));
  ASSERT_GE(scenes.size(), 15u);
  EXPECT_EQ(scenes[0].file.stem(), "navigate_camera");
  EXPECT_EQ(scenes[1].file.stem(), "touch_targets");
  const auto groups = [&](std::size_t k) { return static_cast<int>(scenes[k].group); };
  for (std::size_t k = 0; k + 1 < scenes.size(); ++k) EXPECT_LE(groups(k), groups(k + 1)) << scenes[k].file;
  const auto operation = std::ranges::find(scenes, SceneGroup::Procedure, &ListedScene::group);
  ASSERT_NE(operation, scenes.end());
  EXPECT_EQ(operation->file.stem(), "cholecystectomy");
}

TEST(SceneList, EverySceneOfTheProgramHasASmallThumbnail) {
  const auto folder = data_file("scenes");
  for (const ListedScene& listed : list_scenes({folder, folder / "procedures", folder / "tasks"})) {
    const auto file = data_file("thumbnails/" + listed.file.stem().string() + ".png");
    const PictureFile picture = read_picture(file);
    EXPECT_EQ(picture.size, glm::ivec2(160, 90)) << file;
    EXPECT_LT(std::filesystem::file_size(file), 16000u) << file;
    EXPECT_GT(std::set(picture.pixels.begin(), picture.pixels.end(),
                       [](const auto& a, const auto& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); })
                  .size(),
              20u)
        << file << " is nearly of one colour";
  }
}

TEST(SceneList, TheUsersScenesAreListedAgainFromAnyFolder) {
  TemporaryFolder folder;
  const auto list = folder.path() / "station/scenes.json", out = folder.path() / "out",
             far = folder.path() / "far/mine.toml";
  for (const auto& sub : {"out", "far", "station/scenes"}) std::filesystem::create_directories(folder.path() / sub);
  const Scene scene = load_scene(data_file("scenes/liver_and_stomach.toml"));
  for (const auto& file : {out / "a.toml", far, folder.path() / "station/scenes/b.toml"}) save_scene(scene, file, true);
  folder.write("out/plan.toml", "not = \"a scene\"\n");
  folder.write("station/scenes.json", "damaged");
  EXPECT_EQ(OwnScenes(list).scenes(out, {}).size(), 2u);
  OwnScenes own(list);
  own.note(far);
  own.note(far);
  own.note(folder.path() / "gone.toml");
  const auto scenes = OwnScenes(list).scenes(out, {});
  ASSERT_EQ(scenes.size(), 3u);
  EXPECT_EQ(scenes[0].file, far);
  EXPECT_EQ(scenes[0].fault, "");
  EXPECT_EQ(scenes[0].group, SceneGroup::Own);
  EXPECT_EQ(OwnScenes(list).scenes(folder.path() / "far", {}).size(), 2u);  // once, although noted and in the folder
}

TEST(SceneList, FileNames) {
  EXPECT_EQ(file_stem("Ada Lovelace / 2"), "Ada-Lovelace-2");
  EXPECT_EQ(file_stem("../..\\x"), "x");
  TemporaryFolder folder;
  EXPECT_EQ(free_name(folder.path(), "a", ".h5").filename(), "a.h5");
  folder.write("a.h5", "");
  folder.write("a-2.h5", "");
  EXPECT_EQ(free_name(folder.path(), "a", ".h5").filename(), "a-3.h5");
}

std::string fmt_line(const KeyLine& line) { return std::string("| ") + line.keys + " | " + line.what + " |"; }

TEST(Words, ClockAndDeviceFaults) {
  EXPECT_EQ(clock_text(0.0), "0:00.0");
  EXPECT_EQ(clock_text(65.37), "1:05.3");
  EXPECT_EQ(clock_text(-1.0), "0:00.0");
  Instrument instrument;
  EXPECT_EQ(trouble_of(instrument), "");
  instrument.frozen = true;
  EXPECT_NE(trouble_of(instrument).find("no valid pose"), std::string::npos);
  instrument.health = DeviceHealth::Stale;
  EXPECT_NE(trouble_of(instrument).find("not responding"), std::string::npos);
  instrument.health = DeviceHealth::Lost;
  EXPECT_NE(trouble_of(instrument).find("disconnected"), std::string::npos);
}

TEST(Words, TheGuideListsEveryKeyAsTheHelpDoes) {
  std::ifstream in(data_file("scenes").parent_path().parent_path() / "docs" / "user-guide.md");
  const std::string guide(std::istreambuf_iterator<char>(in), {});
  ASSERT_FALSE(guide.empty());
  for (const KeyGroup& group : key_table())
    for (const KeyLine& line : group.lines) EXPECT_NE(guide.find(fmt_line(line)), std::string::npos) << fmt_line(line);
}

constexpr const char* kAbsentFile = "window.toml";

KeptSettings random_settings(std::mt19937& random) {
  const auto chance = [&] { return std::bernoulli_distribution(0.5)(random); };
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  KeptSettings kept;
  WindowSettings& window = kept.window;
  window.hands = {between(0.25, 4.0), chance()};
  window.view.round_field = chance();
  window.view.show_touched = chance();
  window.technical = chance(), window.full_screen = chance(), window.plots = chance(), window.contacts = chance();
  window.volume = between(0.0, 1.0), window.pulse = chance();
  window.ghost = static_cast<GhostMode>(random() % 3);
  if (chance()) window.field_of_view_deg = between(20.0, 120.0);
  if (chance()) window.barrel = between(0.0, 0.3);
  if (chance()) window.quality = static_cast<Quality>(random() % 3);
  kept.last = {chance() ? "/a folder/größe \\ x.toml" : "", int(random() % 9) + 1, chance() ? "scan" : "auto"};
  return kept;
}

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }
std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Names of files may have any bytes but 0 and the slash.
TEST(SettingsFile, ASceneOfAnyNameIsRemembered) {
  std::string bytes = "/";
  for (int byte = 1; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (const std::string& name : {bytes, std::string("/caf\xe9.toml"), std::string("/\xef\x9e\x80\xef\x9f\xbf.toml")}) {
    KeptSettings kept;
    kept.last.scene = name;
    EXPECT_EQ(read_settings(kAbsentFile, settings_text(kept)).last.scene.string(), name);
  }
}

TEST(SettingsFile, WhatIsWrittenIsRead) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int k = 0; k < 200; ++k) {
    const KeptSettings kept = random_settings(random);
    const KeptSettings found = read_settings(kAbsentFile, settings_text(kept));
    EXPECT_EQ(settings_text(found), settings_text(kept));
    EXPECT_EQ(found.window.hands.speed, kept.window.hands.speed);
    EXPECT_EQ(found.window.technical, kept.window.technical);
    EXPECT_EQ(found.window.field_of_view_deg, kept.window.field_of_view_deg);
    EXPECT_EQ(found.window.ghost, kept.window.ghost);
    EXPECT_EQ(found.window.volume, kept.window.volume);
    EXPECT_EQ(found.window.quality, kept.window.quality);
    EXPECT_EQ(found.last.scene, kept.last.scene);
  }
}

TEST(SettingsFile, MissingKeysKeepTheDefaults) {
  const KeptSettings found = read_settings(kAbsentFile, "");
  EXPECT_EQ(settings_text(found), settings_text({}));
  EXPECT_FALSE(found.window.technical);
  EXPECT_FALSE(found.window.view.show_touched);
  EXPECT_TRUE(found.window.view.whole_field);
}

TEST(SettingsFile, RefusesWithFileLineAndRemedy) {
  for (const char* text :
       {"mouse_sensitivity = 9", "quality = \"best\"", "ghost = \"yes\"", "volume = 2", "[last]\nbackend = \"magic\"",
        "[last]\nlevel = 0", "[last]\nperson = \"a/b\"", "colour = 1", "technical = 3", "barrel = nan"})
    try {
      read_settings("window.toml", text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("window.toml:"), std::string::npos) << error.what();
    }
}

TEST(SettingsKeeper, KeepsForTheNextStart) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "new folder" / "window.toml";
  KeptSettings kept;
  {
    SettingsKeeper keeper(file);
    EXPECT_EQ(keeper.fault(), "");
    keeper.keep(keeper.at_start());
    EXPECT_FALSE(std::filesystem::exists(file)) << "nothing has changed";
    kept.window.technical = true;
    kept.last.level = 2;
    keeper.keep(kept);
    EXPECT_EQ(keeper.fault(), "");
  }
  const SettingsKeeper again(file);
  EXPECT_EQ(settings_text(again.at_start()), settings_text(kept));
}

TEST(SettingsKeeper, LeavesADamagedFileAlone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "window.toml";
  write(file, "mouse_sensitivity = \"fast\"\n");
  SettingsKeeper keeper(file);
  EXPECT_NE(keeper.fault().find("window.toml:1"), std::string::npos) << keeper.fault();
  EXPECT_EQ(settings_text(keeper.at_start()), settings_text({}));
  KeptSettings kept;
  kept.window.plots = true;
  keeper.keep(kept);
  EXPECT_EQ(read(file), "mouse_sensitivity = \"fast\"\n");
}

TEST(SettingsKeeper, SaysWhenTheFolderCannotBeWritten) {
  const TemporaryFolder folder;
  write(folder.path() / "file", "");
  SettingsKeeper keeper(folder.path() / "file" / "window.toml");
  KeptSettings kept;
  kept.window.plots = true;
  keeper.keep(kept);
  EXPECT_NE(keeper.fault(), "");
}

}  // namespace

}  // namespace trocar
