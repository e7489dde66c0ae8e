// Names and shapes of the tables of a recording: the one place that the recorder, the reader and `recover` share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/record/h5_file.hpp"

namespace trocar {

// A table that grows during a session: one row a frame, or (`per_touch`) one row a touch.
struct GrowingTable {
  std::string path;
  Cell cell;
  std::vector<std::uint64_t> row_shape;
  bool per_touch = false;
};

// Position of each growing table of one organ in its list.
enum OrganTable : std::size_t {
  kNodes,
  kTouchFirst,
  kTouchFace,
  kTouchPoint,
  kTouchNormal,
  kTouchDepth,
  kTouchTime,
  kOrganTables
};
// Position of each growing table of the session in its list.
enum SessionTable : std::size_t { kPivot, kTip, kRollGrip, kForce, kStageMs, kDisagreements, kTime, kSessionTables };

// kTime is written last: a frame whose time is there is complete.
std::vector<GrowingTable> session_tables(std::uint64_t tools, std::uint64_t stages);
// kTouchFirst holds, for each tool and one past the last, where its touches begin in the per-touch tables.
std::vector<GrowingTable> organ_tables(const std::string& organ, std::uint64_t nodes, std::uint64_t tools);

// Tables written once, before the first frame.
std::string rest_positions_path(const std::string& organ);              // [vertex] m
std::string faces_path(const std::string& organ);                       // [face] vertex indices
std::string embedding_node_path(const std::string& organ);              // [vertex] eight node indices
std::string embedding_weight_path(const std::string& organ);            // [vertex] eight weights
inline constexpr const char* kToolRadiusPath = "/session/tool_radius";  // [tool] m
inline constexpr const char* kOrganGroup = "/organs";

// File attributes that hold text.
inline constexpr const char* kTextAttributes[] = {"format", "scene", "version", "machine", "gl",     "backend",
                                                  "mode",   "cover", "date",    "tools",   "stages", "frame_rate"};
inline constexpr const char* kFormat = "trocar-recording-1";

std::uint64_t rows_per_chunk(const GrowingTable& table);

}  // namespace trocar
