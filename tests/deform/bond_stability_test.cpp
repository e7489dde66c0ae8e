// Compares bond_stability with the eigenvalues of all fibres together, which Eigen computes.
#include "deform/join/bonds.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "tests/deform/two_blocks.hpp"

namespace trocar::test {
namespace {

// Returns the largest eigenvalue of the fibres of two organs, as one dense matrix in displacements scaled by the roots
// of the masses, 1/s^2.
double largest_eigenvalue(std::span<const TissueModel* const> models, const Bonds& bonds) {
  const auto first = static_cast<Eigen::Index>(models[0]->mass.size());
  const auto size = first + static_cast<Eigen::Index>(models[1]->mass.size());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
  for (const Fibre& fibre : bonds.fibres) {
    Eigen::VectorXd g = Eigen::VectorXd::Zero(size);
    double sign = 1.0;
    for (const BondEnd* end : {&fibre.a, &fibre.b}) {
      for (std::size_t i = 0; end->organ != kWall && i < 8; ++i) {
        const std::uint32_t node = models[end->organ]->lattice.cells[end->cell].node[i];
        g((end->organ == 0 ? 0 : first) + node) +=
            sign * double(end->weight[i]) * std::sqrt(double(models[end->organ]->inverse_mass[node]));
      }
      sign = -1.0;
    }
    matrix += double(fibre.stiffness) * g * g.transpose();
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

// A fibre between random cells, which may hold far from them.
Fibre random_fibre(std::span<const BondedOrgan> organs, std::mt19937& random, bool to_wall) {
  const auto uniform = [&] { return static_cast<float>(random() >> 8) / 16777216.f; };
  Fibre fibre{};
  fibre.stiffness = 1.f + 1000.f * uniform() * uniform();
  for (std::uint32_t organ = 0; organ < 2; ++organ) {
    BondEnd& end = organ == 0 ? fibre.a : fibre.b;
    if (to_wall && organ == 1) continue;
    end.organ = organ;
    end.cell = static_cast<std::uint32_t>(random() % organs[organ].model->lattice.cells.size());
    const float x = 2.f * uniform() - 0.5f, y = 2.f * uniform() - 0.5f, z = 2.f * uniform() - 0.5f;
    for (int corner = 0; corner < 8; ++corner) {
      const glm::vec3 w = glm::mix(1.f - glm::vec3(x, y, z), glm::vec3(x, y, z), glm::vec3(corner_offset(corner)));
      end.weight[static_cast<std::size_t>(corner)] = w.x * w.y * w.z;
    }
  }
  return fibre;
}

TissueParams coarse() {
  TissueParams params;
  params.node_spacing = 0.012f;
  return params;
}

TEST(BondStability, RandomFibresHaveTheirLargestEigenvalue) {
  std::mt19937 random(3401);
  std::printf("seed 3401\n");
  TwoBlocks blocks(coarse(), glm::vec3(0.03f));
  const std::vector<const TissueModel*>& models = blocks.group().model_list;
  double least = 2.0, most = 0.0;
  for (int round = 0; round < 100; ++round) {
    blocks.bonds.fibres.clear();
    // Pieces of tissue of very different mass, and some nodes that do not move.
    for (TissueModel& model : blocks.group().models)
      for (std::size_t i = 0; i < model.mass.size(); ++i)
        model.inverse_mass[i] = random() % 10 == 0 ? 0.f : static_cast<float>(1 + random() % 1000) / model.mass[i];
    const unsigned count = 1 + random() % 40;
    for (unsigned k = 0; k < count; ++k)
      blocks.bonds.fibres.push_back(random_fibre(blocks.organs(), random, random() % 8 == 0));
    const double ratio = bond_square(models, blocks.bonds) / largest_eigenvalue(models, blocks.bonds);
    least = std::min(least, ratio), most = std::max(most, ratio);
  }
  std::printf("%.3f to %.3f of the largest eigenvalue\n", least, most);
  EXPECT_GE(least, 1.0);
  EXPECT_LT(most, 1.051);
}

TEST(BondStability, OnlyBondedOrgansAreSlowed) {
  TwoBlocks blocks(coarse(), glm::vec3(0.03f));
  const std::vector<const TissueModel*>& models = blocks.group().model_list;
  EXPECT_EQ(bond_square(models, blocks.bonds), 0.0);
  measure_slowdown(models, blocks.bonds);
  EXPECT_EQ(blocks.bonds.slowdown, (std::vector<float>{1.f, 1.f}));
  std::mt19937 random(3402);
  blocks.bonds.fibres.push_back(random_fibre(blocks.organs(), random, true));
  measure_slowdown(models, blocks.bonds);
  EXPECT_GT(blocks.bonds.slowdown[0], 1.f);
  EXPECT_EQ(blocks.bonds.slowdown[1], 1.f);
}

// That steps of this length are stable: Bonds.StiffBondsOnNearlyEmptyCellsAreStable.
TEST(BondStability, ALayerHasItsLargestEigenvalue) {
  TwoBlocks blocks(coarse(), glm::vec3(0.03f));
  const std::vector<const TissueModel*>& models = blocks.group().model_list;
  LayerParams params = second_on_first();
  params.modulus = 1e6f;
  ASSERT_GT(add_layer(params, 1, 0, blocks.organs(), blocks.bonds), 20u);
  const double exact = largest_eigenvalue(models, blocks.bonds), found = bond_square(models, blocks.bonds);
  EXPECT_GE(found, exact);
  EXPECT_LT(found, 1.051 * exact);
}

}  // namespace
}  // namespace trocar::test
