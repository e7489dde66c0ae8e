// Compares the report's summary with the recorded session. Tests the report's page with strings that contain HTML or
// script.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/report/report.hpp"
#include "app/report/session_summary.hpp"
#include "geometry/error.hpp"
#include "sim/support/base64.hpp"
#include "tests/sim/burnt_session.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(Base64, FollowsTheStandardsExamples) {
  const auto of = [](std::string_view text) { return base64(std::as_bytes(std::span(text))); };
  const std::vector<std::pair<std::string, std::string>> cases = {{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"},
                                                                  {"\xff\xfe\xfd", "//79"}};
  for (const auto& [plain, coded] : cases) EXPECT_EQ(of(plain), coded);
}

TEST(ReportPage, FillsEachPlaceholderOnceAndNotInsideContent) {
  EXPECT_EQ(filled_in("a {{one}} b {{two}}{{one}}", {{"one", "{{two}}"}, {"two", "2"}}), "a {{two}} b 2{{two}}");
  EXPECT_EQ(filled_in("", {}), "");
  EXPECT_THROW(filled_in("{{three}}", {{"one", "1"}}), RunError);
  EXPECT_THROW(filled_in("{{open", {{"one", "1"}}), RunError);
  EXPECT_EQ(escaped_html("<b a='1'>\"&"), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;");
}

TEST(ReportPage, ContainsAllItsFiles) {
  const WebFiles& files = web_files();
  EXPECT_NE(files.page.find("{{data}}"), std::string_view::npos);
  EXPECT_NE(files.script.find("report"), std::string_view::npos);
  EXPECT_NE(files.viewer_licence.find("three.js authors"), std::string_view::npos);
  EXPECT_GT(files.viewer.size(), 100000u);
  EXPECT_EQ(files.viewer.find("</script"), std::string_view::npos);
  EXPECT_EQ(files.script.find("</script"), std::string_view::npos);
  EXPECT_EQ(files.style.find("</style"), std::string_view::npos);
}

TEST(TryLinks, LeadToTheTaskOfEachScene) {
  EXPECT_EQ(try_links("", {{"burn_line", "Burn"}}), "");
  EXPECT_EQ(try_links("https://a.org/t/", {}), "");
  EXPECT_EQ(try_links("https://a.org/t/", {{"", "Old"}}), "");
  const std::string one =
      "<p class=\"try\"><a href=\"https://a.org/t/?x=1&amp;y=2#task=burn_line\" rel=\"noreferrer\">"
      "Try this task in the browser</a></p>";
  EXPECT_EQ(try_links("https://a.org/t/?x=1&y=2", {{"burn_line", "Burn"}, {"burn_line", "Burn"}}), one);
  const std::string two = try_links("http://localhost:8000", {{"a b\"<\xc3\xa4&", "<i>"}, {"keep_out", ""}});
  EXPECT_NE(two.find("href=\"http://localhost:8000#task=a%20b%22%3C%C3%A4%26\""), std::string::npos) << two;
  EXPECT_NE(two.find(">Try in the browser: &lt;i&gt;</a><br><a "), std::string::npos) << two;
  EXPECT_NE(two.find(">Try in the browser: keep_out</a></p>"), std::string::npos) << two;
}

TEST(TryLinks, OnlyAddressesOfPagesAreAccepted) {
  for (const char* page : {"a.org", "javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x",
                           "file:///etc/passwd", "//a.org", "http:/a.org", "https://", "https:///x", "https://?x",
                           " https://a.org", "https://a.org/ x", "https://a.org/\n", "https://a.org/\"onclick",
                           "https://a.org/<b>", "https://a.org/#task=x", "https://a.org/\xc3\xa4", "ftp://a.org"})
    EXPECT_THROW(try_links(page, {}), InputError) << page;
  EXPECT_THROW(try_links("https://a.org/" + std::string(2000, 'x'), {}), InputError);
}

TEST(ReportPage, HasLinksOnlyWhenTheyAreGiven) {
  EXPECT_EQ(report_page("t", "{}", false).find("in the browser</a>"), std::string::npos);
  const std::string page = report_page("t", "{}", false, try_links("https://a.org", {{"burn_line", ""}}));
  EXPECT_NE(page.find("</noscript>\n<p class=\"try\"><a href=\"https://a.org#task=burn_line\""), std::string::npos);
}

// A recording of `frames` frames, and the values that the session itself saw.
struct Recorded {
  static constexpr std::size_t kTools = test::BurntSession::kTools;
  TemporaryFolder folder;
  std::size_t frames;
  std::vector<std::vector<std::uint32_t>> touched;                      // [tool][frame]
  std::vector<std::map<std::uint32_t, std::pair<int, float>>> contact;  // [organ] face: frames, highest pressure

  explicit Recorded(std::size_t frames) : frames(frames), touched(kTools), contact(test::BurntSession::kOrgans) {
    test::BurntSession session;
    Recorder recorder(file(), session.header());
    for (std::size_t frame = 0; frame < frames; ++frame) {
      session.step(&recorder);
      look_at(session);
    }
    recorder.close();
  }

  std::filesystem::path file() const { return folder.path() / "session.h5"; }

  void look_at(const test::BurntSession& session) {
    for (auto& row : touched) row.push_back(0);
    for (std::size_t organ = 0; organ < contact.size(); ++organ) {
      const test::SurfaceShot& shot = session.shot(organ);
      std::map<std::uint32_t, float> now;
      for (std::size_t tool = 0; tool < kTools; ++tool) touched[tool].back() += shot.first[tool + 1] - shot.first[tool];
      for (std::size_t k = 0; k < shot.touches.size(); ++k) {
        float& pressure = now[index(shot.touches[k].face)];
        pressure = std::max(pressure, shot.pressure[k]);
      }
      for (const auto& [face, pressure] : now) {
        auto& [count, highest] = contact[organ][face];
        ++count;
        highest = std::max(highest, pressure);
      }
    }
  }
};

SessionSummary summary_of(const Recorded& recorded, const SummaryLimits& limits) {
  const Recording recording(recorded.file());
  return summarise_session(recording, {}, limits, [](std::size_t) {});
}

TEST(SessionSummary, EveryTouchOfTheSessionIsCounted) {
  const Recorded recorded(90);
  const SessionSummary summary = summary_of(recorded, {});
  ASSERT_EQ(summary.tools.size(), Recorded::kTools);
  for (std::size_t tool = 0; tool < summary.tools.size(); ++tool) {
    const Envelope& touched = summary.tools[tool].touched;
    EXPECT_EQ(touched.low, touched.high);
    EXPECT_TRUE(std::equal(touched.high.begin(), touched.high.end(), recorded.touched[tool].begin(),
                           recorded.touched[tool].end()));
  }
  const double dt = (summary.end - summary.begin) / static_cast<double>(recorded.frames - 1);
  std::size_t faces = 0;
  for (std::size_t organ = 0; organ < summary.organs.size(); ++organ) {
    ASSERT_EQ(summary.organs[organ].contact.size(), recorded.contact[organ].size());
    for (const FaceContact& contact : summary.organs[organ].contact) {
      const auto& [count, pressure] = recorded.contact[organ].at(contact.face);
      EXPECT_NEAR(contact.seconds, count * dt, 1e-4);
      EXPECT_EQ(contact.pressure, pressure);
      ++faces;
    }
  }
  EXPECT_GT(faces, 50u);
  EXPECT_FALSE(summary.organs[0].removed.empty());
  EXPECT_FALSE(summary.organs[0].born.empty());
  EXPECT_TRUE(summary.organs[1].removed.empty());
  EXPECT_FALSE(summary.tools[0].energy.empty());
}

TEST(SessionSummary, BinsKeepEveryPeak) {
  const Recorded recorded(90);
  const SessionSummary full = summary_of(recorded, {}), few = summary_of(recorded, {7, 11, false});
  EXPECT_LE(few.bin_time.size(), 7u);
  EXPECT_LE(few.step_time.size(), 11u);
  EXPECT_TRUE(few.organs[0].faces.empty());
  for (std::size_t tool = 0; tool < full.tools.size(); ++tool) {
    for (const auto member : {&ToolSummary::force, &ToolSummary::speed, &ToolSummary::touched}) {
      const Envelope &all = full.tools[tool].*member, &some = few.tools[tool].*member;
      EXPECT_EQ(*std::max_element(all.high.begin(), all.high.end()),
                *std::max_element(some.high.begin(), some.high.end()));
      EXPECT_EQ(*std::min_element(all.low.begin(), all.low.end()), *std::min_element(some.low.begin(), some.low.end()));
    }
    EXPECT_EQ(few.tools[tool].tip.size(), few.step_time.size());
  }
}

TEST(SessionSummary, ASingleFrameIsSummarised) {
  const Recorded recorded(1);
  const SessionSummary summary = summary_of(recorded, {});
  EXPECT_EQ(summary.frames, 1u);
  EXPECT_EQ(summary.begin, summary.end);
  EXPECT_EQ(summary.tools[0].speed.high, std::vector<float>{0.f});
  EXPECT_FALSE(report_json({{Attempt{}, {}, summary}}).empty());
}

TEST(ReportJson, TextsWithMarkupStayText) {
  ReportSession session;
  session.attempt.scene_title = "</script><!-- \" ' \\ \xff";
  session.attempt.instruments = {{"<b>", {}}};
  const std::string text = report_json({session});
  EXPECT_EQ(text.find('<'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["sessions"][0]["attempt"]["scene"], "</script><!-- \" ' \\ \xEF\xBF\xBD");
  EXPECT_EQ(json["sessions"][0]["attempt"]["instruments"][0]["name"], "<b>");
}

}  // namespace
}  // namespace trocar
