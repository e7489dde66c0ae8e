// Tests sheets as organs: the slab that carries their surface, instruments and jaws, organs under them, fibres, cuts.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "deform/sheet_step.hpp"
#include "deform/step.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar::sheet_organ_test {
namespace {

constexpr float kFrame = 1.f / 60.f;  // s

SheetParams peritoneum() {
  SheetParams params;
  params.thickness = 2e-4, params.youngs_modulus = 5e5, params.poisson = 0.45;
  params.damping_time = 1e-3, params.drag = 8.0;
  return params;
}

TissueParams wet(const glm::vec3& gravity = glm::vec3(0.f)) {
  TissueParams params;
  params.damping_time = 1e-3f;
  params.gravity = gravity;
  return params;
}

constexpr glm::vec3 kDown{0.f, 0.f, -9.81f};

// A square of side `side` around the z axis at height `z`.
SheetPatch square(double side, double z, double spacing = 5e-3) {
  const double h = 0.5 * side;
  SheetShape shape;
  shape.corners = {{-h, -h, z}, {h, -h, z}, {h, h, z}, {-h, h, z}};
  shape.spacing = spacing;
  return sheet_patch(shape);
}

// Organs, and a shaft that presses all of them, stepped as a session does.
struct Stage {
  std::vector<TriangleMesh> meshes;
  std::vector<TissueModel> models;
  std::vector<SteppedTissue> states;
  std::vector<std::vector<glm::vec3>> surfaces;
  std::vector<FacesAround> around;
  std::vector<ContactList> lists;
  OrganContacts contacts;
  Bonds bonds;
  OrganStepper stepper{1};
  glm::vec3 force{0.f};  // N on the shaft

