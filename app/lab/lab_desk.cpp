#include "app/lab/lab_desk.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "app/lab/lab_attempt.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostListed = 200;

void add_person_if_new(const LabStation& station, PersonRecord& record) {
  LabDatabase lab = station.open_to_write();
  try {
    lab.add_person({record.person, "", now_in_seconds()});
  } catch (const InputError&) {
    if (!lab.person(record.person)) throw;  // else another station was faster
  }
  record.known = true;
}

void read_database(const LabStation& station, bool add, PersonRecord& record) {
  LabDatabase lab = station.open_to_read();
  if (!record.person.empty()) {
    record.known = lab.person(record.person).has_value();
    if (!record.known && add) {
      add_person_if_new(station, record);
      lab = station.open_to_read();
    }
    if (record.known) record.attempts = lab.attempts({.person = record.person, .most = kAllRows});
  }
  for (const PersonSummary& one : lab.people({"", PersonOrder::LastAttempt, kMostListed}))
    record.people.push_back(one.person.id);
}

}  // namespace

void add_unknown(std::vector<LabAttempt>& attempts, const std::vector<LabAttempt>& more) {
  std::set<std::string> keys;
  for (const LabAttempt& attempt : attempts) keys.insert(attempt.key);
  for (const LabAttempt& attempt : more)
    if (keys.insert(attempt.key).second) attempts.push_back(attempt);
}

PersonRecord person_record(const LabStation& station, const std::string& person, bool add) {
  PersonRecord record;
  record.person = person;
  // First what waits here: what another thread hands in meanwhile is then in one of the two.
  const std::vector<LabAttempt> waiting = person.empty() ? std::vector<LabAttempt>{} : station.waiting_of(person);
  try {
    read_database(station, add, record);
  } catch (const std::runtime_error& error) {
    record.why = error.what();
  }
  add_unknown(record.attempts, waiting);
  return record;
}

LabDesk::LabDesk(const LabStation& station, Curriculum curriculum)
    : station_(station), curriculum_(std::move(curriculum)) {}

void LabDesk::log_in(const std::string& person, bool add) {
  if (person != person_) {
    view_.reset();
    attempts_.clear();
    known_ = false;
    person_ = person;
  }
  ask(add);
}

void LabDesk::refresh() { ask(false); }

void LabDesk::ask(bool add) {
  if (answer_.busy()) {
    again_ = true, add_ = add_ || add;
    return;
  }
  answer_ =
      Task<PersonRecord>([station = station_, person = person_, add] { return person_record(station, person, add); });
}

void LabDesk::take(PersonRecord record) {
  why_ = record.why;
  ++answers_;
  if (record.why.empty()) people_ = std::move(record.people);
  if (record.person != person_ || person_.empty()) return;
  // A database that does not answer takes nothing away from what it said before.
  if (record.why.empty())
    attempts_ = std::move(record.attempts), known_ = record.known;
  else
    add_unknown(attempts_, record.attempts);
  view_ = course_view(curriculum_, attempts_, now_in_seconds());
}

void LabDesk::step() {
  auto answer = answer_.poll();
  if (!answer) return;
  PersonRecord record;
  if (answer->value)
    record = std::move(*answer->value);
  else
    record.person = person_, record.why = std::move(answer->fault);
  take(std::move(record));
  if (std::exchange(again_, false)) ask(std::exchange(add_, false));
}

}  // namespace trocar
