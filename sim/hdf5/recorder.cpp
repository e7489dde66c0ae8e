#include "sim/hdf5/recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "geometry/error.hpp"
#include "sim/hdf5/recorded_rows.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/support/task.hpp"

namespace trocar {
namespace {

// The writer thread starts to write a copied frame after at most this time.
constexpr auto kFlushPeriod = std::chrono::milliseconds(300);
// It starts earlier when this amount of data waits, so that a nearly full disk still gets complete frames.
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;
// Buffers are reserved for this number of frames: half a second at 60 frames per second, more than kFlushPeriod.
constexpr std::uint64_t kFramesReserved = 32;

void add(const std::vector<GrowingTable>& more, std::vector<GrowingTable>& tables) {
  tables.insert(tables.end(), more.begin(), more.end());
}

// Returns all organs' tables, their later tables, fibre tables, clip tables, bleeding tables, clash tables, later
// tables, session tables; kTime is the last.
std::vector<GrowingTable> tables_of(const RecordingHeader& header) {
  std::vector<GrowingTable> tables;
  const std::size_t tools = header.tools.size();
  for (const auto& organ : header.organs) add(organ_tables(organ.name, organ.tissue->rest.size(), tools), tables);
  for (const auto& organ : header.organs) add(organ_later_tables(organ.name, tools), tables);
  if (!header.fibres.empty()) add(fibre_tables(), tables);
  if (header.has_clips) add(clip_tables(), tables);
  if (header.has_bleeding) add(bleed_tables(header.organs.size()), tables);
  add(clash_tables(tools), tables);
  add(later_tables(tools), tables);
  add(session_tables(tools, header.stages.size()), tables);
  return tables;
}

// Returns the rows of a chunk, which takes its whole space in the file: a table of fibres has no more rows than there
// are fibres, and those of clips, tubes and bleeding have few.
std::uint64_t chunk_of(const GrowingTable& table, std::uint64_t fibres) {
  constexpr std::uint64_t kUsualClips = 32, kUsualSources = 128;
  if (table.rows == RowOf::Clip || table.rows == RowOf::LostClip || table.rows == RowOf::Tube) return kUsualClips;
  if (table.rows == RowOf::BleedSource || table.rows == RowOf::BleedChange) return kUsualSources;
  const bool of_fibres = table.rows == RowOf::Fibre || table.rows == RowOf::Broken;
  return of_fibres ? std::min(rows_per_chunk(table), fibres) : rows_per_chunk(table);
}

}  // namespace

// Double-buffered, one byte array per table: the frame thread fills the front buffers, the writer thread writes the
// back buffers.
struct Recorder::Writer {
  H5File file;
  RecorderParams params;
  std::vector<H5Table> tables;  // tables_of()
  std::optional<H5Table> ending;
  Ending how_it_ended = Ending::Stopped;
  std::vector<Bytes> front, back;
  std::vector<std::uint64_t> touches_so_far, tips_so_far;  // [organ]
  std::uint32_t frames_so_far = 0;
  std::size_t tools = 0;
  bool has_fibres = false, has_clips = false, has_bleeding = false;
  std::vector<float> clash_distance;  // [pair of tools] in the frame that is being appended
  std::vector<glm::vec3> clash_point;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  std::atomic<bool> failed = false;
  std::string failure;  // one sentence if `failed`
  std::thread thread;

  Writer(const std::filesystem::path& path, const RecorderParams& given) : file(H5File::create(path)), params(given) {}

  // Ends recording. The caller holds the mutex.
  void fail(std::string_view what) {
    if (failed) return;
    failure = fmt::format("{}: {}; the frames recorded until then are {}", file.path().string(), what,
                          file.deleted() ? "lost" : "kept, see trocar file recover");
    for (Bytes& bytes : front) Bytes().swap(bytes);
    failed = true;
  }

