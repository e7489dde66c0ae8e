#include "sim/support/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace trocar {

std::string markup_escaped(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr const char* kReferences[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  for (const char letter : text) {
    const std::size_t k = kSpecial.find(letter);
    out += k == kSpecial.npos ? std::string(1, letter) : kReferences[k];
  }
  return out;
}

std::string url_encoded(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool kept = byte < 0x80 && (std::isalnum(byte) || letter == '-' || letter == '_' || letter == '.');
    out += kept ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string svg_opening(const PlotHead& head) {
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='DejaVu Sans, Helvetica, sans-serif' font-size='{5}' fill='#222'>\n"
      "<style>.grid {{ stroke: {6}; }}</style>\n<rect width='{0}' height='{1}' fill='white'/>\n"
      "<text x='{2}' y='28' font-size='18' font-weight='bold'>{3}</text>\n<text x='{2}' y='48' "
      "fill='#555'>{4}</text>\n",
      head.width, head.height, head.left, markup_escaped(head.title), markup_escaped(head.subtitle), head.font_size,
      head.grid);
}

double LogAxis::operator()(double value) const {
  return from +
         (to - from) * (std::log10(std::max(value, low)) - std::log10(low)) / (std::log10(high) - std::log10(low));
}

double round_step(double wanted) {
  const double power = std::pow(10.0, std::floor(std::log10(wanted))), times = wanted / power;
  return power * (times >= 5.0 ? 5.0 : times >= 2.0 ? 2.0 : 1.0);
}

}  // namespace trocar
