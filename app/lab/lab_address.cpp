#include "app/lab/lab_address.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr const char* kServerForm = "postgresql://USER@HOST/NAME";
constexpr int kConnectSeconds = 5, kLongestConnectSeconds = 10;

using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_server(const std::string& text) { return text.starts_with("postgresql://") || text.starts_with("postgres://"); }

// The given parameters of an address; nothing when the library does not understand it. The library's reason is not
// kept, because it may contain the password.
std::optional<std::map<std::string, std::string>> parsed(const std::string& address) {
  char* reason = nullptr;
  const Options options(PQconninfoParse(address.c_str(), &reason), &PQconninfoFree);
  PQfreemem(reason);
  if (!options) return std::nullopt;
  std::map<std::string, std::string> values;
  for (const PQconninfoOption* option = options.get(); option->keyword; ++option)
    if (option->val && *option->val) values[option->keyword] = option->val;
  return values;
}

bool is_secret(const std::string& key) {
  return key.find("password") != std::string::npos || key == "scram_client_key" || key == "scram_server_key";
}

// Whether a value can be a part of a password: a password with @ / : or ? in it, written without %XX, is read as host,
// port or name.
bool may_be_secret(const std::string& key, const std::string& value) {
  if (key == "port") return value.find_first_not_of("0123456789,") != std::string::npos;
  if (key == "host" && value.starts_with('/')) return value.find_first_of("@?&=") != std::string::npos;
  if (key == "host") return value.find_first_of("@/?&= ") != std::string::npos;
  if (key == "dbname") return value.find_first_of("@/:?&= ") != std::string::npos;
  return key == "user" && value.find_first_of("/:?&= ") != std::string::npos;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) || byte >= 0x80 || std::string_view("-_.~,:[]").find(letter) != std::string_view::npos)
      result += letter;
    else
      result += fmt::format("%{:02X}", byte);
  }
  return result;
}

std::string shown_server(const std::string& address) {
  const std::string hidden = "postgresql://***";
  const auto values = parsed(address);
  if (!values) return hidden;
  const auto value = [&](const char* key) { return values->contains(key) ? values->at(key) : std::string(); };
  for (const char* key : {"user", "host", "port", "dbname"})
    if (may_be_secret(key, value(key))) return hidden;
  std::string shown = "postgresql://";
  if (!value("user").empty()) shown += escaped(value("user")) + "@";
  shown += escaped(value("host"));
  if (!value("port").empty()) shown += ":" + value("port");
  if (!value("dbname").empty()) shown += "/" + escaped(value("dbname"));
  return printable(shown, kLongestText);
}

// "host=h password=p dbname=lab", the library's other form, and texts with a password that lack a scheme. A path that
// begins with / or . is a file whatever follows.
bool looks_like_server(const std::string& given) {
  const std::string text = lower(given);
  if (text.empty() || text.front() == '/' || text.front() == '.') return false;
  if (text.starts_with("postgres:") || text.starts_with("postgresql:")) return true;
  const std::size_t at = text.find('@'), colon = text.find(':');
  if (colon < at && at != std::string::npos) return true;
  const Options known(PQconndefaults(), &PQconninfoFree);
  for (const PQconninfoOption* option = known.get(); option && option->keyword; ++option) {
    const std::string keyword = option->keyword;
    for (std::size_t found = text.find(keyword); found != std::string::npos; found = text.find(keyword, found + 1)) {
      const std::size_t end = text.find_first_not_of(" \t", found + keyword.size());
      const bool begins = found == 0 || std::string_view(" \t?&;'\"").find(text[found - 1]) != std::string_view::npos;
      if (begins && end != std::string::npos && text[end] == '=') return true;
    }
  }
  return false;
}

bool has_scheme(const std::string& text) { return text.find("://") != std::string::npos; }

