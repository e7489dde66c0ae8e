#include "sim/hdf5/recording_copy.hpp"

#include <algorithm>

#include "sim/hdf5/complete_rows.hpp"

namespace trocar {
namespace {

// Rows are copied through a buffer of this size.
constexpr std::uint64_t kPieceBytes = 8 << 20;

void copy_rows(const H5Table& from, H5Table& to, std::uint64_t rows) {
  const std::uint64_t piece = std::max<std::uint64_t>(1, kPieceBytes / std::max<std::size_t>(1, from.row_bytes()));
  std::vector<std::byte> memory;
  for (std::uint64_t row = 0; row < rows; row += piece) {
    const std::uint64_t count = std::min(piece, rows - row);
    memory.resize(count * from.row_bytes());
    from.read(row, memory);
    to.append(memory);
  }
}

// Where a copy comes from, where it goes to, and how its tables are stored there.
struct Copy {
  const H5File& from;
  H5File& to;
  RecordingForm source, target;
  Storage storage;
};

void copy_table(const Copy& copy, const std::string& path, Cell cell, std::uint64_t rows) {
  const H5Table source = copy.from.table(path, cell);
  const GrowingTable kind{path, cell, source.row_shape()};
  H5Table target = copy.to.make_table(path, cell, kind.row_shape, rows_per_chunk(kind), copy.storage);
  copy_rows(source, target, std::min(rows, source.rows()));
}

constexpr std::uint64_t kAllRows = ~std::uint64_t{0};

void copy_tips(const Copy& copy, const std::string& organ, std::size_t tools, std::uint64_t frames,
               std::uint64_t touches) {
  auto kinds = organ_later_tables(organ, tools);
  if (!copy.from.has_table(kinds[kTipFirst].path)) return;
  const std::uint64_t faces =
      copy.from.table(kinds[kTipFirst].path, Cell::U64).read_rows<std::uint64_t>(frames - 1, 1).back();
  if (!copy.from.has_table(kinds[kTouchPart].path)) kinds.resize(kTouchPart);
  for (const auto& kind : kinds) {
    const std::uint64_t rows = kind.rows == RowOf::Frame ? frames : kind.rows == RowOf::Touch ? touches : faces;
    copy_table(copy, kind.path, kind.cell, rows);
  }
}

// Returns whether two forms store a table of an organ, [OrganTable], in the same way.
bool held_alike(std::size_t table, RecordingForm a, RecordingForm b) {
  if (table == kNodes) return a == RecordingForm::Full && b == RecordingForm::Full;
  return table <= kTouchFace || (a != RecordingForm::Compact && b != RecordingForm::Compact);
}

// Returns the number of touches.
std::uint64_t copy_organ(const Copy& copy, const std::string& name, std::size_t tools, std::uint64_t frames) {
  copy.to.make_group(std::string(kOrganGroup) + "/" + name);
  const RowCounts rows = rows_of(open_tables(copy.from, organ_tables(name, 0, tools, copy.source)), frames);
  const auto kinds = organ_tables(name, 0, tools);
  for (std::size_t k = 0; k < kinds.size(); ++k)
    if (held_alike(k, copy.source, copy.target)) copy_table(copy, kinds[k].path, kinds[k].cell, rows[kinds[k].rows]);
  copy_tips(copy, name, tools, frames, rows[RowOf::Touch]);
  return rows[RowOf::Touch];
}

void copy_fibres(const Copy& copy, std::uint64_t frames) {
  auto kinds = fibre_tables();
  if (!copy.from.has_table(kinds.front().path)) return;
  if (!copy.from.has_table(kinds[kFibreGroup].path)) kinds.resize(kFibreGroup);
  const std::uint64_t broken = broken_rows(open_tables(copy.from, kinds), frames);
  for (const auto& kind : kinds) copy_table(copy, kind.path, kind.cell, kind.rows == RowOf::Broken ? broken : kAllRows);
}

void copy_clips(const Copy& copy, std::uint64_t frames) {
  const auto kinds = clip_tables();
  if (!copy.from.has_table(kinds.front().path)) return;
  const ClipRows rows = clip_rows(open_tables(copy.from, kinds), frames);
  for (const auto& kind : kinds)
    copy_table(copy, kind.path, kind.cell,
               kind.rows == RowOf::Clip       ? rows.clips
               : kind.rows == RowOf::LostClip ? rows.lost
                                              : rows.tubes);
}

void copy_bleeding(const Copy& copy, std::uint64_t frames) {
  const auto kinds = bleed_tables(0);
  if (!copy.from.has_table(kinds.front().path)) return;
  const BleedRows rows = bleed_rows(open_tables(copy.from, kinds), frames);
  for (const auto& kind : kinds)
    copy_table(copy, kind.path, kind.cell,
               kind.rows == RowOf::Frame         ? frames
               : kind.rows == RowOf::BleedSource ? rows.sources
                                                 : rows.changes);
}

void copy_texts(const Copy& copy) {
  for (const std::string attribute : kTextAttributes)
    copy.to.set_text(attribute, attribute == "format" ? format_text(copy.target) : copy.from.text(attribute));
  if (copy.target != RecordingForm::Full) copy.to.set_text(kFormAttribute, name_of(copy.target));
}

}  // namespace

std::uint64_t copy_recording(const Recording& recording, const H5File& from, H5File& to, RecordingForm form) {
  const std::uint64_t frames = recording.frame_count();
  const Copy copy{from, to, recording.form(), form, form == RecordingForm::Full ? Storage::Plain : Storage::Deflated};
  copy_texts(copy);
  to.make_group("/session");
  to.make_group(kOrganGroup);
  for (const char* path : {kToolRadiusPath, kToolBeforePath, kToolBeforeJointsPath})
    if (from.has_table(path)) copy_table(copy, path, Cell::F64, kAllRows);
  if (from.has_table(kEndingPath)) copy_table(copy, kEndingPath, Cell::U8, kAllRows);
  copy_fibres(copy, frames);
  copy_clips(copy, frames);
  copy_bleeding(copy, frames);
  for (const auto& kind : clash_tables(recording.tools().size()))
    if (from.has_table(kind.path)) copy_table(copy, kind.path, kind.cell, frames);
  for (const auto& kind : later_tables(0))
    if (from.has_table(kind.path)) copy_table(copy, kind.path, kind.cell, frames);
  for (const auto& kind : session_tables(0, 0)) copy_table(copy, kind.path, kind.cell, frames);
  std::uint64_t touches = 0;
  for (const auto& organ : recording.organs())
    touches += copy_organ(copy, organ.name, recording.tools().size(), frames);
  return touches;
}

}  // namespace trocar
