#include "deform/fluid/fluid_film.hpp"

#include <algorithm>
#include <cmath>

#include "deform/contact/contact.hpp"

namespace trocar {
namespace {

// A film of this thickness sticks to the surface.
constexpr double kStain = 1e-4;  // m
// A film that hangs from a surface is at most this thick.
constexpr double kHanging = 6e-4;  // m
// Fluid beyond that drips off with this time constant.
constexpr double kDropTime = 0.2;  // s
// Steepness of the normal against gravity from which a surface counts as facing down.
constexpr float kFacesDown = 0.3f;
// Fluid runs down a vertical surface at this speed.
constexpr double kSpeed = 0.06;  // m/s
// A vertex gives a neighbour at most this share of the volume that would level both.
constexpr double kLevelling = 0.25;
constexpr double kSmallestArea = 1e-8;  // m^2
// A step looks at most at this number of wet vertices.
constexpr std::size_t kMostInStep = 2048;

double area_of(FluidFilm& film, const FilmSurface& surface, std::uint32_t vertex) {
  float& area = film.area[vertex];
  if (area > 0.f) return static_cast<double>(area);
  for (std::uint32_t k = surface.around.first[vertex]; k < surface.around.first[vertex + 1]; ++k) {
    const glm::uvec3& face = surface.faces[index(surface.around.face[k])];
    const glm::vec3 &a = surface.rest[face.x], &b = surface.rest[face.y], &c = surface.rest[face.z];
    area += glm::length(glm::cross(b - a, c - a)) / 6.f;
  }
  area = std::max(area, static_cast<float>(kSmallestArea));
  return static_cast<double>(area);
}

// Moves this volume of the mixture at a vertex.
FilmVolume remove(FluidFilm& film, std::uint32_t vertex, double volume) {
  FilmVolume& from = film.volume[vertex];
  const double share = std::min(volume / total(from), 1.0);
  FilmVolume moved{};
  for (std::size_t k = 0; k < from.size(); ++k) {
    moved[k] = share * from[k];
    from[k] -= moved[k];
  }
  return moved;
}

void make_wet(FluidFilm& film, std::uint32_t vertex) {
  if (film.is_wet[vertex]) return;
  film.is_wet[vertex] = 1;
  film.wet.push_back(vertex);
}

class Runner {
 public:
  Runner(FluidFilm& film, const FilmSurface& surface, double dt) : film_(film), surface_(surface), dt_(dt) {}

  // Returns what drips off the vertex.
  FilmVolume run(std::uint32_t v) {
    const double area = area_of(film_, surface_, v), all = total(film_.volume[v]), excess = all - kStain * area;
    if (!(excess > 0.0)) return {};
    find_lower(v, level(v));
    if (slopes_ > 0.0) spread(v, area, excess);
    const bool hangs = glm::dot(normal_, surface_.down) > kFacesDown * glm::length(normal_);
    const double hanging = total(film_.volume[v]) - kHanging * area;
    return hangs && hanging > 0.0 ? remove(film_, v, std::min(dt_ / kDropTime, 1.0) * hanging) : FilmVolume{};
  }

 private:
  // Height of the fluid's surface, m.
  double level(std::uint32_t v) {
    return total(film_.volume[v]) / area_of(film_, surface_, v) -
           static_cast<double>(glm::dot(surface_.positions[v], surface_.down));
  }

  void find_lower(std::uint32_t v, double own) {
    film_.lower.clear();
    slopes_ = 0.0;
    normal_ = glm::vec3(0.f);
    for (std::uint32_t k = surface_.around.first[v]; k < surface_.around.first[v + 1]; ++k) {
      const glm::uvec3& face = surface_.faces[index(surface_.around.face[k])];
      const glm::vec3 &a = surface_.positions[face.x], &b = surface_.positions[face.y], &c = surface_.positions[face.z];
      normal_ += glm::cross(b - a, c - a);
      // The corner after v in each face: around a closed surface, every neighbour once.
      const std::uint32_t next = face.x == v ? face.y : face.y == v ? face.z : face.x;
      const double drop = own - level(next);
      const double away = static_cast<double>(glm::distance(surface_.positions[v], surface_.positions[next]));
      if (!(drop > 0.0 && away > 0.0)) continue;
      film_.lower.push_back({next, drop / away, away, drop});
      slopes_ += drop * drop / (away * away);
    }
  }

  void spread(std::uint32_t v, double area, double excess) {
    for (const LowerVertex& to : film_.lower) {
      const double share = to.slope * to.slope / slopes_,
                   runs = std::min(kSpeed * std::min(to.slope, 1.0) * dt_ / to.away, 1.0);
      const double levels = kLevelling * to.drop * std::min(area, area_of(film_, surface_, to.vertex));
      const double volume = std::min(share * runs * excess, levels);
      if (!(volume > 0.0)) continue;
      add(remove(film_, v, volume), film_.volume[to.vertex]);
      make_wet(film_, to.vertex);
    }
  }