  // Returns the number of bytes that wait to be written. The caller holds the mutex.
  std::size_t waiting() const {
    std::size_t bytes = 0;
    for (const Bytes& table : front) bytes += table.size();
    return bytes;
  }

  void make_tables(const RecordingHeader& header) {
    const std::vector<GrowingTable> kinds = tables_of(header);
    front.resize(kinds.size());
    back.resize(kinds.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const std::uint64_t rows = chunk_of(kinds[k], header.fibres.size());
      tables.push_back(file.make_table(kinds[k].path, kinds[k].cell, kinds[k].row_shape, rows));
      const std::uint64_t reserved = std::max(kFramesReserved, kinds[k].rows == RowOf::Frame ? 0 : rows);
      front[k].reserve(tables[k].row_bytes() * reserved);
      back[k].reserve(tables[k].row_bytes() * reserved);
    }
    has_fibres = !header.fibres.empty();
    has_clips = header.has_clips, has_bleeding = header.has_bleeding;
    touches_so_far.assign(header.organs.size(), 0);
    tips_so_far.assign(header.organs.size(), 0);
    tools = header.tools.size();
    clash_distance.resize(tool_pairs(tools));
    clash_point.resize(tool_pairs(tools));
  }

  void push_clashes(std::span<const RecordedClash> clashes) {
    if (clash_distance.empty()) return;
    std::fill(clash_distance.begin(), clash_distance.end(), std::numeric_limits<float>::infinity());
    std::fill(clash_point.begin(), clash_point.end(), glm::vec3(0.f));
    for (const RecordedClash& clash : clashes) {
      const std::size_t pair = tool_pair(tools, clash.first, clash.second);
      clash_distance[pair] = clash.distance;
      clash_point[pair] = clash.point;
    }
    const auto tables = std::span(front).last(std::size_t{kSessionTables} + kLaterTables + kClashTables);
    push(tables[kClashDistance], std::span<const float>(clash_distance));
    push(tables[kClashPoint], std::span<const glm::vec3>(clash_point));
  }

  std::span<Bytes> of_organ(std::size_t organ) { return std::span(front).subspan(organ * kOrganTables, kOrganTables); }

  // Returns the tables of the tips' touches.
  std::span<Bytes> later_of_organ(std::size_t organ) {
    return std::span(front).subspan(touches_so_far.size() * kOrganTables + organ * kOrganLaterTables,
                                    kOrganLaterTables);
  }

  // Returns the tables of connective tissue, of a session that has some.
  std::span<Bytes> of_fibres() {
    return std::span(front).subspan(touches_so_far.size() * (std::size_t{kOrganTables} + kOrganLaterTables),
                                    kFibreTables);
  }

  // Returns the tables of clips, of a session that can have some.
  std::span<Bytes> of_clips() {
    const std::size_t before = touches_so_far.size() * (std::size_t{kOrganTables} + kOrganLaterTables);
    return std::span(front).subspan(before + (has_fibres ? std::size_t{kFibreTables} : 0), kClipTables);
  }

  // Returns the tables of bleeding, of a session in which something can bleed.
  std::span<Bytes> of_bleeding() {
    const std::size_t before = touches_so_far.size() * (std::size_t{kOrganTables} + kOrganLaterTables);
    return std::span(front).subspan(
        before + (has_fibres ? std::size_t{kFibreTables} : 0) + (has_clips ? std::size_t{kClipTables} : 0),
        kBleedTables);
  }

  void push_bleeding(std::span<const BleedSource> sources, std::span<const RecordedBleedChange> changes,
                     std::uint32_t frame) {
    if (has_bleeding) push_bleed_rows(of_bleeding(), sources, changes, frame);
  }

  void push_clip_rows(std::span<const PlacedClip> clips, std::span<const std::uint32_t> lost,
                      std::span<const RecordedTube> tubes, std::uint32_t frame) {
    if (!has_clips) return;
    push_clips(of_clips(), clips, frame);
    push_lost_clips(of_clips(), lost, frame);
    push_tubes(of_clips(), tubes, frame);
  }

