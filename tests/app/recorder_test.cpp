// Recordings: what goes in comes out; a process killed at any moment loses less than a second.
#include "app/record/recorder.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "app/record/recording.hpp"
#include "app/record/recording_layout.hpp"
#include "geometry/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// A session whose every number follows from the frame's number.
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
    // The liver's touches name ids and come without pressures, the stomach's name slots.
    std::vector<Touch> slots = touches;
    for (std::uint32_t k = 0; k < slots.size(); ++k) slots[k].face = FaceId{k};
    const std::vector<RecordedOrganFrame> organs = {
        {nodes, {touches, first}}, {nodes, {slots, first}, ids, std::span(pressure).first(slots.size())}};
    const std::vector<glm::vec3> forces = {{1, 2, static_cast<float>(f)}, {0, 0, 0}};
    const std::vector<float> stage_ms = {0.5f, static_cast<float>(f)};
    const std::vector<std::uint8_t> energy = {0, static_cast<std::uint8_t>(frame % 2)};
    // In every second frame the tools are near each other.
    const RecordedClash near{0, 1, 0.001f - static_cast<float>(frame), {static_cast<float>(frame), 2, 3}};
    recorder.append(
        {f / 60.0, poses, roll_grip, organs, forces, stage_ms, frame % 3, energy, std::span(&near, frame % 2)});
  }
};

