// Implements peg transfer: rings on the pegs of one side are lifted by one hand, handed over in the air, and placed on
// the pegs of the other side by the other hand; then all go back the other way. Who holds a ring decides: it counts as
// held by an instrument while both jaws touch it and it keeps them apart. So a ring that closed jaws push along the
// board is not held, and one that was not handed over in the air, without coming down to the board, does not count.
// Rules and limits of the Fundamentals of Laparoscopic Surgery, scores of their ancestor MISTELS: docs/tasks.md.
// Units: metres, seconds.   Tested in tests/sim/task/peg_transfer_test.cpp
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/watches.hpp"

namespace trocar {
namespace {

// Jaws that hold nothing close further than this.
constexpr double kApart = 0.02;  // 1  aperture
// In the air: the whole ring is this far above the feet of the pegs.
constexpr double kInAir = 3e-3;  // m
// On a peg: its axis runs through the ring this near to the ring's middle, and the ring has gone down this far.
constexpr double kAroundPeg = 4.5e-3, kDown = 0.6;  // m, 1  of the peg's height
// A ring that was let go has come to rest when its middle moves less than this in a frame, for so long.
constexpr double kStill = 2e-4, kRests = 0.3;  // m, s
// The ancestor's score at this task: limit - time - penalty, where the penalty is the percentage of lost objects.
constexpr double kPercent = 100.0;

enum class RingState { Rests, Held, Loose, Lost };

struct Ring {
  std::uint32_t organ = 0;
  glm::dvec3 middle{0.0};  // m
  double lowest = 0.0;     // m  above the feet of the pegs
  RingState state = RingState::Rests;
  std::vector<Lasting> held;  // [tool]
  bool was_in_air = false;    // since it was last grasped
  bool lifted = false;        // by the hand whose turn it is, alone, into the air
  bool handed = false;        // then the other took it in the air
  bool received = false;      // then the other alone
  bool placed = false;        // in this direction
  double still = 0.0;         // s
};

class PegTransfer final : public TaskGoal {
 public:
  PegTransfer(const TaskScene& task, const TaskStage& stage)
      : task_(task), marks_(marks_of(task, stage)), pegs_(stage.pegs), height_(stage.peg_height) {
    first_ = instrument_of(stage, task.instrument);
    second_ = first_;
    for (std::size_t k = 0; k < stage.kinds.size(); ++k)
      if (k != first_ && stage.kinds[k] == InstrumentKind::Grasper && second_ == first_) second_ = k;
    if (pegs_.empty() || second_ == first_)
      throw InputError("peg-transfer needs a board with pegs and two graspers; add them to the scene");
    for (const glm::dvec3& peg : pegs_) middle_ += peg / static_cast<double>(pegs_.size());
    for (const SurfaceMark& mark : marks_) {
      Ring ring;
      ring.organ = mark.organ;
      ring.held.assign(stage.instruments.size(), Lasting(kContactLasts));
      rings_.push_back(std::move(ring));
    }
  }

  const std::vector<SurfaceMark>& marks() const override { return marks_; }

  void step(const Observation& seen, double dt, TaskLog& log) override {
    for (Ring& ring : rings_) {
      if (ring.state == RingState::Lost) continue;
      const glm::dvec3 before = ring.middle;
      measure(seen, ring);
      if (!begun_) continue;
      ring.still = glm::distance(before, ring.middle) < kStill ? ring.still + dt : 0.0;
      follow(seen, ring, log);
    }
    if (!begun_) begun_ = true, side_ = side_of(rings_.front().middle);
    elapsed_ += dt;
    if (std::ranges::all_of(rings_, [](const Ring& ring) { return ring.placed || ring.state == RingState::Lost; }))
      turn_round(seen, log);
  }

  double progress() const override {
    if (done_) return 1.0;
    const double all = 2.0 * static_cast<double>(rings_.size());
    return 0.999 * (back_ ? 0.5 : 0.0) + 0.999 * static_cast<double>(count(&Ring::placed)) / all;
  }
  std::optional<std::size_t> tool() const override { return giver(); }