  void write_first_rows(const RecordingHeader& header) {
    for (std::size_t k = 0; k < header.organs.size(); ++k) push_first_surface(of_organ(k), header.organs[k]);
    if (has_fibres) push_fibres(of_fibres(), header);
    push_clip_rows(header.clips, {}, header.tubes, 0);
    if (has_bleeding) push_first_sources(of_bleeding(), header.sources);
    front.swap(back);
    write_back_buffers();
  }

  void write_back_buffers() {
    for (std::size_t k = 0; k < tables.size(); ++k) {
      if (back[k].empty()) continue;
      tables[k].append(back[k]);
      tables[k].flush();
      back[k].clear();
    }
  }

  // Writes how the run ended. Without it the recording is complete all the same.
  void write_ending() {
    try {
      if (!failed) ending->append(std::as_bytes(std::span(&how_it_ended, 1)));
    } catch (const std::exception&) {
      fail(file.fault().empty() ? "HDF5 could not write the end of the run" : file.fault());
    }
    ending.reset();
  }

  void run() {
    for (bool last = false; !last;) {
      {
        std::unique_lock lock(mutex);
        wake.wait_for(lock, kFlushPeriod, [this] { return stopping || waiting() > kFlushBytes; });
        last = stopping;
        front.swap(back);
      }
      std::string what;
      try {
        write_back_buffers();
        what = file.fault();
      } catch (...) {
        what = file.fault().empty() ? fault_of_exception() : file.fault();
      }
      if (what.empty()) continue;
      const std::lock_guard lock(mutex);
      fail(what);
      for (Bytes& bytes : back) Bytes().swap(bytes);
      return;
    }
  }

