// trocar lab: people, their attempts and scores, in the database of this station or of a laboratory; thresholds of a
// task from the attempts of experts; which recordings stay at this station. Tested in tests/app/lab_station_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/lab/lab_attempt.hpp"
#include "app/lab/lab_course.hpp"
#include "app/lab/lab_database.hpp"
#include "app/lab/lab_server.hpp"
#include "app/lab/lab_station.hpp"
#include "app/lab/lab_tables.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

Person known_person(LabDatabase& lab, const std::string& id) {
  const auto person = lab.person(id);
  if (!person) throw InputError(fmt::format("no person has the id '{}'; trocar lab list shows all", printable(id)));
  return *person;
}

struct ThresholdsCommand {
  std::vector<std::string> recordings, people;
  std::string scene, rule = "mean";
  int level = 1;
  std::size_t last = kAllRows;
};

std::vector<ExpertAttempt> recorded_experts(const ThresholdsCommand& command) {
  if (!command.people.empty() || !command.scene.empty())
    throw InputError("name either recordings, or --person and --task, not both");
  std::vector<ExpertAttempt> experts;
  for (const std::string& recording : command.recordings) experts.push_back(expert_attempt_of(recording));
  return experts;
}

std::vector<ExpertAttempt> experts_of_the_lab(const ThresholdsCommand& command, LabDatabase& lab) {
  std::vector<ExpertAttempt> experts;
  for (const std::string& person : command.people) {
    for (const LabAttempt& attempt :
         lab.attempts({known_person(lab, person).id, command.scene, command.level, command.last}))
      experts.push_back(expert_attempt_of(attempt));
  }
  if (experts.empty())
    throw InputError(fmt::format("these people have no attempt at {}, level {}; trocar lab show ID lists attempts",
                                 printable(command.scene), command.level));
  return experts;
}

void thresholds(const ThresholdsCommand& command, const std::function<LabDatabase()>& open,
                const std::function<void(const LabDatabase&)>& finish) {
  if (command.recordings.empty() && (command.people.empty() || command.scene.empty()))
    throw InputError("thresholds needs either recordings of experts, or people and a task: --person ID --task NAME");
  const ExpertRule rule = command.rule == "median" ? ExpertRule::Median : ExpertRule::TrimmedMean;
  std::optional<LabDatabase> lab;
  if (command.recordings.empty()) lab.emplace(open());
  const auto experts = lab ? experts_of_the_lab(command, *lab) : recorded_experts(command);
  fmt::print("{}", thresholds_toml(expert_thresholds(experts, rule)));
  if (lab) finish(*lab);
}

// `open`: opens the station's database.
void add_lab_thresholds_command(Command& lab, std::function<LabDatabase()> open,
                                std::function<void(const LabDatabase&)> finish) {
  auto command = std::make_shared<ThresholdsCommand>();
  Command& sub = lab.command("thresholds", "Compute thresholds of a task from the attempts of experts");
  sub.option("recordings", command->recordings, "Recordings of experts at one task: .h5");
  sub.option("--person", command->people, "Ids of experts, whose attempts in the database are used instead");
  sub.option("--task", command->scene, "With --person: the name of the task's scene file without .toml");
  sub.option("--level", command->level, "With --person: level of the task").within(1, 1000).shown();
  sub.option("--last", command->last, "With --person: only the latest attempts of each person, this many")
      .within(1, 1e6);
  sub.option("--rule", command->rule, "Score and time: the mean or the median of the experts")
      .one_of({"mean", "median"})
      .shown();
  sub.runs([command, open = std::move(open), finish = std::move(finish)] { thresholds(*command, open, finish); });
}

struct TidyCommand {
  std::string keep, curriculum;
  bool remove = false;
};

RetentionRule rule_of(const std::string& keep) {
  if (keep == "all") return {};
  int last = 0;
  const auto [end, error] = std::from_chars(keep.data(), keep.data() + keep.size(), last);
  if (error != std::errc() || end != keep.data() + keep.size() || last < 1 || last > kMostLast)
    throw InputError(fmt::format("--keep must be all, or a number of attempts from 1 to {}", kMostLast));
  return {last};
}

void print_rule(const RetentionRule& rule) {
  if (!rule.last)
    fmt::print("every recording stays; trocar lab tidy --keep N keeps passes and the last N of each person and task\n");
  else
    fmt::print("passes and the last {} attempts of each person at each level of a task stay\n", *rule.last);
}

