#include "bench/view_shots.hpp"

#include <cmath>
#include <limits>

#include "mesh/organ_maker.hpp"

namespace trocar::bench {
namespace {

ScopePose looking(const glm::dvec3& eye, const glm::dvec3& target, double field_of_view_deg, double angle_deg = 0.0,
                  double spin_deg = 0.0) {
  ScopePose pose = scope_looking_at(eye, target, angle_deg, spin_deg, 0.16);
  pose.field_of_view_deg = field_of_view_deg;
  return pose;
}

const ScopePose kUsual = looking({0.0, -0.105, 0.265}, {-0.018, 0.055, 0.150}, 52.0);

DrawnTool tool(InstrumentKind kind, const glm::dvec3& pivot, const glm::dvec3& tip, double grip, double roll_deg,
               bool energy = false) {
  DrawnTool drawn;
  drawn.pose = {pivot, tip, 0.0025};
  drawn.kind = kind;
  drawn.grip = grip;
  drawn.roll_deg = roll_deg;
  drawn.energy = energy ? Diathermy::Cut : Diathermy::Off;
  drawn.heats = energy;
  return drawn;
}

void mark(const ShotOrgans& organs, Shot& shot) {
  const MarkState states[] = {MarkState::Done, MarkState::Next, MarkState::Waiting, MarkState::Error};
  const glm::dvec2 positions[] = {{-0.55, 0.15}, {-0.25, 0.22}, {0.02, 0.33}, {0.30, 0.37}};
  for (int k = 0; k < 4; ++k)
    shot.marks.targets.push_back({organs.on_surface(shot.scope, positions[k]), 0.005f, states[k]});
  for (int k = 0; k <= 24; ++k) {
    const double u = k / 24.0;
    shot.path.push_back(organs.on_surface(shot.scope, {-0.05 + 0.5 * u, -0.42 + 0.15 * std::sin(6.0 * u)}));
  }
  shot.marks.paths.push_back({shot.path, 0.002f, 10, MarkState::Next});
}

Shot named(std::string name, const ScopePose& scope) {
  Shot shot;
  shot.name = std::move(name);
  shot.scope = scope;
  return shot;
}

// Returns a point `off` metres before a surface point, towards the scope.
glm::dvec3 tip_at(const ShotOrgans& organs, const ScopePose& scope, const glm::dvec2& position, double off) {
  const glm::dvec3 p(organs.on_surface(scope, position));
  return p + off * glm::normalize(scope.eye - p);
}

}  // namespace

ShotOrgans::ShotOrgans(int liver_faces) : meshes_{make_liver({.faces = liver_faces}), make_stomach()} {
  const glm::vec3 colours[] = {{0.31f, 0.060f, 0.048f}, {0.62f, 0.33f, 0.28f}};
  for (int k = 0; k < 2; ++k) {
    moved_[k] = meshes_[k].positions;
    drawn_.push_back({meshes_[k].view(), colours[k], moved_[k], {}, 0});
  }
}

void ShotOrgans::tremble(int frame) {
  for (int k = 0; k < 2; ++k) {
    for (std::size_t v = 0; v < moved_[k].size(); ++v)
      moved_[k][v].z = meshes_[k].positions[v].z + 5e-6f * std::sin(0.7f * static_cast<float>(frame));
  }
}

std::size_t ShotOrgans::faces() const { return meshes_[0].faces.size() + meshes_[1].faces.size(); }

glm::vec3 ShotOrgans::on_surface(const ScopePose& scope, const glm::dvec2& position) const {
  glm::vec3 best(0.f);
  double best_cost = std::numeric_limits<double>::infinity();
  for (const TriangleMesh& mesh : meshes_) {
    for (const glm::vec3& p : mesh.positions) {
      const SeenPoint seen = seen_point(scope, Lens{.barrel = 0.0}, p);
      const double aside = glm::distance(seen.location, position);
      if (!seen.visible || aside > 0.06) continue;
      const double cost = glm::distance(glm::dvec3(p), scope.eye) + 0.4 * aside;
      if (cost < best_cost) {
        best_cost = cost;
        best = p;
      }
    }
  }
  return best;
}

std::vector<Shot> make_shots(const ShotOrgans& organs) {
  std::vector<Shot> shots;
  shots.push_back(named("two-tools", kUsual));
  shots.back().tools = {
      tool(InstrumentKind::Grasper, {-0.095, -0.075, 0.265}, tip_at(organs, kUsual, {-0.35, 0.05}, 0.002), 0.5, 30.0),
      tool(InstrumentKind::Hook, {0.105, -0.095, 0.260}, tip_at(organs, kUsual, {0.45, -0.15}, 0.004), 1.0, 160.0)};
  mark(organs, shots.back());

  shots.push_back(named("close-up", looking({-0.03, -0.02, 0.225}, {-0.04, 0.07, 0.165}, 60.0)));

  const ScopePose near = looking({0.0, -0.02, 0.245}, {-0.02, 0.07, 0.165}, 60.0);
  shots.push_back(named("burn", near));
  shots.back().tools = {
      tool(InstrumentKind::Hook, {0.105, -0.05, 0.270}, tip_at(organs, near, {0.1, 0.0}, 0.0), 1.0, 60.0, true)};
  shots.back().tools[0].touching = true;
  shots.back().seconds = 2.5;

  shots.push_back(named("thirty-degrees", looking({0.0, -0.105, 0.245}, {-0.018, 0.055, 0.150}, 60.0, 30.0, 60.0)));
  shots.back().tools = shots.front().tools;

  shots.push_back(named("four-tools", near));
  const InstrumentKind kinds[] = {InstrumentKind::Probe, InstrumentKind::Grasper, InstrumentKind::Hook,
                                  InstrumentKind::Scissors};
  const glm::dvec3 pivots[] = {{-0.15, -0.03, 0.27}, {-0.10, -0.09, 0.25}, {0.11, -0.05, 0.27}, {0.06, -0.11, 0.26}};
  const glm::dvec2 positions[] = {{-0.55, 0.35}, {-0.35, -0.25}, {0.45, 0.2}, {0.2, -0.3}};
  for (int k = 0; k < 4; ++k)
    shots.back().tools.push_back(
        tool(kinds[k], pivots[k], tip_at(organs, near, positions[k], 0.006), 0.6, k == 2 ? 150.0 : 40.0));

  shots.push_back(named("marks", near));
  mark(organs, shots.back());

  shots.push_back(named("zone", kUsual));
  shots.back().tools = shots.front().tools;
  shots.back().corner = {{-0.2, -0.5}, {0.5, -0.55}, {0.75, -0.1}, {0.3, 0.05}, {0.15, -0.2}, {-0.1, -0.05}};
  shots.back().marks.zones.push_back({shots.back().corner, false});
  return shots;
}

}  // namespace trocar::bench
