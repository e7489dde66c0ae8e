#include "sim/hdf5/recording_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

#include "geometry/error.hpp"
#include "geometry/printable.hpp"

namespace trocar {
namespace {

// Chunks of about 64 KiB: small enough for short sessions, large enough for fast writing.
constexpr std::uint64_t kChunkBytes = 64 * 1024;
constexpr std::uint64_t kLongestChunk = 4096;  // rows

std::string in_organ(const std::string& organ, const char* table) {
  return std::string(kOrganGroup) + "/" + organ + "/" + table;
}

std::optional<int> whole(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size() || number < 0) return {};
  return number;
}

}  // namespace

int whole_number(const H5File& file, const char* attribute, int absent) {
  const std::string text = file.text(attribute);
  if (text.empty()) return absent;
  if (const auto number = whole(text)) return *number;
  throw InputError(fmt::format("{}: its attribute {} is '{}', not a whole number; the file is damaged",
                               file.path().string(), attribute, printable(text)));
}

const char* name_of(RecordingForm form) {
  static constexpr const char* kNames[] = {"full", "packed", "compact"};
  return kNames[static_cast<int>(form)];
}

std::string format_text(RecordingForm form) {
  return fmt::format("{}{}", kAnyFormat, form == RecordingForm::Full ? kFormatVersion.major : kMajorOfForms);
}

RecordingForm form_of(const H5File& file, FormatVersion format) {
  if (format.major == kFormatVersion.major) return RecordingForm::Full;
  const std::string form = file.text(kFormAttribute);
  for (const RecordingForm known : {RecordingForm::Packed, RecordingForm::Compact})
    if (form == name_of(known)) return known;
  throw InputError(fmt::format("{}: is a recording of the unknown form '{}'; use the version that wrote it ({})",
                               file.path().string(), printable(form), printable(file.text("version"))));
}

FormatVersion require_format(const H5File& file) {
  const std::string format = file.text("format");
  if (!format.starts_with(kAnyFormat))
    throw InputError(fmt::format("{}: is an HDF5 file, but not a recording", file.path().string()));
  const int major = whole(std::string_view(format).substr(std::string_view(kAnyFormat).size())).value_or(0);
  if (major == kFormatVersion.major || major == kMajorOfForms) {
    const int minor = whole_number(file, kFormatMinorAttribute, 0);
    if (minor <= kFormatVersion.minor) return {major, minor};
    throw InputError(fmt::format(
        "{}: has format {}.{}, but this version reads formats up to {}.{}; use the version that recorded it ({}) or a "
        "later one",
        file.path().string(), major, minor, major, kFormatVersion.minor, printable(file.text("version"))));
  }
  throw InputError(
      fmt::format("{}: is a {}, but this version reads {}{} and {}; use the version that recorded it ({}){}",
                  file.path().string(), printable(format), kAnyFormat, kFormatVersion.major, kMajorOfForms,
                  printable(file.text("version")), major > kMajorOfForms ? " or a later one" : ""));
}

std::vector<GrowingTable> session_tables(std::uint64_t tools, std::uint64_t stages) {
  std::vector<GrowingTable> tables(kSessionTables);
  tables[kPivot] = {"/session/tool_pivot", Cell::F64, {tools, 3}};
  tables[kTip] = {"/session/tool_tip", Cell::F64, {tools, 3}};
  tables[kRollGrip] = {"/session/tool_roll_grip", Cell::F64, {tools, 2}};
  tables[kForce] = {"/session/tool_force", Cell::F32, {tools, 3}};
  tables[kEnergy] = {"/session/tool_energy", Cell::U8, {tools}};
  tables[kStageMs] = {"/session/stage_ms", Cell::F32, {stages}};
  tables[kDisagreements] = {"/session/disagreements", Cell::U32, {}};
  tables[kTime] = {"/session/time", Cell::F64, {}};
  return tables;
}

std::vector<GrowingTable> clash_tables(std::uint64_t tools) {
  if (tools < 2) return {};
  std::vector<GrowingTable> tables(kClashTables);
  tables[kClashDistance] = {"/session/clash_distance", Cell::F32, {tool_pairs(tools)}};
  tables[kClashPoint] = {"/session/clash_point", Cell::F32, {tool_pairs(tools), 3}};
  return tables;
}