void print_removable(const std::vector<Removable>& recordings) {
  std::uint64_t bytes = 0;
  for (const Removable& one : recordings) {
    fmt::print("  {} {} level {}: {}, {}\n", one.attempt.person, printable(one.attempt.scene), one.attempt.level,
               printable(one.file.string(), kLongestText), bytes_text(one.bytes));
    bytes += one.bytes;
  }
  fmt::print("{} recordings, {}, are not among these{}\n", recordings.size(), bytes_text(bytes),
             recordings.empty() ? "" : "; the window removes them, trocar lab tidy --remove does it now");
}

void remove_all(const std::vector<Removable>& recordings) {
  std::size_t removed = 0;
  std::uint64_t bytes = 0;
  for (const Removable& one : recordings) {
    if (!remove_recording(one)) continue;
    ++removed;
    bytes += one.bytes;
  }
  fmt::print("{} recordings removed, {}; their scores stay in the database\n", removed, bytes_text(bytes));
}

void tidy(const TidyCommand& command, const std::function<LabDatabase()>& open) {
  const LabPlaces places = lab_places();
  if (!command.keep.empty()) write_retention(places, rule_of(command.keep));
  const RetentionRule rule = read_retention(places);
  print_rule(rule);
  if (!rule.last) return;
  const Curriculum curriculum = load_curriculum(command.curriculum);
  LabDatabase lab = open();
  const auto recordings = removable_recordings(lab, curriculum, rule);
  command.remove ? remove_all(recordings) : print_removable(recordings);
}

// `open`: opens the station's database.
void add_lab_tidy_command(Command& lab, std::function<LabDatabase()> open) {
  auto command = std::make_shared<TidyCommand>();
  Command& sub = lab.command("tidy", "Show or set which recordings stay at this station");
  sub.option("--keep", command->keep, "all, or N: passes and the last N attempts of each person at a task stay");
  sub.option("--remove", command->remove, "Remove the recordings that the rule does not keep").excludes({"--keep"});
  sub.option("--curriculum", command->curriculum, "Curriculum that says what is a pass; default: basic skills");
  sub.runs([command, open = std::move(open)] { tidy(*command, open); });
}

struct LabCommand {
  std::string database, id, name, part, scene, out, recording, person, key, curriculum;
  std::vector<std::string> ids;
  std::optional<int> level;
  std::size_t most = 100;
  LabServerParams server;
  bool force = false, recent = false, recordings = false;
};

constexpr std::size_t kMostNamed = 100;  // rows that cannot be read, by name

LabStation station_of(const LabCommand& command) { return LabStation(lab_places(), command.database); }

// Names each attempt that still waits, and each that will never be scored.
void say_what_waits(const HandedIn& handed) {
  for (std::size_t k = 0; k < handed.reasons.size(); ++k)
    if (k == 0)
      fmt::print(stderr, "trocar: {} attempts still wait: {}\n", handed.waiting, handed.reasons[k]);
    else
      fmt::print(stderr, "trocar: also waits: {}\n", handed.reasons[k]);
  for (const std::string& note : handed.given_up) fmt::print(stderr, "trocar: {}\n", note);
}

void report(const HandedIn& handed) {
  if (handed.added > 0) fmt::print("{} attempts that waited at this station were handed in\n", handed.added);
  say_what_waits(handed);
}

// Opens the database to read it, and hands in what waits.
LabDatabase opened(LabStation station) {
  LabDatabase lab = station.open_to_read();
  station.hurry();
  const HandedIn handed = station.hand_in();
  report(handed);
  return handed.added > 0 ? station.open_to_read() : std::move(lab);
}

// Opens the database to change it, makes it where it is missing, and hands in what waits.
LabDatabase opened_to_write(const LabStation& station) {
  LabDatabase lab = station.open_to_write();
  report(station.hand_in());
  return lab;
}

// Names the rows that were left out, which makes the exit status 1. Call it last.
void require_all_read(const LabDatabase& lab) {
  const auto& rows = lab.unreadable();
  if (rows.empty()) return;
  std::fflush(stdout);
  for (std::size_t k = 0; k < std::min(rows.size(), kMostNamed); ++k)
    fmt::print(stderr, "trocar: {}\n", printable(rows[k], kLongestText));
  throw RunError(fmt::format("{}: {} {} of the database cannot be read and {} left out", lab.shown_address(),
                             rows.size(), rows.size() == 1 ? "row" : "rows", rows.size() == 1 ? "is" : "are"));
}

