#include "sim/hdf5/recording_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr std::array kForms{RecordingForm::Full, RecordingForm::Packed, RecordingForm::Compact};
// The last version that reads formats 2 and 3.
constexpr const char* kReadsFormats2And3 = "48bdcf6";

std::optional<int> whole(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size() || number < 0) return {};
  return number;
}

// How rows are appended.

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

void push_times(Bytes& bytes, std::size_t times, std::uint32_t value) {
  for (std::size_t k = 0; k < times; ++k) push_one(bytes, value);
}

// Calls `push_end` for both ends of each fibre of the header.
template <typename Push>
void each_end(const RowSource& from, const Push& push_end) {
  for (const RecordedFibre& fibre : from.header->fibres) push_end(fibre.a), push_end(fibre.b);
}

// Calls `push_pair` for each pair of tools, with null where they are not near each other.
template <typename Push>
void each_pair(const RecordedFrame& frame, const Push& push_pair) {
  for (std::uint32_t first = 0; first < frame.poses.size(); ++first)
    for (std::uint32_t second = first + 1; second < frame.poses.size(); ++second) {
      const RecordedClash* near = nullptr;
      for (const RecordedClash& clash : frame.clashes)
        if (clash.first == first && clash.second == second) near = &clash;
      push_pair(near);
    }
}

std::size_t tools_of(const RowSource& from) { return from.frame->poses.size(); }

const RecordedChange& change_of(const RowSource& from) {
  static const RecordedChange none;
  return from.organ->change ? *from.organ->change : none;
}

using enum RecordingForm;
using From = const RowSource&;

// How columns are filled from a member of a frame, of an organ in it, or of a change of its surface.

template <auto kMember>
void one(Bytes& to, From from) {
  push_one(to, from.frame->*kMember);
}
template <auto kMember>
void all(Bytes& to, From from) {
  push(to, from.frame->*kMember);
}
template <auto kMember>
void per_tool(Bytes& to, From from) {
  push_or_zeros(to, from.frame->*kMember, tools_of(from));
}
template <auto kMember>
void effects(Bytes& to, From from) {
  push_times(to, (from.frame->*kMember).size(), from.effect);
}
template <auto kMember>
void of_organ(Bytes& to, From from) {
  push(to, from.organ->*kMember);
}
template <auto kMember>
void touched(Bytes& to, From from) {
  for (const Touch& touch : from.organ->touches.touches) push_one(to, touch.*kMember);
}
template <auto kMember>
void changed(Bytes& to, From from) {
  push(to, change_of(from).*kMember);
}
template <auto kMember>
void change_effects(Bytes& to, From from) {
  push_times(to, (change_of(from).*kMember).size(), from.effect);
}
template <auto kMember>
void nodes(Bytes& to, From from) {
  for (const Embedding& one : change_of(from).*kMember) push_one(to, one.node);
}
template <auto kMember>
void weights(Bytes& to, From from) {
  for (const Embedding& one : change_of(from).*kMember) push_one(to, one.weight);
}

// The table. Each row: name, type, shape of a row, what a row describes, unit, meaning, how it is filled.

// clang-format off
const std::vector<Column> kToolRows = {
    {"tool_radius", Cell::F64, {}, RowOf::Tool, "m", "of the shaft",
     [](Bytes& to, From from) { push<double>(to, from.header->tool_radius); }},
    {"tool_before", Cell::F64, {2, 3}, RowOf::Tool, "m",
     "pivot and tip in the frame before the first; no rows when the session began with the recording",
     [](Bytes& to, From from) {
       for (const ToolPose& pose : from.header->before) push_one(to, pose.pivot), push_one(to, pose.tip);
     }},
    {"tool_before_joints", Cell::F64, {2}, RowOf::Tool, "degrees, 1", "roll and grip in that frame",
     [](Bytes& to, From from) { push<glm::dvec2>(to, from.header->before_joints); }},
    {"ending", Cell::U8, {}, RowOf::Run, "",
     "how it ended: 1 the task was completed, 2 its time was over or a critical error ended it, 3 stopped before the "
     "end of the task, or no task. No row: the program was killed", nullptr},
};