  void say(std::string& hint, std::string& warning) const override {
    const auto held = std::ranges::find_if(rings_, [](const Ring& ring) { return ring.state == RingState::Held; });
    if (held == rings_.end()) {
      const char* text = giver() == first_ ? tr("lift a ring with the first hand: {} of {} placed")
                                           : tr("lift a ring with the other hand: {} of {} placed");
      fmt::format_to(std::back_inserter(hint), fmt::runtime(text), count(&Ring::placed), rings_.size());
    } else if (!held->lifted) {
      hint += tr("lift the ring off the board");
    } else if (!held->handed) {
      hint += tr("hand the ring over in the air");
    } else {
      hint +=
          held->received ? tr("place the ring on a peg of the other side") : tr("let go with the hand that lifted it");
    }
    if (blamed_now_) warning += tr("the ring was not handed over in the air");
  }

  void add_metrics(PartList& parts) const override {
    const double all = 2.0 * static_cast<double>(rings_.size());
    parts.add("task_rings", "Rings handed over", "", static_cast<double>(handed_), all, 0.0);
    parts.add("task_ring_drops", "Rings dropped", "", static_cast<double>(drops_), 0.0, 2.0);
    parts.add("task_rings_lost", "Rings out of view", "", static_cast<double>(count_lost()), 0.0, 1.0);
    parts.add("task_mistels", "Score as MISTELS", "", mistels(), task_.time_limit - task_.time_good, 0.0);
  }

  void draw(DrawnMarks&) const override {}

 private:
  std::size_t giver() const { return back_ ? second_ : first_; }
  std::size_t receiver() const { return back_ ? first_ : second_; }
  std::size_t count(bool Ring::*flag) const { return static_cast<std::size_t>(std::ranges::count(rings_, true, flag)); }
  std::size_t count_lost() const {
    return static_cast<std::size_t>(std::ranges::count(rings_, RingState::Lost, &Ring::state));
  }
  // The side of the board: along x, from the middle of the pegs.
  int side_of(const glm::dvec3& at) const { return at.x > middle_.x ? 1 : -1; }
  int target_side() const { return back_ ? side_ : -side_; }

  // limit - time - penalty; 0 when the task is not done.
  double mistels() const {
    const double penalty = kPercent * static_cast<double>(count_lost()) / static_cast<double>(rings_.size());
    return done_ ? std::max(task_.time_limit - elapsed_ - penalty, 0.0) : 0.0;
  }

  static bool holds(const Observation& seen, const Ring& ring, std::size_t tool) {
    const SeenOrgan& organ = seen.organs[ring.organ];
    if (organ.part.empty() || !(seen.tools[tool].grip > kApart)) return false;
    bool upper = false, lower = false;
    for (std::uint32_t i = organ.touches.first[tool]; i < organ.touches.first[tool + 1]; ++i)
      upper |= organ.part[i] == 1, lower |= organ.part[i] == 2;
    return upper && lower;
  }

  void measure(const Observation& seen, Ring& ring) const {
    const std::span<const glm::vec3> points = seen.organs[ring.organ].surface.positions;
    glm::dvec3 sum(0.0);
    double low = INFINITY;
    for (const glm::vec3& p : points) sum += glm::dvec3(p), low = std::min(low, static_cast<double>(p.z));
    if (points.empty()) return;
    ring.middle = sum / static_cast<double>(points.size());
    ring.lowest = low - middle_.z;
  }

  bool on_peg(const Ring& ring) const {
    return std::ranges::any_of(pegs_, [&](const glm::dvec3& peg) {
      const glm::dvec3 off = ring.middle - peg;
      return off.x * off.x + off.y * off.y < kAroundPeg * kAroundPeg && off.z < kDown * height_;
    });
  }