  // Call it after the thread has ended.
  void close_file() {
    write_ending();
    tables.clear();
    try {
      file.close();
    } catch (const std::exception&) {
      fail(file.fault().empty() ? "HDF5 could not close the file" : file.fault());
    }
    const auto now = file.moved_to();
    if (failed || now.empty()) return;
    failure = fmt::format("{}: was moved during the recording; the complete recording is {}", file.path().string(),
                          now.string());
    failed = true;
  }
};

Recorder::Recorder(const std::filesystem::path& path, const RecordingHeader& header, const RecorderParams& params) {
  refuse_unreadable(path, header);
  RecordingTarget target(path);
  target.make_free();
  writer_ = std::make_unique<Writer>(target.file(), params);
  try {
    begin(header);
    target.settle();
  } catch (const std::exception& error) {
    const std::string what = writer_->file.fault();
    writer_.reset();
    std::error_code ignored;
    std::filesystem::remove(target.file(), ignored);
    if (what.empty()) throw;
    throw RunError(fmt::format("{}: {}", path.string(), what));
  }
}

void Recorder::begin(const RecordingHeader& header) {
  Writer& writer = *writer_;
  write_texts(writer.file, header);
  writer.file.make_group("/session");
  writer.file.make_group(kOrganGroup);
  write_tools(writer.file, header);
  for (const auto& organ : header.organs) writer.file.make_group(std::string(kOrganGroup) + "/" + organ.name);
  writer.make_tables(header);
  writer.ending.emplace(writer.file.make_table(kEndingPath, Cell::U8, {}, 1));
  writer.write_first_rows(header);
  writer.file.start_single_writer();
  writer.thread = std::thread([&writer] { run_guarded("The recorder", [&writer] { writer.run(); }); });
}

Recorder::~Recorder() {
  try {
    close();
  } catch (const std::exception&) {
    // A caller that needs the error calls close().
  }
}

bool Recorder::failed() const noexcept { return writer_ && writer_->failed; }

std::string Recorder::failure() const {
  if (!writer_) return {};
  const std::lock_guard lock(writer_->mutex);
  return writer_->failure;
}

void Recorder::append(const RecordedFrame& frame) {
  Writer& writer = *writer_;
  const std::lock_guard lock(writer.mutex);
  if (writer.failed) return;
  const std::size_t waiting = writer.waiting();
  if (waiting > writer.params.most_waiting) return writer.fail("the disk is too slow for this session");
  if (waiting > kFlushBytes) writer.wake.notify_one();
  try {
    copy_frame(frame);
  } catch (const std::bad_alloc&) {
    writer.fail("there is not enough memory for the next frame");
  }
}

void Recorder::copy_frame(const RecordedFrame& frame) {
  Writer& writer = *writer_;
  ++writer.frames_so_far;
  for (std::size_t k = 0; k < frame.organs.size(); ++k) {
    const RecordedOrganFrame& organ = frame.organs[k];
    push(writer.of_organ(k)[kNodes], organ.nodes);
    push_touches(writer.of_organ(k), organ, writer.touches_so_far[k]);
    push_tips(writer.later_of_organ(k), organ, writer.tools, writer.tips_so_far[k]);
    if (organ.change) push_change(writer.of_organ(k), *organ.change, writer.frames_so_far);
  }
  if (writer.has_fibres) push_broken(writer.of_fibres(), frame.broken, frame.broken_how, writer.frames_so_far);
  writer.push_clip_rows(frame.clips, frame.lost_clips, frame.tubes, writer.frames_so_far);
  if (writer.has_bleeding) push_lost(writer.of_bleeding(), frame.lost_fluid, frame.organs.size(), frame.fluids);
  writer.push_bleeding(frame.sources, frame.bleed_changes, writer.frames_so_far);
  writer.push_clashes(frame.clashes);
  const auto later = std::span(writer.front).last(std::size_t{kSessionTables} + kLaterTables);
  push_or_zeros(later[kTipDepth], frame.tip_depth, frame.poses.size());
  push_scope(later[kScope], frame.scope);
  push_or_zeros(later[kToolState], frame.states, frame.poses.size());
  push_one(later[kBackend], frame.backend), push_one(later[kBackendFault], frame.fault);
  push_one(later[kReferenceSample], frame.sample);
  push_one(later[kWallTime], frame.wall), push_one(later[kLostTime], frame.lost);
  push_or_zeros(later[kToolHeats], frame.heats, frame.poses.size());
  push_or_zeros(later[kToolHandle], frame.handles, frame.poses.size());
  push_one(later[kStepTime], frame.step);
  push_one(later[kHidden], std::array{frame.hidden.tips, frame.hidden.marks});
  const auto session = std::span(writer.front).last(kSessionTables);
  for (const ToolPose& pose : frame.poses) push_one(session[kPivot], pose.pivot);
  for (const ToolPose& pose : frame.poses) push_one(session[kTip], pose.tip);
  push(session[kRollGrip], frame.roll_grip);
  push(session[kForce], frame.forces);
  push_or_zeros(session[kEnergy], frame.energy, frame.poses.size());
  push(session[kStageMs], frame.stage_ms);
  push_one(session[kDisagreements], frame.disagreements);
  push_one(session[kTime], frame.time);
}

void Recorder::set_ending(Ending ending) {
  if (writer_) writer_->how_it_ended = ending;
}

void Recorder::close() {
  if (!writer_) return;
  const std::unique_ptr<Writer> writer = std::move(writer_);
  {
    const std::lock_guard lock(writer->mutex);
    writer->stopping = true;
  }
  writer->wake.notify_one();
  if (writer->thread.joinable()) writer->thread.join();
  writer->close_file();
  if (writer->failed) throw RunError(writer->failure);
}

OpenSink recording_file(std::filesystem::path file) {
  return [file = std::move(file)](const RecordingHeader& header) { return std::make_unique<Recorder>(file, header); };
}

}  // namespace trocar
