// trocar_proxy_meshes: measures the errors of a decimated organ that is used as a proxy mesh for the full one. The
// organ is decimated by the quadric method (mesh/decimate.hpp) and by VTK's progressive decimation. Each proxy mesh is
// tested against a static tool, on a recorded motion and on random ones, and its answers are compared with the full
// organ's. The table is docs/proxy-meshes.md. Units: metres inside, millimetres printed.
#include <fmt/format.h>
#include <vtkDecimatePro.h>
#include <vtkNew.h>
#include <vtkPolyData.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "app/compare/frame_source.hpp"
#include "geometry/refine.hpp"
#include "mesh/decimate.hpp"
#include "mesh/face_tree.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/vtk_surface.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar::bench {
namespace {

constexpr double kRadius = 2.5e-3;  // m   of the tool
constexpr int kRandomMotions = 40, kRandomFrames = 50;

// ---- the decimations ----

TriangleMesh by_quadric(const TriangleMesh& mesh, double share) {
  return decimate(mesh, {.faces = static_cast<std::size_t>(share * static_cast<double>(mesh.faces.size()))}).mesh;
}

TriangleMesh by_pro(const TriangleMesh& mesh, double share) {
  vtkNew<vtkPolyData> data;
  copy_to_vtk(std::vector<glm::dvec3>(mesh.positions.begin(), mesh.positions.end()), mesh.faces, *data);
  vtkNew<vtkDecimatePro> filter;
  filter->SetInputData(data);
  filter->SetTargetReduction(1.0 - share);
  filter->PreserveTopologyOn();
  filter->SetFeatureAngle(60.0);
  filter->Update();
  std::vector<glm::dvec3> points;
  TriangleMesh result;
  copy_from_vtk(*filter->GetOutput(), points, result.faces);
  result.positions.assign(points.begin(), points.end());
  return result;
}

// ---- the answers ----

struct Answer {
  double distance = 1e30;  // m   from the surface to the triangle swept by the axis; decides a touch for every radius
  double depth = 0.0;      // m   of the first touch of the step; 0 without a touch
};

// Tests faces whose boxes' bounding spheres are within the radius or closer than the smallest distance so far.
Answer answer_of(const FaceTree& tree, const ToolStep& step) {
  const Triangle sweep{step.pivot, step.tip_before, step.tip_after};
  Answer answer;
  float first = 2.f;
  std::vector<std::uint32_t> waiting{0};
  while (!waiting.empty()) {
    const FaceTree::Node& node = tree.nodes[waiting.back()];
    waiting.pop_back();
    const glm::dvec3 low(node.box.low), high(node.box.high), centre = 0.5 * (low + high);
    const double near = closest_triangles(sweep, {centre, centre, centre}).distance - 0.5 * glm::distance(low, high);
    if (near > std::max(answer.distance, step.radius)) continue;
    if (node.count == 0) waiting.insert(waiting.end(), {node.first, node.first + 1});
    for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
      const Triangle face = triangle_of(tree.mesh.positions, tree.mesh.faces[tree.order[k]]);
      answer.distance = std::min(answer.distance, closest_triangles(sweep, face).distance);
      Touch touch;
      if (!refine_touch(step, face, touch) || touch.time > first) continue;
      answer.depth = touch.time < first ? touch.depth : std::max(answer.depth, double(touch.depth));
      first = touch.time;
    }
  }
  return answer;
}

std::vector<Answer> answers_of(const TriangleMesh& mesh, const std::vector<ToolStep>& steps) {
  const FaceTree tree = build_face_tree(mesh.view());
  std::vector<Answer> answers;
  for (const ToolStep& step : steps) answers.push_back(answer_of(tree, step));
  return answers;
}

struct Comparison {
  std::size_t misses = 0, false_touches = 0, touched = 0;
  double depth_median = 0.0, depth_95 = 0.0;  // m   error over steps where both touch: median and 95th percentile
  double growth = 0.0;                        // m   growth of the radius that avoids every miss
};

Comparison compare_answers(const std::vector<Answer>& full, const std::vector<Answer>& proxy) {
  Comparison j;
  std::vector<double> errors{0.0};
  for (std::size_t i = 0; i < full.size(); ++i) {
    const bool really = full[i].distance <= kRadius, said = proxy[i].distance <= kRadius;
    j.touched += really;
    j.misses += really && !said;
    j.false_touches += said && !really;
    if (really) j.growth = std::max(j.growth, proxy[i].distance - kRadius);
    if (really && said) errors.push_back(std::abs(full[i].depth - proxy[i].depth));
  }
  std::sort(errors.begin(), errors.end());
  j.depth_median = errors[errors.size() / 2];
  j.depth_95 = errors[errors.size() * 95 / 100];
  return j;
}

