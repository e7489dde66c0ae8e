// Writes the report as one self-contained HTML file: template, style, scripts and data.
// Tested in tests/app/report_test.cpp and, in a browser, in tests/report
#pragma once

#include <string>
#include <string_view>

namespace trocar {

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

// Returns the text as HTML: & < > " ' written as references.
std::string escaped_html(std::string_view text);

// Replaces every "{{name}}" of `text` once; inserted content is not searched. Throws RunError naming an unknown
// placeholder.
struct Filling {
  std::string_view name, content;
};
std::string filled_in(std::string_view text, std::initializer_list<Filling> fillings);

}  // namespace trocar
