#include "app/lab/lab_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "app/lab/lab_attempt.hpp"
#include "geometry/error.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/markup.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

// Colours are those of the program's report (Okabe, Ito, "Color universal design", 2008, without red and green alone).
constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--text:#1c2530;--quiet:#5d6b7a;--line:#dde3ea;--mark:#0072b2;--bad:#b04500}
@media(prefers-color-scheme:dark){:root{--back:#10151b;--card:#19212a;--text:#e6ebf0;--quiet:#98a6b5;--line:#2b3743;--mark:#56b4e9;--bad:#f7993a}}
body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
main{max-width:1180px;margin:0 auto;padding:24px}
header{display:flex;align-items:baseline;gap:16px;flex-wrap:wrap;margin-bottom:12px}
h1{font-size:26px;margin:0}h2{font-size:18px;margin:24px 0 8px}
p.quiet,.quiet{color:var(--quiet)}a{color:var(--mark);text-decoration:none}a:hover{text-decoration:underline}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px 16px;overflow-x:auto}
table{border-collapse:collapse;width:100%}th{text-align:left;font-weight:600;color:var(--quiet)}
th,td{padding:6px 12px 6px 0;border-bottom:1px solid var(--line);white-space:nowrap}tr:last-child td{border-bottom:0}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.score{display:inline-block;min-width:2.4em;padding:1px 6px;border-radius:4px;text-align:center;color:#10151b}
input,textarea{font:inherit;padding:6px 10px;border:1px solid var(--line);border-radius:6px;background:var(--card);color:var(--text)}
button{font:inherit;padding:6px 14px;border:0;border-radius:6px;background:var(--mark);color:#fff}
svg{max-width:100%;height:auto}svg text{fill:var(--quiet);font-size:12px}
textarea{display:block;width:100%;box-sizing:border-box;margin:8px 0}.comment{white-space:pre-wrap;overflow-wrap:anywhere}
td.wrap{white-space:normal;min-width:16em}.bad{color:var(--bad);font-weight:600}
.sign{display:flex;gap:48px;margin-top:56px}.sign span{flex:1;border-top:1px solid var(--text);padding-top:4px}
@media print{:root{--back:#fff;--card:#fff;--text:#000;--quiet:#444;--line:#bbb}nav{display:none}main{padding:0;max-width:none}
body{font-size:10pt}section{overflow:visible;border:0;padding:0}th,td{white-space:normal;padding:4px 10px 4px 0}td.wrap{min-width:0}
thead{display:table-header-group}tr,.sign{break-inside:avoid}}
)css";

std::string page_with(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>{}</title><style>{}</style></head><body><main>{}</main>"
      "</body></html>\n",
      title, kStyle, body);
}

// From a light vermilion at 0 over yellow to a light green at 100.
std::string score_cell(const std::optional<double>& score) {
  if (!score) return "<span class=\"quiet\">–</span>";
  const double share = std::clamp(*score / 100.0, 0.0, 1.0);
  const int hue = static_cast<int>(15.0 + 135.0 * share);
  return fmt::format("<span class=\"score\" style=\"background:hsl({},65%,68%)\">{}</span>", hue, score_text(*score));
}

std::string task_text(const std::string& scene, int level) {
  std::string text = markup_escaped(scene);
  std::replace(text.begin(), text.end(), '_', ' ');
  return level > 1 ? fmt::format("{}, level {}", text, level) : text;
}

std::string person_link(const std::string& id) {
  return fmt::format("<a href=\"/person?id={}\">{}</a>", url_encoded(id), markup_escaped(id));
}

using TaskAndLevel = std::pair<std::string, int>;

std::string cohort_rows(const CohortPage& page, const std::set<TaskAndLevel>& tasks) {
  std::map<std::string, std::map<TaskAndLevel, const Standing*>> of_person;
  for (const Standing& s : page.standings) of_person[s.person][{s.scene, s.level}] = &s;
  std::string rows;
  for (const PersonSummary& one : page.people) {
    rows +=
        fmt::format("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td>", person_link(one.person.id),
                    markup_escaped(one.person.name), one.attempts, one.attempts ? text_of_date(one.last_started) : "");
    const auto& standings = of_person[one.person.id];
    for (const TaskAndLevel& task : tasks) {
      const auto found = standings.find(task);
      rows += found == standings.end() ? "<td></td>"
                                       : fmt::format("<td>{} <span class=\"quiet\">× {}</span></td>",
                                                     score_cell(found->second->best), found->second->attempts);
    }
    rows += "</tr>";
  }
  return rows;
}

std::string page_links(const CohortPage& page) {
  std::string links;
  const auto link = [&](std::size_t skip, const char* text) {
    links += fmt::format("<a href=\"/?part={}&amp;skip={}\">{}</a> ", url_encoded(page.part), skip, text);
  };
  const std::size_t step = std::max<std::size_t>(page.people.size(), 1);
  if (page.skip > 0) link(page.skip > step ? page.skip - step : 0, "← before");
  if (page.more) link(page.skip + page.people.size(), "next →");
  return links;
}

std::string standing_rows(const PersonPage& page) {
  std::string rows;
  for (const Standing& s : page.standings)
    rows += fmt::format(
        "<tr><td><a href=\"/person?id={}&amp;task={}&amp;level={}\">{}</a></td><td class=\"n\">{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td></tr>",
        url_encoded(page.person.id), url_encoded(s.scene), s.level, task_text(s.scene, s.level), s.attempts,
        score_cell(s.best), score_cell(s.last), text_of_date(s.last_started));
  return rows;
}

// "Anna, 2026-11-21 10:22: Slower at the turn."
std::string comment_text(const LabComment& comment) {
  return fmt::format("<span class=\"quiet\">{}, {}:</span> {}",
                     comment.author.empty() ? "an erased person" : markup_escaped(comment.author),
                     text_of_date(comment.written), markup_escaped(comment.text));
}

std::string attempt_rows(const std::vector<LabAttempt>& attempts, const std::vector<LabComment>& comments) {
  std::string rows;
  for (const LabAttempt& a : attempts) {
    rows += fmt::format(
        "<tr><td><a href=\"/attempt?key={}\">{}</a></td><td>{}</td><td>{}</td><td>{}{}</td><td class=\"n\">{:.0f}</td>"
        "<td>{}</td></tr>",
        url_encoded(a.key), text_of_date(a.started), task_text(a.scene, a.level), score_cell(a.score),
        markup_escaped(a.ending), a.critical ? ", critical error" : "", a.seconds, markup_escaped(a.devices));
    for (const LabComment& comment : comments)
      if (comment.attempt == a.key)
        rows += fmt::format("<tr><td></td><td class=\"comment\" colspan=\"5\">{}</td></tr>", comment_text(comment));
  }
  return rows;
}

}  // namespace

std::string cohort_page(const CohortPage& page) {
  std::set<TaskAndLevel> tasks;
  for (const Standing& s : page.standings) tasks.insert({s.scene, s.level});
  std::string header = "<th>id</th><th>name</th><th class=\"n\">attempts</th><th>latest (UTC)</th>";
  for (const auto& [scene, level] : tasks) header += fmt::format("<th>{}</th>", task_text(scene, level));
  const std::string table = page.people.empty()
                                ? "<p class=\"quiet\">No people.</p>"
                                : fmt::format("<table><tr>{}</tr>{}</table>", header, cohort_rows(page, tasks));
  return page_with(
      "Trocar: cohort",
      fmt::format(
          "<header><h1>Cohort</h1><a href=\"/day\">Day</a><span class=\"quiet\">{} people, {} attempts; best score × "
          "attempts</span>"
          "</header><form method=\"get\" action=\"/\"><input name=\"part\" value=\"{}\" aria-label=\"part of an "
          "id or name\" placeholder=\"part of an id or name\"> <button>Search</button></form><br>"
          "<section>{}</section><p>{}</p>",
          page.counts.people, page.counts.attempts, markup_escaped(page.part), table, page_links(page)));
}

namespace {

constexpr double kLeft = 56, kRight = 630, kTop = 26, kBottom = 200;  // of a drawing of 640 x 240

// Where values lie in the drawing of a curve.
struct CurveFrame {
  CurveRange range;
  double step = 0.0;

  explicit CurveFrame(const LabCurve& curve) : range(curve_range({&curve, 1})) {
    const std::size_t count = curve.values.size();
    step = count > 1 ? (kRight - kLeft - 20) / static_cast<double>(count - 1) : 0.0;
  }
  double x(std::size_t attempt) const { return kLeft + 10 + step * static_cast<double>(attempt); }
  double y(double value) const {
    return kBottom - (kBottom - kTop) * std::clamp((value - range.low) / (range.high - range.low), 0.0, 1.0);
  }
};

std::string level_lines(const CurveFrame& frame) {
  std::string shapes;
  for (int part = 0; part <= 4; ++part) {
    const double value = std::lerp(frame.range.low, frame.range.high, 0.25 * part), y = frame.y(value);
    shapes += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" opacity=\".15\"/><text x=\"{}\" "
        "y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>",
        kLeft, kRight, y, y, kLeft - 8, y + 4, value);
  }
  return shapes;
}

std::string peer_band(const LabCurve& curve, const CurveFrame& frame) {
  const auto peers = shown_peers(curve);
  if (peers.empty()) return "";
  std::string points;
  for (std::size_t k = 0; k < peers.size(); ++k)
    points += fmt::format("{:.1f},{:.1f} ", frame.x(k), frame.y(peers[k].high));
  for (std::size_t k = peers.size(); k-- > 0;)
    points += fmt::format("{:.1f},{:.1f} ", frame.x(k), frame.y(peers[k].low));
  return fmt::format("<polygon points=\"{}\" fill=\"var(--mark)\" stroke=\"var(--mark)\" opacity=\".18\"/>", points);
}

std::string pass_line_drawing(const LabCurve& curve, const CurveFrame& frame) {
  if (!curve.pass) return "";
  const double y = frame.y(curve.pass->value);
  return fmt::format(
      "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"var(--bad)\" stroke-dasharray=\"6 4\"/>"
      "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">pass: at {} {:.4g}</text>",
      kLeft, kRight, y, y, kRight, y - 4, curve.pass->at_most ? "most" : "least", curve.pass->value);
}

std::string curve_title(const LabCurve& curve) {
  return curve.metric.empty() ? "score" : markup_escaped(metric_title(curve.metric));
}

std::string day_text(const LabAttempt& attempt) { return text_of_date(attempt.started).substr(0, 10); }

}  // namespace

