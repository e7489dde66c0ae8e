// Feeds files to the reader of recordings. Every frame of an accepted recording can be read, and the recording is
// scored, computed again, or refused with a sentence.
#include <algorithm>

#include "sim/hdf5/recording.hpp"
#include "sim/review/compact.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace trocar::fuzz {
namespace {

void check_frame(const OrganRecording& organ, const OrganFrame& frame, std::size_t tools, RecordingForm form) {
  require(frame.nodes.size() == (form == RecordingForm::Compact ? 0 : organ.nodes),
          "a frame and its organ have different numbers of nodes");
  require(frame.first.size() == tools + 1 && frame.first.back() == frame.touches.size(),
          "the touches of a frame do not match its tools");
}

void read_all(const Recording& recording) {
  OrganFrame frame;
  const std::size_t tools = recording.tools().size();
  for (std::size_t k = 0; k < recording.frame_count(); ++k) {
    for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
      recording.read_frame(k, organ, frame);
      check_frame(recording.organs()[organ], frame, tools, recording.form());
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

// A fine lattice or a long step only takes time.
bool is_quick(const Recording& recording) {
  constexpr float kCoarse = 0.01f;     // m
  constexpr double kShortStep = 0.05;  // s
  const Scene scene = parse_scene(recording.text("scene"), "input.toml");
  bool quick = std::ranges::all_of(scene.organs, [](const OrganScene& organ) {
    return organ.tissue.node_spacing >= kCoarse && organ.tissue.substeps < 10;
  });
  for (std::size_t k = 0; k < recording.frame_count() && quick; ++k) quick = recording.step_time(k) < kShortStep;
  return quick;
}

void compute_again(const Recording& recording) {
  if (!is_quick(recording)) return;
  Rerun rerun(recording, "input.h5");
  for (std::size_t k = 0; k < std::min<std::size_t>(2, recording.frame_count()); ++k) rerun.step();
}

}  // namespace
}  // namespace trocar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  const auto file = as_file({data, size}, "h5");
  accepted([&] {
    const Recording recording(file, nullptr, FormsRead::All);
    read_all(recording);
    compute_again(recording);
    if (recording.form() != RecordingForm::Compact) score_recording(recording, "input.h5");
  });
  return 0;
}
