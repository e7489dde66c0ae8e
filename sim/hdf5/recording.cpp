#include "sim/hdf5/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "geometry/error.hpp"
#include "sim/hdf5/complete_rows.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/support/limits.hpp"

namespace trocar {
namespace {

// Limits of numbers in a recording.
constexpr double kSlowestRate = 1.0, kFastestRate = 1e4;  // Hz
constexpr double kThickestTool = 1.0;                     // m
constexpr double kFarthestNumber = 1e6;                   // m, degrees, s

// Returns whether the whole text is a number within these limits; NaN is not.
bool is_between(const std::string& text, double low, double high) {
  double number = 0.0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && stop == text.data() + text.size() && number >= low && number <= high;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

}  // namespace

struct Recording::Content {
  H5File file;
  std::vector<std::string> tools = {}, stages = {}, devices = {}, backends = {};
  std::vector<OrganRecording> organs = {};
  std::vector<OpenColumns> organ_columns = {};  // [organ]
  OpenColumns tool_columns = {}, session = {}, fibre_columns = {}, clip_columns = {}, bleed_columns = {};
  std::vector<std::vector<std::byte>> values = {};  // [SessionColumn] rows of the complete frames
  std::vector<double> tool_radius = {}, before = {}, before_joints = {}, times = {}, wall_times = {};
  Ending ending = Ending::Unknown;
  std::size_t frames = 0;
  bool by_wall = false;  // scores use the wall time
  FibreHistory fibres = {};
  ClipHistory clips = {};
  BleedingHistory bleeding = {};
  RecordingForm form = RecordingForm::Full;
  std::vector<PackedNodesReader> packed = {};  // [organ], of a packed recording
  int model_version = 0;

  void open_all();
  void count_frames();
  void read_session();
  void read_surfaces();
  void refuse_damage() const;
  void refuse_numbers() const;

  // Returns a value of a column: the first ones of the table are those of frame 0.
  template <typename T>
  T value(SessionColumn column, std::size_t at) const {
    T out;
    std::memcpy(&out, &values[column][at * sizeof(T)], sizeof(T));
    return out;
  }
  // Returns the value of a tool in a frame.
  template <typename T>
  T of_tool(SessionColumn column, std::size_t frame, std::size_t tool) const {
    return value<T>(column, frame * tools.size() + tool);
  }
};

void Recording::Content::open_all() {
  tools = lines_of(file.text("tools"));
  stages = lines_of(file.text("stages"));
  devices = lines_of(file.text("devices"));
  backends = lines_of(file.text("backends"));
  const RowSizes sizes{tools.size(), stages.size(), 0, 0};
  const auto opened = [&](ColumnGroup group, const std::string& organ = "") {
    return OpenColumns(file, group, sizes, form, organ);
  };
  tool_columns = opened(ColumnGroup::Tools);
  session = opened(ColumnGroup::Session);
  fibre_columns = opened(ColumnGroup::Fibres);
  clip_columns = opened(ColumnGroup::Clips);
  bleed_columns = opened(ColumnGroup::Bleeding);
  for (const auto& name : file.groups_in(kOrganGroup)) {
    organ_columns.push_back(opened(ColumnGroup::Organ, name));
    organs.push_back({name, {}, organ_columns.back()[nodes_column(form)].row_cells() / 3});
  }
}

void Recording::Content::count_frames() {
  std::uint64_t complete = session[kTime].rows();
  for (const OpenColumns* group : {&session, &fibre_columns, &clip_columns, &bleed_columns})
    complete = group->complete_frames(complete);
  for (const OpenColumns& organ : organ_columns) complete = organ.complete_frames(complete);
  frames = complete;
}

void Recording::Content::read_session() {
  tool_radius = tool_columns[kToolRadius].read_all<double>();
  before = tool_columns[kToolBefore].read_all<double>();
  before_joints = tool_columns[kToolBeforeJoints].read_all<double>();
  for (const Ending how : tool_columns[kEnding].read_all<Ending>())
    if (how <= Ending::Stopped) ending = how;
  values.resize(kSessionColumns);
  for (std::size_t k = 0; k < kSessionColumns; ++k)
    if (session.has(k)) values[k] = session[k].read_rows<std::byte>(0, frames);
  times = session[kTime].read_rows<double>(0, frames);
  wall_times = session[kWallTime].read_rows<double>(0, frames);
  by_wall = file.text("clock") == "wall";
}

void Recording::Content::read_surfaces() {
  for (std::size_t k = 0; k < organs.size(); ++k) {
    organs[k].history = read_surface(organ_columns[k], frames);
    if (const std::string fault = fault_of(organs[k].history, organs[k].nodes); !fault.empty())
      throw InputError(
          fmt::format("{}: organ {}: {}; the file is damaged", file.path().string(), organs[k].name, fault));
  }
  std::vector<std::size_t> nodes;
  std::vector<const SurfaceHistory*> surfaces;
  for (const OrganRecording& organ : organs) nodes.push_back(organ.nodes), surfaces.push_back(&organ.history);
  if (!fibre_columns.empty()) fibres = read_fibres(fibre_columns, frames, nodes, file.path().string());
  if (!clip_columns.empty()) clips = read_clips(clip_columns, frames, surfaces, file.path().string());
  if (!bleed_columns.empty()) bleeding = read_bleeding(bleed_columns, frames, surfaces, file.path().string());
}

// Checks the data that are read later without another check.
void Recording::Content::refuse_damage() const {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}; the file is damaged", file.path().string(), what));
  };
  if (tool_radius.size() < tools.size()) refuse("a tool has no radius");
  for (const auto* list : {&times, by_wall ? &wall_times : &times}) {
    for (std::size_t frame = 0; frame < frames; ++frame)
      if (!std::isfinite((*list)[frame]) || (frame > 0 && (*list)[frame] < (*list)[frame - 1]))
        refuse(fmt::format("the time of frame {} is before that of the previous frame, or not finite", frame));
    if (list->back() - list->front() > kLongestSession) refuse("the recording lasts longer than a day");
  }
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const OpenColumns& columns = organ_columns[k];
    if (!starts_fit(columns[kTouchFirst], frames, columns.shortest(RowOf::Touch)) ||
        !starts_fit(columns[kTipFirst], frames, columns.shortest(RowOf::TipFace)))
      refuse(fmt::format("organ {}: its touches are not in ascending order", organs[k].name));
  }
}

