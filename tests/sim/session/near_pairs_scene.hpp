// Provides the scene of tests of near_pairs.   Units: millimetres in the scene.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

// The scene has two balls far apart, a probe over each, and a third probe whose shaft crosses the first one's.
class EncounterScene : public ::testing::Test {
 protected:
  EncounterScene() {
    save_mesh(shapes::icosphere(3, 0.03f), folder_.path() / "left.obj");
    save_mesh(shapes::icosphere(3, 0.03f, {0.3f, 0.f, 0.f}), folder_.path() / "right.obj");
  }

  static std::string organ(const std::string& name, int x) {
    return "[[organ]]\nname = \"" + name + "\"\nmesh = \"" + name +
           ".obj\"\n[organ.tissue]\nnode_spacing_mm = 8\n[[organ.attachment]]\ncentre_mm = [" + std::to_string(x) +
           ", 0, -28]\nradius_mm = 20\n";
  }
  static std::string probe(const std::string& name, int x, int pivot_x) {
    return "[[instrument]]\nname = \"" + name + "\"\npivot_mm = [" + std::to_string(pivot_x) +
           ", 10, 120]\ntip_mm = [" + std::to_string(x) +
           ", 0, 29]\nradius_mm = 3\ndevice = \"script\"\nscript = \"explore\"\n";
  }
  Scene scene() {
    return load_scene(folder_.write("s.toml", "schema = 2\n" + organ("left", 0) + organ("right", 300) +
                                                  probe("near left", 0, 0) + probe("near right", 300, 300) +
                                                  probe("crossing", 20, -60)));
  }
  static std::unique_ptr<Device> script(const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, 2.0});
  }

  TemporaryFolder folder_;
  CpuBackends backends_;
};

}  // namespace trocar::test
