// Keeps what is drawn of the last ticks of a session, and gives the picture at a time between two of them: pictures
// come at another rate than ticks, and the session may run on while its picture is drawn. Surfaces, instruments,
// strands, clips and scope move evenly from tick to tick; what has no middle, such as faces, is that of the later tick.
// Units: metres, degrees, seconds; times on the scale of the ticks' numbers.   Tested in tests/app/view_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app/view/drawn.hpp"
#include "deform/join/bonds.hpp"
#include "sim/scene/scope.hpp"
#include "sim/session/session.hpp"

namespace trocar {

// A view's input at one moment. The spans are valid until the next call of DrawnTicks::at(), and through two of keep(),
// which another thread may make.
struct DrawnMoment {
  std::span<const DrawnOrgan> organs;
  std::span<const DrawnTool> tools;
  const DrawnBonds* bonds = nullptr;
  ScopePose scope;
  Lens lens;
  double time = 0.0;  // s  of the session
};

class DrawnTicks {
 public:
  bool empty() const { return kept_ == 0; }
  // Copies what is drawn of the session after tick `number`, which is later than the one before. `time`: s, of the
  // tick.
  void keep(const Session& session, std::uint64_t number, double time);
  // Returns the picture at `when`, between the last two ticks that were kept: at the first of them if it is earlier, at
  // the second if it is later. Not empty.
  DrawnMoment at(double when);

 private:
  struct Surface {
    glm::vec3 colour{1.f};
    TissueLook look = TissueLook::Serosa;
    float opacity = 1.f;
    std::uint32_t topology = 0;
    std::vector<glm::vec3> rest, positions;  // [vertex] m
    std::vector<glm::uvec3> faces;
    std::vector<float> charred;  // [vertex]
    std::vector<glm::vec2> wet;  // [vertex]
    std::vector<Touch> touches;
    std::vector<std::uint32_t> touch_first, tip_first;  // [tool + 1]
    std::vector<FaceId> tip_faces;
  };
  struct Tick {
    std::uint64_t number = 0;
    double time = 0.0;  // s
    std::vector<Surface> organs;
    std::vector<DrawnTool> tools;
    std::vector<FibreEnds> ends;      // [fibre] m; only those of intact fibres count
    std::vector<std::uint8_t> whole;  // [fibre] 1: intact
    std::vector<float> reference;     // [fibre] m
    std::vector<PlacedClip> clips;    // that hold
    double blood_area = 0.0;          // m^2
    std::vector<DrawnStrand> jets;
    DrawnPool pool;
    ScopePose scope;
    Lens lens;
  };
  static void keep(const Session& session, std::size_t organ, Surface& kept);
  void mix_organs(const Tick& from, const Tick& to, float share);
  void mix_tools(const Tick& from, const Tick& to, double share);
  void mix_bonds(const Tick& from, const Tick& to, float share);

  std::array<Tick, 4> ticks_;  // a ring: two that are shown, two that come
  std::size_t newest_ = 0, kept_ = 0;
  std::vector<std::vector<glm::vec3>> positions_;  // [organ][vertex] m, of the picture
  std::vector<DrawnOrgan> organs_;
  std::vector<DrawnTool> tools_;
  DrawnBonds bonds_;
};

}  // namespace trocar
