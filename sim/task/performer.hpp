// Defines scripted trainees, an expert, an average and a clumsy one, who see a task's marks one frame late and move
// instruments and scope. They replace people in tests of scores, and demonstrate tasks. Reaching movements have minimum
// jerk: Flash, Hogan, "The coordination of arm movements", J. Neurosci. 5, 1985; tremor lies at 6 to 12 Hz. The same
// seed gives the same attempt. Units: metres, seconds, world frame. Tested in tests/sim/task/performer_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/device/device.hpp"
#include "sim/scene/scene.hpp"
#include "sim/task/duct.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/operation.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

enum class Skill { Expert, Average, Clumsy };
// The names that the command line, plans of sweeps and Python use. [Skill]
inline constexpr std::array<std::string_view, 3> kSkillNames{"expert", "average", "clumsy"};
// A single fault. An expert with one of them loses points for it, and few for anything else.
// The last four are critical errors of an operation: a cut without clips, a clip on another duct, a burn deep into an
// organ with a limit, and a division before the steps that must come first.
enum class Fault { Tremor, Force, Detour, Slowness, WrongOrder, Unclipped, WrongDuct, DeepBurn, NoView };
// The names that the command line and plans of sweeps use. [Fault]
inline constexpr std::array<std::string_view, 9> kFaultNames{
    "tremor", "force", "detour", "slowness", "wrong-order", "unclipped", "wrong-duct", "deep-burn", "no-view"};

// Parameters of a trainee.
struct HandStyle {
  double speed = 0.08;        // m/s  mean, of a reaching movement
  double slide = 0.016;       // m/s  along a line
  double tremor = 0.00005;    // m    amplitude at 6 to 12 Hz
  double sway = 0.0002;       // m    amplitude at 0.2 to 0.9 Hz
  double aim_error = 0.0004;  // m    of a goal, standard deviation along each axis
  double press = 0.0015;      // m    goal below the surface, before a force is felt
  double force = 0.3;         // N    wanted on touched tissue
  double heavy = 1.0;         // 1    speed of pressing deeper, relative to a careful hand
  double yielding = 0.05;     // s    time constant of drawing back when a force is felt
  double wander = 0.0;        // m    deviation from a line and from its surface
  double pause = 0.1;         // s    before a reaching movement, mean
  double detour = 0.0;        // 1    height of the bow of a reaching movement, relative to its length
  double wrong_order = 0.0;   // 1    share of the targets that are touched before their turn
  double blunder = 0.0;       // 1    probability that a step goes wrong: wrong target, grasp off target, too deep
  std::optional<Fault> mistake = {};  // a critical error of an operation
  bool careless = false;              // presses the pedal too early, waits too long, lifts too high, crosses zones
};
HandStyle style_of(Skill skill);
// Returns the expert's style with one fault. `dose`: 0 gives the expert; 1 is gross; the fault grows with it.
HandStyle style_with(Fault fault, double dose);

// Interpolates with minimum jerk: returns 0 at 0 and 1 at 1.
double minimum_jerk(double share);

class Performer {
 public:
  Performer(const Scene& scene, const HandStyle& style, std::uint32_t seed);

  // Makes a device for the session; the performer must outlive the session.
  std::unique_ptr<Device> device_of(const std::string& instrument);
  std::unique_ptr<Device> scope_device();

  // Call before the first frame. `marks`: those of the task.
  void begin(const TaskStage& stage, const std::vector<SurfaceMark>& marks);
  // Call after every frame: computes the poses of the next.
  void see(const Observation& seen, const TaskFeed& feed);

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr double kWristSpeed = 180.0;  // deg/s of the wrist
  static constexpr double kSlowTurn = 60.0;     // deg/s in tissue
  static constexpr double kBack = 0.025;        // m     in front of the strands, towards the trocar
  static constexpr double kApproach = 0.03;     // m/s   of the hook near tissue
  static constexpr double kTaut = 0.0035;       // m     strands at least this long are under tension
  using Goal = std::function<glm::dvec3(const Observation& seen, double share)>;