const std::vector<Column> kSessionRows = {
    {"clash_distance", Cell::F32, {kPerToolPair}, RowOf::Frame, "m",
     "between the surfaces of two tools, below 0 where they collide, infinite where their boxes do not overlap. Pairs "
     "(0, 1), (0, 2) ... (1, 2) ...; absent with a single tool",
     [](Bytes& to, From from) {
       each_pair(*from.frame, [&](const RecordedClash* near) {
         push_one(to, near ? near->distance : std::numeric_limits<float>::infinity());
       });
     }},
    {"clash_point", Cell::F32, {kPerToolPair, 3}, RowOf::Frame, "m", "halfway between these surfaces",
     [](Bytes& to, From from) {
       each_pair(*from.frame, [&](const RecordedClash* near) { push_one(to, near ? near->point : glm::vec3(0.f)); });
     }},
    {"tip_depth", Cell::F32, {kPerTool}, RowOf::Frame, "m",
     "depth of the tip inside an organ after the tissue has moved; 0 outside",
     per_tool<&RecordedFrame::tip_depth>},
    {"scope", Cell::F64, {9}, RowOf::Frame, "m, degrees",
     "the scope: port and tip [3] [3] m, spin, angle, field of view in degrees",
     [](Bytes& to, From from) {
       const ScopePose& scope = from.frame->scope;
       push_one(to, scope.port), push_one(to, scope.eye);
       push_one(to, glm::dvec3(scope.spin_deg, scope.angle_deg, scope.field_of_view_deg));
     }},
    {"tool_state", Cell::U8, {kPerTool}, RowOf::Frame, "",
     "0: it followed its device. It did not move because its device gave 1: no usable pose, 2: no new data, 3: was "
     "lost", per_tool<&RecordedFrame::states>},
    {"backend", Cell::U8, {}, RowOf::Frame, "",
     "the backend that answered, as a line number from 0 in the attribute `backends`; the attribute `backend` "
     "names the first", one<&RecordedFrame::backend>},
    {"backend_fault", Cell::U8, {}, RowOf::Frame, "",
     "why another backend stopped answering in this frame: 0 no fault, 1 lost context, 2 no answer in time, 3 out of "
     "memory, 4 the driver refused a command, 5 a wrong answer, 6 too large for it",
     one<&RecordedFrame::fault>},
    {"reference_sample", Cell::U32, {3}, RowOf::Frame, "faces",
     "faces compared with the double-precision reference, number of all answers (faces times volumes of the tools), "
     "number of disagreements", one<&RecordedFrame::sample>},
    {"wall_time", Cell::F64, {}, RowOf::Frame, "s", "real time for the user, without pauses",
     one<&RecordedFrame::wall>},
    {"lost_time", Cell::F64, {}, RowOf::Frame, "s", "ticks that the machine was too slow for, since the start",
     one<&RecordedFrame::lost>},
    {"tool_heats", Cell::U32, {kPerTool}, RowOf::Frame, "", "bit k: its hot metal acts on organ k",
     per_tool<&RecordedFrame::heats>},
    {"tool_handle", Cell::F64, {kPerTool, 3}, RowOf::Frame, "1",
     "what the hand does: aperture of the handle, 0 closed to 1 open (tissue can keep the jaws wider open: "
     "`tool_roll_grip`); force of the hand relative to a firm grip, 0 to 1; 0 off, 1 suction, 2 irrigation",
     per_tool<&RecordedFrame::handles>},
    {"step_time", Cell::F64, {}, RowOf::Frame, "s", "of the simulation that the frame took",
     one<&RecordedFrame::step>},
    {"hidden", Cell::U32, {2}, RowOf::Frame, "",
     "points that organs hide from the scope at the touch query: bit k of the first number, the tip of tool k; of the "
     "second, mark k of a task of kind `navigate-camera`. Points after the 32nd are not hidden",
     [](Bytes& to, From from) { push_one(to, std::array{from.frame->hidden.tips, from.frame->hidden.marks}); }},
    {"tool_pivot", Cell::F64, {kPerTool, 3}, RowOf::Frame, "m", "the trocar",
     [](Bytes& to, From from) {
       for (const ToolPose& pose : from.frame->poses) push_one(to, pose.pivot);
     }},
    {"tool_tip", Cell::F64, {kPerTool, 3}, RowOf::Frame, "m", "the end of the tool",
     [](Bytes& to, From from) {
       for (const ToolPose& pose : from.frame->poses) push_one(to, pose.tip);
     }},
    {"tool_roll_grip", Cell::F64, {kPerTool, 2}, RowOf::Frame, "degrees, 1", "roll; 0 closed to 1 open",
     all<&RecordedFrame::roll_grip>},
    {"tool_force", Cell::F32, {kPerTool, 3}, RowOf::Frame, "N", "force of the tissue on the tool",
     all<&RecordedFrame::forces>},
    {"tool_energy", Cell::U8, {kPerTool}, RowOf::Frame, "", "0: diathermy is off, 1: cut, 2: coagulate",
     per_tool<&RecordedFrame::energy>},
    {"stage_ms", Cell::F32, {kPerStage}, RowOf::Frame, "ms",
     "names in the attribute `stages`; `record` is the time of the previous frame", all<&RecordedFrame::stage_ms>},
    {"disagreements", Cell::U32, {}, RowOf::Frame, "faces",
     "when the session was checked; includes those of `reference_sample`", one<&RecordedFrame::disagreements>},
    {"time", Cell::F64, {}, RowOf::Frame, "s",
     "of the simulation, in ticks; written last: a frame with a time is complete", one<&RecordedFrame::time>},
};

