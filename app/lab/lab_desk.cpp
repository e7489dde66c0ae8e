#include "app/lab/lab_desk.hpp"

#include <utility>

#include "app/lab/lab_date.hpp"

namespace trocar {

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
