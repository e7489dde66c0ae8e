// Runs the same frames through several backends in turn. Measures their agreement with the double-precision reference
// and their times; writes the comparison as a table, JSON, CSV and a picture, also that of a session.
// Tested in tests/app/compare_test.cpp and tests/app/program_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/compare/frame_source.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/session.hpp"

namespace trocar {

struct TimeSummary {
  double median = 0.0, p99 = 0.0, minimum = 0.0;  // ms
};
TimeSummary summarise(std::vector<double> samples_ms);

struct BackendResult {
  std::string name;
  TimeSummary update, query, total, gpu;                             // ms per frame, all organs together
  std::uint64_t touched = 0;                                         // faces, over all frames and tools
  std::uint64_t borderline = 0, disagreements = 0;                   // against the double-precision reference
  double volume_tests = 0.0, face_tests = 0.0, updated_nodes = 0.0;  // Nv, Np, Nu: mean per frame
  std::size_t memory_bytes = 0;
  std::uint64_t frames = 0;
};

struct CompareReport {
  std::string version, machine, gl, date;
  std::size_t faces = 0, vertices = 0, frames = 0, tools = 0;
  double radius_mm = 0.0;
  QueryKind kind;
  std::vector<BackendResult> backends;

  std::uint64_t disagreements() const;
  const BackendResult* find(std::string_view name) const;
  // Returns the speedup over `obb`, which is rebuilt every frame: ratio of the median total times; 0 when obb did not
  // run.
  double speedup_over_obb(const BackendResult& backend) const;
};

// Calls `progress` with the number of finished frames. Throws InputError when a backend cannot be created or cannot
// load an organ; RunError when a query fails.
CompareReport compare_backends(FrameSource& source, const std::vector<std::string>& names, Backends& backends,
                               const std::function<void(std::size_t)>& progress);

// Compares two times: "12.3 times faster", "5.0 times slower" or "as fast"; "" when either is unknown (not positive).
std::string pace(double own_ms, double other_ms);

std::string compare_table(const CompareReport& report);
std::string compare_json(const CompareReport& report);
// Returns a CSV text with a header and one row per backend: the values of the JSON without the minima, and of the GPU
// time only the median.
std::string compare_csv(const CompareReport& report);
// Returns an SVG plot with one bar per backend on a logarithmic axis in milliseconds; a tick shows the query time
// without the update.
std::string compare_svg(const CompareReport& report);

CompareReport session_report(const Session& session, const Scene& scene, const std::string& gl);

// Returns one sentence: number of faces compared with the double reference, number of all answers, number of wrong
// ones.
std::string sample_sentence(const SampleCount& sample);

}  // namespace trocar
