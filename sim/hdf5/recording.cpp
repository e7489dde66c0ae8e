#include "sim/hdf5/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/complete_rows.hpp"
#include "sim/hdf5/packed_nodes.hpp"
#include "sim/hdf5/surface_reader.hpp"
#include "sim/support/limits.hpp"

namespace trocar {
namespace {

// Limits of numbers in a recording: wider than those of scenes, so that recordings of older versions fit.
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
  std::vector<OrganRecording> organs = {};
  std::vector<OrganTables> organ_tables = {};               // [organ]
  std::vector<std::vector<H5Table>> organ_later = {};       // [organ], empty for older recordings
  std::vector<H5Table> session = {};                        // [SessionTable]
  std::vector<H5Table> clashes = {};                        // [ClashTable], or empty
  std::vector<H5Table> fibre_tables = {};                   // [FibreTable], or empty
  std::vector<H5Table> clip_tables = {};                    // [ClipTable], or empty
  std::vector<H5Table> bleed_tables = {};                   // [BleedTable], or empty
  std::vector<std::optional<H5Table>> later{kLaterTables};  // [LaterTable]
  std::vector<std::string> tools = {}, stages = {}, devices = {};
  Ending ending = Ending::Unknown;
  std::vector<double> tool_radius = {}, before = {}, before_joints = {}, times = {}, pivots = {}, tip_positions = {},
                      roll_grips = {};
  std::vector<float> forces = {}, stage_ms = {}, clash_distance = {}, tip_depth = {};
  std::vector<glm::vec3> clash_point = {};
  std::vector<std::uint8_t> energy = {}, tool_states = {}, backend = {}, backend_faults = {};
  std::vector<std::string> backends = {};
  std::vector<double> scopes = {}, wall_times = {}, lost_times = {};
  std::vector<std::uint32_t> disagreements = {}, sample = {}, heats = {};
  std::size_t frames = 0;
  bool has_heats = false;
  bool by_wall = false;  // scores use the wall time
  FibreHistory fibres = {};
  ClipHistory clips = {};
  BleedingHistory bleeding = {};
  FormatVersion format = {};
  RecordingForm form = RecordingForm::Full;
  std::vector<PackedNodesReader> packed = {};  // [organ], of a packed recording
  std::vector<glm::dvec3> handles = {};
  std::vector<double> steps = {};
  std::vector<HiddenPoints> hidden = {};
  int model_version = 0;