const std::vector<Column> kFibreRows = {
    {"organ", Cell::U32, {2}, RowOf::Fibre, "",
     "numbers of the organs at its two ends, in the order of the groups; 2^32 - 1: the abdominal wall",
     [](Bytes& to, From from) { each_end(from, [&](const RecordedFibreEnd& end) { push_one(to, end.organ); }); }},
    {"node", Cell::U32, {2, 8}, RowOf::Fibre, "", "lattice nodes of each end; 0 on the wall",
     [](Bytes& to, From from) {
       each_end(from, [&](const RecordedFibreEnd& end) { push_one(to, end.embedding.node); });
     }},
    {"weight", Cell::F32, {2, 8}, RowOf::Fibre, "1", "their weights",
     [](Bytes& to, From from) {
       each_end(from, [&](const RecordedFibreEnd& end) { push_one(to, end.embedding.weight); });
     }},
    {"point", Cell::F32, {2, 3}, RowOf::Fibre, "m", "each end at rest; where it stays on the wall",
     [](Bytes& to, From from) { each_end(from, [&](const RecordedFibreEnd& end) { push_one(to, end.point); }); }},
    {"length", Cell::F32, {2}, RowOf::Fibre, "m", "free length, and length to which strain refers",
     [](Bytes& to, From from) {
       for (const RecordedFibre& fibre : from.header->fibres)
         push_one(to, glm::vec2(fibre.free_length, fibre.reference));
     }},
    {"broken_fibre", Cell::U32, {}, RowOf::Broken, "", "its number", all<&RecordedFrame::broken>},
    {"broken_frame", Cell::U32, {}, RowOf::Broken, "frame", "the first one without it",
     effects<&RecordedFrame::broken>, true},
    {"group", Cell::U32, {}, RowOf::Fibre, "",
     "number of its layer or band: first the layers of the scene, then its bands",
     [](Bytes& to, From from) {
       for (const RecordedFibre& fibre : from.header->fibres) push_one(to, fibre.group);
     }},
    {"broken_how", Cell::U8, {}, RowOf::Broken, "",
     "0 torn, 1 cut by blades, 2 burnt, 3 an end has lost its tissue, 4 not known",
     [](Bytes& to, From from) { push_or_zeros(to, from.frame->broken_how, from.frame->broken.size()); }},
};

