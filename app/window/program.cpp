#include "app/window/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "app/sound/sound.hpp"
#include "app/window/editor/editor_screen.hpp"
#include "app/window/input/keys.hpp"
#include "app/window/language.hpp"
#include "app/window/practice/practice_screen.hpp"
#include "app/window/replay/replay_screen.hpp"
#include "app/window/screen.hpp"
#include "app/window/screens/day_screen.hpp"
#include "app/window/screens/device_screen.hpp"
#include "app/window/screens/library_screen.hpp"
#include "app/window/screens/loading_screen.hpp"
#include "app/window/screens/results_screen.hpp"
#include "app/window/screens/scene_list.hpp"
#include "app/window/screens/start_screen.hpp"
#include "app/window/widgets/gui.hpp"
#include "app/window/widgets/help_panel.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/task.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

constexpr int kNotStarted = 127;  // exit status, as of a shell
constexpr int kLowestPriority = 19;
constexpr int kFirstOwnDescriptor = 3;
// Disk time only when no other program wants some; the C library has no names for this call.
constexpr int kIoWhoProcess = 1, kIoIdle = 3 << 13;

// The child between fork and exec, where it may only make system calls.
[[noreturn]] void become(const char* program, char* const* words, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNotStarted);  // the parent ended before the line above
  ::setpriority(PRIO_PROCESS, 0, kLowestPriority);
  ::syscall(SYS_ioprio_set, kIoWhoProcess, 0, kIoIdle);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, descriptor);
  ::close_range(kFirstOwnDescriptor, ~0u, CLOSE_RANGE_CLOEXEC);
  ::execv(program, words);
  ::_exit(kNotStarted);
}

pid_t start(const std::string& program, const BackgroundJobs::Job& job) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : job) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(program.c_str(), words.data(), parent);
  return child;
}

}  // namespace

BackgroundJobs::~BackgroundJobs() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  ::waitpid(process_, nullptr, WNOHANG);
}

void BackgroundJobs::add(Job job) {
  if (std::ranges::find(jobs_, job) == jobs_.end()) jobs_.push_back(std::move(job));
}

void BackgroundJobs::step() {
  if (process_ > 0 && ::waitpid(process_, nullptr, WNOHANG) == 0) return;
  process_ = -1;
  if (jobs_.empty()) return;
  process_ = start(program_, std::exchange(jobs_.front(), {}));
  jobs_.pop_front();
}

namespace {

// Writes the window's state to a file, for tests and remote control: one JSON object, rewritten at most ten times a
// second. {"screen","phase","in_hand","file","frames","touched","note","film","shown","places":{"Start":[x,y],...}}:
// `shown` counts the window's frames; `places` are the centres of the items that can be pressed, in pixels from its top
// left; `words` all that is written. On the start screen and the results also "step", on the curriculum; on the start
// screen "speed", of real time. In a practice session also "tip_mm" (of the selected instrument), "goal_mm" (where its
// task continues), "progress". Used in tests/app/window_path_test.sh and window_burn_test.py
class StateFile {
 public:
  // With an empty name, nothing is written.
  explicit StateFile(std::filesystem::path file) : file_(std::move(file)) {}
  void write(ScreenName screen, const ScreenStatus& status, const Gui& gui);
  bool used() const { return !file_.empty(); }

