// Tests the pages of the lab: every text from the database is escaped, and empty databases give whole pages.
#include "app/lab/lab_server.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trocar {
namespace {

constexpr const char* kAttack = "<script>alert('1')</script>&\"";

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void expect_whole(const std::string& page) {
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</main></body></html>\n"));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  for (const char* element : {"table", "section", "tr", "td", "th", "main", "svg", "h1", "p", "form"})
    EXPECT_EQ(count_of(page, std::string("<") + element + ">") + count_of(page, std::string("<") + element + " "),
              count_of(page, std::string("</") + element + ">"))
        << element;
}

TEST(LabPage, EmptyPagesAreWhole) {
  expect_whole(cohort_page({}));
  expect_whole(person_page({}));
  expect_whole(failure_page(404, kAttack));
}

TEST(LabPage, TextsOfTheDatabaseAreEscaped) {
  LabAttempt attempt;
  attempt.scene = attempt.title = attempt.ending = attempt.devices = kAttack, attempt.score = 50.0;
  const Standing standing{kAttack, kAttack, 1, 1, 50.0, 50.0, 0.0};
  expect_whole(cohort_page({{{{kAttack, kAttack, 0.0}, 1, 1, 0.0}}, {standing}, kAttack, 1, true, {1, 1}}));
  expect_whole(person_page({{kAttack, kAttack, 0.0}, {standing}, {attempt}, kAttack, 1}));
}

TEST(LabPage, TheCurveHasAPointForEachScoredAttempt) {
  std::vector<LabAttempt> attempts(5);
  EXPECT_EQ(score_curve(attempts), "");
  for (int k = 0; k < 4; ++k) attempts[static_cast<std::size_t>(k)].score = 40.0 * k;  // 120 is drawn at 100
  const std::string curve = score_curve(attempts);
  EXPECT_EQ(count_of(curve, "<circle"), 4u);
  EXPECT_EQ(count_of(curve, "cy=\"10.0\""), 1u);
  EXPECT_EQ(count_of(curve, "cy=\"190.0\""), 1u);
  attempts.resize(1);
  EXPECT_EQ(count_of(score_curve(attempts), "<circle"), 1u);
}

TEST(LabPage, ThePersonsCurveIsThatOfTheNewestTask) {
  LabAttempt newest, older;
  newest.scene = "burn_line", newest.score = 60.0, older.scene = "keep_out", older.score = 30.0;
  const std::string page = person_page({{"a", "", 0.0}, {}, {newest, older}, "", 1});
  EXPECT_NE(page.find("Scores: burn line"), std::string::npos);
  EXPECT_EQ(count_of(page, "<circle"), 1u);
  EXPECT_NE(person_page({{"a", "", 0.0}, {}, {newest, older}, "keep_out", 1}).find("Scores: keep out"),
            std::string::npos);
}

}  // namespace
}  // namespace trocar
