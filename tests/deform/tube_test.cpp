// Tests ducts and vessels: their rods against beam theory, the swing of an organ on a duct, contacts, cuts and the
// wall.
#include "deform/thin/tube.hpp"

#include "deform/cut/sculpt_steps.hpp"
#include "deform/cut/slit.hpp"
#include "deform/step.hpp"
#include "geometry/units.hpp"
#include "mesh/tube_shape.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/sculpt_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar::tube_test {
namespace {

constexpr double kPi = 0.5 * kFullTurn;
constexpr float kFrame = 1.f / 60.f;  // s

struct Tube {
  TubeShape shape;
  TriangleMesh mesh;
  TissueModel model;
  SteppedTissue state;

  Tube(const TubeShape& tube, const TissueParams& params, std::span<const Attachment> attachments)
      : shape(tube), mesh(tube_surface(tube)), model(make_tissue(mesh.view(), params, attachments)) {
    make_tube_of(model,
                 {.radius = tube.radius,
                  .wall = tube.wall,
                  .youngs_modulus = static_cast<double>(params.youngs_modulus),
                  .poisson = static_cast<double>(params.poisson_ratio),
                  .density = static_cast<double>(params.density),
                  .damping_time = static_cast<double>(params.damping_time),
                  .drag = static_cast<double>(params.drag)},
                 centre_line(tube));
    state = rest_state(model);
  }
  double mass() const {
    double sum = 0.0;
    for (const TubeRod& rod : model.tube.rods)
      sum += std::accumulate(rod.model.mass.begin(), rod.model.mass.end(), 0.0);
    return sum;
  }
  double fastest() const {
    double speed = 0.0;
    for (const glm::vec3& v : state.v) speed = std::max(speed, static_cast<double>(glm::length(v)));
    return speed;
  }
  std::vector<glm::vec3> surface() const {
    std::vector<glm::vec3> positions(mesh.positions.size());
    embed_surface(model, state.x, positions);
    return positions;
  }
  void advance(double seconds) {
    for (double t = 0.0; t < seconds; t += static_cast<double>(kFrame)) step(model, state, {}, kFrame);
  }
};

// A straight duct 60 mm long that begins at the origin, in any direction.
TubeShape straight(const glm::dvec3& along, double length = 0.06) {
  return {{glm::dvec3(0.0), 0.4 * length * along, length * along}, 2e-3, 1e-3};
}

glm::dvec3 any_direction(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return glm::normalize(glm::dvec3(normal(random), normal(random), normal(random)));
}

TissueParams duct_tissue() {
  TissueParams params;
  params.youngs_modulus = 5e5f;
  params.node_spacing = 0.004f;
  params.drag = 20.f;
  return params;
}

TEST(Tube, LiesWhereItsMeshLies) {
  const TubeShape bent{
      {{-0.04, 0.0785, 0.1255}, {-0.031, 0.076, 0.116}, {-0.023, 0.071, 0.108}, {-0.0155, 0.069, 0.102}}, 2e-3, 1e-3};
  Tube tube(bent, duct_tissue(), {});
  EXPECT_NEAR(tube.mass(), 1060.0 * closed_volume(tube.mesh.view()), 1e-6 * tube.mass());
  tube.advance(0.5);
  const std::vector<glm::vec3> surface = tube.surface();
  for (std::size_t v = 0; v < surface.size(); ++v) ASSERT_LT(glm::distance(surface[v], tube.mesh.positions[v]), 2e-6f);
}

// A cantilever under its own weight: w L^4 / (8 E I) at the tip, for any direction against the lattice.
TEST(Tube, BendsLikeABeam) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 4; ++round) {
    const glm::dvec3 along = any_direction(random), down = glm::normalize(glm::cross(along, any_direction(random)));
    TissueParams params = duct_tissue();
    params.gravity = glm::vec3(0.5 * down);
    Tube tube(straight(along), params, {});
    RodModel& rod = tube.model.tube.rods[0].model;
    rod.fixed[0] = rod.fixed[1] = rod.clamped[0] = 1;
    tube.advance(1.5);
    ASSERT_LT(tube.fastest(), 1e-4);
    const RodSection section = section_of(rod.params);
    // The joint between clamped and free stands for half an edge on both sides.
    const double free = 0.06 - 0.5 * rod.length[0], per_metre = 1060.0 * kPi * 4e-6;
    const double theory = per_metre * 0.5 * std::pow(free, 4) / (8.0 * 5e5 * section.bending);
    const double sag = glm::dot(tube.state.tube.rods[0].x.back() - 0.06 * along, down);
    std::printf("tube as a cantilever: tip %.3f mm, theory %.3f mm\n", 1e3 * sag, 1e3 * theory);
    EXPECT_NEAR(sag, theory, 0.05 * theory);
  }
}