std::string curve_drawing(const LabCurve& curve) {
  if (curve.values.empty()) return "";
  const CurveFrame frame(curve);
  std::string shapes = level_lines(frame) + peer_band(curve, frame) + pass_line_drawing(curve, frame), line;
  for (std::size_t k = 0; k < curve.values.size(); ++k) {
    const double x = frame.x(k), y = frame.y(curve.values[k]);
    line += fmt::format("{:.1f},{:.1f} ", x, y);
    shapes += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"var(--mark)\"><title>attempt {}, {}: "
        "{}</title></circle>",
        x, y, k + 1, text_of_date(curve.attempts[k].started),
        curve.metric.empty() ? score_text(curve.values[k]) : fmt::format("{:.4g}", curve.values[k]));
  }
  const std::size_t count = curve.values.size();
  const std::string last = count > 1 ? fmt::format("<text x=\"{}\" y=\"222\" text-anchor=\"end\">attempt {}, {}</text>",
                                                   kRight, count, day_text(curve.attempts.back()))
                                     : "";
  return fmt::format(
      "<svg viewBox=\"0 0 640 240\" width=\"640\" role=\"img\" aria-label=\"{} of each attempt\"><text x=\"{}\" "
      "y=\"14\">{}</text>{}<polyline points=\"{}\" fill=\"none\" stroke=\"var(--mark)\" stroke-width=\"2\"/><text "
      "x=\"{}\" y=\"222\">attempt 1, {}</text>{}</svg>",
      curve_title(curve), kLeft, curve_title(curve), shapes, line, kLeft, day_text(curve.attempts.front()), last);
}