 private:
  std::filesystem::path file_;
  Clock::time_point last_{};
  std::uint64_t shown_ = 0;
};

constexpr std::chrono::milliseconds kBetween{100};

std::set<std::string> words_of(const Gui& gui) { return {gui.words().begin(), gui.words().end()}; }

void add_position(nlohmann::json& state, const char* key, const std::optional<glm::dvec3>& position) {
  if (position) state[key] = {1e3 * position->x, 1e3 * position->y, 1e3 * position->z};
}

void StateFile::write(ScreenName screen, const ScreenStatus& status, const Gui& gui) {
  ++shown_;
  const auto now = Clock::now();
  if (file_.empty() || now - last_ < kBetween) return;
  last_ = now;
  nlohmann::json state = {{"screen", name_of(screen)},
                          {"phase", status.phase},
                          {"in_hand", status.in_hand},
                          {"file", text_of_bytes(status.file.string())},
                          {"frames", status.frames},
                          {"touched", status.touched},
                          {"note", status.note},
                          {"film", status.film},
                          {"shown", shown_},
                          {"words", words_of(gui)},
                          {"places", nlohmann::json::object()}};
  if (!status.disk.empty()) state["room"] = status.disk;
  if (status.speed) state["speed"] = *status.speed;
  if (!status.step.empty()) state["step"] = status.step;
  add_position(state, "tip_mm", status.tip);
  add_position(state, "goal_mm", status.goal);
  if (status.goal || status.progress > 0.0) state["progress"] = status.progress;
  for (const theme::ItemPosition& location : gui.locations()) {
    const glm::vec2 middle = 0.5f * (location.from + location.to);
    state["places"][location.label] = {static_cast<int>(middle.x), static_cast<int>(middle.y)};
  }
  try {
    OutputFile out(file_, OutputKind::Json);
    out.stream() << state.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    out.commit();
  } catch (const std::runtime_error&) {
    // The file was writable at the start; its reader sees that it is not updated.
  }
}

// Limits the frame rate of a display without vertical sync. A little less than 1/60 s, so that a 60 Hz display with
// sync misses no refresh.
constexpr std::chrono::duration<double> kShortestFrame{1.0 / 64.0};
// At the end of the program; attempts that are not handed in by then wait at the station.
constexpr std::chrono::seconds kLastHandIn{2};

// Returns the scenes of the program and, after them, those of the user.
std::vector<ListedScene> all_scenes(const OwnScenes& own, const WindowOptions& options, const Curriculum& curriculum) {
  const auto folder = data_file("scenes");
  std::vector<ListedScene> scenes = list_scenes({folder / "tasks", folder / "procedures", folder});
  for (ListedScene& scene : own.scenes(options.folder, options.access)) scenes.push_back(std::move(scene));
  sort_scenes(scenes, curriculum);
  return scenes;
}

class WindowProgram {
 public:
  WindowProgram(const WindowOptions& options, Window& window)
      : options_(options),
        window_(window),
        gui_(window),
        state_file_(options.state),
        sound_(!options.mute),
        station_(lab_places(), options.database),
        keeper_(settings_file()),
        settings_(keeper_.at_start().window),
        desk_(station_, load_curriculum(options.curriculum)),
        own_scenes_(lab_places().waiting.parent_path() / "scenes.json") {
    const std::string waits = enter_begun();
    if (options.quality) settings_.quality = options.quality;
    if (state_file_.used()) gui_.note_words();
    start_ = std::make_unique<StartScreen>(all_scenes(own_scenes_, options, desk_.curriculum()), options.folder,
                                           options.access, window.context(), desk_, options.person,
                                           keeper_.at_start().last, settings_);
    if (const std::string fault = follow_language(); !fault.empty()) start_->say(fault);
    if (!waits.empty()) start_->say(waits);
    if (!keeper_.fault().empty()) start_->say(keeper_.fault());
    if (std::error_code none; std::filesystem::is_directory(options.folder, none)) pack(options.folder);
    if (options.scene.empty()) return;
    load_scene(options.scene, options.access);  // an invalid scene ends the program with its error message
    start_->choose(options.scene);
    if (start_->must_ask()) return;
    practise(chosen_scene(), options.backend);
    start_when_loaded_ = options.record;
    must_load_ = true;
    state_ = next(state_, Ask::Practise);
  }

  void run() {
    catch_interrupts();
    auto last = Clock::now();
    for (std::size_t frame = 0; state_.now != ScreenName::Quit && !closes() && !interrupted();) {
      if (options_.frames > 0 && frame == options_.frames) break;
      if (state_.now != ScreenName::Loading) ++frame;
      if (window_.context().lost()) end_without_picture();
      std::this_thread::sleep_until(last + std::chrono::duration_cast<Clock::duration>(kShortestFrame));
      const auto now = Clock::now();
      const double elapsed = std::chrono::duration<double>(now - last).count();
      last = now;
      turn_over(elapsed);
      pack_finished();
    }
    keep_settings();
    if (!options_.picture.empty()) save_screen_png(options_.picture, window_.size().x, window_.size().y);
    const std::string fault = end_practice();
    if (recorded_) {
      enter_begun();
      handing_in_.wait(kLastHandIn);
    }
    if (!fault.empty()) throw RunError(fault);
  }

 private:
  // Returns why the language of the settings cannot be shown, once; empty: it is.
  std::string follow_language() {
    if (language_ == settings_.language) return {};
    language_ = settings_.language;
    return show_language(*language_);
  }