const std::vector<Column> kClipRows = {
    {"vertices", Cell::U32, {static_cast<int>(kClipNumbers)}, RowOf::Clip, "",
     "organ on which it closed (2^32 - 1: on nothing, it fell down), tool, number n of its struts, then [16][2] "
     "vertices that the struts join; the first n count",
     [](Bytes& to, From from) {
       for (const auto& placed : from.frame->clips) {
         push_one(to, glm::uvec3(placed.clip.organ, placed.tool, placed.clip.count));
         for (const ClipStrut& strut : placed.clip.struts) push_one(to, glm::uvec2(strut.a, strut.b));
       }
     }},
    {"shape", Cell::F32, {static_cast<int>(kClipNumbers)}, RowOf::Clip, "m, 1",
     "m, length of its legs, position along the duct from the start of its line; 1, share of the circumference between "
     "the legs; then [16][2] m, positions of the struts from the middle of the legs: across the jaws, along the legs",
     [](Bytes& to, From from) {
       for (const auto& placed : from.frame->clips) {
         push_one(to, glm::vec3(placed.length, placed.along, placed.closed));
         for (const ClipStrut& strut : placed.clip.struts) push_one(to, strut.at);
       }
     }},
    {"frame", Cell::U32, {}, RowOf::Clip, "frame", "the first one with the clip",
     effects<&RecordedFrame::clips>, true},
    {"lost_clip", Cell::U32, {}, RowOf::LostClip, "", "its row in the tables above",
     all<&RecordedFrame::lost_clips>},
    {"lost_frame", Cell::U32, {}, RowOf::LostClip, "frame", "the first one without it",
     effects<&RecordedFrame::lost_clips>, true},
    {"tube_state", Cell::U32, {4}, RowOf::Tube, "",
     "organ; 1: no tissue joins its ends; number of clips that close it on the part with the start of its line, and on "
     "that with its end",
     [](Bytes& to, From from) {
       for (const auto& [organ, state] : from.frame->tubes)
         push_one(to, glm::uvec4(organ, state.divided, state.clips_at_start, state.clips_at_end));
     }},
    {"tube_at", Cell::F32, {}, RowOf::Tube, "m", "where it is divided, from the start of its line",
     [](Bytes& to, From from) {
       for (const auto& tube : from.frame->tubes) push_one(to, tube.state.at);
     }},
    {"tube_frame", Cell::U32, {}, RowOf::Tube, "frame", "the first one in this state",
     effects<&RecordedFrame::tubes>, true},
};

const std::vector<Column> kBleedRows = {
    {"lost", Cell::F64, {kPerOrgan, 2}, RowOf::Frame, "m^3", "blood and bile lost until the end of the frame",
     [](Bytes& to, From from) { push_or_zeros(to, from.frame->lost_fluid, from.frame->organs.size()); }},
    {"fluids", Cell::F64, {static_cast<int>(kFluidNumbers)}, RowOf::Frame, "m^3",
     "at the end of the frame: blood, bile and water on the organs; the same that dripped off so far; the same that "
     "was sucked away so far; water that instruments gave so far",
     [](Bytes& to, From from) {
       const FluidAmounts& fluids = from.frame->fluids;
       push_one(to, fluids.on), push_one(to, fluids.dripped), push_one(to, fluids.removed), push_one(to, fluids.rinsed);
     }},
    {"source", Cell::U32, {3}, RowOf::BleedSource, "",
     "organ; vertex of its surface, when it opened; 0 the end of a vessel, 1 a surface that was cut or torn, 2 a "
     "perforation",
     [](Bytes& to, From from) {
       for (const BleedSource& source : from.frame->sources)
         push_one(to, glm::uvec3(source.organ, source.vertex, static_cast<std::uint32_t>(source.kind)));
     }},
    {"rate", Cell::F64, {2}, RowOf::BleedSource, "m^3/s, s",
     "flow at first; half time of the flow, 0: it does not clot",
     [](Bytes& to, From from) {
       for (const BleedSource& source : from.frame->sources) push_one(to, glm::dvec2(source.rate, source.half_time));
     }},
    {"source_frame", Cell::U32, {}, RowOf::BleedSource, "frame", "the first one with the source",
     effects<&RecordedFrame::sources>, true},
    {"change", Cell::U32, {3}, RowOf::BleedChange, "",
     "its row in the tables above; its vertex now; 0 it flows, 1 pressed, 2 closed by a clip, 3 coagulated, 4 stopped "
     "(clotted, or the organ is empty)",
     [](Bytes& to, From from) {
       for (const auto& [source, vertex, state] : from.frame->bleed_changes)
         push_one(to, glm::uvec3(source, vertex, static_cast<std::uint32_t>(state)));
     }},
    {"change_frame", Cell::U32, {}, RowOf::BleedChange, "frame", "the first one in this state",
     effects<&RecordedFrame::bleed_changes>, true},
};

