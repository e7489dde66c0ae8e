#include "app/window/screens/recording_chooser.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "app/window/screens/scene_list.hpp"
#include "app/window/widgets/theme.hpp"
#include "geometry/translate.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/score/trainee_summary.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostRecordings = 40;
constexpr float kChooserWidth = 860.f, kChooserHeight = 520.f, kChooserRows = 350.f;  // units
constexpr float kBelowRows = 108.f;  // units: the field, the question and the button

struct Written {
  std::filesystem::path file;
  struct stat info {};  // read once, because a recording may be in progress
};

Written written(const std::filesystem::path& file) {
  Written found{file, {}};
  if (stat(file.c_str(), &found.info) != 0) found.info = {};
  return found;
}

std::string size_text(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.1f} GB", 1e-9 * bytes) : fmt::format("{:.0f} MB", std::max(1e-6 * bytes, 1.0));
}

std::string length_text(double seconds) {
  const auto whole = static_cast<long>(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string title_of_scene(const Scene& scene) {
  return scene.task && !scene.task->title.empty() ? scene.task->title : scene.title;
}

}  // namespace

void RecordingChooser::open() {
  open_ = true;
  rows_.clear();
  deleted_.reset(), fault_.clear();
  std::error_code error;
  std::vector<Written> files;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".h5" && !entry->path().filename().string().starts_with('.'))
      files.push_back(written(entry->path()));
  std::ranges::sort(files, [](const Written& a, const Written& b) {
    return std::tie(a.info.st_mtim.tv_sec, a.info.st_mtim.tv_nsec) >
           std::tie(b.info.st_mtim.tv_sec, b.info.st_mtim.tv_nsec);
  });
  if (files.size() > kMostRecordings) files.resize(kMostRecordings);
  for (const Written& one : files) {
    const std::time_t when = one.info.st_mtim.tv_sec;
    rows_.push_back({one.file, when == 0 ? "" : fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(when)),
                     size_text(static_cast<double>(one.info.st_size)), "", one.file.filename().string(), ""});
  }
}

void RecordingChooser::read_next() {
  const auto next = std::ranges::find(rows_, false, &Row::read);
  if (next == rows_.end()) return;
  next->read = true;
  try {
    const Recording recording(next->file, nullptr, FormsRead::All);
    next->person = recording.text("person");
    next->title = tr(title_of_scene(parse_scene(recording.text("scene"), next->file)));
    if (recording.activity() == Activity::Demonstration) next->person = tr("demonstration");
    const std::vector<double>& times = recording.score_times();
    if (!times.empty()) next->length = length_text(times.back() - times.front());
  } catch (const std::runtime_error&) {
    next->length = tr("cannot be read");
  }
}

bool RecordingChooser::draw_row(Row& row, const std::vector<LabAttempt>& attempts) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const std::string name = row.file.filename().string();
  const bool chosen = ImGui::Selectable(fmt::format("{}##{}", row.when, name).c_str());
  theme::note_item(name);
  const std::string path = text_of_bytes(std::filesystem::absolute(row.file).string());
  const auto known = std::ranges::find(attempts, path, &LabAttempt::recording);
  const std::string score = known != attempts.end() && known->score ? score_text(*known->score) : "";
  for (const std::string* words :
       std::initializer_list<const std::string*>{&row.person, &row.title, &row.length, &score, &row.size}) {
    ImGui::TableNextColumn();
    theme::text(*words);
  }
  ImGui::TableNextColumn();
  if (ImGui::SmallButton(fmt::format("{}##{}", tr("Delete..."), name).c_str())) deleted_ = row.file;
  theme::note_item("Delete " + name);
  return chosen;
}

bool RecordingChooser::table(const std::vector<LabAttempt>& attempts) {
  const theme::Scope list =
      theme::child("files", {0.f, theme::height_above(kChooserRows, kBelowRows)}, ImGuiWindowFlags_NavFlattened, true);
  if (rows_.empty()) theme::text(tr("No recordings in this folder"), theme::kQuiet);
  bool chosen = false;
  const theme::Scope table = theme::table("recordings", 7, ImGuiTableFlags_SizingFixedFit);
  if (!table) return false;
  for (const char* title :
       {msgid("When"), msgid("Person"), msgid("Task"), msgid("Length"), msgid("Score"), msgid("Size"), ""}) {
    ImGui::TableNextColumn();
    theme::text(tr(title), theme::kQuiet);
  }
  for (Row& row : rows_)
    if (draw_row(row, attempts)) recording_ = row.file, chosen = true;
  return chosen;
}

void RecordingChooser::question() {
  theme::wrapped(
      trf("Delete {}? Its scores stay in the database; it can no longer be replayed.", deleted_->filename().string()),
      theme::kBad);
  ImGui::SameLine();
  if (theme::button("Keep", 90.f, true)) {
    deleted_.reset();
    return;
  }
  ImGui::SameLine();
  if (!theme::button("Delete", 90.f)) return;
  std::error_code error;
  std::filesystem::remove(*deleted_, error);
  fault_ = error ? trf("{} cannot be deleted: {}", deleted_->string(), error.message()) : "";
  std::erase_if(rows_, [&](const Row& row) { return !error && row.file == *deleted_; });
  deleted_.reset();
}

bool RecordingChooser::draw(bool escape, const std::vector<LabAttempt>& attempts) {
  read_next();
  const theme::Panel panel("recordings", {{0.5f, 0.5f}, {}, {0.5f, 0.5f}, {kChooserWidth, kChooserHeight}},
                           theme::PanelKind::Used, 0.55f);
  theme::headline(tr("Open a recording"));
  theme::text(trf("in {}, newest first", std::filesystem::absolute(folder_).string()), theme::kQuiet);
  bool chosen = table(attempts);
  ImGui::SetNextItemWidth(-1.f);
  const bool typed = ImGui::InputTextWithHint("##typed", tr("or type a file name and press Enter"), &typed_,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  if (typed && !typed_.empty()) recording_ = typed_, chosen = true;
  if (!fault_.empty()) theme::wrapped(fault_, theme::kBad);
  if (deleted_) question();
  if (theme::button("Cancel", 110.f) || escape || chosen) open_ = false;
  return chosen;
}

}  // namespace trocar
