// Feeds files to the reader of recordings. Every frame of an accepted recording can be read, and the recording is
// scored or refused with a sentence.
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace trocar::fuzz {
namespace {

void check_frame(const OrganRecording& organ, const OrganFrame& frame, std::size_t tools) {
  require(frame.nodes.size() == organ.nodes, "a frame and its organ have different numbers of nodes");
  require(frame.first.size() == tools + 1 && frame.first.back() == frame.touches.size(),
          "the touches of a frame do not match its tools");
}

void read_all(const Recording& recording) {
  OrganFrame frame;
  const std::size_t tools = recording.tools().size();
  for (std::size_t k = 0; k < recording.frame_count(); ++k) {
    for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
      recording.read_frame(k, organ, frame);
      check_frame(recording.organs()[organ], frame, tools);
    }
    for (std::size_t tool = 0; tool < tools; ++tool) {
      recording.pose(k, tool);
      recording.force(k, tool);
      recording.state(k, tool);
      recording.tip_depth(k, tool);
    }
    recording.scope(k);
  }
}

}  // namespace
}  // namespace trocar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  const auto file = as_file({data, size}, "h5");
  accepted([&] {
    const Recording recording(file);
    read_all(recording);
    score_recording(recording, "input.h5");
  });
  return 0;
}
