#include "geometry/translate.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <optional>
#include <utility>

#include "geometry/error.hpp"

namespace trocar {
namespace {

std::atomic<const Catalogue*> used{nullptr};

// Evaluates a plural expression by recursive descent, one function for each level of precedence.
class Expression {
 public:
  Expression(std::string_view text, unsigned long n) : text_(text), n_(n) {}

  unsigned long value() {
    const unsigned long value = choice();
    skip_blanks();
    return failed_ || at_ < text_.size() ? 0 : value;
  }

 private:
  static constexpr int kDeepest = 100;  // parentheses and signs

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  unsigned long fail() {
    failed_ = true;
    return 0;
  }

  unsigned long choice() {
    if (++depth_ > kDeepest) return fail();
    unsigned long value = either();
    if (take("?")) {
      const unsigned long yes = choice();
      if (!take(":")) return fail();
      const unsigned long no = choice();
      value = value ? yes : no;
    }
    --depth_;
    return value;
  }
  unsigned long either() {
    unsigned long value = both();
    while (take("||")) value = (both() != 0) | (value != 0);
    return value;
  }
  unsigned long both() {
    unsigned long value = equality();
    while (take("&&")) value = (equality() != 0) & (value != 0);
    return value;
  }
  unsigned long equality() {
    unsigned long value = order();
    for (;;) {
      if (take("=="))
        value = value == order();
      else if (take("!="))
        value = value != order();
      else
        return value;
    }
  }
  unsigned long order() {
    unsigned long value = sum();
    for (;;) {
      if (take("<="))
        value = value <= sum();
      else if (take(">="))
        value = value >= sum();
      else if (take("<"))
        value = value < sum();
      else if (take(">"))
        value = value > sum();
      else
        return value;
    }
  }
  unsigned long sum() {
    unsigned long value = product();
    for (;;) {
      if (take("+"))
        value += product();
      else if (take("-"))
        value -= product();
      else
        return value;
    }
  }
  unsigned long product() {
    unsigned long value = single();
    for (;;) {
      const char sign = take("*") ? '*' : take("/") ? '/' : take("%") ? '%' : ' ';
      if (sign == ' ') return value;
      const unsigned long by = single();
      if (sign != '*' && by == 0) return fail();
      value = sign == '*' ? value * by : sign == '/' ? value / by : value % by;
    }
  }
  unsigned long single() {
    if (++depth_ > kDeepest) return fail();
    unsigned long value = 0;
    if (take("(")) {
      value = choice();
      if (!take(")")) return fail();
    } else if (take("!")) {
      value = single() == 0;
    } else if (take("n")) {
      value = n_;
    } else {
      skip_blanks();
      const std::size_t first = at_;
      while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])))
        value = 10 * value + static_cast<unsigned long>(text_[at_++] - '0');
      if (at_ == first) return fail();
    }
    --depth_;
    return value;
  }

  std::string_view text_;
  unsigned long n_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

// A place of a format: its number, and what follows the colon.
using Place = std::pair<std::size_t, std::string>;

// Returns nothing for a text that is not a format.
std::optional<std::vector<Place>> places_of(std::string_view text) {
  std::vector<Place> places;
  std::size_t next = 0;
  bool numbered = false, counted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{' && text[at] != '}') continue;
    if (at + 1 < text.size() && text[at + 1] == text[at]) {
      ++at;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (text[at] == '}' || end == std::string_view::npos) return {};
    const std::string_view inside = text.substr(at + 1, end - at - 1);
    const std::size_t colon = std::min(inside.find(':'), inside.size());
    const std::string_view number = inside.substr(0, colon);
    std::size_t which = next;
    if (number.empty()) {
      counted = true, ++next;
    } else {
      if (number.size() > 2 || !std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; }))
        return {};
      numbered = true, which = 0;
      for (const char digit : number) which = 10 * which + static_cast<std::size_t>(digit - '0');
    }
    if (inside.find('{') != std::string_view::npos) return {};
    places.emplace_back(which, inside.substr(colon));
    at = end;
  }
  if (numbered && counted) return {};
  return places;
}