void show_station(const LabCommand& command) {
  if (!command.database.empty()) {
    LabStation station(lab_places());
    station.choose(command.database);
    fmt::print("this station now uses {}\n", without_password(station.address()));
  }
  const LabStation station(lab_places());
  const HandedIn handed = station.hand_in();
  fmt::print("database  {}\nwaiting   {}{}\n", without_password(station.address()), handed.waiting,
             handed.why.empty() ? "" : fmt::format(" ({})", handed.why));
  try {
    LabDatabase lab = station.open_to_read();
    const LabCounts counts = lab.counts();
    fmt::print("people    {}\nattempts  {}\n", counts.people, counts.attempts);
  } catch (const RunError&) {
    if (handed.why.empty()) throw;  // else it is said already
  }
}

void add(const LabCommand& command) {
  LabDatabase lab = opened_to_write(station_of(command));
  lab.add_person({command.id, command.name, now_in_seconds()});
  fmt::print("{} added\n", command.id);
}

void list(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  const auto order = command.recent ? PersonOrder::LastAttempt : PersonOrder::Id;
  const auto people = lab.people({command.part, order, command.most});
  fmt::print("{}", people_table(people));
  if (people.size() == command.most) fmt::print("(the first {}; --most shows more)\n", command.most);
  require_all_read(lab);
}

void show(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  const Person person = known_person(lab, command.id);
  const auto standings = lab.standings(person.id, command.scene);
  const auto attempts = lab.attempts({person.id, command.scene, command.level, command.most});
  fmt::print("{}\n\n{}\n{}", person_line(person), standings_table(standings), attempts_table(attempts));
  require_all_read(lab);
}

void compare(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  std::vector<PersonAttempts> compared;
  for (const std::string& id : command.ids) {
    auto attempts = lab.attempts({known_person(lab, id).id, command.scene, command.level.value_or(1), command.most});
    std::reverse(attempts.begin(), attempts.end());
    compared.push_back({id, std::move(attempts)});
  }
  fmt::print("{}", comparison_table(compared));
  require_all_read(lab);
}

void course(const LabCommand& command) {
  Curriculum curriculum = load_curriculum(command.curriculum);
  LabDatabase lab = opened(station_of(command));
  const Person person = known_person(lab, command.id);
  const auto attempts = lab.attempts({.person = person.id, .most = kAllRows});
  fmt::print("{}\n{}", person_line(person),
             course_table(course_view(std::move(curriculum), attempts, now_in_seconds())));
  require_all_read(lab);
}

LabAttempt attempt_in(const LabCommand& command) {
  const Recording recording(command.recording);
  if (recording.live())
    throw InputError(
        fmt::format("{}: a program is writing it; enter it when the session has ended", command.recording));
  return lab_attempt_of(recording, score_recording(recording, command.recording), command.person);
}

void say_entered_before(const LabAttempt& row) {
  fmt::print("{} of {} is in the database already, as {}; nothing is changed\n", row.title, row.person, row.key);
}

void enter(const LabCommand& command) {
  const LabAttempt attempt = attempt_in(command);
  const LabStation station = station_of(command);
  if (!command.database.empty()) station.open_to_write();
  try {
    LabDatabase lab = station.open_to_read();
    if (const auto row = lab.attempt(attempt.key)) return say_entered_before(*row);
  } catch (const RunError&) {
    // The database does not answer or refuses: the attempt waits, and hand_in() says why.
  }
  station.keep(attempt);
  const HandedIn handed = station.hand_in();
  if (station.waits(attempt.key)) throw RunError(fmt::format("the attempt waits at this station: {}", handed.why));
  say_what_waits(handed);
  if (std::ranges::find(handed.keys, attempt.key) == handed.keys.end()) return say_entered_before(attempt);
  fmt::print("{} of {} entered, score {}\n", attempt.title, attempt.person,
             attempt.score ? score_text(*attempt.score) : "none");
}

// A command that was asked to end leaves no part of its output.
void require_not_interrupted() {
  if (interrupted()) throw RunError("interrupted; nothing was written");
}

void export_all(const LabCommand& command) {
  OutputFile out(command.out, OutputKind::Table);
  refuse_existing({{"OUT", command.out}}, command.force);
  catch_interrupts();
  LabDatabase lab = opened(station_of(command));
  std::size_t count = 0;
  out.stream() << attempt_csv_header();
  lab.for_each([](const Person&) {},
               [&](const LabAttempt& attempt) {
                 out.stream() << attempt_csv_row(attempt);
                 require_not_interrupted();
                 ++count;
               });
  out.commit();
  fmt::print("{} attempts, written to {}\n", count, command.out);
  require_all_read(lab);
}

