// Thins the contacts of a part in a contact substep. Faces that share their closest point give the same contact several
// times. In a cut or a crater hundreds of points lie within a millimetre, all on the same few nodes of the lattice.
// Units: metres.   Tested in tests/deform/contact_thinning_test.cpp
#pragma once

#include "deform/contact/contact.hpp"

namespace trocar {

// A contact is removed when one with a smaller gap is within this distance and has nearly the same normal.
constexpr float kSameContact = 1e-6f;       // m
constexpr float kSameContactNormal = 0.9f;  // cosine
// If more than kManyContacts remain, they are thinned again with this distance.
constexpr std::size_t kManyContacts = 150;
constexpr float kContactSpacing = 5e-4f;  // m

// Thins the contacts from index `first` on, which are those of one tool. The remaining ones keep their order.
void thin_contacts(std::size_t first, std::span<const glm::vec3> positions, ContactList& list);

}  // namespace trocar
