#include "deform/tool_dents.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace trocar {
namespace {

// The response of a lattice to a point load, times pi E* h: far + own S, where S is the sum of squared weights over the
// masses of the nodes, times half a cell's mass: 1 at a node of a flat surface. Fitted to static responses of lattices.
// With their surface anywhere in a cell, level and turned by 20 and 45 degrees: 0 to 17 % low with the law `springs`,
// up to 48 % with `rising`, where cells are partly filled.
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

// Returns the share in 2 S of a node with this weight. A fixed node does not respond.
float own_share(const TissueModel& model, std::uint32_t node, float weight) {
  if (!(model.inverse_mass[node] > 0.f)) return 0.f;
  return weight * weight * model.cell_mass / std::max(model.mass[node], kLightest * model.cell_mass);
}

// The length of a line that is evenly loaded, and the width of a rigid band on a solid.
float length_of(float variance) { return std::sqrt(12.f * std::max(variance, 0.f)); }
float width_of(float variance) { return std::sqrt(8.f * std::max(variance, 0.f)); }

// Is it a contact of the tool, or a point between its jaws?
bool is_of(const PreparedPoint& c, std::size_t tool) { return c.dent == tool && c.admittance > 0.f; }

// Where the contacts of a tool have pushed in a step, weighted with their pushes.
struct Felt {
  float pushed = 0.f;     // kg m  sum of the pushes
  glm::vec3 middle{0.f};  // m     of the points of the tool's axis or polytope
  glm::mat3 spread{0.f};  // m^2   their covariance
  float farthest = 0.f;   // m     the largest distance of one from the middle
  float hollow = 0.f;     // m^2   DentPlace::hollow
  float radius = 0.f;     // m     of the parts that push
};

// The same while it is summed up, from the first point of the tool on.
struct FeltSums {
  float pushed = 0.f;                 // kg m
  glm::vec3 first{0.f}, moment{0.f};  // m, kg m^2
  glm::mat3 spread{0.f};              // kg m^3
  float hollow = 0.f;                 // kg m^3
  float radius = 0.f;                 // kg m^2

