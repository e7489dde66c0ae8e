#include "app/window/language.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/files.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr FileKind kCatalogueFile{"catalogue", std::uint64_t{1} << 23};

fs::path catalogue_folder() {
  try {
    return data_file("po");
  } catch (const InputError&) {
    return {};
  }
}

// A code names a file and nothing else.
bool is_code(const std::string& code) {
  return !code.empty() && code.size() <= 20 &&
         std::ranges::all_of(code, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '@'; });
}

std::shared_ptr<const Catalogue> catalogue_of(const fs::path& file) {
  return std::make_shared<const Catalogue>(read_whole_file(file, kCatalogueFile), file.string());
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::vector<Language> languages_in(const fs::path& folder) {
  std::vector<Language> found;
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    const std::string code = entry->path().stem().string();
    if (entry->path().extension() != ".po" || !is_code(code) || code == "en") continue;
    try {
      const std::string name = catalogue_of(entry->path())->name();
      found.push_back({code, name.empty() ? code : name});
    } catch (const std::runtime_error&) {
      // A damaged catalogue cannot be chosen.
    }
  }
  std::ranges::sort(found, {}, &Language::code);
  found.insert(found.begin(), {"en", "English"});
  return found;
}

const std::vector<Language>& languages() {
  static const std::vector<Language> all = languages_in(catalogue_folder());
  return all;
}

std::vector<std::string> wanted_languages(const std::string& language, const std::string& locale) {
  std::vector<std::string> codes;
  const auto add = [&](std::string code) {
    code.resize(std::min(code.size(), code.find('.')));
    for (;; code.resize(code.find_last_of("_@"))) {
      if (is_code(code) && code != "C" && code != "POSIX") codes.push_back(code);
      if (code.find_last_of("_@") == std::string::npos) break;
    }
  };
  for (std::size_t begin = 0; begin <= language.size();) {
    const std::size_t end = std::min(language.find(':', begin), language.size());
    add(language.substr(begin, end - begin));
    begin = end + 1;
  }
  add(locale);
  const auto english = std::ranges::find(codes, "en");
  codes.erase(english, codes.end());
  codes.push_back("en");
  return codes;
}

std::string show_language(const std::string& code) {
  use_catalogue(nullptr);
  std::string locale = variable("LC_ALL");
  if (locale.empty()) locale = variable("LC_MESSAGES");
  if (locale.empty()) locale = variable("LANG");
  const auto codes = code.empty() ? wanted_languages(variable("LANGUAGE"), locale) : wanted_languages(code, "");
  const fs::path folder = catalogue_folder();
  std::error_code none;
  for (const std::string& one : codes) {
    const fs::path file = folder / (one + ".po");
    if (one == "en" || folder.empty() || !fs::exists(file, none)) continue;
    try {
      use_catalogue(catalogue_of(file));
      return {};
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  return {};
}

}  // namespace trocar
