// Steps organs together with the contacts between them, and makes blocks with a fine surface that press on each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "deform/contact/grasp.hpp"
#include "deform/contact/organ_contact.hpp"
#include "deform/join/bonds.hpp"
#include "deform/reference/energy.hpp"
#include "deform/solid/tissue.hpp"
#include "deform/step.hpp"
#include "geometry/refine.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar::test {

// Returns the box from `low` with the given `size`, its sides divided into squares of about `step`. Edges do not share
// vertices.
inline TriangleMesh fine_block(const glm::vec3& low, const glm::vec3& size, float step) {
  TriangleMesh mesh;
  const glm::ivec3 n = glm::max(glm::ivec3(glm::round(size / step)), 1);
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      const auto base = static_cast<std::uint32_t>(mesh.positions.size());
      for (int j = 0; j <= n[v]; ++j)
        for (int i = 0; i <= n[u]; ++i) {
          glm::vec3 p(0.f);
          p[axis] = static_cast<float>(side);
          p[u] = static_cast<float>(i) / static_cast<float>(n[u]);
          p[v] = static_cast<float>(j) / static_cast<float>(n[v]);
          mesh.positions.push_back(low + size * p);
        }
      const auto at = [&](int i, int j) { return base + static_cast<std::uint32_t>(j * (n[u] + 1) + i); };
      for (int j = 0; j < n[v]; ++j)
        for (int i = 0; i < n[u]; ++i) {
          glm::uvec3 first(at(i, j), at(i + 1, j), at(i + 1, j + 1)), second(at(i, j), at(i + 1, j + 1), at(i, j + 1));
          if (side == 0) std::swap(first.y, first.z), std::swap(second.y, second.z);
          mesh.faces.push_back(first);
          mesh.faces.push_back(second);
        }
    }
  return mesh;
}

struct OrganGroup {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  std::vector<SteppedTissue> states = {};
  std::vector<std::vector<glm::vec3>> surfaces = {};
  OrganContacts contacts = {};
  std::vector<const TissueModel*> model_list = {};
  std::vector<SteppedTissue*> state_list = {};
  std::vector<OrganBody> bodies = {};

  OrganGroup(std::vector<TriangleMesh> given, std::vector<TissueModel> made, const OrganContactParams& params = {})
      : meshes(std::move(given)), models(std::move(made)) {
    std::vector<MeshView> views;
    for (std::size_t k = 0; k < models.size(); ++k) {
      views.push_back(meshes[k].view());
      states.push_back(rest_state(models[k]));
      surfaces.emplace_back(models[k].embedding.size());
      embed_surface(models[k], states[k].x, surfaces[k]);
    }
    for (std::size_t k = 0; k < models.size(); ++k) {
      model_list.push_back(&models[k]);
      state_list.push_back(&states[k]);
      bodies.push_back({&models[k], &states[k], surfaces[k]});
    }
    contacts = make_organ_contacts(views, model_list, params);
  }
  OrganGroup(const OrganGroup&) = delete;

  void find(float dt) { find_organ_contacts(bodies, dt, contacts); }

  // One frame of all organs with common substeps; `touching` false: each organ independently.
  void frame(float dt, bool touching = true) {
    if (touching) find(dt);
    for (std::size_t k = 0; k < models.size(); ++k) begin_step(models[k], states[k], {});
    Substep substep{1, 1, dt};
    for (std::size_t k = 0; k < models.size(); ++k)
      substep.count = std::max(substep.count, substep_count(models[k], states[k], dt));
    substep.dt = dt / static_cast<float>(substep.count);
    for (; substep.number <= substep.count; ++substep.number) {
      for (std::size_t k = 0; k < models.size(); ++k) advance(models[k], states[k], {}, substep);
      if (touching) solve_organ_contacts(model_list, state_list, substep.dt, contacts);
    }
    for (std::size_t k = 0; k < models.size(); ++k) {
      end_step(models[k], states[k], substep, dt);
      embed_surface(models[k], states[k].x, surfaces[k]);
    }
  }

  float deepest() const {
    float gap = 0.f;
    for (const PairContact& c : contacts.contacts) gap = std::min(gap, c.gap);
    return -gap;
  }
  glm::dvec3 momentum(std::size_t organ) const {
    glm::dvec3 sum(0.0);
    for (std::size_t i = 0; i < states[organ].v.size(); ++i)
      sum += static_cast<double>(models[organ].mass[i]) * glm::dvec3(states[organ].v[i]);
    return sum;
  }
  double mass(std::size_t organ) const {
    double sum = 0.0;
    for (const float m : models[organ].mass) sum += m;
    return sum;
  }
  glm::dvec3 centre(std::size_t organ) const {
    glm::dvec3 sum(0.0);
    for (std::size_t i = 0; i < states[organ].x.size(); ++i)
      sum += static_cast<double>(models[organ].mass[i]) * glm::dvec3(states[organ].x[i]);
    return sum / mass(organ);
  }
};

