// Holds the tissue of a session: the organs, the contacts of instruments and organs with them, the tissue that jaws
// hold, cuts, and the step in time. Only here do touched faces become forces.
// Units: metres, seconds, newtons.   Tested in tests/sim/session/session_tissue_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/contact/grasp.hpp"
#include "deform/step.hpp"
#include "sim/session/cutting.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/saved_session.hpp"
#include "sim/session/session_bleeding.hpp"
#include "sim/session/session_joins.hpp"
#include "sim/session/session_rigid.hpp"
#include "sim/session/tick_clock.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {

// Decides when the tip of an instrument moves through an organ without contact, until it has left the organ:
// - The wire of a hook cuts tissue like a cheese wire when the force of a frame exceeds what the tissue bears. The
// tissue
//   closes behind it: nothing is removed.
// - Blades have cut the organ, and the cut goes through where they are. Closing again ends this.
// - A part has pierced the skin and stays in it: contacts would hold the organ on the part.
// Units: newtons, seconds.   Tested in tests/sim/session/session_tissue_test.cpp

// A part that pierces the skin for this long stays in it.
constexpr double kPiercedFor = 0.25;  // s

class TipSlip {
 public:
  TipSlip() = default;
  TipSlip(std::size_t tools, std::size_t organs) : organs_(organs), state_(tools * organs), force_(tools * organs) {}

  // Starts a frame.
  void begin() { force_.assign(force_.size(), glm::vec3(0.f)); }
  // Adds the force of an organ on the tip in a contact substep, as its share of the frame.
  void add(std::size_t tool, std::size_t organ, const glm::vec3& force) { force_[tool * organs_ + organ] += force; }
  void let_slip(std::size_t tool, std::size_t organ) { state_[tool * organs_ + organ] = kSlips; }

  // How the tip and an organ met in a frame of dt seconds.
  struct Meeting {
    bool touches = false;     // ends a slip when false
    bool pierced = false;     // a face of the organ crosses a part of the tip
    double bears = INFINITY;  // N, mean force of a frame that the tissue bears
    double dt = 1.0 / 60.0;   // s
  };
  // Call at the end of a frame.
  void end_frame(std::size_t tool, std::size_t organ, const Meeting& met) {
    std::uint8_t& state = state_[tool * organs_ + organ];
    const double patience = std::clamp(std::ceil(kPiercedFor / met.dt), 1.0, double{kSlips});
    if (!met.touches) {
      state = 0;
    } else if (state == kSlips || static_cast<double>(glm::length(force_[tool * organs_ + organ])) > met.bears) {
      state = kSlips;
    } else {
      state = met.pierced ? static_cast<std::uint8_t>(state + 1) : std::uint8_t{0};
      if (state >= patience) state = kSlips;
    }
  }
  // Returns whether the tip moves through the organ without contact.
  bool slips(std::size_t tool, std::size_t organ) const { return state_[tool * organs_ + organ] == kSlips; }

  // The state that passes from frame to frame. [tool * organs + organ]
  std::vector<std::uint8_t>& state() { return state_; }
  const std::vector<std::uint8_t>& state() const { return state_; }

 private:
  static constexpr std::uint8_t kSlips = 255;

  std::size_t organs_ = 0;
  std::vector<std::uint8_t> state_;  // kSlips, or number of frames in which the tip has pierced the skin
  std::vector<glm::vec3> force_;     // N, mean of the frame so far
};

class TissueWorld {
 public:
  // Throws InputError for an unreadable file, an invalid tissue, or a backend that is not available.
  TissueWorld(const Scene& scene, BackendMaker& backends, const std::string& backend);

  std::vector<Organ>& organs() { return organs_; }
  const std::vector<Organ>& organs() const { return organs_; }
  const SessionBonds& bonds() const { return bonds_; }
  const SessionClips& clips() const { return clips_; }
  const SessionBleeding& bleeding() const { return bleeding_; }
  const SessionFilm& film() const { return film_; }
  const SessionRigid& rigid() const { return rigid_; }
  const OrganContacts& organ_contacts() const { return organ_contacts_; }  // of the last frame
  // Returns the nodes at the time of the last frame's touch query. [organ][node]
  std::span<const glm::vec3> queried_nodes(std::size_t organ) const { return queried_nodes_[organ]; }
  std::span<const SurfaceDent> queried_dents(std::size_t organ) const { return queried_dents_[organ]; }
  FibreEnds queried_ends(std::size_t fibre) const { return bonds_.ends(fibre, queried_nodes_); }

  // Measures positions and speeds; then reach_of() gives the box in which an organ may meet another within `dt`
  // seconds.
  void measure();
  broad::Box reach_of(std::size_t organ, double dt) const;

  // Runs the part of a frame after the touch query: cuts, contacts, the tissue step, the forces on the instruments, the
  // surfaces. `near`: pairs of organs whose boxes overlap. Afterwards Organ::change says which organs have new faces.
  // Calls no device and no touch query.
  void step(Instruments& instruments, std::span<const OrganPair> near, double dt, StageMs& stage_ms);
  // Tells the touch queries which faces have changed in the step.
  void tell_queries();

