#include "sim/hdf5/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "deform/solid/lattice.hpp"
#include "geometry/error.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/device/tool_shape.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/session/tick_clock.hpp"
#include "sim/support/task.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

// The writer thread starts to write a copied frame after at most this time.
constexpr auto kFlushPeriod = std::chrono::milliseconds(300);
// It starts earlier when this amount of data waits, so that a nearly full disk still gets complete frames.
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;
// Buffers are reserved for this number of frames: half a second at 60 frames per second, more than kFlushPeriod.
constexpr std::uint64_t kFramesReserved = 32;

// Throws InputError when a reader would refuse the recording. Names become groups and lines of text in the file; an
// invalid name would make the file unreadable. So would more than kMostFibres fibres.
void refuse_unreadable(const std::filesystem::path& path, const RecordingHeader& header) {
  const auto check = [&](const char* of, const std::string& name) {
    if (const std::string fault = name_fault(name); !fault.empty())
      throw InputError(fmt::format("{}: the {} '{}' cannot be recorded: {}; rename it in the scene", path.string(), of,
                                   printable(name), fault));
  };
  for (const RecordedOrgan& organ : header.organs) check("organ", organ.name);
  for (const std::string& tool : header.tools) check("instrument", tool);
  if (const std::string fault = name_fault(header.run.person); !header.run.person.empty() && !fault.empty())
    throw InputError(fmt::format("{}: the person '{}' cannot be recorded: {}; give another id", path.string(),
                                 printable(header.run.person), fault));
  if (header.fibres.size() > kMostFibres)
    throw InputError(fmt::format("{}: the scene has {} fibres, and a recording at most {}; make its layers smaller",
                                 path.string(), header.fibres.size(), kMostFibres));
}

// The surface of an organ at the start. Faces that were removed earlier keep their ids; the rows are removed in frame
// 0.
struct FirstSurface {
  std::vector<glm::uvec3> faces;
  std::vector<FaceId> removed;
  RecordedChange change;

  explicit FirstSurface(const RecordedOrgan& organ) {
    const auto& given = organ.mesh->faces;
    const std::size_t counted = organ.face_ids.empty() ? given.size() : index(organ.face_ids.back()) + std::size_t{1};
    faces.assign(std::max<std::size_t>(counted, organ.next_face), glm::uvec3(0));
    std::vector<char> exists(faces.size(), 0);
    for (std::size_t slot = 0; slot < given.size(); ++slot) {
      const std::size_t id = organ.face_ids.empty() ? slot : index(organ.face_ids[slot]);
      faces[id] = given[slot];
      exists[id] = 1;
    }
    for (std::uint32_t id = 0; id < faces.size(); ++id)
      if (!exists[id]) removed.push_back(FaceId(id));
    change = {removed, faces, organ.mesh->positions, organ.tissue->embedding, {}, {}};
  }
};

// A column of this recording. `organ`: of a column of an organ.
struct RecordedColumn {
  ColumnGroup group;
  std::size_t column;
  std::optional<std::size_t> organ;

  const Column& kind() const { return columns_of(group)[column]; }
  // Rows that the header gives as well: the state at the start.
  bool is_frame() const {
    return kind().rows == RowOf::Frame || kind().rows == RowOf::Touch || kind().rows == RowOf::TipFace;
  }
};

RowSizes sizes_of(const RecordingHeader& header, std::optional<std::size_t> organ = {}) {
  return {header.tools.size(), header.stages.size(), header.organs.size(),
          organ ? header.organs[*organ].tissue->rest.size() : 0, header.dents};
}