namespace {

// Links to the curves of the other metrics.
std::string metric_links(const PersonPage& page) {
  std::string links;
  const auto link = [&](const std::string& metric, const std::string& title) {
    if (!links.empty()) links += " · ";
    links +=
        metric == page.curve.metric
            ? fmt::format("<b>{}</b>", title)
            : fmt::format("<a href=\"/person?id={}&amp;task={}&amp;level={}&amp;metric={}\">{}</a>",
                          url_encoded(page.person.id), url_encoded(page.scene), page.level, url_encoded(metric), title);
  };
  link("", "score");
  for (const std::string& metric : page.metrics) link(metric, markup_escaped(metric_title(metric)));
  return links;
}

std::string curve_section(const PersonPage& page) {
  const std::string drawn = curve_drawing(page.curve);
  const std::string band =
      page.curve.peers.empty() ? "" : " The band holds the middle half of the others at their attempt of that number.";
  return fmt::format("<h2>{}: {}</h2><section>{}</section><p class=\"quiet\">{}{}</p>",
                     task_text(page.scene, page.level), curve_title(page.curve),
                     drawn.empty() ? "<p class=\"quiet\">No attempt has a value.</p>" : drawn, metric_links(page),
                     band);
}

}  // namespace

std::string person_page(const PersonPage& page) {
  return page_with(
      "Trocar: " + markup_escaped(page.person.id),
      fmt::format(
          "<header><a href=\"/\">Cohort</a><a href=\"/day\">Day</a><h1>{}</h1><span class=\"quiet\">{}</span>"
          "<a href=\"/record?id={}\">Record for print</a></header><h2>Tasks"
          "</h2><section><table><tr><th>task</th><th class=\"n\">attempts</th><th>best</th><th>latest</th>"
          "<th>on (UTC)</th></tr>{}</table></section>{}<h2>Attempts</h2>"
          "<section><table><tr><th>started (UTC)</th><th>task</th><th>score</th><th>ended</th><th class=\"n\">seconds"
          "</th><th>devices</th></tr>{}</table></section>",
          markup_escaped(page.person.id), markup_escaped(page.person.name), url_encoded(page.person.id),
          standing_rows(page), curve_section(page), attempt_rows(page.attempts, page.comments)));
}

namespace {

std::string comment_form(const AttemptPage& page) {
  if (page.token.empty()) return "";
  return fmt::format(
      "<h2>Write a comment</h2><form method=\"post\" action=\"/comment\" enctype=\"multipart/form-data\"><input "
      "type=\"hidden\" name=\"token\" value=\"{}\"><input type=\"hidden\" name=\"attempt\" value=\"{}\"><input "
      "name=\"author\" aria-label=\"your id\" placeholder=\"your id\" required><textarea name=\"text\" rows=\"5\" "
      "maxlength=\"{}\" aria-label=\"comment\" required></textarea><button>Add</button></form>",
      markup_escaped(page.token), markup_escaped(page.attempt.key), kLongestComment);
}

}  // namespace

