// Times the views of the lab on a database of 10,000 people with 1,000,000 attempts (or as given): SQLite, and a
// PostgreSQL server if its address is given. Each view is opened 21 times; the table shows median and longest time,
// with the opening of the database apart.
//   trocar_lab_views FILE|postgresql://... [PEOPLE ATTEMPTS]     makes the data unless the database has them
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>

#include "app/lab/lab_database.hpp"
#include "app/lab/lab_server.hpp"
#include "geometry/machine.hpp"

namespace trocar {
namespace {

constexpr int kRepeats = 21;
constexpr std::size_t kBatch = 10000;
constexpr const char* kScenes[] = {"touch_targets", "navigate_camera", "follow_curve", "lift_gallbladder",
                                   "burn_line",     "keep_out",        "clip_and_cut"};

std::string person_id(std::size_t number) { return fmt::format("trainee {:05}", number); }

LabAttempt random_attempt(std::mt19937_64& dice, std::size_t people, std::size_t number) {
  const auto pick = [&](std::size_t count) { return dice() % count; };
  LabAttempt a;
  a.key = fmt::format("{:016x}{:016x}", dice(), number);
  a.person = person_id(pick(people));
  a.scene = kScenes[pick(std::size(kScenes))], a.title = "A task of the product", a.level = 1 + int(pick(3));
  a.station = fmt::format("station {}", pick(20)), a.kind = "touch-targets", a.devices = "haptic, haptic, mouse";
  a.ending = pick(5) ? "done" : "not done";
  a.started = 1.7e9 + 60.0 * static_cast<double>(number), a.seconds = 30.0 + 0.1 * static_cast<double>(pick(3000));
  a.score = static_cast<double>(pick(1001)) / 10.0;
  a.version = "1.0.0", a.recording = fmt::format("/home/lab/recordings/{}.h5", a.key);
  for (int k = 0; k < 40; ++k) a.metrics[fmt::format("grasper.metric_{}", k)] = static_cast<double>(pick(100000)) / 7.0;
  return a;
}

void fill(LabDatabase& lab, std::size_t people, std::size_t attempts) {
  if (lab.counts().attempts >= attempts) return;
  std::mt19937_64 dice(1);
  const auto start = Clock::now();
  std::vector<LabAttempt> batch;
  for (std::size_t k = 0; k < attempts; ++k) {
    batch.push_back(random_attempt(dice, people, k));
    if (batch.size() < kBatch && k + 1 < attempts) continue;
    lab.add_attempts(batch);
    batch.clear();
  }
  fmt::print("{} attempts of {} people added in {:.0f} s\n", attempts, people, milliseconds_since(start) / 1e3);
}

void time_view(const char* name, const std::function<std::size_t()>& view) {
  std::vector<double> times;
  std::size_t rows = 0;
  for (int k = 0; k < kRepeats; ++k) {
    const auto start = Clock::now();
    rows = view();
    times.push_back(milliseconds_since(start));
  }
  std::sort(times.begin(), times.end());
  fmt::print("| {} | {} | {:.1f} | {:.1f} |\n", name, rows, times[kRepeats / 2], times.back());
}

std::size_t cohort(LabDatabase& lab) {
  CohortPage page;
  page.people = lab.people({.order = PersonOrder::LastAttempt, .most = 50});
  for (const PersonSummary& one : page.people)
    for (Standing& s : lab.standings(one.person.id, "")) page.standings.push_back(std::move(s));
  page.counts = lab.counts();
  return cohort_page(page).size();
}

void time_views(const std::string& address, std::size_t people) {
  LabDatabase lab(address);
  std::mt19937_64 dice(2);
  const auto anyone = [&] { return person_id(dice() % people); };
  fmt::print("| view | rows or bytes | median ms | longest ms |\n|---|---|---|---|\n");
  time_view("open the database", [&] { return LabDatabase(address).version() > 0; });
  time_view("people, by id, 100", [&] { return lab.people().size(); });
  time_view("people, latest attempt first, 100",
            [&] { return lab.people({.order = PersonOrder::LastAttempt}).size(); });
  time_view("people, search", [&] { return lab.people({.part = "e 0777"}).size(); });
  time_view("attempts of a person", [&] { return lab.attempts({.person = anyone(), .most = 500}).size(); });
  time_view("attempts of a person at a task",
            [&] { return lab.attempts({.person = anyone(), .scene = "burn_line", .level = 2}).size(); });
  time_view("attempts of everybody at a task, 100", [&] { return lab.attempts({.scene = "burn_line"}).size(); });
  time_view("latest attempts, 100", [&] { return lab.attempts().size(); });
  time_view("standings of a person", [&] { return lab.standings(anyone(), "").size(); });
  time_view("standings of everybody at a task", [&] { return lab.standings("", "burn_line").size(); });
  time_view("counts", [&] { return std::size_t(lab.counts().attempts); });
  time_view("cohort page, 50 people", [&] { return cohort(lab); });
  time_view("enter an attempt",
            [&] { return std::size_t(lab.add_attempt(random_attempt(dice, people, 99999999 + dice() % 1000000))); });
}

}  // namespace
}  // namespace trocar

int main(int count, char** arguments) {
  if (count < 2) {
    fmt::print(stderr, "usage: trocar_lab_views FILE|postgresql://... [PEOPLE ATTEMPTS]\n");
    return 2;
  }
  const std::size_t people = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 10000;
  const std::size_t attempts = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1000000;
  try {
    {
      trocar::LabDatabase lab(arguments[1]);
      trocar::fill(lab, people, attempts);
    }
    trocar::time_views(arguments[1], people);
  } catch (const std::exception& error) {
    fmt::print(stderr, "trocar_lab_views: {}\n", error.what());
    return 1;
  }
  return 0;
}
