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

#include "deform/lattice.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "mesh/weld.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/session/stages.hpp"
#include "sim/support/task.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

void write_once(H5File& file, const GrowingTable& table, std::span<const std::byte> rows) {
  file.make_table(table.path, table.cell, table.row_shape, rows_per_chunk(table)).append(rows);
}

void push_embedding(Bytes& nodes, Bytes& weights, std::span<const Embedding> embedding) {
  for (const Embedding& one : embedding) {
    push(nodes, std::span<const std::uint32_t>(one.node));
    push(weights, std::span<const float>(one.weight));
  }
}

void push_times(Bytes& bytes, std::size_t times, std::uint32_t value) {
  for (std::size_t k = 0; k < times; ++k) push_one(bytes, value);
}

}  // namespace

void write_tools(H5File& file, const RecordingHeader& header) {
  Bytes before;
  for (const ToolPose& pose : header.before) {
    push_one(before, pose.pivot);
    push_one(before, pose.tip);
  }
  write_once(file, {kToolRadiusPath, Cell::F64, {}}, std::as_bytes(std::span(header.tool_radius)));
  write_once(file, {kToolBeforePath, Cell::F64, {2, 3}}, before);
  write_once(file, {kToolBeforeJointsPath, Cell::F64, {2}}, std::as_bytes(std::span(header.before_joints)));
}

void write_texts(H5File& file, const RecordingHeader& header) {
  const std::string texts[] = {format_text(RecordingForm::Full),
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
                               fmt::format("{}", header.frame_rate),
                               fmt::format("{}", fmt::join(header.tips, "\n")),
                               fmt::format("{}", fmt::join(header.backends, "\n")),
                               header.run.clock == ScoreClock::Wall ? "wall" : "tick",
                               fmt::format("{}", kFormatVersion.minor),
                               fmt::format("{}", header.model_version),
                               header.backend_why,
                               std::string(name_of(header.run.activity)),
                               header.run.person,
                               fmt::format("{}", fmt::join(header.devices, "\n")),
                               header.scene_name,
                               header.run.attempt_key};
  static_assert(std::size(texts) == std::size(kTextAttributes));
  for (std::size_t k = 0; k < std::size(texts); ++k) file.set_text(kTextAttributes[k], texts[k]);
}

void push_change(std::span<Bytes> tables, const RecordedChange& change, std::uint32_t frame) {
  push(tables[kFaces], change.new_faces);
  push_times(tables[kFaceBorn], change.new_faces.size(), frame);
  push(tables[kRestPositions], change.new_rest);
  push_embedding(tables[kEmbeddingNode], tables[kEmbeddingWeight], change.new_embedding);
  push_times(tables[kVertexBorn], change.new_rest.size(), frame);
  push(tables[kRemovedFace], change.removed);
  push_times(tables[kRemovedFrame], change.removed.size(), frame);
  push(tables[kCarriedVertex], change.carried);
  push_embedding(tables[kCarriedNode], tables[kCarriedWeight], change.carried_embedding);
  push_times(tables[kCarriedFrame], change.carried.size(), frame);
}

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

void push_first_surface(std::span<Bytes> tables, const RecordedOrgan& organ) {
  const auto& given = organ.mesh->faces;
  const std::size_t counted = organ.face_ids.empty() ? given.size() : index(organ.face_ids.back()) + std::size_t{1};
  std::vector<glm::uvec3> faces(std::max<std::size_t>(counted, organ.next_face), glm::uvec3(0));
  std::vector<char> exists(faces.size(), 0);
  for (std::size_t slot = 0; slot < given.size(); ++slot) {
    const std::size_t id = organ.face_ids.empty() ? slot : index(organ.face_ids[slot]);
    faces[id] = given[slot];
    exists[id] = 1;
  }
  std::vector<FaceId> removed;
  for (std::uint32_t id = 0; id < faces.size(); ++id)
    if (!exists[id]) removed.push_back(FaceId(id));
  push_change(tables, {removed, faces, organ.mesh->positions, organ.tissue->embedding, {}, {}}, 0);
}

