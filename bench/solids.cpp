// trocar_solids: measures the tables of docs/solids.md. It measures point in solid by both methods, the separating
// plane, closest features with and without coherence, and the convex pieces of instruments given as files.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "cpu_collision/solids/closest_features.hpp"
#include "cpu_collision/solids/convex_pieces.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"
#include "study/solids/piece_pair.hpp"
#include "study/solids/separating_plane.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using namespace solids;
using glm::dvec3;
using glm::vec3;
using test::Dice;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Returns the least mean of five rounds, us per call.
double time_of(int calls, const std::function<void(int)>& call) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call(i);
    best = std::min(best, microseconds_since(start) / calls);
  }
  return best;
}

void point_in_solid_table() {
  fmt::print("## Point in solid: us per point in the box of a liver (below 2000 faces: a sphere)\n\n");
  fmt::print("| faces | solid angle | rays, all faces | ratio | rays, AABB tree | ratio | tip depth, tree |\n");
  fmt::print("|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const int faces : {300, 1000, 3000, 10000, 30000}) {
    const TriangleMesh liver = faces < 2000 ? shapes::sphere_of(faces) : make_liver({.faces = faces});
    const SolidBox box = box_of(liver.positions);
    const auto tree = make_surface_tree({});
    tree->rebuild(liver.view());
    Dice dice(1);
    std::vector<vec3> points(40);
    for (vec3& p : points) p = glm::mix(box.low, box.high, vec3(0.5 + 0.5 * dice.in_cube(1.0)));
    long inside = 0;
    const int calls = 40;
    const double angle = time_of(calls, [&](int i) {
      inside += point_in_solid_by_winding(liver.view(), dvec3(points[i])).location == PointLocation::Inside;
    });
    const double rays = time_of(calls, [&](int i) {
      inside += point_in_solid(liver.view(), box, points[i]).location == PointLocation::Inside;
    });
    const double with_tree = time_of(calls, [&](int i) {
      const auto candidates = [&](const ParityRay& ray, const auto& visit) {
        for (const FaceId face : tree->along(dvec3(ray.from), dvec3(ray.to))) {
          if (visit(index(face))) return;
        }
      };
      inside += point_in_solid(liver.view(), box, points[i], candidates).location == PointLocation::Inside;
    });
    const double depth =
        time_of(calls, [&](int i) { inside += tip_depth(*tree, liver.view(), box, dvec3(points[i])).depth > 0; });
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {:.0f} | {:.2f} |\n", liver.faces.size(), angle, rays,
               angle / rays, with_tree, angle / with_tree, depth);
  }
}

std::vector<vec3> round_cloud(Dice& dice, int points) {
  std::vector<vec3> cloud(points);
  for (vec3& p : cloud) p = vec3(0.5 * dice.direction() * dvec3(1.0, 0.8, 0.6));
  return cloud;
}

// Two bodies of size 1, exactly `gap` apart.
struct Apart {
  ConvexBody a, b;
  std::vector<dvec3> first, second;
};

Apart apart_by(Dice& dice, double gap) {
  Apart made{convex_hull(round_cloud(dice, 40)), convex_hull(round_cloud(dice, 40)), {}, {}};
  RigidFrame pose = test::random_pose(dice, 0.0);
  pose.origin = 2.0 * dice.direction();
  FeaturePair pair;
  const FeatureDistance found = closest_features(made.a, {}, made.b, pose, pair);
  pose.origin += (gap / found.distance - 1.0) * (found.on_second - found.on_first);
  for (const dvec3& v : made.a.vertices) made.first.push_back(v);
  for (const dvec3& v : made.b.vertices) made.second.push_back(pose.to_world(v));
  return made;
}

const char* name_of(PlaneWeight weight) {
  return weight == PlaneWeight::Constant ? "constant" : weight == PlaneWeight::Decaying ? "decaying 0.97" : "quality";
}