const std::vector<Column> kOrganRows = {
    {"faces", Cell::U32, {3}, RowOf::Face, "", "three vertices", changed<&RecordedChange::new_faces>},
    {"face_born", Cell::U32, {}, RowOf::Face, "frame", "the first one that queries the face",
     change_effects<&RecordedChange::new_faces>, true},
    {"rest_positions", Cell::F32, {3}, RowOf::Vertex, "m", "at rest", changed<&RecordedChange::new_rest>},
    {"embedding_node", Cell::U32, {8}, RowOf::Vertex, "", "eight lattice nodes, when the vertex was added",
     nodes<&RecordedChange::new_embedding>},
    {"embedding_weight", Cell::F32, {8}, RowOf::Vertex, "1", "their weights", weights<&RecordedChange::new_embedding>},
    {"vertex_born", Cell::U32, {}, RowOf::Vertex, "frame", "the first one that has the vertex",
     change_effects<&RecordedChange::new_rest>, true},
    {"gone_face", Cell::U32, {}, RowOf::Removed, "", "its id", changed<&RecordedChange::removed>},
    {"gone_frame", Cell::U32, {}, RowOf::Removed, "frame", "the first one that does not query it",
     change_effects<&RecordedChange::removed>, true},
    {"carried_vertex", Cell::U32, {}, RowOf::Carried, "", "the vertex", changed<&RecordedChange::carried>},
    {"carried_node", Cell::U32, {8}, RowOf::Carried, "", "its new nodes", nodes<&RecordedChange::carried_embedding>},
    {"carried_weight", Cell::F32, {8}, RowOf::Carried, "1", "their weights",
     weights<&RecordedChange::carried_embedding>},
    {"carried_frame", Cell::U32, {}, RowOf::Carried, "frame", "the first one with them",
     change_effects<&RecordedChange::carried>, true},
    {"nodes", Cell::F32, {kPerNode, 3}, RowOf::Frame, "m", "at the time of the touch query",
     of_organ<&RecordedOrganFrame::nodes>, false, {Full}},
    {"packed_nodes", Cell::U32, {kPerNode, 3}, RowOf::Frame, "",
     "instead of `nodes`: the second difference in time of the coordinates' bits, modulo 2^32, in blocks of 120 frames "
     "that stand alone; d is stored as 2 d, or -2 d - 1 where d is negative", nullptr, false, {Packed}},
    {"key_nodes", Cell::F32, {kPerNode, 3}, RowOf::KeyFrame, "m", "instead of `nodes`",
     of_organ<&RecordedOrganFrame::nodes>, false, {Compact}},
    {"touch_first", Cell::U64, {kPerToolAndOne}, RowOf::Frame, "",
     "index of each tool's first touch in the tables below, and one past the last tool",
     [](Bytes& to, From from) {
       for (const std::uint32_t first : from.organ->touches.first) push_one(to, from.touches + first);
     }},
    {"touch_face", Cell::U32, {}, RowOf::Touch, "", "id of the face, see [method.md](method.md)",
     [](Bytes& to, From from) {
       for (const Touch& touch : from.organ->touches.touches) push_one(to, from.organ->id_of(touch));
     }},
    {"touch_point", Cell::F32, {3}, RowOf::Touch, "m", "on the face, closest to the shaft's axis at `touch_time`",
     touched<&Touch::point>, false, {Full, Packed}},
    {"touch_normal", Cell::F32, {3}, RowOf::Touch, "1", "from the point to the axis, a unit vector",
     touched<&Touch::normal>, false, {Full, Packed}},
    {"touch_depth", Cell::F32, {}, RowOf::Touch, "m",
     "how far the point must move along -normal to lie outside the tool",
     touched<&Touch::depth>, false, {Full, Packed}},
    {"touch_time", Cell::F32, {}, RowOf::Touch, "step",
     "the first time in the frame, 0 to 1, at which the face comes within the radius of the axis",
     touched<&Touch::time>, false, {Full, Packed}},
    {"touch_pressure", Cell::F32, {}, RowOf::Touch, "Pa",
     "pressure of the tissue at this face in this frame; 0 where unknown",
     [](Bytes& to, From from) { push_or_zeros(to, from.organ->pressure, from.organ->touches.touches.size()); },
     false, {Full, Packed}},
    {"tip_first", Cell::U64, {kPerToolAndOne}, RowOf::Frame, "",
     "index of the first face of each tool's tip in `tip_face`, and one past the last tool",
     [](Bytes& to, From from) {
       for (std::size_t tool = 0; tool <= tools_of(from); ++tool)
         push_one(to, from.tips + (from.organ->tip_first.empty() ? 0 : from.organ->tip_first[tool]));
     }},
    {"tip_face", Cell::U32, {}, RowOf::TipFace, "",
     "id of the face; any part of the tip (jaws, blades, wire) touches it, each face once",
     of_organ<&RecordedOrganFrame::tip_ids>},
    {"touch_part", Cell::U8, {}, RowOf::Touch, "",
     "number of the part that touches, 0: the shaft; touches of a tool are sorted by part, then face",
     [](Bytes& to, From from) { push_or_zeros(to, from.organ->part, from.organ->touches.touches.size()); }},
    {"dent", Cell::F32, {kPerDent, 11}, RowOf::Frame, "m",
     "where tools press or hold the surface out of the lattice's shape (see [tissue.md](tissue.md)) at the time of the "
     "touch query, of each part of all tools and then of the jaws of each tool: both ends of a line; shift of the surface; distance from the line up to "
     "which it shifts by all of that, and length over which the shift then fades. 0 without a dent",
     of_organ<&RecordedOrganFrame::dents>},
};

