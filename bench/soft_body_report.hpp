// Writes the results of the soft-body bench as text, CSV and a plot.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/soft_body.hpp"
#include "bench/soft_body_memory.hpp"

namespace trocar::bench {

struct SoftBodyTime {
  std::string name, how;
  int iterations = 1;  // per pass
  TimeSummary pass{};  // ms
};

struct SoftBodyTable {
  std::size_t nodes = 0, springs = 0;
  double spacing = 0.0;  // m
  std::vector<SoftBodyTime> ways;

  const SoftBodyTime* find(std::string_view name) const;
  // Returns nanoseconds per spring and iteration.
  double nanoseconds(const SoftBodyTime& way, double TimeSummary::*which) const;
};

std::string soft_body_text(const SoftBodyTable& table);
// Says how many times faster than Bullet our step is, and how the cost grows with the number of springs.
std::string soft_body_summary(const std::vector<SoftBodyTable>& tables);
std::string sag_text(const TissueModel& column, const std::vector<Sag>& sags);
std::string memory_text(const TissueMemory& memory);
std::string soft_body_csv(const std::vector<SoftBodyTable>& tables);
std::string soft_body_plot(const std::vector<SoftBodyTable>& tables, const std::string& machine);

}  // namespace trocar::bench