void separating_plane_tables() {
  fmt::print("\n## Separating plane: pairs wrongly \"not found\", % of 500; mean updates when found at 1000\n\n");
  fmt::print("| weight | gap / size | 10 | 100 | 1000 | 10000 | updates |\n|:--|--:|--:|--:|--:|--:|--:|\n");
  for (const PlaneWeight weight : {PlaneWeight::Constant, PlaneWeight::Decaying, PlaneWeight::Quality}) {
    for (const double gap : {0.5, 0.1, 0.03, 0.01, 0.001}) {
      Dice dice(7);
      const int limits[] = {10, 100, 1000, 10000};
      int wrong[4] = {}, found = 0;
      long updates = 0;
      for (int i = 0; i < 500; ++i) {
        const Apart pair = apart_by(dice, gap);
        for (int l = 0; l < 4; ++l) {
          const auto answer =
              separating_plane(pair.first, pair.second, nullptr, {.weight = weight, .most_updates = limits[l]});
          wrong[l] += !answer.separated;
          if (l == 2 && answer.separated) updates += answer.updates, ++found;
        }
      }
      fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", name_of(weight), gap, wrong[0] / 5.0,
                 wrong[1] / 5.0, wrong[2] / 5.0, wrong[3] / 5.0, found ? double(updates) / found : 0.0);
    }
  }
}

// Measures two bodies that turn past each other for 1000 frames, at a distance of `gap` times their size.
void coherence_table() {
  fmt::print("\n## Coherence on a moving pair: 1000 frames, two bodies of about 76 faces, 5 mrad per frame\n\n");
  fmt::print(
      "| gap / size | plane updates, last plane | cold start | feature steps, last pair | cold start | us | us "
      "|\n");
  fmt::print("|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const double gap : {0.5, 0.1, 0.03, 0.01}) {
    Dice dice(3);
    const ConvexBody a = convex_hull(round_cloud(dice, 40)), b = convex_hull(round_cloud(dice, 40));
    const dvec3 axis = dice.direction();
    FeaturePair kept;
    Plane plane;
    long warm_updates = 0, cold_updates = 0, warm_steps = 0, cold_steps = 0;
    double warm_us = 0.0, cold_us = 0.0;
    std::vector<dvec3> first(a.vertices), second(b.vertices.size());
    for (int frame = 0; frame < 1000; ++frame) {
      RigidFrame pose{test::rotation(axis, 0.005 * frame),
                      {2.0 * std::cos(0.003 * frame), 2.0 * std::sin(0.003 * frame), 0.0}};
      FeaturePair cold;
      const FeatureDistance far = closest_features(a, {}, b, pose, cold);
      pose.origin += (gap / far.distance - 1.0) * (far.on_second - far.on_first);
      for (std::size_t i = 0; i < second.size(); ++i) second[i] = pose.to_world(b.vertices[i]);
      const auto warm_plane = separating_plane(first, second, &plane);
      if (warm_plane.separated) plane = warm_plane.plane;
      warm_updates += warm_plane.updates;
      cold_updates += separating_plane(first, second).updates;
      auto start = Clock::now();
      warm_steps += closest_features(a, {}, b, pose, kept).steps;
      warm_us += microseconds_since(start);
      FeaturePair fresh;
      start = Clock::now();
      cold_steps += closest_features(a, {}, b, pose, fresh).steps;
      cold_us += microseconds_since(start);
    }
    fmt::print("| {} | {:.2f} | {:.1f} | {:.2f} | {:.1f} | {:.2f} | {:.2f} |\n", gap, warm_updates / 1e3,
               cold_updates / 1e3, warm_steps / 1e3, cold_steps / 1e3, warm_us / 1e3, cold_us / 1e3);
  }
}

void random_pairs() {
  Dice dice(11);
  long steps = 0, searched = 0;
  const int pairs = 100000;
  for (int i = 0; i < pairs / 100; ++i) {
    const ConvexBody a = convex_hull(round_cloud(dice, 40)), b = convex_hull(round_cloud(dice, 40));
    for (int pose = 0; pose < 100; ++pose) {
      FeaturePair pair;
      const FeatureDistance found =
          closest_features(a, {}, b, {test::random_pose(dice, 0.0).axes, 2.0 * dice.in_cube(1.0)}, pair);
      steps += found.steps, searched += found.searched;
    }
  }
  fmt::print("\n{} random pairs: {:.2f} steps each, {} searched\n", pairs, double(steps) / pairs, searched);
}