  void add(const PreparedPoint& c, float of_part, const glm::vec3& shift, const glm::vec3& along) {
    const float push = glm::length(c.push);
    if (!(push > 0.f)) return;
    if (!(pushed > 0.f)) first = c.core;
    const glm::vec3 from = c.core - first;
    pushed += push;
    moment += push * from;
    spread += push * glm::outerProduct(from, from);
    const glm::vec3 beside = c.before - shift - c.core, across = beside - glm::dot(beside, along) * along;
    hollow += push * glm::dot(across, across);
    radius += push * of_part;
  }
};

Felt felt_by(std::size_t k, const TissueScratch& s) {
  glm::vec3 push(0.f);
  for (const PreparedPoint& c : s.contacts)
    if (is_of(c, k)) push += c.push;
  const glm::vec3 along = push / std::max(glm::length(push), 1e-30f);
  FeltSums sums;
  for (const PreparedPoint& c : s.contacts)
    if (is_of(c, k)) sums.add(c, s.dents[c.tool].radius, s.dents[k].dent.shift, along);
  Felt felt;
  if (!(sums.pushed > 0.f)) return felt;
  const glm::vec3 mean = sums.moment / sums.pushed;
  felt = {sums.pushed, sums.first + mean,         sums.spread / sums.pushed - glm::outerProduct(mean, mean),
          0.f,         sums.hollow / sums.pushed, sums.radius / sums.pushed};
  for (const PreparedPoint& c : s.contacts)
    if (is_of(c, k) && c.push != glm::vec3(0.f))
      felt.farthest = std::max(felt.farthest, glm::distance(c.core, felt.middle));
  return felt;
}

// A load on the nodes, summed up from points, each with its share.
void begin_load(const TissueModel& model, TissueScratch& s) {
  s.pressed_nodes.clear();
  s.pressed_weight.resize(model.rest.size());
}

void add_load(const PreparedPoint& c, float share, TissueScratch& s) {
  if (!(share > 0.f)) return;
  for (int i = 0; i < c.nodes; ++i) {
    float& weight = s.pressed_weight[c.node[i]];
    if (weight == 0.f) s.pressed_nodes.push_back(c.node[i]);
    weight += share * c.weight[i];
  }
}

// Returns the part of the response of the lattice to the load that is the nodes' own, times pi E*. `shares`: their sum.
float end_load(const TissueModel& model, float shares, TissueScratch& s) {
  float own = 0.f;
  for (const std::uint32_t n : s.pressed_nodes) own += own_share(model, n, std::exchange(s.pressed_weight[n], 0.f));
  return 0.5f * share_of(model.params.law).own * own / (shares * shares) / model.params.node_spacing;
}

// Of the contacts of tool `k` together.
float own_closeness(const TissueModel& model, std::size_t k, const Felt& felt, TissueScratch& s) {
  begin_load(model, s);
  for (const PreparedPoint& c : s.contacts)
    if (is_of(c, k)) add_load(c, glm::length(c.push), s);
  return end_load(model, felt.pushed, s);
}

// A node with this share of the weights of a patch moves with it as a whole.
constexpr float kMovesAlong = 0.04f;

// Of the points that its jaws hold: they move alike, so the load is where the nodes resist, in proportion to their
// masses; but n points cannot answer with less than 1 / n of what an even load on them would.
float own_closeness_of_held(const TissueModel& model, std::size_t k, float shares, const TissueLoads& loads,
                            TissueScratch& s) {
  begin_load(model, s);
  float points = 0.f, mass = 0.f;
  for (std::size_t i = 0; i < s.holds.size(); ++i)
    if (is_of(s.holds[i], k)) add_load(s.holds[i], loads.holds[i].limit, s), ++points;
  for (const std::uint32_t n : s.pressed_nodes)
    mass += std::min(s.pressed_weight[n] / (kMovesAlong * shares), 1.f) * model.mass[n];
  const float alike = 0.5f * share_of(model.params.law).own * model.cell_mass / std::max(mass, 1e-12f);
  return std::max(alike / model.params.node_spacing, end_load(model, shares, s) / points);
}

// The part that is the neighbours': that of a load deep below the surface, spread as the contacts are.
float far_closeness(const TissueModel& model, const Dent& dent) {
  const float below = model.params.node_spacing / share_of(model.params.law).far;
  const float square = below * below + 2.f * dent.hollow + dent.width * dent.width / 6.f;
  return static_cast<float>(mean_over_line(std::sqrt(double(square)), double(dent.length)));
}

// The mean of the two larger principal variances, and half their difference; the third is nearly 0.
struct TwoVariances {
  float half, apart;  // m^2
};
TwoVariances halves_of(const glm::mat3& m) {
  const float half = 0.5f * (m[0][0] + m[1][1] + m[2][2]);
  const float minors = m[0][0] * m[1][1] - m[0][1] * m[0][1] + m[1][1] * m[2][2] - m[1][2] * m[1][2] +
                       m[2][2] * m[0][0] - m[2][0] * m[2][0];
  return {half, std::sqrt(std::max(half * half - minors, 0.f))};
}

// Takes over, as the mean of the recent past, where the contacts of a step have pushed. Loads at the two ends of a line
// vary more than those along it: no contact is longer than twice the farthest distance from its middle.
void follow_place(const TissueModel& model, const Felt& felt, float own, float pressure, float dt, Dent& dent) {
  const auto [half, apart] = halves_of(felt.spread);
  const float share = dt / (std::min(dent.held, kForgets) + dt);
  dent.radius += share * (felt.radius - dent.radius);
  dent.length += share * (std::min(length_of(half + apart), 2.f * felt.farthest) - dent.length);
  dent.width += share * (width_of(half - apart) - dent.width);
  dent.spread += share * (pressure - dent.spread);
  dent.hollow += share * (felt.hollow - dent.hollow);
  dent.closeness += share * (far_closeness(model, dent) + own - dent.closeness);
  dent.held += dt;
}

DentPlace place_of(const Dent& dent, float modulus) {
  return {dent.radius, dent.length, dent.width, dent.closeness, dent.spread, dent.hollow, modulus};
}

// The tool pays for what its dent gains from place to place, over a way of this length and half the depth of the dent;
// slower than this it pays less, because a tool at rest pays nothing.
constexpr float kPaysOver = 5e-4f;  // m
constexpr float kPaysFrom = 5e-4f;  // m/s

// Returns the pull on tool `k` against its motion in the step with which it pays what its dent owes, N. The lattice
// pulls a tool to where it yields more; there the dent yields less and holds the tool back. The tissue does not feel
// it.
glm::vec3 pay(std::size_t k, const Felt& felt, float dt, const TissueScratch& s, Dent& dent) {
  glm::vec3 way(0.f);
  for (const PreparedPoint& c : s.contacts)
    if (is_of(c, k)) way += glm::length(c.push) / felt.pushed * c.slide;
  const float length = glm::length(way);
  if (!(length > 0.f)) return glm::vec3(0.f);
  const float over = length + kPaysOver + 0.5f * glm::length(dent.shift);
  const float paid = dent.owes / over * length / (length + kPaysFrom * dt);
  dent.owes -= paid * length;
  return -paid / length * way;
}

// Adds a force (N) on tool `k` to the pushes of its contacts.
void add_force(std::size_t k, const Felt& felt, const glm::vec3& force, TissueScratch& s) {
  const glm::vec3 push = force / s.force_per_push;
  for (PreparedPoint& c : s.contacts)
    if (is_of(c, k)) c.push += glm::length(c.push) / felt.pushed * push;
}

// What the contacts of tool `k` in a step make of its dent.
void follow_contacts(const TissueModel& model, std::size_t k, const Felt& felt, float dt, TissueScratch& s) {
  DentScratch& d = s.dents[k];
  follow_place(model, felt, own_closeness(model, k, felt, s), d.pressure, dt, d.dent);
  const double depth = static_cast<double>(glm::length(d.dent.shift));
  const DentPlace now = place_of(d.dent, d.place.modulus);
  d.dent.owes += static_cast<float>(dent_energy(now, depth) - dent_energy(d.place, depth));
  add_force(k, felt, pay(k, felt, dt, s, d.dent), s);
}

// Returns the response of the lattice to a load on one contact, times pi E*, 1/m.
float closeness_at(const TissueModel& model, const PreparedPoint& c) {
  const Share share = share_of(model.params.law);
  float own = 0.f;
  for (int i = 0; i < c.nodes; ++i) own += own_share(model, c.node[i], c.weight[i]);
  return (share.far + 0.5f * share.own * own) / model.params.node_spacing;
}

// The mean distance, in the sense of logarithms, of two points of a band over its width.
constexpr float kBandDistance = 0.2231f;  // exp(-3/2)
// Where the lattice answers a patch itself, this share of the solid's response remains.
constexpr float kLeastOfPatch = 0.05f;
// A patch without an area is at least so wide.
constexpr float kNarrowestPatch = 1e-3f;  // m

// Returns the force per shift of what jaws hold, N/m: a patch that is stuck to them and evenly loaded.
float firmness(const Dent& dent, float modulus) {
  const double e = static_cast<double>(kBandDistance * std::max(dent.width, kNarrowestPatch));
  const float solid = static_cast<float>(mean_over_line(e, static_cast<double>(dent.length)));
  return std::numbers::pi_v<float> * modulus / std::max(solid - dent.closeness, kLeastOfPatch * solid);
}

// Measures the patch that the jaws of a tool hold, when they have just gripped. It does not change until they let go:
// it consists of tissue, and a dent that changed its place would gain energy.
void measure_patch(const TissueModel& model, std::size_t k, const TissueLoads& loads, TissueScratch& s, Dent& dent) {
  float sum = 0.f, beside = 0.f;
  glm::vec3 first(0.f), moment(0.f);
  glm::mat3 spread(0.f);
  for (std::size_t i = 0; i < s.holds.size(); ++i) {
    const PreparedPoint& c = s.holds[i];
    if (!is_of(c, k)) continue;
    if (!(sum > 0.f)) first = c.before;
    const float share = loads.holds[i].limit;
    const glm::vec3 from = c.before - first;
    sum += share, moment += share * from, spread += share * glm::outerProduct(from, from);
    beside += share * loads.holds[i].area / (4.f * std::numbers::pi_v<float>);
  }
  if (!(sum > 0.f)) return;
  const glm::vec3 mean = moment / sum;
  const auto [half, apart] = halves_of(spread / sum - glm::outerProduct(mean, mean));
  const float around = beside / sum;  // of each point's own disc
  dent.length = length_of(half + apart + around), dent.width = length_of(half - apart + around);
  dent.closeness = far_closeness(model, dent) + own_closeness_of_held(model, k, sum, loads, s);
}

void begin_held_dents(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads,
                      TissueScratch& s) {
  for (std::size_t k = 0; k + 1 < s.held_dents.size(); ++k) {
    if (std::none_of(s.holds.begin(), s.holds.end(), [k](const PreparedPoint& c) { return is_of(c, k); })) continue;
    DentScratch& d = s.held_dents[k];
    if (k < state.held_dents.size()) d.dent = state.held_dents[k];
    if (!(d.dent.held > 0.f)) measure_patch(model, k, loads, s, d.dent);
    d.firm = firmness(d.dent, contact_modulus(model.params));
    d.strains = 1.f / model.params.node_spacing;
  }
}

}  // namespace

