// Defines the tables of a recording: names, shapes, format versions, and how a packed recording stores positions. For
// the recorder, the reader and programs that copy recordings.   Layout: docs/file
// Tested in tests/sim/recorder_test.cpp and pack_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "sim/hdf5/h5_file.hpp"
#include "sim/record/record_sink.hpp"

namespace trocar {

// What a row of a growing table describes.
enum class RowOf : std::size_t {
  Frame,
  Touch,
  Face,
  Vertex,
  Removed,
  Carried,
  TipFace,
  Fibre,
  Broken,
  Clip,
  LostClip,
  Tube,
  BleedSource,
  BleedChange,
  kCount
};

// What a file holds of a recording. Full: every table as it was recorded. Packed: the same, compressed, with the nodes
// as differences of their bits (PackedNodesReader). Compact: compressed, without the nodes and without points, normals,
// depths, times and pressures of touches, which are computed again from the inputs of the session
// (sim/review/compact.hpp); it has the nodes of a frame every few seconds, and a checksum of what each frame lacks.
enum class RecordingForm { Full, Packed, Compact };
const char* name_of(RecordingForm form);  // "full", "packed", "compact"

struct GrowingTable {
  std::string path;
  Cell cell;
  std::vector<std::uint64_t> row_shape;
  RowOf rows = RowOf::Frame;
};

// Index of each table of one organ. Tables with the same kind of rows are adjacent, and surface tables precede frame
// tables.
enum OrganTable : std::size_t {
  kFaces,
  kFaceBorn,
  kRestPositions,
  kEmbeddingNode,
  kEmbeddingWeight,
  kVertexBorn,
  kRemovedFace,
  kRemovedFrame,
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
// Tables of an organ that older recordings do not have: the faces that the instruments' tips touch.
enum OrganLaterTable : std::size_t { kTipFirst, kTipFace, kTouchPart, kOrganLaterTables };

// Index of each growing table of the session.
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

// The tables of one kind of surface rows, from `first` to `frame`. The last one, `frame`, holds the first frame in
// which a row takes effect, in ascending order. A row of frame f + 1 is written with frame f.
struct SurfaceRows {
  RowOf rows;
  OrganTable first, frame;
};
inline constexpr SurfaceRows kSurfaceRows[] = {{RowOf::Face, kFaces, kFaceBorn},
                                               {RowOf::Vertex, kRestPositions, kVertexBorn},
                                               {RowOf::Removed, kRemovedFace, kRemovedFrame},
                                               {RowOf::Carried, kCarriedVertex, kCarriedFrame}};

constexpr std::size_t tool_pair(std::size_t tools, std::size_t first, std::size_t second) {
  return first * tools - first * (first + 1) / 2 + second - first - 1;
}

// Tables of clashes between tools; absent with fewer than two tools, and in older recordings.
enum ClashTable : std::size_t { kClashDistance, kClashPoint, kClashTables };
std::vector<GrowingTable> clash_tables(std::uint64_t tools);

// Tables that older recordings may lack, each independently: depth of each tool's tip in an organ, scope, state of each
// tool (ToolState), backend that answered (line number in the attribute `backends`), fault that ended another backend
// in this frame (TouchFault), number of faces compared with the reference, wall time, time lost so far,
// organs on which the hot metal of each tool acts, what each hand does with its tool, simulated duration of the frame,
// tips and marks that organs hide.
enum LaterTable : std::size_t {
  kTipDepth,
  kScope,
  kToolState,
  kBackend,
  kBackendFault,
  kReferenceSample,
  kWallTime,
  kLostTime,
  kToolHeats,
  kToolHandle,
  kStepTime,
  kHidden,
  kLaterTables
};
std::vector<GrowingTable> later_tables(std::uint64_t tools);

// Tables of connective tissue; absent in a session without fibres, and before format 2.4. Those of fibres are written
// before the first frame. Recordings before format 2.6 lack the tables from kFibreGroup on.
enum FibreTable : std::size_t {
  kFibreOrgan,
  kFibreNode,
  kFibreWeight,
  kFibrePoint,
  kFibreLength,
  kBrokenFibre,
  kBrokenFrame,
  kFibreGroup,
  kBrokenHow,
  kFibreTables
};
std::vector<GrowingTable> fibre_tables();

// Tables of clips and of the state of ducts and vessels; absent in a session without clip applier, duct and vessel, and
// before format 2.5. The last table of each kind of rows holds the first frame in which a row takes effect, ascending.
enum ClipTable : std::size_t {
  kClipVertices,
  kClipShape,
  kClipFrame,
  kLostClip,
  kLostClipFrame,
  kTubeState,
  kTubeAt,
  kTubeFrame,
  kClipTables
};
std::vector<GrowingTable> clip_tables();
// Numbers of a row of kClipVertices and kClipShape.
inline constexpr std::uint64_t kClipNumbers = 3 + 2 * kMostStruts, kClipSizes = 3 + 2 * kMostStruts;

// Tables of bleeding; absent in a session in which nothing can bleed or spill, and before format 2.7. The last table of
// each kind of rows holds the first frame in which a row takes effect, ascending. `organs`: their number, 0: any.
enum BleedTable : std::size_t {
  kBleedLost,
  kBleedFluids,
  kBleedSource,
  kBleedRate,
  kBleedSourceFrame,
  kBleedChange,
  kBleedChangeFrame,
  kBleedTables
};
std::vector<GrowingTable> bleed_tables(std::uint64_t organs);
inline constexpr std::uint64_t kFluidNumbers = 10;  // of a row of kBleedFluids, the members of FluidAmounts

// kTime is written last, so a frame with a time is complete.
std::vector<GrowingTable> session_tables(std::uint64_t tools, std::uint64_t stages);
// kTouchFirst holds the row of each tool's first touch in the touch tables, and one entry past the last tool.
// In a packed recording kNodes holds packed nodes; in a compact one it holds those of the key frames, and the tables
// after kTouchFace are absent.
std::vector<GrowingTable> organ_tables(const std::string& organ, std::uint64_t nodes, std::uint64_t tools,
                                       RecordingForm form = RecordingForm::Full);

// kTipFirst holds the row of each tool's first face in kTipFace, and one entry past the last tool. Recordings before
// format 2.2 have no kTouchPart.
std::vector<GrowingTable> organ_later_tables(const std::string& organ, std::uint64_t tools);

// Tables written once, before the first frame.
inline constexpr const char* kToolRadiusPath = "/session/tool_radius";  // [tool] m
// [tool] m, pivot and tip in the frame before the first; no rows when the session began with the recording
inline constexpr const char* kToolBeforePath = "/session/tool_before";
// [tool] roll in degrees and grip in that frame; since format 2.2
inline constexpr const char* kToolBeforeJointsPath = "/session/tool_before_joints";
// How the run ended (Ending): one row, written last; since format 2.10
inline constexpr const char* kEndingPath = "/session/ending";
inline constexpr const char* kOrganGroup = "/organs";

// Tables of a compact recording: the frames whose nodes it has; the checksum of what each frame lacks.
inline constexpr const char* kKeyFramePath = "/session/key_frame";
inline constexpr const char* kChecksumPath = "/session/checksum";

// File attributes that hold text. kAttemptKeyAttribute: RunNote::attempt_key, since format 2.11.
inline constexpr const char* kAttemptKeyAttribute = "attempt_key";
inline constexpr const char* kFormatMinorAttribute = "format_minor";
inline constexpr const char* kModelVersionAttribute = "model_version";
inline constexpr const char* kTextAttributes[] = {"format",
                                                  "scene",
                                                  "version",
                                                  "machine",
                                                  "gl",
                                                  "backend",
                                                  "mode",
                                                  "cover",
                                                  "date",
                                                  "tools",
                                                  "stages",
                                                  "frame_rate",
                                                  "tips",
                                                  "backends",
                                                  "clock",
                                                  kFormatMinorAttribute,
                                                  kModelVersionAttribute,
                                                  "backend_why",
                                                  "activity",
                                                  "person",
                                                  "devices",
                                                  "scene_name",
                                                  kAttemptKeyAttribute};

// The format of a recording. A reader accepts every minor version of its major version up to its own and refuses later
// ones: it cannot know what they mean for a score. It ignores tables and attributes that it does not know. New tables
// raise the minor version, a change of what a table means the major version. The attribute `format` is kAnyFormat and
// the major version: 2 for a full recording, 3 for the other forms, which the attribute `form` names.
struct FormatVersion {
  int major = 0, minor = 0;
};
inline constexpr FormatVersion kFormatVersion{2, 11};
inline constexpr int kMajorOfForms = 3;
inline constexpr const char* kAnyFormat = "trocar-recording-";
inline constexpr const char* kFormAttribute = "form";
// Returns the text of the attribute `format`.
std::string format_text(RecordingForm form);
// Reads the format. Throws InputError when the file is not a recording, or of another major version.
FormatVersion require_format(const H5File& file);
// Returns the form of a recording of this format. Throws InputError for an unknown one.
RecordingForm form_of(const H5File& file, FormatVersion format);
// Returns the whole number in a text attribute; `absent` when the file lacks it. Throws InputError when the attribute
// is damaged.
int whole_number(const H5File& file, const char* attribute, int absent);

std::uint64_t rows_per_chunk(const GrowingTable& table);

// Packs the positions of an organ's nodes without loss, so that a compressor halves them: tissue moves smoothly, so the
// bits of a coordinate, taken as a whole number, change by nearly the same amount from frame to frame. A packed number
// is the second difference in time of these bits, modulo 2^32, with its sign moved to the lowest bit. Each block of
// kBlockFrames frames stands alone, as if the two frames before it were zero.

constexpr std::size_t kBlockFrames = 120;

// Replace the bits of the coordinates of a block, `cells` numbers in each frame, by packed numbers, and back.
void pack_block(std::span<std::uint32_t> block, std::size_t cells);
void unpack_block(std::span<std::uint32_t> block, std::size_t cells);

// Reads frames of a table of packed nodes; keeps the last block.
class PackedNodesReader {
 public:
  void read(const H5Table& table, std::size_t frame, std::span<glm::vec3> nodes);

 private:
  std::size_t first_ = SIZE_MAX;      // frame at which the block begins
  std::vector<std::uint32_t> block_;  // bits of the coordinates
};

}  // namespace trocar
