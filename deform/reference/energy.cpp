#include "deform/reference/energy.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>

#include "deform/solid/elasticity.hpp"
#include "deform/step.hpp"
#include "geometry/closest.hpp"
#include "geometry/part.hpp"

namespace trocar {
namespace {

// Removes the negative part of the curvature of a cell's energy, for Newton's method: negative eigenvalues become 0.
// matrix: [9][9], symmetric, over the three mean edges of a cell.
void keep_positive_part(std::span<double, 81> matrix) {
  using Square = Eigen::Matrix<double, 9, 9>;
  Eigen::Map<Square> m(matrix.data());
  const Eigen::SelfAdjointEigenSolver<Square> solver(m);
  m = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() * solver.eigenvectors().transpose();
}

using glm::dmat3;
using glm::dvec3;

// Springs shorter than this have no direction; they exert no force.
constexpr double kShortestSpring = 1e-12;  // m

dvec3 anchor_of(const TissueModel& model, const Tether& tether, const dvec3& breath) {
  return dvec3(model.rest[tether.node]) + (tether.diaphragm ? breath : dvec3(0.0));
}

// Second derivatives of J = a . (b x c) and of (J - 1)^2 / 2 with respect to the nine components of the mean edges.
using Edges = std::array<dvec3, 3>;
using Matrix9 = Eigen::Matrix<double, 9, 9>;
using Vector9 = Eigen::Matrix<double, 9, 1>;

void put_cross(Matrix9& into, int row, int column, const dvec3& v) {
  const double cross[3][3] = {{0.0, -v.z, v.y}, {v.z, 0.0, -v.x}, {-v.y, v.x, 0.0}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      into(3 * row + i, 3 * column + j) = cross[i][j];
      into(3 * column + j, 3 * row + i) = cross[i][j];
    }
}

Matrix9 second_derivative_of_volume(const Edges& e) {
  Matrix9 second = Matrix9::Zero();
  put_cross(second, 0, 1, -e[2]);
  put_cross(second, 0, 2, e[1]);
  put_cross(second, 1, 2, -e[0]);
  return second;
}

// One cell: its mean edges are sum over corners of sign * node / 4, in units of the spacing.
struct CellTerm {
  const LatticeCell& cell;
  double spacing;    // m
  double stiffness;  // J, bulk times h^3

  double sign(int corner, int axis) const { return (corner_offset(corner)[axis] ? 0.25 : -0.25) / spacing; }

  Edges mean_edges(std::span<const dvec3> x) const {
    Edges edges{dvec3(0.0), dvec3(0.0), dvec3(0.0)};
    for (int corner = 0; corner < 8; ++corner)
      for (int axis = 0; axis < 3; ++axis) edges[axis] += sign(corner, axis) * x[cell.node[corner]];
    return edges;
  }

  void add_curvature(const Matrix9& over_edges, Expansion& out) const {
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        if (cell.node[i] < cell.node[j]) continue;
        dmat3 block(0.0);
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l)
            for (int r = 0; r < 3; ++r)
              for (int c = 0; c < 3; ++c) block[c][r] += sign(i, k) * sign(j, l) * over_edges(3 * k + r, 3 * l + c);
        out.curvature.push_back({cell.node[i], cell.node[j], block});
      }
  }

  void add(std::span<const dvec3> x, Curvature curvature, Expansion& out) const {
    const Edges e = mean_edges(x);
    const Edges normal = {glm::cross(e[1], e[2]), glm::cross(e[2], e[0]), glm::cross(e[0], e[1])};
    const double strain = glm::dot(e[0], normal[0]) - 1.0;
    out.energy += 0.5 * stiffness * strain * strain;
    for (int corner = 0; corner < 8; ++corner)
      for (int axis = 0; axis < 3; ++axis)
        out.slope[cell.node[corner]] += stiffness * strain * sign(corner, axis) * normal[axis];
    if (curvature == Curvature::None) return;
    Vector9 first;
    for (int i = 0; i < 9; ++i) first(i) = normal[i / 3][i % 3];
    Matrix9 second = stiffness * (first * first.transpose() + strain * second_derivative_of_volume(e));
    if (curvature == Curvature::Convex) keep_positive_part(std::span<double, 81>(second.data(), 81));
    add_curvature(second, out);
  }
};

}  // namespace