float contact_modulus(const TissueParams& tissue) {
  return tissue.youngs_modulus / (1.f - tissue.poisson_ratio * tissue.poisson_ratio);
}

void begin_dents(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s) {
  const bool solid = model.tube.empty() && model.slab.empty();
  const float modulus = contact_modulus(model.params);
  s.dents.resize(loads.tools.size());
  s.held_dents.assign(loads.tools.size() + 1, {});
  s.pressed_nodes.reserve(std::tuple_size_v<decltype(PreparedPoint::node)> *
                          (s.contacts.capacity() + s.holds.capacity()));
  for (std::size_t k = 0; k < s.dents.size(); ++k) {
    DentScratch& d = s.dents[k];
    d = {};
    d.owner = k < loads.dent_of.size() ? loads.dent_of[k] : static_cast<std::uint32_t>(k);
    const ToolStep& tool = loads.tools[k];
    d.radius = static_cast<float>(tool.part.shape ? tool.part.shape->radius : tool.radius);
    if (!solid || d.owner != k) continue;
    if (state.dents.size() == s.dents.size()) d.dent = state.dents[k];
    d.place = place_of(d.dent, modulus);
  }
  if (!solid) return;
  if (!s.holds.empty()) begin_held_dents(model, state, loads, s);
  // A tool that begins to touch: the place is that of its first contacts.
  for (const PreparedPoint& c : s.contacts) {
    if (!(c.admittance > 0.f)) continue;
    DentScratch& d = s.dents[c.dent];
    if (d.dent.held > 0.f) continue;
    d.place.radius = std::max(d.place.radius, s.dents[c.tool].radius);
    d.place.closeness = std::max(d.place.closeness, closeness_at(model, c));
  }
}

