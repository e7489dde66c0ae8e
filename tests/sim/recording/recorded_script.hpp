// Makes a recording whose numbers all follow from the frame number, and checks that a frame equals the appended one.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"

namespace trocar::test {

// A session whose numbers are all computed from the frame number.
struct Script {
  TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2}, {0, 1, 3}}};
  TissueModel tissue;
  RecordingHeader header;

  Script() {
    tissue.rest.assign(50, glm::vec3(1.f));
    tissue.embedding.resize(mesh.positions.size());
    for (auto& embedding : tissue.embedding) {
      for (std::uint32_t corner = 0; corner < 8; ++corner) {
        embedding.node[corner] = corner;
        embedding.weight[corner] = 0.125f;
      }
    }
    header.scene_text = "title = \"script\"";
    header.mode = "swept";
    header.cover = "capsule";
    header.organs = {{"liver", &mesh, &tissue}, {"stomach", &mesh, &tissue}};
    header.tools = {"left", "right"};
    header.tool_radius = {0.0025, 0.004};
    header.stages = {"query", "tissue"};
    for (std::uint32_t fibre = 0; fibre < kFibres; ++fibre)
      header.fibres.push_back(
          {{0, embedding_at(fibre % 43)}, {kWall, {}, glm::vec3(static_cast<float>(fibre))}, 0.5f, 1.f, fibre % 3});
    header.broken = {kFibres - 1};
  }

  // Fibre k breaks in frame 5 k; the last one was broken before.
  static constexpr std::uint32_t kFibres = 64;
  static std::vector<std::uint32_t> broken_in(std::uint32_t frame) {
    if (frame % 5 != 0 || frame / 5 >= kFibres - 1) return {};
    return {frame / 5};
  }
  static Embedding embedding_at(std::uint32_t node) {
    Embedding embedding;
    for (std::uint32_t corner = 0; corner < 8; ++corner) {
      embedding.node[corner] = node + corner;
      embedding.weight[corner] = static_cast<float>(corner) - 3.f;
    }
    return embedding;
  }

  void append(Recorder& recorder, std::uint32_t frame) const {
    const double f = frame;
    const std::vector<ToolPose> poses = {{{f, 0, 1}, {f, 1, 0}, 0.0025}, {{f, 2, 1}, {f, 3, 0}, 0.004}};
    const std::vector<glm::dvec2> roll_grip = {{f, 0.5}, {-f, 1.0}};
    std::vector<glm::vec3> nodes(50, glm::vec3(static_cast<float>(frame)));
    std::vector<Touch> touches;
    for (std::uint32_t k = 0; k < frame % 4; ++k)
      touches.push_back({FaceId{frame + k}, {1, 2, 3}, {0, 0, 1}, 0.5f, 0.25f});
    const std::vector<std::uint32_t> first = {0, frame % 4 / 2, frame % 4};
    const std::vector<FaceId> ids = {FaceId{70}, FaceId{71}, FaceId{72}};
    const std::vector<float> pressure = {100.f, 200.f, static_cast<float>(frame)};
    // The liver's touches have ids and no pressures, the stomach's touches have slots.
    std::vector<Touch> slots = touches;
    for (std::uint32_t k = 0; k < slots.size(); ++k) slots[k].face = FaceId{k};
    const std::vector<RecordedOrganFrame> organs = {
        {nodes, {touches, first}}, {nodes, {slots, first}, ids, std::span(pressure).first(slots.size())}};
    const std::vector<glm::vec3> forces = {{1, 2, static_cast<float>(f)}, {0, 0, 0}};
    const std::vector<float> stage_ms = {0.5f, static_cast<float>(f)};
    const std::vector<std::uint8_t> energy = {0, static_cast<std::uint8_t>(frame % 2)};
    // In every second frame the tools are near each other.
    const RecordedClash near{0, 1, 0.001f - static_cast<float>(frame), {static_cast<float>(frame), 2, 3}};
    const std::vector<std::uint32_t> broken = broken_in(frame);
    RecordedFrame recorded{
        f / 60.0, poses, roll_grip, organs, forces, stage_ms, frame % 3, energy, std::span(&near, frame % 2)};
    recorded.broken = broken;
    recorder.append(recorded);
  }
};

