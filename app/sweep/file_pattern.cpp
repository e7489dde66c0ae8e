#include "app/sweep/file_pattern.hpp"

#include <algorithm>

namespace trocar {

bool matches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::size_t p = 0, n = 0, star = std::string_view::npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> matching_files(const std::filesystem::path& folder, const std::string& pattern) {
  const std::filesystem::path path(pattern), within = path.parent_path();
  std::vector<std::string> found;
  std::error_code error, none;
  for (std::filesystem::directory_iterator entry(folder / within, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (matches(path.filename().string(), name) && entry->is_regular_file(none))
      found.push_back((within / name).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace trocar
