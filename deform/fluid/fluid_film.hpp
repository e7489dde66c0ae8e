// Moves blood, bile and water over the surface of an organ: a film that runs down, fills hollows, leaves a stain, and
// drips off where the surface faces down. Every vertex holds a volume; it passes some of it to neighbours whose fluid
// stands lower. Each transfer subtracts and adds the same number, so no fluid is lost. A step looks at a limited number
// of wet vertices. Same calls, same bits. The thicknesses and the speed are assumptions, chosen for the picture.
// Units: metres, m^3, seconds.   Tested in tests/deform/fluid_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

struct FacesAround;

enum class FilmFluid : std::uint8_t { Blood, Bile, Water };
using FilmVolume = std::array<double, 3>;  // [FilmFluid] m^3

inline double total(const FilmVolume& volume) { return volume[0] + volume[1] + volume[2]; }
inline void add(const FilmVolume& volume, FilmVolume& to) {
  for (std::size_t k = 0; k < volume.size(); ++k) to[k] += volume[k];
}

// Where the fluids of a session are.
struct FluidAmounts {
  FilmVolume on{}, dripped{}, removed{};  // m^3, on the surfaces now; dripped off and sucked away so far
  double rinsed = 0.0;                    // m^3, water that instruments gave so far

  bool operator==(const FluidAmounts&) const = default;
};

// A neighbour of a vertex whose fluid stands lower.
struct LowerVertex {
  std::uint32_t vertex = 0;
  double slope = 0.0, away = 0.0, drop = 0.0;  // 1, m, m
};

// Keep the object between steps. `wet` and `volume` pass from step to step; the areas follow from the rest shape.
struct FluidFilm {
  std::vector<FilmVolume> volume;  // [vertex]
  std::vector<std::uint32_t> wet;  // vertices with fluid, in the order in which they became wet
  std::vector<char> is_wet;        // [vertex]
  std::vector<float> area;         // [vertex] m^2, of its share of the surface; 0: not yet known
  std::uint32_t next = 0;          // the next step begins with this entry of `wet`
  std::vector<LowerVertex> lower;  // scratch buffer

  bool empty() const { return wet.empty(); }
};

// The organ's surface. `rest`: for the areas. `down`: unit, of gravity.
struct FilmSurface {
  std::span<const glm::vec3> positions, rest;  // [vertex] m
  std::span<const glm::uvec3> faces;
  const FacesAround& around;
  glm::vec3 down{0.f, 0.f, -1.f};
};

// Call after a change of the surface, and before the first step. `unused`: [vertex] 1: no face uses it; empty: all are
// used. Returns the fluid of these vertices, which the film loses. Allocates.
FilmVolume follow_surface(FluidFilm& film, std::size_t vertices, std::span<const char> unused);
// Adds fluid at a vertex. Allocates when the vertex becomes wet for the first time.
void pour(FluidFilm& film, std::uint32_t vertex, FilmFluid fluid, double volume);
// Lets the fluid run for `dt` seconds. Returns what drips off.
FilmVolume run_down(FluidFilm& film, const FilmSurface& surface, double dt);
// Takes up to `most` (m^3) of the fluid within `reach` (m) of a point, the same share from each vertex. Returns it.
FilmVolume take(FluidFilm& film, std::span<const glm::vec3> positions, const glm::vec3& from, float reach, double most);

// Returns the fluid on the surface.
FilmVolume volume_of(const FluidFilm& film);
// Updates the look of wet vertices, [vertex] blood and bile, 0 none .. 1 opaque. Returns the area that blood covers,
// m^2.
double show_film(const FluidFilm& film, std::span<glm::vec2> look);
// Returns the thickness of a fluid at a vertex, m; 0 where the film has not been.
float thickness(const FluidFilm& film, std::uint32_t vertex, FilmFluid fluid);

// Where fluid lands that drips off a surface, or spurts from it: the nearest surface below, or in front.

// The blood of an artery leaves its end as a jet, away from the surface. This share of it flies, if something within
// reach is in its way; the rest wets the end. Both are assumptions.
constexpr double kSpurtShare = 0.6;   // 1
constexpr float kSpurtReach = 0.04f;  // m
// Returns the direction of a jet, unit: that of the faces around a vertex; 0 without faces.
glm::vec3 spurt_direction(const FilmSurface& surface, std::uint32_t vertex);

// Returns the lowest of the vertices with the thickest film, from which drops fall. `film`: not empty.
std::uint32_t drip_vertex(const FluidFilm& film, std::span<const glm::vec3> positions, const glm::vec3& down);

// A jet of blood, for the picture.
struct Spurt {
  glm::vec3 from{0.f}, towards{0.f};  // m; unit
  float length = kSpurtReach;         // m, to where it lands
  float flow = 1.f;                   // 1, now, relative to the mean
};

// A vertex on which a drop lands.
struct DropLanding {
  std::size_t surface = 0;
  std::uint32_t vertex = 0;
  float height = 0.f;  // m, of the fall
  bool found = false;
};
// Looks for a better landing on another surface: a vertex in use that is nearer below `from`, at least `clearance` (m)
// below it. `unused`: [vertex] 1: no face uses it; empty: all are used.
void find_landing(const glm::vec3& from, const glm::vec3& down, float clearance, std::size_t surface,
                  std::span<const glm::vec3> positions, std::span<const char> unused, DropLanding& best);

}  // namespace trocar
