// The report as one HTML file that needs nothing else: template, style, scripts and data in one text.
// Tested in tests/app/report_test.cpp and, in a browser, in tests/report
#pragma once

#include <string>
#include <string_view>

namespace trocar {

// The files that the page is made of, as they were when the program was built (app/report/web).
struct WebFiles {
  std::string_view page, style, script;  // page.html, style.css, our modules as one script
  std::string_view viewer;               // what the page takes of three.js, as one script
  std::string_view viewer_licence;       // of three.js
};
const WebFiles& web_files();

// `title`: any text. `data`: of report_json(). `with_viewer`: there is something to see in three dimensions.
std::string report_page(const std::string& title, const std::string& data, bool with_viewer);

// Text as HTML: & < > " ' written as references.
std::string escaped_html(std::string_view text);

// Every "{{name}}" of `text` replaced once, none within what is put in. Error: RunError naming a place without content.
struct Filling {
  std::string_view name, content;
};
std::string filled_in(std::string_view text, std::initializer_list<Filling> fillings);

}  // namespace trocar
