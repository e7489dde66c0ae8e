#include "sim/hdf5/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "geometry/error.hpp"
#include "sim/hdf5/packed_nodes.hpp"
#include "sim/hdf5/partial_recording.hpp"
#include "sim/hdf5/recording_copy.hpp"

namespace trocar {
namespace {

void require_going_on(const GoOn& go_on) {
  if (go_on && !go_on()) throw RunError("stopped before the recording was packed; it is unchanged");
}

// The nodes of one organ, block by block.
void copy_nodes(const Recording& recording, const H5File& from, H5File& to, std::size_t organ, RecordingForm target,
                const GoOn& go_on) {
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
    require_going_on(go_on);
    const std::size_t frames = std::min(kBlockFrames, recording.frame_count() - frame);
    block.resize(frames * source.row_cells());
    source.read(frame, std::as_writable_bytes(std::span(block)));
    packs ? pack_block(block, source.row_cells()) : unpack_block(block, source.row_cells());
    table.append(std::as_bytes(std::span(block)));
  }
}

void write_form(const Recording& recording, const H5File& from, H5File& to, RecordingForm target, const GoOn& go_on) {
  copy_recording(recording, from, to, target);
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ)
    copy_nodes(recording, from, to, organ, target, go_on);
}

void rewrite(const std::filesystem::path& in, const std::filesystem::path& out, RecordingForm form,
             RecordingForm target) {
  const Recording recording(in);
  require_finished(recording, in, form);
  write_whole_recording(out, [&](H5File& to) { write_form(recording, H5File::open(in), to, target, {}); });
}

// A full recording beside its packed form, which is to have the same content.
struct Pair {
  const H5File &full, &packed;
  const GoOn& go_on;
};

// Attributes that an older recording lacks are empty in the packed form, which a reader takes for the same.
std::string difference_of_texts(const Pair& pair) {
  const auto expected = pair.full.attributes_of("/"), found = pair.packed.attributes_of("/");
  for (const std::string& name : expected)
    if (std::ranges::find(found, name) == found.end()) return "attribute " + name;
  for (const std::string& name : found)
    if (name != "format" && name != kFormAttribute && pair.full.text(name) != pair.packed.text(name))
      return "attribute " + name;
  return {};
}

// Returns the paths of the tables and groups that the packed form has: packed nodes instead of nodes.
std::vector<std::string> packed_paths(const Pair& pair) {
  std::vector<std::string> paths = pair.full.paths();
  for (const std::string& organ : pair.full.groups_in(kOrganGroup)) {
    const auto named = [&](RecordingForm form) { return organ_tables(organ, 0, 0, form)[kNodes].path; };
    std::ranges::replace(paths, named(RecordingForm::Full), named(RecordingForm::Packed));
  }
  std::ranges::sort(paths);
  return paths;
}

// Compares rows through buffers of at most `piece` rows. `unpack`: is applied to what the packed form has.
template <typename Unpack>
std::string difference_of_rows(const H5Table& full, const H5Table& packed, std::uint64_t piece, const Pair& pair,
                               const Unpack& unpack) {
  if (full.row_shape() != packed.row_shape() || full.rows() != packed.rows()) return "the size of table ";
  std::vector<std::byte> expected, found;
  for (std::uint64_t row = 0; row < full.rows(); row += piece) {
    require_going_on(pair.go_on);
    const std::uint64_t bytes = std::min(piece, full.rows() - row) * full.row_bytes();
    expected.resize(bytes), found.resize(bytes);
    full.read(row, expected);
    packed.read(row, found);
    unpack(found);
    if (expected != found) return "table ";
  }
  return {};
}

std::string difference_of_table(const Pair& pair, const std::string& path) {
  constexpr std::uint64_t kPieceBytes = 8 << 20;
  const H5Table full = pair.full.table(path), packed = pair.packed.table(path);
  if (full.cell() != packed.cell()) return "the type of table ";
  return difference_of_rows(full, packed, std::max<std::uint64_t>(1, kPieceBytes / full.row_bytes()), pair,
                            [](std::vector<std::byte>&) {});
}

std::string difference_of_nodes(const Pair& pair, const std::string& organ) {
  const GrowingTable in_full = organ_tables(organ, 0, 0, RecordingForm::Full)[kNodes];
  const GrowingTable in_packed = organ_tables(organ, 0, 0, RecordingForm::Packed)[kNodes];
  const H5Table full = pair.full.table(in_full.path, in_full.cell),
                packed = pair.packed.table(in_packed.path, in_packed.cell);
  std::vector<std::uint32_t> block;
  return difference_of_rows(full, packed, kBlockFrames, pair, [&](std::vector<std::byte>& bytes) {
    block.resize(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(block.data(), bytes.data(), bytes.size());
    unpack_block(block, packed.row_cells());
    std::memcpy(bytes.data(), block.data(), bytes.size());
  });
}

}  // namespace

void require_finished(const Recording& recording, const std::filesystem::path& file, RecordingForm wanted) {
  if (recording.form() != wanted)
    throw InputError(fmt::format("{}: is a {} recording; this needs a {} one{}", file.string(),
                                 name_of(recording.form()), name_of(wanted),
                                 wanted == RecordingForm::Full ? ", which trocar file unpack writes" : ""));
  if (recording.live())
    throw InputError(
        fmt::format("{}: another program is writing this recording; wait until it has ended", file.string()));
  if (!recording.clean())
    throw InputError(fmt::format("{}: its program was killed; run trocar file recover on it first", file.string()));
}

void write_packed(const Recording& recording, const H5File& from, H5File& to, const GoOn& go_on) {
  write_form(recording, from, to, RecordingForm::Packed, go_on);
}

std::string difference_of_packed(const std::filesystem::path& full_file, const std::filesystem::path& packed_file,
                                 const GoOn& go_on) {
  const H5File full = H5File::open(full_file), packed = H5File::open(packed_file);
  const Pair pair{full, packed, go_on};
  if (const std::string what = difference_of_texts(pair); !what.empty()) return what;
  if (packed.paths() != packed_paths(pair)) return "the list of its tables";
  const std::vector<std::string> organs = full.groups_in(kOrganGroup);
  if (organs != packed.groups_in(kOrganGroup)) return "the order of its organs";
  std::set<std::string> nodes;
  for (const std::string& organ : organs) nodes.insert(organ_tables(organ, 0, 0)[kNodes].path);
  for (const std::string& path : full.paths()) {
    // No table of a recording has attributes, so packing would lose them.
    if (!full.attributes_of(path).empty()) return "the attributes of " + path;
    if (full.is_group(path) || nodes.contains(path)) continue;
    if (const std::string what = difference_of_table(pair, path); !what.empty()) return what + path;
  }
  for (const std::string& organ : organs)
    if (const std::string what = difference_of_nodes(pair, organ); !what.empty())
      return fmt::format("{}/organs/{}/nodes", what, organ);
  return {};
}

void pack_recording(const std::filesystem::path& full, const std::filesystem::path& out) {
  rewrite(full, out, RecordingForm::Full, RecordingForm::Packed);
}

void unpack_recording(const std::filesystem::path& packed, const std::filesystem::path& out) {
  rewrite(packed, out, RecordingForm::Packed, RecordingForm::Full);
}

}  // namespace trocar