// Returns the number of steps that touch the proxy mesh with the grown radius, but do not touch the organ.
std::size_t false_when_grown(const std::vector<Answer>& full, const std::vector<Answer>& proxy, double growth) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < full.size(); ++i)
    count += full[i].distance > kRadius && proxy[i].distance <= kRadius + growth;
  return count;
}

// ---- the table ----

struct Steps {
  std::vector<ToolStep> steps;
  std::vector<Answer> full;  // of the organ
};

void add_steps(const Trajectory& motion, std::vector<ToolStep>& steps) {
  for (std::size_t k = 1; k < motion.rows.size(); ++k)
    steps.push_back(step_between(motion.pose(k - 1, kRadius), motion.pose(k, kRadius)));
}

// Random motions move fast; every second one is slowed down to steps of a human hand.
std::vector<ToolStep> random_steps(const TriangleMesh& mesh) {
  std::vector<ToolStep> steps;
  for (std::uint64_t seed = 0; seed < kRandomMotions; ++seed) {
    const std::size_t before = steps.size();
    add_steps(random_motion(seed, mesh.view(), kRandomFrames), steps);
    if (seed % 2 == 1) continue;
    for (std::size_t k = before; k < steps.size(); ++k)
      steps[k].tip_before = glm::mix(steps[k].tip_after, steps[k].tip_before, 0.05);
  }
  return steps;
}

void print_row(const char* method, double share, const TriangleMesh& organ, const TriangleMesh& mesh, double seconds,
               const Steps& recorded, const Steps& random) {
  const SurfaceDistance error = surface_distance(organ.view(), mesh.view());
  const std::vector<Answer> on_recorded = answers_of(mesh, recorded.steps), on_random = answers_of(mesh, random.steps);
  const Comparison a = compare_answers(recorded.full, on_recorded), b = compare_answers(random.full, on_random);
  const double growth = std::max(a.growth, b.growth);
  fmt::print(
      "| {} | {:g} % | {} | {:.2f} | {:.3f} | {:.3f} | {} / {} | {} / {} | {:.3f} / {:.3f} | {:.3f} | {} / {} |\n",
      method, 100.0 * share, mesh.faces.size(), seconds, 1e3 * error.mean, 1e3 * error.max, a.misses, a.false_touches,
      b.misses, b.false_touches, 1e3 * b.depth_median, 1e3 * b.depth_95, 1e3 * growth,
      false_when_grown(recorded.full, on_recorded, growth), false_when_grown(random.full, on_random, growth));
  std::fflush(stdout);
}

void compare(const TriangleMesh& organ, const std::vector<ToolStep>& motion) {
  const Steps recorded{motion, answers_of(organ, motion)};
  Steps random{random_steps(organ), {}};
  random.full = answers_of(organ, random.steps);
  fmt::print("{} faces; {} recorded steps, {} touch; {} random steps, {} touch; radius {:g} mm\n\n", organ.faces.size(),
             motion.size(), compare_answers(recorded.full, recorded.full).touched, random.steps.size(),
             compare_answers(random.full, random.full).touched, 1e3 * kRadius);
  fmt::print(
      "| method | share | faces | time, s | mean error, mm | Hausdorff, mm | recorded: missed / false | "
      "random: missed / false | depth error median / 95 %, mm | added radius, mm | false touches then: recorded / "
      "random |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  using Method = TriangleMesh (*)(const TriangleMesh&, double);
  const std::pair<const char*, Method> methods[] = {{"quadric", by_quadric}, {"VTK progressive", by_pro}};
  for (const double share : {0.5, 0.25, 0.1, 0.05, 0.02}) {
    for (const auto& [name, method] : methods) {
      const auto start = std::chrono::steady_clock::now();
      const TriangleMesh mesh = method(organ, share);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      print_row(name, share, organ, mesh, seconds, recorded, random);
    }
  }
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  using namespace trocar;
  CLI::App app("Errors of a decimated organ that is used as a proxy mesh for the full one");
  std::string mesh_file, trajectory;
  app.add_option("--mesh", mesh_file, "The organ (default: our own liver)");
  app.add_option("--trajectory", trajectory, "A recorded motion");
  CLI11_PARSE(app, argc, argv);
  const TriangleMesh organ = load_mesh(mesh_file.empty() ? data_file("organs/liver.obj").string() : mesh_file);
  std::vector<ToolStep> recorded;
  if (!trajectory.empty()) {
    const Trajectory motion = load_trajectory(trajectory);
    bench::add_steps(motion, recorded);
  }
  fmt::print("{}, {}\n", machine_description(), today());
  bench::compare(organ, recorded);
  return 0;
}