// Provides two blocks of tissue, one on the other, that bonds connect, and their energy. For tests. Units: metres,
// kilograms, seconds, joules.

constexpr float kFrame = 1.f / 60.f;  // s
constexpr float kSide = 0.04f;        // m  of a block

// Tissue without damping.
inline TissueParams floating() {
  TissueParams params;
  params.drag = 0.f, params.damping_time = 0.f;
  return params;
}

// Adds the forces of all bonds between the organs, and breaks what is stretched too far.
inline void add_all_bond_forces(OrganGroup& group, Bonds& bonds) {
  place_fibres(group.model_list, bonds);
  add_common_forces(group.model_list, group.state_list, kFrame, bonds);
  for (std::uint32_t k = 0; k < group.models.size(); ++k)
    add_bond_forces(k, group.model_list, group.state_list, kFrame, bonds);
  break_torn_fibres(bonds);
}

// Two blocks, the second on the first, with a common face of 40 x 40 mm at z = 40 mm.
class TwoBlocks {
 public:
  explicit TwoBlocks(const TissueParams& params, const glm::vec3& size = glm::vec3(kSide), float overlap = 0.f) {
    std::vector<TriangleMesh> meshes;
    std::vector<TissueModel> models;
    for (int k = 0; k < 2; ++k) {
      meshes.push_back(fine_block({0.f, 0.f, (size.z - overlap) * float(k)}, size, 0.004f));
      models.push_back(make_tissue(meshes.back().view(), params, {}));
    }
    group_.emplace(std::move(meshes), std::move(models));
    for (std::size_t k = 0; k < 2; ++k)
      organs_.push_back({&group_->models[k], group_->meshes[k].view(), &group_->contacts.field[k]});
  }

  OrganGroup& group() { return *group_; }
  std::span<const BondedOrgan> organs() const { return organs_; }
  Bonds bonds;

  // One step of `dt` seconds with bonds and without contacts.
  void step(float dt, OrganStepper& stepper) {
    if (bonds.slowdown.empty()) measure_slowdown(group_->model_list, bonds);
    std::vector<SteppedOrgan> stepped;
    for (std::size_t k = 0; k < 2; ++k) stepped.push_back({&group_->models[k], &group_->states[k], {}});
    OrganContacts none;
    stepper.step(stepped, none, bonds, dt);
  }

  // Breaks what is stretched too far in the present state.
  void break_stretched() {
    for (std::size_t k = 0; k < 2; ++k) begin_step(group_->models[k], group_->states[k], {});
    add_all_bond_forces(*group_, bonds);
  }

  glm::dvec3 pull_on_second() const {
    glm::dvec3 sum(0.0);
    for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
      if (!bonds.intact[f]) continue;
      const glm::dvec3 pull(
          pull_on_a(bonds.fibres[f], ends_of(bonds.fibres[f], group_->model_list, group_->state_list)));
      sum += bonds.fibres[f].a.organ == 1 ? pull : -pull;
    }
    return sum;
  }

  // Returns the energy that substeps of `dt` seconds conserve for a linear system.
  double energy(double dt) const {
    return stepped_energy(energy_of(group_->model_list, group_->state_list, bonds), group_->state_list, dt);
  }

 private:
  std::optional<OrganGroup> group_;
  std::vector<BondedOrgan> organs_;
};

inline LayerParams second_on_first() {
  LayerParams params;
  params.reach = 1e-4f;
  return params;
}

inline void shift(SteppedTissue& state, const glm::vec3& by) {
  for (glm::vec3& x : state.x) x += by;
}

// Peels a strip of soft tissue off a bed: a layer joins them, and the strip's free end is lifted at a steady speed, at
// a right angle. For tests and for the plot of peel force. Units: metres, newtons, seconds.

struct PeelParams {
  float length = 0.12f, width = 0.02f;  // m    of the bed
  float speed = 0.03f;                  // m/s  of the lifted end
  float rate = 60.f;                    // Hz
  float spacing = 0.002f;               // m    of the fibres
  float bed_modulus = 6e3f;             // Pa
};

struct PeelStep {
  double lifted, bonded;  // m  how far the end is lifted; length of the bed that is still joined
  double force;           // N  with which the end is held
  double work;            // J  done on it so far
};