struct Copied {
  std::size_t people = 0, attempts = 0, comments = 0;
};

void say_copied(const Copied& copied, const std::string& to) {
  if (copied.comments > 0) fmt::print("{} comments copied\n", copied.comments);
  fmt::print("{} people and {} attempts copied to {}\n", copied.people, copied.attempts, to);
}

Copied copy_all(LabDatabase& from, LabDatabase& to) {
  constexpr std::size_t kBatch = 500;  // attempts in a transaction
  Copied copied;
  std::vector<LabAttempt> batch;
  std::vector<LabComment> comments;
  const auto write_batch = [&] {
    copied.attempts += to.add_attempts(batch);
    copied.comments += to.add_comments(comments);
    batch.clear(), comments.clear();
  };
  from.for_each([&](const Person& person) { copied.people += to.add_if_new(person); },
                [&](const LabAttempt& attempt) {
                  require_not_interrupted();
                  batch.push_back(attempt);
                  if (batch.size() == kBatch) write_batch();
                },
                [&](const LabComment& comment) {
                  require_not_interrupted();
                  if (!batch.empty() || comments.size() == kBatch) write_batch();
                  if (to.attempt(comment.attempt)) comments.push_back(comment);  // else its attempt was unreadable
                });
  write_batch();
  return copied;
}

// The copy has its name when it is complete and on the disk.
void backup(const LabCommand& command) {
  const auto refuse = [&] {
    throw InputError(fmt::format("{}: exists; a backup is a new file, so choose another name", command.out));
  };
  if (std::error_code none; std::filesystem::exists(std::filesystem::symlink_status(command.out, none))) refuse();
  catch_interrupts();
  LabDatabase from = opened(station_of(command));
  NewFile file(command.out);
  Copied copied;
  {
    LabDatabase to(file.path().string(), LabUse::Fill);
    copied = copy_all(from, to);
  }
  if (!file.commit()) refuse();
  say_copied(copied, command.out);
  require_all_read(from);
}

void restore(const LabCommand& command) {
  LabDatabase from(command.out, LabUse::Read);
  LabDatabase to = opened_to_write(station_of(command));
  const Copied copied = copy_all(from, to);
  say_copied(copied, to.shown_address());
  require_all_read(from);
}

struct RemovedRecordings {
  std::size_t removed = 0;
  std::vector<std::string> left;  // path and reason
};

// Removes the recordings of these attempts that are on this machine, and nothing else.
RemovedRecordings remove_recordings(const std::vector<LabAttempt>& attempts) {
  RemovedRecordings result;
  std::set<std::filesystem::path> removed;
  for (const LabAttempt& attempt : attempts) {
    OwnRecording own = own_recording(claim_of(attempt));
    if (removed.contains(own.file)) continue;  // of two rows
    if (own.live) own.answer = Claimed::Away, own.why = "a program is writing it";
    std::error_code error;
    if (own.answer == Claimed::Ours && std::filesystem::remove(own.file, error)) {
      removed.insert(own.file);
      continue;
    }
    if (error) own.why = error.message();
    result.left.push_back(fmt::format("{}: {}", printable(own.file.string(), kLongestText), own.why));
  }
  result.removed = removed.size();
  return result;
}

void erase(const LabCommand& command) {
  const LabStation station = station_of(command);
  LabDatabase lab = opened_to_write(station);
  const auto attempts = lab.erase_person(command.id);
  station.forget(command.id);
  for (const std::string& row : lab.unreadable())
    fmt::print(stderr, "trocar: erased, though it could not be read: {}\n", printable(row, kLongestText));
  if (!command.recordings) {
    fmt::print(
        "{} and {} attempts erased; their recordings still name the person: with --recordings they are removed "
        "too\n",
        command.id, attempts.size());
    return;
  }
  const RemovedRecordings recordings = remove_recordings(attempts);
  fmt::print("{} and {} attempts erased; {} recordings on this machine removed, {} left\n", command.id, attempts.size(),
             recordings.removed, recordings.left.size());
  for (const std::string& left : recordings.left) fmt::print("left: {}\n", left);
}

void remove_attempt(const LabCommand& command) {
  LabDatabase lab = opened_to_write(station_of(command));
  lab.delete_attempt(command.key);
  fmt::print("attempt {} deleted\n", command.key);
}

void serve(const LabCommand& command) {
  const LabStation station = station_of(command);
  catch_interrupts();
  opened(station);
  LabServerParams params = command.server;
  params.curriculum = load_curriculum(command.curriculum);
  serve_lab(station, params, [&](int port) {
    fmt::print("http://{}:{}/  (Ctrl-C ends)\n", command.server.anyone ? "0.0.0.0" : "127.0.0.1", port);
    std::fflush(stdout);
  });
}