// Checks the numbers of the header and of the poses: the frame rate of the scene, sizes and positions in metres.
void Recording::Content::refuse_numbers() const {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}; the file is damaged", file.path().string(), what));
  };
  const std::string rate = file.text("frame_rate");
  if (!rate.empty() && !is_between(rate, kSlowestRate, kFastestRate))
    refuse(fmt::format("its frame_rate is '{}', and must be a number from {:g} to {:g} Hz", printable(rate),
                       kSlowestRate, kFastestRate));
  for (std::size_t tool = 0; tool < tools.size(); ++tool)
    if (!(tool_radius[tool] > 0.0 && tool_radius[tool] <= kThickestTool))
      refuse(fmt::format("the radius of the instrument '{}' is {:g} m", printable(tools[tool]), tool_radius[tool]));
  const auto fits = [&](std::span<const std::byte> numbers, const char* of) {
    for (; !numbers.empty(); numbers = numbers.subspan(sizeof(double))) {
      double number = 0.0;
      std::memcpy(&number, numbers.data(), sizeof number);
      if (!(std::abs(number) <= kFarthestNumber)) refuse(fmt::format("{} contain the number {:g}", of, number));
    }
  };
  fits(std::as_bytes(std::span(before)), "the poses before the first frame");
  fits(std::as_bytes(std::span(before_joints)), "the rolls and grips before the first frame");
  fits(values[kPivot], "the positions of the trocars");
  fits(values[kTip], "the positions of the tips");
  fits(values[kRollGrip], "the rolls and grips");
  fits(values[kScope], "the poses of the scope");
  fits(values[kStepTime], "the durations of the frames");
}

Recording::Recording(const std::filesystem::path& path, const RecordingLock* lock, FormsRead forms)
    : content_(std::make_unique<Content>(Content{H5File::open(path, lock)})) {
  Content& c = *content_;
  require_format(c.file);
  c.form = form_of(c.file);
  if (c.form == RecordingForm::Compact && forms == FormsRead::WithNodes)
    throw InputError(
        fmt::format("{}: is a compact recording, without the positions of the tissue; compute them again "
                    "with trocar file unpack",
                    path.string()));
  c.model_version = model_version_of(c.file);
  c.open_all();
  c.count_frames();
  if (c.frames == 0) throw NoFrames(fmt::format("{}: contains no complete frame", path.string()));
  c.read_session();
  c.packed.resize(c.form == RecordingForm::Packed ? c.organs.size() : 0);
  c.refuse_damage();
  c.refuse_numbers();
  c.read_surfaces();
}

Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;

