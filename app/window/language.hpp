// The languages of the window: catalogues in the folder po of the data folder, and which one is used: that of the
// settings, else the first of LANGUAGE, LC_ALL, LC_MESSAGES and LANG that has a catalogue, else English.
// docs/translating.md.   Tested in tests/app/window_test.cpp; driven in tests/app/window_language_test.sh
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trocar {

struct Language {
  std::string code, name;  // "de", "Deutsch"
};

// Returns English, and the languages with a catalogue, by code. Looks into the folder once.
const std::vector<Language>& languages();
std::vector<Language> languages_in(const std::filesystem::path& folder);

// Returns the codes to try, in order, from the values of these variables: "de_DE.UTF-8" gives de_DE and de. English
// ends the list.
std::vector<std::string> wanted_languages(const std::string& language, const std::string& locale);

// Shows all texts in this language from now on. `code`: empty: as the system says. Returns why the catalogue cannot be
// used, one sentence; texts are then English. Without a catalogue texts are English, and that is no fault.
std::string show_language(const std::string& code);

}  // namespace trocar
