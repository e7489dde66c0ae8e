#include "sim/review/compact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "geometry/error.hpp"
#include "sim/hdf5/pack.hpp"
#include "sim/hdf5/partial_recording.hpp"
#include "sim/hdf5/recorded_rows.hpp"
#include "sim/hdf5/recording_copy.hpp"
#include "sim/record/frame_checksum.hpp"
#include "sim/review/rerun.hpp"

namespace trocar {
namespace {

constexpr double kKeyPeriod = 5.0;  // s  between frames whose nodes stay

template <typename T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

bool same_touch(const Touch& a, const Touch& b) {
  return a.face == b.face && std::memcmp(&a.point, &b.point, sizeof a.point) == 0 &&
         std::memcmp(&a.normal, &b.normal, sizeof a.normal) == 0 &&
         std::memcmp(&a.depth, &b.depth, sizeof a.depth) == 0 && std::memcmp(&a.time, &b.time, sizeof a.time) == 0;
}

// Returns what differs between an organ as it was recorded and as it was computed again; an empty text: no bit.
std::string difference(const OrganFrame& recorded, const RecordedOrganFrame& again) {
  const std::span<const Touch> touches = again.touches.touches;
  if (!same_bits<glm::vec3>(recorded.nodes, again.nodes)) return "the positions of the tissue";
  if (!std::ranges::equal(recorded.touches, touches, same_touch)) return "the touches";
  if (!same_bits<float>(recorded.pressure, again.pressure)) return "the pressures";
  return {};
}

void require_same(const Recording& recording, const Rerun& rerun, std::size_t frame, const std::string& file) {
  OrganFrame recorded;
  for (std::size_t k = 0; k < recording.organs().size(); ++k) {
    recording.read_frame(frame, k, recorded);
    if (const std::string what = difference(recorded, rerun.frame().organs[k]); !what.empty())
      throw InputError(
          fmt::format("{}: {} of frame {}, organ {}, differ when the session is computed again, so the "
                      "recording has no compact form; pack it without --compact",
                      file, what, frame, recording.organs()[k].name));
  }
}

[[noreturn]] void stop(const std::filesystem::path& out) {
  throw RunError(fmt::format("{}: not written, because the program was interrupted", out.string()));
}

H5Table make(H5File& to, const GrowingTable& kind, Storage storage) {
  return to.make_table(kind.path, kind.cell, kind.row_shape, rows_per_chunk(kind), storage);
}

// Tables of a compact recording that other forms do not have.
class KeyTables {
 public:
  KeyTables(H5File& to, const std::vector<OrganRecording>& organs)
      : key_frame_(make(to, {kKeyFramePath, Cell::U32, {}}, Storage::Deflated)),
        checksum_(make(to, {kChecksumPath, Cell::U64, {}}, Storage::Deflated)) {
    for (const OrganRecording& organ : organs)
      nodes_.push_back(
          make(to, organ_tables(organ.name, organ.nodes, 0, RecordingForm::Compact)[kNodes], Storage::Deflated));
  }

  void append(const RecordedFrame& frame, std::uint32_t number) {
    const std::uint64_t sum = checksum_of(frame);
    checksum_.append(std::as_bytes(std::span(&sum, 1)));
    if (number > 0 && frame.time < next_) return;
    next_ = frame.time + kKeyPeriod;
    key_frame_.append(std::as_bytes(std::span(&number, 1)));
    for (std::size_t k = 0; k < nodes_.size(); ++k) nodes_[k].append(std::as_bytes(frame.organs[k].nodes));
  }

 private:
  H5Table key_frame_, checksum_;
  std::vector<H5Table> nodes_;  // [organ]
  double next_ = 0.0;           // s  time of the next key frame
};

// Tables of a full recording that a compact one lacks.
class LackingTables {
 public:
  LackingTables(H5File& to, const std::vector<OrganRecording>& organs) {
    for (const OrganRecording& organ : organs) {
      const auto kinds = organ_tables(organ.name, organ.nodes, 0);
      auto& tables = tables_.emplace_back();
      tables.push_back(make(to, kinds[kNodes], Storage::Plain));
      for (std::size_t k = kTouchPoint; k < kOrganTables; ++k) tables.push_back(make(to, kinds[k], Storage::Plain));
    }
  }

  void append(const RecordedFrame& frame) {
    std::vector<Bytes> rows(kOrganTables);
    for (std::size_t organ = 0; organ < tables_.size(); ++organ) {
      for (Bytes& bytes : rows) bytes.clear();
      push(rows[kNodes], frame.organs[organ].nodes);
      std::uint64_t ignored = 0;
      push_touches(rows, frame.organs[organ], ignored);
      tables_[organ].front().append(rows[kNodes]);
      for (std::size_t k = kTouchPoint; k < kOrganTables; ++k) tables_[organ][k - kTouchPoint + 1].append(rows[k]);
    }
  }

 private:
  std::vector<std::vector<H5Table>> tables_;  // [organ] nodes, then the tables from kTouchPoint on
};

// Throws InputError unless a frame that was computed again is the recorded one.
void require_recorded(const Recording& recording, const RecordedFrame& again, std::uint64_t checksum, std::size_t frame,
                      const std::string& file) {
  OrganFrame recorded;
  bool same = checksum == checksum_of(again);
  for (std::size_t k = 0; k < recording.organs().size() && same; ++k) {
    recording.read_frame(frame, k, recorded);
    same = std::ranges::equal(recorded.touches, again.organs[k].touches.touches, {}, &Touch::face, &Touch::face);
  }
  if (!same)
    throw InputError(
        fmt::format("{}: frame {} cannot be computed again as it was recorded; the file is damaged", file, frame));
}

}  // namespace

void compact_recording(const std::filesystem::path& in, const std::filesystem::path& out, const FramesDone& done) {
  const Recording recording(in);
  require_finished(recording, in, recording.form());
  write_whole_recording(out, [&](H5File& to) {
    copy_recording(recording, H5File::open(in), to, RecordingForm::Compact);
    Rerun rerun(recording, in.string());
    KeyTables tables(to, recording.organs());
    for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
      rerun.step();
      require_same(recording, rerun, frame, in.string());
      tables.append(rerun.frame(), static_cast<std::uint32_t>(frame));
      if (!done(frame + 1)) stop(out);
    }
  });
}

void expand_recording(const std::filesystem::path& compact, const std::filesystem::path& out, const FramesDone& done) {
  const Recording recording(compact, nullptr, FormsRead::All);
  require_finished(recording, compact, RecordingForm::Compact);
  const H5File from = H5File::open(compact);
  const auto checksums = from.table(kChecksumPath, Cell::U64).read_all<std::uint64_t>();
  if (checksums.size() < recording.frame_count())
    throw InputError(fmt::format("{}: a frame has no checksum; the file is damaged", compact.string()));
  write_whole_recording(out, [&](H5File& to) {
    copy_recording(recording, from, to, RecordingForm::Full);
    Rerun rerun(recording, compact.string());
    LackingTables tables(to, recording.organs());
    for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
      rerun.step();
      require_recorded(recording, rerun.frame(), checksums[frame], frame, compact.string());
      tables.append(rerun.frame());
      if (!done(frame + 1)) stop(out);
    }
  });
}

}  // namespace trocar