bool Recording::clean() const { return content_->file.clean(); }
bool Recording::live() const { return content_->file.live(); }
RecordingForm Recording::form() const { return content_->form; }
int Recording::model_version() const { return content_->model_version; }
std::size_t Recording::frame_count() const { return content_->frames; }
const std::vector<OrganRecording>& Recording::organs() const { return content_->organs; }
const std::vector<std::string>& Recording::tools() const { return content_->tools; }
const std::vector<double>& Recording::tool_radius() const { return content_->tool_radius; }
const std::vector<std::string>& Recording::stages() const { return content_->stages; }
std::string Recording::text(const std::string& attribute) const { return content_->file.text(attribute); }
std::optional<Activity> Recording::activity() const { return activity_named(text("activity")); }
const std::vector<std::string>& Recording::devices() const { return content_->devices; }
Ending Recording::ending() const { return content_->ending; }
ToolMode Recording::mode() const { return text("mode") == "static" ? ToolMode::Static : ToolMode::Swept; }
Cover Recording::cover() const { return text("cover") == "paper" ? Cover::Paper : Cover::Capsule; }
const std::vector<double>& Recording::times() const { return content_->times; }
ScoreClock Recording::clock() const { return content_->by_wall ? ScoreClock::Wall : ScoreClock::Tick; }
const std::vector<double>& Recording::score_times() const {
  return content_->by_wall ? content_->wall_times : content_->times;
}
const std::vector<double>& Recording::wall_times() const { return content_->wall_times; }

double Recording::lost_time(std::size_t first, std::size_t last) const {
  const double time = content_->value<double>(kLostTime, last) - content_->value<double>(kLostTime, first);
  return std::isfinite(time) ? std::max(time, 0.0) : 0.0;
}

ToolPose Recording::pose(std::size_t frame, std::size_t tool) const {
  return {content_->of_tool<glm::dvec3>(kPivot, frame, tool), content_->of_tool<glm::dvec3>(kTip, frame, tool),
          tool_radius()[tool]};
}

std::optional<ToolPose> Recording::pose_before(std::size_t frame, std::size_t tool) const {
  if (frame > 0) return pose(frame - 1, tool);
  const auto& before = content_->before;
  if (before.size() < (tool + 1) * 6) return {};
  const double* both = &before[tool * 6];
  return ToolPose{{both[0], both[1], both[2]}, {both[3], both[4], both[5]}, tool_radius()[tool]};
}

glm::dvec2 Recording::roll_grip(std::size_t frame, std::size_t tool) const {
  return content_->of_tool<glm::dvec2>(kRollGrip, frame, tool);
}

glm::dvec2 Recording::roll_grip_before(std::size_t frame, std::size_t tool) const {
  if (frame > 0) return roll_grip(frame - 1, tool);
  const auto& before = content_->before_joints;
  return before.size() < (tool + 1) * 2 ? roll_grip(0, tool) : glm::dvec2(before[2 * tool], before[2 * tool + 1]);
}

glm::vec3 Recording::force(std::size_t frame, std::size_t tool) const {
  return content_->of_tool<glm::vec3>(kForce, frame, tool);
}

Diathermy Recording::energy(std::size_t frame, std::size_t tool) const {
  const auto mode = content_->of_tool<std::uint8_t>(kEnergy, frame, tool);
  return mode == 0 ? Diathermy::Off : mode == 2 ? Diathermy::Coagulate : Diathermy::Cut;
}

std::uint32_t Recording::heats(std::size_t frame, std::size_t tool) const {
  return content_->of_tool<std::uint32_t>(kToolHeats, frame, tool);
}

std::optional<ClashRecording> Recording::clash(std::size_t frame, std::size_t first, std::size_t second) const {
  if (first == second) return {};
  const std::size_t pair = tool_pair(tools().size(), std::min(first, second), std::max(first, second));
  const std::size_t row = frame * tool_pairs(tools().size()) + pair;
  const auto distance = content_->value<float>(kClashDistance, row);
  if (!std::isfinite(distance)) return {};
  return ClashRecording{distance, content_->value<glm::vec3>(kClashPoint, row)};
}

float Recording::tip_depth(std::size_t frame, std::size_t tool) const {
  return content_->of_tool<float>(kTipDepth, frame, tool);
}

ToolState Recording::state(std::size_t frame, std::size_t tool) const {
  return std::min(content_->of_tool<ToolState>(kToolState, frame, tool), ToolState::Lost);
}

std::string Recording::backend(std::size_t frame) const {
  const Content& c = *content_;
  const std::size_t line = c.value<std::uint8_t>(kBackend, frame);
  return line < c.backends.size() ? c.backends[line] : text("backend");
}