// An attachment fixes the direction of the end too.
TEST(Tube, IsHeldWhereItIsAttached) {
  TissueParams params = duct_tissue();
  params.gravity = {0.f, 0.f, -2.f};
  const Attachment wall{glm::vec3(0.f), 0.006f};
  Tube tube(straight({1.0, 0.0, 0.0}), params, {&wall, 1});
  tube.advance(2.0);
  const RodState& rod = tube.state.tube.rods[0];
  EXPECT_LT(glm::length(rod.x[0]), 2e-5);
  EXPECT_LT(std::abs(rod.x[1].z), 1e-4);
  EXPECT_LT(rod.x.back().z, -3e-3);
  EXPECT_GT(rod.x.back().z, -20e-3);
}

TEST(Tube, ACutMakesTwo) {
  const TissueParams params = duct_tissue();
  const Attachment wall{glm::vec3(0.f), 0.005f};
  Tube tube(straight({1.0, 0.0, 0.0}), params, {&wall, 1});
  Sculpture sculpture = make_sculpture(tube.mesh.view(), tube.model, {});
  const double mass = tube.mass();
  const std::vector<glm::vec3> before = tube.state.x;
  const BladeCut cut = test::rectangle_cut({0.031f, -0.005f, -0.005f}, {0.f, 1.f, 0.f}, {0.f, 0.f, 1.f}, 0.01f, 0.01f);
  ASSERT_FALSE(snip(sculpture, tube.model, tube.state, cut).nothing());
  follow_cuts(tube.model, tube.state, node_parts(sculpture, tube.model.lattice));
  ASSERT_EQ(tube.model.tube.rods.size(), 2u);
  EXPECT_NEAR(tube.mass(), mass, 3e-3 * mass);
  step(tube.model, tube.state, {}, 1e-6f);
  for (std::size_t n = 0; n < before.size(); ++n) ASSERT_LT(glm::distance(tube.state.x[n], before[n]), 2e-6f) << n;
  // The free part falls, the other one stays.
  for (std::size_t n = 0; n < before.size(); ++n)
    if (tube.model.rest[n].x > 0.032f) tube.model.gravity[n] = {0.f, 0.f, -9.81f};
  tube.advance(0.1);
  double fallen = 0.0, kept = 0.0;
  for (std::size_t n = 0; n < before.size(); ++n)
    (tube.model.rest[n].x > 0.033f ? fallen : kept) =
        std::max(tube.model.rest[n].x > 0.033f ? fallen : kept, double(glm::distance(tube.state.x[n], before[n])));
  EXPECT_GT(fallen, 0.02);
  EXPECT_LT(kept, 1e-4);
}