using Shared = std::shared_ptr<LabCommand>;

Command& subcommand(Command& lab, const Shared& command, const char* name, const char* what,
                    void (*run)(const LabCommand&)) {
  Command& sub = lab.command(name, what);
  sub.runs([command, run] { run(*command); });
  return sub;
}

void add_filters(Command& sub, const Shared& command, bool one_task = false) {
  sub.option("--task", command->scene, "Only this task: the name of its scene file without .toml").required(one_task);
  sub.option("--level", command->level, "Only this level of the task").within(1, 1000);
  sub.option("--most", command->most, "Most rows shown").within(1, 1e6).shown();
}

void add_people_commands(Command& lab, const Shared& command) {
  Command& adding = subcommand(lab, command, "add", "Add a person", add);
  adding.option("id", command->id, "Id: letters of any language, digits, spaces inside").required();
  adding.option("--name", command->name, "Name, if it may be stored");
  Command& listing = subcommand(lab, command, "list", "List people with the number of their attempts", list);
  listing.option("part", command->part, "Only ids and names that contain this text");
  listing.option("--recent", command->recent, "The latest attempt first");
  listing.option("--most", command->most, "Most rows shown").within(1, 1e6).shown();
  Command& showing = subcommand(lab, command, "show", "Show where a person stands, and the attempts", show);
  showing.option("id", command->id, "Id of the person").required();
  add_filters(showing, command);
  Command& comparing = subcommand(lab, command, "compare", "Compare people at a task, attempt by attempt", compare);
  comparing.option("ids", command->ids, "Ids of two or more people").required().several(2, 20);
  add_filters(comparing, command, true);
  Command& coursing = subcommand(lab, command, "course", "Show a person's progress in a curriculum", course);
  coursing.option("id", command->id, "Id of the person").required();
  coursing.option("--curriculum", command->curriculum, "Curriculum: .toml; default: basic skills");
  Command& erasing = subcommand(lab, command, "erase", "Erase a person and all attempts from the database", erase);
  erasing.option("id", command->id, "Id of the person").required();
  erasing.option("--recordings", command->recordings, "Remove the recordings of the attempts too");
}

void add_attempt_commands(Command& lab, const Shared& command) {
  Command& entering = subcommand(lab, command, "enter", "Score a recording of an attempt and enter it", enter);
  entering.option("recording", command->recording, "Recording: .h5").required();
  entering.option("--person", command->person, "Id of the person, instead of the recorded one");
  Command& deleting = subcommand(lab, command, "delete", "Delete an attempt", remove_attempt);
  deleting.option("key", command->key, "Key of the attempt, as shown by trocar lab show").required();
  Command& exporting =
      subcommand(lab, command, "export", "Write all attempts with their metrics as a table", export_all);
  exporting.option("-o,--out", command->out, "Table: .csv").required();
  add_force_option(exporting, command->force);
  Command& serving = subcommand(lab, command, "serve",
                                "Show the cohort and the instructor's day in a browser, and take comments", serve);
  serving.option("--port", command->server.port, "Port; 0: any free one").within(0, 65535).shown();
  serving.option("--curriculum", command->curriculum, "Curriculum: .toml; default: basic skills");
  serving.option("--anyone", command->server.anyone,
                 "Other machines may read too: there is no password, and no comment is taken");
  Command& backing = subcommand(lab, command, "backup", "Copy the whole database to a new SQLite file", backup);
  backing.option("-o,--out", command->out, "New file: .sqlite").required();
  Command& restoring = subcommand(lab, command, "restore", "Add what a backup has and the database lacks", restore);
  restoring.option("backup", command->out, "Backup: .sqlite").required();
}

}  // namespace

void add_lab_command(Command& program) {
  auto command = std::make_shared<LabCommand>();
  Command& lab = program.command("lab", "People, attempts and scores in the laboratory's database");
  lab.option("--database", command->database,
             "File, or postgresql://USER@HOST/NAME: for this command; alone, for this station from now on");
  add_people_commands(lab, command);
  add_attempt_commands(lab, command);
  add_lab_thresholds_command(
      lab, [command] { return opened(station_of(*command)); }, require_all_read);
  add_lab_tidy_command(lab, [command] { return station_of(*command).open_to_read(); });
  lab.runs([command] { show_station(*command); });
}

}  // namespace trocar
