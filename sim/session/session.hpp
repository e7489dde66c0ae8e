// A session: deformable organs, instruments moved by devices, one touch query a frame, its answer checked by other
// backends. Only here do contacts pass from collision to tissue; session_tissue.cpp holds that half.
// Units: metres, seconds, newtons; stage times in ms.   Tested in tests/sim/session_test.cpp
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "deform/grasp.hpp"
#include "deform/organs_step.hpp"
#include "sim/device/device.hpp"
#include "sim/scene/lens.hpp"
#include "sim/scene/scene.hpp"
#include "sim/session/backend_fault.hpp"
#include "sim/session/backend_maker.hpp"
#include "sim/session/cross_check.hpp"
#include "sim/session/encounters.hpp"
#include "sim/session/instrument_clash.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/reference_sample.hpp"
#include "sim/session/surface_marks.hpp"
#include "sim/session/tip_touch.hpp"
#include "sim/session/tip_watch.hpp"

namespace trocar {

// The stages of a frame: the recording, the overlay and this code use the same names.
enum Stage : std::size_t {
  kDevices,
  kPairs,
  kUpdate,
  kQuery,
  kContacts,
  kCut,
  kTissue,
  kSurface,
  kCheck,
  kRecord,
  kStages
};
const std::vector<std::string>& stage_names();

struct Instrument {
  std::string name;
  InstrumentKind kind = InstrumentKind::Probe;
  double radius = 0.0025;  // m
  JointLimits limits;
  std::unique_ptr<Device> device;
  ToolPose pose;  // current
  double roll_deg = 0.0, grip = 1.0;
  bool energy = false;   // diathermy on in this frame: burns what it touches
  bool snipped = false;  // scissors: the blades closed in this frame
  bool blades_open = true;
  double turn_deg = 0.0;  // about its own axis, in the last frame
  Grasp grasp;
  std::size_t grasped = 0;  // the organ that the grasp holds
  glm::vec3 force{0.f};     // N, of the last frame
  DeviceHealth health = DeviceHealth::Good;
  bool frozen = false;  // the device gave no usable pose, or is stale or lost: the instrument keeps its last pose
};

// The scope of a session. Without a device it keeps the pose of the scene.
struct SessionScope {
  ScopePose pose;
  Lens lens;
  std::unique_ptr<Device> device;  // its pose: pivot = port, tip = eye, roll = spin
  DeviceHealth health = DeviceHealth::Good;
};

// Another backend that answers the same query every `every`-th frame.
struct CheckPlan {
  std::string backend;
  std::size_t every = 1;
};

struct BackendTimes {
  std::string name;
  std::size_t every = 1;
  std::vector<double> update_ms, query_ms, gpu_ms;  // [frame with a candidate pair], sum over the organs
  std::uint64_t touched = 0, borderline = 0, disagreements = 0;
};

class Session {
 public:
  // Called once for each instrument of the scene.
  using DeviceMaker = std::function<std::unique_ptr<Device>(const InstrumentScene&)>;

  // `backend`: empty for the scene's own. Error: InputError for an unreadable file, an invalid tissue or a backend that
  // is not available.
  Session(const Scene& scene, BackendMaker& backends, const std::string& backend, const std::vector<CheckPlan>& checks,
          const DeviceMaker& make_device);
  ~Session();

  // One frame: poses, candidate pairs, touch query, checks, cuts, contacts, tissue. Once warm, our code allocates only
  // in frames that cut and in the frame in which a backend fails. Nothing throws.
  void step(const FrameClock& clock, double dt);
  // Nodes at the time of the last frame's touch query: a recording keeps them. [organ][node]
  std::span<const glm::vec3> queried_nodes(std::size_t organ) const { return queried_nodes_[organ]; }
  std::span<const ToolVolume> tool_volumes() const { return volumes_; }  // of the last frame

  const Encounters& encounters() const { return encounters_; }           // of the last frame
  std::span<const InstrumentClash> clashes() const { return clashes_; }  // of instruments whose boxes overlap
  // Tips that are still inside tissue after the last frame's tissue step. [instrument]
  std::span<const std::optional<BuriedTip>> buried_tips() const { return tip_watch_.buried(); }

  const SessionScope& scope() const { return scope_; }
  void set_scope_device(std::unique_ptr<Device> device);  // null: the scope does not move

  void set_field_of_view(double degrees) { scope_.pose.field_of_view_deg = degrees; }

  // Points attached to the organs' surfaces, and their positions at the last frame's touch query.
  void set_marks(std::span<const SurfaceMark> marks);
  std::span<const glm::vec3> marks() const { return mark_places_; }  // [mark] m

