// Reads a recording frame by frame: surfaces at the touch query, tool volumes, connective tissue, fluids, and motions
// as trajectories.   Units: metres, m^3, seconds. Tested in tests/app/replay_test.cpp,
// tests/sim/recording/recorded_tissue_test.cpp, recorded_tissue_test.cpp, script_device_test.cpp
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/fluid/fluid_film.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

// Reads the frames of a recording: each organ's surface as it was at the touch query of the frame, and the volumes of
// the tools. Units: metres.

// One organ of a recording, frame by frame: its faces, its vertex positions and its touches. The recording must outlive
// this object.
class RecordedOrganFrames {
 public:
  // Starts with the rest surface of the first frame; no frame is loaded yet.
  RecordedOrganFrames(const Recording& recording, std::size_t organ);

  // Loads a frame; any order is allowed, and forward steps only apply the changes. Returns true when the faces or the
  // number of vertices differ from before.
  bool load(std::size_t frame);
  MeshView mesh() const { return {positions_, surface_.faces}; }  // of the loaded frame
  const OrganSurface& surface() const { return surface_; }        // of the loaded frame: faces by slot, rest shape
  const OrganFrame& frame() const { return frame_; }              // of the loaded frame: touches by id

 private:
  const Recording* recording_;
  std::size_t organ_;
  OrganSurface surface_;
  OrganFrame frame_;
  std::vector<glm::vec3> positions_;  // [vertex] m
};

// The instruments of a recording, frame by frame. A recording of an earlier model of the tissue (kModelVersion below 2)
// has instruments of one capsule, which ends at the tip. The recording must outlive this object.
class RecordedTools {
 public:
  // Throws InputError when the recording does not say what its instruments are.
  explicit RecordedTools(const Recording& recording);

  void load(std::size_t frame);
  // Returns the volumes of the loaded frame.
  FrameVolumes volumes() const { return {volumes_, part_of_volume_, parts_}; }
  // Returns false for an earlier model.
  bool by_parts() const { return !bodies_.empty(); }

 private:
  const Recording* recording_;
  std::vector<InstrumentBody> bodies_;  // [tool]
  PartTable parts_;
  std::vector<ToolVolume> volumes_;
  std::vector<std::uint32_t> part_of_volume_;
};

// Gives the connective tissue of a recording frame by frame: which fibres are intact at the touch query, and where
// their ends are, bit for bit as in the session. Units: metres.

class RecordedFibres {
 public:
  // The recording must outlive this object. No frame is loaded yet.
  explicit RecordedFibres(const Recording& recording);

  // Loads a frame, in any order. `nodes`: [organ][node] m, of this frame; they must stay valid until the next call.
  void load(std::size_t frame, std::span<const std::span<const glm::vec3>> nodes);

  std::size_t size() const { return history_->fibres.size(); }
  // Return the state at the touch query of the loaded frame, which is that at the end of the frame before.
  bool intact(std::size_t fibre) const { return intact_[fibre] != 0; }
  FibreEnds ends(std::size_t fibre) const;
  const RecordedFibre& at_rest(std::size_t fibre) const { return history_->fibres[fibre]; }

 private:
  const FibreHistory* history_;
  std::span<const std::span<const glm::vec3>> nodes_;
  std::vector<std::uint8_t> intact_;  // [fibre]
};

// Shows the fluid on the organs of a recording, frame by frame: for pictures, not for scores. The recorded losses are
// poured at the recorded sources and run down as in the session. A jump to another frame begins with the recorded
// amount on the organs, which runs down from the sources of that frame. Units: metres, m^3.

// The surface of an organ in the loaded frame. `reshaped`: its faces or its number of vertices changed since the last.
struct FilmedOrgan {
  MeshView mesh, rest;
  bool reshaped = true;
};

class RecordedFilm {
 public:
  // The recording must outlive this object. `scene`: the recorded one.
  RecordedFilm(const Recording& recording, const Scene& scene);

  // Loads a frame. `organs`: [organ], valid during the call.
  void load(std::size_t frame, std::span<const FilmedOrgan> organs);
  // Returns the look of an organ; empty for a recording without bleeding. [vertex] SessionFilm::look()
  std::span<const glm::vec2> look(std::size_t organ) const;
  double blood_area() const { return blood_area_; }  // m^2
  // The vessels that bleed in the loaded frame.
  std::span<const Spurt> spurts() const { return spurts_; }
  // The sources of the loaded frame, and the blood that has dripped off until then, m^3.
  std::span<const BleedSource> sources() const { return sources_; }
  double dripped(std::size_t frame) const {
    return films_.empty() ? 0.0 : recording_->bleeding().fluids[frame].dripped[0];
  }

 private:
  void step(std::size_t frame, std::span<const FilmedOrgan> organs);
  void begin_at(std::size_t frame, std::span<const FilmedOrgan> organs);
  void pour_into(std::size_t organ, FilmFluid fluid, double volume, bool flowing_only);
  void pour_out(std::size_t source, FilmFluid fluid, double volume);
  DropLanding landing_of(std::size_t organ, const glm::vec3& from, const glm::vec3& towards,
                         std::span<const FilmedOrgan> organs) const;
  void find_spurts(std::size_t frame, std::span<const FilmedOrgan> organs);
  void run(std::span<const FilmedOrgan> organs, double dt);
  void suck(std::size_t frame, std::span<const FilmedOrgan> organs);

  const Recording* recording_;
  std::vector<glm::vec3> down_;  // [organ]
  // An instrument that sucks.
  struct RecordedPump {
    std::size_t tool;
    float reach;  // m
  };
  std::vector<RecordedPump> pumps_;
  std::vector<FluidFilm> films_;
  std::vector<FacesAround> around_;
  std::vector<std::vector<glm::vec2>> looks_;
  std::vector<BleedSource> sources_;  // of the loaded frame
  struct Jet {
    std::size_t source;
    DropLanding at;
  };
  std::vector<Jet> jets_;
  std::vector<Spurt> spurts_;  // [jet]
  double blood_area_ = 0.0;
  std::size_t next_ = 0;  // the frame after the loaded one
  bool begun_ = false;
};

// Reads the motion of a tool or of the scope from a recording, as a trajectory that a device replays.
// Units: metres, seconds.

// Loads the motion of a tool from a recording (.h5), or a trajectory from any other file. `tool`: name of the tool in
// the recording; empty: the tool named `fallback`, or the only one. Throws InputError with the file and its tools.
Trajectory load_motion(const std::filesystem::path& file, const std::string& tool, const std::string& fallback);
// Loads the scope's motion from a recording.
Trajectory load_scope_motion(const std::filesystem::path& file);

}  // namespace trocar
