// Checks the organs, contacts and instruments that a saved session describes before the session uses them. A block of
// bytes may come from elsewhere, and its checksum can be renewed after a change: so every index, count and enumeration
// must fit, every number must be finite and within limits that no session reaches, and what follows from the cuts
// (mass, stiffness, embedding, boundary) must follow from them. Each check throws InputError naming the organ or
// instrument and what is wrong. Units: metres, seconds, newtons.   Tested in tests/sim/session/saved_session_test.cpp
// and tests/python/altered_block_test.py
#pragma once

#include <string>
#include <vector>

#include "deform/contact/organ_contact.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/organ.hpp"

namespace trocar {

// Limits of a restored state.
constexpr float kFarthestNode = 10.f;      // m    along an axis, of a node from its position at rest
constexpr float kFastestNode = 1000.f;     // m/s  along an axis
constexpr double kLongestTime = 1e9;       // s
constexpr double kLargestQuantity = 1e12;  // any unit: pressures, forces, doses

// Throws InputError with a sentence about `what` of `whose`.
void require_saved(bool fits, const std::string& whose, const char* what);
// False for a NaN.
inline bool lies_within(double value, double low, double high) { return value >= low && value <= high; }
bool lies_within(const glm::dvec3& value, double most);  // each coordinate between -most and most

// What an organ was before the first cut.
struct IntactOrgan {
  TriangleMesh mesh;
  TissueModel tissue;
};

void check_saved(const Organ& organ, const IntactOrgan& intact);

// The sizes of the arrays in the contacts between organs that a cut does not change.
struct ContactSizes {
  std::vector<std::size_t> field, rim;  // [organ]
  ContactSizes() = default;
  explicit ContactSizes(const OrganContacts& contacts);
  bool operator==(const ContactSizes&) const = default;
};
void check_saved(const OrganContacts& contacts, const ContactSizes& before, const std::vector<Organ>& organs);

void check_saved(const Instrument& instrument, const std::vector<Organ>& organs);
void check_saved(const SessionScope& scope);

}  // namespace trocar
