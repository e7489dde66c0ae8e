// Tests that the backends of a session without OpenGL have their names and agree.
#include "sim/session/cpu_backends.hpp"

#include <gtest/gtest.h>

#include "cpu_collision/reference.hpp"
#include "geometry/error.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

TEST(CpuBackends, EveryNameMakesAQueryThatAgrees) {
  CpuBackends backends;
  const TriangleMesh mesh = shapes::icosphere(4);
  const ToolVolume tool = swept_volume({{0.0, 0.0, 0.3}, {0.0, 0.0, 0.09}, {0.0, 0.01, 0.08}, 0.003}, Cover::Capsule);
  const ReferenceAnswer reference = reference_touched(mesh.view(), tool, TouchSet::Exact);
  ASSERT_FALSE(reference.touched.empty());
  for (const std::string& name : backends.names()) {
    const auto query = backends.make(name);
    EXPECT_EQ(query->name(), name);
    EXPECT_EQ(backends.resolve(name, {}).name, name);
    query->rebuild(mesh.view());
    EXPECT_EQ(compare_with_reference(reference, query->touched({&tool, 1}, TouchSet::Exact).touches).disagreements, 0u)
        << name;
  }
  EXPECT_EQ(backends.resolve("auto", {}).name, "scan");
  EXPECT_EQ(backends.make("aabb:median-refit")->name(), "aabb:median-refit");
}

TEST(CpuBackends, OtherNamesAreRefusedWithTheChoice) {
  CpuBackends backends;
  try {
    backends.resolve("compute", {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown backend 'compute'; choose auto or one of scan, aabb-refit, aabb, obb-refit, obb");
  }
}

}  // namespace
}  // namespace trocar
