// Tests points on the line through a duct, also before its start and behind its end.
#include "sim/task/duct.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trocar {
namespace {

TEST(DuctLine, PointsLieAlongIt) {
  const std::vector<glm::dvec3> line = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}};
  EXPECT_EQ(point_on_line(line, -1.0), line[0]);
  EXPECT_EQ(point_on_line(line, 0.25), glm::dvec3(0.25, 0, 0));
  EXPECT_EQ(point_on_line(line, 2.0), glm::dvec3(1, 1, 0));
  EXPECT_EQ(point_on_line(line, 9.0), line[2]);
}

}  // namespace
}  // namespace trocar
