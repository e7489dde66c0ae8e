// Holds the parameters of hooks and scissors; those of jaws are in deform/grasp.hpp. A scene sets them for each
// instrument.   Units: metres.   Tested in tests/sim/session_tissue_test.cpp
#pragma once

namespace trocar {

// The wire of a hook and its foot are hot; the collar and the shaft are insulated.
struct HookParams {
  double length = 0.004;  // m  of the hot wire, from the end of the instrument, >= 0
  double reach = 0.002;   // m  tissue up to this distance from the metal burns, >= 0
};

// Blades cut along their surface each time they close: a slit where they sweep through tissue.
struct BladeParams {
  double length = 0.014;  // m  of the cutting part, from the tips towards the hinge, >= 0
  double reach = 0.0015;  // m  the slit goes this far beyond tips and edges, because tissue yields to them, >= 0
  double meet = 0.15;     // 1  aperture (0 closed .. 1 open) below which they have cut
  double open = 0.35;     // 1  aperture above which they can cut again, > meet
};

}  // namespace trocar
