// Shows the fluid on the organs of a recording, frame by frame: for pictures, not for scores. The recorded losses are
// poured at the recorded sources and run down as in the session. A jump to another frame begins with the recorded
// amount on the organs, which runs down from the sources of that frame. Units: metres, m^3.   Tested in
// tests/sim/recorded_tissue_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/contact.hpp"
#include "deform/fluid_film.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

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

 private:
  void step(std::size_t frame, std::span<const FilmedOrgan> organs);
  void begin_at(std::size_t frame, std::span<const FilmedOrgan> organs);
  void pour_into(std::size_t organ, FilmFluid fluid, double volume, bool flowing_only);
  void run(std::span<const FilmedOrgan> organs, double dt);
  void suck(std::size_t frame, std::span<const FilmedOrgan> organs);

  const Recording* recording_;
  std::vector<glm::vec3> down_;     // [organ]
  std::vector<std::size_t> pumps_;  // instruments that suck
  std::vector<FluidFilm> films_;
  std::vector<FacesAround> around_;
  std::vector<std::vector<glm::vec2>> looks_;
  std::vector<BleedSource> sources_;  // of the loaded frame
  double blood_area_ = 0.0;
  std::size_t next_ = 0;  // the frame after the loaded one
  bool begun_ = false;
};

}  // namespace trocar