void add_springs(const TissueModel& model, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  for_each_spring(model, [&](const Spring& s) {
    const double k = s.stiffness, rest = s.rest_length;
    const dvec3 d = x[s.b] - x[s.a];
    const double length = glm::length(d);
    out.energy += 0.5 * k * (length - rest) * (length - rest);
    if (length < kShortestSpring) return;
    const dvec3 n = d / length;
    out.slope[s.b] += k * (length - rest) * n;
    out.slope[s.a] -= k * (length - rest) * n;
    if (curvature == Curvature::None) return;
    double across = k * (1.0 - rest / length);
    if (curvature == Curvature::Convex) across = std::max(across, 0.0);
    const dmat3 block = across * dmat3(1.0) + (k - across) * glm::outerProduct(n, n);
    out.curvature.push_back({s.a, s.a, block});
    out.curvature.push_back({s.b, s.b, block});
    out.curvature.push_back({s.b, s.a, -block});
  });
}

void add_volumes(const TissueModel& model, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  if (model.params.law == TissueLaw::Rising) return add_matrix(model, x, curvature, out);
  const double h = model.lattice.spacing;
  for (std::size_t cell = 0; cell < model.lattice.cells.size(); ++cell) {
    const double bulk = model.bulk[model.bulk_index[cell]];
    if (bulk > 0.0) CellTerm{model.lattice.cells[cell], h, bulk * h * h * h}.add(x, curvature, out);
  }
}

void add_tethers(const TissueModel& model, std::span<const dvec3> x, const dvec3& breath, Expansion& out) {
  for (const Tether& tether : model.tethers) {
    const dvec3 away = x[tether.node] - anchor_of(model, tether, breath);
    out.energy += 0.5 * tether.stiffness * glm::dot(away, away);
    out.slope[tether.node] += double(tether.stiffness) * away;
    out.curvature.push_back({tether.node, tether.node, dmat3(double(tether.stiffness))});
  }
}

// Computes the matrix and the volumes of the law `rising` for the implicit reference solver.

namespace {

using MatrixOfEdges = Eigen::Matrix<double, 9, 9>;
using EdgeVector = Eigen::Matrix<double, 9, 1>;

// Component 3 k + r is component r of edge k at the centroid, over the spacing.
EdgeVector edges_of(const CellGradient& gradient, double spacing, std::span<const dvec3> x) {
  EdgeVector edges = EdgeVector::Zero();
  for (std::size_t i = 0; i < gradient.count; ++i)
    for (int k = 0; k < 3; ++k)
      for (int r = 0; r < 3; ++r) edges(3 * k + r) += gradient.weight[i][k] / spacing * x[gradient.node[i]][r];
  return edges;
}

dvec3 edge(const EdgeVector& edges, int k) { return {edges(3 * k), edges(3 * k + 1), edges(3 * k + 2)}; }

struct Volume {
  double value;      // 1, J
  EdgeVector first;  // 1, derivative with respect to the mean edges
  MatrixOfEdges second;
};

Volume volume_of(const EdgeVector& edges) {
  Volume volume{0.0, EdgeVector::Zero(), MatrixOfEdges::Zero()};
  for (int k = 0; k < 3; ++k) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    const dvec3 side = glm::cross(edge(edges, l), edge(edges, m)), e = edge(edges, m);
    for (int r = 0; r < 3; ++r) volume.first(3 * k + r) = side[r];
    // d (e_l x e_m) / d e_l = -[e_m]
    const double cross[3][3] = {{0.0, -e.z, e.y}, {e.z, 0.0, -e.x}, {-e.y, e.x, 0.0}};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        volume.second(3 * k + i, 3 * l + j) = -cross[i][j];
        volume.second(3 * l + j, 3 * k + i) = -cross[i][j];
      }
  }
  volume.value = edges.head<3>().dot(volume.first.head<3>());
  return volume;
}

void add_curvature(const CellGradient& gradient, double spacing, const MatrixOfEdges& over_edges, Expansion& out) {
  for (std::size_t i = 0; i < gradient.count; ++i)
    for (std::size_t j = 0; j < gradient.count; ++j) {
      if (gradient.node[i] < gradient.node[j]) continue;
      Eigen::Matrix3d block = Eigen::Matrix3d::Zero();
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
          block += double(gradient.weight[i][k]) * double(gradient.weight[j][l]) / (spacing * spacing) *
                   over_edges.block<3, 3>(3 * k, 3 * l);
      dmat3 value;
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) value[c][r] = block(r, c);
      out.curvature.push_back({gradient.node[i], gradient.node[j], value});
    }
}

struct MatrixTerm {
  double shear, bulk;                  // J, moduli of a cell times its volume
  double stiffening, late_stiffening;  // 1

