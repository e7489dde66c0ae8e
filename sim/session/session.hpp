// Runs a session: deformable organs, instruments that devices move, one touch query a frame, and the check of its
// answer by other backends. Session calls its parts in order: instruments.hpp, organ_queries.hpp, answer_check.hpp,
// tissue_world.hpp.
// Units: metres, seconds, newtons; stage times in ms.   Tested in tests/sim/session/session_test.cpp
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/scene/scene.hpp"
#include "sim/session/answer_check.hpp"
#include "sim/session/instruments.hpp"
#include "sim/session/organ_queries.hpp"
#include "sim/session/sight_watch.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/session/tissue_world.hpp"

namespace trocar {

class Session {
 public:
  // The session calls this function once for each instrument of the scene.
  using DeviceMaker = trocar::DeviceMaker;

  // Makes the session of a scene. `backend`: empty for the scene's own. Throws InputError for an unreadable file, an
  // invalid tissue or a backend that is not available.
  Session(const Scene& scene, BackendMaker& backends, const std::string& backend, const std::vector<CheckPlan>& checks,
          const DeviceMaker& make_device);
  ~Session();

  // Runs one frame: poses, candidate pairs, touch query, checks, cuts, contacts, tissue. After the first frames, our
  // code allocates only in frames that cut and in the frame in which a backend fails. Nothing throws.
  void step(const FrameClock& clock, double dt);
  // The same in three parts. move() calls no device and no backend: another thread may run it while this one draws what
  // it has copied, and leaves the session alone. ask() and settle() belong to the thread of the backends.
  void ask(const FrameClock& clock, double dt);  // poses, candidate pairs, touch query, checks
  void move();                                   // cuts, contacts, tissue
  void settle();                                 // the backends learn new faces, the devices their forces

  // Returns the organs, and their nodes and dents at the time of the last frame's touch query: a recording keeps them.
  // [organ][node], [organ][part, then tool]. So does queried_ends() for the ends of a fibre.
  const std::vector<Organ>& organs() const { return world_.organs(); }
  const SessionBonds& bonds() const { return world_.bonds(); }
  const SessionClips& clips() const { return world_.clips(); }
  const SessionBleeding& bleeding() const { return world_.bleeding(); }
  const SessionFilm& film() const { return world_.film(); }
  const SessionRigid& rigid() const { return world_.rigid(); }
  std::span<const glm::vec3> queried_nodes(std::size_t organ) const { return world_.queried_nodes(organ); }
  std::span<const SurfaceDent> queried_dents(std::size_t organ) const { return world_.queried_dents(organ); }
  FibreEnds queried_ends(std::size_t fibre) const { return world_.queried_ends(fibre); }

  const std::vector<BackdropScene>& backdrops() const { return backdrops_; }  // of the scene: only a picture shows them

  std::vector<Instrument>& instruments() { return instruments_.list(); }
  const std::vector<Instrument>& instruments() const { return instruments_.list(); }
  const SessionScope& scope() const { return instruments_.scope(); }
  void set_scope_device(std::unique_ptr<Device> device) { instruments_.set_scope_device(std::move(device)); }
  void set_field_of_view(double degrees) { instruments_.scope().pose.field_of_view_deg = degrees; }
  // Call when time passes between two steps: devices may move meanwhile and receive zero force.
  void suspend_devices() { instruments_.suspend(); }

  // Of the last frame: the motion of each part of the instruments, the numbers of the parts, contacts between organs.
  std::span<const ToolStep> part_steps() const { return instruments_.part_steps(); }
  const PartTable& parts() const { return instruments_.parts(); }
  const OrganContacts& organ_contacts() const { return world_.organ_contacts(); }

  const NearPairs& near_pairs() const { return queries_.near_pairs(); }            // of the last frame
  std::span<const InstrumentClash> clashes() const { return queries_.clashes(); }  // of instruments whose boxes overlap
  // Returns the tips that are still inside tissue after the last frame's tissue step. [instrument]
  std::span<const std::optional<BuriedTip>> buried_tips() const { return tip_watch_.buried(); }

  // These functions convert the session to one block of bytes and back (saved_session.cpp). A session of the same scene
  // text that is restored and continued has the same bits as one that was never interrupted, if its devices move as
  // before. The block does not contain the scene, measured times, counts, marks and the internal state of devices.
  // restore() throws InputError when the block is damaged, has another version, belongs to another scene, or holds an
  // index or number that no session of this scene has (saved_session.hpp); the state is then unchanged.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> block);

