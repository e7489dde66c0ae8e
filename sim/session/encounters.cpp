#include "sim/session/encounters.hpp"

namespace trocar {

Encounters::Encounters(std::size_t organs, std::size_t instruments)
    : organs_(organs), surface_(organs), instrument_(instruments), first_near_(organs + 1, 0) {
  // The ids of the objects are the organs' numbers first, then the instruments'.
  for (std::size_t k = 0; k < organs + instruments; ++k) sweep_.add({});
}

void Encounters::set_organ(std::size_t organ, const broad::Box& surface, const broad::Box& reach) {
  surface_[organ] = surface;
  sweep_.set(broad::ObjectId(static_cast<std::uint32_t>(organ)), united(surface, reach));
}

void Encounters::set_instrument(std::size_t instrument, const broad::Box& box) {
  instrument_[instrument] = box;
  sweep_.set(broad::ObjectId(static_cast<std::uint32_t>(organs_ + instrument)), box);
}

void Encounters::update() {
  sweep_.update();
  near_.clear();
  organ_pairs_.clear();
  instrument_pairs_.clear();
  const auto organs = static_cast<std::uint32_t>(organs_);
  std::uint32_t listed = 0;  // organs whose instruments are all listed
  const auto close_until = [&](std::uint32_t organ) {
    while (listed < organ) first_near_[++listed] = static_cast<std::uint32_t>(near_.size());
  };
  for (const broad::Pair& pair : sweep_.pairs()) {
    const std::uint32_t first = index(pair.first), second = index(pair.second);
    if (first >= organs) {
      instrument_pairs_.push_back({first - organs, second - organs});
    } else if (second < organs) {
      organ_pairs_.push_back({first, second});
    } else if (overlap(surface_[first], instrument_[second - organs])) {
      close_until(first);
      near_.push_back(second - organs);
    }
  }
  close_until(organs);
}

std::span<const std::uint32_t> Encounters::instruments_near(std::size_t organ) const {
  return std::span(near_).subspan(first_near_[organ], first_near_[organ + 1] - first_near_[organ]);
}

}  // namespace trocar