  void add(const CellGradient& gradient, double spacing, std::span<const dvec3> x, Curvature curvature,
           Expansion& out) const {
    const EdgeVector edges = edges_of(gradient, spacing, x);
    const Volume volume = volume_of(edges);
    const double swell = volume.value - 1.0;
    const Rise rise = rise_of(stiffening, late_stiffening, edges.squaredNorm() - 3.0 - 2.0 * swell);
    const EdgeVector first_of_q = 2.0 * (edges - volume.first);
    const EdgeVector slope = 0.5 * shear * rise.slope * first_of_q + bulk * swell * volume.first;
    out.energy += 0.5 * shear * rise.energy + 0.5 * bulk * swell * swell;
    for (std::size_t i = 0; i < gradient.count; ++i)
      for (int k = 0; k < 3; ++k) out.slope[gradient.node[i]] += gradient.weight[i][k] / spacing * edge(slope, k);
    if (curvature == Curvature::None) return;
    MatrixOfEdges second = shear * rise.slope * (MatrixOfEdges::Identity() - volume.second) +
                           0.5 * shear * rise.second * first_of_q * first_of_q.transpose() +
                           bulk * (volume.first * volume.first.transpose() + swell * volume.second);
    if (curvature == Curvature::Convex) keep_positive_part(std::span<double, 81>(second.data(), 81));
    add_curvature(gradient, spacing, second, out);
  }
};

}  // namespace

void add_matrix(const TissueModel& model, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  const TissueParams& p = model.params;
  const double h = model.lattice.spacing;
  const double ratio = shear_modulus(p) / volume_modulus(p);
  for (std::size_t i = 0; i < model.lattice.cells.size(); ++i) {
    const double bulk = model.bulk[model.bulk_index[i]] * h * h * h;
    if (!(bulk > 0.0)) continue;
    const double fraction = spring_fraction(p.law, model.lattice.cells[i].volume_fraction);
    const MatrixTerm term{(1.0 - fraction) * ratio * bulk, (1.0 + (1.0 - 2.0 * fraction) * ratio) * bulk, p.stiffening,
                          p.late_stiffening};
    term.add(cell_gradient(model, i), h, x, curvature, out);
  }
}

// Computes contacts, holds and friction of the implicit reference solver.

namespace {

// A point closer than this to a tool's axis has no direction to it; the stored side of the contact is used.
constexpr double kOnAxis = 1e-9;  // m

void add_embedding(const Embedding& e, double share, ImplicitPoint& point) {
  if (share == 0.0) return;
  for (int i = 0; i < 8; ++i) {
    const auto known = std::find(point.node.begin(), point.node.end(), e.node[i]);
    const std::size_t at = known - point.node.begin();
    if (known == point.node.end()) point.node.push_back(e.node[i]), point.weight.push_back(0.0);
    point.weight[at] += share * e.weight[i];
  }
}

// Distributes gradient and curvature of a function of the point to the nodes by their weights.
void spread(const ImplicitPoint& point, const dvec3& slope, const dmat3& second, Curvature curvature, Expansion& out) {
  for (std::size_t i = 0; i < point.node.size(); ++i) {
    out.slope[point.node[i]] += point.weight[i] * slope;
    if (curvature == Curvature::None) continue;
    for (std::size_t j = 0; j < point.node.size(); ++j)
      if (point.node[i] >= point.node[j])
        out.curvature.push_back({point.node[i], point.node[j], point.weight[i] * point.weight[j] * second});
  }
}

// A spring to the origin of `away` that yields at `limit` newtons: energy stiffness/2 d^2, then limit * d.
void add_yielding_spring(const ImplicitPoint& point, const dvec3& away, double stiffness, double limit,
                         Curvature curvature, Expansion& out) {
  const double distance = glm::length(away), yield = limit / stiffness;
  if (distance <= yield) {
    out.energy += 0.5 * stiffness * distance * distance;
    spread(point, stiffness * away, dmat3(stiffness), curvature, out);
    return;
  }
  const dvec3 n = away / distance;
  out.energy += limit * (distance - 0.5 * yield);
  spread(point, limit * n, limit / distance * (dmat3(1.0) - glm::outerProduct(n, n)), curvature, out);
}

}  // namespace

ImplicitPoint contact_point(const TissueModel& model, const TissueContact& contact) {
  ImplicitPoint point;
  add_embedding(model.embedding[contact.vertex], 1.0 - double(contact.u) - double(contact.v), point);
  add_embedding(model.embedding[contact.second], contact.u, point);
  add_embedding(model.embedding[contact.third], contact.v, point);
  return point;
}

