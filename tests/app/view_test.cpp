// The view, off-screen: the organ, the tool and the touched faces are where they must be in the picture.
#include "app/view/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/backend/backends.hpp"
#include "app/view/surface.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(VertexNormals, PointOutOfASphere) {
  const TriangleMesh sphere = shapes::icosphere(3, 0.1f);
  std::vector<glm::vec3> normals(sphere.positions.size());
  vertex_normals(sphere.view(), normals);
  for (std::size_t k = 0; k < normals.size(); ++k) {
    EXPECT_GT(glm::dot(normals[k], glm::normalize(sphere.positions[k])), 0.999f);
  }
}

TEST(VertexNormals, ALonelyVertexHasOneToo) {
  TriangleMesh mesh;
  mesh.positions = {{1, 2, 3}};
  std::vector<glm::vec3> normals(1);
  vertex_normals(mesh.view(), normals);
  EXPECT_EQ(normals[0], glm::vec3(0, 0, 1));
}

// A sphere seen from the front, two of its faces touched. The picture is compared with one without touches.
TEST(View, TouchedFacesShowInThePicture) {
  Backends backends;
  GlContext* context = backends.context();
  if (!context) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends.why_no_context() << ")";
  const TriangleMesh sphere = shapes::icosphere(3, 0.05f);
  std::vector<Touch> touches;
  for (std::uint32_t face = 0; face < sphere.faces.size(); ++face) {
    const glm::vec3 centre = sphere.positions[sphere.faces[face].x];
    if (centre.z > 0.045f) touches.push_back({FaceId{face}, {}, {}, 0.f, 0.f});
  }
  const std::vector<std::uint32_t> first = {0, static_cast<std::uint32_t>(touches.size())};
  std::vector<DrawnOrgan> organs = {{sphere.view(), {0.5f, 0.1f, 0.1f}, sphere.positions, {}, nullptr}};
  const std::vector<DrawnTool> tools = {{{{0.1, 0.1, 0.2}, {0.06, 0.06, 0.06}, 0.0025}, 0.0, 1.0, true}};
  ScopePose scope = scope_looking_at({0, 0, 0.2}, {0, 0, 0}, 0.0, 0.0, 0.1);
  scope.field_of_view_deg = 50.0;
  const TemporaryFolder folder;

  View view(*context, organs);
  PictureTarget target(320, 240);
  const auto picture = [&](const char* name) {
    target.bind();
    view.draw(organs, tools, scope, {}, {}, {}, 320, 240);
    target.save_png(folder.path() / name);
    return read_file(folder.path() / name);
  };
  const std::string plain = picture("plain.png"), again = picture("again.png");
  organs[0].touches = {touches, first};
  const std::string touched = picture("touched.png");
  EXPECT_TRUE(plain.starts_with("\x89PNG"));
  EXPECT_GT(plain.size(), 5000u);
  EXPECT_TRUE(plain == again);
  EXPECT_TRUE(plain != touched);
}

}  // namespace
}  // namespace trocar
