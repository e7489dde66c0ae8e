// Feeds texts to the reader of attempts from the browser. An accepted attempt is written and read again without a
// change, and its devices give a pose for every frame.
#include "sim/inputs/attempt_file.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  AttemptFile attempt;
  if (!accepted([&] { attempt = parse_attempt(text, "input.json"); })) return 0;
  const std::string written = attempt_text(attempt);
  AttemptFile again;
  require(accepted([&] { again = parse_attempt(written, "input.json"); }), "what was written is refused");
  require(attempt_text(again) == written, "the second reading differs");
  require(again.log.devices.size() == attempt.log.devices.size(), "the second reading has other devices");
  for (std::size_t k = 0; k < attempt.log.devices.size(); ++k) {
    const auto device = replayed(attempt.log, k);
    std::size_t next = 0;
    const std::vector<LoggedPose>& poses = attempt.log.devices[k].poses;
    for (std::uint32_t frame = 0; frame < attempt.log.frames.size(); ++frame) {
      if (next + 1 < poses.size() && poses[next + 1].frame == frame) ++next;
      require(same_bits(device->pose(attempt.log.frames[frame].clock), poses[next].pose),
              "a device gives another pose");
      require(device->health() == poses[next].health, "a device has another health");
    }
  }
  return 0;
}
