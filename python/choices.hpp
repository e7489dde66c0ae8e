// Arguments that are one of a few words.   Tested in tests/python
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "geometry/error.hpp"

namespace trocar::python {

// Returns the value of a word. Throws InputError that lists the words for any other; `what` names the argument.
template <typename Value>
Value chosen(const char* what, const std::string& word, std::initializer_list<std::pair<const char*, Value>> choices) {
  std::string words;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    words += (words.empty() ? "" : ", ") + std::string(name);
  }
  throw InputError(std::string(what) + " '" + word + "' is unknown; choose one of " + words);
}

}  // namespace trocar::python