  void open_all();
  void read_session();
  void read_ending();
  void read_surfaces();
  void refuse_damage() const;
  void refuse_numbers() const;
};

void Recording::Content::open_all() {
  tools = lines_of(file.text("tools"));
  stages = lines_of(file.text("stages"));
  devices = lines_of(file.text("devices"));
  session = open_tables(file, session_tables(tools.size(), stages.size()));
  const auto of_clashes = clash_tables(tools.size());
  if (!of_clashes.empty() && file.has_table(of_clashes.front().path)) clashes = open_tables(file, of_clashes);
  auto of_fibres = trocar::fibre_tables();
  if (!file.has_table(of_fibres[kFibreGroup].path)) of_fibres.resize(kFibreGroup);
  if (file.has_table(of_fibres.front().path)) fibre_tables = open_tables(file, of_fibres);
  const auto of_clips = trocar::clip_tables();
  if (file.has_table(of_clips.front().path)) clip_tables = open_tables(file, of_clips);
  const auto of_bleeding = trocar::bleed_tables(0);
  if (file.has_table(of_bleeding.front().path)) bleed_tables = open_tables(file, of_bleeding);
  const auto kinds = later_tables(tools.size());
  for (std::size_t k = 0; k < kinds.size(); ++k)
    if (file.has_table(kinds[k].path)) later[k].emplace(std::move(open_tables(file, {kinds[k]}).front()));
  for (const auto& name : file.groups_in(kOrganGroup)) {
    organ_tables.push_back(open_tables(file, trocar::organ_tables(name, 0, tools.size(), form)));
    organs.push_back({name, {}, organ_tables.back()[kNodes].row_cells() / 3});
    auto of_tips = trocar::organ_later_tables(name, tools.size());
    if (!file.has_table(of_tips[kTouchPart].path)) of_tips.resize(kTouchPart);
    if (file.has_table(of_tips.front().path)) organ_later.push_back(open_tables(file, of_tips));
  }
  if (!organ_later.empty() && organ_later.size() != organs.size())
    throw InputError(
        fmt::format("{}: only some of its organs have tables of tip touches; the file is not a Trocar recording",
                    file.path().string()));
}

void Recording::Content::read_ending() {
  if (!file.has_table(kEndingPath)) return;
  const auto rows = file.table(kEndingPath, Cell::U8).read_all<std::uint8_t>();
  if (!rows.empty() && rows.front() <= static_cast<std::uint8_t>(Ending::Stopped))
    ending = static_cast<Ending>(rows.front());
}

void Recording::Content::read_session() {
  tool_radius = file.table(kToolRadiusPath, Cell::F64).read_all<double>();
  before = file.table(kToolBeforePath, Cell::F64).read_all<double>();
  if (file.has_table(kToolBeforeJointsPath))
    before_joints = file.table(kToolBeforeJointsPath, Cell::F64).read_all<double>();
  read_ending();
  times = session[kTime].read_rows<double>(0, frames);
  pivots = session[kPivot].read_rows<double>(0, frames);
  tip_positions = session[kTip].read_rows<double>(0, frames);
  roll_grips = session[kRollGrip].read_rows<double>(0, frames);
  forces = session[kForce].read_rows<float>(0, frames);
  energy = session[kEnergy].read_rows<std::uint8_t>(0, frames);
  stage_ms = session[kStageMs].read_rows<float>(0, frames);
  disagreements = session[kDisagreements].read_rows<std::uint32_t>(0, frames);
  if (later[kTipDepth]) tip_depth = later[kTipDepth]->read_rows<float>(0, frames);
  if (later[kScope]) scopes = later[kScope]->read_rows<double>(0, frames);
  if (later[kReferenceSample]) sample = later[kReferenceSample]->read_rows<std::uint32_t>(0, frames);
  if (later[kToolState]) tool_states = later[kToolState]->read_rows<std::uint8_t>(0, frames);
  backends = lines_of(file.text("backends"));
  if (later[kBackend]) backend = later[kBackend]->read_rows<std::uint8_t>(0, frames);
  if (later[kBackendFault]) backend_faults = later[kBackendFault]->read_rows<std::uint8_t>(0, frames);
  if (later[kWallTime]) wall_times = later[kWallTime]->read_rows<double>(0, frames);
  if (later[kLostTime]) lost_times = later[kLostTime]->read_rows<double>(0, frames);
  has_heats = later[kToolHeats].has_value();
  if (has_heats) heats = later[kToolHeats]->read_rows<std::uint32_t>(0, frames);
  if (later[kToolHandle]) handles = later[kToolHandle]->read_rows<glm::dvec3>(0, frames);
  hidden = later[kHidden] ? later[kHidden]->read_rows<HiddenPoints>(0, frames) : std::vector<HiddenPoints>(frames);
  if (later[kStepTime]) steps = later[kStepTime]->read_rows<double>(0, frames);
  by_wall = file.text("clock") == "wall" && !wall_times.empty();
  if (clashes.empty()) return;
  clash_distance = clashes[kClashDistance].read_rows<float>(0, frames);
  clash_point = clashes[kClashPoint].read_rows<glm::vec3>(0, frames);
}

void Recording::Content::read_surfaces() {
  for (std::size_t k = 0; k < organs.size(); ++k) {
    organs[k].history = read_surface(organ_tables[k], rows_of(organ_tables[k], frames));
    if (const std::string fault = fault_of(organs[k].history, organs[k].nodes); !fault.empty())
      throw InputError(
          fmt::format("{}: organ {}: {}; the file is damaged", file.path().string(), organs[k].name, fault));
  }
  std::vector<std::size_t> nodes;
  std::vector<const SurfaceHistory*> surfaces;
  for (const OrganRecording& organ : organs) nodes.push_back(organ.nodes), surfaces.push_back(&organ.history);
  if (!fibre_tables.empty()) fibres = read_fibres(fibre_tables, frames, nodes, file.path().string());
  if (!clip_tables.empty()) clips = read_clips(clip_tables, frames, surfaces, file.path().string());
  if (!bleed_tables.empty()) bleeding = read_bleeding(bleed_tables, frames, surfaces, file.path().string());
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
    const OrganTables& tables = organ_tables[k];
    bool fits = starts_fit(tables[kTouchFirst], frames, touch_rows(tables));
    if (!organ_later.empty())
      fits = fits && starts_fit(organ_later[k][kTipFirst], frames, organ_later[k][kTipFace].rows());
    if (!fits) refuse(fmt::format("organ {}: its touches are not in ascending order", organs[k].name));
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
  const auto fits = [&](const std::vector<double>& list, const char* of) {
    const auto wrong = std::ranges::find_if_not(list, [](double x) { return std::abs(x) <= kFarthestNumber; });
    if (wrong != list.end()) refuse(fmt::format("{} contain the number {:g}", of, *wrong));
  };
  fits(before, "the poses before the first frame");
  fits(before_joints, "the rolls and grips before the first frame");
  fits(pivots, "the positions of the trocars");
  fits(tip_positions, "the positions of the tips");
  fits(roll_grips, "the rolls and grips");
  fits(scopes, "the poses of the scope");
  fits(steps, "the durations of the frames");
}

Recording::Recording(const std::filesystem::path& path, const RecordingLock* lock, FormsRead forms)
    : content_(std::make_unique<Content>(Content{H5File::open(path, lock)})) {
  Content& c = *content_;
  c.format = require_format(c.file);
  c.form = form_of(c.file, c.format);
  if (c.form == RecordingForm::Compact && forms == FormsRead::WithNodes)
    throw InputError(
        fmt::format("{}: is a compact recording, without the positions of the tissue; compute them again "
                    "with trocar file unpack",
                    path.string()));
  c.model_version = whole_number(c.file, kModelVersionAttribute, 1);
  c.open_all();
  c.frames = complete_frames(c.session, c.organ_tables, c.form);
  for (const auto& table : c.later)
    if (table) c.frames = std::min<std::size_t>(c.frames, table->rows());
  for (const H5Table& table : c.clashes) c.frames = std::min<std::size_t>(c.frames, table.rows());
  if (!c.fibre_tables.empty()) c.frames = frames_with_broken(c.fibre_tables, c.frames);
  if (!c.clip_tables.empty()) c.frames = frames_with_clips(c.clip_tables, c.frames);
  if (!c.bleed_tables.empty()) c.frames = frames_with_bleeding(c.bleed_tables, c.frames);
  for (std::size_t organ = 0; organ < c.organ_later.size(); ++organ) {
    c.frames = frames_with_tips(c.organ_later[organ], c.frames);
    c.frames = frames_with_parts(c.organ_tables[organ], c.organ_later[organ], c.frames);
  }
  if (c.frames == 0) throw NoFrames(fmt::format("{}: contains no complete frame", path.string()));
  c.read_session();
  c.packed.resize(c.form == RecordingForm::Packed ? c.organs.size() : 0);
  c.refuse_damage();
  c.refuse_numbers();
  c.read_surfaces();
}

Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;

bool Recording::has_tips() const { return !content_->organ_later.empty(); }
bool Recording::clean() const { return content_->file.clean(); }
bool Recording::live() const { return content_->file.live(); }
FormatVersion Recording::format() const { return content_->format; }
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
  const auto& lost = content_->lost_times;
  const double time = lost.empty() ? 0.0 : lost[last] - lost[first];
  return std::isfinite(time) ? std::max(time, 0.0) : 0.0;
}