std::string attempt_page(const AttemptPage& page) {
  const LabAttempt& a = page.attempt;
  std::string comments;
  for (const LabComment& comment : page.comments)
    comments += fmt::format("<p class=\"comment\">{}</p>", comment_text(comment));
  return page_with(
      "Trocar: attempt of " + markup_escaped(a.person),
      fmt::format("<header><a href=\"/\">Cohort</a>{}<h1>{}</h1>{}<span class=\"quiet\">{} UTC, {:.0f} s, "
                  "{}{}</span></header><section>{}</section>{}",
                  person_link(a.person), task_text(a.scene, a.level), score_cell(a.score), text_of_date(a.started),
                  a.seconds, markup_escaped(a.ending), a.critical ? ", critical error" : "",
                  comments.empty() ? "<p class=\"quiet\">No comments.</p>" : comments, comment_form(page)));
}

namespace {

std::string times_text(std::size_t count) { return count ? fmt::format("{}", count) : ""; }

// Where a person stands: the step, and how many attempts at it were no pass.
std::string next_cell(const DayRow& row, const Curriculum& curriculum) {
  if (!row.step) return "<span class=\"quiet\">all steps are passed</span>";
  std::string text = markup_escaped(step_title(curriculum.steps[*row.step]));
  if (row.without_pass == 0) return text;
  text += fmt::format("; <span class=\"{}\">{}{} without a pass</span>", row.stuck() ? "bad" : "quiet",
                      row.stuck() ? "stuck: " : "", row.without_pass);
  for (const std::string& sentence : row.missed)
    text += fmt::format("<br><span class=\"quiet\">{}</span>", markup_escaped(sentence));
  return text;
}

std::string day_line(const DayRow& row, const Curriculum& curriculum) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.0f}</td>"
      "<td class=\"n{}\">{}</td><td>{}, {} {}</td><td class=\"n\">{} of {}</td><td class=\"wrap\">{}</td></tr>",
      person_link(row.person.id), markup_escaped(row.person.name), times_text(row.in_a_day), row.in_a_week,
      row.seconds_in_a_week / 60.0, row.slow ? " bad" : "", times_text(row.slow), text_of_date(row.latest.started),
      task_text(row.latest.scene, row.latest.level), score_cell(row.latest.score), row.steps, curriculum.steps.size(),
      next_cell(row, curriculum));
}

}  // namespace

std::string day_page(const DayRows& day, const Curriculum& curriculum, double now) {
  std::string rows;
  for (const DayRow& row : day.rows) rows += day_line(row, curriculum);
  const auto in = [&](const auto& what) {
    const auto count = std::ranges::count_if(day.rows, what);
    return fmt::format("{} {}", count, count == 1 ? "person" : "people");
  };
  const std::string table =
      day.rows.empty()
          ? "<p class=\"quiet\">No attempt in the last 7 days.</p>"
          : fmt::format(
                "<table><tr><th>id</th><th>name</th><th class=\"n\">24 hours</th><th class=\"n\">7 days</th>"
                "<th class=\"n\">minutes</th><th class=\"n\">slow machine</th><th>latest (UTC)</th>"
                "<th class=\"n\">passed</th><th>step</th></tr>{}</table>",
                rows);
  return page_with(
      "Trocar: day",
      fmt::format(
          "<header><a href=\"/\">Cohort</a><h1>Day</h1><span class=\"quiet\">{} UTC; {}</span></header><p>24 hours: "
          "{}. 7 days: {}. Stuck: {}. Attempts lost to a slow machine: {}.</p><section>{}</section><p "
          "class=\"quiet\">24 hours, 7 days: attempts. Minutes: in 7 days. Slow "
          "machine: attempts of the 7 days that do not count, because the machine lost more than 3 % of the time. "
          "Stuck: "
          "{} or more attempts at a step without a pass.</p>",
          text_of_date(now), markup_escaped(curriculum.title), in([](const DayRow& row) { return row.in_a_day > 0; }),
          day.more ? fmt::format("{} or more", day.rows.size()) : in([](const DayRow&) { return true; }),
          in([](const DayRow& row) { return row.stuck(); }), in([](const DayRow& row) { return row.slow > 0; }), table,
          kStuckAfter));
}

namespace {

// The comments with the date and the task of their attempts; empty: there is none.
std::string record_comments(std::span<const LabAttempt> attempts, std::span<const LabComment> comments) {
  std::string rows;
  for (const LabComment& comment : comments) {
    const auto attempt = std::ranges::find(attempts, comment.attempt, &LabAttempt::key);
    if (attempt == attempts.end()) continue;
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"comment\">{}</td></tr>",
                        text_of_date(attempt->started), task_text(attempt->scene, attempt->level),
                        score_cell(attempt->score), comment_text(comment));
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<h2>Comments</h2><section><table><tr><th>attempt (UTC)</th><th>task</th><th>score</th><th>comment</th></tr>{}"
      "</table></section>",
      rows);
}

}  // namespace

