#include "app/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/error.hpp"

namespace trocar {

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

std::string filled_in(std::string_view text, std::initializer_list<Filling> fillings) {
  std::string out;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t open = std::min(text.find("{{", start), text.size());
    out += text.substr(start, open - start);
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    const std::string_view name = text.substr(open + 2, close == text.npos ? text.npos : close - open - 2);
    const auto* filling =
        std::find_if(fillings.begin(), fillings.end(), [&](const Filling& f) { return f.name == name; });
    if (filling == fillings.end())
      throw RunError(fmt::format("the report's template has an unknown placeholder '{}'", name));
    out += filling->content;
    start = close + 2;
  }
  return out;
}

std::string report_page(const std::string& title, const std::string& data, bool with_viewer, const std::string& links) {
  const WebFiles& files = web_files();
  return filled_in(files.page, {{"title", escaped_html(title)},
                                {"style", files.style},
                                {"links", links},
                                {"data", data},
                                {"viewer", with_viewer ? files.viewer : std::string_view()},
                                {"viewer-licence", with_viewer ? escaped_html(files.viewer_licence) : std::string()},
                                {"script", files.script}});
}

}  // namespace trocar