void require_file_name(const std::string& name) {
  if (name.find_first_not_of(" \t") == std::string::npos || name.front() == ':' || lower(name).starts_with("file:"))
    throw InputError(
        fmt::format("'{}' is not the name of a file, and a database in memory would end with the program; give a "
                    "file or {}",
                    printable(name), kServerForm));
  if (name.find('\0') != std::string::npos || first_invalid_utf8(name) != std::string::npos)
    throw InputError(fmt::format("{}: the name of a database must be valid UTF-8; rename it", printable(name)));
  if (name.find('"') != std::string::npos)
    throw InputError(fmt::format("{}: the name of a database must not contain quotes", printable(name)));
}

// The library's own limits would let a station wait for minutes.
std::string limits(const std::map<std::string, std::string>& values) {
  std::string text;
  const auto add = [&](const char* key, int value) {
    if (!values.contains(key)) text += fmt::format(" {}={}", key, value);
  };
  add("tcp_user_timeout", 10000);
  add("keepalives_idle", 10);
  add("keepalives_interval", 3);
  add("keepalives_count", 3);
  const std::string given = values.contains("connect_timeout") ? values.at("connect_timeout") : "";
  const bool number = !given.empty() && given.size() <= 4 && given.find_first_not_of("0123456789") == std::string::npos;
  const int seconds = number && std::stoi(given) > 0 ? std::stoi(given) : kConnectSeconds;
  return text + fmt::format(" connect_timeout={}", std::min(seconds, kLongestConnectSeconds));
}

}  // namespace

std::string without_password(const std::string& address) {
  if (is_server(address)) return shown_server(address);
  if (has_scheme(address)) return printable(address.substr(0, address.find("://")), 20) + "://***";
  const std::string path = address.starts_with("sqlite:") ? address.substr(7) : address;
  return looks_like_server(path) || lower(path).find("password=") != std::string::npos ? "***" : address;
}

std::string without_passwords(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t space = std::min(text.find_first_of(" \t\n", begin), text.size());
    const std::string word = text.substr(begin, space - begin);
    const std::string small = lower(word);
    const std::size_t scheme = small.find("postgres");
    const std::size_t password = small.find("password=");
    if (scheme != std::string::npos && small.find("://", scheme) != std::string::npos)
      result += word.substr(0, scheme) + without_password(word.substr(scheme));
    else if (scheme != std::string::npos && small.find(':', scheme) < small.find('@', scheme) &&
             small.find('@', scheme) != std::string::npos)
      result += word.substr(0, scheme) + "***";
    else if (password != std::string::npos)
      result += word.substr(0, password) + "***";
    else
      result += word;
    if (space < text.size()) result += text[space];
    begin = space + 1;
  }
  return result;
}

LabAddress lab_address(const std::string& text) {
  if (is_server(text)) return {LabEngine::Postgresql, text};
  const std::string path = text.starts_with("sqlite:") ? text.substr(7) : text;
  if (has_scheme(path))
    throw InputError(
        fmt::format("'{}' is not the address of a database; give a file or {}", without_password(path), kServerForm));
  if (looks_like_server(path))
    throw InputError(
        fmt::format("the address of a server has the form {}; this text has another form and is not "
                    "shown, because it may contain a password",
                    kServerForm));
  require_file_name(path);
  return {LabEngine::Sqlite, path};
}

ServerParameters server_parameters(const std::string& address) {
  const auto values = parsed(address);
  if (!values)
    throw InputError(
        fmt::format("{}: is not the address of a server; give {}", without_password(address), kServerForm));
  ServerParameters parameters;
  for (const auto& [key, value] : *values) {
    if (is_secret(key)) parameters.secrets.push_back(value);
    if (may_be_secret(key, value))
      throw InputError(
          fmt::format("{}: is not the address of a server; in a password write @ / : ? & = and % as %XX, "
                      "or write it into ~/.pgpass",
                      without_password(address)));
    if (value.find_first_of(" \t\n\r'\\") != std::string::npos)
      throw InputError(fmt::format("{}: {} has a space, a quote or a backslash, which cannot be passed on{}",
                                   without_password(address), key,
                                   is_secret(key) ? "; write the password into ~/.pgpass" : ""));
    if (key != "connect_timeout") parameters.text += key + "=" + value + " ";
  }
  parameters.text += limits(*values);
  return parameters;
}

}  // namespace trocar
