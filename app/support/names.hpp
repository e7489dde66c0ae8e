// The one rule for names of organs, instruments and marks. A name is a group of a recording, a line of its text, a cell
// of a table and a label of the window.   Tested in tests/app/input_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trocar {

constexpr std::size_t kLongestName = 60;  // characters

// Empty when the name can be used, else what is wrong with it, fit for a sentence.
std::string name_fault(std::string_view name);

}  // namespace trocar
