// Runs Bullet 3's btSoftBody on our lattice: the same nodes, masses and fixed nodes, a link for every spring, no
// collisions, no clusters, no pose matching. Its links are position-based and solved one after the other; kLST below 1
// makes them softer.
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyHelpers.h>
#include <fmt/format.h>

#include <algorithm>

#include "bench/soft_body.hpp"

namespace trocar::bench {
namespace {

enum class LinkOrder { Rows, Nodes, Reoptimised };

// Share of a velocity that is lost per frame, so that bodies come to rest: undamped, a body with many links becomes
// tangled in time, and its step becomes slower.
constexpr btScalar kLoss = 0.05f;

// Returns the nodes at rest, [node].
std::vector<btVector3> nodes_of(const TissueModel& model) {
  std::vector<btVector3> nodes;
  for (const glm::vec3& p : model.rest) nodes.emplace_back(p.x, p.y, p.z);
  return nodes;
}

// Bullet expects mass 0 for a fixed node.
std::vector<btScalar> masses_of(const TissueModel& model) {
  std::vector<btScalar> masses = model.mass;
  for (std::size_t i = 0; i < masses.size(); ++i)
    if (!(model.inverse_mass[i] > 0.f)) masses[i] = 0;
  return masses;
}

struct BulletBody {
  BulletBody(const TissueModel& model, LinkOrder order, int sweeps)
      : body(&world, static_cast<int>(model.rest.size()), nodes_of(model).data(), masses_of(model).data()) {
    const glm::vec3& gravity = model.params.gravity;
    world.m_gravity = {gravity.x, gravity.y, gravity.z};
    std::vector<Spring> springs;
    for_each_spring(model, [&](const Spring& spring) { springs.push_back(spring); });
    if (order != LinkOrder::Rows)
      std::stable_sort(springs.begin(), springs.end(), [](const Spring& s, const Spring& t) { return s.a < t.a; });
    for (const Spring& spring : springs)
      body.appendLink(static_cast<int>(spring.a), static_cast<int>(spring.b), nullptr, false);
    if (order == LinkOrder::Reoptimised) btSoftBodyHelpers::ReoptimizeLinkOrder(&body);
    body.m_cfg.collisions = 0;
    body.m_cfg.piterations = sweeps;
    body.m_cfg.kDP = kLoss;
  }

  void shake(const TissueModel& model) {
    body.updateConstants();
    body.m_bUpdateRtCst = false;
    for (int node = 0; node < body.m_nodes.size(); ++node) {
      const glm::vec3 p = shaken(model, static_cast<std::uint32_t>(node));
      body.m_nodes[node].m_x = body.m_nodes[node].m_q = {p.x, p.y, p.z};
    }
  }
  void step(double dt) {
    body.predictMotion(static_cast<btScalar>(dt));
    body.solveConstraints();
    body.integrateMotion();
  }

  btSoftBodyWorldInfo world;
  btSoftBody body;
};

class Sweep final : public SoftBody {
 public:
  Sweep(const TissueModel& model, LinkOrder order) : bullet_(model, order, 1) { bullet_.shake(model); }
  void pass() override { btSoftBody::PSolve_Links(&bullet_.body, 1, 0); }

 private:
  BulletBody bullet_;
};

class BulletStep final : public SoftBody {
 public:
  BulletStep(const TissueModel& model, int sweeps) : bullet_(model, LinkOrder::Reoptimised, sweeps) {
    bullet_.shake(model);
  }
  void pass() override { bullet_.step(kFrame); }

 private:
  BulletBody bullet_;
};

}  // namespace

std::vector<SoftBodyWay> bullet_soft_bodies(const TissueModel& model) {
  std::vector<SoftBodyWay> ways;
  const auto sweep = [&](const char* name, LinkOrder order, const char* how) {
    ways.push_back({name, how, 1, std::make_unique<Sweep>(model, order)});
  };
  sweep("bullet_links_rows", LinkOrder::Rows, "PSolve_Links, links in the order of our rows");
  sweep("bullet_links_nodes", LinkOrder::Nodes, "PSolve_Links, links node by node");
  sweep("bullet_links_reopt", LinkOrder::Reoptimised, "PSolve_Links after ReoptimizeLinkOrder");
  ways.push_back({"bullet_step_1", "predictMotion, solveConstraints, integrateMotion; 1 sweep, links reoptimised", 1,
                  std::make_unique<BulletStep>(model, 1)});
  ways.push_back({"bullet_step_10", "the same, 10 sweeps", 10, std::make_unique<BulletStep>(model, 10)});
  return ways;
}

std::vector<Sag> bullet_sags(const TissueModel& column, std::span<const int> iterations) {
  std::vector<Sag> sags;
  for (const double stiffness : {1.0, 0.1, 0.01})
    for (const int sweeps : iterations) {
      BulletBody bullet(column, LinkOrder::Reoptimised, sweeps);
      bullet.body.m_materials[0]->m_kLST = static_cast<btScalar>(stiffness);
      for (int frame = 0; frame < kSettlingFrames; ++frame) bullet.step(kFrame);
      std::vector<float> height;
      for (int node = 0; node < bullet.body.m_nodes.size(); ++node) height.push_back(bullet.body.m_nodes[node].m_x.z());
      sags.push_back({fmt::format("bullet, kLST {:g}", stiffness), sweeps, mean_drop(column, height)});
    }
  return sags;
}

}  // namespace trocar::bench
