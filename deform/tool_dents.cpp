#include "deform/tool_dents.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trocar {
namespace {

// 1 / b = (far + own S) / h, where S = h^3 density / 2 times the sum of squared weights over masses: the share of the
// lattice's response that is its neighbours', and the share of the nodes' own. Fitted to the response of lattices with
// their surface anywhere in a cell, level or turned by 20 and 45 degrees: within 11 % with the law `springs`, 20 % with
// `rising`.
struct Share {
  float far, own;
};
constexpr Share share_of(TissueLaw law) { return law == TissueLaw::Rising ? Share{0.5f, 6.f} : Share{0.8f, 4.15f}; }
// Nodes of nearly empty cells count as this share of a cell's mass.
constexpr float kLightest = 0.1f;

// The mass of a dent, of a full cell's. Its motion is damped twice as much as critically: a tip that slips off what it
// had dragged along must not leave the tissue behind it.
constexpr float kDentMass = 0.25f, kDamping = 4.f;
// What the contacts tell of the place counts with this time constant.
constexpr float kForgets = 0.01f;  // s
// A dent without contact that is shallower than this has gone.
constexpr float kGone = 1e-7f;  // m

float dent_mass(const TissueModel& model) { return kDentMass * model.cell_mass; }

// The length of a line that is evenly loaded, and the width of a rigid band on a solid.
float length_of(float variance) { return std::sqrt(12.f * std::max(variance, 0.f)); }
float width_of(float variance) { return std::sqrt(8.f * std::max(variance, 0.f)); }

// Where the contacts of a tool have pushed in a step.
struct Felt {
  float pushed = 0.f;  // kg m
  glm::vec3 middle{0.f}, moment{0.f};
  glm::mat3 spread{0.f};
  float hollow = 0.f;  // kg m^3
};

void feel(const PreparedPoint& c, const glm::vec3& shift, const glm::vec3& along, Felt& felt) {
  const float push = glm::length(c.push);
  if (!(push > 0.f)) return;
  if (!(felt.pushed > 0.f)) felt.middle = c.core;
  const glm::vec3 from = c.core - felt.middle;
  felt.pushed += push;
  felt.moment += push * from;
  felt.spread += push * glm::outerProduct(from, from);
  const glm::vec3 beside = c.before - shift - c.core, across = beside - glm::dot(beside, along) * along;
  felt.hollow += push * glm::dot(across, across);
}

// The part of the response of the lattice to the contacts of tool `k` together that is the nodes' own, times pi E*.
float own_closeness(const TissueModel& model, std::size_t k, TissueScratch& s) {
  const Share share = share_of(model.params.law);
  s.pressed_nodes.clear();
  s.pressed_weight.resize(model.rest.size());
  float pushed = 0.f;
  for (const PreparedPoint& c : s.contacts) {
    if (c.tool != k || !(c.admittance > 0.f)) continue;
    const float push = glm::length(c.push);
    if (!(push > 0.f)) continue;
    pushed += push;
    for (int i = 0; i < c.nodes; ++i) {
      float& weight = s.pressed_weight[c.node[i]];
      if (weight == 0.f) s.pressed_nodes.push_back(c.node[i]);
      weight += push * c.weight[i];
    }
  }
  float own = 0.f;
  for (const std::uint32_t n : s.pressed_nodes) {
    float& weight = s.pressed_weight[n];
    if (model.inverse_mass[n] > 0.f)
      own += weight * weight * model.cell_mass / std::max(model.mass[n], kLightest * model.cell_mass);
    weight = 0.f;
  }
  return 0.5f * share.own * own / (pushed * pushed) / model.params.node_spacing;
}

// The part that is the neighbours': that of a load deep below the surface, spread as the contacts are.
float far_closeness(const TissueModel& model, const Dent& dent) {
  const float below = model.params.node_spacing / share_of(model.params.law).far;
  const float square = below * below + 2.f * dent.hollow + dent.width * dent.width / 6.f;
  return static_cast<float>(mean_over_line(std::sqrt(double(square)), double(dent.length)));
}

// Returns the largest distance of a point of the tool's axis or polytope that pushes from `middle`.
float farthest_from(const glm::vec3& middle, std::size_t k, const TissueScratch& s) {
  float most = 0.f;
  for (const PreparedPoint& c : s.contacts)
    if (c.tool == k && c.admittance > 0.f && c.push != glm::vec3(0.f))
      most = std::max(most, glm::distance(c.core, middle));
  return most;
}

// Takes over, as the mean of the recent past, where the contacts of a step have pushed. Loads at the two ends of a line
// vary more than those along it: no contact is longer than twice the `farthest` distance from its middle.
void follow_place(const Felt& felt, const TissueModel& model, float farthest, float own, float spread_of_pressure,
                  float dt, Dent& dent) {
  const glm::vec3 mean = felt.moment / felt.pushed;
  const glm::mat3 spread = felt.spread / felt.pushed - glm::outerProduct(mean, mean);
  // The two larger principal variances; the third is nearly 0.
  const float half = 0.5f * (spread[0][0] + spread[1][1] + spread[2][2]);
  const float minors = spread[0][0] * spread[1][1] - spread[0][1] * spread[0][1] + spread[1][1] * spread[2][2] -
                       spread[1][2] * spread[1][2] + spread[2][2] * spread[0][0] - spread[2][0] * spread[2][0];
  const float apart = std::sqrt(std::max(half * half - minors, 0.f));
  const float share = dt / (std::min(dent.held, kForgets) + dt);
  dent.length += share * (std::min(length_of(half + apart), 2.f * farthest) - dent.length);
  dent.width += share * (width_of(half - apart) - dent.width);
  dent.spread += share * (spread_of_pressure - dent.spread);
  dent.hollow += share * (felt.hollow / felt.pushed - dent.hollow);
  dent.closeness += share * (far_closeness(model, dent) + own - dent.closeness);
  dent.held += dt;
}

DentPlace place_of(const Dent& dent, float radius, float modulus) {
  return {radius, dent.length, dent.width, dent.closeness, dent.spread, dent.hollow, modulus};
}

// The tool pays for what its dent gains from place to place, over a way of this length.
constexpr float kPaysOver = 5e-4f;  // m

// Returns the pull on tool `k` against its motion in the step with which it pays what its dent owes, N. The lattice
// pulls a tool to where it yields more; there the dent yields less and holds the tool back. The tissue does not feel
// it.
glm::vec3 pay(std::size_t k, const Felt& felt, const TissueScratch& s, Dent& dent) {
  glm::vec3 way(0.f);
  for (const PreparedPoint& c : s.contacts)
    if (c.tool == k && c.admittance > 0.f) way += glm::length(c.push) / felt.pushed * c.slide;
  const float length = glm::length(way);
  if (!(length > 0.f)) return glm::vec3(0.f);
  const float paid = dent.owes / (length + kPaysOver);
  dent.owes -= paid * length;
  return -paid / length * way;
}

}  // namespace

