#include "deform/fluid/bleeding.hpp"

#include <algorithm>
#include <numbers>

#include "geometry/elementary.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

// Returns the time in which the flow falls to 1/e, s.
double time_constant(const BleedSource& source) { return source.half_time / std::numbers::ln2; }

double lose_bile(BleedSource& source, double dt, double& left) {
  const double volume = std::min(source.rate * dt, left);
  left -= volume;
  if (!(left > 0.0)) source.state = BleedState::Stopped;
  return volume;
}

// The integral of rate exp(-t / tau) from the present time of clotting to `dt` later.
double lose_blood(BleedSource& source, double dt) {
  if (!(source.half_time > 0.0)) return source.rate * dt;
  const double tau = time_constant(source), before = open_flow(source);
  source.clotting += dt;
  return tau * (before - open_flow(source));
}

}  // namespace

double beat_at(double time) { return 1.0 + kPulseShare * elementary::sin(kFullTurn * kPulse * time); }

double mean_beat(double time, double dt) {
  const double fast = kFullTurn * kPulse;
  return 1.0 + kPulseShare * (elementary::cos(fast * (time - dt)) - elementary::cos(fast * time)) / (fast * dt);
}

double open_flow(const BleedSource& source) {
  if (!(source.half_time > 0.0)) return source.rate;
  return source.rate * elementary::exp(-source.clotting / time_constant(source));
}

double flow_of(const BleedSource& source) { return source.state == BleedState::Flows ? open_flow(source) : 0.0; }

double bleed(BleedSource& source, const BleedTreatment& treatment, double dt, double& left) {
  if (source.done()) return 0.0;
  const bool bile = source.kind == BleedKind::Perforation;
  const double beat = source.kind == BleedKind::Vessel ? treatment.beat : 1.0;
  // Bile does not clot, and a hole in a thin wall is not welded by heat.
  if (treatment.coagulated && !bile) {
    source.state = BleedState::Coagulated;
    return 0.0;
  }
  if (treatment.closed || treatment.pressed) {
    source.state = treatment.closed ? BleedState::Closed : BleedState::Pressed;
    if (!treatment.closed && source.half_time > 0.0) source.clotting += kPressedClotting * dt;
  } else {
    source.state = BleedState::Flows;
  }
  const double volume = source.state != BleedState::Flows ? 0.0
                        : bile                            ? lose_bile(source, dt, left)
                                                          : beat * lose_blood(source, dt);
  if (!bile && open_flow(source) < kClotted * source.rate) source.state = BleedState::Stopped;
  return volume;
}

}  // namespace trocar
