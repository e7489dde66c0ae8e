// Tests the window without a window: screens, the scene editor, and what fails beside a picture.
#include <fcntl.h>
#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "app/view/picture_file.hpp"
#include "app/window/editor/editor_screen.hpp"
#include "app/window/input/keys.hpp"
#include "app/window/language.hpp"
#include "app/window/practice/hud.hpp"
#include "app/window/practice/plots.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/practice/practice_screen.hpp"
#include "app/window/program.hpp"
#include "app/window/screen.hpp"
#include "app/window/screens/day_screen.hpp"
#include "app/window/screens/library_screen.hpp"
#include "app/window/screens/loading_screen.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/screens/scene_speed.hpp"
#include "app/window/screens/start_screen.hpp"
#include "app/window/settings.hpp"
#include "app/window/widgets/task_panels.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/scene/scene.hpp"
#include "sim/support/files.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Tests the window's logic without a window: sequence of screens, debrief, plots and lists, and the settings that it
// keeps.

TEST(Screens, FromStartToReplayAndBack) {
  ScreenState state;
  for (const auto& [ask, expected] : {std::pair{Ask::Practise, ScreenName::Loading},
                                      {Ask::Back, ScreenName::Start},
                                      {Ask::Practise, ScreenName::Loading},
                                      {Ask::Loaded, ScreenName::Practice},
                                      {Ask::Nothing, ScreenName::Practice},
                                      {Ask::Again, ScreenName::Loading},
                                      {Ask::Loaded, ScreenName::Practice},
                                      {Ask::ShowMe, ScreenName::Loading},
                                      {Ask::Loaded, ScreenName::Practice},
                                      {Ask::Finish, ScreenName::Results},
                                      {Ask::OpenRecording, ScreenName::Replay},
                                      {Ask::Back, ScreenName::Results},
                                      {Ask::Again, ScreenName::Loading},
                                      {Ask::Back, ScreenName::Start},
                                      {Ask::OpenRecording, ScreenName::Replay},
                                      {Ask::Back, ScreenName::Start},
                                      {Ask::Practise, ScreenName::Loading},
                                      {Ask::Loaded, ScreenName::Practice},
                                      {Ask::Finish, ScreenName::Results},
                                      {Ask::NextStep, ScreenName::Loading},
                                      {Ask::Loaded, ScreenName::Practice},
                                      {Ask::Back, ScreenName::Start},
                                      {Ask::Edit, ScreenName::Editor},
                                      {Ask::Practise, ScreenName::Loading},
                                      {Ask::Quit, ScreenName::Quit},
                                      {Ask::Back, ScreenName::Quit}}) {
    state = next(state, ask);
    EXPECT_EQ(state.now, expected) << name_of(expected);
  }
}

TEST(Screens, RequestsThatDoNotApplyChangeNothing) {
  for (const Ask ask : {Ask::Finish, Ask::Again, Ask::Back, Ask::Loaded})
    EXPECT_EQ(next({}, ask).now, ScreenName::Start);
  const ScreenState results{ScreenName::Results, ScreenName::Practice};
  for (const Ask ask : {Ask::Finish, Ask::Edit, Ask::Practise, Ask::ShowMe})
    EXPECT_EQ(next(results, ask).now, ScreenName::Results);
}

TEST(SceneSpeeds, IsTheSlowerPhaseAndAtMostRealTime) {
  SceneTrial trial;
  trial.rest.total.median = 8.0, trial.press.total.median = 32.0;
  EXPECT_DOUBLE_EQ(speed_of(trial, 16.0), 0.5);
  trial.rest.total.median = 64.0;
  EXPECT_DOUBLE_EQ(speed_of(trial, 16.0), 0.25);
  trial.rest.total.median = trial.press.total.median = 4.0;
  EXPECT_DOUBLE_EQ(speed_of(trial, 16.0), 1.0);
}