// One of two parts is burnt away, then the other: what is left stays where it was.
TEST(Tube, PartsCanBeBurntAway) {
  Tube tube(straight({1.0, 0.0, 0.0}), duct_tissue(), {});
  Sculpture sculpture = make_sculpture(tube.mesh.view(), tube.model, {});
  const BladeCut cut = test::rectangle_cut({0.031f, -0.005f, -0.005f}, {0.f, 1.f, 0.f}, {0.f, 0.f, 1.f}, 0.01f, 0.01f);
  ASSERT_FALSE(snip(sculpture, tube.model, tube.state, cut).nothing());
  follow_cuts(tube.model, tube.state, node_parts(sculpture, tube.model.lattice));
  ASSERT_EQ(tube.state.tube.rods.size(), 2u);
  for (RodState& rod : tube.state.tube.rods)
    if (rod.x[0].x > 0.025)
      for (glm::dvec3& x : rod.x) x.z += 0.02;  // it has moved away
  step(tube.model, tube.state, {}, 1e-6f);
  const std::vector<glm::vec3> before = tube.state.x;
  const auto remove = [&](float low, float high) {
    std::vector<std::uint32_t> cells;
    for (std::uint32_t c = 0; c < tube.model.lattice.cells.size(); ++c) {
      const float x = tube.model.lattice.position(tube.model.lattice.cells[c].node[0]).x;
      if (x >= low && x < high) cells.push_back(c);
    }
    remove_cells(sculpture, tube.model, cells);
    follow_cuts(tube.model, tube.state, node_parts(sculpture, tube.model.lattice));
    step(tube.model, tube.state, {}, 1e-6f);
  };
  remove(-1.f, 0.033f);
  for (std::size_t n = 0; n < before.size(); ++n) {
    if (tube.model.mass[n] > 0.f) {
      ASSERT_LT(glm::distance(tube.state.x[n], before[n]), 1e-5f) << n;
    }
  }
  remove(-1.f, 1.f);
  tube.advance(0.1);
  for (const glm::vec3& x : tube.state.x) ASSERT_TRUE(std::isfinite(x.x + x.y + x.z));
}

TEST(Tube, AWallThatNothingPressesOpens) {
  Tube tube(straight({0.0, 1.0, 0.0}), duct_tissue(), {});
  std::vector<TubeSqueeze> jaws;
  for (std::uint32_t edge = 13; edge < 17; ++edge) jaws.push_back({0, edge, 0.5, 1.2e-3, {}, {0.0, 0.0, 1.0}});
  flatten(tube.model.tube, jaws, 0.01, tube.state.tube);
  EXPECT_DOUBLE_EQ(tube.state.tube.sections[0][15].flatness, 0.3);
  step(tube.model, tube.state, {}, 1e-5f);
  float least = 1.f, widest = 0.f;
  for (const glm::vec3& p : tube.surface())
    if (std::abs(p.y - 0.03f) < 2e-3f) least = std::min(least, p.z), widest = std::max(widest, p.x);
  // Lattice nodes 4 mm apart carry the surface: it is a little less flat.
  EXPECT_NEAR(least, -0.6e-3, 4e-4);
  EXPECT_NEAR(widest, std::sqrt(2.0 - 0.09) * 2e-3, 3e-4);
  for (int k = 0; k < 60; ++k) flatten(tube.model.tube, {}, 1.0 / 60.0, tube.state.tube);
  EXPECT_GT(tube.state.tube.sections[0][15].flatness, 0.99);
}

// Jaws and shafts at once: an overlap of half a millimetre is taken back without flinging the tube about.
TEST(Tube, AContactGivesItNoSpeed) {
  Tube tube(straight({1.0, 0.0, 0.0}), duct_tissue(), {});
  ContactList list;
  const FacesAround around = faces_around(tube.mesh.faces, tube.mesh.positions.size());
  const ToolStep shaft = step_at_rest({{0.03, -0.1, 0.0041}, {0.03, 0.02, 0.0041}, 2.5e-3});
  double fastest = 0.0, farthest = 0.0;
  for (int frame = 0; frame < 60; ++frame) {
    const std::vector<glm::vec3> surface = tube.surface();
    const std::vector<Touch> touches = test::touches_of_all(tube.mesh.faces.size());
    begin_candidates(list);
    add_candidates(shaft, touches, tube.mesh.faces, around, surface, list);
    begin_contacts(list, {tube.model.embedding, tube.state.v, kFrame});
    add_contacts(shaft, tube.mesh.faces, surface, list);
    step(tube.model, tube.state, {{&shaft, 1}, list.contacts, {}}, kFrame);
    fastest = std::max(fastest, tube.fastest());
    for (const RodState& rod : tube.state.tube.rods)
      for (const glm::dvec3& x : rod.x) farthest = std::max(farthest, -x.z);
  }
  std::printf("tube, overlap 0.4 mm: fastest %.3f m/s, farthest %.2f mm\n", fastest, 1e3 * farthest);
  EXPECT_LT(fastest, 0.15);
  EXPECT_LT(farthest, 8e-3);
}

