#include "app/window/scene_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/window/practice/practice.hpp"

namespace trocar {
namespace {

constexpr std::size_t kLongestBase = 150;  // bytes of a title, so that its end has room

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "scene-edited-2" -> "scene", "Scene (edited 2)" -> "Scene"; another text stays. `mark`: "-edited", " (edited".
std::string without_mark(const std::string& text, const std::string& mark, const std::string& close) {
  const auto at = text.rfind(mark);
  if (at == std::string::npos || !text.ends_with(close)) return text;
  std::string number = text.substr(at + mark.size());
  number.resize(number.size() - std::min(close.size(), number.size()));
  if (!number.empty() && (number[0] == '-' || number[0] == ' ')) number.erase(0, 1);
  return is_number(number) ? text.substr(0, at) : text;
}

// Cuts the title where another letter begins.
std::string shortened(std::string title, std::size_t most) {
  if (title.size() <= most) return title;
  title.resize(most);
  while (!title.empty() && (static_cast<unsigned char>(title.back()) & 0xC0) == 0x80) title.pop_back();
  if (!title.empty() && (static_cast<unsigned char>(title.back()) & 0x80) != 0) title.pop_back();
  return title;
}

}  // namespace

SceneCopy copy_of(const Scene& scene, const std::filesystem::path& folder) {
  const std::string stem = without_mark(scene.file.stem().string(), "-edited", "");
  SceneCopy copy{free_name(folder, stem + "-edited", ".toml"), scene};
  const std::string name = copy.file.stem().string();
  const std::string number = name.substr((stem + "-edited").size());  // "", "-2" ...
  const std::string end = number.empty() ? " (edited)" : fmt::format(" (edited {})", number.substr(1));
  const auto titled = [&](const std::string& title) {
    return shortened(without_mark(title, " (edited", ")"), kLongestBase) + end;
  };
  if (!scene.title.empty() || !scene.task || scene.task->title.empty())
    copy.scene.title = titled(scene.title.empty() ? stem : scene.title);
  if (scene.task && !scene.task->title.empty()) copy.scene.task->title = titled(scene.task->title);
  return copy;
}

}  // namespace trocar
