// What holds tissue together in a session: clips and connective tissue.
// Clips: those that appliers have closed, and which of them still hold. It also says, for every
// duct and vessel, whether it is divided and which clips close its ends.
// Units: metres, newtons.   Tested in tests/sim/session/session_clips_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/join/bonds.hpp"
#include "deform/join/clip.hpp"
#include "sim/session/cutting.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/organ.hpp"

namespace trocar {

class SessionClips {
 public:
  SessionClips() = default;
  SessionClips(const Scene& scene, const std::vector<Organ>& organs);

  // Starts a frame.
  void begin();
  // Closes a clip on the tissue that the applier's jaws hold. Allocates.
  void close(const Instrument& instrument, std::size_t tool, const Jaws& jaws, const std::vector<Organ>& organs);
  // Call after a change of tissue.
  void follow_change(const std::vector<Organ>& organs);
  // Ends a frame: clips that tissue forces open come off. Returns whether the struts of the clips have changed.
  bool end_frame(const std::vector<Organ>& organs);
  // Overwrites the struts of the bonds.
  void list_struts(const std::vector<Organ>& organs, Bonds& bonds);

  std::span<const PlacedClip> clips() const { return clips_; }  // in the order of closing
  std::span<const TubeState> tubes() const { return tubes_; }   // [organ]
  // [organ] m, line through a duct or vessel; empty for other organs
  const std::vector<std::vector<glm::dvec3>>& lines() const { return lines_; }
  bool is_tube(std::size_t organ) const { return !lines_[organ].empty(); }
  // Returns the vertex at the tip of a stump: the farthest from the end of the line that its part contains.
  // `of_start`: of the part with the start of the line.
  std::uint32_t stump_vertex(std::uint32_t organ, const Organ& tube, bool of_start) const;
  // Of the last frame: number of clips before it; clips that came off; organs whose TubeState changed.
  std::size_t clips_before() const { return before_; }
  std::span<const std::uint32_t> lost() const { return lost_; }
  std::span<const std::uint32_t> changed_tubes() const { return changed_tubes_; }

  // The state that passes from frame to frame.
  std::vector<PlacedClip>& clip_state() { return clips_; }
  std::vector<TubeState>& tube_state() { return tubes_; }
  // Call when these are those of a saved session: throws InputError where they do not fit the organs.
  void check_read(const std::vector<Organ>& organs, std::size_t tools) const;

 private:
  void place_on_tube(const Organ& organ, const Grasp& grasp, PlacedClip& placed) const;
  void look_at_tubes(const std::vector<Organ>& organs);
  TubeState state_of(std::uint32_t organ, const Organ& tube) const;

  std::vector<PlacedClip> clips_;
  std::vector<std::vector<glm::dvec3>> lines_;  // [organ] centre line of a duct or vessel, otherwise empty
  std::vector<double> spacing_;                 // [organ] m, between the rings of its surface at first
  std::vector<TubeState> tubes_;                // [organ]
  std::vector<std::uint32_t> lost_, changed_tubes_;
  std::size_t before_ = 0;
  bool changed_ = false;  // clips or tissue changed in this frame
};

// Holds the connective tissue of a session: the layers and bands of its scene, what instruments have cut of them, and
// what has torn.
// Units: metres, newtons.   Tested in tests/sim/session/session_bonds_test.cpp
struct BladeCut;

class SessionBonds {
 public:
  SessionBonds() = default;
  // Makes the bonds of the scene. The organs must outlive the object. `contacts`: of these organs. Throws InputError
  // naming the layer or band that joins nothing.
  SessionBonds(const Scene& scene, std::vector<Organ>& organs, const OrganContacts& contacts);

  // `intact` passes from frame to frame, `broken` is that of the last frame.
  Bonds& bonds() { return bonds_; }
  const Bonds& bonds() const { return bonds_; }
  // Returns the number of the layer or band of each fibre: first the scene's layers, then its bands. [fibre]
  std::span<const std::uint32_t> groups() const { return groups_; }
  // [group] names of the layers, then of the bands
  const std::vector<std::string>& names() const { return names_; }
  FibreEnds ends(std::size_t fibre) const { return ends_of(bonds_.fibres[fibre], models_, states_); }

  // Returns the ends when the nodes are elsewhere. `nodes`: [organ][node] m
  FibreEnds ends(std::size_t fibre, std::span<const std::vector<glm::vec3>> nodes) const {
    return ends_of(bonds_.fibres[fibre], models_, nodes);
  }

  // Starts a frame.
  void begin() { bonds_.broken.clear(), bonds_.broken_how.clear(), broken_before_ = 0; }
  void burn(std::span<const HotSegment> metal);
  void snip(const BladeCut& cut);
  // Call after a change of tissue: fibres lose their ends.
  void follow_change();
  // Call when instruments have cut, before the step, whose substeps depend on the masses that are left: clips follow
  // the change, and their struts are taken over.
  void end_cuts(SessionClips& clips, const std::vector<Organ>& organs);
  // Call when `intact` and the organs are those of a saved session.
  void follow_restored();
  // Takes over the struts of clips.
  void take_struts(SessionClips& clips, const std::vector<Organ>& organs);
  // Ends a frame: parts that fibres have held, and nothing holds now, begin to fall.
  void end_frame();

 private:
  Bonds bonds_;
  std::vector<std::uint32_t> groups_;       // [fibre]
  std::vector<std::string> names_;          // [group]
  bool parted_ = false;                     // tissue may have parted in this frame
  std::size_t broken_before_ = 0;           // fibres that broke in this frame before its step
  std::vector<HangingOrgan> hanging_;       // [organ]
  std::vector<const TissueModel*> models_;  // [organ]
  std::vector<SteppedTissue*> states_;      // [organ]
};

}  // namespace trocar
