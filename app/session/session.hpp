// A session: organs that yield, instruments that devices move, one touch query a frame, its answer checked by others.
// The one place where contacts pass from collision to tissue; session_tissue.cpp holds that half. Units: metres,
// seconds, newtons; stage times in ms. Tested in tests/app/session_test.cpp
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/backend/backends.hpp"
#include "app/device/device.hpp"
#include "app/scene/scene.hpp"
#include "app/scope/lens.hpp"
#include "app/session/backend_fault.hpp"
#include "app/session/cross_check.hpp"
#include "app/session/encounters.hpp"
#include "app/session/instrument_clash.hpp"
#include "app/session/organ.hpp"
#include "app/session/reference_sample.hpp"
#include "app/session/surface_marks.hpp"
#include "app/session/tip_touch.hpp"
#include "app/session/tip_watch.hpp"
#include "deform/grasp.hpp"
#include "deform/organs_step.hpp"

namespace trocar {

// The stages of a frame, in their order: the recording, the overlay and this code use the same words.
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
  ToolPose pose;  // now
  double roll_deg = 0.0, grip = 1.0;
  bool energy = false;   // burns in this frame what it touches
  bool snipped = false;  // scissors: the blades closed in this frame
  bool blades_open = true;
  double turn_deg = 0.0;  // about its own axis, in the last frame
  Grasp grasp;
  std::size_t grasped = 0;  // organ that the grasp holds
  glm::vec3 force{0.f};     // N, of the last frame
  DeviceHealth health = DeviceHealth::Good;
  bool frozen = false;  // the device gave no usable pose, or is stale or lost: the instrument stays where it is
};

// The scope of a session. Without a device it stays where the scene put it.
struct SessionScope {
  ScopePose pose;
  Lens lens;
  std::unique_ptr<Device> device;  // its pose: pivot the port, tip the eye, roll the spin
  DeviceHealth health = DeviceHealth::Good;
};

// Another backend that answers the same question every `every`-th frame.
struct CheckPlan {
  std::string backend;
  std::size_t every = 1;
};

struct BackendTimes {
  std::string name;
  std::size_t every = 1;
  std::vector<double> update_ms, query_ms, gpu_ms;  // [frame in which anybody was near], all organs together
  std::uint64_t touched = 0, borderline = 0, disagreements = 0;
};

class Session {
 public:
  // Called once for each instrument of the scene.
  using DeviceMaker = std::function<std::unique_ptr<Device>(const InstrumentScene&)>;

  // `backend`: empty for the scene's own. Error: InputError for a file, a tissue or a backend that cannot be had.
  Session(const Scene& scene, Backends& backends, const std::string& backend, const std::vector<CheckPlan>& checks,
          const DeviceMaker& make_device);
  ~Session();

  // One frame: poses, who may meet whom, touch query, checks, contacts, cuts, tissue. Nothing of ours allocates once
  // warm, but in frames that cut, and in the one in which a backend fails; nothing throws.
  void step(const FrameClock& clock, double dt);
  // Nodes as they were when the tools were asked about in the last frame: what a recording keeps. [organ][node]
  std::span<const glm::vec3> queried_nodes(std::size_t organ) const { return queried_nodes_[organ]; }
  std::span<const ToolVolume> tool_volumes() const { return volumes_; }  // of the last frame

  const Encounters& encounters() const { return encounters_; }           // of the last frame
  std::span<const InstrumentClash> clashes() const { return clashes_; }  // of instruments whose boxes overlap
  // Tips that the tissue could not be pushed away from, after the last frame. [instrument]
  std::span<const std::optional<BuriedTip>> buried_tips() const { return tip_watch_.buried(); }

  const SessionScope& scope() const { return scope_; }
  void set_scope_device(std::unique_ptr<Device> device);  // null: it stays

  void set_field_of_view(double degrees) { scope_.pose.field_of_view_deg = degrees; }

  // Points that ride on the organs' surfaces, and where they were when the tools were asked about in the last frame.
  void set_marks(std::span<const SurfaceMark> marks);
  std::span<const glm::vec3> marks() const { return mark_places_; }  // [mark] m

  // Another backend answers from the next frame on; its times start anew. Error: InputError when it cannot be had, and
  // then nothing has changed.
  void use_backend(Backends& backends, const std::string& name);
  const BackendChoice& backend() const { return backend_; }
  // Backends that failed, in their order. Where it was the session's own, scan answered that frame and all after it.
  const std::vector<BackendFault>& backend_faults() const { return faults_; }
  const std::vector<Organ>& organs() const { return organs_; }
  std::vector<Instrument>& instruments() { return instruments_; }
  const std::vector<Instrument>& instruments() const { return instruments_; }
  const std::vector<BackendTimes>& backend_times() const { return times_; }  // [0] the session's own, then the checks
  std::span<const float> stage_ms() const { return stage_ms_; }
  void set_stage_ms(Stage stage, double ms) { stage_ms_[stage] = static_cast<float>(ms); }
  std::uint32_t touched() const;                                          // faces, in the last frame
  std::uint32_t disagreements_now() const { return disagreements_now_; }  // in the last frame
  std::uint64_t disagreements() const;                                    // since the start
  // Faces held against the double reference, in every frame and whether or not the checks run; their disagreements are
  // among those above. In the last frame, and since the start.
  const SampleCount& sample_now() const { return sample_.now(); }
  const SampleCount& sample() const { return sample_.total(); }
  std::size_t frames() const { return frames_; }
  // Whether the checks run; on at the start.
  bool checking() const { return checking_; }
  void set_checking(bool on) { checking_ = on; }
  // Whether there is time for the checks in the next step; there is at the start.
  void set_check_room(bool room) { check_room_ = room; }
  // The next step is not the moment after the last one: hands may have moved on, and nothing pushes them meanwhile.
  void suspend_devices();
  // Keeps no more timing samples than this many frames: for sessions without end.
  void reserve_frames(std::size_t frames);

 private:
  struct Checker {
    std::vector<std::unique_ptr<TouchQuery>> queries;  // [organ]
    std::size_t runs = 0;
    bool failed = false;  // it checks no more
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
  std::size_t asked_frames_ = 0;  // frames in which anybody was asked about
  std::vector<Checker> checkers_;
  std::vector<BackendTimes> times_;
  OrganStepper stepper_;
  OrganContacts organ_contacts_;
  std::vector<OrganBody> bodies_;                             // [organ]
  std::vector<const TissueModel*> models_;                    // [organ]
  std::vector<SteppedOrgan> stepped_;                         // [organ]
  std::vector<ToolStep> tool_steps_, tool_pieces_;            // [tool] of the frame, of the piece
  std::vector<std::vector<TissueHold>> holds_, piece_holds_;  // [organ]
  std::vector<std::size_t> first_hold_;                       // [tool] in the holds of the organ it grasps
  std::vector<std::uint32_t> cells_;                          // room to work in
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