// The joined length and the force after each frame, until nothing is joined or the end is lifted by three lengths.
class Peel {
 public:
  explicit Peel(const PeelParams& params) : params_(params), group_(meshes(params), models(params)) {
    for (std::size_t k = 0; k < 2; ++k)
      organs_.push_back({&group_.models[k], group_.meshes[k].view(), &group_.contacts.field[k]});
    layer_.reach = 1e-4f;
    fibres_ = add_layer(layer_, 1, 0, organs_, bonds_);
    measure_slowdown(group_.model_list, bonds_);
    for (std::size_t v = 0; v < group_.meshes[1].positions.size(); ++v)
      if (group_.meshes[1].positions[v].x > params.length + 0.5f * kFree) held_.push_back(v);
  }

  // Work per area that breaks the layer, J/m^2.
  double fracture_energy() const {
    return 0.5 * double(layer_.modulus * layer_.thickness * layer_.break_strain * layer_.break_strain);
  }

  std::vector<PeelStep> run() {
    OrganStepper stepper(1);
    OrganContacts none;
    std::vector<PeelStep> steps;
    const float dt = 1.f / params_.rate;
    float lifted = 0.f;
    double work = 0.0;
    while (bonds_.broken.size() < fibres_ && lifted < 3.f * params_.length) {
      std::vector<TissueHold> holds;
      for (const std::size_t v : held_) {
        const glm::vec3 at = group_.meshes[1].positions[v] + lifted * kWay;
        holds.push_back({group_.models[1].embedding[v], at, at + params_.speed * dt * kWay, 10.f});
      }
      const SteppedOrgan stepped[] = {{&group_.models[0], &group_.states[0], {}},
                                      {&group_.models[1], &group_.states[1], {{}, {}, holds}}};
      stepper.step(stepped, none, bonds_, dt);
      lifted += params_.speed * dt;
      glm::vec3 force(0.f);
      for (std::size_t k = 0; k < holds.size(); ++k) force -= hold_force(group_.states[1], k);
      work += double(glm::dot(force, kWay) * params_.speed * dt);
      const double share = 1.0 - double(bonds_.broken.size()) / double(fibres_);
      steps.push_back({double(lifted), share * double(params_.length), double(glm::length(force)), work});
    }
    return steps;
  }

 private:
  // The end moves back as far as up, so that it stays above the front and the angle is about 90 degrees.
  static constexpr glm::vec3 kWay{-1.f, 0.f, 1.f};
  static constexpr float kBed = 0.012f, kStrip = 0.006f, kFree = 0.012f;  // m  thickness, free end

  static std::vector<TriangleMesh> meshes(const PeelParams& p) {
    return {fine_block({0.f, 0.f, -kBed}, {p.length, p.width, kBed}, p.spacing),
            fine_block({0.f, 0.f, 0.f}, {p.length + kFree, p.width, kStrip}, p.spacing)};
  }
  static std::vector<TissueModel> models(const PeelParams& p) {
    const std::vector<TriangleMesh> made = meshes(p);
    TissueParams bed, strip;
    bed.node_spacing = strip.node_spacing = 0.004f, bed.youngs_modulus = p.bed_modulus;
    strip.youngs_modulus = 2e4f;
    std::vector<TissueModel> models{make_tissue(made[0].view(), bed, {}), make_tissue(made[1].view(), strip, {})};
    for (std::size_t i = 0; i < models[0].rest.size(); ++i)
      if (models[0].rest[i].z < -0.5f * kBed) models[0].inverse_mass[i] = 0.f;
    return models;
  }

  PeelParams params_;
  OrganGroup group_;
  std::vector<BondedOrgan> organs_;
  LayerParams layer_;
  Bonds bonds_;
  std::size_t fibres_ = 0;
  std::vector<std::size_t> held_;
};

// Of the steady middle of a peel, in which a quarter to three quarters of the bed are joined.
struct SteadyPeel {
  double force;  // N     mean
  double work;   // J/m^2 for each area that comes loose
};
inline SteadyPeel steady_part(std::span<const PeelStep> steps, const PeelParams& params) {
  double force = 0.0, count = 0.0;
  const PeelStep *first = nullptr, *last = nullptr;
  for (const PeelStep& step : steps) {
    if (!(step.bonded > 0.25 * double(params.length) && step.bonded < 0.75 * double(params.length))) continue;
    if (!first) first = &step;
    last = &step;
    force += step.force, count += 1.0;
  }
  if (!first || first == last) return {};
  return {force / count, (last->work - first->work) / ((first->bonded - last->bonded) * double(params.width))};
}

// Makes jaws for tests: two plates of 3.6 x 2 x 16 mm with rounded edges, hinged at z = 16 mm, as sim/device makes them
// from the drawn shape. Units: metres, radians.