  // The user has closed the window. An attempt that runs asks first, once.
  bool closes() {
    if (!window_.closing()) return false;
    if (state_.now != ScreenName::Practice || !practice_->ask_to_leave(Ask::Quit)) return true;
    window_.stay_open();
    return false;
  }

  // Scores and keeps attempts that ended without the results screen: in another session, or abandoned in this one.
  // Their recordings are read here, because only one thread may read recordings; the database is asked in another one.
  // Returns why one of them cannot be scored now; empty: all were.
  std::string enter_begun() {
    const StillWaiting still = station_.finish_begun();
    handing_in_ = Task<HandedIn>([station = station_] { return station.hand_in_kept(); });
    return still.reasons.empty() ? "" : still.reasons.front();
  }

  // Closes the recording of an attempt that is abandoned. Returns why part of it was not recorded; empty: all was.
  std::string end_practice() {
    if (!practice_) return {};
    const Phase phase = practice_->practice().phase();
    recorded_ = recorded_ || practice_->practice().recording().has_filename();
    if (phase == Phase::Running || phase == Phase::Paused) practice_->practice().stop();
    std::string fault = practice_->practice().recording_fault();
    practice_.reset();
    return fault;
  }

  // Does the same, and enters the attempt at once unless the results screen does.
  void leave_practice() {
    if (!practice_) return;
    const bool recorded = practice_->practice().recording().has_filename();
    std::string fault = end_practice();
    if (recorded && state_.now != ScreenName::Results)
      if (const std::string waits = enter_begun(); fault.empty()) fault = waits;
    if (!fault.empty()) start_->say(fault);
  }

  Screen& screen() {
    switch (state_.now) {
      case ScreenName::Loading:
        return *loading_;
      case ScreenName::Practice:
        return *practice_;
      case ScreenName::Results:
        return *results_;
      case ScreenName::Replay:
        return *replay_;
      case ScreenName::Editor:
        return *editor_;
      case ScreenName::Library:
        return *library_;
      case ScreenName::Day:
        return *day_;
      case ScreenName::Devices:
        return *devices_;
      default:
        return *start_;
    }
  }

  // Without an OpenGL context the program cannot draw: it closes the recording and ends with an error message.
  [[noreturn]] void end_without_picture() {
    const auto file = practice_ ? practice_->practice().recording() : std::filesystem::path();
    if (file.has_filename()) practice_->practice().stop();
    practice_.reset();
    station_.hand_in();
    throw RunError(
        fmt::format("the graphics driver lost the window's OpenGL context{}; start the program again",
                    file.has_filename() ? "; the recording " + file.string() + " is complete up to here" : ""));
  }

  // Runs one frame and its request. Every error leads back to the start screen, which shows the message; where the
  // scene of the command line cannot be loaded, it ends the program.
  void turn_over(double elapsed) {
    try {
      const Ask ask = show_frame(elapsed);
      if (ask == Ask::Help) help_ = true;
      if (ask == Ask::Nothing || ask == Ask::Help) return;
      keep_settings();
      prepare(ask);
      state_ = next(state_, ask);
      if (state_.now != ScreenName::Practice) leave_practice();
      if (state_.now == ScreenName::Start) desk_.refresh();
    } catch (...) {
      if (must_load_) throw;
      start_->say(fault_of_exception());
      state_ = {};
      leave_practice();
    }
    if (state_.now != ScreenName::Loading) loading_.reset(), must_load_ = false;
    if (state_.now != ScreenName::Replay) replay_.reset();
    if (state_.now != ScreenName::Editor) editor_.reset(), saved_scene_.clear();
    if (state_.now != ScreenName::Devices) devices_.reset();
    if (state_.now != ScreenName::Day) day_.reset();
    if (state_.now != ScreenName::Library && state_.now != ScreenName::Replay && state_.now != ScreenName::Day)
      library_.reset();
  }

  // What a frame says of its screen.
  struct Told {
    Ask ask = Ask::Nothing;
    ScreenStatus status;
    SoundCues sound;
  };

  Told show_panels(Screen& shown) {
    if (const std::string fault = follow_language(); !fault.empty()) start_->say(fault);
    gui_.begin(static_cast<float>(settings_.letters));
    try {
      Told told;
      told.ask = shown.panels();
      if (help_) help_ = draw_help(window_.input().keys(), settings_.technical);
      told.status = shown.status();
      told.sound = shown.sound();
      shown.picture(window_.size());
      gui_.end();
      return told;
    } catch (...) {
      gui_.end();
      throw;
    }
  }

