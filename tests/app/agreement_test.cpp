// Compares every backend with the double-precision reference: all modes, covers and sets, on random motions over the
// built-in organs and on a scanned liver with a recorded instrument. The long version is bench/agreement.cpp.
#include <gtest/gtest.h>

#include <cstdio>

#include "app/compare/compare.hpp"
#include "app/compare/frame_source.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/gpu_collision/query_sequences.hpp"
#include "tests/support/broken_meshes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Returns the number of touched faces, summed over all backends.
std::uint64_t expect_agreement(const TriangleMesh& mesh, Trajectory motion, const QueryKind& kind, Backends& backends) {
  const auto source = make_mesh_source(mesh, std::move(motion), 0.0025, kind, 0.02);
  const CompareReport report = compare_backends(*source, backend_list("all", backends), backends, [](std::size_t) {});
  std::uint64_t touched = 0;
  for (const auto& backend : report.backends) {
    EXPECT_EQ(backend.disagreements, 0u) << backend.name << " " << name_of(kind.mode) << " " << name_of(kind.cover)
                                         << " " << name_of(kind.set);
    touched += backend.touched;
  }
  return touched;
}

TEST(Agreement, RandomMotionsOverOurOrgans) {
  Backends backends;
  const TriangleMesh organs[] = {load_mesh(repository_file("data/organs/liver.obj")),
                                 load_mesh(repository_file("data/organs/stomach.obj"))};
  std::uint64_t touched = 0;
  for (std::uint64_t seed = 1000; seed < 1020; ++seed) {
    const TriangleMesh& organ = organs[seed % 2];
    touched += expect_agreement(organ, random_motion(seed, organ.view(), 6), kQueryKinds[seed % std::size(kQueryKinds)],
                                backends);
  }
  std::printf("seeds 1000..1019, %llu touched\n", static_cast<unsigned long long>(touched));
  EXPECT_GT(touched, 1000u);
}

// Tests for every backend that after any order of rebuild, update and touched, the answers equal those of a new object.
TEST(Agreement, AnyOrderOfCallsGivesTheAnswersOfANewObject) {
  Backends backends;
  for (const std::string& name : backend_list("all", backends)) {
    const auto make = [&] { return backends.make(name); };
    checks::check_random_sequences(name, make, make, {.first_seed = 200, .sequences = 6});
  }
}

TEST(Agreement, ScannedLiverAndRecordedInstrument) {
  const auto mesh_file = shared_file("organs/openhelp/Liver.stl"),
             motion_file = shared_file("trajectories/dvrk_classic.csv");
  if (!mesh_file || !motion_file) GTEST_SKIP() << "no shared test data";
  Backends backends;
  const TriangleMesh mesh = load_mesh(*mesh_file);
  const Trajectory motion = load_trajectory(*motion_file);
  for (const QueryKind& kind : kQueryKinds)
    EXPECT_GT(expect_agreement(mesh, thinned(motion, 12), kind, backends), 100u);
}

// Tests every backend and every kind of query on open, folded, self-intersecting and non-manifold meshes. The
// test prints the names of meshes that cannot be loaded.
TEST(Agreement, BrokenMeshes) {
  Backends backends;
  std::uint64_t touched = 0, seed = 2000;
  const auto meshes = test::broken_meshes_that_load();
  if (meshes.empty()) GTEST_SKIP() << "no shared test data";
  for (const auto& [name, mesh] : meshes) {
    SCOPED_TRACE(name);
    for (const QueryKind& kind : kQueryKinds)
      touched += expect_agreement(mesh, random_motion(seed++, mesh.view(), 6), kind, backends);
  }
  std::printf("seeds 2000..%llu, %llu touched\n", static_cast<unsigned long long>(seed - 1),
              static_cast<unsigned long long>(touched));
  EXPECT_GT(touched, 10000u);
}

}  // namespace
}  // namespace trocar
