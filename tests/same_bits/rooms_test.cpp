// Tests that the rooms give the same bits everywhere, without the program: computes one hash of a tissue run and one of
// a query run. The constants hold for plain, AVX2 and AVX-512 kernels (tests/same_bits/CMakeLists.txt runs every case
// with each), and for gcc and clang, unoptimised and optimised (tests/same_bits/other_compilers.sh).
#include "app/compare/frame_source.hpp"
#include "cpu_collision/queries.hpp"
#include "deform/contact/grasp.hpp"
#include "deform/solid/tissue.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/same_bits/same_bits.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using test::expect_golden;
using test::expect_golden_model;
using test::Hash;

class SameBitsOfRooms : public test::SameBits {};

// Runs tissue that a tool crushes, that jaws hold, pull and turn, that ligaments attach, and that breathes.
TEST_F(SameBitsOfRooms, TissueRun) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  TissueParams params;
  params.node_spacing = 0.01f;
  const Attachment attachments[] = {{{0.f, -0.05f, 0.f}, 0.02f, 0.f, true}, {{0.05f, 0.f, 0.f}, 0.02f, 60.f, false}};
  const TissueModel model = make_tissue(ball.view(), params, attachments, {0.004f, 0.3f, {0.3f, 1.f, -0.2f}});
  SteppedTissue state = rest_state(model);
  std::vector<glm::vec3> surface = ball.positions;
  const FacesAround around = faces_around(ball.faces, surface.size());
  GraspParams grasp_params;
  Grasp grasp;
  test::Grasper grasper;
  grasper.pose = {{{-0.25, 0.0, 0.0}, {-0.0465, 0.0, 0.0}, 0.0025}, 0.0, test::kWidest};
  Hash hash;
  float flattest = 1.f;
  for (int frame = 0; frame < 300; ++frame) {
    const double press = 0.0006 * std::min(frame % 100, 60), pull = 0.0004 * std::max(frame - 100, 0) * (frame < 200);
    const ToolStep probe{{0.0, 0.0, 0.2}, {0.0, 0.0, 0.053 - press}, {0.0, 0.0, 0.053 - press}, 0.006};
    std::vector<TissueContact> contacts;
    for (std::uint32_t v = 0; v < surface.size(); ++v)
      if (std::hypot(surface[v].x, surface[v].y) < 0.008f && surface[v].z > 0.f)
        contacts.push_back({0, v, {0.f, 0.f, 1.f}});
    const double opening =
        solve_opening(grasp_params, grasper.jaws, frame < 40 || frame > 250 ? test::kWidest : 0.0, grasp);
    const glm::dvec3 end(-0.044 - pull, 0.0, 0.0);
    grasper.move(
        {{end - glm::dvec3(0.2, 0.0, 0.0), end - glm::dvec3(0.0025, 0.0, 0.0), 0.0025}, 0.01 * frame, opening});
    if (frame == 40) grip(grasp_params, grasper.jaws, grasper.motion, {model, surface, ball.faces, around, {}}, grasp);
    std::vector<TissueHold> holds;
    add_holds(grasp_params, grasper.jaws, grasper.motion, grasp, 0, holds);
    hash.add(step(model, state, {{&probe, 1}, contacts, holds}, 1.f / 60.f));
    glm::vec3 pulled(0.f);
    for (std::size_t i = 0; i < holds.size(); ++i) pulled += hold_force(state, i);
    update_grasp(grasp_params, grasper.jaws, state, grasper.motion, 0, pulled, grasp);
    embed_surface(model, state.x, surface);
    hash.add_all(state.x), hash.add_all(state.v), hash.add_all(surface), hash.add(grasp.pull);
    flattest = std::min(flattest, state.scratch.flattest);
    if (frame == 100) {
      EXPECT_TRUE(grasp.holding());
      EXPECT_FALSE(contacts.empty());
    }
  }
  EXPECT_LT(flattest, 0.5f) << "no cell was crushed: unfolding is not covered";
  expect_golden_model("tissue run", hash, golden::kTissue);
}

// Runs random motions of a tool over an oscillating organ, with the scan on this processor's kernels and with a tree.
TEST_F(SameBitsOfRooms, QueryRun) {
  const TriangleMesh ball = shapes::icosphere(4, 0.06f);
  for (const bool scan : {true, false}) {
    const auto query = scan ? make_scan_query() : make_surface_tree(*tree_plan("obb-refit"));
    query->rebuild(ball.view());
    Hash hash;
    std::size_t touched = 0;
    for (const TouchSet set : {TouchSet::Exact, TouchSet::Volume}) {
      const auto source = make_mesh_source(ball, random_motion(11, ball.view(), 400), 0.004,
                                           {ToolMode::Swept, Cover::Capsule, set}, 0.02);
      for (std::size_t frame = 0; frame < source->frame_count(); ++frame) {
        source->load(frame);
        query->update(source->positions(0));
        const TouchList list = query->touched(source->tools(), set);
        touched += list.touches.size();
        for (const Touch& touch : list.touches) set == TouchSet::Exact ? hash.add(touch) : hash.add(index(touch.face));
      }
    }
    EXPECT_GT(touched, 10000u);
    expect_golden(scan ? "query run, scan" : "query run, tree", hash, golden::kQuery);
  }
}

}  // namespace
}  // namespace trocar