const std::vector<Column> kCompactRows = {
    {"key_frame", Cell::U32, {}, RowOf::KeyFrame, "frame", "its number; one every 5 s", nullptr, false, {Compact}},
    {"checksum", Cell::U64, {}, RowOf::Frame, "",
     "FNV-1a, 64 bits, of what the frame lacks: of each organ the nodes, then point, normal, depth and time of each "
     "touch, then the pressures", nullptr, false, {Compact}},
};
// clang-format on

std::string joined(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, "\n")); }

using Header = const RecordingHeader&;

constexpr TextAttribute kTexts[] = {
    {"format", [](Header) { return std::string(kFormat); }},
    {"scene", [](Header of) { return of.scene_text; }},
    {"version", [](Header of) { return of.version; }},
    {"machine", [](Header of) { return of.machine; }},
    {"gl", [](Header of) { return of.gl; }},
    {"backend", [](Header of) { return of.backend; }},
    {"mode", [](Header of) { return of.mode; }},
    {"cover", [](Header of) { return of.cover; }},
    {"date", [](Header of) { return of.date; }},
    {"tools", [](Header of) { return joined(of.tools); }},
    {"stages", [](Header of) { return joined(of.stages); }},
    {"frame_rate", [](Header of) { return fmt::format("{}", of.frame_rate); }},
    {"tips", [](Header of) { return joined(of.tips); }},
    {"backends", [](Header of) { return joined(of.backends); }},
    {"clock", [](Header of) { return std::string(of.run.clock == ScoreClock::Wall ? "wall" : "tick"); }},
    {"format_minor", [](Header) { return fmt::format("{}", kFormatMinor); }},
    {kFormAttribute, [](Header) { return std::string(name_of(Full)); }},
    {kModelVersionAttribute, [](Header of) { return fmt::format("{}", of.model_version); }},
    {"backend_why", [](Header of) { return of.backend_why; }},
    {"activity", [](Header of) { return std::string(name_of(of.run.activity)); }},
    {"person", [](Header of) { return of.run.person; }},
    {"devices", [](Header of) { return joined(of.devices); }},
    {"scene_name", [](Header of) { return of.scene_name; }},
    {kAttemptKeyAttribute, [](Header of) { return of.run.attempt_key; }},
};

