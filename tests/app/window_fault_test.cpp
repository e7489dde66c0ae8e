// Tests what fails beside a picture. What fails while a panel is drawn is a sentence, and leaves the library of the
// panels in order; its own checks end the program otherwise. A database that fails is a sentence, and one that never
// answers is never waited for. Jobs end with their caller, also when it is killed. When the window's OpenGL context is
// lost during a session, the recording is closed completely, and the program ends with an error message; this needs a
// display, which the test app.window_lost provides.
#include <fcntl.h>
#include <glad/gl.h>
#include <gtest/gtest.h>
#include <imgui.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "app/window/practice/practice_screen.hpp"
#include "app/window/program.hpp"
#include "app/window/screens/library_screen.hpp"
#include "app/window/screens/start_screen.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/support/temporary_folder.hpp"

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

// A server that takes connections and never says a word.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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
  EXPECT_EQ(desk.answer().curves[0].scores, (std::vector<double>{50.0, 60.0}));
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
  options.folder = folder.path();
  options.record = true;
  options.check = false;
  options.backend = "scan";
  options.width = 320, options.height = 240;
  options.quality = Quality::Low;
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
