// Provides sessions with instruments that act on tissue, and a book of the faces of an organ.   Units: metres, seconds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "mesh/mesh_io.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

// A ball on a floor that breathes, beside another ball; instruments of every kind act on it.
class TissueScene : public ::testing::Test {
 protected:
  TissueScene() {
    save_mesh(shapes::icosphere(4, 0.04f), folder_.path() / "left.obj");
    save_mesh(shapes::icosphere(3, 0.03f, {0.072f, 0.f, 0.f}), folder_.path() / "right.obj");
  }

  static std::string instrument(const std::string& kind, const std::string& script) {
    return "[[instrument]]\nname = \"" + script + "\"\nkind = \"" + kind +
           "\"\npivot_mm = [0, 20, 150]\ntip_mm = [0, 0, 39]\nradius_mm = 3\ndevice = \"script\"\nscript = \"" +
           script + "\"\n";
  }

  // Makes a scene with one ball, or with two that nearly touch.
  Scene scene(const std::string& instruments, int balls = 1, const std::string& more = "") {
    std::string text = "schema = 2\n" + more;
    for (const std::string name : {"left", "right"}) {
      if (balls-- == 0) break;
      text += "[[organ]]\nname = \"" + name + "\"\nmesh = \"" + name +
              ".obj\"\n[organ.tissue]\nnode_spacing_mm = 8\n[[organ.attachment]]\ncentre_mm = [" +
              (name == "left" ? "0" : "72") + ", 0, -38]\nradius_mm = 25\ndiaphragm = true\n";
    }
    return load_scene(folder_.write("s.toml", text + instruments));
  }

  // Every script repeats after two seconds.
  static std::unique_ptr<Device> script(const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, kRound});
  }

  static void step(Session& session, std::size_t frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
  }

  static constexpr double kRound = 2.0;  // s
  TemporaryFolder folder_;
  CpuBackends backends_;
};

// Tracks faces by id: their vertices must not change, and removed faces must not return.
class FaceBook {
 public:
  explicit FaceBook(const Organ& organ) { check(organ); }

  void check(const Organ& organ) {
    std::vector<char> alive(corners_.size(), 0);
    for (std::size_t slot = 0; slot < organ.face_ids.size(); ++slot) {
      const std::size_t id = index(organ.face_ids[slot]);
      if (slot > 0) {
        ASSERT_LT(index(organ.face_ids[slot - 1]), id);
      }
      if (id >= corners_.size()) {
        corners_.resize(id + 1, glm::uvec3(0));
        corners_[id] = organ.mesh.faces[slot];
        alive.resize(id + 1, 0);
      } else {
        ASSERT_FALSE(removed_[id]) << "face " << id << " came back";
        ASSERT_EQ(corners_[id], organ.mesh.faces[slot]) << "face " << id;
      }
      alive[id] = 1;
    }
    removed_.resize(corners_.size(), 0);
    for (std::size_t id = 0; id < removed_.size(); ++id) removed_[id] = !alive[id];
  }

  bool removed(std::size_t id) const { return removed_[id]; }
  std::size_t size() const { return corners_.size(); }
  std::size_t count_removed() const {
    return static_cast<std::size_t>(std::count(removed_.begin(), removed_.end(), 1));
  }

 private:
  std::vector<glm::uvec3> corners_;  // [face id]
  std::vector<char> removed_;        // [face id]
};

}  // namespace trocar::test
