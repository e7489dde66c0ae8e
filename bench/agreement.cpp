// trocar_agreement: the long test that all backends find the same touched faces. Also counts the faces that each convex
// volume misses. It runs on:
//   1. a scanned organ and a recorded instrument: every backend, mode, cover and set, at full, third and sixth rate
//   2. random motions over our own organs
//   3. an organ of a million faces
// 4. the static, paper and capsule volumes: the faces that each misses or adds, compared with the exact set
// Ends with the number of disagreements with the double reference; exit status 1 when there is one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "app/compare/compare.hpp"
#include "app/compare/frame_source.hpp"
#include "cpu_collision/reference.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/organ_maker.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

struct Options {
  std::string mesh, trajectory;
  double radius_mm = 2.5;
  int motions = 1000;  // random motions, half on each organ
  int frames_a_motion = 10;
  int large_faces = 1000000;
  int large_frames = 10;
};

std::string name_of(const QueryKind& kind) {
  return fmt::format("{} {} {}", name_of(kind.mode), name_of(kind.cover), name_of(kind.set));
}

struct Sum {
  std::uint64_t queries = 0, touched = 0, borderline = 0, disagreements = 0;

  void add(const CompareReport& report) {
    for (const auto& backend : report.backends) {
      queries += backend.frames;
      touched += backend.touched;
      borderline += backend.borderline;
      disagreements += backend.disagreements;
    }
  }
  void print(const std::string& what) const {
    fmt::print("{:<44} {:>8} queries {:>10} touched {:>6} borderline {:>3} disagreements\n", what, queries, touched,
               borderline, disagreements);
    std::fflush(stdout);
  }
};

class Proof {
 public:
  explicit Proof(const Options& options) : options_(options), names_(backend_list("all", backends_)) {
    fmt::print("{}\nOpenGL: {}\n{} backends, {}\n", machine_description(), gl_description(backends_), names_.size(),
               today());
  }

  void recorded_instrument() {
    const TriangleMesh mesh = load_mesh(options_.mesh);
    const Trajectory whole = load_trajectory(options_.trajectory);
    for (const std::size_t every : {1, 3, 6}) {
      for (const QueryKind& kind : kQueryKinds) {
        Sum sum;
        sum.add(compare(mesh, thinned(whole, every), kind));
        finish(sum, fmt::format("recorded, 1 row in {}, {}", every, name_of(kind)));
      }
    }
  }

  void random_motions() {
    const TriangleMesh organs[] = {load_mesh(data_file("organs/liver.obj")),
                                   load_mesh(data_file("organs/stomach.obj"))};
    Sum sums[std::size(kQueryKinds)];
    for (int motion = 0; motion < options_.motions; ++motion) {
      const TriangleMesh& mesh = organs[motion % 2];
      const std::size_t k = static_cast<std::size_t>(motion / 2) % std::size(kQueryKinds);
      const auto frames = static_cast<std::size_t>(options_.frames_a_motion);
      sums[k].add(
          compare(mesh, random_motion(static_cast<std::uint64_t>(motion), mesh.view(), frames), kQueryKinds[k]));
    }
    for (std::size_t k = 0; k < std::size(kQueryKinds); ++k) {
      finish(sums[k], fmt::format("random motions, seeds 0..{}, {}", options_.motions - 1, name_of(kQueryKinds[k])));
    }
  }

  void large_organ() {
    const TriangleMesh mesh = make_liver({.faces = options_.large_faces});
    const auto frames = static_cast<std::size_t>(options_.large_frames);
    for (const QueryKind& kind : kSweptCapsules) {
      Sum sum;
      sum.add(compare(mesh, random_motion(7, mesh.view(), frames), kind));
      finish(sum, fmt::format("liver of {} faces, {}", mesh.faces.size(), name_of(kind)));
    }
  }

  std::uint64_t disagreements() const { return disagreements_; }