void push_fibres(std::span<Bytes> tables, const RecordingHeader& header) {
  for (const RecordedFibre& fibre : header.fibres) {
    for (const RecordedFibreEnd* end : {&fibre.a, &fibre.b}) {
      push_one(tables[kFibreOrgan], end->organ);
      push_embedding(tables[kFibreNode], tables[kFibreWeight], std::span(&end->embedding, 1));
      push_one(tables[kFibrePoint], end->point);
    }
    push_one(tables[kFibreLength], glm::vec2(fibre.free_length, fibre.reference));
    push_one(tables[kFibreGroup], fibre.group);
  }
  push_broken(tables, header.broken, header.broken_how, 0);
}

void push_broken(std::span<Bytes> tables, std::span<const std::uint32_t> broken, std::span<const FibreBreak> how,
                 std::uint32_t frame) {
  push(tables[kBrokenFibre], broken);
  for (std::size_t k = 0; k < broken.size(); ++k)
    push_one(tables[kBrokenHow], static_cast<std::uint8_t>(k < how.size() ? how[k] : FibreBreak::Torn));
  push_times(tables[kBrokenFrame], broken.size(), frame);
}

void push_clips(std::span<Bytes> tables, std::span<const PlacedClip> clips, std::uint32_t frame) {
  for (const PlacedClip& placed : clips) {
    const Clip& clip = placed.clip;
    push_one(tables[kClipVertices], glm::uvec3(clip.organ, placed.tool, clip.count));
    push_one(tables[kClipShape], glm::vec3(placed.length, placed.along, placed.closed));
    for (const ClipStrut& strut : clip.struts) {
      push_one(tables[kClipVertices], glm::uvec2(strut.a, strut.b));
      push_one(tables[kClipShape], strut.at);
    }
  }
  push_times(tables[kClipFrame], clips.size(), frame);
}

void push_lost_clips(std::span<Bytes> tables, std::span<const std::uint32_t> lost, std::uint32_t frame) {
  push(tables[kLostClip], lost);
  push_times(tables[kLostClipFrame], lost.size(), frame);
}

void push_tubes(std::span<Bytes> tables, std::span<const RecordedTube> tubes, std::uint32_t frame) {
  for (const auto& [organ, state] : tubes) {
    push_one(tables[kTubeState], glm::uvec4(organ, state.divided, state.clips_at_start, state.clips_at_end));
    push_one(tables[kTubeAt], state.at);
  }
  push_times(tables[kTubeFrame], tubes.size(), frame);
}

void push_bleed_rows(std::span<Bytes> tables, std::span<const BleedSource> sources,
                     std::span<const RecordedBleedChange> changes, std::uint32_t frame) {
  for (const BleedSource& source : sources) {
    push_one(tables[kBleedSource], glm::uvec3(source.organ, source.vertex, static_cast<std::uint32_t>(source.kind)));
    push_one(tables[kBleedRate], glm::dvec2(source.rate, source.half_time));
  }
  push_times(tables[kBleedSourceFrame], sources.size(), frame);
  for (const auto& [source, vertex, state] : changes)
    push_one(tables[kBleedChange], glm::uvec3(source, vertex, static_cast<std::uint32_t>(state)));
  push_times(tables[kBleedChangeFrame], changes.size(), frame);
}

void push_first_sources(std::span<Bytes> tables, std::span<const BleedSource> sources) {
  std::vector<RecordedBleedChange> states;
  for (std::uint32_t k = 0; k < sources.size(); ++k) states.push_back({k, sources[k].vertex, sources[k].state});
  push_bleed_rows(tables, sources, states, 0);
}

void push_lost(std::span<Bytes> tables, std::span<const FluidLoss> lost, std::size_t organs,
               const FluidAmounts& fluids) {
  for (std::size_t k = 0; k < organs; ++k)
    push_one(tables[kBleedLost], k < lost.size() ? glm::dvec2(lost[k].blood, lost[k].bile) : glm::dvec2(0.0));
  for (const FilmVolume* volume : {&fluids.on, &fluids.dripped, &fluids.removed})
    push_one(tables[kBleedFluids], *volume);
  push_one(tables[kBleedFluids], fluids.rinsed);
}