// Reads the lines of a .po file.
class PoLines {
 public:
  PoLines(std::string_view text, const std::string& file) : rest_(text), file_(file) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  // Goes to the next line; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    while (!line_.empty() && std::isspace(static_cast<unsigned char>(line_.back()))) line_.remove_suffix(1);
    while (!line_.empty() && std::isspace(static_cast<unsigned char>(line_.front()))) line_.remove_prefix(1);
    return true;
  }
  std::string_view line() const { return line_; }
  // Takes a word from the beginning of the line.
  bool take(std::string_view word) {
    if (!line_.starts_with(word)) return false;
    line_.remove_prefix(word.size());
    while (!line_.empty() && line_.front() == ' ') line_.remove_prefix(1);
    return true;
  }
  [[noreturn]] void fail(const char* what) const {
    throw InputError(fmt::format("{}:{}: {}; check the catalogue with msgfmt -c", file_, number_, what));
  }

  // Returns the quoted text that is the rest of the line.
  std::string quoted() const {
    if (line_.size() < 2 || line_.front() != '"' || line_.back() != '"') fail("a text in quotes is missing");
    std::string text;
    for (std::size_t k = 1; k + 1 < line_.size(); ++k) {
      if (line_[k] == '"') fail("a quote inside a text needs a backslash");
      if (line_[k] != '\\') {
        text += line_[k];
        continue;
      }
      if (++k + 1 >= line_.size()) fail("a text ends with a backslash");
      const char letter = line_[k];
      text += letter == 'n' ? '\n' : letter == 't' ? '\t' : letter;
      if (letter != 'n' && letter != 't' && letter != '\\' && letter != '"') fail("a backslash before another letter");
    }
    return text;
  }

 private:
  std::string_view rest_, line_;
  const std::string& file_;
  int number_ = 0;
};

constexpr std::size_t kMostForms = 8;

// One message of the file as it is read.
struct Message {
  std::string english, plural;
  std::vector<std::string> texts;
  bool begun = false, fuzzy = false;
};

// Returns the value of a line of the header.
std::string header_line(const std::string& header, std::string_view name) {
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t end = std::min(header.find('\n', begin), header.size());
    const std::string_view line = std::string_view(header).substr(begin, end - begin);
    if (line.starts_with(name)) {
      const std::size_t first = std::min(line.find_first_not_of(' ', name.size()), line.size());
      return std::string(line.substr(first));
    }
    begin = end + 1;
  }
  return {};
}

}  // namespace

unsigned long plural_form(std::string_view expression, unsigned long n) { return Expression(expression, n).value(); }

bool places_fit(std::string_view english, std::string_view translation) {
  const auto needed = places_of(english), given = places_of(translation);
  if (!needed || !given) return !needed && !given && english == translation;
  return std::ranges::all_of(*given,
                             [&](const Place& place) { return std::ranges::find(*needed, place) != needed->end(); });
}

