// Chooses organ and tool for the sample of faces that is compared with the double reference (reference_sample.hpp).
// Tested in tests/sim/session_test.cpp
#include "sim/session/session.hpp"

namespace trocar {
namespace {

// Every eighth face comes from any organ and tool, candidate pair or not: this covers the pairs that were not queried.
constexpr std::uint32_t kAnyPairEvery = 8;
// An organ without faces yields no sample; this many failures in a row end the frame's sampling.
constexpr int kMostVain = 16;

}  // namespace

void Session::hold_face(std::size_t organ_number, std::size_t tool) {
  const Organ& organ = organs_[organ_number];
  const std::size_t tools = instruments_.size();
  const ToolVolume& volume = tool < tools ? volumes_[tool] : tip_volumes_[tool - tools];
  const TouchList all{organ.touched, organ.touched_first};
  sample_.hold(organ_number * 2 * tools + tool,
               {{organ.positions, organ.mesh.faces}, organ.around, volume, all.of_tool(tool)});
}

// Seven of eight faces come from candidate pairs.
void Session::hold_sample() {
  std::uint64_t answers = 0;
  std::uint32_t near = 0;
  const auto organs = static_cast<std::uint32_t>(organs_.size());
  const auto tools = static_cast<std::uint32_t>(2 * instruments_.size());
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    answers += organs_[k].mesh.faces.size() * tools;
    near += static_cast<std::uint32_t>(asked_[k].near_k.size());
  }
  sample_.open_frame(answers, checking_);
  if (organs == 0 || tools == 0) return;
  for (int vain = 0; sample_.wants_more() && vain < kMostVain;) {
    const std::uint64_t before = sample_.now().faces;
    if (near == 0 || sample_.pick(kAnyPairEvery) == 0) {
      hold_face(sample_.pick(organs), sample_.pick(tools));
    } else {
      std::uint32_t chosen = sample_.pick(near);
      std::size_t organ = 0;
      while (chosen >= asked_[organ].near_k.size()) chosen -= static_cast<std::uint32_t>(asked_[organ++].near_k.size());
      hold_face(organ, asked_[organ].near_k[chosen]);
    }
    vain = sample_.now().faces == before ? vain + 1 : 0;
  }
  disagreements_now_ += static_cast<std::uint32_t>(sample_.now().disagreements);
}

}  // namespace trocar
