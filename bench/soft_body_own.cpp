// Runs our tissue in the soft-body bench.
#include <cmath>

#include "bench/soft_body.hpp"
#include "deform/solid/elastic_forces.hpp"

namespace trocar::bench {
namespace {

class WholeStep final : public SoftBody {
 public:
  WholeStep(const TissueModel& model, double dt)
      : model_(model), state_(rest_state(model)), dt_(static_cast<float>(dt)) {
    for (std::uint32_t node = 0; node < state_.x.size(); ++node) state_.x[node] = shaken(model, node);
  }
  void pass() override { step(model_, state_, {}, dt_); }

 private:
  const TissueModel& model_;
  SteppedTissue state_;
  float dt_;
};

class Forces final : public SoftBody {
 public:
  explicit Forces(TissueModel model) : model_(std::move(model)) {
    const std::size_t nodes = model_.rest.size();
    for (NodeColumns* columns : {&x_, &force_})
      for (std::vector<float>* axis : {&columns->x, &columns->y, &columns->z}) axis->resize(nodes + kLanes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const glm::vec3 p = shaken(model_, node);
      x_.x[node] = p.x, x_.y[node] = p.y, x_.z[node] = p.z;
    }
  }
  void pass() override { add_elastic_forces(model_, x_, force_); }

 private:
  TissueModel model_;
  NodeColumns x_, force_;
};

SoftBodyWay step_way(const char* name, const TissueModel& model, double dt, const char* how) {
  return {name, how, substep_count(model, static_cast<float>(dt)), std::make_unique<WholeStep>(model, dt)};
}

// Returns a box of twelve faces from the origin to `size`.
TriangleMesh box(const glm::vec3& size) {
  TriangleMesh mesh;
  for (int corner = 0; corner < 8; ++corner) mesh.positions.push_back(glm::vec3(corner_offset(corner)) * size);
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t out = 1u << axis, u = 1u << (axis + 1) % 3, v = 1u << (axis + 2) % 3;
    mesh.faces.insert(mesh.faces.end(), {{0, u | v, u}, {0, v, u | v}});
    mesh.faces.insert(mesh.faces.end(), {{out, out | u, out | u | v}, {out, out | u | v, out | v}});
  }
  return mesh;
}

}  // namespace

glm::vec3 shaken(const TissueModel& model, std::uint32_t node) {
  const float a = static_cast<float>(node);
  return model.rest[node] +
         0.01f * model.params.node_spacing * glm::vec3(std::sin(a), std::sin(2 * a), std::sin(3 * a));
}

std::vector<SoftBodyWay> own_soft_bodies(const TissueModel& model) {
  TissueModel springs_only = model;
  springs_only.cell_rows.clear();
  std::vector<SoftBodyWay> ways;
  ways.push_back(step_way("own_step", model, kFrame, "step() of 1/60 s: springs, volumes, motion and all other work"));
  ways.push_back(step_way("own_step_1ms", model, 1e-3, "step() of 1 ms, the same"));
  ways.push_back({"own_forces", "springs and volumes of one substep", 1, std::make_unique<Forces>(model)});
  ways.push_back({"own_springs", "only its springs", 1, std::make_unique<Forces>(std::move(springs_only))});
  return ways;
}

TissueModel hanging_column() {
  // Gravity is weak enough for strains of a few per cent. A ball this large holds the top layer like a plane.
  TissueParams params;
  params.node_spacing = 0.01f;
  params.gravity = {0.f, 0.f, -1.f};
  const glm::vec3 size(0.04f, 0.04f, 0.2f);
  const Attachment top{{0.5f * size.x, 0.5f * size.y, size.z + 9.995f}, 10.f};
  return make_tissue(box(size).view(), params, {&top, 1});
}

double column_sag_in_theory(const TissueModel& column) {
  const auto length = static_cast<double>(column.lattice.size.z) * column.lattice.spacing;
  const TissueParams& p = column.params;
  return -static_cast<double>(p.density * p.gravity.z) * length * length /
         (2.0 * static_cast<double>(p.youngs_modulus));
}

double mean_drop(const TissueModel& column, std::span<const float> height) {
  double sum = 0.0, count = 0.0;
  for (std::uint32_t node = 0; node < height.size(); ++node) {
    if (column.lattice.node_at[node].z > 0) continue;
    sum += static_cast<double>(column.rest[node].z - height[node]);
    count += 1.0;
  }
  return sum / count;
}

std::vector<Sag> own_sags(const TissueModel& column, std::span<const int> iterations) {
  std::vector<Sag> sags;
  for (const int substeps : iterations) {
    TissueModel model = column;
    model.params.substeps = substeps;
    SteppedTissue state = rest_state(model);
    for (int frame = 0; frame < kSettlingFrames; ++frame) step(model, state, {}, static_cast<float>(kFrame));
    std::vector<float> height;
    for (const glm::vec3& p : state.x) height.push_back(p.z);
    sags.push_back({"own", substep_count(model, static_cast<float>(kFrame)), mean_drop(model, height)});
  }
  return sags;
}

}  // namespace trocar::bench