  // Another backend answers from the next frame on; its times are reset. Error: InputError when it is not available;
  // the session is then unchanged.
  void use_backend(BackendMaker& backends, const std::string& name);
  const BackendChoice& backend() const { return backend_; }
  const std::vector<std::string>& backend_names() const { return backend_names_; }  // all that use_backend() accepts
  // Backends that failed, in order of time. If it was the session's own, scan answered that frame and all later ones.
  const std::vector<BackendFault>& backend_faults() const { return faults_; }
  const std::vector<Organ>& organs() const { return organs_; }
  std::vector<Instrument>& instruments() { return instruments_; }
  const std::vector<Instrument>& instruments() const { return instruments_; }
  const std::vector<BackendTimes>& backend_times() const { return times_; }  // [0] the session's own, then the checkers
  std::span<const float> stage_ms() const { return stage_ms_; }
  void set_stage_ms(Stage stage, double ms) { stage_ms_[stage] = static_cast<float>(ms); }
  std::uint32_t touched() const;                                          // faces, in the last frame
  std::uint32_t disagreements_now() const { return disagreements_now_; }  // in the last frame
  std::uint64_t disagreements() const;                                    // since the start
  // Faces compared with the double reference, in every frame, also when the checks are off; disagreements() includes
  // theirs. In the last frame, and since the start.
  const SampleCount& sample_now() const { return sample_.now(); }
  const SampleCount& sample() const { return sample_.total(); }
  std::size_t frames() const { return frames_; }
  // Whether the checks run; initially true.
  bool checking() const { return checking_; }
  void set_checking(bool on) { checking_ = on; }
  // Whether there is time for the checks in the next step; initially true.
  void set_check_room(bool room) { check_room_ = room; }
  // Call when time passes between two steps: devices may move meanwhile and receive zero force.
  void suspend_devices();
  // Limits the timing samples to this many frames: for sessions of unlimited length.
  void reserve_frames(std::size_t frames);

 private:
  struct Checker {
    std::vector<std::unique_ptr<TouchQuery>> queries;  // [organ]
    std::size_t runs = 0;
    bool failed = false;  // it has stopped checking
  };

  void read_devices(const FrameClock& clock);
  void read_scope(const FrameClock& clock);
  void find_encounters(double dt);
  void query_organs();
  TouchFault ask_organs();
  void go_on_with_scan(TouchFault fault);
  void settle_tips(Organ& organ, std::span<const std::uint32_t> near_tools);
  void check_answers();
  void hold_sample();
  void hold_face(std::size_t organ, std::size_t tool);
  void check_organ(Checker& checker, std::size_t organ, BackendTimes& times, StageTimes& sum);
  void begin_tissue();
  void cut_tissue();
  void find_candidates();
  void meet_organs(double dt);
  void take_over(std::size_t organ, const SculptChange& change, DamageMark how);
  void move_jaws_of(std::size_t tool);
  void step_tissue(double dt);
  void step_piece(int number, int pieces, float dt);
  void settle_jaws();
  void follow_surfaces();
  void watch_tips();

  QueryScene kind_;
  BackendChoice backend_;
  std::vector<std::string> backend_names_;
  std::vector<Organ> organs_;
  std::vector<Instrument> instruments_;
  SessionScope scope_;
  std::vector<SurfaceMark> marks_;
  std::vector<glm::vec3> mark_places_;                 // [mark] m
  std::vector<ToolPose> previous_;                     // [tool]
  std::vector<ToolVolume> volumes_;                    // [tool] of the last frame
  std::vector<TipTouch> tip_touch_;                    // [tool]
  std::vector<ToolVolume> tip_volumes_;                // [tool] around its tip
  std::vector<std::vector<glm::vec3>> queried_nodes_;  // [organ][node] m
  Encounters encounters_;
  std::vector<AskedTools> asked_;         // [organ]
  std::vector<InstrumentClash> clashes_;  // of the last frame
  TipWatch tip_watch_;
  std::vector<glm::dvec3> tips_;  // [tool] m
  std::size_t asked_frames_ = 0;  // frames with a touch query
  std::vector<Checker> checkers_;
  std::vector<BackendTimes> times_;
  OrganStepper stepper_;
  OrganContacts organ_contacts_;
  std::vector<OrganBody> bodies_;                             // [organ]
  std::vector<const TissueModel*> models_;                    // [organ]
  std::vector<SteppedOrgan> stepped_;                         // [organ]
  std::vector<ToolStep> tool_steps_, tool_pieces_;            // [tool] of the frame, of the contact substep
  std::vector<std::vector<TissueHold>> holds_, piece_holds_;  // [organ]
  std::vector<std::size_t> first_hold_;                       // [tool] in the holds of the organ it grasps
  std::vector<std::uint32_t> cells_;                          // scratch buffers
  std::vector<std::uint32_t> held_;
  std::vector<Touch> touched_now_;
  GraspParams grasp_params_;
  CrossCheck cross_check_;
  std::array<float, kStages> stage_ms_{};
  std::uint32_t disagreements_now_ = 0;
  std::vector<BackendFault> faults_;
  bool checking_ = true, check_room_ = true;
  std::size_t frames_ = 0, reserved_frames_ = 0;
  ReferenceSample sample_;
};

}  // namespace trocar
