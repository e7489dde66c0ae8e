// trocar_tree_claims: tests statements of the literature about bounding-volume trees by measurements on our trees.
//   1. Refitting boxes is about ten times faster than rebuilding above 6,000 triangles (van den Bergen 1997).
//   2. Oriented boxes need far fewer pairs than axis-aligned boxes and spheres where two surfaces are close and
//      parallel (Gottschalk, Lin, Manocha 1996).
//   3. For a ball of 128 faces beside a pot of 166, a tree reduces 21,248 box tests to under 250 (X3D report, 2000).
//   4. T = Nv Cv + Np Cp + Nu Cu: the costs of each volume's tests and updates here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <glm/gtc/matrix_transform.hpp>
#include <random>

#include "app/compare/frame_source.hpp"
#include "bench/scene.hpp"
#include "cpu_collision/trees/aabb.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "sim/support/process.hpp"
#include "study/shapes/superquadric.hpp"
#include "study/trees/study_volumes.hpp"

namespace trocar::bench {
namespace {

constexpr int kUpdates = 15;  // the median counts

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::unique_ptr<SurfaceTree> tree_over(const std::string& name, const MeshView& mesh,
                                       std::uint32_t leaf_faces = kLeafFaces, bool tight = false) {
  TreePlan plan = *tree_plan(name, kAllTreeVolumes);
  plan.leaf_faces = leaf_faces;
  plan.tight = tight;
  auto tree = make_surface_tree(plan);
  tree->rebuild(mesh);
  return tree;
}

double update_ms(const std::string& name, FrameSource& frames) {
  const auto tree = tree_over(name, frames.organ(0));
  std::vector<double> times;
  for (int k = 0; k < kUpdates; ++k) {
    frames.load(static_cast<std::size_t>(k) % frames.frame_count());
    tree->update(frames.positions(0));
    times.push_back(tree->times().update_ms);
  }
  return median(times);
}

// ---- 1 ----

void refit_against_rebuild(const std::vector<std::size_t>& sizes) {
  fmt::print("\n1. An update by refit and by rebuild, ms (medians of {}), every vertex moved\n{:>9}", kUpdates,
             "faces");
  const std::vector<std::string> kinds = {"aabb", "sphere", "obb", "kdop14", "quospo"};
  for (const std::string& kind : kinds) fmt::print("  {:>7} {:>8} {:>6}", kind, "rebuild", "ratio");
  fmt::print("\n");
  for (const std::size_t size : sizes) {
    const Scene scene = make_sized_scene(size, 2.5);
    fmt::print("{:>9}", scene.frames->organ(0).faces.size());
    for (const std::string& kind : kinds) {
      const double refit = update_ms(kind + "-refit", *scene.frames), rebuilt = update_ms(kind, *scene.frames);
      fmt::print("  {:>7.3f} {:>8.3f} {:>6.1f}", refit, rebuilt, rebuilt / refit);
    }
    fmt::print("\n");
  }
}

// ---- 2 ----

// Measures two concentric spheres that are rotated against each other: all points of one are equally close to the
// other.
void close_and_parallel(std::uint32_t leaf_faces, bool tight) {
  const std::vector<std::string> kinds = {"sphere", "aabb", "kdop14", "kdop18", "kdop26", "quospo", "obb"};
  fmt::print(
      "\n2. Two concentric spheres, 20,000 faces each, radius 100 mm and that plus the gap; leaves of {}, volumes "
      "around "
      "{}: pairs of volumes (Nv) and of faces (Np) tested\n{:>8}",
      leaf_faces, tight ? "all faces below" : "their children's", "gap mm");
  for (const std::string& kind : kinds) fmt::print(" {:>18}", kind + " Nv / Np");
  fmt::print("\n");
  SuperquadricParams params;
  params.size = glm::dvec3(0.1);
  const TriangleMesh inner = make_superquadric(params);
  for (const double gap : {0.030, 0.010, 0.003, 0.001, 0.0003}) {
    TriangleMesh outer = inner;
    const glm::dmat3 turn(glm::rotate(glm::dmat4(1.0), 0.7, glm::normalize(glm::dvec3(0.3, 0.5, 0.8))));
    for (glm::vec3& p : outer.positions) p = glm::vec3(turn * (glm::dvec3(p) * (1.0 + gap / 0.1)));
    fmt::print("{:>8.1f}", gap * 1e3);
    for (const std::string& kind : kinds) {
      const auto first = tree_over(kind, inner.view(), leaf_faces, tight),
                 second = tree_over(kind, outer.view(), leaf_faces, tight);
      const CostCounters cost = first->crossing(*second).cost;
      fmt::print(" {:>18}", fmt::format("{} / {}", cost.volume_tests, cost.face_tests));
    }
    fmt::print("\n");
  }
}

// ---- 3 ----

// Numbers of volumes and faces tested, over many positions.
struct Tests {
  std::vector<double> volumes, faces;

