// Checks the names of organs, instruments and marks. A name becomes a group and a text line of a recording, a cell of a
// table and a label in the window.   Tested in tests/app/input_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trocar {

constexpr std::size_t kLongestName = 60;  // characters

// Returns an empty text for a valid name, else what is wrong with it, as part of a sentence.
std::string name_fault(std::string_view name);

}  // namespace trocar
