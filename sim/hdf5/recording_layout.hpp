// Defines the columns of a recording in one table: path, type, shape, what it holds and how a session fills it. The
// recorder, the reader, copies and docs/file-formats.md visit this table. Also the version of the format, and how a
// packed recording stores positions. Tested in tests/sim/recording/recorder_test.cpp,
// pack_test.cpp and tests/house/scene_keys_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/hdf5/h5_file.hpp"
#include "sim/record/record_sink.hpp"

namespace trocar {

// What a row of a column describes.
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
  Tool,      // written once, before the first frame
  Run,       // written once, at the end
  KeyFrame,  // of a compact recording
  kCount
};

// What a file holds of a recording. Full: every column as it was recorded. Packed: the same, compressed, with the nodes
// as differences of their bits (PackedNodesReader). Compact: compressed, without the nodes and without points, normals,
// depths, times and pressures of touches, which are computed again from the inputs of the session
// (sim/review/compact.hpp); it has the nodes of a frame every few seconds, and a checksum of what each frame lacks.
enum class RecordingForm { Full, Packed, Compact };
const char* name_of(RecordingForm form);  // "full", "packed", "compact"

// The format of a recording, in the attributes `format` and `format_minor`. A reader refuses later formats: it cannot
// know what they mean for a score. It ignores tables and attributes that it does not know. New columns raise the minor
// version, a change of what a column means the major version.
inline constexpr int kFormatMajor = 4, kFormatMinor = 1;
inline constexpr const char* kAnyFormat = "trocar-recording-";  // the attribute `format` of every format begins so
inline constexpr const char* kFormat = "trocar-recording-4";
inline constexpr const char* kFormAttribute = "form";
// Throws InputError when the file is not a recording, of another major format or of a later one.
void require_format(const H5File& file);
// Returns the form of a recording. Throws InputError for an unknown one.
RecordingForm form_of(const H5File& file);
// Throws InputError when the attribute is missing or damaged.
int model_version_of(const H5File& file);

// Columns that a session has together. Fibres: connective tissue. Clips: with a clip applier, a duct or a vessel.
// Bleeding: where something can bleed or spill. Organ: once for each organ. Compact: of a compact recording only.
enum class ColumnGroup : std::size_t { Tools, Session, Fibres, Clips, Bleeding, Organ, Compact, kCount };

// The columns of each group, in the order of the table. A frame is complete when it has a row in each; kTime is written
// last.
enum ToolColumn : std::size_t { kToolRadius, kToolBefore, kToolBeforeJoints, kEnding };
enum SessionColumn : std::size_t {
  kClashDistance,
  kClashPoint,
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
  kPivot,
  kTip,
  kRollGrip,
  kForce,
  kEnergy,
  kStageMs,
  kDisagreements,
  kTime,
  kSessionColumns
};
enum FibreColumn : std::size_t {
  kFibreOrgan,
  kFibreNode,
  kFibreWeight,
  kFibrePoint,
  kFibreLength,
  kBrokenFibre,
  kBrokenFrame,
  kFibreGroup,
  kBrokenHow
};
enum ClipColumn : std::size_t {
  kClipVertices,
  kClipShape,
  kClipFrame,
  kLostClip,
  kLostClipFrame,
  kTubeState,
  kTubeAt,
  kTubeFrame
};
enum BleedColumn : std::size_t {
  kBleedLost,
  kBleedFluids,
  kBleedSource,
  kBleedRate,
  kBleedSourceFrame,
  kBleedChange,
  kBleedChangeFrame
};
enum OrganColumn : std::size_t {
  kFaces,
  kFaceBorn,
  kRestPositions,
  kEmbeddingNode,
  kEmbeddingWeight,
  kVertexBorn,
  kRemovedFaces,
  kRemovedFrame,
  kCarriedVertex,
  kCarriedNode,
  kCarriedWeight,
  kCarriedFrame,
  kNodes,
  kPackedNodes,
  kKeyNodes,
  kTouchFirst,
  kTouchFace,
  kTouchPoint,
  kTouchNormal,
  kTouchDepth,
  kTouchTime,
  kTouchPressure,
  kTipFirst,
  kTipFace,
  kTouchPart,
  kDent
};
enum CompactColumn : std::size_t { kKeyFrame, kFrameChecksum };

