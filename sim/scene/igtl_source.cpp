#include "sim/scene/igtl_source.hpp"

#include <fmt/format.h>

#include <charconv>

#include "geometry/error.hpp"

namespace trocar {

IgtlSource parse_igtl_source(const std::string& text) {
  IgtlSource source;
  const auto slash = text.find('/');
  if (slash != std::string::npos) source.tool = text.substr(slash + 1);
  const std::string address = text.substr(0, slash);
  const auto colon = address.rfind(':');
  if (const std::string host = address.substr(0, colon); !host.empty()) source.host = host;
  if (colon == std::string::npos) return source;
  const char *begin = address.data() + colon + 1, *end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(begin, end, source.port);
  if (error != std::errc{} || stop != end || source.port < 1 || source.port > 65535)
    throw InputError(
        fmt::format("source = \"{}\" has no valid port; write it as \"localhost:18944/Probe\"", printable(text)));
  return source;
}

}  // namespace trocar