  // Where an instrument goes that pushes a duct aside, and how far its jaws or blades are open there.
  struct WayOut {
    Goal goal;
    double aperture;
  };
  // One step of the movement.
  struct Move {
    Goal goal;                 // position of the tip
    double duration = 0.0;     // s    of a slide, which follows the goal; 0: a reaching movement at the style's speed
    double grip = 0.0;         // 0 closed .. 1 open, at the end
    Diathermy energy = {};     // the pedal
    double wait = 0.0;         // s    at the goal, at most
    double enough = 2.0;       // 1    waiting ends when the task's progress reaches this
    double force = 0.0;        // N    wanted on tissue; 0: the style's force
    double heavy = 0.0;        // 1    speed of pressing deeper; 0: the style's
    double deeper = 0.0;       // m    added to the style's depth, before a force is felt
    std::size_t tool = kNone;  // moves this instrument; kNone: the same as before
    std::optional<glm::dvec3> across = {};  // the jaws close across this direction
    glm::dvec3 foot{0.0};                   // with `across`: towards here points the hook's foot; 0: either way
    std::optional<double> roll = {};        // deg  of the instrument about its axis, turned slowly
    double stop = 0.0;                      // N    the plan is given up when this force is felt; 0: it is not
    bool withdraws = false;                 // a force at which the plan is given up means that tissue is caught
    std::uint32_t spare = 0;  // organ_bit() of the organs that must not burn: the plan is given up when they do
    double most_heat = 0.06;  // s    for which they may; less for ducts, vessels and hollow organs
    std::optional<std::uint32_t> fibre = {};  // that the hook divides
    double clear = 0.0;                  // m    the plan is given up when a duct comes nearer to the wire; 0: it is not
    bool carries = false;                // the plan is given up when the jaws lose the ring
    std::optional<WayOut> way_out = {};  // the plan is given up when the instrument pushes a duct aside
    std::optional<std::uint32_t> undivided = {};  // organ; the movement is left out when this duct has been divided
  };

  // A duct that the task divides.
  struct Duct {
    std::uint32_t organ = 0;
    std::vector<glm::dvec3> line;  // m, at rest
    double along = 0.0;            // m, of the target
    bool starts = false;           // the part with the start of its line stays
    glm::dvec3 rest{0.0};          // m, of the target's mark
    glm::dvec3 around[2]{};        // m, of the marks before and after it, in an operation
    std::size_t mark = kNone;      // index in seen.marks of the target; kNone: the duct is taken to be at rest
    std::size_t span = 0;          // of an operation: number of the duct in OperationSteps::duct_mark()
  };