  Ask show_frame(double elapsed) {
    Screen& shown = screen();
    const bool in_hand = shown.in_hand() && !help_;
    window_.capture_pointer(in_hand);
    gui_.listen(!in_hand);
    const WindowInput& input = window_.poll();
    for (const Key key : input.pressed) {
      if (key == Key::F1) help_ = !help_;
      if (key == Key::F11) settings_.full_screen = !settings_.full_screen;
    }
    window_.fill_screen(settings_.full_screen);
    desk_.step();
    films_.step(state_.now == ScreenName::Practice);
    shown.step(input, elapsed, !gui_.wants_letters() && !help_);
    const Told told = show_panels(shown);
    state_file_.write(state_.now, told.status, gui_);
    sound_.hear(told.sound, settings_.volume);
    window_.show();
    note_saved_scene();
    return help_ ? Ask::Nothing : told.ask;
  }

  // Packs the recording of a session that has ended, beside whatever follows.
  void pack_finished() {
    const bool runs = practice_ && practice_->practice().phase() != Phase::Ended;
    const auto now = runs ? practice_->practice().recording() : std::filesystem::path();
    if (!recording_.empty() && recording_ != now) pack(recording_);
    recording_ = now;
    jobs_.step();
  }

  // `what`: a recording, or a folder whose finished attempts are packed.
  void pack(const std::filesystem::path& what) {
    if (settings_.pack) jobs_.add({"file", "pack", std::filesystem::absolute(what).string(), "--replace"});
    jobs_.add(tidy_job());
  }

  // Removes the recordings that the laboratory's rule does not keep; without a rule it removes nothing.
  BackgroundJobs::Job tidy_job() const {
    BackgroundJobs::Job job{"lab"};
    if (!options_.database.empty()) job.insert(job.end(), {"--database", options_.database});
    job.insert(job.end(), {"tidy", "--remove"});
    if (!options_.curriculum.empty()) job.insert(job.end(), {"--curriculum", options_.curriculum.string()});
    return job;
  }

  // A quality that the command line chose is not kept.
  void keep_settings() {
    KeptSettings kept{settings_, start_->choice()};
    if (options_.quality && settings_.quality == options_.quality)
      kept.window.quality = keeper_.at_start().window.quality;
    keeper_.keep(kept);
  }

  // The editor's scenes are listed on the start screen, now and at the next start.
  void note_saved_scene() {
    if (!editor_ || editor_->saved() == saved_scene_) return;
    saved_scene_ = editor_->saved();
    if (saved_scene_.empty()) return;
    own_scenes_.note(saved_scene_);
    start_->choose(saved_scene_);
  }

  void prepare(Ask ask) {
    start_->rest();
    if (state_.now == ScreenName::Devices) {
      start_->devices().use(devices_->choices());
      start_->access() = devices_->access();
      devices_.reset();
    }
    if (ask == Ask::Practise && state_.now == ScreenName::Editor) {
      start_->choose(editor_->saved());
      if (!start_->selected_fault().empty()) throw InputError(start_->selected_fault());
      if (start_->must_ask()) throw InputError("the scene connects to another machine; allow or refuse the connection");
    }
    if (ask == Ask::Practise) practise(chosen_scene(), start_->backend());
    if (ask == Ask::NextStep) {
      start_->choose_step(*results_->next_step());
      if (start_->must_ask()) throw InputError("the scene connects to another machine; allow or refuse the connection");
      practise(chosen_scene(), start_->backend());
    }
    if (ask == Ask::Lesson) {
      settings_.lesson_offered = true;
      practise(load_scene(data_file("scenes/liver_and_stomach.toml")), "", Practising::Lesson);
      start_when_loaded_ = true;
    }
    if (ask == Ask::Edit) edit();
    if (ask == Ask::Again || ask == Ask::ShowMe) {
      const Scene scene = last_scene_;
      leave_practice();
      practise(scene, backend_, ask == Ask::ShowMe ? Practising::Shown : Practising::Attempt);
      start_when_loaded_ = ask == Ask::ShowMe;
    }
    if (ask == Ask::Loaded) begin(loading_->take());
    if (ask == Ask::OpenRecording)
      replay_ = std::make_unique<ReplayScreen>(chosen_recording(), settings_, window_.context(), films_,
                                               state_.now == ScreenName::Results ? results_->event() : std::nullopt);
    if (ask == Ask::OpenLibrary)
      library_ = std::make_unique<LibraryScreen>(station_, desk_.curriculum(), &window_.context(), settings_.technical,
                                                 day_ ? day_->person() : "");
    if (ask == Ask::OpenDay) day_ = std::make_unique<DayScreen>(station_, desk_.curriculum());
    if (ask == Ask::OpenDevices)
      devices_ = std::make_unique<DeviceScreen>(start_->selected(), start_->devices().choices(), start_->access());
    if (ask == Ask::Finish)
      results_ =
          std::make_unique<ResultsScreen>(practice_->practice().recording(), practice_->practice().recording_fault(),
                                          station_, desk_, films_, &window_.context());
  }