ToolPose Recording::pose(std::size_t frame, std::size_t tool) const {
  const double* pivot = &content_->pivots[(frame * tools().size() + tool) * 3];
  const double* tip = &content_->tip_positions[(frame * tools().size() + tool) * 3];
  return {{pivot[0], pivot[1], pivot[2]}, {tip[0], tip[1], tip[2]}, tool_radius()[tool]};
}

std::optional<ToolPose> Recording::pose_before(std::size_t frame, std::size_t tool) const {
  if (frame > 0) return pose(frame - 1, tool);
  const auto& before = content_->before;
  if (before.size() < (tool + 1) * 6) return {};
  const double* both = &before[tool * 6];
  return ToolPose{{both[0], both[1], both[2]}, {both[3], both[4], both[5]}, tool_radius()[tool]};
}

glm::dvec2 Recording::roll_grip(std::size_t frame, std::size_t tool) const {
  const double* both = &content_->roll_grips[(frame * tools().size() + tool) * 2];
  return {both[0], both[1]};
}

glm::dvec2 Recording::roll_grip_before(std::size_t frame, std::size_t tool) const {
  if (frame > 0) return roll_grip(frame - 1, tool);
  const auto& before = content_->before_joints;
  return before.size() < (tool + 1) * 2 ? roll_grip(0, tool) : glm::dvec2(before[2 * tool], before[2 * tool + 1]);
}

