// Tests the window's panels without a window: what fails while a panel is drawn is a sentence, and leaves the library
// of the panels in order. Its own checks end the program otherwise.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <imgui.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "app/window/practice/practice_screen.hpp"
#include "app/window/screens/library_screen.hpp"
#include "app/window/screens/start_screen.hpp"
#include "app/window/widgets/theme.hpp"
#include "tests/app/ball_task.hpp"

namespace trocar {
namespace {

// Panels without a window: input is set by hand, nothing is drawn.
class PanelsTest : public ::testing::Test {
 protected:
  PanelsTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.UserData = &items_;
    io.DisplaySize = {1280.f, 720.f};
    io.Fonts->AddFontDefault();
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ~PanelsTest() override { ImGui::DestroyContext(); }

  // One picture, as the program draws it.
  template <typename Draw>
  std::string picture(Draw&& draw) {
    items_.clear();
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
    return std::ranges::find(items_, label, &theme::ItemPosition::label) != items_.end();
  }
  void point_at(const std::string& label) {
    const auto item = std::ranges::find(items_, label, &theme::ItemPosition::label);
    ASSERT_NE(item, items_.end()) << label;
    ImGui::GetIO().MousePos = {0.5f * (item->from.x + item->to.x), 0.5f * (item->from.y + item->to.y)};
  }

  std::vector<theme::ItemPosition> items_;
  TemporaryFolder folder_;
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
  LibraryScreen screen(station_);
  show_until(screen, [&] { return has("ann") && has("Attempt 1"); });
  click(screen, "ben");
  show_until(screen, [&] { return screen.status().phase == "listing"; });
  EXPECT_EQ(screen.status().frames, 1u);
}

// Another program removes a table, or the file is overwritten, while People is open; then something is pressed.
TEST_F(LibraryTest, AFailingDatabaseIsASentenceWhateverIsPressed) {
  for (const char* what : {"ann", "ben", "Pick ann"}) {
    const std::filesystem::path kept = folder_.path() / "kept.sqlite";
    std::filesystem::copy_file(database_, kept);
    LibraryScreen screen(station_);
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

TEST_F(PanelsTest, SettingsOpenWithoutAPicture) {
  PracticePlan plan;
  plan.backend = "scan", plan.check = false, plan.folder = folder_.path();
  WindowSettings settings;
  GhostShow ghost;
  PracticeScreen screen(std::make_unique<Practice>(load_scene(test::write_ball_task(folder_)), plan, nullptr), settings,
                        ghost, folder_.path(), nullptr);
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