void push_scope(Bytes& bytes, const ScopePose& scope) {
  push_one(bytes, scope.port);
  push_one(bytes, scope.eye);
  push_one(bytes, glm::dvec3(scope.spin_deg, scope.angle_deg, scope.field_of_view_deg));
}

void push_touches(std::span<Bytes> tables, const RecordedOrganFrame& organ, std::uint64_t& touches_so_far) {
  const TouchList& list = organ.touches;
  for (const std::uint32_t first : list.first) push_one(tables[kTouchFirst], touches_so_far + first);
  for (const Touch& touch : list.touches) {
    push_one(tables[kTouchFace], organ.face_ids.empty() ? touch.face : organ.face_ids[index(touch.face)]);
    push_one(tables[kTouchPoint], touch.point);
    push_one(tables[kTouchNormal], touch.normal);
    push_one(tables[kTouchDepth], touch.depth);
    push_one(tables[kTouchTime], touch.time);
  }
  push_or_zeros(tables[kTouchPressure], organ.pressure, list.touches.size());
  touches_so_far += list.touches.size();
}

void push_tips(std::span<Bytes> tables, const RecordedOrganFrame& organ, std::size_t tools,
               std::uint64_t& tips_so_far) {
  for (std::size_t tool = 0; tool <= tools; ++tool)
    push_one(tables[kTipFirst], tips_so_far + (organ.tip_first.empty() ? 0 : organ.tip_first[tool]));
  push(tables[kTipFace], organ.tip_ids);
  push_or_zeros(tables[kTouchPart], organ.part, organ.touches.touches.size());
  tips_so_far += organ.tip_ids.size();
}

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
                          file.deleted() ? "lost" : "kept, see trocar recover");
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

namespace {

// A press, a grasp and a burn touch some ten to a few hundred faces; most tools touch none most of the time.
constexpr double kTouchesOfAFrame = 60.0;

double row_bytes(const GrowingTable& table) {
  double bytes = static_cast<double>(bytes_of(table.cell));
  for (const std::uint64_t cells : table.row_shape) bytes *= static_cast<double>(cells);
  return bytes;
}

// What every frame adds to these tables, and what every touch does.
double frame_bytes(const std::vector<GrowingTable>& tables) {
  double bytes = 0.0;
  for (const GrowingTable& table : tables) {
    if (table.rows == RowOf::Frame) bytes += row_bytes(table);
    if (table.rows == RowOf::Touch) bytes += kTouchesOfAFrame * row_bytes(table);
  }
  return bytes;
}

}  // namespace

double recording_rate(const Scene& scene) {
  const std::size_t tools = scene.instruments.size();
  double bytes = frame_bytes(session_tables(tools, stage_names().size())) + frame_bytes(later_tables(tools)) +
                 frame_bytes(clash_tables(tools)) + frame_bytes(bleed_tables(scene.organs.size()));
  double touches = 0.0;  // of one organ at a time
  for (const OrganScene& organ : scene.organs) {
    TriangleMesh mesh = surface_of(organ);
    mesh.faces = welded_faces(mesh.positions, mesh.faces);
    const std::size_t nodes = make_lattice(mesh.view(), organ.tissue.node_spacing).node_at.size();
    auto tables = organ_tables(organ.name, nodes, tools);
    const auto later = organ_later_tables(organ.name, tools);
    tables.insert(tables.end(), later.begin(), later.end());
    const double all = frame_bytes(tables);
    std::erase_if(tables, [](const GrowingTable& table) { return table.rows == RowOf::Touch; });
    bytes += frame_bytes(tables);
    touches = std::max(touches, all - frame_bytes(tables));
  }
  return scene.frame_rate * (bytes + touches);
}

}  // namespace trocar
