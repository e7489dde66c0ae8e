#include "app/record/recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/record/h5_file.hpp"
#include "app/record/recording_layout.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

// Copies wait at most this long before they are on their way to the disk.
constexpr auto kFlushPeriod = std::chrono::milliseconds(300);
// Room for a quarter of a second of frames before a buffer grows.
constexpr std::size_t kFramesReserved = 32;

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

void write_once(H5File& file, const std::string& path, Cell cell, std::vector<std::uint64_t> row_shape,
                std::span<const std::byte> rows) {
  GrowingTable table{path, cell, row_shape};
  H5Table made = file.make_table(path, cell, std::move(row_shape), rows_per_chunk(table));
  made.append(rows);
}

void write_organ(H5File& file, const RecordedOrgan& organ) {
  file.make_group(std::string(kOrganGroup) + "/" + organ.name);
  write_once(file, rest_positions_path(organ.name), Cell::F32, {3}, std::as_bytes(std::span(organ.mesh->positions)));
  write_once(file, faces_path(organ.name), Cell::U32, {3}, std::as_bytes(std::span(organ.mesh->faces)));
  Bytes nodes, weights;
  for (const Embedding& embedding : organ.tissue->embedding) {
    push(nodes, std::span<const std::uint32_t>(embedding.node));
    push(weights, std::span<const float>(embedding.weight));
  }
  write_once(file, embedding_node_path(organ.name), Cell::U32, {8}, nodes);
  write_once(file, embedding_weight_path(organ.name), Cell::F32, {8}, weights);
}

void write_texts(H5File& file, const RecordingHeader& header) {
  const std::string texts[] = {kFormat,
                               header.scene_text,
                               header.version,
                               header.machine,
                               header.gl,
                               header.backend,
                               header.mode,
                               header.cover,
                               header.date,
                               fmt::format("{}", fmt::join(header.tools, "\n")),
                               fmt::format("{}", fmt::join(header.stages, "\n")),
                               fmt::format("{}", header.frame_rate)};
  static_assert(std::size(texts) == std::size(kTextAttributes));
  for (std::size_t k = 0; k < std::size(texts); ++k) file.set_text(kTextAttributes[k], texts[k]);
}

}  // namespace

// Two sets of buffers, one byte string a table: the frame thread fills the front, the writer thread empties the back.
struct Recorder::Writer {
  H5File file;
  std::vector<H5Table> tables;  // all organs' tables, then the session's: kTime is the very last
  std::vector<Bytes> front, back;
  std::vector<std::uint64_t> touches_so_far;  // [organ]
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  std::string failure;
  std::thread thread;

  explicit Writer(const std::filesystem::path& path) : file(H5File::create(path)) {}

  void make_tables(const RecordingHeader& header) {
    std::vector<GrowingTable> kinds;
    for (const auto& organ : header.organs) {
      const auto of_organ = organ_tables(organ.name, organ.tissue->rest.size(), header.tools.size());
      kinds.insert(kinds.end(), of_organ.begin(), of_organ.end());
    }
    const auto of_session = session_tables(header.tools.size(), header.stages.size());
    kinds.insert(kinds.end(), of_session.begin(), of_session.end());
    front.resize(kinds.size());
    back.resize(kinds.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      tables.push_back(file.make_table(kinds[k].path, kinds[k].cell, kinds[k].row_shape, rows_per_chunk(kinds[k])));
      front[k].reserve(tables[k].row_bytes() * kFramesReserved);
      back[k].reserve(tables[k].row_bytes() * kFramesReserved);
    }
    touches_so_far.assign(header.organs.size(), 0);
  }

  void write_back_buffers() {
    for (std::size_t k = 0; k < tables.size(); ++k) {
      if (back[k].empty()) continue;
      tables[k].append(back[k]);
      tables[k].flush();
      back[k].clear();
    }
  }

  void run() {
    for (bool last = false; !last;) {
      {
        std::unique_lock lock(mutex);
        wake.wait_for(lock, kFlushPeriod, [this] { return stopping; });
        last = stopping;
        front.swap(back);
      }
      try {
        write_back_buffers();
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        failure = error.what();
        return;
      }
    }
  }
};

Recorder::Recorder(const std::filesystem::path& path, const RecordingHeader& header)
    : writer_(std::make_unique<Writer>(path)) {
  Writer& writer = *writer_;
  write_texts(writer.file, header);
  writer.file.make_group("/session");
  writer.file.make_group(kOrganGroup);
  write_once(writer.file, kToolRadiusPath, Cell::F64, {}, std::as_bytes(std::span(header.tool_radius)));
  for (const auto& organ : header.organs) write_organ(writer.file, organ);
  writer.make_tables(header);
  writer.file.start_single_writer();
  writer.thread = std::thread([&writer] { writer.run(); });
}

Recorder::~Recorder() {
  try {
    close();
  } catch (const std::exception&) {
    // The owner who cares calls close() and hears of it.
  }
}

namespace {

void push_touches(std::span<Bytes> tables, const TouchList& list, std::uint64_t& touches_so_far) {
  for (const std::uint32_t first : list.first) push_one(tables[kTouchFirst], touches_so_far + first);
  for (const Touch& touch : list.touches) {
    push_one(tables[kTouchFace], index(touch.face));
    push_one(tables[kTouchPoint], touch.point);
    push_one(tables[kTouchNormal], touch.normal);
    push_one(tables[kTouchDepth], touch.depth);
    push_one(tables[kTouchTime], touch.time);
  }
  touches_so_far += list.touches.size();
}

}  // namespace

void Recorder::append(const RecordedFrame& frame) {
  Writer& writer = *writer_;
  const std::lock_guard lock(writer.mutex);
  const std::span<Bytes> buffers(writer.front);
  for (std::size_t organ = 0; organ < frame.organs.size(); ++organ) {
    const auto tables = buffers.subspan(organ * kOrganTables, kOrganTables);
    push(tables[kNodes], frame.organs[organ].nodes);
    push_touches(tables, frame.organs[organ].touches, writer.touches_so_far[organ]);
  }
  const auto session = buffers.last(kSessionTables);
  for (const ToolPose& pose : frame.poses) push_one(session[kPivot], pose.pivot);
  for (const ToolPose& pose : frame.poses) push_one(session[kTip], pose.tip);
  push(session[kRollGrip], frame.roll_grip);
  push(session[kForce], frame.forces);
  push(session[kStageMs], frame.stage_ms);
  push_one(session[kDisagreements], frame.disagreements);
  push_one(session[kTime], frame.time);
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
  if (!writer->failure.empty()) throw RunError(writer->failure);
}

}  // namespace trocar