  std::size_t add(const TriangleMesh& mesh, TissueModel model) {
    meshes.push_back(mesh), models.push_back(std::move(model));
    return models.size() - 1;
  }
  std::size_t add_sheet(const SheetPatch& patch, const SheetParams& sheet, const TissueParams& params,
                        std::span<const Attachment> attachments = {}) {
    return add(slab_surface(patch, sheet), make_sheet_tissue(patch, sheet, params, attachments));
  }
  std::vector<const TissueModel*> model_list() const {
    std::vector<const TissueModel*> list;
    for (const TissueModel& model : models) list.push_back(&model);
    return list;
  }
  std::vector<BondedOrgan> bonded() const {
    std::vector<BondedOrgan> list;
    for (std::size_t k = 0; k < models.size(); ++k)
      list.push_back({&models[k], meshes[k].view(), k < contacts.field.size() ? &contacts.field[k] : nullptr});
    return list;
  }
  void begin() {
    std::vector<MeshView> views;
    for (std::size_t k = 0; k < models.size(); ++k) {
      views.push_back(meshes[k].view());
      states.push_back(rest_state(models[k]));
      surfaces.push_back(meshes[k].positions);
      around.push_back(faces_around(meshes[k].faces, meshes[k].positions.size()));
      lists.emplace_back();
    }
    contacts = make_organ_contacts(views, model_list());
  }
  void surface(std::size_t k) { embed_surface(models[k], states[k].x, surfaces[k]); }
  void frame(const ToolStep* tool = nullptr, std::span<const TissueHold> holds = {}, std::size_t held = 0) {
    std::vector<OrganBody> bodies;
    for (std::size_t k = 0; k < models.size(); ++k) bodies.push_back({&models[k], &states[k], surfaces[k]});
    find_organ_contacts(bodies, kFrame, contacts);
    int pieces = 1;
    for (std::size_t k = 0; k < models.size(); ++k) {
      begin_candidates(lists[k], states[k].dents);
      if (tool)
        add_candidates(*tool, test::touches_of(*tool, {surfaces[k], meshes[k].faces}), meshes[k].faces, around[k],
                       surfaces[k], lists[k]);
      if (tool) pieces = std::max(pieces, piece_count({tool, 1}, lists[k]));
    }
    force = glm::vec3(0.f);
    for (int number = 0; number < pieces; ++number) {
      const ToolStep piece = tool ? piece_of(*tool, number, pieces) : ToolStep{};
      std::vector<TissueHold> part(holds.begin(), holds.end());
      for (TissueHold& hold : part) hold = piece_of(hold, number, pieces);
      std::vector<SteppedOrgan> stepped;
      for (std::size_t k = 0; k < models.size(); ++k) {
        begin_contacts(lists[k], {models[k].embedding, states[k].v, kFrame / pieces, states[k].dents});
        if (tool) add_contacts(piece, meshes[k].faces, surfaces[k], lists[k]);
        stepped.push_back({&models[k], &states[k], {{}, lists[k].contacts, {}}});
        if (tool) stepped.back().loads.tools = {&piece, 1};
        if (k == held) stepped.back().loads.holds = part;
      }
      stepper.step(stepped, contacts, bonds, kFrame / static_cast<float>(pieces));
      for (std::size_t k = 0; k < models.size(); ++k) {
        if (tool) force += contact_force(states[k], 0, lists[k].contacts.size()) / static_cast<float>(pieces);
        surface(k);
      }
    }
  }
  double fastest(std::size_t k) const {
    float most = 0.f;
    for (const glm::vec3& v : states[k].v) most = std::max(most, glm::length(v));
    return static_cast<double>(most);
  }
};

// A block whose bottom is fixed.
TissueModel standing(const TriangleMesh& mesh, const TissueParams& params, float bottom) {
  TissueModel model = make_tissue(mesh.view(), params, {});
  for (std::size_t n = 0; n < model.rest.size(); ++n)
    if (model.rest[n].z < bottom) model.inverse_mass[n] = 0.f;
  return model;
}

TEST(SheetOrgan, ItsSlabIsClosed) {
  const SheetPatch patch = square(0.05, 0.1);
  const TriangleMesh mesh = slab_surface(patch, peritoneum());
  EXPECT_TRUE(mesh_report(mesh.view()).fault.empty()) << mesh_report(mesh.view()).fault;
  EXPECT_NEAR(closed_volume(mesh.view()), 0.05 * 0.05 * kThinnestSlab, 1e-9);
  const TissueModel model = make_sheet_tissue(patch, peritoneum(), wet(), {});
  double mass = 0.0;
  for (const float m : model.mass) mass += static_cast<double>(m);
  EXPECT_NEAR(mass, 1060.0 * 0.05 * 0.05 * 2e-4, 1e-9);
  SteppedTissue state = rest_state(model);
  for (int k = 0; k < 30; ++k) step(model, state, {}, kFrame);
  std::vector<glm::vec3> surface(mesh.positions.size());
  embed_surface(model, state.x, surface);
  for (std::size_t v = 0; v < surface.size(); ++v) ASSERT_LT(glm::distance(surface[v], mesh.positions[v]), 1e-6f);
}

TEST(SheetOrgan, HangsFromItsAttachments) {
  const Attachment edge{{0.f, 10.025f, 0.1f}, 10.0003f};  // a large ball: the row at y = 25 mm
  Stage stage;
  const std::size_t sheet = stage.add_sheet(square(0.05, 0.1), peritoneum(), wet(kDown), {&edge, 1});
  stage.begin();
  for (int k = 0; k < 120; ++k) stage.frame();
  float lowest = 1.f;
  for (const glm::vec3& p : stage.surfaces[sheet]) lowest = std::min(lowest, p.z);
  std::printf("sheet hangs: lowest point %.2f mm below its row, fastest %.4f m/s\n",
              1e3 * (0.1 - static_cast<double>(lowest)), stage.fastest(sheet));
  EXPECT_NEAR(lowest, 0.05, 2e-3);
  EXPECT_LT(stage.fastest(sheet), 0.02);
}

// A cloth falls on a block and lies on it.
TEST(SheetOrgan, LiesOnAnOrgan) {
  Stage stage;
  const TriangleMesh block = test::fine_block({-0.02f, -0.02f, 0.f}, glm::vec3(0.04f, 0.04f, 0.03f), 0.004f);
  TissueParams soft;
  soft.node_spacing = 0.008f;
  stage.add(block, standing(block, soft, 0.001f));
  const std::size_t sheet = stage.add_sheet(square(0.06, 0.035, 4e-3), peritoneum(), wet(kDown));
  stage.begin();
  double deepest = 0.0;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 180; ++k) {
    stage.frame();
    for (const PairContact& c : stage.contacts.contacts) deepest = std::min(deepest, static_cast<double>(c.gap));
  }
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / 180.0;
  const glm::vec3 load = organ_force(stage.contacts, 0, kFrame);
  std::printf("cloth of %u nodes: %.2f ms a frame, load %.5f N of %.5f N, deepest %.3f mm\n",
              stage.models[sheet].slab.nodes(), ms, static_cast<double>(-load.z), 1060.0 * 0.0036 * 2e-4 * 9.81,
              1e3 * deepest);
  EXPECT_NEAR(static_cast<double>(-load.z), 1060.0 * 0.0036 * 2e-4 * 9.81, 2e-4);
  EXPECT_LT(-deepest, 6e-4);
  EXPECT_LT(stage.fastest(sheet), 0.02);
  EXPECT_LT(stage.fastest(0), 0.005);
}

