#include "sim/review/recorded_fibres.hpp"

#include <algorithm>

#include "deform/solid/tissue.hpp"

namespace trocar {

RecordedFibres::RecordedFibres(const Recording& recording)
    : history_(&recording.fibres()), intact_(recording.fibres().fibres.size(), 1) {}

void RecordedFibres::load(std::size_t frame, std::span<const std::span<const glm::vec3>> nodes) {
  nodes_ = nodes;
  std::fill(intact_.begin(), intact_.end(), std::uint8_t{1});
  for (const std::uint32_t fibre : broken_before(*history_, frame)) intact_[fibre] = 0;
}

FibreEnds RecordedFibres::ends(std::size_t fibre) const {
  const auto point = [this](const RecordedFibreEnd& end) {
    return end.organ == kWall ? end.point : weighted(end.embedding, nodes_[end.organ]);
  };
  return {point(history_->fibres[fibre].a), point(history_->fibres[fibre].b)};
}

}  // namespace trocar
