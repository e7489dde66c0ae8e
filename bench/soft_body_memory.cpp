#include "bench/soft_body_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <string>

namespace trocar::bench {
namespace {

template <typename T>
std::size_t bytes(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

std::size_t bytes(const NodeColumns& c) { return bytes(c.x) + bytes(c.y) + bytes(c.z); }

std::size_t bytes(const Lattice& l) { return bytes(l.cells) + bytes(l.node_at) + bytes(l.cell_of); }

std::size_t bytes(const TissueModel& m) {
  return bytes(m.lattice) + bytes(m.rest) + bytes(m.mass) + bytes(m.inverse_mass) + bytes(m.gravity) +
         bytes(m.spring_rows) + bytes(m.stiffness) + bytes(m.cell_rows) + bytes(m.bulk) + bytes(m.bulk_index) +
         bytes(m.tethers) + bytes(m.diaphragm) + bytes(m.embedding);
}

std::size_t bytes(const SteppedTissue& state) {
  const TissueScratch& s = state.scratch;
  return bytes(state.x) + bytes(state.v) + bytes(s.x) + bytes(s.v) + bytes(s.ahead) + bytes(s.force) +
         bytes(s.gravity) + bytes(s.contacts) + bytes(s.holds) + bytes(s.flatness) + bytes(s.crushed);
}

// Returns the memory of the process in bytes: for "VmRSS" the current memory, for "VmHWM" the peak since the last
// forget_peak(). Returns 0 if the system does not report it.
std::size_t process_memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kilobytes = 0;
  while (status >> word)
    if (word == field + ":") status >> kilobytes;
  return kilobytes * 1024;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

TissueMemory measure_tissue_memory(const TriangleMesh& organ, const TissueParams& params) {
  malloc_trim(0);
  forget_peak();
  const std::size_t before = process_memory("VmRSS");
  const TissueModel model = make_tissue(organ.view(), params, {});
  const std::size_t peak = process_memory("VmHWM");
  SteppedTissue state = rest_state(model);
  step(model, state, {}, 1e-4f);
  malloc_trim(0);
  TissueMemory memory{model.rest.size(), spring_count(model), bytes(model), bytes(model.lattice), bytes(state)};
  memory.resident_growth = process_memory("VmRSS") - before;
  memory.peak_growth = peak - before;
  return memory;
}

}  // namespace trocar::bench