  void plan(const Observation& seen, const TaskFeed& feed);
  void plan_touch(const TaskFeed& feed);
  void plan_camera(const TaskFeed& feed);
  void plan_line(const TaskFeed& feed);
  void plan_lift();
  // A ring in its present place: its middle, and its three long sides.
  struct RingPlace {
    glm::dvec3 middle{0.0};                 // m
    std::array<glm::dvec3, 3> out{};        // unit, from the middle to a long side, in its plane
    glm::dvec3 up{0.0};                     // unit, its axis
    double inner = 0.0, half_height = 0.0;  // m, from the middle to the middle of the wall; half its height
    double lowest = 0.0, highest = 0.0;     // m, z
  };
  RingPlace ring_at(const Observation& seen, std::uint32_t organ) const;
  void plan_pegs(const Observation& seen);
  double misfit(const RingPlace& ring, const glm::dvec3& middle, std::size_t tool, std::size_t side) const;
  void take_ring(std::uint32_t organ, std::size_t tool, std::size_t side, double aperture, const glm::dvec3& error);
  Move& carry_ring(std::uint32_t organ, std::size_t tool, const glm::dvec3& to, double duration,
                   const std::function<double(const RingPlace&)>& along = {});
  void lower_ring(std::uint32_t organ, std::size_t tool, const glm::dvec3& peg, double half);
  bool hangs_on(const Observation& seen, std::size_t tool) const;
  void grasp_here(std::size_t tool);
  void watch_rings(const Observation& seen);
  std::optional<std::uint32_t> ring_in(const Observation& seen, std::size_t tool) const;
  std::optional<std::uint32_t> next_ring(const Observation& seen);
  std::optional<glm::dvec3> free_peg(const Observation& seen, std::uint32_t carried) const;
  void lift_ring(const Observation& seen, std::uint32_t organ, std::size_t giver);
  void hand_over(const Observation& seen, std::uint32_t organ, std::size_t giver, std::size_t taker);
  void place_ring(const Observation& seen, std::uint32_t organ, std::size_t taker);
  void stand_up(const RingPlace& ring, std::size_t tool);
  std::size_t index_of_ring(std::uint32_t organ) const;
  glm::dvec3 above_middle() const;  // m, where rings are handed over
  void let_go(std::size_t tool);
  void plan_clip(const Observation& seen);
  void plan_operation(const Observation& seen, const TaskFeed& feed);
  void plan_retract(const Observation& seen, std::size_t step);
  // How jaws grasp a duct.
  struct DuctGrip {
    glm::dvec3 to_centre, direction;  // m, from the mark; unit, along the duct
  };
  std::optional<DuctGrip> duct_grip(std::size_t mark) const;
  bool holds(const Observation& seen, std::size_t step) const;
  void pull(std::size_t tool, const glm::dvec3& by, double wait);
  void plan_remove(const Observation& seen, std::size_t step);
  void plan_dissect(const Observation& seen, std::size_t step);
  void plan_clear(const Observation& seen, std::size_t step);
  void plan_stop(const Observation& seen, std::size_t step);
  void plan_suck(const Observation& seen, const std::optional<glm::dvec3>& near);
  std::optional<glm::dvec3> most_blood(const Observation& seen, const std::optional<glm::dvec3>& near) const;
  bool is_open(const Observation& seen, const glm::dvec3& place) const;
  std::optional<std::size_t> clears_again(const Observation& seen);
  // Where the hook frees a line of a window.
  struct LineAim {
    glm::dvec3 at{0.0};      // m  on what covers it
    glm::dvec3 foot{0.0};    // unit, where its foot points
    double clearance = 0.0;  // m  of the hot metal from the walls of ducts and vessels
  };
  LineAim aim_at(const WindowLine& line, double depth) const;
  double clearance_of(const glm::dvec3& at, const glm::dvec3& foot, double depth) const;
  bool comes_too_near(const Observation& seen, double clear);
  std::optional<std::size_t> next_line(std::span<const WindowLine> lines, double clear, double most) const;
  bool pull_before(const Observation& seen, std::size_t next);
  bool grasp_again(const Observation& seen, std::size_t retraction);
  bool retracts_last(std::size_t step, std::size_t next) const;
  bool hold_again(const Observation& seen, std::size_t next);
  bool pull_on(const Observation& seen, std::size_t dissected, std::uint32_t fibre);
  bool swing(const Observation& seen, std::size_t dissected, std::uint32_t fibre);
  std::optional<std::size_t> nearest_hold(const Observation& seen, std::uint32_t fibre,
                                          const std::function<bool(std::size_t tool)>& may) const;
  // Where and how the hook divides a strand.
  struct StrandAim {
    double share = 0.5;      // 1  along the strand, from its first end
    glm::dvec3 foot{0.0};    // to where the foot points
    double clearance = 0.0;  // m  of the hot metal from the nearest duct or vessel
  };
  StrandAim aim_at_strand(const Observation& seen, std::size_t step, std::uint32_t fibre) const;
  double divided_around(const Observation& seen, std::uint32_t fibre) const;
  std::optional<std::uint32_t> next_strand(const Observation& seen, std::size_t step) const;
  void count_attempt(const Observation& seen, std::size_t step, std::uint32_t fibre);
  bool moves_out_before(const Observation& seen, std::uint32_t fibre, const StrandAim& aimed) const;
  void plan_strand(const Observation& seen, std::uint32_t fibre, const StrandAim& aimed);
  glm::dvec3 free_side(const Observation& seen, std::size_t step, std::uint32_t fibre) const;
  std::size_t grasper_of(std::size_t step) const;
  std::size_t grasper_named(const std::string& name) const;
  glm::dvec3 pulls_along(std::size_t step, std::size_t retraction) const;
  bool look_at(const Observation& seen, std::size_t step);
  bool withdraw(std::size_t tool);
  void back_out(std::size_t tool);
  void free_hook();
  void aim_away(const Observation& seen, std::uint32_t fibre, std::uint32_t heats);
  void note_burn(const Observation& seen, double dt);
  void choose_aims(const TaskStage& stage);
  void find_wrong_duct(const TaskStage& stage);
  // Returns the first instrument of a kind; instruments_.size() when there is none.
  std::size_t tool_of_kind(InstrumentKind kind) const;
  glm::dvec3 point_of(const Observation& seen, const Duct& duct, double along) const;
  void close_on(const Observation& seen, const Duct& duct, std::size_t tool, double along, double beyond,
                double aperture, bool holds_on = false);
  Duct duct_at(const TaskStage& stage, const std::vector<SurfaceMark>& marks, std::size_t mark, std::size_t span,
               const glm::vec3& target, TubeSide stays) const;
  bool clip_stump(const Observation& seen, std::size_t mark);
  double cut_between_clips(const Observation& seen, const Duct& duct) const;
  double depth_of_next(double along, double beyond);
  void give_way(const Observation& seen);
  void draw_back(const Observation& seen, double dt);
  void slide_along(std::size_t first, std::size_t last, double deeper, Diathermy energy);

