// Prints the results of the bench as a table and writes them as JSON (the form of compare.json, with "peers" and
// "sizes").
#pragma once

#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace trocar::bench {

struct Origin {
  std::string version, machine, gl, date;
  int gl_threads = 0;  // of the software renderer
};

struct Table {
  std::string organ, motion;
  std::size_t faces = 0, vertices = 0, checked_frames = 0;
  double radius_mm = 0.0;
  std::vector<Measured> ways;

  const Measured* find(std::string_view name) const;
};

struct Report {
  Origin origin;
  Table main;
  std::vector<Table> sizes;  // ascending faces
};

// Methods sorted by median, and how many times faster ours are than the peers.
std::string table_text(const Origin& origin, const Table& table);
// Returns the median total of every method against faces, and nanoseconds per vertex of `scan`.
std::string sizes_text(const std::vector<Table>& sizes);
std::string report_json(const Report& report);

}  // namespace trocar::bench