glm::vec3 Recording::force(std::size_t frame, std::size_t tool) const {
  const float* newtons = &content_->forces[(frame * tools().size() + tool) * 3];
  return {newtons[0], newtons[1], newtons[2]};
}

Diathermy Recording::energy(std::size_t frame, std::size_t tool) const {
  const std::uint8_t mode = content_->energy[frame * tools().size() + tool];
  return mode == 0 ? Diathermy::Off : mode == 2 ? Diathermy::Coagulate : Diathermy::Cut;
}

bool Recording::has_heats() const { return content_->has_heats; }

std::optional<std::uint32_t> Recording::heats(std::size_t frame, std::size_t tool) const {
  if (!has_heats()) return {};
  return content_->heats[frame * tools().size() + tool];
}

std::optional<ClashRecording> Recording::clash(std::size_t frame, std::size_t first, std::size_t second) const {
  if (content_->clash_distance.empty() || first == second) return {};
  const std::size_t pair = tool_pair(tools().size(), std::min(first, second), std::max(first, second));
  const std::size_t row = frame * tool_pairs(tools().size()) + pair;
  const float distance = content_->clash_distance[row];
  if (!std::isfinite(distance)) return {};
  return ClashRecording{distance, content_->clash_point[row]};
}

float Recording::tip_depth(std::size_t frame, std::size_t tool) const {
  return content_->tip_depth.empty() ? 0.f : content_->tip_depth[frame * tools().size() + tool];
}

ToolState Recording::state(std::size_t frame, std::size_t tool) const {
  if (content_->tool_states.empty()) return ToolState::Good;
  const std::uint8_t state = content_->tool_states[frame * tools().size() + tool];
  return static_cast<ToolState>(std::min(state, static_cast<std::uint8_t>(ToolState::Lost)));
}

std::string Recording::backend(std::size_t frame) const {
  const Content& c = *content_;
  const bool known = !c.backend.empty() && c.backend[frame] < c.backends.size();
  return known ? c.backends[c.backend[frame]] : text("backend");
}

TouchFault Recording::backend_fault(std::size_t frame) const {
  const auto& faults = content_->backend_faults;
  return faults.empty() || faults[frame] >= kTouchFaults ? TouchFault::None : static_cast<TouchFault>(faults[frame]);
}

std::optional<ScopePose> Recording::scope(std::size_t frame) const {
  if (content_->scopes.empty()) return {};
  const double* row = &content_->scopes[frame * 9];
  return ScopePose{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}, row[6], row[7], row[8]};
}