  // The state that the next frame depends on. read() takes it over, check_read() throws InputError where it is not one
  // that this world can have, and follow_read() recomputes what follows from it, the queries too.
  void save(ByteWriter& out) const;
  void read(ByteReader& in);
  void check_read(std::size_t tools) const;
  void follow_read();
  void follow_read(Instruments& instruments) const { rigid_.keep_open(instruments); }

 private:
  void begin(const Instruments& instruments);
  void share_dents(const Instruments& all);
  void cut_tissue(Instruments& all, double dt);
  bool bites(const Instruments& all, std::size_t tool) const;
  void burn_with(Instruments& all, std::size_t tool, double dt);
  void take_over(std::size_t organ, const SculptChange& change, DamageMark how);
  void burn_sheet_with(std::size_t organ, Instrument& instrument, double dt);
  void tear_overstretched();
  void crush_or_spread(const Instruments& all, std::size_t tool);
  void take_over_sheet(std::size_t organ);
  void find_candidates();
  void grip_with(Instrument& instrument, std::size_t tool, const Jaws& jaws, const InstrumentMotion& motion);
  void move_jaws_of(const Instruments& instruments, Instrument& instrument, std::size_t tool);
  void mark_crushed(const Grasp& grasp, Organ& organ);
  void meet_organs(std::span<const OrganPair> near, double dt);
  void step_pieces(Instruments& all, std::span<const OrganPair> near, double dt, StageMs& stage_ms);
  void step_piece(Instruments& all, int number, int pieces, float dt, StageMs& stage_ms);
  void add_pull(Instruments& all, std::size_t tool, float share);
  void list_held(const Instruments& all, std::size_t tool, int number, int pieces,
                 std::vector<std::uint32_t>& list) const;
  // Faces that a thread looks at together: `first` .. `last` - 1 of a list of the organ's contacts.
  struct ContactSearch {
    std::size_t organ, part, first, last;
  };
  // Does this part of a tool meet the organ in contacts? One that has slipped off does not.
  bool meets_resistance(std::size_t part, std::size_t organ) const;
  void press_organs(const Instruments& all, int number, int pieces, float dt);
  // Calls meet(tool, search, organ) on all threads for the faces that ContactList::*first_of lists by tool.
  template <class Meet>
  void share_faces(std::vector<std::uint32_t> ContactList::*first_of, Meet meet);
  // Of one organ: chooses the faces that get contacts, then lists contacts and holds.
  void choose_pressed(const Instruments& all, std::size_t organ, int number, int pieces);
  void list_pressed(std::size_t organ, int number, int pieces);
  void settle_jaws(Instruments& all, double dt);
  void settle_clips(Instruments& all);
  void settle_slips(const Instruments& all, double dt);
  void follow_surfaces(const Instruments& all, double dt);

  std::vector<Organ> organs_;
  std::vector<glm::vec3> fall_;                          // [organ] m/s^2  of loose parts
  std::vector<char> clings_;                             // [organ] 1: fat or a membrane on others (only_joined)
  std::vector<float> melt_;                              // [organ] m
  std::vector<float> tears_at_;                          // [organ] 1, 0: never
  std::vector<float> out_of_sight_;                      // [organ] m
  bool cuttable_ = false;                                // instruments may cut
  std::vector<IntactOrgan> intact_;                      // [organ] at the start
  std::vector<std::vector<glm::vec3>> queried_nodes_;    // [organ][node] m
  std::vector<std::vector<SurfaceDent>> queried_dents_;  // [organ][part, then tool]
  OrganStepper stepper_;
  OrganContacts organ_contacts_;
  ContactSizes contact_sizes_;
  SessionBonds bonds_;
  SessionClips clips_;
  SessionBleeding bleeding_;
  SessionFilm film_;
  SessionRigid rigid_;
  TipSlip slips_;
  // Each frame fills these buffers before it reads them, so nothing passes from one frame to the next.
  std::vector<OrganBody> bodies_;                           // [organ]
  std::vector<std::span<const GraspedPoint>> held_points_;  // [tool]
  DentedPlace dented_;
  std::vector<std::uint32_t> dent_of_;      // [part] of a rigid instrument: its first part
  std::vector<const TissueModel*> models_;  // [organ]
  std::vector<SteppedOrgan> stepped_;       // [organ]
  HotWire wire_;
  CoagulationBox coagulated_;
  const PartTable* parts_ = nullptr;      // of the instruments
  std::span<const ToolStep> part_steps_;  // [part] of the frame, of the instruments
  std::vector<ToolStep> part_pieces_;     // [part] of the contact substep
  std::vector<PressingTool> pressing_;    // [part] the same, prepared
  std::vector<ContactSearch> searches_;
  std::vector<glm::vec3> pull_;                               // [tool] N, mean of the holds so far in the frame
  std::vector<float> apart_;                                  // [tool] N, mean force that pushes a jaw open, so far
  std::vector<std::vector<TissueHold>> holds_, piece_holds_;  // [organ]
  std::vector<std::size_t> first_hold_;                       // [tool] in the holds of the organ it grasps
  std::vector<std::uint32_t> cells_, held_;
  std::vector<std::vector<std::uint32_t>> held_between_;  // [organ] vertices between jaws
  std::vector<Touch> touched_now_;
};

}  // namespace trocar