void end_dents(const TissueModel& model, float dt, SteppedTissue& state) {
  TissueScratch& s = state.scratch;
  state.dents.resize(s.dents.size());
  for (std::size_t k = 0; k < s.dents.size(); ++k) {
    if (s.dents[k].owner != k) {
      state.dents[k] = state.dents[s.dents[k].owner];
      continue;
    }
    Dent& dent = s.dents[k].dent;
    const Felt felt = s.dents[k].place.closeness > 0.f ? felt_by(k, s) : Felt{};
    if (felt.pushed > 0.f) {
      follow_contacts(model, k, felt, dt, s);
    } else if (glm::dot(dent.shift, dent.shift) < kGone * kGone) {
      dent = {};
    }
    state.dents[k] = dent;
  }
  state.held_dents.resize(s.dents.size());
  for (std::size_t k = 0; k < state.held_dents.size(); ++k) {
    const DentScratch& d = s.held_dents[k];
    state.held_dents[k] = d.dent;
    state.held_dents[k].held += d.firm > 0.f ? dt : 0.f;
  }
}

namespace {

// Implicit in the spring and in the damping, so that a dent is stable at any stiffness.
void move_dent(float mass, float dt, DentScratch& d) {
  Dent& dent = d.dent;
  d.before = dent.shift;
  d.yields = 0.f;
  if (!(d.place.closeness > 0.f) && !(d.firm > 0.f)) return;
  const float depth = glm::length(dent.shift);
  const float strain = depth * d.strains;
  float force = d.firm * depth * (1.f + strain * strain), stiffness = d.firm * (1.f + 3.f * strain * strain);
  if (!(d.firm > 0.f)) {
    const DentForce spring = dent_force(d.place, static_cast<double>(depth));
    d.pressure = static_cast<float>(spring.spread);
    force = static_cast<float>(spring.force), stiffness = static_cast<float>(spring.stiffness);
  }
  const float inertia = mass + dt * kDamping * std::sqrt(stiffness * mass) + dt * dt * stiffness;
  glm::vec3 pull = mass * dent.speed;
  if (depth > 0.f) pull -= dt * force / depth * dent.shift;
  dent.speed = pull / inertia;
  dent.shift += dt * dent.speed;
  d.yields = 1.f / inertia;
}

}  // namespace

void move_dents(const TissueModel& model, float dt, TissueScratch& s) {
  const float mass = dent_mass(model);
  for (DentScratch& d : s.dents) move_dent(mass, dt, d);
  for (DentScratch& d : s.held_dents) move_dent(mass, dt, d);
}

void push_dent(const glm::vec3& push, float dt, DentScratch& d) {
  const glm::vec3 by = d.yields * push;
  d.dent.shift += by;
  d.dent.speed += by / dt;
}

}  // namespace trocar