std::vector<GrowingTable> later_tables(std::uint64_t tools) {
  std::vector<GrowingTable> tables(kLaterTables);
  tables[kTipDepth] = {"/session/tip_depth", Cell::F32, {tools}};
  tables[kScope] = {"/session/scope", Cell::F64, {9}};
  tables[kToolState] = {"/session/tool_state", Cell::U8, {tools}};
  tables[kBackend] = {"/session/backend", Cell::U8, {}};
  tables[kBackendFault] = {"/session/backend_fault", Cell::U8, {}};
  tables[kReferenceSample] = {"/session/reference_sample", Cell::U32, {3}};
  tables[kWallTime] = {"/session/wall_time", Cell::F64, {}};
  tables[kLostTime] = {"/session/lost_time", Cell::F64, {}};
  tables[kToolHeats] = {"/session/tool_heats", Cell::U32, {tools}};
  tables[kToolHandle] = {"/session/tool_handle", Cell::F64, {tools, 3}};
  tables[kStepTime] = {"/session/step_time", Cell::F64, {}};
  tables[kHidden] = {"/session/hidden", Cell::U32, {2}};
  return tables;
}

std::vector<GrowingTable> fibre_tables() {
  std::vector<GrowingTable> tables(kFibreTables);
  tables[kFibreOrgan] = {"/bonds/organ", Cell::U32, {2}, RowOf::Fibre};
  tables[kFibreNode] = {"/bonds/node", Cell::U32, {2, 8}, RowOf::Fibre};
  tables[kFibreWeight] = {"/bonds/weight", Cell::F32, {2, 8}, RowOf::Fibre};
  tables[kFibrePoint] = {"/bonds/point", Cell::F32, {2, 3}, RowOf::Fibre};
  tables[kFibreLength] = {"/bonds/length", Cell::F32, {2}, RowOf::Fibre};
  tables[kBrokenFibre] = {"/bonds/broken_fibre", Cell::U32, {}, RowOf::Broken};
  tables[kBrokenFrame] = {"/bonds/broken_frame", Cell::U32, {}, RowOf::Broken};
  tables[kFibreGroup] = {"/bonds/group", Cell::U32, {}, RowOf::Fibre};
  tables[kBrokenHow] = {"/bonds/broken_how", Cell::U8, {}, RowOf::Broken};
  return tables;
}

std::vector<GrowingTable> clip_tables() {
  std::vector<GrowingTable> tables(kClipTables);
  tables[kClipVertices] = {"/clips/vertices", Cell::U32, {kClipNumbers}, RowOf::Clip};
  tables[kClipShape] = {"/clips/shape", Cell::F32, {kClipSizes}, RowOf::Clip};
  tables[kClipFrame] = {"/clips/frame", Cell::U32, {}, RowOf::Clip};
  tables[kLostClip] = {"/clips/lost_clip", Cell::U32, {}, RowOf::LostClip};
  tables[kLostClipFrame] = {"/clips/lost_frame", Cell::U32, {}, RowOf::LostClip};
  tables[kTubeState] = {"/clips/tube_state", Cell::U32, {4}, RowOf::Tube};
  tables[kTubeAt] = {"/clips/tube_at", Cell::F32, {}, RowOf::Tube};
  tables[kTubeFrame] = {"/clips/tube_frame", Cell::U32, {}, RowOf::Tube};
  return tables;
}

std::vector<GrowingTable> bleed_tables(std::uint64_t organs) {
  std::vector<GrowingTable> tables(kBleedTables);
  tables[kBleedLost] = {"/bleeding/lost", Cell::F64, {organs, 2}};
  tables[kBleedFluids] = {"/bleeding/fluids", Cell::F64, {kFluidNumbers}};
  tables[kBleedSource] = {"/bleeding/source", Cell::U32, {3}, RowOf::BleedSource};
  tables[kBleedRate] = {"/bleeding/rate", Cell::F64, {2}, RowOf::BleedSource};
  tables[kBleedSourceFrame] = {"/bleeding/source_frame", Cell::U32, {}, RowOf::BleedSource};
  tables[kBleedChange] = {"/bleeding/change", Cell::U32, {3}, RowOf::BleedChange};
  tables[kBleedChangeFrame] = {"/bleeding/change_frame", Cell::U32, {}, RowOf::BleedChange};
  return tables;
}