// Returns the columns that grow: those of the organs, of fibres, clips and bleeding, and of the session; kTime is the
// last.
std::vector<RecordedColumn> columns_in(const RecordingHeader& header) {
  std::vector<RecordedColumn> columns;
  const auto add = [&](ColumnGroup group, std::optional<std::size_t> organ = {}) {
    for (std::size_t k = 0; k < columns_of(group).size(); ++k)
      if (const Column& kind = columns_of(group)[k];
          kind.is_in(RecordingForm::Full) && has_column(kind, sizes_of(header)))
        columns.push_back({group, k, organ});
  };
  for (std::size_t organ = 0; organ < header.organs.size(); ++organ) add(ColumnGroup::Organ, organ);
  if (!header.fibres.empty()) add(ColumnGroup::Fibres);
  if (header.has_clips) add(ColumnGroup::Clips);
  if (header.has_bleeding) add(ColumnGroup::Bleeding);
  add(ColumnGroup::Session);
  return columns;
}

// Returns the rows of a chunk, which takes its whole space in the file: a column of fibres has no more rows than there
// are fibres, and those of clips, tubes and bleeding have few.
std::uint64_t chunk_of(const RecordedColumn& column, const RecordingHeader& header) {
  constexpr std::uint64_t kUsualClips = 32, kUsualSources = 128;
  const RowOf rows = column.kind().rows;
  if (rows == RowOf::Clip || rows == RowOf::LostClip || rows == RowOf::Tube) return kUsualClips;
  if (rows == RowOf::BleedSource || rows == RowOf::BleedChange) return kUsualSources;
  const std::uint64_t usual =
      rows_per_chunk(row_shape(column.kind(), sizes_of(header, column.organ)), column.kind().cell);
  return rows == RowOf::Fibre || rows == RowOf::Broken ? std::min<std::uint64_t>(usual, header.fibres.size()) : usual;
}

// Writes what does not change during a session.
void write_header(H5File& file, const RecordingHeader& header) {
  for (const TextAttribute& attribute : text_attributes()) file.set_text(attribute.name, attribute.text(header));
  file.make_group("/session");
  file.make_group(kOrganGroup);
  const auto& columns = columns_of(ColumnGroup::Tools);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (!columns[k].fill) continue;
    Bytes rows;
    columns[k].fill(rows, {.header = &header});
    make_column(file, ColumnGroup::Tools, k, sizes_of(header), Storage::Plain).append(rows);
  }
  for (const auto& organ : header.organs) file.make_group(std::string(kOrganGroup) + "/" + organ.name);
}

}  // namespace

