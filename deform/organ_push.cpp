// Resolves contacts between organs within a substep: moves positions, only apart, equally and oppositely.
#include <algorithm>

#include "deform/contact/organ_contact.hpp"
#include "deform/node_sum.hpp"

namespace trocar {
namespace {

// Contacts share nodes and disturb each other. Two rounds remove most of the error; the next substep reduces it
// further.
constexpr int kPushRounds = 2;

// Moves the point by its share of `push`; velocities follow.
void push_point(const Embedding& e, const TissueModel& model, const glm::vec3& push, float dt, TissueScratch& s) {
  NodeMover nodes(model, dt, s);
  for (int i = 0; i < 8; ++i) nodes.move(e.node[i], e.weight[i] * model.inverse_mass[e.node[i]] * push);
}

// The two organs of a contact during the solve.
struct Pair {
  const TissueModel &model_a, &model_b;
  TissueScratch &a, &b;
};

float gap_of(const PairContact& c, const Pair& pair) {
  return glm::dot(c.normal, weighted(c.on_a, pair.a.x) - weighted(c.on_b, pair.b.x)) + c.offset;
}

void push_apart(PairContact& c, const glm::vec3& push, float dt, const Pair& pair) {
  push_point(c.on_a, pair.model_a, push, dt, pair.a);
  push_point(c.on_b, pair.model_b, -push, dt, pair.b);
  c.impulse += push / dt;
}

// An overlap from before the substep decreases slowly; the overlap added in this substep is removed at once.
float wanted_gap(const OrganContactParams& params, float before, float dt) {
  const float depth = std::max(-before, 0.f);
  return std::min(before + dt * std::min(depth / params.settling_time, params.fastest), 0.f);
}

void separate(PairContact& c, float wanted, float gap, float dt, const Pair& pair) {
  const float pressed = std::max(c.pressed + (wanted - gap) / c.admittance, 0.f), more = pressed - c.pressed;
  c.pressed = pressed;
  c.gap = gap + more * c.admittance;
  if (more != 0.f) push_apart(c, more * c.normal, dt, pair);
}

// Tangential slip is reduced, by at most friction times the normal push.
void rub(PairContact& c, float friction, float dt, const Pair& pair) {
  const glm::vec3 slip = dt * (weighted(c.on_a, pair.a.v) - weighted(c.on_b, pair.b.v));
  const glm::vec3 along = slip - glm::dot(slip, c.normal) * c.normal;
  const float length = glm::length(along);
  if (!(length > 0.f)) return;
  push_apart(c, along * (-std::min(length / c.admittance, friction * c.pressed) / length), dt, pair);
}

}  // namespace

void solve_organ_contacts(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states, float dt,
                          OrganContacts& contacts) {
  const auto pair_of = [&](const PairContact& c) {
    return Pair{*models[c.a], *models[c.b], states[c.a]->scratch, states[c.b]->scratch};
  };
  // Contacts that pushed in the previous substep start with that push. Otherwise contacts that share nodes oscillate.
  for (PairContact& c : contacts.contacts)
    if (c.pressed > 0.f) push_apart(c, c.pressed * c.normal, dt, pair_of(c));
  contacts.active.clear();
  for (std::uint32_t i = 0; i < contacts.contacts.size(); ++i) {
    PairContact& c = contacts.contacts[i];
    const Pair pair = pair_of(c);
    const float gap = gap_of(c, pair), wanted = wanted_gap(contacts.params, c.gap, dt);
    c.gap = gap;
    if (!(gap < wanted) && !(c.pressed > 0.f)) continue;
    separate(c, wanted, gap, dt, pair);
    contacts.active.push_back({i, wanted});
  }
  for (int round = 1; round < kPushRounds; ++round)
    for (const OrganContacts::Active& active : contacts.active) {
      PairContact& c = contacts.contacts[active.contact];
      const Pair pair = pair_of(c);
      separate(c, active.wanted, gap_of(c, pair), dt, pair);
    }
  for (const OrganContacts::Active& active : contacts.active) {
    PairContact& c = contacts.contacts[active.contact];
    if (c.pressed > 0.f && contacts.params.friction > 0.f) rub(c, contacts.params.friction, dt, pair_of(c));
  }
}

glm::vec3 organ_force(const OrganContacts& contacts, std::uint32_t a, float dt) {
  glm::vec3 sum(0.f);
  for (const PairContact& c : contacts.contacts) {
    if (c.a == a) sum += c.impulse;
    if (c.b == a) sum -= c.impulse;
  }
  return sum / dt;
}

}  // namespace trocar
