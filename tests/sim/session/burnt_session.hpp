// Makes a session by formula, for tests of recordings: a ball that two hooks burn while it sways, and another that is
// only touched. Every run gives the same frames, bit for bit. Units: metres, seconds.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "cpu_collision/queries.hpp"
#include "deform/cut/sculpt.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/session/organ.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::test {

// The content of one organ in one frame that a recording must return.
struct SurfaceShot {
  std::vector<FaceId> ids;
  std::vector<glm::uvec3> faces;
  std::vector<glm::vec3> rest, positions;
  std::vector<Touch> touches;  // by id
  std::vector<std::uint32_t> first;
  std::vector<float> pressure;
};

class BurntSession {
 public:
  static constexpr std::size_t kTools = 2, kOrgans = 2;

  BurntSession() {
    const char* names[] = {"liver", "stomach"};
    for (std::size_t k = 0; k < kOrgans; ++k) {
      Organ& organ = organs_[k];
      organ.name = names[k];
      organ.mesh = shapes::icosphere(3, 0.03f, glm::vec3(0.065f * static_cast<float>(k), 0.f, 0.f));
      organ.tissue = make_tissue(organ.mesh.view(), {}, {});
      organ.state = rest_state(organ.tissue);
      for (std::uint32_t face = 0; face < organ.mesh.faces.size(); ++face) organ.face_ids.push_back(FaceId(face));
      organ.query = make_scan_query();
      organ.query->rebuild(organ.mesh.view());
    }
    organs_[0].sculpture = make_sculpture(organs_[0].mesh.view(), organs_[0].tissue);
  }

  RecordingHeader header() const {
    RecordingHeader header;
    header.backend = "scan";
    header.mode = "swept";
    header.cover = "capsule";
    for (const Organ& organ : organs_)
      header.organs.push_back({organ.name, &organ.mesh, &organ.tissue, organ.face_ids,
                               organ.sculpture ? organ.sculpture->faces.next_id : 0});
    header.tools = {"left", "right"};
    header.tool_radius = {0.0025, 0.003};
    header.tips = {"probe 60", "probe 60"};
    header.stages = {"query"};
    if (frame_ > 0) header.before = poses_;
    return header;
  }

  // Runs one frame: queries, records, burns. `recorder` may be null.
  void step(Recorder* recorder) {
    move_tools();
    for (std::size_t k = 0; k < kOrgans; ++k) {
      sway(organs_[k]);
      ask(k);
    }
    nodes_ = {organs_[0].state.x, organs_[1].state.x};
    burn_tissue();
    if (recorder) append(*recorder);
    ++frame_;
  }

  const SurfaceShot& shot(std::size_t organ) const { return shots_[organ]; }
  bool energy(std::size_t tool) const { return energy_[tool] != 0; }
  const Organ& organ(std::size_t k) const { return organs_[k]; }
  std::size_t frame() const { return frame_; }

 private:
  void move_tools() {
    const double f = static_cast<double>(frame_);
    const std::vector<ToolPose> before = poses_;
    poses_ = {
        {{-0.1, 0.1, 0.0}, {0.03 * std::cos(0.03 * f), 0.029 * std::cos(0.05 * f), 0.02 * std::sin(0.07 * f)}, 0.0025},
        {{0.15, 0.12, 0.05}, {0.04 + 0.03 * std::sin(0.02 * f), 0.028, 0.01 * std::cos(0.11 * f)}, 0.003}};
    for (std::size_t tool = 0; tool < kTools; ++tool) {
      volumes_[tool] = frame_volume(frame_ == 0 ? nullptr : &before[tool], poses_[tool], ToolMode::Swept,
                                    Cover::Capsule, TouchSet::Exact);
      energy_[tool] = (frame_ / (7 + 4 * tool)) % 2;
    }
  }

