#include "app/report/try_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "app/report/report_page.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr std::size_t kLongestAddress = 2000;  // characters

bool is_plain(unsigned char c) {
  return c > ' ' && c < 0x7f && std::string_view("\"'<>\\^`{|}#").find(char(c)) == std::string_view::npos;
}

// Returns the text with every character but letters, digits, - and _ as %XX.
std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool kept = byte < 0x80 && (std::isalnum(byte) || letter == '-' || letter == '_');
    out += kept ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return out;
}

void require_address(const std::string& page) {
  const std::string_view text = page;
  const std::size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  const bool host = scheme > 0 && text.size() > scheme && text.size() <= kLongestAddress && text[scheme] != '/' &&
                    text[scheme] != '?' && std::ranges::all_of(text, is_plain);
  if (!host)
    throw InputError(fmt::format("--try-at: '{}' is not the address of a page; give one as https://example.org/trocar/",
                                 printable(page)));
}

std::vector<TriedTask> each_once(const std::vector<TriedTask>& tasks) {
  std::vector<TriedTask> once;
  for (const TriedTask& task : tasks)
    if (!task.scene.empty() && std::ranges::find(once, task.scene, &TriedTask::scene) == once.end())
      once.push_back(task);
  return once;
}

}  // namespace

std::string try_links(const std::string& page, const std::vector<TriedTask>& tasks) {
  if (page.empty()) return {};
  require_address(page);
  const std::vector<TriedTask> once = each_once(tasks);
  std::string links;
  for (const TriedTask& task : once) {
    const std::string text = once.size() == 1
                                 ? "Try this task in the browser"
                                 : fmt::format("Try in the browser: {}", task.title.empty() ? task.scene : task.title);
    links += fmt::format("{}<a href=\"{}\" rel=\"noreferrer\">{}</a>", links.empty() ? "" : "<br>",
                         escaped_html(page + "#task=" + percent_encoded(task.scene)), escaped_html(text));
  }
  return links.empty() ? links : fmt::format("<p class=\"try\">{}</p>", links);
}

}  // namespace trocar