// A shaft presses a cloth onto an organ.
TEST(SheetOrgan, IsPressedOntoAnOrgan) {
  Stage stage;
  const TriangleMesh block = test::fine_block({-0.03f, -0.03f, 0.f}, glm::vec3(0.06f, 0.06f, 0.03f), 0.004f);
  TissueParams soft;
  soft.node_spacing = 0.007f;
  stage.add(block, standing(block, soft, 0.001f));
  stage.add_sheet(square(0.06, 0.0305, 5e-3), peritoneum(), wet(kDown));
  stage.begin();
  for (int k = 0; k < 60; ++k) stage.frame();
  // The same shaft on the bare block, for comparison.
  Stage bare;
  bare.add(block, standing(block, soft, 0.001f));
  bare.begin();
  // The sheet lies on the shaft, the surface of the block beyond it by the dent that the shaft makes in it.
  double deepest = 0.0;
  const auto tip = [](int k) {
    const double down = k < 60 ? 0.008 * k / 60.0 : k < 150 ? 0.008 : 0.008 - 0.02 * (k - 150) / 60.0;
    return glm::dvec3(0.0, 0.0, 0.0345 - down);
  };
  for (int k = 1; k <= 210; ++k) {
    const ToolStep shaft{{0.0, 0.0, 0.3}, tip(k - 1), tip(k), 2.5e-3, {}};
    stage.frame(&shaft);
    bare.frame(&shaft);
    for (const PairContact& c : stage.contacts.contacts)
      if (k <= 150)
        deepest = std::min(deepest, static_cast<double>(c.gap + glm::length(stage.states[0].dents[0].shift)));
    if (k >= 60 && k <= 150) {
      // The sheet spreads the load: the shaft meets more than where it presses the block itself.
      EXPECT_GT(stage.force.z, bare.force.z) << k;
      EXPECT_LT(stage.force.z, 4.f * bare.force.z) << k;
    }
    if (k == 150)
      std::printf("pressed 8 mm: %.3f N, bare block %.3f N, overlap %.2f mm\n", static_cast<double>(stage.force.z),
                  static_cast<double>(bare.force.z), -1e3 * deepest);
  }
  EXPECT_LT(-deepest, 2e-3);
  EXPECT_LT(glm::length(stage.force), 0.01f);
  EXPECT_LT(stage.fastest(0), 0.02);
}

// A shaft presses a sheet whose border is fixed.
TEST(SheetOrgan, IsPressedByAShaft) {
  Stage stage;
  std::vector<Attachment> border;
  for (const glm::vec2& to : {glm::vec2(1.f, 0.f), {-1.f, 0.f}, {0.f, 1.f}, {0.f, -1.f}})
    border.push_back({{10.03f * to.x, 10.03f * to.y, 0.f}, 10.0001f});
  const std::size_t sheet = stage.add_sheet(square(0.06, 0.0), peritoneum(), wet(), border);
  stage.begin();
  double worst = 0.0, fastest = 0.0, strongest = 0.0;
  for (int k = 1; k <= 180; ++k) {
    const auto z = [](int n) { return n < 90 ? 0.004 - 0.012 * n / 90.0 : -0.008 + 0.02 * (n - 90) / 90.0; };
    const ToolStep shaft{{0.05, 0.0, 0.25}, {0.0, 0.0, z(k - 1)}, {0.0, 0.0, z(k)}, 2.5e-3, {}};
    stage.frame(&shaft);
    for (const glm::uvec3& face : stage.meshes[sheet].faces) {
      const Triangle t = triangle_of(stage.surfaces[sheet], face);
      worst = std::max(worst, 2.5e-3 - closest_segment_triangle(shaft.pivot, shaft.tip_after, t).distance);
    }
    fastest = std::max(fastest, stage.fastest(sheet));
    if (k == 90) strongest = static_cast<double>(stage.force.z);
  }
  std::printf("shaft: %.3f N, %.3f mm inside the slab, fastest %.3f m/s\n", strongest, 1e3 * worst, fastest);
  EXPECT_GT(strongest, 0.1);
  EXPECT_LT(worst, 5e-4);
  EXPECT_LT(fastest, 0.3);
  EXPECT_LT(glm::length(stage.force), 0.005f);
}