  FluidFilm& film_;
  const FilmSurface& surface_;
  double dt_;
  double slopes_ = 0.0;  // sum of the squares: the steepest way down gets most, so that fluid runs in streaks
  glm::vec3 normal_{0.f};
};

}  // namespace

FilmVolume follow_surface(FluidFilm& film, std::size_t vertices, std::span<const char> unused) {
  film.volume.resize(vertices, FilmVolume{});
  film.area.assign(vertices, 0.f);
  FilmVolume lost{};
  for (const std::uint32_t v : film.wet)
    if (v < unused.size() && unused[v]) add(film.volume[v], lost), film.volume[v] = {};
  std::erase_if(film.wet, [&](std::uint32_t v) { return v < unused.size() && unused[v]; });
  film.is_wet.assign(vertices, 0);
  for (const std::uint32_t v : film.wet) film.is_wet[v] = 1;
  film.wet.reserve(vertices);
  film.lower.reserve(64);
  film.next = 0;
  return lost;
}

void pour(FluidFilm& film, std::uint32_t vertex, FilmFluid fluid, double volume) {
  if (!(volume > 0.0)) return;
  make_wet(film, vertex);
  film.volume[vertex][static_cast<std::size_t>(fluid)] += volume;
}

FilmVolume run_down(FluidFilm& film, const FilmSurface& surface, double dt) {
  FilmVolume dripped{};
  if (film.wet.empty() || !(dt > 0.0)) return dripped;
  Runner runner(film, surface, dt);
  const std::size_t count = std::min(film.wet.size(), kMostInStep);
  for (std::size_t k = 0; k < count; ++k) {
    if (film.next >= film.wet.size()) film.next = 0;
    add(runner.run(film.wet[film.next++]), dripped);
  }
  return dripped;
}

FilmVolume take(FluidFilm& film, std::span<const glm::vec3> positions, const glm::vec3& from, float reach,
                double most) {
  double near = 0.0;
  for (const std::uint32_t v : film.wet)
    if (glm::distance(positions[v], from) <= reach) near += total(film.volume[v]);
  FilmVolume taken{};
  if (!(near > 0.0)) return taken;
  const double share = std::min(most / near, 1.0);
  for (const std::uint32_t v : film.wet)
    if (glm::distance(positions[v], from) <= reach && total(film.volume[v]) > 0.0)
      add(remove(film, v, share * total(film.volume[v])), taken);
  return taken;
}

FilmVolume volume_of(const FluidFilm& film) {
  FilmVolume sum{};
  for (const std::uint32_t v : film.wet) add(film.volume[v], sum);
  return sum;
}

float thickness(const FluidFilm& film, std::uint32_t vertex, FilmFluid fluid) {
  if (vertex >= film.area.size() || !(film.area[vertex] > 0.f)) return 0.f;
  return static_cast<float>(film.volume[vertex][static_cast<std::size_t>(fluid)]) / film.area[vertex];
}

double show_film(const FluidFilm& film, std::span<glm::vec2> look) {
  constexpr float kOpaque = 1.8e-4f;  // m
  double area = 0.0;
  for (const std::uint32_t v : film.wet) {
    if (v >= look.size()) continue;
    look[v].x = std::min(thickness(film, v, FilmFluid::Blood) / kOpaque, 1.f);
    look[v].y = std::min(thickness(film, v, FilmFluid::Bile) / kOpaque, 1.f);
    area += static_cast<double>(film.area[v]) * static_cast<double>(look[v].x);
  }
  return area;
}

namespace {

// A drop lands on a vertex at most this far beside its path: half the distance of vertices of an organ.
constexpr float kBeside = 0.004f;  // m
// Films with this share of the largest volume drip too.
constexpr double kThick = 0.5;  // 1

}  // namespace

std::uint32_t drip_vertex(const FluidFilm& film, std::span<const glm::vec3> positions, const glm::vec3& down) {
  double most = 0.0;
  for (const std::uint32_t v : film.wet) most = most < total(film.volume[v]) ? total(film.volume[v]) : most;
  std::uint32_t best = film.wet.front();
  float lowest = -INFINITY;
  for (const std::uint32_t v : film.wet) {
    const float depth = glm::dot(positions[v], down);
    if (depth > lowest && total(film.volume[v]) >= kThick * most) best = v, lowest = depth;
  }
  return best;
}

glm::vec3 spurt_direction(const FilmSurface& surface, std::uint32_t vertex) {
  glm::vec3 sum(0.f);
  for (std::uint32_t k = surface.around.first[vertex]; k < surface.around.first[vertex + 1]; ++k) {
    const glm::uvec3& face = surface.faces[index(surface.around.face[k])];
    const glm::vec3 a = surface.positions[face.x];
    sum += glm::cross(surface.positions[face.y] - a, surface.positions[face.z] - a);
  }
  const float length = glm::length(sum);
  return length > 0.f ? sum / length : glm::vec3(0.f);
}

void find_landing(const glm::vec3& from, const glm::vec3& down, float clearance, std::size_t surface,
                  std::span<const glm::vec3> positions, std::span<const char> unused, DropLanding& best) {
  for (std::uint32_t v = 0; v < positions.size(); ++v) {
    const glm::vec3 away = positions[v] - from;
    const float height = glm::dot(away, down);
    if (!(height > clearance) || (best.found && height >= best.height)) continue;
    const glm::vec3 beside = away - height * down;
    if (glm::dot(beside, beside) > kBeside * kBeside || (v < unused.size() && unused[v])) continue;
    best = {surface, v, height, true};
  }
}

}  // namespace trocar
