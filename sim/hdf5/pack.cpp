#include "sim/hdf5/pack.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "sim/hdf5/packed_nodes.hpp"
#include "sim/hdf5/partial_recording.hpp"
#include "sim/hdf5/recording_copy.hpp"

namespace trocar {
namespace {

// The nodes of one organ, block by block.
void copy_nodes(const Recording& recording, const H5File& from, H5File& to, std::size_t organ, RecordingForm target) {
  const std::string& name = recording.organs()[organ].name;
  const GrowingTable read = organ_tables(name, 0, 0, recording.form())[kNodes];
  const GrowingTable written = organ_tables(name, recording.organs()[organ].nodes, 0, target)[kNodes];
  const bool packs = target == RecordingForm::Packed;
  const H5Table source = from.table(read.path, read.cell);
  H5Table table =
      to.make_table(written.path, written.cell, written.row_shape, packs ? kBlockFrames : rows_per_chunk(written),
                    packs ? Storage::Deflated : Storage::Plain);
  std::vector<std::uint32_t> block;
  for (std::size_t frame = 0; frame < recording.frame_count(); frame += kBlockFrames) {
    const std::size_t frames = std::min(kBlockFrames, recording.frame_count() - frame);
    block.resize(frames * source.row_cells());
    source.read(frame, std::as_writable_bytes(std::span(block)));
    packs ? pack_block(block, source.row_cells()) : unpack_block(block, source.row_cells());
    table.append(std::as_bytes(std::span(block)));
  }
}

void rewrite(const std::filesystem::path& in, const std::filesystem::path& out, RecordingForm form,
             RecordingForm target) {
  const Recording recording(in);
  require_finished(recording, in, form);
  write_whole_recording(out, [&](H5File& to) {
    const H5File from = H5File::open(in);
    copy_recording(recording, from, to, target);
    for (std::size_t organ = 0; organ < recording.organs().size(); ++organ)
      copy_nodes(recording, from, to, organ, target);
  });
}

}  // namespace

void require_finished(const Recording& recording, const std::filesystem::path& file, RecordingForm wanted) {
  if (recording.form() != wanted)
    throw InputError(fmt::format("{}: is a {} recording; this needs a {} one{}", file.string(),
                                 name_of(recording.form()), name_of(wanted),
                                 wanted == RecordingForm::Full ? ", which trocar unpack writes" : ""));
  if (recording.live())
    throw InputError(
        fmt::format("{}: another program is writing this recording; wait until it has ended", file.string()));
  if (!recording.clean())
    throw InputError(fmt::format("{}: its program was killed; run trocar recover on it first", file.string()));
}

void pack_recording(const std::filesystem::path& full, const std::filesystem::path& out) {
  rewrite(full, out, RecordingForm::Full, RecordingForm::Packed);
}

void unpack_recording(const std::filesystem::path& packed, const std::filesystem::path& out) {
  rewrite(packed, out, RecordingForm::Packed, RecordingForm::Full);
}

}  // namespace trocar