Catalogue::Catalogue(std::string_view text, const std::string& file) {
  PoLines lines(text, file);
  Message message;
  std::string* part = nullptr;  // to which a further line of text belongs
  std::string ignored;          // the context
  const auto finish = [&] {
    if (message.begun && message.english.empty() && !message.texts.empty()) {
      const std::string forms = header_line(message.texts[0], "Plural-Forms:");
      if (const std::size_t at = forms.find("plural=");
          forms.find("nplurals=") != std::string::npos && at != forms.npos) {
        const std::size_t from = forms.find("plural=", forms.find("nplurals=") + 9);
        if (from != forms.npos) plural_ = forms.substr(from + 7, forms.find(';', from) - from - 7);
      }
      name_ = header_line(message.texts[0], "X-Language-Name:");
    } else if (message.begun && !message.fuzzy) {
      add(message.english, message.plural, std::move(message.texts));
    }
    message = {};
    part = nullptr;
  };
  while (lines.next()) {
    if (lines.line().empty() || lines.line().starts_with('#')) {
      if (!message.texts.empty()) finish();
      if (lines.line().starts_with("#,") && lines.line().find("fuzzy") != std::string_view::npos) message.fuzzy = true;
    } else if (lines.take("msgid_plural")) {
      if (!message.begun) lines.fail("msgid_plural without msgid");
      message.plural = lines.quoted(), part = &message.plural;
    } else if (lines.take("msgid")) {
      if (!message.texts.empty()) finish();
      message.begun = true;
      message.english = lines.quoted(), part = &message.english;
    } else if (lines.take("msgctxt")) {
      if (!message.texts.empty()) finish();
      ignored = lines.quoted(), part = &ignored;
    } else if (lines.take("msgstr[")) {
      const std::size_t close = lines.line().find(']');
      if (!message.begun || close != 1 || lines.line()[0] != static_cast<char>('0' + message.texts.size()) ||
          message.texts.size() == kMostForms)
        lines.fail("msgstr[] without its number in order");
      lines.take(std::string(lines.line().substr(0, 2)));
      message.texts.push_back(lines.quoted()), part = &message.texts.back();
    } else if (lines.take("msgstr")) {
      if (!message.begun || !message.texts.empty()) lines.fail("msgstr without msgid");
      message.texts.push_back(lines.quoted()), part = &message.texts.back();
    } else if (lines.line().starts_with('"') && part) {
      *part += lines.quoted();
    } else {
      lines.fail("is not a line of a catalogue");
    }
  }
  finish();
  std::ranges::stable_sort(entries_, {}, &Entry::english);
}

void Catalogue::add(const std::string& english, const std::string& plural, std::vector<std::string> texts) {
  const auto unusable = [](const std::string& text) { return text.empty() || first_invalid_utf8(text) != text.npos; };
  if (texts.empty() || std::ranges::any_of(texts, unusable)) return;
  const std::string& widest = plural.empty() ? english : plural;
  if (!std::ranges::all_of(texts, [&](const std::string& text) { return places_fit(widest, text); })) return;
  entries_.push_back({english, std::move(texts)});
}

const Catalogue::Entry* Catalogue::entry(std::string_view english) const {
  const auto found =
      std::ranges::lower_bound(entries_, english, {}, [](const Entry& one) -> std::string_view { return one.english; });
  return found != entries_.end() && found->english == english ? &*found : nullptr;
}

const char* Catalogue::find(std::string_view english) const {
  const Entry* found = entry(english);
  return found ? found->texts.front().c_str() : nullptr;
}

const char* Catalogue::find(std::string_view english, unsigned long n) const {
  const Entry* found = entry(english);
  if (!found) return nullptr;
  return found->texts[std::min<std::size_t>(plural_form(plural_, n), found->texts.size() - 1)].c_str();
}

void use_catalogue(std::shared_ptr<const Catalogue> catalogue) {
  static std::mutex mutex;
  static std::vector<std::shared_ptr<const Catalogue>> kept;
  const std::lock_guard lock(mutex);
  used.store(catalogue.get());
  if (catalogue) kept.push_back(std::move(catalogue));
}

const char* tr(const char* english) {
  const Catalogue* catalogue = used.load(std::memory_order_acquire);
  const char* found = catalogue && *english != '\0' ? catalogue->find(english) : nullptr;
  return found ? found : english;
}

std::string tr(const std::string& english) { return tr(english.c_str()); }

const char* ntr(const char* one, const char* many, unsigned long n) {
  const Catalogue* catalogue = used.load(std::memory_order_acquire);
  const char* found = catalogue ? catalogue->find(one, n) : nullptr;
  return found ? found : n == 1 ? one : many;
}

}  // namespace trocar
