// Names and shapes of the tables of a recording: the one place that the recorder, the reader and `recover` share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/record/h5_file.hpp"

namespace trocar {

// What a row of a growing table is about.
enum class RowOf : std::size_t { Frame, Touch, Face, Vertex, Gone, Carried, TipFace, kCount };

struct GrowingTable {
  std::string path;
  Cell cell;
  std::vector<std::uint64_t> row_shape;
  RowOf rows = RowOf::Frame;
};

// Position of each table of one organ in its list. Tables about the same rows stand together, and the surface stands
// before the frames.
enum OrganTable : std::size_t {
  kFaces,
  kFaceBorn,
  kRestPositions,
  kEmbeddingNode,
  kEmbeddingWeight,
  kVertexBorn,
  kGoneFace,
  kGoneFrame,
  kCarriedVertex,
  kCarriedNode,
  kCarriedWeight,
  kCarriedFrame,
  kNodes,
  kTouchFirst,
  kTouchFace,
  kTouchPoint,
  kTouchNormal,
  kTouchDepth,
  kTouchTime,
  kTouchPressure,
  kOrganTables
};
// Tables of an organ that older recordings lack: faces that the instruments' tips touch.
enum OrganLaterTable : std::size_t { kTipFirst, kTipFace, kOrganLaterTables };

// Position of each growing table of the session in its list.
enum SessionTable : std::size_t {
  kPivot,
  kTip,
  kRollGrip,
  kForce,
  kEnergy,
  kStageMs,
  kDisagreements,
  kTime,
  kSessionTables
};

// The rows of a surface that changes. `frame` is the last of their tables, ascending: the first frame in which a row
// counts. A row of frame f + 1 was written with frame f.
struct SurfaceRows {
  RowOf rows;
  OrganTable first, frame;
};
inline constexpr SurfaceRows kSurfaceRows[] = {{RowOf::Face, kFaces, kFaceBorn},
                                               {RowOf::Vertex, kRestPositions, kVertexBorn},
                                               {RowOf::Gone, kGoneFace, kGoneFrame},
                                               {RowOf::Carried, kCarriedVertex, kCarriedFrame}};

// Pairs of tools (0, 1), (0, 2) .. (1, 2) ..: in this order the tables of clashes name them.
constexpr std::size_t tool_pairs(std::size_t tools) { return tools < 2 ? 0 : tools * (tools - 1) / 2; }
constexpr std::size_t tool_pair(std::size_t tools, std::size_t first, std::size_t second) {
  return first * tools - first * (first + 1) / 2 + second - first - 1;
}

// Of clashes between tools; only where there are two tools or more, and not in older recordings.
enum ClashTable : std::size_t { kClashDistance, kClashPoint, kClashTables };
std::vector<GrowingTable> clash_tables(std::uint64_t tools);

// Tables that older recordings lack, each on its own: how deep each tool's tip is inside an organ, the scope, how each
// tool's device did (ToolState), which backend answered (a line of the attribute `backends`), which fault ended another
// backend in this frame (TouchFault), the faces held against the reference, the wall time, the time lost so far.
enum LaterTable : std::size_t {
  kTipDepth,
  kScope,
  kToolState,
  kBackend,
  kBackendFault,
  kReferenceSample,
  kWallTime,
  kLostTime,
  kLaterTables
};
std::vector<GrowingTable> later_tables(std::uint64_t tools);

// kTime is written last: a frame whose time is there is complete.
std::vector<GrowingTable> session_tables(std::uint64_t tools, std::uint64_t stages);
// kTouchFirst holds, for each tool and one past the last, where its touches begin in the per-touch tables.
std::vector<GrowingTable> organ_tables(const std::string& organ, std::uint64_t nodes, std::uint64_t tools);

// kTipFirst holds, for each tool and one past the last, where the faces of its tip begin in kTipFace.
std::vector<GrowingTable> organ_later_tables(const std::string& organ, std::uint64_t tools);

// Tables written once, before the first frame.
inline constexpr const char* kToolRadiusPath = "/session/tool_radius";  // [tool] m
// [tool] m, pivot and tip in the frame before the first; no row when the session began with the recording
inline constexpr const char* kToolBeforePath = "/session/tool_before";
inline constexpr const char* kOrganGroup = "/organs";

// File attributes that hold text.
inline constexpr const char* kTextAttributes[] = {"format",  "scene",      "version", "machine",  "gl",
                                                  "backend", "mode",       "cover",   "date",     "tools",
                                                  "stages",  "frame_rate", "tips",    "backends", "clock"};
inline constexpr const char* kFormat = "trocar-recording-2";
inline constexpr const char* kAnyFormat = "trocar-recording-";

std::uint64_t rows_per_chunk(const GrowingTable& table);

}  // namespace trocar
