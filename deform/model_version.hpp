// Defines the version of the tissue model, which recordings store. Replay recomputes what depends on the model only for
// recordings of the same version. Tested in tests/same_bits (golden hashes) and tests/app/recordings_test.cpp
#pragma once

namespace trocar {

// Raise it with every change of the bits of tissue, contacts, cuts, or of the shapes of the instruments' tips.
// Recordings without a version count as version 1.
inline constexpr int kModelVersion = 18;

}  // namespace trocar
