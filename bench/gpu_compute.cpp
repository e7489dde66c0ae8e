// Measures the time of a frame of `compute`: medians per stage against the number of faces, for both sets and every
// variant of the backend. Runs on any machine with EGL and OpenGL 4.5; needs no files and no display. The organ is an
// ellipsoid of a liver's size that wobbles, so that every update changes positions; a 5 mm instrument sweeps through
// it. Times in milliseconds; total is update + query by the wall clock; gpu is measured by the GPU's own clock. Usage:
// gpu_compute [LARGEST_FACES [FRAMES [TOOLS]]]   (default 1000000 200 1)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "geometry/stopwatch.hpp"
#include "gpu_collision/compute_query.hpp"
#include "mesh/triangle_mesh.hpp"

namespace {

using namespace trocar;

constexpr std::size_t kFaceCounts[] = {2'000, 8'000, 31'000, 100'000, 300'000, 1'000'000};
constexpr int kPoses = 16;                           // distinct positions and tools, used in turn
constexpr glm::vec3 kHalfSize{0.14f, 0.08f, 0.05f};  // m  of the organ
constexpr double kRadius = 0.0025;                   // m  of the tool
constexpr int kWarmFrames = 20;

double median(std::vector<double>& samples) {
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

// Makes an ellipsoid of rings of vertices from pole to pole, with two faces between any four neighbours.
TriangleMesh ellipsoid(std::size_t faces) {
  const auto rings = static_cast<std::uint32_t>(std::sqrt(double(faces) / 4.0)), around = 2 * rings;
  TriangleMesh mesh;
  for (std::uint32_t ring = 0; ring <= rings; ++ring) {
    const float polar = std::numbers::pi_v<float> * (float(ring) + 0.5f) / float(rings + 1);
    for (std::uint32_t i = 0; i < around; ++i) {
      const float turn = 2.f * std::numbers::pi_v<float> * float(i) / float(around);
      mesh.positions.push_back(
          kHalfSize * glm::vec3(std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn), std::cos(polar)));
    }
  }
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    for (std::uint32_t i = 0; i < around; ++i) {
      const std::uint32_t a = ring * around + i, b = ring * around + (i + 1) % around;
      mesh.faces.push_back({a, a + around, b});
      mesh.faces.push_back({b, a + around, b + around});
    }
  }
  return mesh;
}

struct Frame {
  std::vector<glm::vec3> positions;
  std::vector<ToolVolume> tools;
};

std::vector<Frame> make_frames(const TriangleMesh& mesh, int tools) {
  std::vector<Frame> frames(kPoses);
  for (int f = 0; f < kPoses; ++f) {
    const float phase = 2.f * std::numbers::pi_v<float> * float(f) / float(kPoses);
    for (const glm::vec3& p : mesh.positions) {
      frames[f].positions.push_back(p + 0.006f * glm::sin(40.f * glm::vec3(p.y, p.z, p.x) + phase));
    }
    for (int t = 0; t < tools; ++t) {
      const glm::dvec3 pivot(0.1 * t, 0.2, 0.1), tip(0.1 * std::cos(phase + t), 0.01 * std::sin(phase), 0.0);
      frames[f].tools.push_back(
          swept_volume({pivot, tip, tip + glm::dvec3(0.002, 0.001, 0.0), kRadius}, Cover::Capsule));
    }
  }
  return frames;
}

struct Samples {
  std::vector<double> update, submit, gpu, read_back, refine, total;
  std::size_t touched = 0, records = 0, frames = 0;

  void add(const TouchQuery& query, double total_ms, std::size_t touches) {
    const StageTimes& times = query.times();
    update.push_back(times.update_ms);
    submit.push_back(times.submit_ms);
    gpu.push_back(times.gpu_ms);
    read_back.push_back(times.read_back_ms);
    refine.push_back(times.refine_ms);
    total.push_back(total_ms);
    touched += touches;
    records += query.counters().face_tests;
    ++frames;
  }
};

Samples measure(TouchQuery& query, const std::vector<Frame>& frames, int count, TouchSet set) {
  Samples samples;
  for (int i = -kWarmFrames; i < count; ++i) {
    const Frame& frame = frames[static_cast<std::size_t>(i + kWarmFrames) % frames.size()];
    const auto start = Clock::now();
    query.update(frame.positions);
    const std::size_t touches = query.touched(frame.tools, set).touches.size();
    if (i >= 0) samples.add(query, milliseconds_since(start), touches);
  }
  return samples;
}

void print(const std::string& variant, std::size_t faces, Samples samples) {
  fmt::print("{:>8} {:<34} {:8.4f} {:8.4f} {:8.4f} {:9.4f} {:8.4f} {:8.4f} {:8} {:8}\n", faces, variant,
             median(samples.update), median(samples.submit), median(samples.gpu), median(samples.read_back),
             median(samples.refine), median(samples.total), samples.records / samples.frames,
             samples.touched / samples.frames);
}

struct Variant {
  const char* name;
  ComputeTuning tuning;
};

// Returns the default for this hardware, then the same with one setting changed.
std::vector<Variant> variants(const GlInfo& info) {
  const ComputeTuning best = best_compute_tuning(info);
  std::vector<Variant> list(5, {"default", best});
  list[1].name = best.cull_blocks ? "all faces" : "culled blocks";
  list[1].tuning.cull_blocks = !best.cull_blocks;
  list[2].name = best.clip_on_gpu ? "clip on host" : "clip on gpu";
  list[2].tuning.clip_on_gpu = !best.clip_on_gpu;
  list[3].name = best.host_counters ? "counters on gpu" : "counters on host";
  list[3].tuning.host_counters = !best.host_counters;
  list[4].name = best.timer_query ? "no timer query" : "timer query";
  list[4].tuning.timer_query = !best.timer_query;
  return list;
}

void compare_variants(GlContext& context, std::size_t faces, int frame_count, int tools) {
  const TriangleMesh mesh = ellipsoid(faces);
  const std::vector<Frame> frames = make_frames(mesh, tools);
  for (const Variant& variant : variants(context.info())) {
    const auto query = make_compute_query(context, variant.tuning);
    query->rebuild(mesh.view());
    for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
      const std::string name = fmt::format("{} {}", set == TouchSet::Volume ? "volume" : "exact", variant.name);
      print(name, mesh.faces.size(), measure(*query, frames, frame_count, set));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t largest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const int frames = argc > 2 ? std::max(1, std::atoi(argv[2])) : 200;
  const int tools = argc > 3 ? std::max(1, std::atoi(argv[3])) : 1;
  std::string why;
  const auto context = make_offscreen_context(why);
  if (!context) {
    fmt::print(stderr, "no OpenGL: {}\n", why);
    return 1;
  }
  const GlInfo& info = context->info();
  fmt::print("{} | {} | OpenGL {} | {} frames, {} tools\n", info.vendor, info.renderer, info.version, frames, tools);
  fmt::print("{:>8} {:<34} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8}\n", "faces", "variant", "update", "submit",
             "gpu", "read_back", "refine", "total", "records", "touched");
  for (const std::size_t faces : kFaceCounts) {
    if (faces <= largest) compare_variants(*context, faces, frames, tools);
  }
  return 0;
}
