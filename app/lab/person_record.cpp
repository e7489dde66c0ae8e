#include "app/lab/person_record.hpp"

#include <algorithm>
#include <set>

#include "app/lab/lab_date.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostAttempts = 1'000'000, kMostListed = 200;

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
    if (record.known) record.attempts = lab.attempts({.person = record.person, .most = kMostAttempts});
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

}  // namespace trocar
