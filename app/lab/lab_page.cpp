#include "app/lab/lab_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/lab/lab_date.hpp"

namespace trocar {
namespace {

// Colours are those of the program's report (Okabe, Ito, "Color universal design", 2008, without red and green alone).
constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--text:#1c2530;--quiet:#5d6b7a;--line:#dde3ea;--mark:#0072b2}
@media(prefers-color-scheme:dark){:root{--back:#10151b;--card:#19212a;--text:#e6ebf0;--quiet:#98a6b5;--line:#2b3743;--mark:#56b4e9}}
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
input{font:inherit;padding:6px 10px;border:1px solid var(--line);border-radius:6px;background:var(--card);color:var(--text)}
button{font:inherit;padding:6px 14px;border:0;border-radius:6px;background:var(--mark);color:#fff}
svg{max-width:100%;height:auto}svg text{fill:var(--quiet);font-size:12px}
)css";

std::string page_with(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>{}</title><style>{}</style></head><body><main>{}</main>"
      "</body></html>\n",
      title, kStyle, body);
}

// Encodes a value of an address.
std::string url_encoded(const std::string& text) {
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) || letter == '-' || letter == '_' || letter == '.')
      encoded += letter;
    else
      encoded += fmt::format("%{:02X}", byte);
  }
  return encoded;
}

// From a light vermilion at 0 over yellow to a light green at 100.
std::string score_cell(const std::optional<double>& score) {
  if (!score) return "<span class=\"quiet\">–</span>";
  const double share = std::clamp(*score / 100.0, 0.0, 1.0);
  const int hue = static_cast<int>(15.0 + 135.0 * share);
  return fmt::format("<span class=\"score\" style=\"background:hsl({},65%,68%)\">{:.0f}</span>", hue, *score);
}

std::string task_text(const std::string& scene, int level) {
  std::string text = html_escaped(scene);
  std::replace(text.begin(), text.end(), '_', ' ');
  return level > 1 ? fmt::format("{}, level {}", text, level) : text;
}

std::string person_link(const std::string& id) {
  return fmt::format("<a href=\"/person?id={}\">{}</a>", url_encoded(id), html_escaped(id));
}

using TaskAndLevel = std::pair<std::string, int>;

std::string cohort_rows(const CohortPage& page, const std::set<TaskAndLevel>& tasks) {
  std::map<std::string, std::map<TaskAndLevel, const Standing*>> of_person;
  for (const Standing& s : page.standings) of_person[s.person][{s.scene, s.level}] = &s;
  std::string rows;
  for (const PersonSummary& one : page.people) {
    rows +=
        fmt::format("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td>", person_link(one.person.id),
                    html_escaped(one.person.name), one.attempts, one.attempts ? text_of_date(one.last_started) : "");
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

std::string attempt_rows(const std::vector<LabAttempt>& attempts) {
  std::string rows;
  for (const LabAttempt& a : attempts)
    rows +=
        fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}{}</td><td class=\"n\">{:.0f}</td><td>{}</td></tr>",
                    text_of_date(a.started), task_text(a.scene, a.level), score_cell(a.score), html_escaped(a.ending),
                    a.critical ? ", critical error" : "", a.seconds, html_escaped(a.devices));
  return rows;
}

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

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
          "<header><h1>Cohort</h1><span class=\"quiet\">{} people, {} attempts; best score × attempts</span>"
          "</header><form method=\"get\" action=\"/\"><input name=\"part\" value=\"{}\" aria-label=\"part of an "
          "id or name\" placeholder=\"part of an id or name\"> <button>Search</button></form><br>"
          "<section>{}</section><p>{}</p>",
          page.counts.people, page.counts.attempts, html_escaped(page.part), table, page_links(page)));
}

std::string score_curve(const std::vector<LabAttempt>& attempts) {
  constexpr double kLeft = 40, kRight = 630, kTop = 10, kBottom = 190;
  std::vector<const LabAttempt*> scored;
  for (const LabAttempt& a : attempts)
    if (a.score) scored.push_back(&a);
  if (scored.empty()) return "";
  std::string shapes, line;
  for (const int value : {0, 25, 50, 75, 100}) {
    const double y = kBottom - (kBottom - kTop) * value / 100.0;
    shapes += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" opacity=\".15\"/><text x=\"{}\" "
        "y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        kLeft, kRight, y, y, kLeft - 8, y + 4, value);
  }
  const double step = scored.size() > 1 ? (kRight - kLeft - 20) / static_cast<double>(scored.size() - 1) : 0.0;
  for (std::size_t k = 0; k < scored.size(); ++k) {
    const double x = kLeft + 10 + step * static_cast<double>(k);
    const double y = kBottom - (kBottom - kTop) * std::clamp(*scored[k]->score, 0.0, 100.0) / 100.0;
    line += fmt::format("{:.1f},{:.1f} ", x, y);
    shapes += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"var(--mark)\"><title>attempt {}, {}: "
        "{:.0f}</title></circle>",
        x, y, k + 1, text_of_date(scored[k]->started), *scored[k]->score);
  }
  return fmt::format(
      "<svg viewBox=\"0 0 640 220\" width=\"640\" role=\"img\" aria-label=\"score of each attempt\">{}<polyline "
      "points=\"{}\" fill=\"none\" stroke=\"var(--mark)\" stroke-width=\"2\"/><text x=\"{}\" y=\"212\" "
      "text-anchor=\"end\">attempts 1 to {}</text></svg>",
      shapes, line, kRight, scored.size());
}

std::string person_page(const PersonPage& page) {
  std::vector<LabAttempt> curve;
  const std::string scene = page.scene.empty() && !page.attempts.empty() ? page.attempts.front().scene : page.scene;
  const int level = page.scene.empty() && !page.attempts.empty() ? page.attempts.front().level : page.level;
  for (auto a = page.attempts.rbegin(); a != page.attempts.rend(); ++a)
    if (a->scene == scene && a->level == level) curve.push_back(*a);
  const std::string drawn = score_curve(curve);
  return page_with(
      "Trocar: " + html_escaped(page.person.id),
      fmt::format(
          "<header><a href=\"/\">Cohort</a><h1>{}</h1><span class=\"quiet\">{}</span></header>"
          "<h2>Tasks</h2><section><table><tr><th>task</th><th class=\"n\">attempts</th><th>best</th><th>latest</th>"
          "<th>on (UTC)</th></tr>{}</table></section><h2>Scores: {}</h2><section>{}</section><h2>Attempts</h2>"
          "<section><table><tr><th>started (UTC)</th><th>task</th><th>score</th><th>ended</th><th class=\"n\">seconds"
          "</th><th>devices</th></tr>{}</table></section>",
          html_escaped(page.person.id), html_escaped(page.person.name), standing_rows(page), task_text(scene, level),
          drawn.empty() ? "<p class=\"quiet\">No scored attempt.</p>" : drawn, attempt_rows(page.attempts)));
}

std::string unreadable_note(const std::vector<std::string>& rows) {
  constexpr std::size_t kMost = 20;
  std::string items;
  for (std::size_t k = 0; k < std::min(rows.size(), kMost); ++k)
    items += fmt::format("<li>{}</li>", html_escaped(rows[k]));
  return fmt::format("<main><p>{} rows of the database cannot be read and are left out:</p><ul>{}</ul></main>\n",
                     rows.size(), items);
}

std::string failure_page(int status, const std::string& what) {
  return page_with("Trocar", fmt::format("<header><a href=\"/\">Cohort</a><h1>{}</h1></header><p>{}</p>", status,
                                         html_escaped(what)));
}

}  // namespace trocar
