// Soft tissue: a lattice of springs and volumes that fills a closed mesh, and the contacts of tools with it. Target
// Trocar::tissue.   Guide: docs/library.md.   Units: metres, kilograms, seconds, newtons.
#pragma once

#include "deform/contact/contact.hpp"
#include "deform/solid/tissue.hpp"
#include "deform/step.hpp"
#include "geometry/error.hpp"