inline void expect_fibres(const Recording& recording, std::uint32_t frame) {
  const FibreHistory& history = recording.fibres();
  ASSERT_EQ(history.fibres.size(), Script::kFibres);
  const RecordedFibre& fibre = history.fibres[frame % Script::kFibres];
  EXPECT_EQ(fibre.a.organ, 0u);
  EXPECT_EQ(fibre.a.embedding.node[7], frame % Script::kFibres % 43 + 7);
  EXPECT_EQ(fibre.a.embedding.weight[2], -1.f);
  EXPECT_EQ(fibre.b.organ, kWall);
  EXPECT_EQ(fibre.b.point.z, static_cast<float>(frame % Script::kFibres));
  EXPECT_EQ(fibre.free_length, 0.5f);
  EXPECT_EQ(fibre.reference, 1.f);
  EXPECT_EQ(fibre.group, frame % Script::kFibres % 3);
  EXPECT_EQ(broken_before(history, 0).size(), 1u);
  const auto broken = broken_in(history, frame);
  EXPECT_EQ(std::vector(broken.begin(), broken.end()), Script::broken_in(frame)) << "frame " << frame;
}

inline void expect_frame(const Recording& recording, std::uint32_t frame) {
  EXPECT_DOUBLE_EQ(recording.times()[frame], frame / 60.0);
  EXPECT_DOUBLE_EQ(recording.pose(frame, 1).tip.y, 3.0);
  EXPECT_DOUBLE_EQ(recording.roll_grip(frame, 0).x, frame);
  EXPECT_FLOAT_EQ(recording.force(frame, 0).z, static_cast<float>(frame));
  EXPECT_FLOAT_EQ(recording.stage_ms(frame, 1), static_cast<float>(frame));
  EXPECT_EQ(recording.disagreements(frame), frame % 3);
  EXPECT_EQ(recording.energy(frame, 0), Diathermy::Off);
  EXPECT_EQ(recording.energy(frame, 1), frame % 2 == 1 ? Diathermy::Cut : Diathermy::Off);
  ASSERT_EQ(recording.clash(frame, 0, 1).has_value(), frame % 2 == 1);
  if (frame % 2 == 1) {
    EXPECT_EQ(recording.clash(frame, 1, 0)->distance, 0.001f - static_cast<float>(frame));
    EXPECT_EQ(recording.clash(frame, 0, 1)->point.x, static_cast<float>(frame));
  }
  expect_fibres(recording, frame);
  OrganFrame organ;
  for (std::size_t k = 0; k < 2; ++k) {
    recording.read_frame(frame, k, organ);
    EXPECT_EQ(organ.nodes.size(), 50u);
    EXPECT_FLOAT_EQ(organ.nodes.back().x, static_cast<float>(frame));
    ASSERT_EQ(organ.touches.size(), frame % 4);
    EXPECT_EQ(organ.first, (std::vector<std::uint32_t>{0, frame % 4 / 2, frame % 4}));
    ASSERT_EQ(organ.pressure.size(), frame % 4);
    for (std::uint32_t t = 0; t < frame % 4; ++t) {
      EXPECT_EQ(index(organ.touches[t].face), k == 0 ? frame + t : 70 + t);
      EXPECT_EQ(organ.pressure[t], k == 0  ? 0.f
                                   : t < 2 ? 100.f * (1.f + static_cast<float>(t))
                                           : static_cast<float>(frame));
    }
  }
}

// Checks every frame of a readable recording.
inline void expect_frames(const Recording& recording) {
  for (std::uint32_t frame = 0; frame < recording.frame_count(); ++frame) expect_frame(recording, frame);
}

}  // namespace trocar::test
