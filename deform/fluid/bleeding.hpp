// Computes how fast an injured organ loses blood or bile. Blood from tissue clots: its flow halves in each half time,
// so the loss of a step is the integral of an exponential, exact for every length of step. An artery spurts with the
// pulse and does not stop by itself: its flow is a mean and a sine, integrated exactly too. A source of bile flows
// evenly until its organ is empty. Same calls, same bits. Flows: Lewis et al., "The validated intraoperative bleeding
// scale (VIBe scale)", Surgery 2017, grades 1 to 5 ml/min as capillary, 5 to 10 as venous or arteriolar, 10 to 50 as
// arterial. Time: the bleeding time of a standard cut is 2 to 9 minutes (Ivy). The exponential, the sine and the effect
// of pressure are assumptions. Units: metres, seconds, m^3/s; ml/min where a name says so.   Tested in
// tests/deform/fluid_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>

namespace trocar {

// A vessel bleeds from the end that is still supplied once it is divided, and before that where its lumen is open.
struct VesselParams {
  double rate_ml_min = 40.0;  // ml/min  mean, from an open end; arterial, > 0
  double half_time = 0.0;     // s       of the flow; 0: it does not stop by itself
};
// Tissue bleeds from surfaces that were cut or torn.
struct BloodParams {
  double rate_ml_min_cm2 = 5.0;  // ml/min  from each cm^2, > 0
  double half_time = 60.0;       // s       1/16 of the flow is left after 4 minutes; 0: it never clots
};
// A hollow organ spills its content when a burn, cut or tear goes through its wall.
struct BileParams {
  double volume_ml = 50.0;    // ml      its content; the usual capacity of a gallbladder, > 0
  double rate_ml_min = 30.0;  // ml/min  from each perforation; an assumption, > 0
  double wall = 0.0025;       // m       thickness of the wall; normal 2 to 3 mm, > 0
};

constexpr double kMillilitre = 1e-6;              // m^3
constexpr double kMlPerMin = kMillilitre / 60.0;  // m^3/s
constexpr double kPulse = 72.0 / 60.0;            // 1/s  of the heart
constexpr double kPulseShare = 0.7;               // 1  of the mean flow of a vessel, to both sides: an assumption
constexpr double kPressedClotting = 4.0;          // 1  clotting under pressure, relative to an open wound
constexpr double kClotted = 1.0 / 64.0;           // 1  a flow below this share of the first one has stopped
constexpr std::size_t kMostBleedSources = 4096;   // of a session; limits what a reader of a recording must allocate

// The end of a vessel, a surface that was cut or torn, or a hole in the wall of a hollow organ.
enum class BleedKind : std::uint8_t { Vessel, Surface, Perforation };
// Pressed: something presses on it. Closed: a clip closes it. Coagulated, Stopped (clotted, or nothing left): for good.
enum class BleedState : std::uint8_t { Flows, Pressed, Closed, Coagulated, Stopped };

struct BleedSource {
  std::uint32_t organ = 0;
  std::uint32_t vertex = 0;  // of the organ's surface: the source moves with the tissue
  BleedKind kind = BleedKind::Surface;
  BleedState state = BleedState::Flows;
  double rate = 0.0;       // m^3/s  at first
  double half_time = 0.0;  // s      0: it never clots
  double clotting = 0.0;   // s      time of clotting so far

  bool done() const { return state == BleedState::Coagulated || state == BleedState::Stopped; }
};

// The fluids that an organ has lost.
struct FluidLoss {
  double blood = 0.0, bile = 0.0;  // m^3

  bool operator==(const FluidLoss&) const = default;
};

// What acts on a source in a step.
struct BleedTreatment {
  bool coagulated = false, closed = false, pressed = false;
  double beat = 1.0;  // 1  flow of a vessel relative to its mean, mean_beat() of the step
};

// Returns the flow of a vessel relative to its mean at a time of the session, and its mean in the `dt` seconds until
// then, > 0.
double beat_at(double time);
double mean_beat(double time, double dt);

// Returns the flow of a source now, m^3/s, as long as nothing stops it.
double open_flow(const BleedSource& source);
// Returns the flow of a source now, m^3/s: 0 unless it flows.
double flow_of(const BleedSource& source);
// Advances a source by `dt` seconds and returns the volume that it loses, m^3. `left`: m^3, content of the organ, which
// a perforation takes from.
double bleed(BleedSource& source, const BleedTreatment& treatment, double dt, double& left);

}  // namespace trocar
