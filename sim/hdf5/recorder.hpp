// Writes a session to HDF5 while it runs. The frame thread only copies into memory; a writer thread passes the copies
// to HDF5 and flushes at least twice a second (SWMR writing), so a killed process loses less than a second. When the
// disk is full or the file is deleted, recording ends; unless the file was deleted, the frames written so far stay
// readable. Units: metres, newtons, seconds, milliseconds for stage times.   Layout: docs/file
// Tested in tests/sim/recorder_test.cpp (kill -9 included) and tests/sim/recording_faults_test.cpp
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/hdf5/recording_layout.hpp"
#include "sim/record/record_sink.hpp"

namespace trocar {

struct Scene;

// Turns the header and the frames of a recording into rows of its tables, as bytes.

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

struct RecorderParams {
  // bytes   limit for frames that wait to be written; beyond it the disk is too slow and recording ends
  std::size_t most_waiting = std::size_t{512} << 20;
};

class Recorder final : public RecordSink {
 public:
  // Throws InputError when the file cannot be written, RunError when the disk is full. An error leaves no new file.
  Recorder(const std::filesystem::path& file, const RecordingHeader& header, const RecorderParams& params = {});
  // Closes the file as that of a run that was stopped, and ignores errors; call close() to get them.
  ~Recorder() override;

  // Copies the frame. Never waits for the disk and never throws; allocates only while its buffers grow. After a failure
  // it does nothing.
  void append(const RecordedFrame& frame) override;
  // Returns true when recording has ended early, for example because the disk is full or the file was deleted;
  // failure() gives the reason in one sentence.
  bool failed() const noexcept override;
  std::string failure() const override;
  void set_ending(Ending ending) override;
  // Writes the remaining frames and closes the file, which is then a plain HDF5 file. Throws RunError when a write
  // failed or the file was moved.
  void close() override;

 private:
  void begin(const RecordingHeader& header);
  void copy_frame(const RecordedFrame& frame);

  struct Writer;
  std::unique_ptr<Writer> writer_;
};

// Returns the argument of a SessionRecorder that writes to this file. The call of that argument throws the errors of
// Recorder.
OpenSink recording_file(std::filesystem::path file);

// Estimates how much a recording of a scene takes, before the session begins.   Units: bytes a second.

// Reads the meshes of the scene and makes the lattices of its organs; takes up to a second. Throws InputError when a
// mesh cannot be read.
double recording_rate(const Scene& scene);

}  // namespace trocar
