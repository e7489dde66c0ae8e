// The catalogue of all texts that a trainee reads. A text is looked up by its English: without a catalogue, and where
// the catalogue lacks it, the English is shown. Files for other readers than a person (recordings, JSON, CSV, the
// database, logs) are written by programs without a catalogue, or hold ids.
// Catalogues are files of GNU gettext (.po), made by its tools: data/po, docs/translating.md. We differ from libintl,
// which looks nothing up in the locale C and needs a generated locale: this needs none, has the same language on every
// machine, and looks up without allocating, so that a frame may use it.
// Tested in tests/geometry/translate_test.cpp
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

// Returns the text in the user's language; the pointer stays valid.
const char* tr(const char* english);
std::string tr(const std::string& english);
// The same of a text that depends on a number.
const char* ntr(const char* one, const char* many, unsigned long n);

// Marks a text for the catalogue that is looked up later.
constexpr const char* msgid(const char* english) { return english; }

// Formats a sentence. Its places are numbered, {0} or in order, so that a translation may change their order.
template <class... Args>
std::string trf(fmt::format_string<const Args&...> english, const Args&... args) {
  const fmt::string_view text = english;
  return fmt::format(fmt::runtime(tr(text.data())), args...);
}
template <class... Args>
std::string ntrf(fmt::format_string<const Args&...> one, fmt::format_string<const Args&...> many, unsigned long n,
                 const Args&... args) {
  const fmt::string_view single = one, several = many;
  return fmt::format(fmt::runtime(ntr(single.data(), several.data(), n)), args...);
}
// The same to the end of a text that has room for it, without allocating.
template <class... Args>
void append_trf(std::string& to, fmt::format_string<const Args&...> english, const Args&... args) {
  const fmt::string_view text = english;
  fmt::format_to(std::back_inserter(to), fmt::runtime(tr(text.data())), args...);
}

// The texts of one language.
class Catalogue {
 public:
  // Reads a .po file in UTF-8. `file`: for errors. Fuzzy and empty translations are left out, and those whose places
  // are not places of the English. Throws InputError with file and line for another text.
  Catalogue(std::string_view text, const std::string& file);

  // Returns null for a text that is not translated.
  const char* find(std::string_view english) const;
  const char* find(std::string_view english, unsigned long n) const;
  std::size_t size() const { return entries_.size(); }
  // The language's own name, from the header's X-Language-Name; empty without it.
  const std::string& name() const { return name_; }

 private:
  struct Entry {
    std::string english;
    std::vector<std::string> texts;  // [plural form]
  };
  const Entry* entry(std::string_view english) const;
  void add(const std::string& english, const std::string& plural, std::vector<std::string> texts);

  std::vector<Entry> entries_;  // sorted
  std::string plural_ = "n != 1", name_;
};

// From now on texts are in this language; null: English. A catalogue that was used stays in memory, because texts of it
// may be shown. Other threads may look up meanwhile.
void use_catalogue(std::shared_ptr<const Catalogue> catalogue);

// Returns the value of a plural expression of gettext: C's operators without assignments, on the number n; 0 for
// another text.
unsigned long plural_form(std::string_view expression, unsigned long n);
// Returns whether each place of a translation, such as {}, {1} or {0:.1f}, is a place of the English.
bool places_fit(std::string_view english, std::string_view translation);

}  // namespace trocar