// Sizes of a row that differ between sessions; a 0 accepts any size in a file.
struct RowSizes {
  std::uint64_t tools = 0, stages = 0, organs = 0, nodes = 0, dents = 0;
};
// A length in the shape of a row: a number, or one of these.
enum RowLength : int {
  kPerTool = -1,
  kPerToolAndOne = -2,
  kPerToolPair = -3,
  kPerStage = -4,
  kPerOrgan = -5,
  kPerNode = -6,
  kPerDent = -7
};

// Where the rows come from: the header before the first frame, and then each frame.
struct RowSource {
  const RecordingHeader* header = nullptr;  // before the first frame
  const RecordedFrame* frame = nullptr;
  const RecordedOrganFrame* organ = nullptr;  // of columns of an organ
  std::uint32_t effect = 0;                   // the frame in which its changes take effect
  std::uint64_t touches = 0, tips = 0;        // rows of the organ before this frame
};
using Bytes = std::vector<std::byte>;

struct Column {
  const char* name;  // in its group
  Cell cell;
  std::vector<int> shape;  // of a row, RowLength or numbers
  RowOf rows;
  const char* unit;     // "m"; "" for numbers without one
  const char* meaning;  // for docs/file-formats.md
  // Appends the rows of a frame, or of the header; null: another function writes them.
  void (*fill)(Bytes& rows, const RowSource& from);
  bool effect =
      false;  // the first frame in which the row takes effect, ascending; a row of frame f + 1 is written with f
  std::vector<RecordingForm> forms = {RecordingForm::Full, RecordingForm::Packed, RecordingForm::Compact};

  bool is_in(RecordingForm form) const;
};

const std::vector<Column>& columns_of(ColumnGroup group);
// Return what documents and the Python module show: "re-embedded vertex", "float32 [tool][3]", "full, packed".
const char* name_of(RowOf rows);
std::string type_text(const Column& column);
std::string forms_text(const Column& column);
// `organ`: name of the organ of a column of ColumnGroup::Organ.
std::string path_of(ColumnGroup group, std::size_t column, const std::string& organ = "");
std::vector<std::uint64_t> row_shape(const Column& column, const RowSizes& sizes);
// Returns whether a session of these sizes has the column: one without pairs of tools has no clashes, one without tools
// no dents.
bool has_column(const Column& column, const RowSizes& sizes);
// Returns the rows of a chunk of about 64 KiB.
std::uint64_t rows_per_chunk(std::span<const std::uint64_t> row_shape, Cell cell);
// Returns the column of an organ that holds positions of nodes: kNodes, kPackedNodes, kKeyNodes.
OrganColumn nodes_column(RecordingForm form);
// Adds a table for the column to a file.
H5Table make_column(H5File& file, ColumnGroup group, std::size_t column, const RowSizes& sizes, Storage storage,
                    const std::string& organ = "", std::uint64_t chunk_rows = 0);

inline constexpr const char* kOrganGroup = "/organs";
inline constexpr std::uint64_t kClipNumbers = 3 + 2 * kMostStruts;  // of a row of kClipVertices and kClipShape
inline constexpr std::uint64_t kFluidNumbers = 10;                  // of a row of kBleedFluids: FluidAmounts

constexpr std::size_t tool_pair(std::size_t tools, std::size_t first, std::size_t second) {
  return first * tools - first * (first + 1) / 2 + second - first - 1;
}

// An attribute of the file, and its text for a session.
struct TextAttribute {
  const char* name;
  std::string (*text)(const RecordingHeader& header);
};
std::span<const TextAttribute> text_attributes();
inline constexpr const char* kAttemptKeyAttribute = "attempt_key";  // RunNote::attempt_key
inline constexpr const char* kModelVersionAttribute = "model_version";

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