  // Opens the selected scene as it is written, with the chosen devices, or the one that the editor asks for.
  void edit() {
    if (editor_) start_->choose(editor_->opened());
    editor_.reset();
    const EditorScreen::Plan plan{options_.folder, start_->scenes(), start_->access()};
    editor_ = std::make_unique<EditorScreen>(with_devices(start_->selected(), start_->devices().choices()), plan,
                                             settings_, window_.context());
  }

  std::filesystem::path chosen_recording() const {
    if (state_.now == ScreenName::Results) return results_->recording();
    return state_.now == ScreenName::Library ? library_->recording() : start_->recording();
  }

  // The scene of the command line has the anatomy and the level of the command line.
  Scene chosen_scene() const {
    const Scene& scene = start_->scene();
    if (scene.file != options_.scene) return scene;
    return with_level(scene.anatomy ? with_anatomy(scene, options_.anatomy) : scene, options_.level);
  }

  // Shown: the expert shows the task before the trainee's attempt.
  enum class Practising { Attempt, Shown, Lesson };

  void practise(const Scene& scene, const std::string& backend, Practising how = Practising::Attempt) {
    last_scene_ = scene;
    backend_ = backend;
    PracticePlan plan{{}, backend, options_.check, "", options_.folder, options_.igtl, &station_};
    if (how == Practising::Attempt) {
      if (!start_->performer()) start_->log_in();
      plan.performer = start_->performer(), plan.trainee = start_->person();
    }
    if (how == Practising::Shown) plan.performer = Skill::Expert;
    plan.shown = how == Practising::Shown, plan.lesson = how == Practising::Lesson;
    if (settings_.ghost != GhostMode::Off && !plan.performer && !plan.lesson)
      ghost_.prepare(scene);  // beside the session's loading
    loading_ = std::make_unique<LoadingScreen>(scene, plan, &window_.context());
    start_when_loaded_ = false;
  }

  void begin(std::unique_ptr<Practice> practice) {
    practice_ =
        std::make_unique<PracticeScreen>(std::move(practice), settings_, ghost_, options_.folder, &window_.context());
    if (start_when_loaded_) practice_->start();
  }

  WindowOptions options_;
  Window& window_;
  Gui gui_;
  StateFile state_file_;
  Sound sound_;
  LabStation station_;
  SettingsKeeper keeper_;
  WindowSettings settings_;
  LabDesk desk_;
  OwnScenes own_scenes_;
  Task<HandedIn> handing_in_;  // what waited when the program started
  GhostShow ghost_;
  FilmMaker films_;
  ScreenState state_;
  std::unique_ptr<StartScreen> start_;
  std::unique_ptr<LoadingScreen> loading_;
  std::unique_ptr<PracticeScreen> practice_;
  std::unique_ptr<ResultsScreen> results_;
  std::unique_ptr<ReplayScreen> replay_;
  std::unique_ptr<EditorScreen> editor_;
  std::unique_ptr<LibraryScreen> library_;
  std::unique_ptr<DayScreen> day_;
  std::unique_ptr<DeviceScreen> devices_;
  Scene last_scene_;
  std::filesystem::path saved_scene_;  // by the editor that is open
  std::string backend_;
  std::optional<std::string> language_;  // of the texts, as in the settings
  bool help_ = false;
  bool start_when_loaded_ = false;   // without the instructions
  bool must_load_ = false;           // the scene of the command line is being loaded
  bool recorded_ = false;            // an attempt or a demonstration in this session
  std::filesystem::path recording_;  // of the session that runs
  BackgroundJobs jobs_{own_program()};
};

}  // namespace

bool run_window(const WindowOptions& options, std::string& why) {
  const auto window = Window::open("Trocar", options.width, options.height, why);
  if (!window) return false;
  WindowProgram(options, *window).run();
  return true;
}

}  // namespace trocar
