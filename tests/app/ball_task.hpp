// Writes the scene that tests of practice share: a ball, a probe moved by the mouse, targets within its reach, a minute
// of time.
#pragma once

#include <filesystem>
#include <string>

#include "mesh/mesh_io.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

// `more`: lines after the first target, for example a second one. Returns the scene's file.
inline std::filesystem::path write_ball_task(const TemporaryFolder& folder, const std::string& more = "") {
  save_mesh(shapes::icosphere(2, 0.05f), folder.path() / "ball.obj");
  return folder.write(
      "ball.toml",
      "schema = 2\ntitle = \"Ball\"\n[[organ]]\nname = \"ball\"\nmesh = \"ball.obj\"\n[organ.tissue]\nnode_spacing_mm "
      "= 20\n"
      "[[organ.attachment]]\ncentre_mm = [0, 0, -45]\nradius_mm = 20\n"
      "[[instrument]]\nname = \"probe\"\nradius_mm = 2.5\npivot_mm = [0, 0, 200]\ntip_mm = [0, 0, 60]\n"
      "[task]\nkind = \"touch-targets\"\ntime_limit_s = 60\n[[task.place]]\norgan = \"ball\"\nat_mm = [50, 0, 0]\n" +
          more);
}

}  // namespace trocar::test
