#include "sim/session/session_film.hpp"

#include <algorithm>

#include "deform/fluid/fluid_film.hpp"
#include "sim/session/saved_check.hpp"

namespace trocar {
namespace {

// Water from an instrument reaches tissue within this distance of its tip.
constexpr float kJet = 0.02f;  // m

// A vertex of an organ.
struct VertexAt {
  std::size_t organ = 0;
  std::uint32_t vertex = 0;
  float away = kJet;  // m
  bool found = false;
};

// Drops land on another organ, or on the same one if it is this far below.
constexpr float kSameOrgan = 0.006f, kOtherOrgan = 1e-4f;  // m

// Returns where drops from an organ land.
DropLanding landing_of(const std::vector<Organ>& organs, std::size_t organ, const glm::vec3& from,
                       const glm::vec3& down) {
  DropLanding best;
  for (std::size_t k = 0; k < organs.size(); ++k)
    find_landing(from, down, k == organ ? kSameOrgan : kOtherOrgan, k, organs[k].positions, organs[k].unused, best);
  return best;
}

// Drops fall from the lowest thick part of a film onto the nearest surface below. What meets none is out of sight.
void drip(const std::vector<Organ>& organs, std::size_t organ, const glm::vec3& down, const FilmVolume& drops,
          std::vector<FluidFilm>& films, FluidAmounts& amounts) {
  const std::vector<glm::vec3>& positions = organs[organ].positions;
  const DropLanding at = landing_of(organs, organ, positions[drip_vertex(films[organ], positions, down)], down);
  if (!at.found) return add(drops, amounts.dripped);
  for (std::size_t k = 0; k < drops.size(); ++k)
    pour(films[at.surface], at.vertex, static_cast<FilmFluid>(k), drops[k]);
}

VertexAt nearest_to(const std::vector<Organ>& organs, const glm::vec3& tip) {
  VertexAt best;
  for (std::size_t k = 0; k < organs.size(); ++k)
    for (std::uint32_t v = 0; v < organs[k].positions.size(); ++v) {
      const float away = glm::distance(organs[k].positions[v], tip);
      if (away < best.away && (organs[k].unused.empty() || !organs[k].unused[v])) best = {k, v, away, true};
    }
  return best;
}

}  // namespace

SessionFilm::SessionFilm(const Scene& scene, const std::vector<Organ>& organs) {
  const bool bleeds = std::ranges::any_of(
      scene.organs, [](const OrganScene& organ) { return organ.vessel || organ.blood || organ.bile; });
  if (!bleeds && std::ranges::count(scene.instruments, InstrumentKind::Suction, &InstrumentScene::kind) == 0) return;
  films_.resize(organs.size());
  looks_.resize(organs.size());
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const glm::vec3 fall = organs[k].sculpture ? organs[k].sculpture->params.fall : scene.organs[k].cut.fall;
    const float length = glm::length(fall);
    down_.push_back(length > 0.f ? fall / length : glm::vec3(0.f, 0.f, -1.f));
    follow_change(k, organs[k]);
  }
}

void SessionFilm::follow_change(std::size_t organ, const Organ& now) {
  if (!possible()) return;
  add(follow_surface(films_[organ], now.positions.size(), now.unused), amounts_.dripped);
  looks_[organ].resize(now.positions.size(), glm::vec2(0.f));
}

void SessionFilm::check_read(const std::vector<Organ>& organs) const {
  // Rounding may leave a little less than nothing.
  const auto sound = [](const FilmVolume& volume) {
    return std::ranges::all_of(volume, [](double part) { return lies_within(part, -kMillilitre, 1.0); });
  };
  require_saved(films_.size() == looks_.size(), "fluid", "an array has another length");
  for (std::size_t k = 0; k < films_.size(); ++k) {
    const FluidFilm& film = films_[k];
    const std::size_t vertices = organs[k].mesh.positions.size();
    std::vector<char> is_wet(vertices, 0);
    require_saved(film.volume.size() == vertices && film.next <= film.wet.size() &&
                      std::ranges::all_of(film.wet, [&](std::uint32_t v) { return v < vertices && !is_wet[v]++; }),
                  "fluid", "a wet vertex does not exist, or is listed twice");
    require_saved(std::ranges::all_of(film.volume, sound), "fluid", "a volume is out of range");
  }
  require_saved(sound(amounts_.on) && sound(amounts_.dripped) && sound(amounts_.removed) &&
                    lies_within(amounts_.rinsed, 0.0, 1.0),
                "fluid", "a volume is out of range");
}

void SessionFilm::follow_read(const std::vector<Organ>& organs) {
  for (std::size_t k = 0; k < films_.size(); ++k) {
    const std::uint32_t next = films_[k].next;
    follow_surface(films_[k], organs[k].positions.size(), {});
    films_[k].next = next;
    looks_[k].assign(organs[k].positions.size(), glm::vec2(0.f));
  }
}

// Sucks first the mixture near the tip, or rinses the nearest tissue. Water that reaches none runs off.
void SessionFilm::pump(const std::vector<Organ>& organs, const Instrument& instrument, double dt) {
  const glm::vec3 tip(instrument.pose.tip);
  if (instrument.pump == Pump::Suck) {
    double most = instrument.suction.suck_ml_min * kMlPerMin * dt;
    for (std::size_t k = 0; k < organs.size() && most > 0.0; ++k) {
      const FilmVolume taken =
          take(films_[k], organs[k].positions, tip, static_cast<float>(instrument.suction.reach), most);
      add(taken, amounts_.removed);
      most -= total(taken);
    }
  } else if (instrument.pump == Pump::Rinse) {
    const double volume = instrument.suction.rinse_ml_min * kMlPerMin * dt;
    amounts_.rinsed += volume;
    if (const VertexAt at = nearest_to(organs, tip); at.found)
      pour(films_[at.organ], at.vertex, FilmFluid::Water, volume);
    else
      amounts_.dripped[static_cast<std::size_t>(FilmFluid::Water)] += volume;
  }
}

void SessionFilm::settle(const std::vector<Organ>& organs, const SessionBleeding& bleeding,
                         std::span<const Instrument> instruments, double dt) {
  if (!possible()) return;
  for (std::size_t k = 0; k < bleeding.sources().size(); ++k) {
    const BleedSource& source = bleeding.sources()[k];
    const FilmFluid fluid = source.kind == BleedKind::Perforation ? FilmFluid::Bile : FilmFluid::Blood;
    pour(films_[source.organ], source.vertex, fluid, bleeding.spilt()[k]);
  }
  for (const Instrument& instrument : instruments) pump(organs, instrument, dt);
  amounts_.on = {};
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const Organ& organ = organs[k];
    const FilmSurface surface{organ.positions, organ.mesh.positions, organ.mesh.faces, organ.around, down_[k]};
    if (const FilmVolume drops = run_down(films_[k], surface, dt); total(drops) > 0.0)
      drip(organs, k, down_[k], drops, films_, amounts_);
  }
  for (const FluidFilm& film : films_) add(volume_of(film), amounts_.on);
  show();
}

void SessionFilm::show() {
  blood_area_ = 0.0;
  for (std::size_t k = 0; k < films_.size(); ++k) blood_area_ += show_film(films_[k], looks_[k]);
}

}  // namespace trocar