// Chunks of about 64 KiB: small enough for short sessions, large enough for fast writing.
constexpr std::uint64_t kChunkBytes = 64 * 1024;
constexpr std::uint64_t kLongestChunk = 4096;  // rows

std::uint64_t length_of(int length, const RowSizes& sizes) {
  switch (length) {
    case kPerTool:
      return sizes.tools;
    case kPerToolAndOne:
      return sizes.tools + 1;
    case kPerToolPair:
      return tool_pairs(sizes.tools);
    case kPerStage:
      return sizes.stages;
    case kPerOrgan:
      return sizes.organs;
    case kPerNode:
      return sizes.nodes;
    case kPerDent:
      return sizes.dents;
    default:
      return static_cast<std::uint64_t>(length);
  }
}

}  // namespace

std::span<const TextAttribute> text_attributes() { return kTexts; }

const std::vector<Column>& columns_of(ColumnGroup group) {
  static const std::vector<Column>* const kGroups[] = {&kToolRows,  &kSessionRows, &kFibreRows,  &kClipRows,
                                                       &kBleedRows, &kOrganRows,   &kCompactRows};
  return *kGroups[static_cast<std::size_t>(group)];
}

const char* name_of(RowOf rows) {
  static constexpr const char* kNames[] = {"frame",
                                           "touch",
                                           "face id",
                                           "vertex",
                                           "removed face",
                                           "re-embedded vertex",
                                           "face that a tip touches",
                                           "fibre",
                                           "broken fibre",
                                           "clip",
                                           "clip that came off",
                                           "change of a duct or vessel",
                                           "source",
                                           "change of a source",
                                           "tool",
                                           "run",
                                           "key frame"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(RowOf::kCount));
  return kNames[static_cast<std::size_t>(rows)];
}

std::string type_text(const Column& column) {
  static constexpr const char* kCells[] = {"uint8", "uint32", "uint64", "float32", "float64"};
  static constexpr const char* kLengths[] = {"tool", "tool + 1", "pair of tools", "stage", "organ", "node", "dent"};
  std::string text = kCells[static_cast<std::size_t>(column.cell)];
  if (!column.shape.empty()) text += ' ';
  for (const int length : column.shape)
    text += length < 0 ? fmt::format("[{}]", kLengths[-length - 1]) : fmt::format("[{}]", length);
  return text;
}