ImplicitPoint held_point(const Embedding& embedding) {
  ImplicitPoint point;
  add_embedding(embedding, 1.0, point);
  return point;
}

dvec3 position_of(const ImplicitPoint& point, std::span<const dvec3> x) {
  dvec3 position(0.0);
  for (std::size_t i = 0; i < point.node.size(); ++i) position += point.weight[i] * x[point.node[i]];
  return position;
}

namespace {

// The same for a part, which is at the end of its interval. Its surface counts as flat: the curvature only speeds up
// the search of the reference.
ImplicitContact touch_of_part(const dvec3& point, const MovingPart& part, const dvec3& kept_side) {
  const PosedPart posed(*part.shape, frame_at(*part.motion, *part.shape, part.to));
  const double radius = part.shape->radius;
  const std::array<dvec3, 1> at{point};
  const HullDistance closest = hull_distance(posed.corners(), at);
  const dvec3 to_part = closest.on_first - point;
  if (closest.distance > kOnAxis && glm::dot(to_part, kept_side) > 0.0)
    return {to_part / closest.distance, radius - closest.distance, 0.0, dvec3(0.0)};
  return {kept_side, exit_distance(posed.corners(), radius, point, -kept_side), 0.0, dvec3(0.0)};
}

}  // namespace

// A point that has crossed the axis is pushed back to the side it came from.
ImplicitContact touch_between(const dvec3& point, const ToolStep& tool, const dvec3& kept_side) {
  if (tool.part.shape) return touch_of_part(point, tool.part, kept_side);
  const double radius = tool.radius;
  const dvec3 shaft = tool.tip_after - tool.pivot;
  const double along = glm::clamp(glm::dot(point - tool.pivot, shaft) / glm::dot(shaft, shaft), 0.0, 1.0);
  const dvec3 to_axis = tool.pivot + along * shaft - point;
  const double distance = glm::length(to_axis), side = glm::dot(to_axis, kept_side);
  if (distance < kOnAxis || side <= 0.0) return {kept_side, radius - side, 0.0, dvec3(0.0)};
  const bool beside = along > 0.0 && along < 1.0;
  return {to_axis / distance, radius - distance, 1.0 / distance, beside ? glm::normalize(shaft) : dvec3(0.0)};
}

void add_contact(const ImplicitPoint& point, const TissueContact& contact, const ToolStep& tool, double stiffness,
                 std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  const ImplicitContact touch = touch_between(position_of(point, x), tool, dvec3(contact.normal));
  if (touch.depth <= 0.0) return;
  out.energy += 0.5 * stiffness * touch.depth * touch.depth;
  dmat3 second = stiffness * glm::outerProduct(touch.normal, touch.normal);
  if (curvature == Curvature::Exact) {
    const dmat3 across =
        dmat3(1.0) - glm::outerProduct(touch.normal, touch.normal) - glm::outerProduct(touch.along, touch.along);
    second -= stiffness * touch.depth * touch.bend * across;
  }
  spread(point, stiffness * touch.depth * touch.normal, second, curvature, out);
}

void add_hold(const ImplicitPoint& point, const TissueHold& hold, double stiffness, std::span<const dvec3> x,
              Curvature curvature, Expansion& out) {
  add_yielding_spring(point, position_of(point, x) - dvec3(hold.to), stiffness, hold.limit, curvature, out);
}

void add_friction(const ImplicitPoint& point, const ImplicitFriction& friction, std::span<const dvec3> x,
                  Curvature curvature, Expansion& out) {
  if (!(friction.grip > 0.0)) return;
  const dmat3 across = dmat3(1.0) - glm::outerProduct(friction.normal, friction.normal);
  const dvec3 slid = across * (position_of(point, x) - friction.stick);
  const double distance = glm::length(slid), creep = friction.creep_length;
  if (distance <= creep) {
    out.energy += 0.5 * friction.grip / creep * distance * distance;
    spread(point, friction.grip / creep * slid, friction.grip / creep * across, curvature, out);
    return;
  }
  const dvec3 n = slid / distance;
  out.energy += friction.grip * (distance - 0.5 * creep);
  spread(point, friction.grip * n, friction.grip / distance * (across - glm::outerProduct(n, n)), curvature, out);
}

