#include "app/window/practice/lesson.hpp"
#include "geometry/translate.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

// What is enough of each; ours.
constexpr double kSwing = 0.10;      // m    of the tip, sideways
constexpr double kDepth = 0.06;      // m    in and out along the shaft
constexpr double kRoll = 120.0;      // deg
constexpr double kTouchedFor = 1.0;  // s
constexpr double kHeldFor = 1.0;     // s
constexpr double kBurntFor = 1.0;    // s
constexpr double kLook = 25.0;       // deg  of the view, or
constexpr double kScopePath = 0.05;  // m    of the eye
constexpr double kJump = 0.02;       // m    of a tip in a picture: another instrument was taken

double angle_between(const glm::dvec3& a, const glm::dvec3& b) {
  return glm::degrees(std::acos(std::clamp(glm::dot(a, b), -1.0, 1.0)));
}

struct Words {
  const char *title, *text;
};
constexpr Words kWords[] = {
    {msgid("Move"),
     msgid("Move the mouse to and fro. The instrument turns about the hole in the belly wall, so that its tip goes "
           "against your hand: this is the fulcrum effect.")},
    {msgid("Go deeper"),
     msgid("Turn the wheel away from you, or hold the up key: the instrument goes in. The other way draws it back. "
           "Shift, held, makes every movement fine.")},
    {msgid("Touch"),
     msgid("Bring the tip to the liver, the large brown-red organ, and keep it there for a second. Deeper is darker: "
           "watch the shadow and the size of the tip.")},
    {msgid("Roll"), msgid("Hold Q or W: the instrument rolls about its own axis.")},
    {msgid("Grip"),
     msgid(
         "With the grasper at the liver, click the left button: the jaws close with a light grip. Hold the tissue for "
         "a second. The button held down grips firmly.")},
    {msgid("Let go"), msgid("Click once more: the jaws open.")},
    {msgid("Burn"),
     msgid(
         "Take the hook with the key of its number, at the bottom left. Touch the liver with it and hold E, the pedal "
         "that cuts. R coagulates. Let go of the pedal before you move away.")},
    {msgid("Look"),
     msgid(
         "Hold the right button and move the mouse, or turn the wheel meanwhile: the scope moves. Keep the tips in the "
         "picture.")},
    {msgid("Pause"), msgid("Esc pauses and lets you leave, F1 shows all keys. Press Esc now, then Esc again.")},
    {msgid("Well done"), msgid("This is all a task needs. The first of the curriculum is Navigate the camera.")},
};

}  // namespace

LessonView lesson_view(const Session& session, std::size_t in_hand, bool paused, double elapsed) {
  LessonView view;
  view.elapsed = elapsed, view.in_hand = in_hand, view.paused = paused;
  const std::vector<Instrument>& tools = session.instruments();
  for (std::size_t k = 0; k < tools.size(); ++k)
    if (tools[k].kind == InstrumentKind::Hook) view.hook = k;
  const ScopePose& scope = session.scope().pose;
  view.eye = scope.eye, view.forward = axes_of(scope).forward;
  if (in_hand >= tools.size()) return view;
  const Instrument& tool = tools[in_hand];
  view.tip = tool.pose.tip, view.pivot = tool.pose.pivot, view.roll_deg = tool.roll_deg;
  for (const Organ& organ : session.organs())
    view.touches |=
        in_hand + 1 < organ.touches.first.size() && organ.touches.first[in_hand + 1] > organ.touches.first[in_hand];
  view.holds = tool.grasp.holding();
  view.burns = view.touches && tool.energy != Diathermy::Off;
  return view;
}

const char* Lesson::title() const { return tr(kWords[number()].title); }
const char* Lesson::text() const { return tr(kWords[number()].text); }

void Lesson::begin(Part part) {
  part_ = std::min(part, Part::End);
  progress_ = path_ = held_ = 0.0;
  last_.reset();
}

void Lesson::see(const LessonView& view) {
  if (done()) return;
  progress_ = std::clamp(measure(view), progress_, 1.0);
  last_ = view;
  if (progress_ >= 1.0) skip();
}

// Returns how much of this part is done. Time that must be held without a break begins again.
double Lesson::measure(const LessonView& view) {
  const bool same = last_ && last_->in_hand == view.in_hand && glm::distance(last_->tip, view.tip) < kJump;
  const auto along = [&](double change) { return same ? path_ += change : path_; };
  const auto held = [&](bool holds, double needed) {
    held_ = holds ? held_ + view.elapsed : 0.0;
    return held_ / needed;
  };
  const auto depth = [](const LessonView& of) { return glm::distance(of.tip, of.pivot); };
  switch (part_) {
    case Part::Move: {
      if (!same) return progress_;
      const double change = depth(view) - depth(*last_), moved = glm::distance(view.tip, last_->tip);
      return along(std::sqrt(std::max(moved * moved - change * change, 0.0))) / kSwing;
    }
    case Part::Insert:
      return along(same ? std::abs(depth(view) - depth(*last_)) : 0.0) / kDepth;
    case Part::Touch:
      return held(view.touches, kTouchedFor);
    case Part::Roll:
      return along(same ? std::abs(std::remainder(view.roll_deg - last_->roll_deg, 360.0)) : 0.0) / kRoll;
    case Part::Grip:
      return held(view.holds, kHeldFor);
    case Part::Release:
      return view.holds ? 0.0 : 1.0;
    case Part::Burn:
      // What burns away is no longer touched, so breaks are allowed.
      path_ += view.in_hand == view.hook && view.burns ? view.elapsed : 0.0;
      return path_ / kBurntFor;
    case Part::Scope:
      if (!last_) return progress_;
      path_ += glm::distance(view.eye, last_->eye) / kScopePath + angle_between(view.forward, last_->forward) / kLook;
      return path_;
    case Part::Pause:
      return last_ && last_->paused && !view.paused ? 1.0 : 0.0;
    case Part::End:
      break;
  }
  return 0.0;
}

}  // namespace trocar