  void add(const CostCounters& cost) {
    volumes.push_back(static_cast<double>(cost.volume_tests));
    faces.push_back(static_cast<double>(cost.face_tests));
  }
  std::string text() const {
    if (faces.empty()) return "-";
    return fmt::format("{} + {} ({} + {})", median(volumes), median(faces),
                       *std::max_element(volumes.begin(), volumes.end()),
                       *std::max_element(faces.begin(), faces.end()));
  }
};

// The report's own tree and count: boxes halved along x, y, z in turn down to one face, straddling faces kept in the
// node. It counts the tests of faces' boxes, not of nodes' boxes: faces of the pot whose box meets the ball's box,
// then each of those boxes against the ball's tree, up to the first hit.
struct ReportedTree {
  VolumeTree<Aabb> tree;
  std::vector<Aabb> face_boxes;

  explicit ReportedTree(const TriangleMesh& mesh) {
    std::vector<Lanes4> corners;
    for (const glm::vec3& p : mesh.positions) corners.push_back(lanes(p));
    SplitScratch scratch;
    build_topology(corners, mesh.faces, {SplitRule::Middle, 1}, scratch, tree);
    tree.nodes.resize(tree.node_count());
    fit_tree<Aabb>(PaddedPositions(mesh.positions), nullptr, reach_of(mesh.positions), tree);
    for (const glm::uvec3& f : mesh.faces)
      face_boxes.push_back(
          {min(min(corners[f.x], corners[f.y]), corners[f.z]), max(max(corners[f.x], corners[f.y]), corners[f.z])});
  }
  // Calls met(box) for every face whose box overlaps `box`, until it returns true; returns the number of tested faces'
  // boxes.
  template <class Met>
  int search(const Aabb& box, Met met) const {
    int tests = 0;
    for (std::uint32_t node = 0; node < tree.node_count();) {
      if (!overlap(tree.nodes[node], box)) {
        node = tree.skip[node];
        continue;
      }
      for (std::uint32_t k = 0; k < tree.own[node]; ++k) {
        ++tests;
        const Aabb& face = face_boxes[tree.face_of_slot[tree.slots[node].first + k]];
        if (overlap(face, box) && met(face)) return tests;
      }
      ++node;
    }
    return tests;
  }
};

struct ReportedAnswer {
  int tests;
  bool collision;  // of boxes
};

ReportedAnswer as_reported(const ReportedTree& pot, const ReportedTree& ball) {
  std::vector<Aabb> met;
  ReportedAnswer answer{pot.search(ball.tree.nodes[0], [&](const Aabb& face) { return met.push_back(face), false; }),
                        false};
  for (const Aabb& face : met) {
    answer.tests += ball.search(face, [&](const Aabb&) { return answer.collision = true; });
    if (answer.collision) break;
  }
  return answer;
}

std::ptrdiff_t under_250(const std::vector<double>& tests) {
  return std::count_if(tests.begin(), tests.end(), [](double n) { return n < 250; });
}

// A ball at random positions around a pot, close enough for their boxes to overlap. The report counts the boxes of
// faces, not those of the nodes.
void ball_beside_a_pot() {
  SuperquadricParams pot{.kind = SuperquadricKind::Toroid, .size = {0.1, 0.1, 0.04}, .hole = 0.03, .faces = 166};
  SuperquadricParams ball{.size = glm::dvec3(0.03), .faces = 128};
  const TriangleMesh target = make_superquadric(pot), moving = make_superquadric(ball);
  fmt::print(
      "\n3. A ball of {} faces beside a pot of {}: face by face {} box tests; by trees with leaves of one face, "
      "pairs of volumes + pairs of faces, median (at most)\n{:>12} {:>30} {:>30}\n",
      moving.faces.size(), target.faces.size(), moving.faces.size() * target.faces.size(), "tree",
      "beside, boxes overlapping", "crossing");
  for (const std::string name : {"aabb:middle", "aabb", "sphere", "kdop14", "obb"}) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> across(-0.13f, 0.13f), up(-0.07f, 0.07f);
    const auto still = tree_over(name, target.view(), 1), tree = tree_over(name, moving.view(), 1);
    Tests beside, crossing;
    for (int k = 0; k < 1000; ++k) {
      const glm::vec3 at(across(random), across(random), up(random));
      std::vector<glm::vec3> moved = moving.positions;
      for (glm::vec3& p : moved) p += at;
      tree->update(moved);
      const PairAnswer answer = tree->crossing(*still);
      (answer.pairs.empty() ? beside : crossing).add(answer.cost);
    }
    fmt::print("{:>12} {:>30} {:>30}\n", name, beside.text(), crossing.text());
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> across(-0.13f, 0.13f), up(-0.07f, 0.07f);
  const ReportedTree still(target);
  std::vector<double> beside, collision;
  for (int k = 0; k < 1000; ++k) {
    TriangleMesh moved = moving;
    const glm::vec3 at(across(random), across(random), up(random));
    for (glm::vec3& p : moved.positions) p += at;
    const ReportedAnswer answer = as_reported(still, ReportedTree(moved));
    (answer.collision ? collision : beside).push_back(answer.tests);
  }
  fmt::print(
      "counted like the report: beside {} of {} times under 250 tests, median {}, at most {}; meeting {} of {}, "
      "median {}, at most {}\n",
      under_250(beside), beside.size(), median(beside), *std::max_element(beside.begin(), beside.end()),
      under_250(collision), collision.size(), median(collision), *std::max_element(collision.begin(), collision.end()));
}

// ---- 4 ----

struct Costs {
  double volume_ns, face_ns, node_ns, start_ns;
};

// Fits the query time by least squares over Nv, Np and 1, for tools of many sizes; divides the update's time by its
// nodes.
Costs measured_costs(const std::string& name, FrameSource& frames) {
  const auto tree = tree_over(name, frames.organ(0));
  const MeshView organ = frames.organ(0);
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> vertex(0, organ.positions.size() - 1);
  std::uniform_real_distribution<double> exponent(-3.5, -1.5), side(-1.0, 1.0);
  glm::dmat3 squares(0.0);
  glm::dvec3 products(0.0);
  for (int k = 0; k < 3000; ++k) {
    const glm::dvec3 tip(organ.positions[vertex(random)]);
    const glm::dvec3 direction = glm::normalize(glm::dvec3(side(random), side(random), 1.5));
    const ToolVolume tool = static_volume({tip + 0.2 * direction, tip, std::pow(10.0, exponent(random))});
    double least = 1e30;
    for (int turn = 0; turn < 3; ++turn) {
      tree->touched({&tool, 1}, TouchSet::Volume);
      least = std::min(least, tree->times().search_ms * 1e6);
    }
    const CostCounters cost = tree->counters();
    const glm::dvec3 row(static_cast<double>(cost.volume_tests), static_cast<double>(cost.face_tests), 1.0);
    squares += glm::outerProduct(row, row);
    products += least * row;
  }
  const glm::dvec3 fit = glm::inverse(squares) * products;
  const double update = update_ms(name, frames) * 1e6;
  return {fit.x, fit.y, update / static_cast<double>(tree->node_count()), fit.z};
}

void cost_formula(const Scene& scene) {
  fmt::print(
      "\n4. T = Nv Cv + Np Cp + Nu Cu on {}, {} faces, nanoseconds; fitted to 3,000 tools of 0.3 to 30 mm; C0: "
      "preparation of the tool\n{:<14} {:>7} {:>7} {:>9} {:>9}\n",
      scene.organ, scene.frames->organ(0).faces.size(), "tree", "Cv", "Cp", "Cu refit", "Cu build");
  for (const std::string kind : {"aabb", "sphere", "obb", "kdop6", "kdop14", "kdop18", "kdop26", "quospo"}) {
    const Costs refit = measured_costs(kind + "-refit", *scene.frames), rebuilt = measured_costs(kind, *scene.frames);
    fmt::print("{:<14} {:>7.1f} {:>7.1f} {:>9.1f} {:>9.1f}   C0 {:.0f}\n", kind, refit.volume_ns, refit.face_ns,
               refit.node_ns, rebuilt.node_ns, refit.start_ns);
  }
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  CLI::App app("Statements of the literature about bounding-volume trees, measured.");
  trocar::bench::SceneFiles files;
  std::vector<std::size_t> sizes{2000, 6000, 20000, 60000, 200000, 600000};
  app.add_option("--mesh", files.mesh, "organ of the cost formula, in millimetres (default: our own liver)");
  app.add_option("--trajectory", files.trajectory, "CSV of the tool, with --mesh");
  app.add_option("--sizes", sizes, "face counts of the first table")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  fmt::print("{}; {}\n", trocar::machine_description(), trocar::today());
  trocar::bench::refit_against_rebuild(sizes);
  trocar::bench::close_and_parallel(1, true);
  trocar::bench::close_and_parallel(1, false);
  trocar::bench::close_and_parallel(trocar::kLeafFaces, false);
  trocar::bench::ball_beside_a_pot();
  trocar::bench::cost_formula(trocar::bench::make_scene(files));
  return 0;
}