  Move& then(Goal goal);
  void pause();
  Goal above(std::size_t mark, double height, const glm::dvec3& error) const;
  Goal onto(std::size_t mark, const glm::dvec3& error) const;
  Goal drawn_back(const Goal& goal, double by) const;
  glm::dvec3 along_line(const Observation& seen, std::size_t first, std::size_t last, double share) const;

  double chance();  // 0 .. 1
  double normal();  // standard deviation 1
  glm::dvec3 aim();
  bool blunders() { return chance() < style_.blunder; }
  // Returns whether the target after this one is touched first.
  bool out_of_order(std::size_t target) const;
  void press(const Move& move, double dt);
  glm::dvec3 bow(double share) const;
  void turn_hook(double dt);
  void turn_across(const glm::dvec3& direction, const glm::dvec3& foot, double dt);
  glm::dvec3 shake(double time) const;
  DevicePose within_reach(const glm::dvec3& tip) const;

  TaskScene task_;
  HandStyle style_;
  std::mt19937 random_;
  std::vector<InstrumentScene> instruments_;
  ScopeScene scope_;
  std::size_t tool_ = 0;                         // the moved instrument; instruments_.size(): the scope
  std::vector<DevicePose> poses_;                // [instrument], then the scope
  std::vector<glm::dvec3> normals_;              // [mark] at rest, outward
  std::vector<glm::dvec3> rest_;                 // [mark] m, at rest
  std::vector<std::vector<glm::dvec3>> lines_;   // [organ] m, of ducts
  std::vector<std::uint32_t> rings_;             // organs, of PegTransfer
  std::vector<glm::dvec3> pegs_;                 // m, their feet
  double peg_height_ = 0.0;                      // m
  bool ring_side_ = false, rings_back_ = false;  // they start on the right; they go back
  glm::dvec3 rings_across_{0.0};                 // unit, along the wall that jaws take next
  struct HeldRing {
    std::uint32_t organ = 0;
    double time = -1.0;  // s  when both jaws touched it last
  };
  std::array<HeldRing, 2> rings_held_{};  // [instrument]
  std::vector<glm::vec3> ring_points_;    // [ring] m, one of its points in the last frame
  std::vector<double> ring_moved_;        // [ring] s, when it moved last
  std::vector<char> rings_handed_;        // [ring] 1: handed over, in this direction
  std::vector<double> ring_tries_;        // [ring] attempts to lift it
  std::array<double, 6> rings_failed_{};  // [instrument, side] grasps since a ring was lifted last
  std::vector<Duct> ducts_;               // [mark] of ClipAndCut and Operation
  std::vector<Duct> injured_;             // [step] vessels whose bleeding the task stops
  std::vector<glm::dvec3> sucked_;        // m, places
  std::optional<OperationSteps> steps_;   // of Operation: their marks and fibres
  std::vector<double> pulled_;            // [instrument] m, more than a retraction needs
  std::vector<glm::dvec3> swung_;         // [instrument] m, to a side, since its last retraction
  std::vector<std::size_t> pulled_for_;   // [instrument] the step for which it last moved what it holds
  std::vector<int> grasped_again_;        // [instrument] times, what had slipped out
  bool caught_ = false;                   // the hook holds tissue, which it must not drag out
  double caught_from_ = 0.4;              // N    the hook is caught when it feels more, moving out
  bool pressed_ = false;                  // the hook has pressed on an organ: it moves out before the next strand
  int freed_ = 0;                         // attempts to free the hook since it last was free
  struct HookPose {
    glm::dvec3 tip;
    double roll_deg, time;
  };
  std::vector<HookPose> way_in_;    // [frame] of the hook, since it last was free
  std::uint32_t limited_ = 0;       // organ_bit() of the organs with a limit
  std::uint32_t tubes_ = 0;         // organ_bit() of the ducts and vessels
  std::uint32_t hollow_ = 0;        // organ_bit() of the organs that spill when they are opened
  std::vector<double> tries_;       // [fibre] attempts to divide it
  std::vector<double> line_tries_;  // [line of the window] attempts to free it
  std::ptrdiff_t left_ = -1;        // strands that the step had left at the last attempt
  int fruitless_ = 0;               // attempts since a strand was divided
  std::size_t looked_for_ = kNone;  // the last step for which the scope moved, or stood well
  int cleared_again_ = 0;           // attempts to clear the window again, before the first clip
  std::vector<double> cooked_;      // [fibre] s  for which a hollow organ has been burnt near it
  std::vector<double> shortest_;    // [fibre] m  it is divided only when it is at least as long
  std::vector<double> aim_at_;      // [fibre] 1  where the hook divides it, from its first end
  std::vector<StageFibre> fibres_;  // [fibre]
  DuctPoints duct_points_;
  Duct wrong_duct_;            // one that the task does not divide; without points: there is none
  std::vector<double> waves_;  // phases and rates of tremor and sway
  std::deque<Move> moves_;
  glm::dvec3 tip_{0.0}, from_{0.0};                     // m   without shaking
  double last_ = -1.0, start_ = -1.0, duration_ = 0.0;  // s   last frame; start and duration of the current move
  double length_ = 0.0;                                 // m   straight length of the current move
  std::size_t early_ = kNone;                           // the last target for which the next was touched first
  double felt_ = 0.0, depth_ = 0.0;                     // N; m, of the goal under the surface
  std::size_t attempts_ = 0;
  double heated_ = 0.0;                           // s   for which such an organ has burnt
  double last_along_ = -1.0, last_beyond_ = 0.0;  // m, of the last clip or cut
  double clip_planned_ = -1.0;                    // m, along the duct
  int clip_tries_ = 0;                            // clips closed there
  bool gave_way_ = false;                         // the last plan was given up: it pushed a duct aside
  int times_aside_ = 0;                           // plans given up so, at last_along_
  double backed_ = 0.0;                           // m  scissors are drawn back from an organ that they would cut
};

}  // namespace trocar