// A layer on a tube has at most four fibres around each edge of its rod, which together are as stiff as its area says.
TEST(Tube, ALayerHasFourFibresAroundAnEdge) {
  const TriangleMesh block = test::fine_block({-0.016f, -0.016f, -0.092f}, glm::vec3(0.032f), 0.008f);
  const TissueModel body = make_tissue(block.view(), TissueParams{}, {});
  Tube duct({{{0.0, 0.0, 0.0}, {0.0, 0.0, -0.03}, {0.0, 0.0, -0.08}}, 2e-3, 1e-3}, duct_tissue(), {});
  const std::vector<const TissueModel*> models{&duct.model, &body};
  const std::vector<MeshView> meshes{duct.mesh.view(), block.view()};
  const OrganContacts contacts = make_organ_contacts(meshes, models);
  std::vector<BondedOrgan> bonded;
  for (std::size_t k = 0; k < 2; ++k) bonded.push_back({models[k], meshes[k], &contacts.field[k]});
  const LayerParams layer{.reach = 1e-3f, .modulus = 5e4f, .thickness = 1e-3f, .break_strain = 20.f};
  Bonds bonds;
  add_layer(layer, 0, 1, bonded, bonds);
  double stiffness = 0.0;
  for (const Fibre& fibre : bonds.fibres) stiffness += double(fibre.stiffness);
  double area = 0.0;  // of the wall in the block, whose upper side is at z = -60 mm, or within reach of it
  std::size_t vertices = 0;
  const auto joined = [&](const glm::vec3& p) { return p.z <= -0.06f + layer.reach; };
  for (const glm::vec3& p : duct.mesh.positions) vertices += joined(p);
  for (const glm::uvec3& face : duct.mesh.faces) {
    const Triangle t = triangle_of(duct.mesh.positions, face);
    if (joined(t.a) && joined(t.b) && joined(t.c)) area += 0.5 * glm::length(glm::cross(t.b - t.a, t.c - t.a));
  }
  const std::size_t edges = 1 + static_cast<std::size_t>(0.021 / 2e-3);
  std::printf("%zu fibres for %zu vertices, %.4f of the stiffness\n", bonds.fibres.size(), vertices,
              stiffness * double(layer.thickness / layer.modulus) / area);
  EXPECT_NEAR(stiffness, double(layer.modulus / layer.thickness) * area, 0.02 * stiffness);
  EXPECT_LE(bonds.fibres.size(), 4 * (edges + 1));
  EXPECT_GE(bonds.fibres.size(), 2 * edges);
}

// A fibre of a duct goes with most of the cell that holds its other end, not with the last of it.
TEST(Tube, AFibreGoesWithMostOfItsCell) {
  Tube duct({{{0.0, 0.0, 0.0}, {0.0, 0.0, -0.03}, {0.0, 0.0, -0.08}}, 2e-3, 1e-3}, duct_tissue(), {});
  const TriangleMesh block = test::fine_block({-0.016f, -0.016f, -0.092f}, glm::vec3(0.032f), 0.008f);
  TissueModel body = make_tissue(block.view(), TissueParams{}, {});
  const std::vector<const TissueModel*> models{&duct.model, &body};
  const std::vector<MeshView> meshes{duct.mesh.view(), block.view()};
  const OrganContacts contacts = make_organ_contacts(meshes, models);
  std::vector<BondedOrgan> bonded;
  for (std::size_t k = 0; k < 2; ++k) bonded.push_back({models[k], meshes[k], &contacts.field[k]});
  Bonds bonds;
  add_layer({.reach = 1e-3f, .modulus = 5e4f, .thickness = 1e-3f, .break_strain = 20.f}, 0, 1, bonded, bonds);
  ASSERT_FALSE(bonds.empty());
  const BondEnd& end = bonds.fibres[0].a.organ == 1 ? bonds.fibres[0].a : bonds.fibres[0].b;
  const float full = body.lattice.cells[end.cell].volume_fraction;
  for (const float left : {1.f, 0.5f, 0.3f}) {
    body.lattice.cells[end.cell].volume_fraction = left * full;
    break_loose_fibres(models, bonds);
    EXPECT_EQ(bonds.intact[0] != 0, left > 0.4f) << left;
  }
}