float lattice_closeness(const TissueModel& model, const PreparedPoint& c) {
  const Share share = share_of(model.params.law);
  float own = 0.f;
  for (int i = 0; i < c.nodes; ++i)
    if (model.inverse_mass[c.node[i]] > 0.f)
      own += c.weight[i] * c.weight[i] * model.cell_mass / std::max(model.mass[c.node[i]], kLightest * model.cell_mass);
  return (share.far + 0.5f * share.own * own) / model.params.node_spacing;
}

void begin_dents(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s) {
  const bool solid = model.tube.empty() && model.slab.empty();
  const float nu = model.params.poisson_ratio, modulus = model.params.youngs_modulus / (1.f - nu * nu);
  s.dents.resize(loads.tools.size());
  s.pressed_nodes.reserve(model.rest.size());
  for (std::size_t k = 0; k < s.dents.size(); ++k) {
    DentScratch& d = s.dents[k];
    d = {};
    if (!solid) continue;
    if (state.dents.size() == s.dents.size()) d.dent = state.dents[k];
    const ToolStep& tool = loads.tools[k];
    const float radius = static_cast<float>(tool.part.shape ? tool.part.shape->radius : tool.radius);
    d.place = place_of(d.dent, radius, modulus);
  }
  if (!solid) return;
  // A tool that begins to touch: the place is that of its first contacts.
  for (const PreparedPoint& c : s.contacts) {
    if (!(c.admittance > 0.f)) continue;
    DentScratch& d = s.dents[c.tool];
    if (!(d.dent.held > 0.f)) d.place.closeness = std::max(d.place.closeness, c.closeness);
  }
}