std::vector<GrowingTable> organ_tables(const std::string& organ, std::uint64_t nodes, std::uint64_t tools,
                                       RecordingForm form) {
  std::vector<GrowingTable> tables(kOrganTables);
  tables[kFaces] = {in_organ(organ, "faces"), Cell::U32, {3}, RowOf::Face};
  tables[kFaceBorn] = {in_organ(organ, "face_born"), Cell::U32, {}, RowOf::Face};
  tables[kRestPositions] = {in_organ(organ, "rest_positions"), Cell::F32, {3}, RowOf::Vertex};
  tables[kEmbeddingNode] = {in_organ(organ, "embedding_node"), Cell::U32, {8}, RowOf::Vertex};
  tables[kEmbeddingWeight] = {in_organ(organ, "embedding_weight"), Cell::F32, {8}, RowOf::Vertex};
  tables[kVertexBorn] = {in_organ(organ, "vertex_born"), Cell::U32, {}, RowOf::Vertex};
  tables[kRemovedFace] = {in_organ(organ, "gone_face"), Cell::U32, {}, RowOf::Removed};
  tables[kRemovedFrame] = {in_organ(organ, "gone_frame"), Cell::U32, {}, RowOf::Removed};
  tables[kCarriedVertex] = {in_organ(organ, "carried_vertex"), Cell::U32, {}, RowOf::Carried};
  tables[kCarriedNode] = {in_organ(organ, "carried_node"), Cell::U32, {8}, RowOf::Carried};
  tables[kCarriedWeight] = {in_organ(organ, "carried_weight"), Cell::F32, {8}, RowOf::Carried};
  tables[kCarriedFrame] = {in_organ(organ, "carried_frame"), Cell::U32, {}, RowOf::Carried};
  tables[kNodes] = {in_organ(organ, "nodes"), Cell::F32, {nodes, 3}};
  tables[kTouchFirst] = {in_organ(organ, "touch_first"), Cell::U64, {tools + 1}};
  tables[kTouchFace] = {in_organ(organ, "touch_face"), Cell::U32, {}, RowOf::Touch};
  tables[kTouchPoint] = {in_organ(organ, "touch_point"), Cell::F32, {3}, RowOf::Touch};
  tables[kTouchNormal] = {in_organ(organ, "touch_normal"), Cell::F32, {3}, RowOf::Touch};
  tables[kTouchDepth] = {in_organ(organ, "touch_depth"), Cell::F32, {}, RowOf::Touch};
  tables[kTouchTime] = {in_organ(organ, "touch_time"), Cell::F32, {}, RowOf::Touch};
  tables[kTouchPressure] = {in_organ(organ, "touch_pressure"), Cell::F32, {}, RowOf::Touch};
  if (form == RecordingForm::Packed) tables[kNodes] = {in_organ(organ, "packed_nodes"), Cell::U32, {nodes, 3}};
  if (form == RecordingForm::Compact) {
    tables[kNodes].path = in_organ(organ, "key_nodes");
    tables.resize(kTouchFace + 1);
  }
  return tables;
}

std::vector<GrowingTable> organ_later_tables(const std::string& organ, std::uint64_t tools) {
  std::vector<GrowingTable> tables(kOrganLaterTables);
  tables[kTipFirst] = {in_organ(organ, "tip_first"), Cell::U64, {tools + 1}};
  tables[kTipFace] = {in_organ(organ, "tip_face"), Cell::U32, {}, RowOf::TipFace};
  tables[kTouchPart] = {in_organ(organ, "touch_part"), Cell::U8, {}, RowOf::Touch};
  return tables;
}

std::uint64_t rows_per_chunk(const GrowingTable& table) {
  const std::uint64_t cells =
      std::accumulate(table.row_shape.begin(), table.row_shape.end(), std::uint64_t{1}, std::multiplies<>());
  return std::clamp<std::uint64_t>(kChunkBytes / std::max<std::uint64_t>(1, cells * bytes_of(table.cell)), 1,
                                   kLongestChunk);
}

namespace {

// A signed number as an unsigned one that is small when it is: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
std::uint32_t with_sign_below(std::uint32_t d) { return (d << 1) ^ (d >> 31 ? ~0u : 0u); }
std::uint32_t with_sign_above(std::uint32_t z) { return (z >> 1) ^ (z & 1u ? ~0u : 0u); }

}  // namespace

void pack_block(std::span<std::uint32_t> block, std::size_t cells) {
  for (std::size_t k = block.size(); k-- > 0;) {
    const std::uint32_t before = k >= cells ? block[k - cells] : 0, earlier = k >= 2 * cells ? block[k - 2 * cells] : 0;
    block[k] = with_sign_below(block[k] - 2 * before + earlier);
  }
}

void unpack_block(std::span<std::uint32_t> block, std::size_t cells) {
  for (std::size_t k = 0; k < block.size(); ++k) {
    const std::uint32_t before = k >= cells ? block[k - cells] : 0, earlier = k >= 2 * cells ? block[k - 2 * cells] : 0;
    block[k] = with_sign_above(block[k]) + 2 * before - earlier;
  }
}

void PackedNodesReader::read(const H5Table& table, std::size_t frame, std::span<glm::vec3> nodes) {
  const std::size_t first = frame - frame % kBlockFrames, cells = table.row_cells();
  if (first != first_) {
    first_ = SIZE_MAX;  // while reading can fail
    block_.resize(std::min<std::size_t>(kBlockFrames, table.rows() - first) * cells);
    table.read(first, std::as_writable_bytes(std::span(block_)));
    unpack_block(block_, cells);
    first_ = first;
  }
  std::memcpy(nodes.data(), &block_[(frame - first) * cells], nodes.size_bytes());
}

}  // namespace trocar
