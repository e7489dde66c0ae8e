// Holds the connective tissue of a session: the layers and bands of its scene, what instruments have cut of them, and
// what has torn.
// Units: metres, newtons.   Tested in tests/sim/session_bonds_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "deform/join/bonds.hpp"
#include "sim/session/diathermy.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/session_clips.hpp"

namespace trocar {

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
  void begin() { bonds_.broken.clear(), bonds_.broken_how.clear(); }
  void burn(std::span<const HotSegment> metal);
  void snip(const BladeCut& cut);
  // Call after a change of tissue: fibres lose their ends, and the bonds' substeps depend on its mass.
  void follow_change();
  // Call when `intact` and the organs are those of a saved session.
  void follow_restored();
  // Takes over the struts of clips.
  void take_struts(SessionClips& clips, const std::vector<Organ>& organs);
  // Ends a frame: parts that fibres have held, and nothing holds now, begin to fall.
  void settle();

 private:
  Bonds bonds_;
  std::vector<std::uint32_t> groups_;       // [fibre]
  std::vector<std::string> names_;          // [group]
  bool parted_ = false;                     // tissue may have parted in this frame
  std::vector<HangingOrgan> hanging_;       // [organ]
  std::vector<const TissueModel*> models_;  // [organ]
  std::vector<SteppedTissue*> states_;      // [organ]
};

}  // namespace trocar
