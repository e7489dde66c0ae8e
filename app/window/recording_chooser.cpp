#include "app/window/recording_chooser.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "app/window/gui_scopes.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostRecordings = 40;

struct Written {
  std::filesystem::path file;
  timespec time{};  // when it was written last; read once, because a recording may be in progress
};

Written written(const std::filesystem::path& file) {
  struct stat info {};
  return {file, stat(file.c_str(), &info) == 0 ? info.st_mtim : timespec{}};
}

std::string recording_label(const Written& one) {
  const std::string name = one.file.filename().string();
  if (one.time.tv_sec == 0) return name;
  return fmt::format("{:%Y-%m-%d %H:%M}   {}", fmt::localtime(one.time.tv_sec), name);
}

}  // namespace

void RecordingChooser::open() {
  open_ = true;
  files_.clear();
  std::error_code error;
  std::vector<Written> files;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".h5") files.push_back(written(entry->path()));
  std::ranges::sort(files, [](const Written& a, const Written& b) {
    return std::tie(a.time.tv_sec, a.time.tv_nsec) > std::tie(b.time.tv_sec, b.time.tv_nsec);
  });
  if (files.size() > kMostRecordings) files.resize(kMostRecordings);
  for (const Written& file : files) files_.push_back({file.file, recording_label(file)});
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
  {
    const theme::Scope list = theme::child("files", {0.f, theme::px(300.f)}, ImGuiWindowFlags_NavFlattened, true);
    if (files_.empty()) theme::text("No recordings in this folder", theme::kQuiet);
    for (const File& file : files_) {
      if (ImGui::Selectable(file.label.c_str())) {
        recording_ = file.file;
        chosen = true;
      }
      theme::note_item(file.file.filename().string());
    }
  }
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