// A block hangs from a sheet by a layer along its top.
TEST(SheetOrgan, AnOrganHangsFromIt) {
  Stage stage;
  const TriangleMesh block = test::fine_block({-0.01f, -0.02f, 0.f}, glm::vec3(0.02f, 0.04f, 0.02f), 0.004f);
  TissueParams soft;
  soft.node_spacing = 0.007f, soft.gravity = kDown;
  stage.add(block, make_tissue(block.view(), soft, {}));
  SheetShape shape;
  shape.corners = {{0.0, -0.02, 0.0196}, {0.0, 0.02, 0.0196}, {0.0, 0.02, 0.05}, {0.0, -0.02, 0.05}};
  shape.spacing = 5e-3;
  const Attachment top{{0.f, 0.f, 10.05f}, 10.0003f};
  const std::size_t sheet = stage.add_sheet(sheet_patch(shape), peritoneum(), wet(kDown), {&top, 1});
  stage.begin();
  const std::size_t fibres = add_layer({.reach = 1e-3f, .modulus = 3e4f, .thickness = 1e-3f, .break_strain = 20.f},
                                       static_cast<std::uint32_t>(sheet), 0, stage.bonded(), stage.bonds);
  EXPECT_EQ(fibres, 9u);
  measure_slowdown(stage.model_list(), stage.bonds);
  const auto middle = [&] {
    glm::vec3 sum(0.f);
    float mass = 0.f;
    for (std::size_t n = 0; n < stage.states[0].x.size(); ++n)
      sum += stage.models[0].mass[n] * stage.states[0].x[n], mass += stage.models[0].mass[n];
    return sum / mass;
  };
  for (int k = 0; k < 120; ++k) stage.frame();
  const glm::vec3 before = middle();
  for (int k = 0; k < 60; ++k) stage.frame();
  glm::dvec3 pull(0.0);
  for (const SlabPush& push : stage.states[sheet].scratch.slab.pushes) pull += glm::dvec3(push.force);
  std::printf("hanging block: %.2f mm below its place, %.3f m/s, sheet %.3f m/s, pull %.4f N, weight %.4f N\n",
              1e3 * (0.01 - static_cast<double>(middle().z)), stage.fastest(0), stage.fastest(sheet), pull.z,
              9.81 * 1060.0 * 1.6e-5);
  EXPECT_LT(glm::distance(middle(), before), 1e-4f);
  EXPECT_NEAR(pull.z, 9.81 * 1060.0 * 1.6e-5, 0.2 * 9.81 * 1060.0 * 1.6e-5);
  EXPECT_TRUE(stage.bonds.broken.empty());
  EXPECT_LT(stage.fastest(0), 0.1);
}

// Cuts and burns: the slab stays closed, tissue keeps its mass, and what has no room does not happen.
TEST(SheetOrgan, FollowsCuts) {
  const SheetPatch patch = square(0.06, 0.0);
  TissueModel model = make_sheet_tissue(patch, peritoneum(), wet(), {});
  SteppedTissue state = rest_state(model);
  const auto mass = [&] {
    double sum = 0.0;
    for (const float m : model.mass) sum += static_cast<double>(m);
    return sum;
  };
  const auto volume = [&] {
    TriangleMesh mesh;
    mesh.positions.assign(state.x.begin(), state.x.end());
    mesh.faces = slab_faces(model.slab);
    return closed_volume(mesh.view());
  };
  const double whole = mass(), space = volume();
  SheetChange change;
  const SheetBlade blade{{-0.01, -0.02, -0.01}, {-0.01, -0.02, 0.01}, {0.013, 0.018, -0.01}, {0.013, 0.018, 0.01}};
  ASSERT_TRUE(change_slab(
      model.slab, state.slab, [&](SheetModel& m, SheetState& s) { return cut(m, s, blade); }, change));
  ASSERT_TRUE(change.changed());
  follow_sheet(model), carry_sheet(model, state);
  EXPECT_NEAR(mass(), whole, 1e-6 * whole);
  EXPECT_NEAR(volume(), space, 0.02 * space);
  ASSERT_TRUE(change_slab(
      model.slab, state.slab,
      [&](SheetModel& m, SheetState& s) {
        return burn(m, s, {0.02, -0.02, 0.0}, {0.02, -0.01, 0.0}, 2e-3, {});
      },
      change));
  follow_sheet(model), carry_sheet(model, state);
  EXPECT_LT(mass(), 0.995 * whole);
  EXPECT_LT(volume(), space);
  for (int k = 0; k < 30; ++k) step(model, state, {}, kFrame);
  for (const glm::vec3& x : state.x) ASSERT_LT(glm::length(x), 0.1f);
  const std::uint32_t nodes = model.slab.nodes();
  model.slab.room = nodes;
  EXPECT_FALSE(change_slab(
      model.slab, state.slab,
      [&](SheetModel& m, SheetState& s) {
        return cut(m, s, {{-0.02, -0.02, -0.01}, {-0.02, -0.02, 0.01}, {-0.02, 0.02, -0.01}, {-0.02, 0.02, 0.01}});
      },
      change));
  EXPECT_EQ(model.slab.nodes(), nodes);
  EXPECT_EQ(model.slab.sheet.mass.size(), nodes);
}

}  // namespace
}  // namespace trocar::sheet_organ_test