// A block of 34 g that hangs on a duct and swings, against the same with much smaller steps.
struct Swing {
  double period = 0.0, energy = 0.0;  // s; share of the energy of the swing that is left after a second
};
Swing swing_of(int substeps, float damping_time) {
  const TriangleMesh block = test::fine_block({-0.016f, -0.016f, -0.092f}, glm::vec3(0.032f), 0.008f);
  TissueParams organ;
  organ.gravity = {0.f, 0.f, -9.81f};
  organ.drag = 0.f, organ.damping_time = damping_time;
  organ.node_spacing = 0.008f;
  organ.substeps = substeps;
  TissueParams thin = duct_tissue();
  thin.drag = 0.f;
  thin.gravity = organ.gravity;
  const Attachment wall{glm::vec3(0.f, 0.f, -0.002f), 0.005f};
  Tube duct({{{0.0, 0.0, 0.0}, {0.0, 0.0, -0.03}, {0.0, 0.0, -0.064}}, 2e-3, 1e-3}, thin, {&wall, 1});
  TissueModel body = make_tissue(block.view(), organ, {});
  SteppedTissue state = rest_state(body);
  const std::vector<const TissueModel*> models{&duct.model, &body};
  const std::vector<MeshView> meshes{duct.mesh.view(), block.view()};
  OrganContacts contacts = make_organ_contacts(meshes, models);
  std::vector<BondedOrgan> bonded;
  for (std::size_t k = 0; k < 2; ++k) bonded.push_back({models[k], meshes[k], &contacts.field[k]});
  Bonds bonds;
  add_layer({.reach = 1e-3f, .modulus = 5e4f, .thickness = 1e-3f, .break_strain = 20.f}, 0, 1, bonded, bonds);
  EXPECT_FALSE(bonds.empty());
  measure_slowdown(models, bonds);
  OrganStepper stepper(1);
  const std::array<SteppedOrgan, 2> organs{SteppedOrgan{&duct.model, &duct.state, {}}, SteppedOrgan{&body, &state, {}}};
  const auto middle = [&] {
    double sum = 0.0, mass = 0.0;
    for (std::size_t n = 0; n < state.x.size(); ++n)
      sum += double(body.mass[n]) * double(state.x[n].x), mass += double(body.mass[n]);
    return sum / mass;
  };
  // Hang still first: what the duct gives under the weight is not the swing.
  for (int frame = 0; frame < 240; ++frame) {
    for (glm::vec3& v : state.v) v *= 0.8f;
    stepper.step(organs, contacts, bonds, kFrame);
  }
  const auto energy = [&] {
    double sum = energy_of(duct.model.tube.rods[0].model, duct.state.tube.rods[0]).elastic();
    for (std::size_t n = 0; n < state.x.size(); ++n) {
      const glm::dvec3 v(state.v[n]);
      sum += double(body.mass[n]) * (0.5 * glm::dot(v, v) + 9.81 * double(state.x[n].z));
    }
    const std::array<SteppedTissue*, 2> states{&duct.state, &state};
    for (const Fibre& fibre : bonds.fibres) {
      const FibreEnds ends = ends_of(fibre, models, states);
      sum += 0.5 * double(fibre.stiffness) * std::pow(double(glm::distance(ends.a, ends.b)), 2);
    }
    return sum;
  };
  const double still = energy();
  for (glm::vec3& v : state.v) v.x = 0.15f;
  const double start = energy() - still;
  std::vector<double> crossings;
  double before = middle(), time = 0.0;
  Swing swing;
  for (int frame = 0; frame < 120; ++frame) {
    stepper.step(organs, contacts, bonds, kFrame);
    time += static_cast<double>(kFrame);
    const double now = middle();
    if (before * now < 0.0) crossings.push_back(time - static_cast<double>(kFrame) * now / (now - before));
    before = now;
    if (frame == 60) swing.energy = (energy() - still) / start;
  }
  EXPECT_GE(crossings.size(), 5u);
  if (crossings.size() >= 5) swing.period = crossings[4] - crossings[2];
  return swing;
}