  void sway(Organ& organ) const {
    const auto phase = 0.1f * static_cast<float>(frame_);
    for (std::size_t n = 0; n < organ.state.x.size(); ++n) {
      const glm::vec3 p = organ.tissue.rest[n];
      organ.state.x[n] =
          p + 0.002f * glm::vec3(std::sin(phase + 40.f * p.y), std::sin(phase + 30.f * p.z), std::cos(phase));
    }
  }

  void ask(std::size_t k) {
    Organ& organ = organs_[k];
    organ.positions.resize(organ.mesh.positions.size());
    embed_surface(organ.tissue, organ.state.x, organ.positions);
    organ.query->update(organ.positions);
    const TouchList answer = organ.query->touched(volumes_, TouchSet::Exact);
    SurfaceShot& shot = shots_[k];
    shot = {organ.face_ids, organ.mesh.faces, organ.mesh.positions, organ.positions, {}, {}, {}};
    slots_[k].assign(answer.touches.begin(), answer.touches.end());
    shot.touches = slots_[k];
    shot.first.assign(answer.first.begin(), answer.first.end());
    for (Touch& touch : shot.touches) {
      touch.face = organ.face_ids[index(touch.face)];
      shot.pressure.push_back(1e5f * touch.depth);
    }
  }

  void burn_tissue() {
    Organ& organ = organs_[0];
    organ.change.clear();
    for (std::size_t tool = 0; tool < kTools; ++tool) {
      if (!energy_[tool]) continue;
      const glm::vec3 tip(poses_[tool].tip);
      if (!burn(*organ.sculpture, organ.tissue, organ.state, {tip, tip, 0.004f}).nothing())
        organ.change.add(*organ.sculpture, organ.tissue);
    }
    if (organ.change.empty()) return;
    carry_vertices(organ);
    organ.mesh = {organ.sculpture->rest, organ.sculpture->faces.corners};
    organ.face_ids = organ.sculpture->faces.id;
    organ.query->rebuild(organ.mesh.view());
  }

  // Attaches some vertices, including new ones, to the neighbouring cell.
  void carry_vertices(Organ& organ) const {
    const Sculpture& sculpture = *organ.sculpture;
    const std::size_t count = sculpture.rest.size(), cells = organ.tissue.lattice.cells.size();
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t vertex = k == 0 ? count - 1 : (frame_ * 31 + k * 17) % count;
      const auto cell = static_cast<std::uint32_t>((sculpture.vertices[vertex].cell + 1) % cells);
      organ.tissue.embedding[vertex] = embed_in(organ.tissue.lattice, cell, sculpture.rest[vertex]);
      organ.change.carried.push_back(static_cast<std::uint32_t>(vertex));
      organ.change.carried_embedding.push_back(organ.tissue.embedding[vertex]);
    }
  }

  // The first organ's touches use slots, the second's ids: both are allowed.
  void append(Recorder& recorder) const {
    const SurfaceChange& c = organs_[0].change;
    const RecordedChange change{c.removed, c.new_faces, c.new_rest, c.new_embedding, c.carried, c.carried_embedding};
    const RecordedOrganFrame organs[] = {
        {nodes_[0], {slots_[0], shots_[0].first}, shots_[0].ids, shots_[0].pressure, c.empty() ? nullptr : &change},
        {nodes_[1], {shots_[1].touches, shots_[1].first}, {}, shots_[1].pressure, nullptr}};
    const glm::dvec2 roll_grip[kTools] = {};
    const glm::vec3 forces[kTools] = {};
    const float stage_ms[] = {0.1f};
    recorder.append({static_cast<double>(frame_) / 60.0, poses_, roll_grip, organs, forces, stage_ms, 0, energy_});
  }

  Organ organs_[kOrgans];
  SurfaceShot shots_[kOrgans];
  std::vector<Touch> slots_[kOrgans];
  std::vector<std::vector<glm::vec3>> nodes_;
  std::vector<ToolPose> poses_;
  ToolVolume volumes_[kTools];
  std::uint8_t energy_[kTools] = {};
  std::size_t frame_ = 0;
};

}  // namespace trocar::test
