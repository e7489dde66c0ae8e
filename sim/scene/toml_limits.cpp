#include "sim/scene/toml_limits.hpp"

#include <fmt/format.h>

#include "geometry/error.hpp"

namespace trocar {
namespace {

class Scanner {
 public:
  Scanner(const std::string& file, std::string_view text, const TomlLimits& limits)
      : file_(file), text_(text), limits_(limits) {}

  void scan() {
    if (text_.size() > limits_.bytes) refuse(fmt::format("is longer than {} bytes", limits_.bytes));
    while (at_ < text_.size()) step();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(
        fmt::format("{}:{}: the text {}, more than Trocar accepts in such a file; simplify it", file_, line_, what));
  }

  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      skip_string(c);
      return;
    }
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') advance();
      return;
    }
    count(c);
    advance();
  }

  void count(char c) {
    if (c == '[' || c == '{') {
      if (++depth_ > limits_.depth) refuse(fmt::format("has brackets nested {} deep", depth_));
      if (at_ == line_start_ && ++keys_ > limits_.keys) refuse(fmt::format("has more than {} keys", limits_.keys));
    }
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
    if (c == '=' && ++keys_ > limits_.keys) refuse(fmt::format("has more than {} keys", limits_.keys));
    if (c == ',' && ++values_ > limits_.values) refuse(fmt::format("has more than {} values", limits_.values));
    const bool ends_key = c == '=' || c == ',' || c == '\n' || c == '[' || c == ']' || c == '{' || c == '}';
    parts_ = ends_key ? 1 : parts_ + (c == '.' ? 1 : 0);
    if (parts_ > limits_.key_parts) refuse(fmt::format("has a key of more than {} parts", limits_.key_parts));
  }

  // Advances past the end of the string. In a literal string a backslash is an ordinary character.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool multi_line = text_.substr(at_, 3) == three;
    for (int k = 0; k < (multi_line ? 3 : 1); ++k) advance();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !multi_line) return;  // not closed: the parser reports it
      if (c == '\\' && quote == '"') {
        advance();
        if (at_ < text_.size()) advance();
        continue;
      }
      if (c == quote && (!multi_line || text_.substr(at_, 3) == three)) {
        for (int k = 0; k < (multi_line ? 3 : 1); ++k) advance();
        return;
      }
      advance();
    }
  }

  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
    } else if (at_ - line_start_ > limits_.line) {
      refuse(fmt::format("has a line of more than {} bytes", limits_.line));
    }
  }

  const std::string& file_;
  std::string_view text_;
  TomlLimits limits_;
  std::size_t at_ = 0, line_ = 1, line_start_ = 0, depth_ = 0, parts_ = 1, keys_ = 0, values_ = 0;
};

}  // namespace

void refuse_excess(const std::string& file, std::string_view text, const TomlLimits& limits) {
  Scanner(file, text, limits).scan();
}

}  // namespace trocar