std::string record_page(const Person& person, const CourseView& course, std::span<const LabAttempt> attempts,
                        std::span<const LabComment> comments, double now) {
  std::string rows;
  for (std::size_t k = 0; k < course.progress.size(); ++k) {
    const StepProgress& progress = course.progress[k];
    const CourseStep& step = course.curriculum.steps[k];
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"wrap\">{}, {} in a row</td><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>",
        markup_escaped(step_title(step)), markup_escaped(criteria_text(step)), step.in_a_row, progress.attempts,
        score_cell(progress.best), progress.passed_on ? text_of_date(*progress.passed_on) : state_name(progress.state));
  }
  const std::size_t passed = steps_passed(course), all = course.progress.size();
  const std::string verdict = passed == all ? fmt::format("All {} steps are passed.", all)
                                            : fmt::format("{} of {} steps are passed.", passed, all);
  return page_with(
      "Trocar: record of " + markup_escaped(person.id),
      fmt::format(
          "<nav><a href=\"/person?id={}\">Back</a></nav><header><h1>{}</h1></header><p><b>{}</b> {}</p><p>{}</p>"
          "<section><table><thead><tr><th>step</th><th>pass</th><th class=\"n\">attempts</th><th>best</th><th>passed "
          "on "
          "(UTC)</th></tr></thead>{}</table></section>{}<p class=\"quiet\">Trocar {}, {} UTC. Scores are not validated "
          "with "
          "surgeons."
          "</p><div class=\"sign\"><span>Date</span><span>Instructor</span></div>",
          url_encoded(person.id), markup_escaped(course.curriculum.title), markup_escaped(person.id),
          markup_escaped(person.name), verdict, rows, record_comments(attempts, comments), kVersion,
          text_of_date(now)));
}

std::string unreadable_note(const std::vector<std::string>& rows) {
  constexpr std::size_t kMost = 20;
  std::string items;
  for (std::size_t k = 0; k < std::min(rows.size(), kMost); ++k)
    items += fmt::format("<li>{}</li>", markup_escaped(rows[k]));
  return fmt::format("<main><p>{} rows of the database cannot be read and are left out:</p><ul>{}</ul></main>\n",
                     rows.size(), items);
}

std::string failure_page(int status, const std::string& what) {
  return page_with("Trocar", fmt::format("<header><a href=\"/\">Cohort</a><h1>{}</h1></header><p>{}</p>", status,
                                         markup_escaped(what)));
}

namespace {

struct PageLimits {
  std::size_t connections = 200;                // the one that waits longest for its request ends for a new one
  std::size_t request = 8192;                   // of a request line with its headers
  std::size_t form = 0;                         // of the body of POST /comment; 0: it is refused
  std::size_t body = std::size_t{1} << 20;      // that is read and dropped after the answer
  std::chrono::milliseconds for_request{5000};  // from the connection to the end of the headers
  std::chrono::milliseconds for_answer{30000};  // to take the answer
  std::chrono::milliseconds for_end{1000};      // to close the connection after it
  int threads = 8;                              // that make pages
};

// Serves until `ended` returns true, which is asked ten times a second; closes the socket. `answer` makes the whole
// answer to the text of a GET or HEAD request, or of a comment with its body; it runs in several threads. Other
// requests are refused. Each connection gets one answer.
void serve_pages(int socket, const std::function<std::string(const std::string&)>& answer,
                 const std::function<bool()>& ended, const PageLimits& limits = {});

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kTick{100};

std::string plain_answer(int status, const char* what) {
  const std::string text = fmt::format("{}\n", what);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, what, text.size(), text);
}

// The end of the headers; npos: there is more to come.
std::size_t end_of_headers(const std::string& text) {
  const std::size_t end = text.find("\r\n\r\n");
  return end == std::string::npos ? end : end + 4;
}

std::uint64_t length_of_body(const std::string& headers) {
  std::string lower = headers;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string name = "\r\ncontent-length:";
  const std::size_t at = lower.find(name);
  if (at == std::string::npos) return lower.find("\r\ntransfer-encoding:") == std::string::npos ? 0 : 1;
  const std::size_t digits = lower.find_first_not_of(" \t", at + name.size());
  std::uint64_t length = 0;
  if (digits != std::string::npos &&
      std::from_chars(lower.data() + digits, lower.data() + lower.size(), length).ec == std::errc::result_out_of_range)
    return UINT64_MAX;
  return length;
}

struct Connection {
  enum class State { Reading, Waiting, Writing, Ending };
  int socket = -1;
  std::uint64_t number = 0;
  State state = State::Reading;
  std::string text;  // the request, then the answer
  std::size_t done = 0;
  Clock::time_point deadline;
};

// Threads that make answers.
class Makers {
 public:
  struct Made {
    std::uint64_t connection;
    std::string answer;
  };