// With a tenth of the usual damping, and with all of it: then fibres damp rods in less than their damping time.
TEST(Tube, AnOrganSwingsOnItsDuct) {
  for (const float damping_time : {3e-5f, 3e-4f}) {
    const Swing usual = swing_of(1, damping_time), fine = swing_of(60, damping_time);
    std::printf(
        "swing on a duct, damping time %.2g s: period %.4f s, small steps %.4f s; energy after a second %.3f and "
        "%.3f\n",
        double(damping_time), usual.period, fine.period, usual.energy, fine.energy);
    EXPECT_NEAR(usual.period, fine.period, 0.05 * fine.period);
    EXPECT_NEAR(usual.energy, fine.energy, 0.05);
  }
}

// A flake of soft tissue of 2 mg between two ducts that press it, kicked in each frame: contacts beside each other, and
// those of the other duct, push the same nodes.
TEST(Tube, ALightFlakeBetweenTwoDuctsStaysSlow) {
  constexpr std::uint32_t kSeed = 20261130;
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> number(-1.f, 1.f);
  const TriangleMesh block = test::fine_block({-0.0018f, 0.0282f, -0.0015f}, {0.0036f, 0.0036f, 0.003f}, 0.0009f);
  TissueParams soft;
  soft.youngs_modulus = 700.f, soft.density = 50.f, soft.node_spacing = 0.0036f;
  TissueParams thin = duct_tissue();
  thin.node_spacing = 0.0013f;
  const double away = 0.0015 + 0.0013;
  const std::array<Attachment, 2> ends{Attachment{{0.f, 0.f, 0.f}, 0.008f}, Attachment{{0.f, 0.06f, 0.f}, 0.008f}};
  Tube lower({{{0.0, 0.0, -away}, {0.0, 0.06, -away}}, 1.3e-3, 6e-4}, thin, ends);
  Tube upper({{{0.0, 0.0, away}, {0.0, 0.06, away}}, 1.3e-3, 6e-4}, thin, ends);
  TissueModel flake = make_tissue(block.view(), soft, {});
  SteppedTissue state = rest_state(flake);
  const std::vector<const TissueModel*> models{&lower.model, &upper.model, &flake};
  const std::vector<MeshView> meshes{lower.mesh.view(), upper.mesh.view(), block.view()};
  OrganContacts contacts = make_organ_contacts(meshes, models);
  Bonds none;
  none.slowdown.assign(3, 1.f);
  OrganStepper stepper(1);
  const std::array<SteppedOrgan, 3> organs{SteppedOrgan{&lower.model, &lower.state, {}},
                                           SteppedOrgan{&upper.model, &upper.state, {}},
                                           SteppedOrgan{&flake, &state, {}}};
  // What holds the ducts is 1 mm nearer together than at rest.
  for (auto [tube, by] : {std::pair(&lower, 5e-4f), std::pair(&upper, -5e-4f)})
    for (glm::vec3& rest : tube->model.rest) rest.z += by;
  double fastest = 0.0;
  std::size_t most = 0;
  std::vector<glm::vec3> surfaces[3] = {lower.surface(), upper.surface(), {}};
  surfaces[2].resize(flake.embedding.size());
  for (int frame = 0; frame < 240; ++frame) {
    for (glm::vec3& v : state.v) v += 0.05f * glm::vec3(number(random), number(random), number(random));
    surfaces[0] = lower.surface(), surfaces[1] = upper.surface();
    embed_surface(flake, state.x, surfaces[2]);
    const std::array<OrganBody, 3> bodies{OrganBody{&lower.model, &lower.state, surfaces[0]},
                                          OrganBody{&upper.model, &upper.state, surfaces[1]},
                                          OrganBody{&flake, &state, surfaces[2]}};
    find_organ_contacts(bodies, kFrame, contacts);
    most = std::max(most, contacts.contacts.size());
    stepper.step(organs, contacts, none, kFrame);
    for (const glm::vec3& v : state.v) fastest = std::max(fastest, double(glm::length(v)));
  }
  std::printf("seed %u: flake of %.1f mg, at most %zu contacts, fastest %.3f m/s\n", kSeed,
              1e6 * double(flake.cell_mass), most, fastest);
  EXPECT_GT(most, 10u);
  EXPECT_LT(fastest, 0.3);
}

}  // namespace
}  // namespace trocar::tube_test
