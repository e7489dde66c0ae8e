// Closes clips on thin tissue, such as a duct or an artery. Struts pull opposite points of the surface together, which
// jaws have pressed onto each other; each pulls like a spring of length 0, and all struts of a clip share its
// stiffness. A clip that its tissue forces open with more than `holds` comes off. Units: metres, newtons.   Tested in
// tests/deform/contact_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/contact/grasp.hpp"
#include "deform/join/bonds.hpp"

namespace trocar {

// Of a clip applier. Legs of medium titanium clips are 8 to 9 mm long; the other values are assumptions.
struct ClipParams {
  double length = 0.0085;    // m    of the legs, from the tips of the jaws; at most the length of the jaws, > 0
  double closes = 0.12;      // 1    aperture (0 closed .. 1 open) below which a clip has closed
  double loads = 0.7;        // 1    aperture above which the next clip slides between the jaws, > closes
  int magazine = 20;         // 1    clips, >= 0
  float squeeze = 60.f;      // N    largest force of the handle on the jaws, >= 0
  float stiffness = 3000.f;  // N/m  of all struts of a clip, > 0
  float holds = 8.f;         // N    a larger tension of the struts forces the clip open, > 0
};

constexpr std::size_t kMostStruts = 16;

// A strut between two vertices of the surface. `at`: m, where it lies between the legs, from their middle: x across the
// jaws, y along the legs away from the hinge.
struct ClipStrut {
  std::uint32_t a = 0, b = 0;
  glm::vec2 at{0.f};
};

struct Clip {
  std::uint32_t organ = 0;
  std::uint32_t count = 0;  // struts, >= 1
  std::array<ClipStrut, kMostStruts> struts{};
};

// Returns the struts of a clip that closes on the tissue that jaws hold: each joins a point on one jaw with the nearest
// one on the other. At most kMostStruts, evenly along the legs; none when the jaws do not hold tissue from both sides.
// `reach`: m, from the tips of the jaws; points further back lie outside the clip.
Clip clip_on(const Grasp& grasp, const Jaws& jaws, double reach);

// Appends the clip's struts to those of the bonds (Bonds::struts), and returns their stiffness, N/m, all together.
// Where nodes are light they are less stiff than `stiffness` (N/m, all together), so that the organ's substeps become
// at most a third shorter.
float add_struts(const Clip& clip, const TissueModel& model, float stiffness, Bonds& bonds);

// Removes the struts of which an end has lost its faces. `unused`: [vertex] 1: no face uses it.
void follow_change(std::span<const char> unused, Clip& clip);

// Returns the tension of all struts together, N. `positions`: [vertex] m.
float tension_of(const Clip& clip, std::span<const glm::vec3> positions, float stiffness);

// The pose of a clip: its middle, the direction of its legs away from the hinge, and the direction between the legs.
struct ClipPose {
  glm::vec3 centre{0.f};             // m, the middle of the legs
  glm::vec3 legs{0.f}, across{0.f};  // unit, orthogonal
  float gap = 0.f;                   // m   mean length of the struts
};
ClipPose pose_of(const Clip& clip, std::span<const glm::vec3> positions);

// In place of an organ: a clip that closed on nothing fell down.
constexpr std::uint32_t kNoOrgan = 0xffffffffu;
// A session closes at most this many clips; later ones fall down. Limits what a reader of a recording must allocate.
constexpr std::size_t kMostClips = 4096;
// A clip closes a duct or vessel when at least this share of its circumference lies between the legs.
constexpr float kClosesTube = 0.9f;  // 1

struct PlacedClip {
  Clip clip;                           // without struts: it does not hold
  std::uint32_t tool = 0;              // its applier
  float length = 0.f;                  // m, of its legs
  float stiffness = 0.f, holds = 0.f;  // N/m, N; ClipParams
  float used = 0.f;                    // N/m, stiffness of its struts (add_struts)
  float along = 0.f;                   // m   position along the duct or vessel, from the start of its line
  float closed = 0.f;  // 1   share of the circumference between its legs; 0 on an organ that is not a tube

  bool on() const { return clip.count > 0; }
};

// The state of a duct or vessel.
struct TubeState {
  bool divided = false;  // no tissue joins its ends
  // Clips that close it: on the part with the start of its line, and on the part with its end. Undivided: the same.
  std::uint32_t clips_at_start = 0, clips_at_end = 0;
  float at = 0.f;  // m   where it was first divided, from the start of its line; accurate to half a lattice cell

  bool operator==(const TubeState&) const = default;
};

}  // namespace trocar
