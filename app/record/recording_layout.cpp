#include "app/record/recording_layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace trocar {
namespace {

// Chunks near 64 KiB: small enough for short sessions, large enough for fast writing.
constexpr std::uint64_t kChunkBytes = 64 * 1024;
constexpr std::uint64_t kLongestChunk = 4096;  // rows

std::string in_organ(const std::string& organ, const char* table) {
  return std::string(kOrganGroup) + "/" + organ + "/" + table;
}

}  // namespace

std::vector<GrowingTable> session_tables(std::uint64_t tools, std::uint64_t stages) {
  std::vector<GrowingTable> tables(kSessionTables);
  tables[kPivot] = {"/session/tool_pivot", Cell::F64, {tools, 3}};
  tables[kTip] = {"/session/tool_tip", Cell::F64, {tools, 3}};
  tables[kRollGrip] = {"/session/tool_roll_grip", Cell::F64, {tools, 2}};
  tables[kForce] = {"/session/tool_force", Cell::F32, {tools, 3}};
  tables[kStageMs] = {"/session/stage_ms", Cell::F32, {stages}};
  tables[kDisagreements] = {"/session/disagreements", Cell::U32, {}};
  tables[kTime] = {"/session/time", Cell::F64, {}};
  return tables;
}

std::vector<GrowingTable> organ_tables(const std::string& organ, std::uint64_t nodes, std::uint64_t tools) {
  std::vector<GrowingTable> tables(kOrganTables);
  tables[kNodes] = {in_organ(organ, "nodes"), Cell::F32, {nodes, 3}};
  tables[kTouchFirst] = {in_organ(organ, "touch_first"), Cell::U64, {tools + 1}};
  tables[kTouchFace] = {in_organ(organ, "touch_face"), Cell::U32, {}, true};
  tables[kTouchPoint] = {in_organ(organ, "touch_point"), Cell::F32, {3}, true};
  tables[kTouchNormal] = {in_organ(organ, "touch_normal"), Cell::F32, {3}, true};
  tables[kTouchDepth] = {in_organ(organ, "touch_depth"), Cell::F32, {}, true};
  tables[kTouchTime] = {in_organ(organ, "touch_time"), Cell::F32, {}, true};
  return tables;
}

std::string rest_positions_path(const std::string& organ) { return in_organ(organ, "rest_positions"); }
std::string faces_path(const std::string& organ) { return in_organ(organ, "faces"); }
std::string embedding_node_path(const std::string& organ) { return in_organ(organ, "embedding_node"); }
std::string embedding_weight_path(const std::string& organ) { return in_organ(organ, "embedding_weight"); }

std::uint64_t rows_per_chunk(const GrowingTable& table) {
  const std::uint64_t cells =
      std::accumulate(table.row_shape.begin(), table.row_shape.end(), std::uint64_t{1}, std::multiplies<>());
  return std::clamp<std::uint64_t>(kChunkBytes / std::max<std::uint64_t>(1, cells * bytes_of(table.cell)), 1,
                                   kLongestChunk);
}

}  // namespace trocar