std::string forms_text(const Column& column) {
  if (column.forms.size() == kForms.size()) return "all";
  std::vector<std::string> names;
  for (const RecordingForm form : column.forms) names.push_back(name_of(form));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string path_of(ColumnGroup group, std::size_t column, const std::string& organ) {
  static constexpr const char* kFolders[] = {"/session",  "/session",  "/bonds",  "/clips",
                                             "/bleeding", kOrganGroup, "/session"};
  const char* name = columns_of(group)[column].name;
  if (group == ColumnGroup::Organ) return fmt::format("{}/{}/{}", kOrganGroup, organ, name);
  return fmt::format("{}/{}", kFolders[static_cast<std::size_t>(group)], name);
}

bool Column::is_in(RecordingForm form) const { return std::ranges::find(forms, form) != forms.end(); }

std::vector<std::uint64_t> row_shape(const Column& column, const RowSizes& sizes) {
  std::vector<std::uint64_t> shape;
  for (const int length : column.shape) shape.push_back(length_of(length, sizes));
  return shape;
}

bool has_column(const Column& column, const RowSizes& sizes) {
  if (column.shape.empty()) return true;
  if (column.shape.front() == kPerDent) return sizes.dents > 0;
  return column.shape.front() != kPerToolPair || tool_pairs(sizes.tools) > 0;
}

OrganColumn nodes_column(RecordingForm form) {
  if (form == RecordingForm::Full) return kNodes;
  return form == RecordingForm::Packed ? kPackedNodes : kKeyNodes;
}

std::uint64_t rows_per_chunk(std::span<const std::uint64_t> row_shape, Cell cell) {
  const std::uint64_t cells =
      std::accumulate(row_shape.begin(), row_shape.end(), std::uint64_t{1}, std::multiplies<>());
  return std::clamp<std::uint64_t>(kChunkBytes / std::max<std::uint64_t>(1, cells * bytes_of(cell)), 1, kLongestChunk);
}

H5Table make_column(H5File& file, ColumnGroup group, std::size_t column, const RowSizes& sizes, Storage storage,
                    const std::string& organ, std::uint64_t chunk_rows) {
  const Column& kind = columns_of(group)[column];
  const std::vector<std::uint64_t> shape = row_shape(kind, sizes);
  return file.make_table(path_of(group, column, organ), kind.cell, shape,
                         chunk_rows > 0 ? chunk_rows : rows_per_chunk(shape, kind.cell), storage);
}

int model_version_of(const H5File& file) {
  const std::string text = file.text(kModelVersionAttribute);
  if (const auto number = whole(text)) return *number;
  throw InputError(fmt::format("{}: its attribute {} is '{}', not a whole number; the file is damaged",
                               file.path().string(), kModelVersionAttribute, printable(text)));
}

const char* name_of(RecordingForm form) {
  static constexpr const char* kNames[] = {"full", "packed", "compact"};
  return kNames[static_cast<int>(form)];
}

RecordingForm form_of(const H5File& file) {
  const std::string name = file.text(kFormAttribute);
  for (const RecordingForm form : kForms)
    if (name == name_of(form)) return form;
  throw InputError(fmt::format("{}: is a recording of the unknown form '{}'; use the version that wrote it ({})",
                               file.path().string(), printable(name), printable(file.text("version"))));
}

void require_format(const H5File& file) {
  const std::string format = file.text("format"), version = printable(file.text("version"));
  if (!format.starts_with(kAnyFormat))
    throw InputError(fmt::format("{}: is an HDF5 file, but not a recording", file.path().string()));
  std::string minor = file.text("format_minor");
  if (minor.empty()) minor = "0";
  const std::optional<int> known = whole(minor);
  if (format == kFormat && known && *known >= 0 && *known <= kFormatMinor) return;
  const std::string major = format.substr(std::string_view(kAnyFormat).size());
  const std::string has = fmt::format("{}: has format {}.{}", file.path().string(), printable(major), printable(minor));
  if (major == "2" || major == "3")
    throw InputError(fmt::format("{}, which the program no longer reads; the last version that does is commit {}", has,
                                 kReadsFormats2And3));
  throw InputError(
      fmt::format("{}, but this version reads up to {}.{}; use the version that recorded it ({}) or a later one", has,
                  kFormatMajor, kFormatMinor, version));
}

namespace {

// A signed number as an unsigned one that is small when it is: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
std::uint32_t with_sign_below(std::uint32_t d) { return (d << 1) ^ (d >> 31 ? ~0u : 0u); }
std::uint32_t with_sign_above(std::uint32_t z) { return (z >> 1) ^ (z & 1u ? ~0u : 0u); }

}  // namespace

void pack_block(std::span<std::uint32_t> block, std::size_t cells) {
  for (std::size_t k = block.size(); k-- > 0;) {
    const std::uint32_t before = k >= cells ? block[k - cells] : 0, earlier = k >= 2 * cells ? block[k - 2 * cells] : 0;
    block[k] = with_sign_below(block[k] - 2 * before + earlier);
  }
}

void unpack_block(std::span<std::uint32_t> block, std::size_t cells) {
  for (std::size_t k = 0; k < block.size(); ++k) {
    const std::uint32_t before = k >= cells ? block[k - cells] : 0, earlier = k >= 2 * cells ? block[k - 2 * cells] : 0;
    block[k] = with_sign_above(block[k]) + 2 * before - earlier;
  }
}

void PackedNodesReader::read(const H5Table& table, std::size_t frame, std::span<glm::vec3> nodes) {
  const std::size_t first = frame - frame % kBlockFrames, cells = table.row_cells();
  if (first != first_) {
    first_ = SIZE_MAX;  // while reading can fail
    block_.resize(std::min<std::size_t>(kBlockFrames, table.rows() - first) * cells);
    table.read(first, std::as_writable_bytes(std::span(block_)));
    unpack_block(block_, cells);
    first_ = first;
  }
  std::memcpy(nodes.data(), &block_[(frame - first) * cells], nodes.size_bytes());
}

}  // namespace trocar