void end_dents(const TissueModel& model, float dt, SteppedTissue& state) {
  TissueScratch& s = state.scratch;
  state.dents.resize(s.dents.size());
  for (std::size_t k = 0; k < s.dents.size(); ++k) {
    Dent& dent = s.dents[k].dent;
    Felt felt;
    if (s.dents[k].place.closeness > 0.f) {
      glm::vec3 push(0.f);
      const auto touches = [k](const PreparedPoint& c) { return c.tool == k && c.admittance > 0.f; };
      for (const PreparedPoint& c : s.contacts)
        if (touches(c)) push += c.push;
      const glm::vec3 along = push / std::max(glm::length(push), 1e-30f);
      for (const PreparedPoint& c : s.contacts)
        if (touches(c)) feel(c, dent.shift, along, felt);
    }
    if (felt.pushed > 0.f) {
      follow_place(felt, model, farthest_from(felt.middle + felt.moment / felt.pushed, k, s),
                   own_closeness(model, k, s), s.dents[k].pressure, dt, dent);
      const DentPlace& before = s.dents[k].place;
      const double depth = static_cast<double>(glm::length(dent.shift));
      dent.owes += static_cast<float>(dent_energy(place_of(dent, before.radius, before.modulus), depth) -
                                      dent_energy(before, depth));
      const glm::vec3 pull = pay(k, felt, s, dent) / s.force_per_push;
      for (PreparedPoint& c : s.contacts)
        if (c.tool == k && c.admittance > 0.f) c.push += glm::length(c.push) / felt.pushed * pull;
    } else if (glm::dot(dent.shift, dent.shift) < kGone * kGone) {
      dent = {};
    }
    state.dents[k] = dent;
  }
}

// Implicit in the spring and in the damping, so that a dent is stable at any stiffness.
void move_dents(const TissueModel& model, float dt, TissueScratch& s) {
  const float mass = dent_mass(model);
  for (DentScratch& d : s.dents) {
    Dent& dent = d.dent;
    d.before = dent.shift;
    d.yields = 0.f;
    if (!(d.place.closeness > 0.f)) continue;
    const float depth = glm::length(dent.shift);
    const DentForce spring = dent_force(d.place, static_cast<double>(depth));
    d.pressure = static_cast<float>(spring.spread);
    const float force = static_cast<float>(spring.force), stiffness = static_cast<float>(spring.stiffness);
    const float inertia = mass + dt * kDamping * std::sqrt(stiffness * mass) + dt * dt * stiffness;
    glm::vec3 pull = mass * dent.speed;
    if (depth > 0.f) pull -= dt * force / depth * dent.shift;
    dent.speed = pull / inertia;
    dent.shift += dt * dent.speed;
    d.yields = 1.f / inertia;
  }
}

void push_dent(const glm::vec3& push, float dt, DentScratch& d) {
  const glm::vec3 by = d.yields * push;
  d.dent.shift += by;
  d.dent.speed += by / dt;
}

}  // namespace trocar