bool Recording::has_inputs() const { return !content_->handles.empty() && !content_->steps.empty(); }

RecordedHandle Recording::handle(std::size_t frame, std::size_t tool) const {
  const glm::dvec3& row = content_->handles[frame * tools().size() + tool];
  return {row.x, row.y, row.z};
}

double Recording::step_time(std::size_t frame) const { return content_->steps[frame]; }
HiddenPoints Recording::hidden(std::size_t frame) const { return content_->hidden[frame]; }

float Recording::stage_ms(std::size_t frame, std::size_t stage) const {
  return content_->stage_ms[frame * stages().size() + stage];
}

std::uint32_t Recording::disagreements(std::size_t frame) const { return content_->disagreements[frame]; }

std::optional<std::array<std::uint32_t, 3>> Recording::sample(std::size_t frame) const {
  if (content_->sample.empty()) return {};
  const std::uint32_t* row = &content_->sample[3 * frame];
  return std::array{row[0], row[1], row[2]};
}

const FibreHistory& Recording::fibres() const { return content_->fibres; }
const ClipHistory& Recording::clips() const { return content_->clips; }
const BleedingHistory& Recording::bleeding() const { return content_->bleeding; }

namespace {

void read_touches(const OrganTables& tables, std::uint64_t begin, std::uint64_t count, OrganFrame& out) {
  const auto faces = tables[kTouchFace].read_rows<FaceId>(begin, count);
  out.touches.assign(count, {});
  out.pressure.assign(count, 0.f);
  for (std::size_t k = 0; k < count; ++k) out.touches[k].face = faces[k];
  if (tables.size() < kOrganTables) return;  // compact
  const auto points = tables[kTouchPoint].read_rows<glm::vec3>(begin, count);
  const auto normals = tables[kTouchNormal].read_rows<glm::vec3>(begin, count);
  const auto depths = tables[kTouchDepth].read_rows<float>(begin, count);
  const auto times = tables[kTouchTime].read_rows<float>(begin, count);
  out.pressure = tables[kTouchPressure].read_rows<float>(begin, count);
  for (std::size_t k = 0; k < count; ++k) out.touches[k] = {faces[k], points[k], normals[k], depths[k], times[k]};
}

void read_tips(const std::vector<H5Table>& tables, std::size_t frame, OrganFrame& out) {
  const auto first = tables[kTipFirst].read_rows<std::uint64_t>(frame, 1);
  for (const std::uint64_t start : first) out.tip_first.push_back(static_cast<std::uint32_t>(start - first.front()));
  out.tip_ids.resize(first.back() - first.front());
  tables[kTipFace].read(first.front(), std::as_writable_bytes(std::span(out.tip_ids)));
}

}  // namespace

void Recording::read_frame(std::size_t frame, std::size_t organ, OrganFrame& out) const {
  Content& c = *content_;
  const auto& tables = c.organ_tables[organ];
  out.nodes.resize(c.form == RecordingForm::Compact ? 0 : c.organs[organ].nodes);
  if (c.form == RecordingForm::Full) tables[kNodes].read(frame, std::as_writable_bytes(std::span(out.nodes)));
  if (c.form == RecordingForm::Packed) c.packed[organ].read(tables[kNodes], frame, out.nodes);
  const auto first = tables[kTouchFirst].read_rows<std::uint64_t>(frame, 1);
  out.first.clear();
  for (const std::uint64_t start : first) out.first.push_back(static_cast<std::uint32_t>(start - first.front()));
  out.tip_ids.clear();
  out.tip_first.clear();
  if (has_tips()) read_tips(c.organ_later[organ], frame, out);
  const std::uint64_t begin = first.front(), count = first.back() - first.front();
  out.part.assign(count, 0);
  if (has_tips() && c.organ_later[organ].size() > kTouchPart)
    c.organ_later[organ][kTouchPart].read(begin, std::as_writable_bytes(std::span(out.part)));
  read_touches(tables, begin, count, out);
}

}  // namespace trocar
