// Writes a report's page from recordings: one self-contained HTML file of template, style, scripts and data. The data
// are one JSON text: attempts, summaries, learning curves. Large arrays are typed arrays in base64, little endian:
// {"type": "f32" | "u32" | "u16", "data": "..."}; positions are in millimetres. Positions of paths and vertices are
// 16-bit steps between the two corners of a box. Read by app/report/web/decode.js. Tested in tests/app/report_test.cpp,
// in a browser in tests/report, and in tests/app/program_test.cpp
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/session_summary.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/learning_curve.hpp"

namespace trocar {

// Origin of a recording, shown on the page.
struct RecordingFacts {
  bool clean = true;                        // false: a killed process left it behind
  std::string gl, mode, cover, frame_rate;  // as recorded
  std::string backend_why;                  // reason for the first backend
};

// The picture of an event, as the scope saw it.
struct EventPicture {
  double time = 0.0;  // s
  std::string text;   // of the event
  std::string png;    // a file
};

struct ReportSession {
  Attempt attempt;
  RecordingFacts facts;
  SessionSummary summary;
  std::vector<EventPicture> pictures = {};
};

// Draws a recording at these times, s. Returns a PNG file for each; none when the machine cannot draw.
using PictureDrawer = std::function<std::vector<std::string>(const std::string& recording, std::span<const double>)>;

// Returns a JSON text that is safe inside a <script> element, because it contains no '<'. Invalid UTF-8 bytes are
// replaced.
// `curve`: of several attempts, in the order of the sessions; null for a single one.
std::string report_json(const std::vector<ReportSession>& sessions, const LearningCurve* curve = nullptr);

// The page's files, embedded when the program was built (app/report/web).
struct WebFiles {
  std::string_view page, style, script;  // page.html, style.css, our modules as one script
  std::string_view viewer;               // the used parts of three.js, as one script
  std::string_view viewer_licence;       // of three.js
};
const WebFiles& web_files();

// Returns the HTML page. `title`: any text. `data`: from report_json(). `with_viewer`: includes the three-dimensional
// view. `links`: from try_links(), may be empty.
std::string report_page(const std::string& title, const std::string& data, bool with_viewer,
                        const std::string& links = {});

// Replaces every "{{name}}" of `text` once; inserted content is not searched. Throws RunError naming an unknown
// placeholder.
struct Filling {
  std::string_view name, content;
};
std::string filled_in(std::string_view text, std::initializer_list<Filling> fillings);

// A task that the reader can try in the program in the browser.
struct TriedTask {
  std::string scene;  // name of the scene's file without its extension, "burn_line"; empty: not known
  std::string title;  // of the scene
};

// Returns a paragraph of HTML with a link to `page` for each different task; empty when `page` is empty or no scene is
// known. Throws InputError when `page` is not an http or https address without a fragment.
std::string try_links(const std::string& page, const std::vector<TriedTask>& tasks);

// Writes a page that shows one recording in full, or several side by side, ordered by date. Returns the page's size in
// bytes. `force`: write over a page that exists. `try_at`: address of the program in the browser, to which the page
// links; empty: no link. `draw`: for the pictures of a single recording's events; empty: there are none. Throws
// InputError for a file that is not a recording or cannot be written and for a wrong address, RunError when the disk is
// full.
std::size_t write_report(const std::vector<std::string>& recordings, const std::filesystem::path& page, bool force,
                         const std::string& try_at = {}, const PictureDrawer& draw = {});

}  // namespace trocar
