#include "sim/hdf5/recorded_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "geometry/error.hpp"
#include "sim/support/names.hpp"

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

}  // namespace trocar