TouchFault Recording::backend_fault(std::size_t frame) const {
  const std::size_t fault = content_->value<std::uint8_t>(kBackendFault, frame);
  return fault >= kTouchFaults ? TouchFault::None : static_cast<TouchFault>(fault);
}

ScopePose Recording::scope(std::size_t frame) const {
  const auto row = content_->value<std::array<double, 9>>(kScope, frame);
  return {{row[0], row[1], row[2]}, {row[3], row[4], row[5]}, row[6], row[7], row[8]};
}

RecordedHandle Recording::handle(std::size_t frame, std::size_t tool) const {
  return content_->of_tool<RecordedHandle>(kToolHandle, frame, tool);
}

double Recording::step_time(std::size_t frame) const { return content_->value<double>(kStepTime, frame); }

HiddenPoints Recording::hidden(std::size_t frame) const { return content_->value<HiddenPoints>(kHidden, frame); }

float Recording::stage_ms(std::size_t frame, std::size_t stage) const {
  return content_->value<float>(kStageMs, frame * stages().size() + stage);
}

std::uint32_t Recording::disagreements(std::size_t frame) const {
  return content_->value<std::uint32_t>(kDisagreements, frame);
}

std::array<std::uint32_t, 3> Recording::sample(std::size_t frame) const {
  return content_->value<std::array<std::uint32_t, 3>>(kReferenceSample, frame);
}

const FibreHistory& Recording::fibres() const { return content_->fibres; }
const ClipHistory& Recording::clips() const { return content_->clips; }
const BleedingHistory& Recording::bleeding() const { return content_->bleeding; }

namespace {

void read_touches(const OpenColumns& tables, std::uint64_t begin, std::uint64_t count, OrganFrame& out) {
  const auto faces = tables[kTouchFace].read_rows<FaceId>(begin, count);
  out.touches.assign(count, {});
  out.pressure.assign(count, 0.f);
  for (std::size_t k = 0; k < count; ++k) out.touches[k].face = faces[k];
  if (!tables.has(kTouchPoint)) return;  // compact
  const auto points = tables[kTouchPoint].read_rows<glm::vec3>(begin, count);
  const auto normals = tables[kTouchNormal].read_rows<glm::vec3>(begin, count);
  const auto depths = tables[kTouchDepth].read_rows<float>(begin, count);
  const auto times = tables[kTouchTime].read_rows<float>(begin, count);
  out.pressure = tables[kTouchPressure].read_rows<float>(begin, count);
  for (std::size_t k = 0; k < count; ++k) out.touches[k] = {faces[k], points[k], normals[k], depths[k], times[k]};
}

void read_tips(const OpenColumns& tables, std::size_t frame, OrganFrame& out) {
  const auto first = tables[kTipFirst].read_rows<std::uint64_t>(frame, 1);
  for (const std::uint64_t start : first) out.tip_first.push_back(static_cast<std::uint32_t>(start - first.front()));
  out.tip_ids.resize(first.back() - first.front());
  tables[kTipFace].read(first.front(), std::as_writable_bytes(std::span(out.tip_ids)));
}

}  // namespace

void Recording::read_frame(std::size_t frame, std::size_t organ, OrganFrame& out) const {
  Content& c = *content_;
  const OpenColumns& tables = c.organ_columns[organ];
  out.nodes.resize(c.form == RecordingForm::Compact ? 0 : c.organs[organ].nodes);
  if (c.form == RecordingForm::Full) tables[kNodes].read(frame, std::as_writable_bytes(std::span(out.nodes)));
  if (c.form == RecordingForm::Packed) c.packed[organ].read(tables[kPackedNodes], frame, out.nodes);
  const auto first = tables[kTouchFirst].read_rows<std::uint64_t>(frame, 1);
  out.first.clear();
  for (const std::uint64_t start : first) out.first.push_back(static_cast<std::uint32_t>(start - first.front()));
  out.tip_ids.clear();
  out.tip_first.clear();
  read_tips(tables, frame, out);
  const std::uint64_t begin = first.front(), count = first.back() - first.front();
  out.part.resize(count);
  tables[kTouchPart].read(begin, std::as_writable_bytes(std::span(out.part)));
  read_touches(tables, begin, count, out);
  out.dents.resize(tables.has(kDent) ? tables[kDent].row_bytes() / sizeof(SurfaceDent) : 0);
  if (!out.dents.empty()) tables[kDent].read(frame, std::as_writable_bytes(std::span(out.dents)));
}

}  // namespace trocar