constexpr double kWidest = 1.0471975511965976;  // rad, 60 degrees

inline PartShape jaw(double side) {
  PartShape shape;
  shape.radius = 2.5e-4, shape.hinge_z = 0.016, shape.side = side;
  for (const double x : {-1.55e-3, 1.55e-3})
    for (const double y : {3e-4, 1.8e-3})
      for (const double z : {2.5e-4, 1.575e-2}) shape.corners.emplace_back(x, side * y, z);
  return shape;
}

// An instrument with two jaws, moved pose by pose.
struct Grasper {
  PartShape upper = jaw(1.0), lower = jaw(-1.0);
  Jaws jaws{&upper, &lower, kWidest};
  InstrumentPose pose;
  InstrumentMotion motion = {};

  void move(const InstrumentPose& to) {
    motion = instrument_motion(pose, to);
    pose = to;
  }
  ToolStep step(const PartShape& part) const {
    ToolStep made = motion.shaft;
    made.part = {&part, &motion};
    return made;
  }
};

// Makes a fold of tissue, 5 mm thick, between the jaws of a grasper. Tests and benchmarks use the same fold.
// Units: metres, newtons, radians.

// The fold stands upright: 40 mm long, 5 mm thick, 20 mm high. The jaws come from above; they open along its thickness.
struct Fold {
  TriangleMesh mesh = fine_block({-0.02f, -0.0025f, 0.f}, {0.04f, 0.005f, 0.02f}, 0.00125f);
  TissueParams tissue = [] {
    TissueParams params;
    params.node_spacing = 0.0025f;
    return params;
  }();
  Attachment floor{{0.f, 0.f, -0.3f}, 0.3028f};
  TissueModel model = make_tissue(mesh.view(), tissue, {&floor, 1});
  SteppedTissue state = rest_state(model);
  std::vector<glm::vec3> positions = mesh.positions;
  FacesAround around = faces_around(mesh.faces, mesh.positions.size());
  GraspParams params;
  Grasp grasp;
  Grasper tool;
  double commanded = 1.0;
  double firmness = 1.0;  // 1  of the grip: force of the handle relative to a firm one
  bool both_touched = false;
  double on_upper = 0.0;  // N  force of the lattice that pushes the upper jaw open

  // `side`: m  the jaws stand this far beside the middle of the fold.
  explicit Fold(double side = 0.0) { tool.pose = at({0.0, side, 0.013}, 1.0); }

  // The pose with the end of the instrument at `end`; its x axis along the fold.
  static InstrumentPose at(const glm::dvec3& end, double aperture, double turn = 0.0) {
    return {{end + glm::dvec3(0.0, 0.0, 0.2), end + glm::dvec3(0.0, 0.0, 0.0025), 0.0025}, turn, aperture * kWidest};
  }
  bool touched(const PartShape& part) const {
    Touch touch;
    return std::any_of(mesh.faces.begin(), mesh.faces.end(), [&](const glm::uvec3& face) {
      return refine_touch(tool.step(part), triangle_of(positions, face), touch);
    });
  }

  void frame(const glm::dvec3& end, double aperture, double turn = 0.0) {
    const bool closes = aperture < commanded;
    commanded = aperture;
    const double opening = solve_opening(params, tool.jaws, aperture * kWidest, grasp, firmness);
    tool.move(at(end, opening / kWidest, turn));
    both_touched = touched(tool.upper) && touched(tool.lower);
    if (!grasp.holding() && closes && aperture < params.grip_below && both_touched)
      grip(params, tool.jaws, tool.motion, {model, positions, mesh.faces, around, {}}, grasp);
    std::vector<TissueHold> holds;
    add_holds(params, tool.jaws, tool.motion, grasp, 0, holds);
    trocar::step(model, state, {{}, {}, holds}, 1.f / 60.f);
    glm::vec3 pull(0.f), upper(0.f);
    for (std::size_t i = 0; i < holds.size(); ++i) {
      pull += hold_force(state, i);
      if (grasp.points[i].between.share > 0.0) upper += hold_force(state, i);
    }
    on_upper = glm::dot(frame_at(tool.motion, 1.0).axes[1], glm::dvec3(upper));
    feel_tissue(params, tool.motion.opening_after, on_upper, 1.0 / 60.0, grasp);
    update_grasp(params, tool.jaws, state, tool.motion, 0, pull, grasp);
    embed_surface(model, state.x, positions);
  }
  void close_to(double aperture, const glm::dvec3& end = {0.0, 0.0, 0.013}, int frames = 40) {
    const double from = commanded;
    for (int i = 1; i <= frames; ++i) frame(end, from + (aperture - from) * i / frames);
  }
};

}  // namespace trocar::test
