// The same frames through several backends, taken in turn: agreement with the double reference and time per stage.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/backend/backends.hpp"
#include "app/compare/frame_source.hpp"

namespace trocar {

struct TimeSummary {
  double median = 0.0, p99 = 0.0, minimum = 0.0;  // ms
};
TimeSummary summarise(std::vector<double> samples_ms);

struct BackendResult {
  std::string name;
  TimeSummary update, query, total, gpu;                             // ms per frame, all organs together
  std::uint64_t touched = 0;                                         // faces, over all frames and tools
  std::uint64_t borderline = 0, disagreements = 0;                   // against the double reference
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
  // How many times faster than `obb` (rebuilt every frame); 0 when obb did not run.
  double speedup_over_obb(const BackendResult& backend) const;
};

// Progress is told how many frames are done. Error: InputError when a backend cannot be made.
CompareReport compare_backends(FrameSource& source, const std::vector<std::string>& names, Backends& backends,
                               const std::function<void(std::size_t)>& progress);

// "12.3 times faster", "5.0 times slower" or "as fast": what one time is against another; "" when either is not known.
std::string pace(double own_ms, double other_ms);

// "swept", "capsule", "exact", ...: as on the command line.
std::string_view name_of(ToolMode mode);
std::string_view name_of(Cover cover);
std::string_view name_of(TouchSet set);

std::string compare_table(const CompareReport& report);
std::string compare_json(const CompareReport& report);
// A row for each backend, under one header; columns as in the JSON.
std::string compare_csv(const CompareReport& report);
// A bar for each backend on a logarithmic axis of milliseconds, with a mark for the query without the update.
std::string compare_svg(const CompareReport& report);

}  // namespace trocar
