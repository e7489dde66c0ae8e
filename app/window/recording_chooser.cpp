#include "app/window/recording_chooser.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <sys/stat.h>

#include <algorithm>

#include "app/window/theme.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostRecordings = 40;

std::string when_written(const std::filesystem::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return {};
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(info.st_mtime));
}

}  // namespace

void RecordingChooser::open() {
  open_ = true;
  files_.clear();
  std::error_code error;
  std::vector<std::filesystem::directory_entry> files;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".h5") files.push_back(*entry);
  std::ranges::sort(files,
                    [&](const auto& a, const auto& b) { return a.last_write_time(error) > b.last_write_time(error); });
  if (files.size() > kMostRecordings) files.resize(kMostRecordings);
  for (const auto& file : files)
    files_.push_back({file.path(), fmt::format("{}   {}", when_written(file.path()), file.path().filename().string())});
}

bool RecordingChooser::draw(bool escape) {
  const theme::Panel panel("recordings", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {620.f, 460.f}}, theme::PanelKind::Used,
                           0.55f);
  {
    const theme::WithLetters large(theme::Letters::Heading);
    theme::text("Open a recording");
  }
  bool chosen = false;
  theme::text(fmt::format("in {}, newest first", std::filesystem::absolute(folder_).string()), theme::kQuiet);
  ImGui::BeginChild("files", {0.f, theme::px(300.f)}, true, ImGuiWindowFlags_NavFlattened);
  if (files_.empty()) theme::text("No recordings in this folder", theme::kQuiet);
  for (const File& file : files_) {
    if (ImGui::Selectable(file.label.c_str())) {
      recording_ = file.file;
      chosen = true;
    }
    theme::note_item(file.file.filename().string());
  }
  ImGui::EndChild();
  ImGui::SetNextItemWidth(-1.f);
  const bool typed = ImGui::InputTextWithHint("##typed", "or type a file name and press Enter", &typed_,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  if (typed && !typed_.empty()) {
    recording_ = typed_;
    chosen = true;
  }
  if (theme::button("Cancel", 110.f) || escape || chosen) open_ = false;
  return chosen;
}

}  // namespace trocar