ConvexPieces piece_row(const std::string& name, const MeshView& mesh, double limit, int most) {
  const auto start = Clock::now();
  ConvexPieces pieces = convex_pieces(mesh, {.largest_deviation = limit, .most_pieces = most});
  const double seconds = 1e-6 * microseconds_since(start);
  std::size_t faces = 0;
  for (const PieceNode& node : pieces.nodes) {
    if (node.leaf()) faces += node.hull.faces.size();
  }
  fmt::print("| {} | {} | {:.1f} | {} | {} | {:.2f} | {:.2f} | {} | {:.2f} |\n", name, mesh.faces.size(), limit * 1e3,
             most, pieces.pieces(), pieces.deviation() * 1e3, pieces.nodes[0].deviation * 1e3, faces, seconds);
  return pieces;
}

void jaw_table(const ConvexPieces& left, const ConvexPieces& right) {
  fmt::print("\n## Jaw against jaw and against the liver: us per frame, 500 frames, 20 um per frame\n\n");
  fmt::print("| case | us | hull tests | steps |\n|:--|--:|--:|--:|\n");
  for (const auto& [what, from] : {std::pair("jaws 12 to 2 mm apart", 0.012), std::pair("jaws crossing", 0.004)}) {
    PiecePair pair(left, right);
    double spent = 0.0;
    long tests = 0, steps = 0;
    for (int frame = 0; frame < 500; ++frame) {
      const RigidFrame pose{test::rotation({0, 0, 1}, 0.002 * frame), {from - 2e-5 * frame, 0.002, 0.0}};
      const auto start = Clock::now();
      const PieceDistance found = pair.distance({}, pose);
      spent += microseconds_since(start);
      tests += found.hull_tests, steps += found.steps;
    }
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} |\n", what, spent / 500, tests / 500.0, steps / 500.0);
  }
  const TriangleMesh liver = make_liver({.faces = 30000});
  PieceFaces query(left);
  const RigidFrame pose{glm::dmat3(1.0), dvec3(liver.positions[1000])};
  const PieceFaces::Box near = query.box(pose);
  std::vector<FaceId> candidates;
  for (std::uint32_t f = 0; f < liver.faces.size(); ++f) {
    const Triangle t = triangle_of(liver.positions, liver.faces[f]);
    if (glm::all(glm::lessThanEqual(glm::min(glm::min(t.a, t.b), t.c), near.high)) &&
        glm::all(glm::lessThanEqual(near.low, glm::max(glm::max(t.a, t.b), t.c)))) {
      candidates.push_back(FaceId(f));
    }
  }
  std::size_t touched = 0;
  const double us = time_of(100, [&](int) { touched = query.touched(pose, liver.view(), candidates).size(); });
  fmt::print("| jaw in a liver of {} faces: {} candidates, {} touched | {:.1f} | | |\n", liver.faces.size(),
             candidates.size(), touched, us);
}

void instruments(const std::string& folder) {
  fmt::print(
      "\n## Pieces of instruments\n\n| instrument | faces | limit, mm | most pieces | pieces | distance, mm | one "
      "hull, mm | "
      "hull faces | s |\n");
  fmt::print("|:--|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  const auto load = [&](const std::string& name) { return load_mesh(folder + "/" + name + ".stl"); };
  const TriangleMesh electrode = load("dissection_electrode");
  const CutMesh hook = part_beyond(electrode.view(), {0, 0, 1}, -0.002);
  for (const double limit : {1e-3, 5e-4, 3e-4}) {
    for (const char* name : {"maryland_dissector_jaw_left", "maryland_dissector_jaw_right",
                             "atraumatic_forceps_jaw_left", "atraumatic_forceps_jaw_right", "instrument_shaft"}) {
      piece_row(name, load(name).view(), limit, 16);
    }
    piece_row("dissection_electrode, tip", hook.view(), limit, 16);
  }
  const TriangleMesh left = load("maryland_dissector_jaw_left"), right = load("maryland_dissector_jaw_right");
  jaw_table(convex_pieces(left.view(), {.largest_deviation = 5e-4}),
            convex_pieces(right.view(), {.largest_deviation = 5e-4}));
}

}  // namespace
}  // namespace trocar

int main(int argc, char** argv) {
  trocar::point_in_solid_table();
  trocar::separating_plane_tables();
  trocar::coherence_table();
  trocar::random_pairs();
  if (argc > 1) trocar::instruments(argv[1]);
  return 0;
}
