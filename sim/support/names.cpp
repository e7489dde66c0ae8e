#include "sim/support/names.hpp"

#include <fmt/format.h>

#include "geometry/printable.hpp"

namespace trocar {

std::string name_fault(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  if (name == "." || name == "..") return "a name must not be . or ..";
  if (name.find('/') != name.npos) return "a name must not contain a slash";
  if (name.front() == ' ' || name.back() == ' ') return "a name must not begin or end with a space";
  if (printable(name, kLongestName) != name)
    return fmt::format("a name must be at most {} characters, all of them printable", kLongestName);
  return {};
}

}  // namespace trocar
