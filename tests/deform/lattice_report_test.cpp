// Tests the report on a lattice: a block whose numbers are known, separate pieces, half-full cells.
#include "deform/solid/tissue.hpp"

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

TEST(LatticeReport, MatchesABlock) {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TriangleMesh mesh = test::block({0.08f, 0.04f, 0.03f});
  const TissueModel model = make_tissue(mesh.view(), params, {});
  const LatticeReport report = lattice_report(model, mesh.positions);
  EXPECT_EQ(report.cells, 8u * 4 * 3);
  EXPECT_EQ(report.nodes, 9u * 5 * 4);
  EXPECT_EQ(report.springs, spring_count(model));
  EXPECT_NEAR(report.whole, 1.0, 1e-9);
  EXPECT_NEAR(report.volume, 96e-6, 1e-9);
  EXPECT_NEAR(report.organ_volume, 96e-6, 1e-9);
  EXPECT_NEAR(report.mass, 96e-6 * 1060.0, 1e-6);
  EXPECT_EQ(report.pieces, 1u);
  EXPECT_EQ(report.cells_across, 4);
  EXPECT_LT(report.worst_embedding, 1e-7);
  EXPECT_EQ(report.substeps_per_frame, substep_count(model, 1.f / 60.f));
}

TEST(LatticeReport, CountsPiecesAndHalfFullCells) {
  TriangleMesh two = test::block(glm::vec3(0.025f));
  const TriangleMesh other = test::block(glm::vec3(0.025f));
  const auto count = static_cast<std::uint32_t>(two.positions.size());
  for (const glm::vec3& p : other.positions) two.positions.push_back(p + glm::vec3(0.1f, 0.f, 0.f));
  for (const glm::uvec3& face : other.faces) two.faces.push_back(face + count);
  TissueParams params;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(two.view(), params, {});
  const LatticeReport report = lattice_report(model, two.positions);
  EXPECT_EQ(report.pieces, 2u);
  EXPECT_LT(report.whole, 0.5);
  EXPECT_NEAR(report.volume / report.organ_volume, 1.0, 0.05);
}

}  // namespace
}  // namespace trocar