 private:
  CompareReport compare(const TriangleMesh& mesh, Trajectory motion, const QueryKind& kind) {
    const auto source = make_mesh_source(mesh, std::move(motion), options_.radius_mm * kMillimetre, kind, 0.02);
    return compare_backends(*source, names_, backends_, [](std::size_t) {});
  }

  void finish(const Sum& sum, const std::string& what) {
    sum.print(what);
    disagreements_ += sum.disagreements;
  }

  Options options_;
  Backends backends_;
  std::vector<std::string> names_;
  std::uint64_t disagreements_ = 0;
};

// Compares the convex volumes with the true swept tool, using only the double reference.
void print_cover_table(const Options& options) {
  const TriangleMesh mesh = load_mesh(options.mesh);
  const Trajectory whole = load_trajectory(options.trajectory);
  const double radius = options.radius_mm * kMillimetre;
  fmt::print(
      "\nfaces against the exact swept tool, radius {} mm (missed / extra, and the part of the exact faces missed)\n",
      options.radius_mm);
  for (const std::size_t every : {1, 3, 6}) {
    const Trajectory motion = thinned(whole, every);
    std::uint64_t exact_faces = 0, missed[3] = {}, extra[3] = {};
    for (std::size_t frame = 1; frame < motion.rows.size(); ++frame) {
      const ToolPose before = motion.pose(frame - 1, radius), now = motion.pose(frame, radius);
      const auto faces = [&](ToolMode mode, Cover cover, TouchSet set) {
        return reference_touched(mesh.view(), frame_volume(&before, now, mode, cover, set), set).touched;
      };
      const auto exact = faces(ToolMode::Swept, Cover::Capsule, TouchSet::Exact);
      const std::vector<FaceId> volumes[3] = {faces(ToolMode::Static, Cover::Capsule, TouchSet::Volume),
                                              faces(ToolMode::Swept, Cover::Paper, TouchSet::Volume),
                                              faces(ToolMode::Swept, Cover::Capsule, TouchSet::Volume)};
      exact_faces += exact.size();
      for (int k = 0; k < 3; ++k) {
        std::vector<FaceId> both;
        std::set_intersection(exact.begin(), exact.end(), volumes[k].begin(), volumes[k].end(),
                              std::back_inserter(both));
        missed[k] += exact.size() - both.size();
        extra[k] += volumes[k].size() - both.size();
      }
    }
    fmt::print("1 row in {}: {} exact faces;", every, exact_faces);
    const char* names[3] = {"static", "paper", "capsule"};
    for (int k = 0; k < 3; ++k) {
      fmt::print("  {} {} / {} ({:.1f} %)", names[k], missed[k], extra[k],
                 100.0 * static_cast<double>(missed[k]) / static_cast<double>(std::max<std::uint64_t>(1, exact_faces)));
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace trocar

int main(int argument_count, char** arguments) {
  trocar::Options options;
  CLI::App program{"The long proof that all backends agree"};
  program.add_option("--mesh", options.mesh, "Scanned organ for parts 1 and 4, in millimetres");
  program.add_option("--trajectory", options.trajectory, "Recorded instrument for parts 1 and 4");
  program.add_option("--radius", options.radius_mm, "Tool radius, mm")->capture_default_str();
  program.add_option("--motions", options.motions, "Random motions over our own organs")->capture_default_str();
  program.add_option("--large-faces", options.large_faces, "Faces of the large organ; 0 for none")
      ->capture_default_str();
  CLI11_PARSE(program, argument_count, arguments);
  try {
    trocar::Proof proof(options);
    const bool recorded = !options.mesh.empty() && !options.trajectory.empty();
    if (recorded) proof.recorded_instrument();
    proof.random_motions();
    if (options.large_faces > 0) proof.large_organ();
    if (recorded) trocar::print_cover_table(options);
    fmt::print("\nall together: {} disagreements\n", proof.disagreements());
    return proof.disagreements() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "trocar_agreement: {}\n", error.what());
    return 1;
  }
}