  // Attaches points to the organs' surfaces; marks() returns their positions at the last frame's touch query.
  // `watched`: for so many of the first marks hidden() says whether an organ hides them.
  void set_marks(std::span<const SurfaceMark> marks, std::size_t watched = 0);
  std::span<const glm::vec3> marks() const { return mark_positions_; }  // [mark] m
  // [mark] 1: at the last frame's touch query its tissue had been removed
  std::span<const std::uint8_t> marks_removed() const { return mark_watch_.removed(); }
  // Returns the tips and marks that organs hid from the scope at the last frame's touch query.
  const HiddenPoints& hidden() const { return hidden_; }

  // Returns the surface of an organ at the last frame's touch query, when a step of the task asks for it, else nothing.
  MeshView queried_surface(std::size_t organ) const { return queried_surfaces_[organ].view(); }

  // Makes another backend answer from the next frame on; the times of the backend are reset. Throws InputError when it
  // is not available; the session is then unchanged.
  void use_backend(BackendMaker& backends, const std::string& name);
  const BackendChoice& backend() const { return queries_.backend(); }
  const std::vector<std::string>& backend_names() const { return backend_names_; }  // all that use_backend() accepts
  // Returns the backends that failed, in order of time. If the session's own backend failed, scan answered that frame
  // and all later ones.
  const std::vector<BackendFault>& backend_faults() const { return faults_; }
  const std::vector<BackendTimes>& backend_times() const { return times_; }  // [0] the session's own, then the checkers
  // Limits the timing samples to this many frames: for sessions of unlimited length. 0 keeps none.
  void reserve_frames(std::size_t frames);
  std::span<const float> stage_ms() const { return stage_ms_; }
  void set_stage_ms(Stage stage, double ms) { stage_ms_[stage] = static_cast<float>(ms); }

  std::uint32_t touched() const;                                              // faces, in the last frame
  std::uint32_t disagreements_now() const { return check_.disagreements(); }  // in the last frame
  std::uint64_t disagreements() const;                                        // since the start
  // Counts of the faces that were compared with the double reference, in the last frame and since the start. Faces are
  // compared in every frame, also when the checks are off; disagreements() includes them.
  const SampleCount& sample_now() const { return check_.sample().now(); }
  const SampleCount& sample() const { return check_.sample().total(); }
  std::size_t frames() const { return frames_; }
  double step_time() const { return step_time_; }  // s  simulated duration of the last frame
  // Returns whether the checks run; initially true.
  bool checking() const { return checking_; }
  void set_checking(bool on) { checking_ = on; }
  // Sets whether there is time for the checks in the next step; initially true.
  void set_check_room(bool room) { check_room_ = room; }

 private:
  void read_devices(const FrameClock& clock);
  void follow_marks();
  void watch_sight();
  void find_near_pairs(double dt);
  void check_answers();
  void change_checks();
  void watch_tips();
  void read(std::span<const std::byte> block);
  void check_read() const;
  void follow_read();

  OrganQueries queries_;
  TissueWorld world_;
  Instruments instruments_;
  AnswerCheck check_;
  TipWatch tip_watch_;
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> mark_positions_;       // [mark] m
  std::vector<std::uint32_t> seen_organs_;      // of which the task asks for the surface
  std::vector<TriangleMesh> queried_surfaces_;  // [organ] of these
  MarkWatch mark_watch_;
  std::vector<std::uint32_t> watched_topology_;  // [organ] of the last look at the marks
  std::vector<glm::dvec3> tips_;                 // [tool] m
  std::size_t watched_marks_ = 0;
  SightWatch sight_watch_;
  std::vector<SightPoint> sight_points_;  // tips, then watched marks
  HiddenPoints hidden_;
  std::vector<std::string> backend_names_;
  std::vector<BackdropScene> backdrops_;
  std::string scene_text_;           // a saved session belongs to it
  std::vector<BackendTimes> times_;  // [0] of the session's own backend, then of the checkers
  std::vector<BackendFault> faults_;
  StageMs stage_ms_{};
  bool checking_ = true, check_room_ = true;
  std::size_t frames_ = 0;
  double step_time_ = 0.0;  // s
  double tick_time_ = 0.0;  // s  of the frame that runs
};

// Returns how many pushes of instruments TissueParams::fastest_tool has limited so far: 0 in every task that the tests
// perform, not in the whole operation (docs/results.md, "The demonstration").
std::uint64_t held_back(const Session& session);

}  // namespace trocar
