// Tests the quick refusals of a pressing tool against its exact answers, and that the contacts around a part are
// complete without being counted twice.
#include "deform/contact/contact.hpp"

#include "tests/cpu_collision/random_parts.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

using glm::dvec3;

constexpr double kFar = std::numeric_limits<double>::infinity();  // m

// What a tool meets is never refused: a point in range is not beyond it, and a touched face may have been touched.
TEST(PressingTool, RefusesNothingThatItMeets) {
  int in_range = 0, beyond = 0, touched = 0, excluded = 0;
  test::for_every_motion(2210, 4000, [&](test::Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    ToolStep step = motion.shaft;
    step.part = {&shape, &motion};
    const PressingTool tool(step);
    const dvec3 near = frame_at(motion, shape, 1.0).to_world(shape.corners[0]);
    for (int i = 0; i < 10; ++i) {
      const dvec3 at = near + dice.in_cube(dice.log_uniform(1e-4, 0.03));
      const double range = dice.log_uniform(1e-4, 0.02);
      const bool close = tool.closest(at, kFar).distance <= range;
      EXPECT_FALSE(close && tool.is_beyond(at, range)) << test::words(motion);
      in_range += close, beyond += tool.is_beyond(at, range);
      const Triangle face{at, at + dice.in_cube(0.003), at + dice.in_cube(0.003)};
      Touch touch;
      const bool meets = tool.touches(face, touch), may = tool.may_have_touched(tool.closest(face, kFar).distance);
      EXPECT_FALSE(meets && !may) << test::words(motion);
      const double reach = dice.log_uniform(1e-4, 0.02), most = tool.contact_range(reach);
      const double distance = tool.closest(face, kFar).distance;
      EXPECT_FALSE((may || distance < tool.radius() + reach) && distance > most) << test::words(motion);
      touched += meets, excluded += !may;
    }
  });
  std::printf("%d points in range, %d beyond; %d faces touched, %d excluded\n", in_range, beyond, touched, excluded);
  EXPECT_GT(in_range, 1000);
  EXPECT_GT(beyond, 1000);
  EXPECT_GT(touched, 1000);
  EXPECT_GT(excluded, 1000);
}

// A jaw of 3.6 x 2 x 16 mm along x, rolled, with its lower side about `gap` above the plane z = 0.
struct Jaw {
  PartShape shape;
  InstrumentMotion motion;
  ToolStep step;

  Jaw(double gap, double roll) {
    shape.radius = 2.5e-4;
    for (const double x : {-1.55e-3, 1.55e-3})
      for (const double y : {2.5e-4, 1.75e-3})
        for (const double z : {2.5e-4, 1.575e-2}) shape.corners.emplace_back(x, y, z);
    const ToolPose shaft{{0.2, 0.0, gap + 0.0018}, {-0.008, 0.0, gap + 0.0018}, 0.0025};
    motion = instrument_at_rest({shaft, roll, 0.0});
    step = motion.shaft;
    step.part = {&shape, &motion};
  }
};

// A jaw whose lower side lies at this height: only what is below a face counts, up to its highest side.
TEST(PressingTool, DepthBehindAFace) {
  const Triangle up{{0, 0, 0}, {1e-3, 0, 0}, {0, 1e-3, 0}}, down{{0, 0, 0}, {0, 1e-3, 0}, {1e-3, 0, 0}};
  for (const double gap : {-1e-3, -4e-4, 5e-4}) {
    const Jaw jaw(gap, 0.0);
    const PressingTool tool(jaw.step);
    double lowest = kFar, highest = -kFar;
    for (const dvec3& corner : jaw.shape.corners) {
      const double z = frame_at(jaw.motion, jaw.shape, 1.0).to_world(corner).z;
      lowest = std::min(lowest, z), highest = std::max(highest, z);
    }
    EXPECT_NEAR(tool.depth_behind(up), std::max(-lowest, 0.0), 1e-12);
    EXPECT_NEAR(tool.depth_behind(down), std::max(highest, 0.0), 1e-12);
  }
}

dvec3 point_of(const TissueContact& c, std::span<const glm::vec3> positions) {
  const double u = static_cast<double>(c.u), v = static_cast<double>(c.v);
  return (1.0 - u - v) * dvec3(positions[c.vertex]) + u * dvec3(positions[c.second]) + v * dvec3(positions[c.third]);
}

bool lies_on(const TissueContact& c, const glm::uvec3& face) {
  const auto has = [&](std::uint32_t vertex) { return face.x == vertex || face.y == vertex || face.z == vertex; };
  return (has(c.vertex) || c.u + c.v >= 1.f) && (has(c.second) || c.u <= 0.f) && (has(c.third) || c.v <= 0.f);
}

// On a plane of faces of 2 mm under a jaw, every face in reach that looks at the jaw has a contact where it is closest;
// a face parallel to the jaw has many such points. No two contacts are at one point.
TEST(PressingTool, ContactsAreCompleteAndNotCountedTwice) {
  const TriangleMesh plane = shapes::grid(20, 20, 0.04f, 0.04f);
  for (const double gap : {-0.0002, 0.0, 0.0005, 0.0015})
    for (const double roll : {0.0, 0.4}) {
      const Jaw jaw(gap, roll);
      ContactList list;
      std::vector<Touch> all(plane.faces.size());
      for (std::uint32_t f = 0; f < all.size(); ++f) all[f].face = FaceId(f);
      test::contacts_of(jaw.step, all, plane.faces, plane.positions, list);
      ASSERT_EQ(list.contacts.size(), list.face_of.size());
      std::vector<dvec3> points;
      for (const TissueContact& contact : list.contacts) points.push_back(point_of(contact, plane.positions));
      const auto contacts_at = [&](const dvec3& at) {
        return std::count_if(points.begin(), points.end(), [&](const dvec3& p) { return glm::distance(p, at) < 1e-7; });
      };
      for (const dvec3& point : points) EXPECT_EQ(contacts_at(point), 1) << "gap " << gap << " roll " << roll;
      const PressingTool tool(jaw.step);
      int in_reach = 0;
      for (const glm::uvec3& corners : plane.faces) {
        const ToolTissue closest = tool.closest(triangle_of(plane.positions, corners), kFar);
        const double above = closest.on_tool.z - closest.on_tissue.z;
        if (closest.distance >= tool.radius() + list.params.reach || above < 1e-6) continue;
        ++in_reach;
        double nearest = 1.0;
        for (std::size_t i = 0; i < points.size(); ++i)
          if (lies_on(list.contacts[i], corners)) nearest = std::min(nearest, tool.closest(points[i], kFar).distance);
        EXPECT_NEAR(nearest, closest.distance, 1e-8) << "gap " << gap << " roll " << roll;
      }
      EXPECT_GT(in_reach, 20);
      std::printf("gap %.1f mm, roll %.1f: %zu contacts of %d faces in reach\n", gap * 1e3, roll, points.size(),
                  in_reach);
    }
}

}  // namespace
}  // namespace trocar