// Double-buffered, one byte array per table: the frame thread fills the front buffers, the writer thread writes the
// back buffers.
struct Recorder::Writer {
  H5File file;
  RecorderParams params;
  std::vector<RecordedColumn> columns;
  std::vector<H5Table> tables;  // [column]
  std::optional<H5Table> ending;
  Ending how_it_ended = Ending::Stopped;
  std::vector<Bytes> front, back;                          // [column]
  std::vector<std::uint64_t> touches_so_far, tips_so_far;  // [organ]
  std::uint32_t frames_so_far = 0;
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
    columns = columns_in(header);
    front.resize(columns.size());
    back.resize(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto& [group, column, organ] = columns[k];
      const std::uint64_t rows = chunk_of(columns[k], header);
      tables.push_back(make_column(file, group, column, sizes_of(header, organ), Storage::Plain,
                                   organ ? header.organs[*organ].name : "", rows));
      const std::uint64_t reserved = std::max(kFramesReserved, columns[k].kind().rows == RowOf::Frame ? 0 : rows);
      front[k].reserve(tables[k].row_bytes() * reserved);
      back[k].reserve(tables[k].row_bytes() * reserved);
    }
    touches_so_far.assign(header.organs.size(), 0);
    tips_so_far.assign(header.organs.size(), 0);
    ending.emplace(make_column(file, ColumnGroup::Tools, kEnding, {}, Storage::Plain, "", 1));
  }

  // Fills the columns for which `wanted` is true.
  template <typename Wanted>
  void fill(RowSource from, const Wanted& wanted) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (!wanted(columns[k])) continue;
      const auto organ = columns[k].organ;
      from.organ = organ ? &from.frame->organs[*organ] : nullptr;
      from.touches = organ ? touches_so_far[*organ] : 0, from.tips = organ ? tips_so_far[*organ] : 0;
      columns[k].kind().fill(front[k], from);
    }
  }

  void push_frame(const RecordedFrame& frame) {
    fill({.frame = &frame, .effect = ++frames_so_far},
         [](const RecordedColumn& column) { return column.kind().rows != RowOf::Fibre; });
    for (std::size_t organ = 0; organ < frame.organs.size(); ++organ) {
      touches_so_far[organ] += frame.organs[organ].touches.touches.size();
      tips_so_far[organ] += frame.organs[organ].tip_ids.size();
    }
  }

  // Writes the state at the start.
  void write_first_rows(const RecordingHeader& header) {
    std::vector<FirstSurface> surfaces(header.organs.begin(), header.organs.end());
    std::vector<RecordedOrganFrame> organs(surfaces.size());
    for (std::size_t k = 0; k < organs.size(); ++k) organs[k].change = &surfaces[k].change;
    std::vector<RecordedBleedChange> states;
    for (std::uint32_t k = 0; k < header.sources.size(); ++k)
      states.push_back({k, header.sources[k].vertex, header.sources[k].state});
    RecordedFrame start;
    start.organs = organs;
    start.broken = header.broken, start.broken_how = header.broken_how;
    start.clips = header.clips, start.tubes = header.tubes;
    start.sources = header.sources, start.bleed_changes = states;
    fill({.header = &header, .frame = &start}, [](const RecordedColumn& column) { return !column.is_frame(); });
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
    target.commit();
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
  write_header(writer.file, header);
  writer.make_tables(header);
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
    writer.push_frame(frame);
  } catch (const std::bad_alloc&) {
    writer.fail("there is not enough memory for the next frame");
  }
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

namespace {

// A press, a grasp and a burn touch some ten to a few hundred faces; most tools touch none most of the time.
constexpr double kTouchesOfAFrame = 60.0;

// What every frame adds to these columns, without the touches.
double frame_bytes(ColumnGroup group, const RowSizes& sizes, RowOf rows = RowOf::Frame) {
  double bytes = 0.0;
  for (const Column& column : columns_of(group)) {
    if (column.rows != rows || !column.is_in(RecordingForm::Full)) continue;
    double row = static_cast<double>(bytes_of(column.cell));
    for (const std::uint64_t cells : row_shape(column, sizes)) row *= static_cast<double>(cells);
    bytes += row;
  }
  return bytes;
}

std::size_t dents_of(const Scene& scene) {
  std::size_t dents = 0;
  for (const InstrumentScene& tool : scene.instruments)
    dents += InstrumentBody(tool.kind, tool.radius, tool.limits).parts() + 1;
  return dents;
}

}  // namespace

double recording_rate(const Scene& scene) {
  RowSizes sizes{scene.instruments.size(), stage_names().size(), scene.organs.size(), 0, dents_of(scene)};
  double bytes = frame_bytes(ColumnGroup::Session, sizes) + frame_bytes(ColumnGroup::Bleeding, sizes);
  for (const OrganScene& organ : scene.organs) {
    TriangleMesh mesh = surface_of(organ);
    mesh.faces = welded_faces(mesh.positions, mesh.faces);
    sizes.nodes =
        organ.sheet ? 2 * mesh.positions.size() : make_lattice(mesh.view(), organ.tissue.node_spacing).node_at.size();
    bytes += frame_bytes(ColumnGroup::Organ, sizes);
  }
  // The touches are those of one organ at a time.
  const double touches =
      scene.organs.empty() ? 0.0 : kTouchesOfAFrame * frame_bytes(ColumnGroup::Organ, sizes, RowOf::Touch);
  return scene.frame_rate * (bytes + touches);
}

}  // namespace trocar
