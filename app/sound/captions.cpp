#include "app/sound/captions.hpp"

#include <algorithm>

#include "geometry/translate.hpp"

namespace trocar {

void Captions::hear(const SoundCues& cues, double elapsed) {
  const bool again = cues.errors < cues_.errors || cues.reached < cues_.reached;
  error_left_ = cues.errors > cues_.errors ? kShown : again ? 0.0 : std::max(error_left_ - elapsed, 0.0);
  reached_left_ = cues.reached > cues_.reached ? kShown : again ? 0.0 : std::max(reached_left_ - elapsed, 0.0);
  cues_ = cues;
  count_ = 0;
  const auto say = [this](bool heard, std::string_view line) {
    if (heard) lines_[count_++] = line;
  };
  say(cues.pulse, msgid("[pulse]"));
  say(cues.cut, msgid("[high hum: cutting]"));
  say(cues.coagulate, msgid("[low hum: coagulation]"));
  say(reached_left_ > 0.0, msgid("[rising tone: done]"));
  say(error_left_ > 0.0, msgid("[falling tone: error]"));
}

}  // namespace trocar
