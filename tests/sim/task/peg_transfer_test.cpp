// Tests peg transfer: the sentences about its scene, and the first rings of a scripted expert.
#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/session/cpu_backends.hpp"
#include "tests/sim/scene/scene_text.hpp"

namespace trocar {
namespace {

class PegTransferScene : public test::SceneText {
 protected:
  PegTransferScene() : SceneText(test::shipped_scene("data/scenes/tasks/peg_transfer.toml")) {}
};

double part_of(const TaskResult& result, const std::string& id) {
  for (const Metric& metric : result.parts)
    if (metric.id == id) return metric.value;
  ADD_FAILURE() << id;
  return 0.0;
}

TEST_F(PegTransferScene, FaultsAreSentences) {
  EXPECT_EQ(load(with("schema = 2", "schema = 2")).task->kind, TaskKind::PegTransfer);
  expect_sentence(with("instrument = \"left grasper\"\n", ""), "name the grasper that lifts the rings first");
  expect_sentence(with("instrument = \"left grasper\"\n", "instrument = \"hook\"\n"), "no instrument 'hook'");
  expect_sentence(with("kind = \"grasper\"", "kind = \"probe\""), "must be one of two graspers");
  expect_sentence(with("form = \"ring\"", "form = \"box\""), "is not an [organ.rigid] of the form ring");
  expect_sentence(with("side_mm = 17.3", "side_mm = 170\nwall_mm = 49"), "wall_mm");
  expect_sentence(with("friction = 0.7", "friction = -0.7"), "friction");
}

// Twelve rings take an expert about two minutes; the first two are enough here.
TEST_F(PegTransferScene, AnExpertPlacesRings) {
  const Scene scene = load(with("schema = 2", "schema = 2"));
  CpuBackends backends;
  PerformedSession run(scene, style_of(Skill::Expert), 1, backends, "scan");
  double half = 0.0;
  for (int frame = 0; frame < 24 * 60; ++frame) {
    run.step();
    if (frame == 5 * 60) half = part_of(run.task().result(), "task_rings");
  }
  EXPECT_EQ(half, 0.0);
  EXPECT_GE(part_of(run.task().result(), "task_rings"), 2.0);
  EXPECT_EQ(part_of(run.task().result(), "task_ring_drops"), 0.0);
  EXPECT_EQ(run.task().feed().errors, 0u);
  EXPECT_EQ(part_of(run.task().result(), "task_mistels"), 0.0);
}

}  // namespace
}  // namespace trocar
