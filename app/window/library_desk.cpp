#include "app/window/library_desk.hpp"

#include <algorithm>
#include <utility>

namespace trocar {
namespace {

constexpr std::size_t kMostPeople = 200, kMostShown = 500;

LibraryAnswer::Curve curve_of(LabDatabase& lab, const std::string& person, const LibraryQuestion& question) {
  LibraryAnswer::Curve curve{person, {}};
  for (const LabAttempt& one : lab.attempts({person, question.scene, question.level, kMostShown}))
    if (one.score) curve.scores.push_back(*one.score);
  std::ranges::reverse(curve.scores);
  return curve;
}

LibraryAnswer answer_of(LabDatabase& lab, LibraryQuestion question) {
  LibraryAnswer answer;
  answer.people = lab.people({question.part, PersonOrder::LastAttempt, kMostPeople});
  if (question.person.empty() && !answer.people.empty()) question.person = answer.people.front().person.id;
  if (!question.person.empty()) {
    answer.standings = lab.standings(question.person, "");
    AttemptQuery query{.person = question.person, .scene = question.scene, .most = kMostShown};
    if (!question.scene.empty()) query.level = question.level;
    answer.attempts = lab.attempts(query);
  }
  if (!question.person.empty() && !question.scene.empty()) {
    answer.curves.push_back(curve_of(lab, question.person, question));
    for (const std::string& other : question.compared)
      if (other != question.person) answer.curves.push_back(curve_of(lab, other, question));
  }
  answer.question = std::move(question);
  return answer;
}

}  // namespace

void LibraryDesk::ask(LibraryQuestion question, double patience) {
  next_ = std::move(question);
  patience_ = patience;
}

void LibraryDesk::step(double elapsed) {
  if (auto result = task_.poll()) {
    fault_ = std::move(result->fault);
    if (result->value) {
      answer_ = std::move(*result->value);
      ++answers_;
    }
  }
  patience_ -= elapsed;
  if (!next_ || patience_ > 0.0 || task_.busy()) return;
  asked_ = *std::exchange(next_, std::nullopt);
  task_ = Task<LibraryAnswer>([station = station_, question = asked_] {
    LabDatabase lab = station.open_to_read();
    return answer_of(lab, question);
  });
}

}  // namespace trocar