// A ball, and one with 580 times its nodes, which no machine holds; the text names what it holds.
TEST(SceneSpeeds, MeasuresTheSelectedSceneFirstThenTheOthers) {
  TemporaryFolder folder;
  std::vector<ListedScene> scenes = {listed_scene(test::write_ball_task(folder)),
                                     listed_scene(test::write_ball_task(folder))};
  scenes[1].file = folder.path() / "heavy.toml", scenes[1].title = "Heavy";
  scenes[1].scene.organs[0].tissue.node_spacing *= 0.12f;
  scenes.push_back(scenes[0]);
  scenes[2].file = folder.path() / "broken.toml", scenes[2].fault = "a fault";
  SceneSpeeds speeds;
  EXPECT_EQ(speeds.text(scenes, 1), "") << "nothing is known yet";
  for (int k = 0; k < 60000 && !(speeds.of(scenes[0]) && speeds.of(scenes[1])); ++k) {
    speeds.watch(scenes, 1);
    if (speeds.of(scenes[0])) {
      EXPECT_TRUE(speeds.of(scenes[1])) << "the selected one is first";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(speeds.of(scenes[0]) && speeds.of(scenes[1]));
  EXPECT_LT(*speeds.of(scenes[1]), 0.9);
  EXPECT_FALSE(speeds.of(scenes[2]));
  const std::string text = speeds.text(scenes, 1);
  EXPECT_NE(text.find("would not count"), std::string::npos) << text;
  if (*speeds.of(scenes[0]) == 1.0) {
    EXPECT_NE(text.find(scenes[0].title), std::string::npos) << text;
  }
  EXPECT_EQ(speeds.text(scenes, 2), "");
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
  window.hands = {between(0.25, 4.0), chance()}, window.view.round_field = chance();
  window.view.show_touched = chance();
  window.technical = chance(), window.full_screen = chance(), window.plots = chance(), window.contacts = chance();
  window.letters = between(1.0, 1.5), window.lesson_offered = chance();
  window.language = chance() ? "de" : "";
  window.volume = between(0.0, 1.0), window.pulse = chance(), window.ghost = static_cast<GhostMode>(random() % 3);
  if (chance()) window.field_of_view_deg = between(20.0, 120.0);
  if (chance()) window.barrel = between(0.0, 0.3);
  if (chance()) window.quality = static_cast<Quality>(random() % 3);
  window.hands_by = static_cast<HandsBy>(random() % kHandsBy),
  window.camera = static_cast<CameraBy>(random() % kCameraBy);
  window.lens_fogs = chance(), window.captions = chance(), window.second_mouse = chance() ? "Maus \xe9 \"2\"" : "";
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
    EXPECT_EQ(found.window.hands_by, kept.window.hands_by);
    EXPECT_EQ(found.window.camera, kept.window.camera);
    EXPECT_EQ(found.window.second_mouse, kept.window.second_mouse);
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
  for (const char* text : {"mouse_sensitivity = 9", "quality = \"best\"", "ghost = \"yes\"", "volume = 2",
                           "hands = \"three\"", "camera = 1", "[last]\nbackend = \"magic\"", "[last]\nlevel = 0",
                           "[last]\nperson = \"a/b\"", "colour = 1", "technical = 3", "barrel = nan"})
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
    kept.window.technical = true, kept.last.level = 2;
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

// Tests the scene editor without a window: rays and pixels, picking compared with a test of every face, undo, saving.

constexpr glm::dvec2 kSize(1280.0, 720.0);

TEST(EditorCamera, RaysPassThroughTheirPixels) {
  const unsigned seed = 77;
  std::mt19937 random(seed);
  std::printf("seed %u\n", seed);
  std::uniform_real_distribution<> share(-1.0, 1.0);
  ScopeScene scope;
  scope.angle_deg = 30.f, scope.lens.barrel = 0.2;
  for (int round = 0; round < 200; ++round) {
    scope.spin_deg = static_cast<float>(180.0 * share(random));
    OrbitCamera orbit;
    orbit.turn(500.0 * share(random), 200.0 * share(random));
    const EditorEye eye = round % 2 == 0 ? eye_of(scope) : orbit.eye();
    const glm::dvec2 pixel(640.0 + 300.0 * share(random), 360.0 + 300.0 * share(random));
    const Ray ray = ray_through(eye, pixel, kSize);
    EXPECT_NEAR(glm::length(ray.direction), 1.0, 1e-12);
    const auto back = pixel_of(eye, ray.origin + 0.17 * ray.direction, kSize);
    ASSERT_TRUE(back);
    EXPECT_LT(glm::distance(*back, pixel), 1e-6);
    EXPECT_FALSE(pixel_of(eye, ray.origin - 0.1 * ray.direction, kSize));
  }
}

TEST(EditorCamera, OrbitsItsTarget) {
  OrbitCamera orbit;
  orbit.target = {0.1, 0.2, 0.3};
  for (const double up : {-1e4, 0.0, 1e4}) {
    orbit.turn(40.0, up);
    const EditorEye eye = orbit.eye();
    EXPECT_NEAR(glm::distance(eye.pose.eye, orbit.target), orbit.distance, 1e-9);
    const auto pixel = pixel_of(eye, orbit.target, kSize);
    ASSERT_TRUE(pixel);
    EXPECT_LT(glm::distance(*pixel, 0.5 * kSize), 1e-4);
  }
  orbit.approach(1000.0);
  EXPECT_GT(orbit.distance, 0.0);
}

TEST(EditorCamera, Planes) {
  const Ray down{{1, 2, 3}, {0, 0, -1}};
  EXPECT_EQ(*meet_plane(down, {0, 0, 1}, {0, 0, 1}), glm::dvec3(1, 2, 1));
  EXPECT_FALSE(meet_plane(down, {0, 0, 5}, {0, 0, 1}));
  EXPECT_FALSE(meet_plane(down, {0, 0, 1}, {1, 0, 0}));
}

class EditedScene : public ::testing::Test {
 protected:
  EditedScene() : editor_(load_scene(data_file("scenes/liver_and_stomach.toml"))) {}

  // Returns a ray from in front of the abdomen to the first vertex of an organ's first face, slightly shifted.
  Ray ray_onto(std::size_t organ) const {
    const MeshView mesh = editor_.meshes()[organ].view();
    const glm::dvec3 point = glm::dvec3(mesh.positions[mesh.faces[0].x] + mesh.positions[mesh.faces[0].y] +
                                        mesh.positions[mesh.faces[0].z]) /
                             3.0;
    const glm::dvec3 origin(0.0, -0.1, 0.6);
    return {origin, glm::normalize(point - origin)};
  }

  Editor editor_;
  TemporaryFolder folder_;
};

// Finds the first hit by brute force over all faces, by the method of Moeller and Trumbore.
std::optional<double> first_of_all(const MeshView& mesh, const Ray& ray) {
  std::optional<double> first;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    const glm::dvec3 p = glm::cross(ray.direction, t.c - t.a);
    const double det = glm::dot(t.b - t.a, p);
    if (std::abs(det) < 1e-18) continue;
    const glm::dvec3 s = ray.origin - t.a, q = glm::cross(s, t.b - t.a);
    const double u = glm::dot(s, p) / det, v = glm::dot(ray.direction, q) / det, at = glm::dot(t.c - t.a, q) / det;
    if (u < 0.0 || v < 0.0 || u + v > 1.0 || at < 0.0) continue;
    if (!first || at < *first) first = at;
  }
  return first;
}

TEST_F(EditedScene, PicksTheNearestFace) {
  for (std::size_t organ = 0; organ < 2; ++organ) {
    const Ray ray = ray_onto(organ);
    const auto pick = editor_.pick(ray);
    ASSERT_TRUE(pick);
    double nearest = 1e9;
    for (const TriangleMesh& mesh : editor_.meshes())
      nearest = std::min(nearest, first_of_all(mesh.view(), ray).value_or(1e9));
    EXPECT_NEAR(glm::distance(pick->point, ray.origin), nearest, 1e-9);
  }
  EXPECT_FALSE(editor_.pick({{0, 0, 1}, {0, 0, 1}}));
}

TEST_F(EditedScene, TargetsPortsAndZonesAreSavedAndReadBack) {
  editor_.add_target(*editor_.pick(ray_onto(0)));
  editor_.add_target(*editor_.pick(ray_onto(1)));
  editor_.commit(false);
  EXPECT_TRUE(editor_.fault().empty()) << editor_.fault();
  ASSERT_TRUE(editor_.add_port({{0.05, 0.02, 0.6}, {0, 0, -1}}));
  EXPECT_EQ(editor_.scene.instruments.size(), 3u);
  EXPECT_NEAR(editor_.scene.instruments[2].pivot.x, 0.05, 1e-12);
  for (const glm::dvec2 corner : {glm::dvec2(0, 0), {0.3333333, 0}, {0.3, 0.4}}) editor_.add_corner(corner);
  editor_.close_zone();
  use(kMaterials[3], editor_.scene.organs[0].tissue);
  const auto file = folder_.path() / "sub" / "edited.toml";
  editor_.save(file, false);
  EXPECT_FALSE(editor_.changed());
  const Scene read = load_scene(file);
  ASSERT_TRUE(read.task);
  EXPECT_EQ(read.task->locations.size(), 2u);
  EXPECT_EQ(read.task->locations[0].location, editor_.scene.task->locations[0].location);
  EXPECT_EQ(read.task->zones[0].outline, editor_.scene.task->zones[0].outline);
  EXPECT_EQ(read.instruments[2].pivot, editor_.scene.instruments[2].pivot);
  EXPECT_EQ(read.organs[0].tissue.youngs_modulus, kMaterials[3].youngs_modulus);
  editor_.scene.title = "again";
  editor_.save(file, false);
  EXPECT_EQ(load_scene(file).title, "again");
}

TEST_F(EditedScene, NeverOverwritesOtherFilesNorSavesInvalidScenes) {
  const auto file = folder_.write("mine.toml", "mine");
  EXPECT_THROW(editor_.save(file, false), InputError);
  EXPECT_EQ(std::filesystem::file_size(file), 4u);
  editor_.scene.task.emplace();
  editor_.commit(false);
  EXPECT_NE(editor_.fault().find("place"), std::string::npos) << editor_.fault();
  EXPECT_THROW(editor_.save(file, true), InputError);
  EXPECT_EQ(std::filesystem::file_size(file), 4u);
}

TEST_F(EditedScene, UndoRevertsStepByStep) {
  EXPECT_FALSE(editor_.can_undo());
  const glm::dvec3 port = editor_.scene.instruments[0].pivot;
  editor_.chosen = {PartKind::Instrument, 0};
  for (int pixel = 0; pixel < 20; ++pixel) {
    editor_.drag({{0.001 * pixel, 0.0, 0.6}, {0, 0, -1}}, {0, 0, -1});
    editor_.commit(true);
  }
  editor_.commit(false);
  EXPECT_NE(editor_.scene.instruments[0].pivot, port);
  editor_.add_target(*editor_.pick(ray_onto(0)));
  editor_.commit(false);
  EXPECT_TRUE(editor_.changed());
  editor_.undo();
  EXPECT_FALSE(editor_.scene.task);
  EXPECT_NE(editor_.scene.instruments[0].pivot, port);
  editor_.undo();
  EXPECT_EQ(editor_.scene.instruments[0].pivot, port);
  EXPECT_FALSE(editor_.can_undo());
  EXPECT_FALSE(editor_.changed());
  editor_.undo();
}

TEST_F(EditedScene, RemovesTheSelectionButNeverTheLastInstrument) {
  editor_.add_target(*editor_.pick(ray_onto(0)));
  editor_.remove_chosen();
  EXPECT_TRUE(editor_.scene.task->locations.empty());
  for (int k = 0; k < 5; ++k) {
    editor_.chosen = {PartKind::Instrument, 0};
    editor_.remove_chosen();
  }
  EXPECT_EQ(editor_.scene.instruments.size(), 1u);
  editor_.chosen = {PartKind::Organ, 0};
  editor_.remove_chosen();
  EXPECT_EQ(editor_.scene.organs.size(), 2u);
}

TEST_F(EditedScene, RedoBringsBackWhatUndoTookUntilTheNextChange) {
  editor_.redo();
  EXPECT_FALSE(editor_.can_redo());
  editor_.scene.title = "one";
  editor_.commit(false);
  editor_.scene.title = "two";
  editor_.commit(false);
  editor_.undo();
  editor_.undo();
  editor_.redo();
  EXPECT_EQ(editor_.scene.title, "one");
  EXPECT_TRUE(editor_.can_redo());
  editor_.scene.title = "three";
  editor_.commit(false);
  EXPECT_FALSE(editor_.can_redo());
  editor_.undo();
  EXPECT_EQ(editor_.scene.title, "one");
}

// A change that is not settled yet is a step of its own.
TEST_F(EditedScene, UndoFirstTakesBackTheLatestChange) {
  const std::string title = editor_.scene.title;
  editor_.scene.title = "unsettled";
  editor_.undo();
  EXPECT_EQ(editor_.scene.title, title);
  editor_.redo();
  EXPECT_EQ(editor_.scene.title, "unsettled");
}

// Makes one random change of any kind; most of them leave a scene that loads, some do not.
void change_at_random(Editor& editor, std::mt19937& random, const Ray& ray) {
  const auto pick = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
  const double share = std::uniform_real_distribution<>(0.1, 1.0)(random);
  Scene& scene = editor.scene;
  switch (pick(12)) {
    case 0:
      return editor.add_attachment(pick(scene.organs.size()));
    case 1:
      return editor.add_band();
    case 2:
      return editor.add_layer();
    case 3:
      return editor.add_limit();
    case 4:
      return editor.add_target(*editor.pick(ray));
    case 5:
      scene.breathing.amplitude = static_cast<float>(0.01 * share);
      return;
    case 6:
      scene.instruments[pick(scene.instruments.size())].tip.x = -0.05 * share;
      return;
    case 7:
      if (scene.task) scene.task->time_good = 10.0 * share;
      return;
    case 8:
      scene.title = fmt::format("title {}", share);
      return;
    case 9:
      editor.chosen = {PartKind::Attachment, pick(scene.organs.size()), pick(3)};
      return editor.remove_chosen();
    case 10:
      editor.chosen = {PartKind::Band, pick(3), pick(4)};
      return share < 0.5 ? editor.remove_chosen() : editor.drag(ray, {0, 0, -1});
    default:
      scene.organs[pick(scene.organs.size())].tissue.youngs_modulus = static_cast<float>(1e4 * share);
  }
}

TEST_F(EditedScene, UndoAllIsTheOriginalAndRedoAllTheLast) {
  const unsigned seed = 2611;
  std::mt19937 random(seed);
  const auto text = [&] { return scene_text(editor_.scene, editor_.scene.file); };
  const std::string original = text();
  std::vector<std::string> texts{original};
  while (texts.size() < 151) {
    change_at_random(editor_, random, ray_onto(0));
    editor_.commit(false);
    if (text() != texts.back()) texts.push_back(text());
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t k = texts.size() - 1; k-- > 0;) {
      ASSERT_TRUE(editor_.can_undo());
      editor_.undo();
      ASSERT_EQ(text(), texts[k]) << k;
    }
    EXPECT_FALSE(editor_.can_undo());
    EXPECT_FALSE(editor_.changed());
    for (std::size_t k = 1; k < texts.size(); ++k) {
      editor_.redo();
      ASSERT_EQ(text(), texts[k]) << k;
    }
    EXPECT_FALSE(editor_.can_redo());
  }
}

TEST_F(EditedScene, WhatHoldsOrgansIsAddedMovedSavedAndRemoved) {
  editor_.chosen = {PartKind::Organ, 1};
  editor_.add_band();
  EXPECT_EQ(editor_.scene.bands[0].organ, editor_.scene.organs[1].name);
  editor_.chosen.corner = 3;
  const glm::vec3 end = editor_.scene.bands[0].params.to_end;
  editor_.drag({{0.01, 0.02, 0.6}, {0, 0, -1}}, {0, 0, -1});
  EXPECT_NE(editor_.scene.bands[0].params.to_end, end);
  EXPECT_EQ(editor_.scene.bands[0].params.to_end.z, end.z);
  const std::size_t before = editor_.scene.organs[0].attachments.size();
  editor_.add_attachment(0);
  editor_.drag({{0.03, 0.04, 0.6}, {0, 0, -1}}, {0, 0, -1});
  EXPECT_NEAR(editor_.scene.organs[0].attachments[before].centre.x, 0.03, 1e-6);
  editor_.add_layer();
  editor_.scene.breathing.rate = 0.5f;
  editor_.commit(false);
  EXPECT_TRUE(editor_.fault().empty()) << editor_.fault();
  const auto file = folder_.path() / "held.toml";
  editor_.save(file, false);
  const Scene read = load_scene(file);
  EXPECT_EQ(read.bands[0].params.to_end, editor_.scene.bands[0].params.to_end);
  EXPECT_EQ(read.layers[0].to, editor_.scene.organs[1].name);
  EXPECT_EQ(read.organs[0].attachments.size(), before + 1);
  EXPECT_EQ(read.breathing.rate, 0.5f);
  for (const Part part : {Part{PartKind::Attachment, 0, before}, Part{PartKind::Band, 0}, Part{PartKind::Layer, 0}}) {
    ASSERT_TRUE(editor_.has(part));
    editor_.chosen = part;
    editor_.remove_chosen();
    EXPECT_FALSE(editor_.has(part));
  }
  for (const PartKind kind : {PartKind::Marks, PartKind::Limit, PartKind::Target, PartKind::Zone})
    EXPECT_FALSE(editor_.has({kind, 0}));
}

TEST(SceneCopies, HaveNamesAndTitlesOfTheirOwn) {
  TemporaryFolder folder;
  Scene scene;
  scene.file = "/scenes/cut_band.toml", scene.title = "Cut";
  const SceneCopy first = copy_of(scene, folder.path());
  EXPECT_EQ(first.file, folder.path() / "cut_band-edited.toml");
  EXPECT_EQ(first.scene.title, "Cut (edited)");
  EXPECT_EQ(first.scene.file, scene.file);
  folder.write("cut_band-edited.toml", "");
  scene = first.scene, scene.file = first.file;
  scene.task.emplace().title = "Stretch (edited 7)";
  const SceneCopy second = copy_of(scene, folder.path());
  EXPECT_EQ(second.file, folder.path() / "cut_band-edited-2.toml");
  EXPECT_EQ(second.scene.title, "Cut (edited 2)");
  EXPECT_EQ(second.scene.task->title, "Stretch (edited 2)");
  Scene plain;
  plain.file = "re-edited-x.toml";
  EXPECT_EQ(copy_of(plain, folder.path()).scene.title, "re-edited-x (edited)");
  plain.title = "(edited) by (edited x)";
  EXPECT_EQ(copy_of(plain, folder.path()).scene.title, "(edited) by (edited x) (edited)");
  plain.title = std::string(199, 'a') + "\u00E9";
  EXPECT_LE(copy_of(plain, folder.path()).scene.title.size(), 200u);
}

// Tests what fails beside a picture. What fails while a panel is drawn is a sentence, and leaves the library of the
// panels in order; its own checks end the program otherwise. A database that fails is a sentence, and one that never
// answers is never waited for. Jobs end with their caller, also when it is killed. When the window's OpenGL context is
// lost during a session, the recording is closed completely, and the program ends with an error message; this needs a
// display, which the test app.window_lost provides.

// Panels without a window: input is set by hand, nothing is drawn.
class PanelsTest : public ::testing::Test {
 protected:
  PanelsTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr, io.UserData = &shown_, io.DisplaySize = {1280.f, 720.f};
    io.Fonts->AddFontDefault();
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ~PanelsTest() override { ImGui::DestroyContext(); }

  // One picture, as the program draws it.
  template <typename Draw>
  std::string picture(Draw&& draw) {
    shown_.items.clear();
    ImGui::NewFrame();
    std::string fault;
    try {
      draw();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    ImGui::Render();
    return fault;
  }
  bool has(const std::string& label) const {
    return std::ranges::find(shown_.items, label, &theme::ItemPosition::label) != shown_.items.end();
  }
  void point_at(const std::string& label) {
    const auto item = std::ranges::find(shown_.items, label, &theme::ItemPosition::label);
    ASSERT_NE(item, shown_.items.end()) << label;
    ImGui::GetIO().MousePos = {0.5f * (item->from.x + item->to.x), 0.5f * (item->from.y + item->to.y)};
  }

  // The ball's task before its start.
  PracticeScreen& practice_screen() {
    PracticePlan plan;
    plan.backend = "scan", plan.check = false, plan.folder = folder_.path();
    practice_ = std::make_unique<PracticeScreen>(
        std::make_unique<Practice>(load_scene(test::write_ball_task(folder_)), plan, nullptr), settings_, ghost_,
        folder_.path(), nullptr);
    return *practice_;
  }

  theme::ShownFrame shown_;
  TemporaryFolder folder_;
  WindowSettings settings_;
  GhostShow ghost_;
  std::unique_ptr<PracticeScreen> practice_;
};

TEST_F(PanelsTest, AnExceptionInEveryScopeLeavesThePanelsInOrder) {
  const auto draw = [](int deepest) {
    const theme::Panel panel("panel", {}, theme::PanelKind::Used);
    const auto at = [deepest](int depth) {
      if (depth == deepest) throw std::logic_error("a fault");
    };
    at(0);
    const theme::WithLetters letters(theme::Letters::Small);
    const theme::Scope tabs = theme::tab_bar("tabs");
    const theme::Scope tab = theme::tab("tab");
    at(1);
    const theme::Scope child = theme::child("child", {300.f, 300.f});
    at(2);
    const theme::Scope group = theme::group();
    const theme::Scope indent = theme::indent(10.f);
    at(3);
    const theme::Scope id = theme::with_id(7);
    const theme::Scope padding = theme::with_cell_padding({1.f, 1.f});
    const theme::Scope table = theme::table("table", 2, 0);
    at(4);
    ImGui::TableNextColumn();
    const theme::Scope combo = theme::combo("combo", "shown");
    at(5);
  };
  for (int deepest = 0; deepest <= 6; ++deepest)
    for (int again = 0; again < 3; ++again)
      EXPECT_EQ(picture([&] { draw(deepest); }), deepest < 6 ? "a fault" : "") << deepest;
}

// The panels number keys as GLFW does. A key pressed as soon as a list of cards is there moves the focus, and counts.
TEST_F(PanelsTest, AnArrowKeySelectsACardInTheFirstPicturesToo) {
  constexpr int kCards = 3, kPictures = 12, kDownKey = 264;
  ImGuiIO& io = ImGui::GetIO();
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = kDownKey - ImGuiKey_DownArrow + key;
  for (int pressed = 1; pressed < 8; ++pressed) {
    CardFocus focus;
    std::size_t selected = 0;
    const auto draw = [&] {
      const theme::Panel panel(std::to_string(pressed).c_str(), {}, theme::PanelKind::Used);
      focus.begin();
      for (std::size_t k = 0; k < kCards; ++k) {
        ImGui::Selectable(std::to_string(k).c_str(), k == selected);
        if (k == selected && focus.fresh()) ImGui::SetItemDefaultFocus();
        if (focus.moved_to(k)) selected = k;
      }
    };
    for (int shown = 0; shown < kPictures; ++shown) {
      io.KeysDown[kDownKey] = shown == pressed;
      EXPECT_EQ(picture(draw), "");
    }
    EXPECT_EQ(selected, 1u) << "pressed in picture " << pressed;
  }
}

TEST(WindowLanguage, TheEnvironmentNamesLanguagesInOrder) {
  using Codes = std::vector<std::string>;
  EXPECT_EQ(wanted_languages("", ""), Codes{"en"});
  EXPECT_EQ(wanted_languages("", "C.UTF-8"), Codes{"en"});
  EXPECT_EQ(wanted_languages("", "de_AT.UTF-8"), (Codes{"de_AT", "de", "en"}));
  EXPECT_EQ(wanted_languages("fr:de", "it_IT.UTF-8"), (Codes{"fr", "de", "it_IT", "it", "en"}));
  EXPECT_EQ(wanted_languages("en_GB:de", "fr_FR"), (Codes{"en_GB", "en"})) << "English is never missing";
  EXPECT_EQ(wanted_languages("../../etc/passwd", "/"), Codes{"en"});
  EXPECT_EQ(wanted_languages("sr@latin", ""), (Codes{"sr@latin", "sr", "en"}));
}

TEST(WindowLanguage, DamagedCataloguesCannotBeChosen) {
  const TemporaryFolder folder;
  folder.write("de.po", "msgid \"\"\nmsgstr \"X-Language-Name: Deutsch\\n\"\n");
  folder.write("fr.po", "msgid");
  folder.write("it.po", "");
  folder.write("trocar.pot", "");
  std::vector<std::string> names;
  for (const Language& language : languages_in(folder.path())) names.push_back(language.name);
  EXPECT_EQ(names, (std::vector<std::string>{"English", "Deutsch", "it"}));
  EXPECT_EQ(languages_in(folder.path() / "none").size(), 1u);
}

// The list of the editor shows every part with its sign and says which one is under the pointer; kinds have titles.
TEST_F(PanelsTest, TheEditorListsEveryPartAndSaysWhichIsPointedAt) {
  Editor editor(load_scene(repository_file("data") / "scenes/tasks/clip_and_cut.toml"));
  editor.add_band();
  editor.add_attachment(0);
  std::optional<Part> pointed;
  shown_.with_words = true;
  const auto draw = [&] {
    shown_.words.clear();
    return picture([&] {
      pointed = draw_parts(editor, {});
      draw_fields(editor, {});
    });
  };
  for (const PartKind kind : {PartKind::Task, PartKind::Scope, PartKind::Organ, PartKind::Attachment, PartKind::Band,
                              PartKind::Instrument, PartKind::Tip, PartKind::Target}) {
    editor.chosen = {kind};
    if (!editor.has(editor.chosen)) continue;
    EXPECT_EQ(draw(), "");
    EXPECT_NE(title_of(editor, editor.chosen), "");
  }
  const auto said = [&](const char* words) { return std::ranges::find(shown_.words, words) != shown_.words.end(); };
  editor.chosen = {PartKind::Instrument, 0};
  draw();
  EXPECT_TRUE(said(title_of(editor.scene.instruments[0].kind).c_str()));
  EXPECT_FALSE(said(name_of(editor.scene.instruments[0].kind)));
  point_at("breathing");
  draw(), draw();
  EXPECT_EQ(pointed, Part{PartKind::Breathing});
  ImGui::GetIO().MousePos = {-1.f, -1.f};
  draw(), draw();
  EXPECT_FALSE(pointed);
  std::erase_if(editor.scene.instruments, [](const auto&) { return true; });  // nothing is left to list
  editor.scene.task.reset(), editor.scene.bands.clear(), editor.chosen = {PartKind::Tip, 0};
  EXPECT_EQ(draw(), "");
}

void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

class LibraryTest : public PanelsTest {
 protected:
  LibraryTest() {
    LabDatabase lab = station_.open_to_write();
    for (const char* person : {"ann", "ben"}) {
      LabAttempt attempt;
      attempt.key = new_attempt_key();
      attempt.person = person, attempt.scene = "x", attempt.started = 1.0, attempt.score = 50.0,
      attempt.ending = "done";
      lab.add_attempt(attempt);
    }
  }

  void show(LibraryScreen& screen) {
    screen.step({}, 1.0 / 60.0, true);
    EXPECT_EQ(picture([&] { screen.panels(); }), "");
  }
  // Shows pictures until the condition holds; a minute at most.
  template <typename Condition>
  void show_until(LibraryScreen& screen, Condition&& condition) {
    for (int k = 0; k < 30000 && !condition(); ++k) {
      show(screen);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ASSERT_TRUE(condition()) << screen.status().phase << " " << screen.status().note;
  }
  void click(LibraryScreen& screen, const std::string& label) {
    point_at(label);
    show(screen);
    for (const bool down : {true, false}) {
      ImGui::GetIO().MouseDown[0] = down;
      show(screen);
    }
  }

  std::filesystem::path database_ = folder_.path() / "lab.sqlite";
  LabStation station_{{database_, folder_.path() / "waiting", folder_.path() / "lab.toml"}};
};

TEST_F(LibraryTest, ShowsThePeopleAndTheirAttempts) {
  LibraryScreen screen(station_, {}, nullptr);
  show_until(screen, [&] { return has("ann") && has("Attempt 1"); });
  click(screen, "ben");
  show_until(screen, [&] { return screen.status().phase == "listing"; });
  EXPECT_EQ(screen.status().frames, 1u);
}

TEST_F(LibraryTest, AnInstructorCommentsAnAttempt) {
  LibraryScreen screen(station_, {}, nullptr, false, "ben");
  show_until(screen, [&] { return has("Attempt 1") && screen.status().phase == "listing"; });
  click(screen, "Attempt 1");
  click(screen, "Comment...");
  show_until(screen, [&] { return has("Add"); });
  EXPECT_EQ(screen.status().phase, "comments");
  click(screen, "Add");  // nothing is typed
  EXPECT_NE(screen.status().note.find("cannot be used"), std::string::npos) << screen.status().note;
  const auto type = [&](const char* field, const char* text) {
    click(screen, field);
    ImGui::GetIO().AddInputCharactersUTF8(text);
    show(screen);
  };
  type("Your id", "anna");
  click(screen, "Add");
  EXPECT_NE(screen.status().note.find("is empty"), std::string::npos) << screen.status().note;
  type("Comment text", "Both hands, é %s <b>");
  click(screen, "Add");
  show_until(screen, [&] { return screen.status().note == "The comment is kept with the attempt."; });
  show_until(screen, [&] { return has("Add"); });
  const auto comments = station_.open_to_read().comments_of("ben");
  ASSERT_EQ(comments.size(), 1u);
  EXPECT_EQ(comments[0].text, "Both hands, é %s <b>");
  EXPECT_EQ(comments[0].author, "anna");
  click(screen, "Close");
  show_until(screen, [&] { return has("Comments..."); });
}

TEST_F(LibraryTest, TheDayListsWhoPractisedAndIsEmptyWithoutThem) {
  DayScreen day(station_, {});
  const auto shown = [&] {
    for (int k = 0; k < 30000; ++k) {
      day.step({}, 1.0 / 60.0, true);
      picture([&] { day.panels(); });
      if (day.status().phase != "asking") break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return day.status();
  };
  EXPECT_EQ(shown().frames, 0u);  // their attempts are old
  EXPECT_TRUE(has("Ask again"));
  {
    LabDatabase lab = station_.open_to_write();
    LabAttempt attempt;
    attempt.key = new_attempt_key(), attempt.person = "ben", attempt.scene = "x", attempt.ending = "done";
    attempt.started = now_in_seconds() - 60.0, attempt.score = 40.0;
    lab.add_attempt(attempt);
  }
  day = DayScreen(station_, {});
  EXPECT_EQ(shown().frames, 1u) << day.status().note;
  EXPECT_TRUE(has("day of ben"));
}

// Another program removes a table, or the file is overwritten, while People is open; then something is pressed.
TEST_F(LibraryTest, AFailingDatabaseIsASentenceWhateverIsPressed) {
  for (const char* what : {"ann", "ben", "Pick ann"}) {
    const std::filesystem::path kept = folder_.path() / "kept.sqlite";
    std::filesystem::copy_file(database_, kept);
    LibraryScreen screen(station_, {}, nullptr);
    show_until(screen, [&] { return has("ann") && has("Attempt 1"); });
    run_sql(database_, "drop table attempt; drop table standing");
    click(screen, what);
    show_until(screen, [&] { return screen.status().phase == "fault"; });
    EXPECT_NE(screen.status().note, "") << what;
    show(screen);
    for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(database_.string() + ending);
    std::filesystem::rename(kept, database_);
  }
}

// A session is loaded in a thread: the first picture is there at once, and the session is the one that is made
// directly.
TEST_F(PanelsTest, LoadingShowsAPictureAtOnce) {
  PracticePlan plan;
  plan.backend = "obb-refit", plan.folder = folder_.path();
  const Scene scene = load_scene(test::write_ball_task(folder_));
  LoadingScreen screen(scene, plan, nullptr);
  Ask ask = Ask::Nothing;
  for (int k = 0; k < 20000 && ask == Ask::Nothing; ++k) {
    screen.step({}, 1e-3, true);
    EXPECT_EQ(picture([&] { ask = screen.panels(); }), "");
    if (k == 0) {
      EXPECT_TRUE(has("Back"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(ask, Ask::Loaded);
  const std::unique_ptr<Practice> loaded = screen.take();
  const Practice direct(scene, plan, nullptr);
  EXPECT_EQ(loaded->session().backend().name, direct.session().backend().name);
  EXPECT_EQ(loaded->plan().backend, "obb-refit");
  EXPECT_EQ(loaded->hands().in_hand(), direct.hands().in_hand());
}

TEST_F(PanelsTest, LoadingCanBeLeftAndFaultsAreTold) {
  PracticePlan plan;
  plan.folder = folder_.path();
  Scene scene = load_scene(test::write_ball_task(folder_));
  {
    LoadingScreen left(scene, plan, nullptr);
    WindowInput escape;
    escape.pressed = {Key::Escape};
    left.step(escape, 1e-3, true);
    Ask ask = Ask::Nothing;
    EXPECT_EQ(picture([&] { ask = left.panels(); }), "");
    EXPECT_EQ(ask, Ask::Back);
  }
  scene.organs[0].mesh = folder_.path() / "absent.obj";
  LoadingScreen screen(scene, plan, nullptr);
  Ask ask = Ask::Nothing;
  for (int k = 0; k < 20000 && ask == Ask::Nothing; ++k) {
    screen.step({}, 1e-3, true);
    EXPECT_EQ(picture([&] { ask = screen.panels(); }), "");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THROW(screen.take(), InputError);
}

// Restart, the start screen and the window's X ask before an attempt that is recorded ends.
TEST_F(PanelsTest, AnAttemptIsLeftOnlyAfterAQuestion) {
  PracticeScreen& screen = practice_screen();
  EXPECT_FALSE(screen.ask_to_leave(Ask::Quit)) << "nothing is recorded yet";
  screen.start();
  screen.step({}, 1.0 / 60.0, true);
  ASSERT_TRUE(screen.ask_to_leave(Ask::Quit));
  EXPECT_FALSE(screen.ask_to_leave(Ask::Quit)) << "closing the window again ends it";
  EXPECT_EQ(screen.status().phase, "leaving");
  EXPECT_EQ(screen.practice().phase(), Phase::Paused);
  Ask ask = Ask::Nothing;
  const auto show = [&] { EXPECT_EQ(picture([&] { ask = screen.panels(); }), ""); };
  show();
  EXPECT_EQ(ask, Ask::Nothing);
  WindowInput escape;
  escape.pressed = {Key::Escape};
  screen.step(escape, 1.0 / 60.0, true);
  EXPECT_EQ(screen.status().phase, "running") << "the attempt goes on";
  ASSERT_TRUE(screen.ask_to_leave(Ask::Again));
  show();
  EXPECT_TRUE(has("End and restart"));
}

TEST_F(PanelsTest, SettingsOpenWithoutAPicture) {
  PracticeScreen& screen = practice_screen();
  WindowInput input;
  input.pressed = {Key::F2};
  screen.step(input, 1.0 / 60.0, true);
  EXPECT_EQ(picture([&] { screen.panels(); }), "");
  EXPECT_EQ(screen.status().phase, "settings");
}

}  // namespace

// How often the time of a recording was asked for. Each time it is later, as that of a recording in progress.
std::atomic<int> asked_times = 0;

namespace {

TEST_F(PanelsTest, RecordingsAreSortedByTimesThatAreReadOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has its own stat()";
#endif
  for (int k = 0; k < 30; ++k) folder_.write("attempt" + std::to_string(k) + ".h5", "x");
  RecordingChooser chooser(folder_.path());
  asked_times = 0;
  chooser.open();
  EXPECT_EQ(asked_times, 30);
}

// A server that takes connections and never says a word.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_, 8);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = "postgresql://user@127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/lab?connect_timeout=600";
  }
  ~SilentServer() { close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  const std::string& address() const { return address_; }

 private:
  int socket_;
  std::string address_;
};

class LibraryDeskTest : public ::testing::Test {
 protected:
  LabStation station(const std::string& database = {}) const {
    return LabStation({folder_.path() / "lab.sqlite", folder_.path() / "waiting", folder_.path() / "lab.toml"},
                      database);
  }
  static LabAttempt attempt(const std::string& person, double started, double score) {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "x", attempt.started = started, attempt.score = score;
    attempt.ending = "done";
    return attempt;
  }
  static void wait(LibraryDesk& desk) {
    for (int k = 0; k < 60000 && desk.asking(); ++k) {
      desk.step(0.001);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_FALSE(desk.asking());
  }

  TemporaryFolder folder_;
};

TEST_F(LibraryDeskTest, AnEmptyDatabaseHasNoPeople) {
  LibraryDesk desk(station());
  desk.ask({});
  wait(desk);
  EXPECT_EQ(desk.fault(), "");
  EXPECT_EQ(desk.answers(), 1u);
  EXPECT_TRUE(desk.answer().people.empty());
  EXPECT_EQ(desk.answer().question.person, "");
}

TEST_F(LibraryDeskTest, TheFirstOneFoundIsSelectedAndOthersAreCompared) {
  {
    LabDatabase lab = station().open_to_write();
    lab.add_attempt(attempt("zoe", 1.0, 50.0));
    lab.add_attempt(attempt("zoe", 2.0, 60.0));
    lab.add_attempt(attempt("li", 3.0, 70.0));
  }
  LibraryDesk desk(station());
  desk.ask({});
  wait(desk);
  EXPECT_EQ(desk.answer().question.person, "li") << "the latest attempt";
  EXPECT_TRUE(desk.answer().curves.empty());
  desk.ask({.person = "zoe", .scene = "x", .level = 1, .compared = {"li", "zoe"}});
  wait(desk);
  EXPECT_EQ(desk.answer().attempts.size(), 2u);
  ASSERT_EQ(desk.answer().curves.size(), 2u);
  EXPECT_EQ(desk.answer().curves[0].values.values, (std::vector<double>{50.0, 60.0}));
  EXPECT_EQ(desk.answer().curves[1].person, "li");
}

TEST_F(LibraryDeskTest, OnlyTheLastLetterIsSearchedFor) {
  station().open_to_write().add_person({"zoe", "", 1.0});
  LibraryDesk desk(station());
  for (const char* part : {"z", "zo", "zox"}) {
    desk.ask({.part = part}, 0.25);
    desk.step(0.1);
  }
  EXPECT_EQ(desk.answers(), 0u);
  wait(desk);
  EXPECT_EQ(desk.answers(), 1u) << "one question for three letters";
  EXPECT_EQ(desk.answer().question.part, "zox");
  EXPECT_TRUE(desk.answer().people.empty());
}

TEST_F(LibraryDeskTest, AFailingDatabaseIsASentenceAndCanBeAskedAgain) {
  station().open_to_write().add_person({"zoe", "", 1.0});
  LibraryDesk desk(station());
  desk.ask({});
  wait(desk);
  ASSERT_EQ(desk.fault(), "");
  const std::string path = (folder_.path() / "lab.sqlite").string();
  const auto good = path + ".good";
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::error_code none;
    std::filesystem::rename(path + ending, good + ending, none);
  }
  std::ofstream(path) << std::string(5000, '?');
  LibraryDesk other(station());
  other.ask({});
  wait(other);
  EXPECT_NE(other.fault(), "");
  std::filesystem::rename(good, path);
  other.ask_again();
  wait(other);
  EXPECT_EQ(other.fault(), "");
  EXPECT_EQ(other.answer().people.size(), 1u);
}

TEST_F(LibraryDeskTest, AServerThatNeverAnswersIsNeverWaitedFor) {
  const SilentServer server;
  {
    LibraryDesk desk(station(server.address()));
    desk.ask({});
    for (int k = 0; k < 100; ++k) desk.step(0.01);
    desk.ask({.part = "z"}, 0.25);
    for (int k = 0; k < 100; ++k) desk.step(0.01);
    EXPECT_TRUE(desk.asking());
  }  // would wait here for ten minutes
}

using namespace std::chrono_literals;

class BackgroundJobsTest : public ::testing::Test {
 protected:
  std::string at(const char* name) const { return (folder_.path() / name).string(); }
  static void finish(BackgroundJobs& jobs) {
    while (jobs.busy()) {
      jobs.step();
      std::this_thread::sleep_for(1ms);
    }
  }
  // A job that notes its process and then waits for a minute.
  BackgroundJobs::Job long_job() const { return {"-c", "echo $$ >" + at("process") + "; exec sleep 60"}; }
  pid_t process_of_long_job() const {
    std::string text;
    while (!text.ends_with('\n')) {
      std::this_thread::sleep_for(1ms);
      text = std::filesystem::exists(at("process")) ? read_file(at("process")) : "";
    }
    return std::stoi(text);
  }
  // Whether the process ends; a zombie has ended.
  static bool ends(pid_t process) {
    for (int k = 0; k < 5000; ++k, std::this_thread::sleep_for(1ms)) {
      const std::string stat = "/proc/" + std::to_string(process) + "/stat";
      if (!std::filesystem::exists(stat) || read_file(stat).find(") Z ") != std::string::npos) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
};

TEST_F(BackgroundJobsTest, RunOneAfterTheOtherAtTheLowestPriority) {
  BackgroundJobs jobs("/bin/sh");
  EXPECT_FALSE(jobs.busy());
  jobs.step();  // without a job
  for (const char* name : {"a", "b", "a"})
    jobs.add({"-c", std::string("nice >>") + at("out") + "; echo " + name + " >>" + at("out")});
  finish(jobs);
  EXPECT_EQ(read_file(at("out")), "19\na\n19\nb\n");
}

TEST_F(BackgroundJobsTest, AProgramThatIsNotThereDoesNoHarm) {
  BackgroundJobs jobs(at("nothing"));
  jobs.add({"x"});
  finish(jobs);
}

TEST_F(BackgroundJobsTest, EndWithTheirCaller) {
  const auto begin = std::chrono::steady_clock::now();
  pid_t process = 0;
  {
    BackgroundJobs jobs("/bin/sh");
    jobs.add(long_job());
    jobs.step();
    process = process_of_long_job();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_TRUE(ends(process));
}

TEST_F(BackgroundJobsTest, EndWithACallerThatIsKilled) {
  const pid_t caller = fork();
  if (caller == 0) {
    BackgroundJobs jobs("/bin/sh");
    jobs.add(long_job());
    jobs.step();
    for (;;) pause();
  }
  const pid_t process = process_of_long_job();
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  EXPECT_TRUE(ends(process));
}

GLenum GLAD_API_PTR was_reset() { return GL_UNKNOWN_CONTEXT_RESET; }

// Makes the driver report a lost context after the recording has begun. The thread of the window reads the driver's
// functions in every frame, so it also replaces this one: in a signal handler.
void lose_context_once_there_is(const std::filesystem::path& recording, pthread_t window) {
  for (int i = 0; i < 600 && !std::filesystem::exists(recording); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  pthread_kill(window, SIGUSR1);
}

TEST(WindowLost, ClosesTheRecordingAndReportsIt) {
  if (!std::getenv("DISPLAY")) GTEST_SKIP() << "no display";
  TemporaryFolder folder;
  WindowOptions options;
  options.scene = test::write_ball_scene(folder, {.subdivisions = 3, .node_spacing = 15});
  options.folder = folder.path(), options.record = true, options.check = false, options.backend = "scan";
  options.width = 320, options.height = 240, options.quality = Quality::Low;
  const auto recording = folder.path() / "ball.h5";
  signal(SIGUSR1, [](int) { glad_debug_glGetGraphicsResetStatus = was_reset; });
  std::thread driver([&, window = pthread_self()] { lose_context_once_there_is(recording, window); });
  std::string why, said;
  try {
    const bool opened = run_window(options, why);
    driver.join();
    if (!opened) GTEST_SKIP() << why;
  } catch (const RunError& error) {
    driver.join();
    said = error.what();
  }
  EXPECT_EQ(said, "the graphics driver lost the window's OpenGL context; the recording " + recording.string() +
                      " is complete up to here; start the program again");
  const Recording read(recording);
  EXPECT_TRUE(read.clean());
  EXPECT_GT(read.frame_count(), 1u);
}

}  // namespace

}  // namespace trocar

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Stands for the C library's function, also in the standard library.
extern "C" __attribute__((visibility("default"))) int stat(const char* file, struct stat* info) noexcept {
  const int result = fstatat(AT_FDCWD, file, info, 0);
  if (std::string_view(file).ends_with(".h5")) info->st_mtim.tv_sec += ++trocar::asked_times;
  return result;
}
#endif