  void follow(const Observation& seen, Ring& ring, TaskLog& log) {
    bool any = false;
    for (std::size_t tool : {first_, second_}) {
      ring.held[tool].see(holds(seen, ring, tool), seen.time);
      any = any || ring.held[tool].now();
    }
    if (ring.lowest <= kInAir && !ring.received) ring.lifted = ring.handed = false;
    if (any && ring.state != RingState::Held) grasp(ring);
    if (any) carry(ring);
    if (!any && ring.state == RingState::Held) ring.state = RingState::Loose, ring.still = 0.0;
    if (ring.state == RingState::Loose && ring.still > kRests) settle(seen, ring, log);
    const SeenPoint point = seen_point(seen.scope, seen.lens, ring.middle);
    if (ring.state == RingState::Loose && ring.was_in_air && !point.visible && ring.lowest < -kInAir)
      lose(seen.time, ring, log);
  }

  void grasp(Ring& ring) {
    if (ring.state == RingState::Rests) ring.was_in_air = ring.lifted = false;
    ring.state = RingState::Held;
    blamed_now_ = false;
  }

  // Between the two hands the ring must not come down to the board.
  void carry(Ring& ring) {
    const bool gives = ring.held[giver()].now(), takes = ring.held[receiver()].now();
    const bool in_air = ring.lowest > kInAir;
    ring.was_in_air = ring.was_in_air || in_air;
    if (in_air && gives && !takes) ring.lifted = true, ring.handed = ring.received = false;
    if (in_air && takes && ring.lifted) ring.handed = true;
    if (takes && !gives && ring.handed) ring.received = true;
    if (in_air && ring.placed) ring.placed = false, --handed_;
  }

  // A ring that was let go lies still.
  void settle(const Observation& seen, Ring& ring, TaskLog& log) {
    ring.state = RingState::Rests;
    const bool placed = on_peg(ring), over = side_of(ring.middle) == target_side();
    if (placed && over && ring.received) {
      ring.placed = true;
      ++handed_;
      log.note(seen.time, trf("ring {} placed", &ring - rings_.data() + 1));
    } else if (placed && over && ring.was_in_air && !ring.placed) {
      blamed_now_ = true;
      log.error(seen.time, tr("a ring was not handed over in the air"));
    } else if (!placed && ring.was_in_air) {
      ++drops_;
      if (seen_point(seen.scope, seen.lens, ring.middle).visible)
        log.error(seen.time, tr("a ring was dropped"));
      else
        lose(seen.time, ring, log);
    }
    ring.lifted = ring.handed = ring.received = ring.was_in_air = false;
  }

  void lose(double time, Ring& ring, TaskLog& log) {
    ring.state = RingState::Lost;
    log.error(time, tr("a ring fell out of view"));
  }

  void turn_round(const Observation& seen, TaskLog& log) {
    if (back_ || count_lost() == rings_.size()) {
      done_ = true;
      return;
    }
    back_ = true;
    log.note(seen.time, tr("all rings on the other side; now back"));
    for (Ring& ring : rings_) ring.placed = ring.lifted = ring.handed = ring.received = false;
  }

  TaskScene task_;
  std::vector<SurfaceMark> marks_;
  std::vector<glm::dvec3> pegs_;  // m, their feet
  double height_;                 // m
  glm::dvec3 middle_{0.0};        // m, of the feet
  std::size_t first_ = 0, second_ = 0;
  std::vector<Ring> rings_;
  int side_ = -1;  // of the rings at the start
  bool begun_ = false, back_ = false, done_ = false, blamed_now_ = false;
  std::size_t handed_ = 0, drops_ = 0;
  double elapsed_ = 0.0;  // s
};

}  // namespace

std::unique_ptr<TaskGoal> make_peg_transfer(const TaskScene& task, const TaskStage& stage) {
  return std::make_unique<PegTransfer>(task, stage);
}

}  // namespace trocar
