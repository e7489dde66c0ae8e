// Measures the frames of a scripted expert's session without picture, the same program on the desktop and under node:
//   session_frames SCENE [FRAMES]
// Prints the median and the 99th percentile of each stage, ms, and a checksum of the last nodes, which shows that both
// computed the same.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sim/loop/session_loop.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/support/byte_archive.hpp"
#include "sim/support/files.hpp"

namespace {

using namespace trocar;

double share_of(std::vector<float>& values, double share) {
  if (values.empty()) return 0.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void measure(const std::string& file, int frames) {
  const Scene scene = load_scene(data_file(file));
  CpuBackends backends;
  PerformedSession session(scene, style_of(Skill::Expert), 1, backends, "scan");
  std::vector<std::vector<float>> times(kStages);
  int done = 0;
  for (; done < frames && !session.task().feed().finished; ++done) {
    session.step();
    for (std::size_t k = 0; k < kStages; ++k) times[k].push_back(session.session().stage_ms()[k]);
  }
  std::size_t faces = 0;
  std::uint64_t sum = kEmptyChecksum;
  for (std::size_t k = 0; k < session.session().organs().size(); ++k) {
    faces += session.session().organs()[k].mesh.faces.size();
    sum = checksum_of(std::as_bytes(session.session().queried_nodes(k)), sum);
  }
  fmt::print("{}: {} faces, {} frames, checksum {:016x}\n", file, faces, done, sum);
  for (std::size_t k = 0; k < kStages; ++k)
    fmt::print("  {:10} {:8.3f} {:8.3f}\n", stage_names()[k], share_of(times[k], 0.5), share_of(times[k], 0.99));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    fmt::print(stderr, "usage: session_frames SCENE [FRAMES]\n");
    return 2;
  }
  measure(arguments[1], count > 2 ? std::atoi(arguments[2]) : 600);
  return 0;
}
