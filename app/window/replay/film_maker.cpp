#include "app/window/replay/film_maker.hpp"

#include <fmt/format.h>

#include <vector>

#include "app/window/widgets/theme.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"

namespace trocar {
namespace {

// The last line that a program has completed.
std::string last_line_of(const std::string& output) {
  const std::size_t end = output.rfind('\n');
  if (end == output.npos) return {};
  const std::size_t begin = end == 0 ? output.npos : output.rfind('\n', end - 1);
  return output.substr(begin == output.npos ? 0 : begin + 1, end - (begin == output.npos ? 0 : begin + 1));
}

}  // namespace

void FilmMaker::start(const std::filesystem::path& recording) {
  film_ = std::filesystem::absolute(recording).replace_extension(".mp4");
  try {
    // The window comes first, but where a CPU draws it, it leaves little to the lowest priority.
    const std::vector<std::string> words{"-n",        "5",  own_program(), "export", "film", recording.string(),
                                         "--percent", "-o", film_.string()};
    child_.emplace("nice", words, false);
    waits_ = false;
    text_ = trf("Film: {}", "0 %");
  } catch (const RunError& error) {
    text_ = error.what();
  }
}

void FilmMaker::step(bool waits) {
  if (!child_) return;
  if (waits != waits_) child_->pause(waits_ = waits);
  const std::string said = last_line_of(child_->output());
  if (!child_->ended()) {
    if (said.ends_with(" %")) text_ = waits ? trf("Film: {}, waiting for the session", said) : trf("Film: {}", said);
    return;
  }
  const bool good = child_->wait() == 0;
  text_ = good ? trf("Film written to {}", film_.string()) : last_line_of(child_->output());
  if (text_.empty()) text_ = tr("The film could not be made");
  child_.reset();
}

void FilmMaker::button(const std::filesystem::path& recording, float width) {
  if (!theme::button(child_ ? msgid("Stop film") : msgid("Film"), width)) return;
  if (!child_) return start(recording);
  child_.reset();
  text_ = tr("The film was stopped");
}

}  // namespace trocar
