// Holds the parameters of hooks, scissors and suction; those of jaws are in deform/grasp.hpp, those of clips in
// deform/clip.hpp. A scene sets them for each instrument.   Units: metres.   Tested in
// tests/sim/session_tissue_test.cpp
#pragma once

namespace trocar {

// Length of the jaws of a clip applier.
inline constexpr double kApplierJaws = 5.6;  // radii of its shaft

// Diathermy acts around the bare wire of a hook and its foot (sim/session/cutting.hpp).
struct HookParams {
  double length = 0.0075;  // m  bare wire along the shaft, from its end; at most up to the ceramic collar, >= 0
  double reach = 0.001;    // m  cut: tissue within this distance of the metal is removed, >= 0
  double spark = 0.0002;   // m  metal acts on tissue that is this near: sparks bridge the gap, >= 0
  // Coagulation: see deform/sear.hpp.
  double spread = 7.5e-4;   // m/sqrt(s)  depth of the coagulated zone after one second of contact, > 0
  double deepest = 0.003;   // m          limit of that depth, >= 0
  double char_dose = 8.0;   // 1          multiple of the coagulating dose at which tissue is black, > 1
  double tears_from = 2.0;  // N  mean force of a frame above which the wire tears out of tissue, > 0
};

// Blades cut along their surface each time they close: a slit where they sweep through tissue. They cut as soon as both
// have tissue between them and have closed to `bite`, since they would push it away instead of holding it.
struct BladeParams {
  double length = 0.014;  // m  of the cutting part, from the tips towards the hinge, >= 0
  double reach = 0.0015;  // m  the slit goes this far beyond tips and edges, because tissue yields to them, >= 0
  double bite = 0.7;   // 1  aperture, relative to the widest since the last cut, below which they cut what both touch
  double meet = 0.15;  // 1  aperture (0 closed .. 1 open) below which they have cut
  double open = 0.35;  // 1  aperture above which they can cut again, > meet
};

// A tube that sucks fluid away at its tip, or rinses with water. The rates are assumptions.
struct SuctionParams {
  double suck_ml_min = 600.0;   // ml/min  of the fluid on the tissue, >= 0
  double rinse_ml_min = 300.0;  // ml/min  of water, >= 0
  double reach = 0.006;         // m       it sucks fluid within this distance of its tip, >= 0
};
// What the pedal of such an instrument does: where a hook cuts it sucks, where a hook coagulates it rinses.
enum class Pump { Off, Suck, Rinse };

}  // namespace trocar