void expect_frame(const Recording& recording, std::uint32_t frame) {
  EXPECT_DOUBLE_EQ(recording.times()[frame], frame / 60.0);
  EXPECT_DOUBLE_EQ(recording.pose(frame, 1).tip.y, 3.0);
  EXPECT_DOUBLE_EQ(recording.roll_grip(frame, 0).x, frame);
  EXPECT_FLOAT_EQ(recording.force(frame, 0).z, static_cast<float>(frame));
  EXPECT_FLOAT_EQ(recording.stage_ms(frame, 1), static_cast<float>(frame));
  EXPECT_EQ(recording.disagreements(frame), frame % 3);
  EXPECT_FALSE(recording.energy(frame, 0));
  EXPECT_EQ(recording.energy(frame, 1), frame % 2 == 1);
  ASSERT_EQ(recording.clash(frame, 0, 1).has_value(), frame % 2 == 1);
  if (frame % 2 == 1) {
    EXPECT_EQ(recording.clash(frame, 1, 0)->distance, 0.001f - static_cast<float>(frame));
    EXPECT_EQ(recording.clash(frame, 0, 1)->point.x, static_cast<float>(frame));
  }
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

TEST(Recorder, WhatGoesInComesOut) {
  const TemporaryFolder folder;
  const Script script;
  {
    Recorder recorder(folder.path() / "s.h5", script.header);
    for (std::uint32_t frame = 0; frame < 100; ++frame) script.append(recorder, frame);
    recorder.close();
  }
  const Recording recording(folder.path() / "s.h5");
  EXPECT_TRUE(recording.clean());
  ASSERT_EQ(recording.frame_count(), 100u);
  EXPECT_EQ(recording.text("scene"), "title = \"script\"");
  EXPECT_EQ(recording.tools(), (std::vector<std::string>{"left", "right"}));
  ASSERT_EQ(recording.organs().size(), 2u);
  EXPECT_EQ(recording.organs()[1].name, "stomach");
  EXPECT_EQ(recording.organs()[0].history.faces.size(), 2u);
  EXPECT_EQ(recording.organs()[0].history.embedding[3].node[7], 7u);
  for (std::uint32_t frame = 0; frame < 100; ++frame) expect_frame(recording, frame);
}

// Recordings from before there were tables of clashes open, and say nothing of them.
TEST(Recorder, RecordingsWithoutClashesOpen) {
  const TemporaryFolder folder;
  const Script script;
  const auto file = folder.path() / "s.h5";
  {
    Recorder recorder(file, script.header);
    for (std::uint32_t frame = 0; frame < 10; ++frame) script.append(recorder, frame);
    recorder.close();
  }
  EXPECT_TRUE(Recording(file).clash(1, 0, 1));
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  for (const char* table : {"/session/clash_distance", "/session/clash_point"})
    EXPECT_GE(H5Ldelete(id, table, H5P_DEFAULT), 0);
  H5Fclose(id);
  const Recording older(file);
  EXPECT_EQ(older.frame_count(), 10u);
  EXPECT_FALSE(older.clash(1, 0, 1));
  EXPECT_TRUE(older.energy(1, 1));
}

TEST(Recorder, PairsOfToolsAreCountedOff) {
  for (const std::size_t tools : {2, 3, 5}) {
    std::size_t next = 0;
    for (std::size_t first = 0; first < tools; ++first)
      for (std::size_t second = first + 1; second < tools; ++second) EXPECT_EQ(tool_pair(tools, first, second), next++);
    EXPECT_EQ(tool_pairs(tools), next);
  }
  EXPECT_EQ(tool_pairs(1), 0u);
  EXPECT_TRUE(clash_tables(1).empty());
}

// A child that records a frame every 2 ms and tells through a pipe which frame it has appended and when.
struct Child {
  pid_t pid = 0;
  int pipe_end = -1;

  Child(const Script& script, const std::filesystem::path& file) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
      Recorder recorder(file, script.header);
      for (std::uint32_t frame = 0;; ++frame) {
        script.append(recorder, frame);
        if (write(ends[1], &frame, sizeof frame) != sizeof frame) _exit(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    close(ends[1]);
    pipe_end = ends[0];
  }

  // Kills after `life`; returns the last frame appended a second or more before the kill (-1 when there is none).
  int kill_after(std::chrono::milliseconds life) {
    using Clock = std::chrono::steady_clock;
    std::vector<Clock::time_point> seen;
    std::thread reader([&] {
      std::uint32_t frame = 0;
      while (read(pipe_end, &frame, sizeof frame) == sizeof frame) seen.push_back(Clock::now());
    });
    std::this_thread::sleep_for(life);
    const auto killed = Clock::now();
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    reader.join();
    close(pipe_end);
    int last = -1;
    for (std::size_t frame = 0; frame < seen.size(); ++frame) {
      if (killed - seen[frame] >= std::chrono::seconds(1)) last = static_cast<int>(frame);
    }
    return last;
  }
};

TEST(Recorder, KilledAtAnyMomentLosesLessThanASecond) {
  const unsigned seed = 20261120;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> life_ms(1100, 2400);
  const Script script;
  int recovered_frames = 0;
  for (int round = 0; round < 25; ++round) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "killed.h5";
    Child child(script, file);
    const int must_have = child.kill_after(std::chrono::milliseconds(life_ms(random)));
    const RecoverResult result = recover_recording(file);
    EXPECT_FALSE(result.was_clean);
    EXPECT_GT(static_cast<int>(result.frames), must_have) << "round " << round;
    const Recording recording(file);
    EXPECT_TRUE(recording.clean());
    ASSERT_EQ(recording.frame_count(), result.frames);
    for (std::uint32_t frame = 0; frame < result.frames; frame += 37) expect_frame(recording, frame);
    recovered_frames += static_cast<int>(result.frames);
  }
  std::printf("25 kills, %d frames recovered\n", recovered_frames);
}

TEST(Recorder, RecoverLeavesACleanFileAlone) {
  const TemporaryFolder folder;
  const Script script;
  {
    Recorder recorder(folder.path() / "s.h5", script.header);
    script.append(recorder, 0);
    recorder.close();
  }
  const std::string before = read_file(folder.path() / "s.h5");
  EXPECT_TRUE(recover_recording(folder.path() / "s.h5").was_clean);
  EXPECT_EQ(read_file(folder.path() / "s.h5"), before);
}

TEST(Recorder, RefusesWhatIsNoRecording) {
  const TemporaryFolder folder;
  EXPECT_THROW(Recording(folder.path() / "absent.h5"), InputError);
  EXPECT_THROW(Recording(folder.write("text.h5", "this is no HDF5")), InputError);
  EXPECT_THROW(Recording(folder.write("empty.h5", "")), InputError);
  EXPECT_THROW(recover_recording(folder.path()), InputError);
  EXPECT_THROW(Recorder(folder.path() / "no" / "folder" / "s.h5", Script().header), InputError);
}

}  // namespace
}  // namespace trocar
