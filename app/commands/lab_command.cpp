// trocar lab: people, their attempts and scores, in the database of this station or of a laboratory.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/lab_thresholds_command.hpp"
#include "app/commands/lab_tidy_command.hpp"
#include "app/commands/options.hpp"
#include "app/lab/lab_course.hpp"
#include "app/lab/lab_date.hpp"
#include "app/lab/lab_server.hpp"
#include "app/lab/lab_station.hpp"
#include "app/lab/lab_tables.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/support/data_folder.hpp"
#include "sim/support/interrupt.hpp"
#include "sim/support/output_file.hpp"

namespace trocar {
namespace {

constexpr std::size_t kAllAttempts = 1'000'000;

struct LabCommand {
  std::string database, id, name, part, scene, out, recording, person, key, curriculum;
  std::vector<std::string> ids;
  std::optional<int> level;
  std::size_t most = 100;
  LabServerParams server;
  bool force = false, recent = false, recordings = false;
};

LabStation station_of(const LabCommand& command) { return LabStation(lab_places(), command.database); }

// Hands in what waits and opens the database.
LabDatabase opened(const LabStation& station) {
  LabDatabase lab = station.open();
  const HandedIn handed = station.hand_in();
  if (handed.added > 0) fmt::print("{} attempts that waited at this station were handed in\n", handed.added);
  if (!handed.why.empty()) fmt::print(stderr, "trocar: {} attempts still wait: {}\n", handed.waiting, handed.why);
  return lab;
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
  if (!handed.why.empty()) return;
  LabDatabase lab = station.open();
  const LabCounts counts = lab.counts();
  fmt::print("people    {}\nattempts  {}\n", counts.people, counts.attempts);
}

void add(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  lab.add_person({command.id, command.name, now_in_seconds()});
  fmt::print("{} added\n", command.id);
}

void list(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  const auto order = command.recent ? PersonOrder::LastAttempt : PersonOrder::Id;
  const auto people = lab.people({command.part, order, command.most});
  fmt::print("{}", people_table(people));
  if (people.size() == command.most) fmt::print("(the first {}; --most shows more)\n", command.most);
}

Person known_person(LabDatabase& lab, const std::string& id) {
  const auto person = lab.person(id);
  if (!person) throw InputError(fmt::format("no person has the id '{}'; trocar lab list shows all", printable(id)));
  return *person;
}

void show(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  const Person person = known_person(lab, command.id);
  const auto standings = lab.standings(person.id, command.scene);
  const auto attempts = lab.attempts({person.id, command.scene, command.level, command.most});
  fmt::print("{}\n\n{}\n{}", person_line(person), standings_table(standings), attempts_table(attempts));
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
}

void course(const LabCommand& command) {
  const std::filesystem::path file =
      command.curriculum.empty() ? data_file("curricula/basic.toml") : std::filesystem::path(command.curriculum);
  Curriculum curriculum = load_curriculum(file);
  LabDatabase lab = opened(station_of(command));
  const Person person = known_person(lab, command.id);
  const auto attempts = lab.attempts({.person = person.id, .most = kAllAttempts});
  fmt::print("{}\n{}", person_line(person),
             course_table(course_view(std::move(curriculum), attempts, now_in_seconds())));
}

void enter(const LabCommand& command) {
  const Recording recording(command.recording);
  const LabAttempt attempt = lab_attempt_of(recording, score_recording(recording, command.recording), command.person);
  const LabStation station = station_of(command);
  station.keep(attempt);
  const HandedIn handed = station.hand_in();
  if (!handed.why.empty()) throw RunError(fmt::format("the attempt waits at this station: {}", handed.why));
  fmt::print("{} of {} entered, score {}\n", attempt.title, attempt.person,
             attempt.score ? fmt::format("{:.0f}", *attempt.score) : "none");
}

void export_all(const LabCommand& command) {
  OutputFile out(command.out, OutputKind::Table);
  refuse_existing({{"OUT", command.out}}, command.force);
  LabDatabase lab = opened(station_of(command));
  std::size_t count = 0;
  out.stream() << attempt_csv_header();
  lab.for_each([](const Person&) {},
               [&](const LabAttempt& attempt) {
                 out.stream() << attempt_csv_row(attempt);
                 ++count;
               });
  out.commit();
  fmt::print("{} attempts, written to {}\n", count, command.out);
}

void copy_all(LabDatabase& from, LabDatabase& to) {
  constexpr std::size_t kBatch = 1000;  // attempts in a transaction
  std::size_t people = 0, attempts = 0;
  std::vector<LabAttempt> batch;
  const auto write_batch = [&] {
    attempts += to.add_attempts(batch);
    batch.clear();
  };
  from.for_each(
      [&](const Person& person) {
        if (to.person(person.id)) return;
        to.add_person(person);
        ++people;
      },
      [&](const LabAttempt& attempt) {
        batch.push_back(attempt);
        if (batch.size() == kBatch) write_batch();
      });
  write_batch();
  fmt::print("{} people and {} attempts copied to {}\n", people, attempts, to.shown_address());
}

void backup(const LabCommand& command) {
  if (std::filesystem::exists(command.out))
    throw InputError(fmt::format("{}: exists; a backup is a new file, so choose another name", command.out));
  LabDatabase from = opened(station_of(command));
  LabDatabase to(command.out);
  copy_all(from, to);
}

void restore(const LabCommand& command) {
  if (!std::filesystem::exists(command.out)) throw InputError(fmt::format("{}: there is no such file", command.out));
  LabDatabase from(command.out);
  LabDatabase to = opened(station_of(command));
  copy_all(from, to);
}

void erase(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  const auto attempts = lab.erase_person(command.id);
  std::size_t removed = 0;
  for (const LabAttempt& attempt : attempts) {
    std::error_code none;
    if (command.recordings) removed += std::filesystem::remove(attempt.recording, none);
  }
  fmt::print("{} and {} attempts erased; {}\n", command.id, attempts.size(),
             command.recordings ? fmt::format("{} recordings on this machine removed", removed)
                                : "their recordings still name the person: with --recordings they are removed too");
}

void remove_attempt(const LabCommand& command) {
  LabDatabase lab = opened(station_of(command));
  lab.delete_attempt(command.key);
  fmt::print("attempt {} deleted\n", command.key);
}

void serve(const LabCommand& command) {
  const LabStation station = station_of(command);
  opened(station);
  catch_interrupts();
  serve_lab(station, command.server, [&](int port) {
    fmt::print("http://{}:{}/  (Ctrl-C ends)\n", command.server.anyone ? "0.0.0.0" : "127.0.0.1", port);
    std::fflush(stdout);
  });
}

using Shared = std::shared_ptr<LabCommand>;

CLI::App* subcommand(CLI::App& lab, const Shared& command, const char* name, const char* what,
                     void (*run)(const LabCommand&)) {
  CLI::App* sub = lab.add_subcommand(name, what);
  sub->callback([command, run] { run(*command); });
  return sub;
}

void add_filters(CLI::App& sub, const Shared& command) {
  sub.add_option("--task", command->scene, "Only this task: the name of its scene file without .toml");
  sub.add_option("--level", command->level, "Only this level of the task")->check(within(1, 1000));
  sub.add_option("--most", command->most, "Most rows shown")->check(within(1, 1e6))->capture_default_str();
}

void add_people_commands(CLI::App& lab, const Shared& command) {
  CLI::App* sub = subcommand(lab, command, "add", "Add a person", add);
  sub->add_option("id", command->id, "Id: letters of any language, digits, spaces inside")->required();
  sub->add_option("--name", command->name, "Name, if it may be stored");
  sub = subcommand(lab, command, "list", "List people with the number of their attempts", list);
  sub->add_option("part", command->part, "Only ids and names that contain this text");
  sub->add_flag("--recent", command->recent, "The latest attempt first");
  sub->add_option("--most", command->most, "Most rows shown")->check(within(1, 1e6))->capture_default_str();
  sub = subcommand(lab, command, "show", "Show where a person stands, and the attempts", show);
  sub->add_option("id", command->id, "Id of the person")->required();
  add_filters(*sub, command);
  sub = subcommand(lab, command, "compare", "Compare people at a task, attempt by attempt", compare);
  sub->add_option("ids", command->ids, "Ids of two or more people")->required()->expected(2, 20);
  add_filters(*sub, command);
  sub->get_option("--task")->required();
  sub = subcommand(lab, command, "course", "Show a person's progress in a curriculum", course);
  sub->add_option("id", command->id, "Id of the person")->required();
  sub->add_option("--curriculum", command->curriculum, "Curriculum: .toml; default: basic skills");
  sub = subcommand(lab, command, "erase", "Erase a person and all attempts from the database", erase);
  sub->add_option("id", command->id, "Id of the person")->required();
  sub->add_flag("--recordings", command->recordings, "Remove the recordings of the attempts too");
}

void add_attempt_commands(CLI::App& lab, const Shared& command) {
  CLI::App* sub = subcommand(lab, command, "enter", "Score a recording of an attempt and enter it", enter);
  sub->add_option("recording", command->recording, "Recording: .h5")->required();
  sub->add_option("--person", command->person, "Id of the person, instead of the recorded one");
  sub = subcommand(lab, command, "delete", "Delete an attempt", remove_attempt);
  sub->add_option("key", command->key, "Key of the attempt, as shown by trocar lab show")->required();
  sub = subcommand(lab, command, "export", "Write all attempts with their metrics as a table", export_all);
  sub->add_option("-o,--out", command->out, "Table: .csv")->required();
  add_force_option(*sub, command->force);
  sub = subcommand(lab, command, "serve", "Show the cohort in a browser, read only", serve);
  sub->add_option("--port", command->server.port, "Port; 0: any free one")
      ->check(within(0, 65535))
      ->capture_default_str();
  sub->add_flag("--anyone", command->server.anyone, "Other machines may connect too: there is no password");
  sub = subcommand(lab, command, "backup", "Copy the whole database to a new SQLite file", backup);
  sub->add_option("-o,--out", command->out, "New file: .sqlite")->required();
  sub = subcommand(lab, command, "restore", "Add what a backup has and the database lacks", restore);
  sub->add_option("backup", command->out, "Backup: .sqlite")->required();
}

}  // namespace

void add_lab_command(CLI::App& program) {
  auto command = std::make_shared<LabCommand>();
  CLI::App* lab = program.add_subcommand("lab", "People, attempts and scores in the laboratory's database");
  lab->add_option("--database", command->database,
                  "File, or postgresql://USER@HOST/NAME: for this command; alone, for this station from now on");
  add_people_commands(*lab, command);
  add_attempt_commands(*lab, command);
  add_lab_thresholds_command(*lab, [command] { return opened(station_of(*command)); });
  add_lab_tidy_command(*lab, [command] { return station_of(*command).open(); });
  lab->require_subcommand(0, 1);
  lab->callback([command, lab] {
    if (lab->get_subcommands().empty()) show_station(*command);
  });
}

}  // namespace trocar