namespace {

// Of the rods, and of the springs at fixed and tethered nodes. Rods take their forces at the end of a step: they have
// no slope here.
void add_tube(const TissueModel& model, const SteppedTissue& state, OrgansEnergy& energy) {
  for (std::size_t r = 0; r < state.tube.rods.size(); ++r) {
    const RodEnergy rod = energy_of(model.tube.rods[r].model, state.tube.rods[r]);
    energy.elastic += rod.elastic(), energy.kinetic += rod.motion;
  }
  const glm::dvec3 breath_now(breath(model.breathing, state.time));
  const auto tie = [&](std::uint32_t node, double stiffness, bool moves) {
    const glm::dvec3 off =
        glm::dvec3(state.x[node]) - glm::dvec3(model.rest[node]) - (moves ? breath_now : glm::dvec3(0.0));
    energy.elastic += 0.5 * stiffness * glm::dot(off, off);
  };
  for (const TubeFixed& fixed : model.tube.fixed) tie(fixed.node, model.tube.fixing, fixed.diaphragm);
  for (const Tether& tether : model.tethers) tie(tether.node, static_cast<double>(tether.stiffness), tether.diaphragm);
  for (std::size_t i = 0; i < state.x.size(); ++i)
    energy.weight -= static_cast<double>(model.mass[i]) *
                     glm::dot(glm::dvec3(model.gravity[i]), glm::dvec3(state.x[i]) - glm::dvec3(model.rest[i]));
  energy.slope.emplace_back(state.x.size(), glm::dvec3(0.0));
}

void add_organ(const TissueModel& model, const SteppedTissue& state, OrgansEnergy& energy) {
  if (!model.tube.empty()) {
    add_tube(model, state, energy);
    return;
  }
  Expansion terms;
  terms.slope.assign(state.x.size(), glm::dvec3(0.0));
  const std::vector<glm::dvec3> x(state.x.begin(), state.x.end());
  add_springs(model, x, Curvature::None, terms);
  add_volumes(model, x, Curvature::None, terms);
  add_tethers(model, x, glm::dvec3(breath(model.breathing, state.time)), terms);
  energy.elastic += terms.energy;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(model.inverse_mass[i] > 0.f)) continue;
    const double mass = model.mass[i];
    const glm::dvec3 v(state.v[i]), pull = mass * glm::dvec3(model.gravity[i]);
    energy.kinetic += 0.5 * mass * glm::dot(v, v);
    energy.weight -= glm::dot(pull, x[i] - glm::dvec3(model.rest[i]));
    terms.slope[i] -= pull;
  }
  energy.slope.push_back(std::move(terms.slope));
}

void add_slope(const BondEnd& end, const glm::dvec3& slope, std::span<const TissueModel* const> models,
               OrgansEnergy& energy) {
  if (end.organ == kWall || !models[end.organ]->tube.empty()) return;
  const std::array<std::uint32_t, 8>& node = models[end.organ]->lattice.cells[end.cell].node;
  for (std::size_t i = 0; i < node.size(); ++i)
    energy.slope[end.organ][node[i]] += static_cast<double>(end.weight[i]) * slope;
}

void add_fibre(const Fibre& fibre, std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
               OrgansEnergy& energy) {
  const FibreEnds ends = ends_of(fibre, models, states);
  const glm::dvec3 pull(pull_on_a(fibre, ends));
  energy.fibres += energy_of(fibre, ends);
  add_slope(fibre.a, -pull, models, energy);
  add_slope(fibre.b, pull, models, energy);
}

}  // namespace

double energy_of(const Fibre& fibre, const FibreEnds& ends) {
  const double stretch = std::max(static_cast<double>(glm::distance(ends.a, ends.b) - fibre.free_length), 0.0);
  return 0.5 * static_cast<double>(fibre.stiffness) * stretch * stretch;
}

OrgansEnergy energy_of(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                       const Bonds& bonds) {
  OrgansEnergy energy;
  for (std::size_t k = 0; k < models.size(); ++k) add_organ(*models[k], *states[k], energy);
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f)
    if (bonds.intact[f]) add_fibre(bonds.fibres[f], models, states, energy);
  for (const Fibre& strut : bonds.struts) add_fibre(strut, models, states, energy);
  for (std::size_t k = 0; k < models.size(); ++k)
    for (std::size_t i = 0; i < energy.slope[k].size(); ++i)
      if (!(models[k]->inverse_mass[i] > 0.f)) energy.slope[k][i] = glm::dvec3(0.0);
  return energy;
}

double stepped_energy(const OrgansEnergy& energy, std::span<SteppedTissue* const> states, double dt) {
  double sum = energy.total();
  for (std::size_t k = 0; k < states.size(); ++k)
    for (std::size_t i = 0; i < energy.slope[k].size(); ++i)
      sum -= 0.5 * dt * glm::dot(glm::dvec3(states[k]->v[i]), energy.slope[k][i]);
  return sum;
}

}  // namespace trocar