  Makers(const std::function<std::string(const std::string&)>& answer, int threads)
      : answer_(answer), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { run(); });
  }
  ~Makers() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    if (wake_ >= 0) ::close(wake_);
  }
  Makers(const Makers&) = delete;
  Makers& operator=(const Makers&) = delete;

  int wake() const { return wake_; }
  void ask(std::uint64_t connection, std::string request) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back({connection, std::move(request)});
    }
    changed_.notify_one();
  }
  std::vector<Made> take() {
    std::uint64_t ignored = 0;
    while (::read(wake_, &ignored, sizeof ignored) > 0) continue;
    const std::lock_guard lock(mutex_);
    return std::exchange(made_, {});
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ended_ || !asked_.empty(); });
      if (ended_) return;
      Made job = std::move(asked_.front());
      asked_.pop_front();
      lock.unlock();
      job.answer = made(job.answer);
      lock.lock();
      made_.push_back(std::move(job));
      const std::uint64_t one = 1;
      if (::write(wake_, &one, sizeof one) < 0) continue;  // the loop looks after a tick at the latest
    }
  }
  std::string made(const std::string& request) const noexcept {
    try {
      std::string text = answer_(request);
      return text.empty() ? plain_answer(400, "Bad Request") : text;
    } catch (...) {
      return "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    }
  }

  const std::function<std::string(const std::string&)>& answer_;
  int wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Made> asked_;  // with the request in place of the answer
  std::vector<Made> made_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

class Loop {
 public:
  Loop(int socket, const std::function<std::string(const std::string&)>& answer, const PageLimits& limits)
      : socket_(socket), limits_(limits), makers_(answer, limits.threads) {}
  ~Loop() {
    for (const Connection& connection : connections_) ::close(connection.socket);
    ::close(socket_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void step() {
    wait();
    for (Makers::Made& made : makers_.take())
      for (Connection& connection : connections_)
        if (connection.number == made.connection) answer(connection, std::move(made.answer));
    for (Connection& connection : connections_) serve(connection);
    const auto now = Clock::now();
    for (Connection& connection : connections_)
      if (connection.state != Connection::State::Waiting && now > connection.deadline) close(connection);
    std::erase_if(connections_, [](const Connection& connection) { return connection.socket < 0; });
    accept_all();
  }

 private:
  using State = Connection::State;

  void wait() {
    polled_.assign({{socket_, POLLIN, 0}, {makers_.wake(), POLLIN, 0}});
    if (no_descriptors_) polled_[0].events = 0;
    no_descriptors_ = false;
    for (const Connection& connection : connections_)
      if (connection.state != State::Waiting)
        polled_.push_back({connection.socket, connection.state == State::Writing ? short{POLLOUT} : short{POLLIN}, 0});
    ::poll(polled_.data(), polled_.size(), static_cast<int>(kTick.count()));
  }

  void accept_all() {
    for (;;) {
      const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        no_descriptors_ = errno != EAGAIN && errno != EWOULDBLOCK;
        if (no_descriptors_) end_longest();
        return;
      }
      if (connections_.size() >= limits_.connections && !end_longest()) {
        ::close(socket);
        continue;
      }
      connections_.push_back({socket, ++numbers_, State::Reading, {}, 0, Clock::now() + limits_.for_request});
    }
  }

  // Ends the connection that has waited longest for its request, or for its end.
  bool end_longest() {
    for (const State state : {State::Ending, State::Reading, State::Writing}) {
      const auto found = std::ranges::find(connections_, state, &Connection::state);
      if (found == connections_.end()) continue;
      ::close(found->socket);
      connections_.erase(found);
      return true;
    }
    return false;
  }

  void serve(Connection& connection) {
    if (connection.state == State::Reading) read(connection);
    if (connection.state == State::Writing) write(connection);
    if (connection.state == State::Ending) drop(connection);
  }

  void read(Connection& connection) {
    std::array<char, 4096> buffer;
    while (connection.state == State::Reading) {
      const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (got <= 0) return close(connection);
      connection.text.append(buffer.data(), static_cast<std::size_t>(got));
      const std::size_t end = end_of_headers(connection.text);
      if (std::min(end, connection.text.size()) > limits_.request)
        answer(connection, plain_answer(431, "Request Header Fields Too Large"));
      else if (end != std::string::npos)
        take_request(connection, end);
    }
  }

  // `end`: of the headers. Of a comment the body may still be on its way.
  void take_request(Connection& connection, std::size_t end) {
    const std::string_view text = connection.text;
    const bool comment = limits_.form > 0 && text.starts_with("POST /comment ");
    const std::uint64_t body = length_of_body(connection.text.substr(0, end));
    if (body > (comment ? limits_.form : limits_.body))
      return answer(connection, plain_answer(413, "Payload Too Large"));
    if (!comment && !text.starts_with("GET ") && !text.starts_with("HEAD "))
      return answer(connection, plain_answer(405, "Method Not Allowed"));
    const std::size_t whole = comment ? end + body : end;
    if (text.size() < whole) return;
    std::string request = connection.text.substr(0, whole);
    connection.state = State::Waiting;
    connection.text.clear();
    makers_.ask(connection.number, std::move(request));
  }

  void answer(Connection& connection, std::string text) {
    connection.state = State::Writing;
    connection.text = std::move(text);
    connection.done = 0;
    connection.deadline = Clock::now() + limits_.for_answer;
  }

  void write(Connection& connection) {
    while (connection.done < connection.text.size()) {
      const ssize_t sent = ::send(connection.socket, connection.text.data() + connection.done,
                                  connection.text.size() - connection.done, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (sent <= 0) return close(connection);
      connection.done += static_cast<std::size_t>(sent);
    }
    // What the client still sends is read for a moment: closing at once would take the answer away from it.
    ::shutdown(connection.socket, SHUT_WR);
    connection.state = State::Ending;
    connection.done = 0;
    connection.text = {};
    connection.deadline = Clock::now() + limits_.for_end;
  }

  void drop(Connection& connection) {
    std::array<char, 16384> buffer;
    for (;;) {
      const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (got > 0) connection.done += static_cast<std::size_t>(got);
      if (got <= 0 || connection.done > limits_.body) return close(connection);
    }
  }

  static void close(Connection& connection) {
    if (connection.socket >= 0) ::close(connection.socket);
    connection.socket = -1;
    connection.state = State::Waiting;
  }

  int socket_;
  PageLimits limits_;
  Makers makers_;
  std::list<Connection> connections_;  // the oldest first
  std::vector<pollfd> polled_;
  std::uint64_t numbers_ = 0;
  bool no_descriptors_ = false;
};

// Returns a socket that listens, or -1 when the port is taken. `port`: 0 for any; becomes the port.
int listen_on(bool anyone, int& port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(anyone ? INADDR_ANY : INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(socket, kBacklog) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    ::close(socket);
    return -1;
  }
  port = ntohs(address.sin_port);
  return socket;
}

void serve_pages(int socket, const std::function<std::string(const std::string&)>& answer,
                 const std::function<bool()>& ended, const PageLimits& limits) {
  Loop loop(socket, answer, limits);
  while (!ended()) loop.step();
}

constexpr std::size_t kPeopleOnAPage = 50, kAttemptsOnAPage = 200, kAttemptsOfACurve = 5000;
// The pages contain no scripts, and load nothing.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

class NotFound : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::size_t number_of(const httplib::Request& request, const char* name, std::size_t absent) {
  if (!request.has_param(name)) return absent;
  const std::string text = request.get_param_value(name);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > 1'000'000'000)
    throw NotFound(fmt::format("{} is not a number", name));
  return number;
}

std::string cohort_of(LabDatabase& lab, const Curriculum&, const httplib::Request& request) {
  CohortPage page;
  page.part = printable(request.get_param_value("part"), 60);
  page.skip = number_of(request, "skip", 0);
  page.people = lab.people({page.part, PersonOrder::LastAttempt, kPeopleOnAPage + 1, page.skip});
  page.more = page.people.size() > kPeopleOnAPage;
  if (page.more) page.people.pop_back();
  for (const PersonSummary& one : page.people)
    for (Standing& s : lab.standings(one.person.id, "")) page.standings.push_back(std::move(s));
  page.counts = lab.counts();
  return cohort_page(page);
}

std::string day_of(LabDatabase& lab, const Curriculum& curriculum, const httplib::Request&) {
  const double now = now_in_seconds();
  return day_page(day_rows(lab, curriculum, now, kPeopleOnAPage), curriculum, now);
}

Person asked_person(LabDatabase& lab, const httplib::Request& request) {
  const std::string id = request.get_param_value("id");
  const auto person = lab.person(id);
  if (!person) throw NotFound(fmt::format("no person has the id '{}'", printable(id)));
  return *person;
}

std::string record_of(LabDatabase& lab, const Curriculum& curriculum, const httplib::Request& request) {
  const Person person = asked_person(lab, request);
  const double now = now_in_seconds();
  const std::vector<LabAttempt> attempts = lab.attempts({.person = person.id, .most = kAllRows});
  return record_page(person, course_view(curriculum, attempts, now), attempts, lab.comments_of(person.id), now);
}

LabAttempt asked_attempt(LabDatabase& lab, const std::string& key) {
  const auto attempt = lab.attempt(key);
  if (!attempt) throw NotFound(fmt::format("no attempt has the key '{}'", printable(key)));
  return *attempt;
}

std::string attempt_of(LabDatabase& lab, const httplib::Request& request, const std::string& token) {
  AttemptPage page{asked_attempt(lab, request.get_param_value("key")), {}, token};
  page.comments = lab.comments_of(page.attempt.person);
  std::erase_if(page.comments, [&](const LabComment& comment) { return comment.attempt != page.attempt.key; });
  return attempt_page(page);
}

std::string person_of(LabDatabase& lab, const Curriculum& curriculum, const httplib::Request& request) {
  PersonPage page;
  page.person = asked_person(lab, request);
  page.standings = lab.standings(page.person.id, "");
  page.attempts = lab.attempts({.person = page.person.id, .scene = "", .most = kAttemptsOnAPage});
  page.comments = lab.comments_of(page.person.id);
  page.scene = request.get_param_value("task"), page.level = static_cast<int>(number_of(request, "level", 1));
  if (page.scene.empty() && !page.attempts.empty())
    page.scene = page.attempts.front().scene, page.level = page.attempts.front().level;
  if (page.scene.empty()) return person_page(page);
  const std::string metric = request.get_param_value("metric");
  const auto all = lab.attempts({.scene = page.scene, .level = page.level, .most = kAttemptsOfACurve});
  page.curve = lab_curve(page.person.id, all, metric, curriculum);
  page.metrics =
      metrics_of(lab.attempts({.person = page.person.id, .scene = page.scene, .level = page.level, .most = 1}));
  return person_page(page);
}

// A page from elsewhere may send its own name to this machine's address and so read the answers (DNS rebinding).
bool names_this_machine(const httplib::Request& request) {
  std::string host = request.get_header_value("Host");
  host.resize(std::min(host.size(), host.rfind(':')));
  return host == "127.0.0.1" || host == "localhost";
}

using MakePage = std::string (*)(LabDatabase&, const Curriculum&, const httplib::Request&);

void fail(httplib::Response& response, int status, const std::string& what) {
  response.status = status;
  response.set_content(failure_page(status, what), "text/html; charset=utf-8");
}

// `make`: makes the page from the database.
template <class Make>
void answer(const LabStation& station, httplib::Response& response, Make make) {
  try {
    LabDatabase lab = station.open_to_read();
    std::string text = make(lab);
    if (!lab.unreadable().empty()) text += unreadable_note(lab.unreadable());
    response.set_content(text, "text/html; charset=utf-8");
  } catch (const NotFound& error) {
    fail(response, 404, error.what());
  } catch (const std::exception& error) {
    fail(response, 503, error.what());
  }
}

// Writes the comment of a form, and leads back to its attempt. `token`: of the forms of this server, which a page from
// elsewhere does not know.
void take_comment(const LabStation& station, const std::string& token, const httplib::Request& request,
                  httplib::Response& response) {
  const auto field = [&](const char* name) { return request.get_file_value(name).content; };
  const std::string origin = request.get_header_value("Origin");
  if (field("token") != token || (!origin.empty() && origin != "http://" + request.get_header_value("Host")))
    return fail(response, 403,
                "This form is not of this server; open the attempt again and send the comment from there.");
  try {
    const LabComment comment = made_comment(field("attempt"), field("author"), field("text"));
    LabDatabase lab = station.open_to_write();
    asked_attempt(lab, comment.attempt);
    lab.add_comments({&comment, 1});
    response.set_redirect("/attempt?key=" + url_encoded(comment.attempt), 303);
  } catch (const NotFound& error) {
    fail(response, 404, error.what());
  } catch (const InputError& error) {
    fail(response, 400, error.what());
  } catch (const std::exception& error) {
    fail(response, 503, error.what());
  }
}

// The text of a request, and that of its answer.
class TextStream : public httplib::Stream {
 public:
  explicit TextStream(const std::string& request) : request_(request) {}
  const std::string& answer() const { return answer_; }

  bool is_readable() const override { return read_ < request_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, request_.size() - read_);
    std::memcpy(to, request_.data() + read_, count);
    read_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    answer_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }

 private:
  const std::string& request_;
  std::size_t read_ = 0;
  std::string answer_;
};

constexpr std::size_t kLongestForm = 65536;  // bytes: four of each character, and the fields around the text

// The library reads requests and finds the page; connections are served by serve_pages().
class Pages : private httplib::Server {
 public:
  Pages(const LabStation& station, const LabServerParams& params);
  std::string answer_to(const std::string& request) {
    TextStream stream(request);
    bool closed = true;
    process_request(stream, true, closed, nullptr);
    return stream.answer();
  }
};

Pages::Pages(const LabStation& station, const LabServerParams& params) {
  set_default_headers({{"Content-Security-Policy", kPolicy},
                       {"X-Content-Type-Options", "nosniff"},
                       {"Referrer-Policy", "no-referrer"},
                       {"Cache-Control", "no-store"}});
  set_pre_routing_handler([anyone = params.anyone](const auto& request, auto& response) {
    if (anyone || names_this_machine(request)) return httplib::Server::HandlerResponse::Unhandled;
    fail(response, 403, "This address does not name this machine.");
    return httplib::Server::HandlerResponse::Handled;
  });
  for (const auto& [path, page] : {std::pair<const char*, MakePage>{"/", cohort_of},
                                   {"/day", day_of},
                                   {"/person", person_of},
                                   {"/record", record_of}})
    Get(path, [&station, &params, page](const auto& request, auto& response) {
      answer(station, response, [&](LabDatabase& lab) { return page(lab, params.curriculum, request); });
    });
  const std::string token = params.anyone ? "" : new_attempt_key();
  Get("/attempt", [&station, token](const auto& request, auto& response) {
    answer(station, response, [&](LabDatabase& lab) { return attempt_of(lab, request, token); });
  });
  Post("/comment",
       [&station, token](const auto& request, auto& response) { take_comment(station, token, request, response); });
  set_error_handler([](const auto&, auto& response) {
    if (response.body.empty())
      response.set_content(failure_page(response.status, "There is no such page."), "text/html; charset=utf-8");
  });
}

}  // namespace

void serve_lab(const LabStation& station, const LabServerParams& params, const std::function<void(int)>& ready) {
  Pages pages(station, params);
  int port = params.port;
  const int socket = listen_on(params.anyone, port);
  if (socket < 0) throw InputError(fmt::format("port {} is taken; choose another with --port", params.port));
  bool told = false;
  serve_pages(
      socket, [&](const std::string& request) { return pages.answer_to(request); },
      [&] {
        if (!told) ready(port);
        told = true;
        return interrupted();
      },
      {.form = params.anyone ? 0 : kLongestForm});
}

}  // namespace trocar
