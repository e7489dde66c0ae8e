// Turns the header and the frames of a recording into rows of its tables, as bytes.
// Layout: docs/file-formats.md.   Tested in tests/sim/recorder_test.cpp
#pragma once

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include "sim/hdf5/recording_layout.hpp"
#include "sim/record/record_sink.hpp"

namespace trocar {

using Bytes = std::vector<std::byte>;

template <typename T>
void push(Bytes& bytes, std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

template <typename T>
void push_one(Bytes& bytes, const T& value) {
  push(bytes, std::span<const T>(&value, 1));
}

// Appends `count` values and fills missing ones with zeros.
template <typename T>
void push_or_zeros(Bytes& bytes, std::span<const T> values, std::size_t count) {
  push(bytes, values.first(std::min(count, values.size())));
  bytes.resize(bytes.size() + (count - std::min(count, values.size())) * sizeof(T));
}

// Throws InputError when a reader would refuse the recording. Names become groups and lines of text in the file; an
// invalid name would make the file unreadable. So would more than kMostFibres fibres.
void refuse_unreadable(const std::filesystem::path& path, const RecordingHeader& header);

// Write what does not change during a session.
void write_texts(H5File& file, const RecordingHeader& header);
void write_tools(H5File& file, const RecordingHeader& header);

// Each appends rows to the tables of one organ, [OrganTable] or [OrganLaterTable]. push_change: rows that take effect
// in `frame`. push_first_surface: the surface at the start; faces that were removed earlier keep their ids and are
// removed in frame 0. `touches_so_far`, `tips_so_far`: number of rows before this frame; the functions add those of the
// frame.
void push_change(std::span<Bytes> tables, const RecordedChange& change, std::uint32_t frame);
void push_first_surface(std::span<Bytes> tables, const RecordedOrgan& organ);
void push_touches(std::span<Bytes> tables, const RecordedOrganFrame& organ, std::uint64_t& touches_so_far);
void push_tips(std::span<Bytes> tables, const RecordedOrganFrame& organ, std::size_t tools, std::uint64_t& tips_so_far);

// Append rows to the tables of connective tissue, [FibreTable]. `frame`: the first one without these fibres.
void push_fibres(std::span<Bytes> tables, const RecordingHeader& header);
void push_broken(std::span<Bytes> tables, std::span<const std::uint32_t> broken, std::span<const FibreBreak> how,
                 std::uint32_t frame);

// Append rows to the tables of clips, [ClipTable]. `frame`: the first one in which they take effect.
void push_clips(std::span<Bytes> tables, std::span<const PlacedClip> clips, std::uint32_t frame);
void push_lost_clips(std::span<Bytes> tables, std::span<const std::uint32_t> lost, std::uint32_t frame);
void push_tubes(std::span<Bytes> tables, std::span<const RecordedTube> tubes, std::uint32_t frame);

// Append rows to the tables of bleeding, [BleedTable]. `frame`: the first one in which they take effect. push_lost: for
// one frame, [organ]; 0 beyond `lost`.
void push_bleed_rows(std::span<Bytes> tables, std::span<const BleedSource> sources,
                     std::span<const RecordedBleedChange> changes, std::uint32_t frame);
void push_first_sources(std::span<Bytes> tables, std::span<const BleedSource> sources);
void push_lost(std::span<Bytes> tables, std::span<const FluidLoss> lost, std::size_t organs,
               const FluidAmounts& fluids);

void push_scope(Bytes& bytes, const ScopePose& scope);

}  // namespace trocar
