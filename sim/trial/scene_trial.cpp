#include "sim/trial/scene_trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cpu_collision/trees/surface_tree.hpp"
#include "deform/point_loads.hpp"
#include "geometry/elementary.hpp"
#include "geometry/frame.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/session/sight_watch.hpp"

namespace trocar {

Spread spread_of(std::vector<float> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
  };
  return {at(0.5), at(0.99), static_cast<double>(values.back())};
}

PhaseTimes phase_times(std::span<const StageMs> frames, double frame_ms) {
  PhaseTimes phase;
  phase.frames = frames.size();
  std::vector<float> values(frames.size());
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    for (std::size_t k = 0; k < frames.size(); ++k) values[k] = frames[k][stage];
    phase.stage[stage] = spread_of(values);
  }
  for (std::size_t k = 0; k < frames.size(); ++k) {
    values[k] = std::accumulate(frames[k].begin(), frames[k].end(), 0.f);
    if (static_cast<double>(values[k]) > frame_ms) phase.late += 1.0 / static_cast<double>(frames.size());
  }
  phase.total = spread_of(values);
  return phase;
}

FrameVerdict frame_verdict(const PhaseTimes& rest, const PhaseTimes& press, double frame_ms) {
  if (std::max(rest.total.median, press.total.median) > frame_ms) return FrameVerdict::TooHeavy;
  return std::max(rest.total.high, press.total.high) > frame_ms ? FrameVerdict::Tight : FrameVerdict::Fits;
}

std::optional<double> coarser_by(double excess, double share, bool sets_substeps) {
  if (!(excess > 0.0)) return 1.0;
  if (!(excess < share)) return {};
  return elementary::pow(share / (share - excess), sets_substeps ? 0.25 : 1.0 / 3.0);
}

namespace {

// A ray inward starts this far below the surface, so that it does not meet its own face.
constexpr double kBelowSurface = 1e-5;  // m
constexpr std::size_t kMostRays = 4000;
constexpr double kThinShare = 0.01;

struct Ray {
  double thickness, area;  // m, m^2
  glm::vec3 from;          // m
};

}  // namespace

double Thickness::below(double thickness) const {
  const auto rays = std::lower_bound(length.begin(), length.end(), thickness) - length.begin();
  return rays > 0 ? share[static_cast<std::size_t>(rays) - 1] : 0.0;
}

Thickness measure_thickness(const MeshView& organ) {
  const std::unique_ptr<SurfaceTree> tree = make_surface_tree({});
  tree->rebuild(organ);
  std::vector<Ray> rays;
  double area = 0.0;
  const std::size_t stride = organ.faces.size() / kMostRays + 1;
  for (std::size_t k = 0; k < organ.faces.size(); k += stride) {
    const Triangle face = triangle_of(organ.positions, organ.faces[k]);
    const glm::dvec3 across = glm::cross(face.b - face.a, face.c - face.a), middle = (face.a + face.b + face.c) / 3.0;
    const double twice = glm::length(across);
    if (!(twice > 0.0)) continue;
    const glm::dvec3 inward = -across / twice;
    const std::optional<RayHit> hit = tree->first_hit(middle + kBelowSurface * inward, inward);
    if (!hit) continue;
    rays.push_back({hit->t + kBelowSurface, 0.5 * twice, glm::vec3(middle)});
    area += 0.5 * twice;
  }
  std::sort(rays.begin(), rays.end(), [](const Ray& a, const Ray& b) { return a.thickness < b.thickness; });
  Thickness found;
  double sum = 0.0;
  for (const Ray& ray : rays) {
    const bool before = sum < kThinShare * area;
    sum += ray.area;
    if (before && sum >= kThinShare * area) found.thinnest = ray.thickness, found.at = ray.from;
    found.length.push_back(ray.thickness);
    found.share.push_back(sum / area);
  }
  return found;
}

namespace {

// Where an instrument presses an organ.
struct PressTarget {
  std::size_t tool, organ;
  glm::dvec3 point, along, drag;  // m; unit, from the trocar; unit, sideways
};

constexpr double kFacing = 0.5;            // cosine  of a surface towards the trocar
constexpr std::size_t kSeenTogether = 64;  // points whose lines are tried together
constexpr std::size_t kMostSeen = 512;     // points that are tried
constexpr float kFromAttachment = 0.015f;  // m  a press is so far from a rigid attachment, where there is such a place
constexpr double kNearTrocar = 0.03;       // m  a withdrawn tip is this far inside, or
constexpr double kNearShare = 0.3;         // 1  this share of the way to the organ, whichever is less
constexpr double kGap = 0.01;              // m  above the surface a press begins
constexpr double kWait = 0.1;              // s  after pressing and after dragging

glm::dvec3 unit_across(const glm::dvec3& along) {
  const glm::dvec3 other = std::abs(along.y) < 0.9 ? glm::dvec3(0, 1, 0) : glm::dvec3(1, 0, 0);
  return glm::normalize(glm::cross(along, other));
}

// Mean normals of the faces around each vertex, not unit. [vertex]
std::vector<glm::dvec3> normals_of(const Organ& organ) {
  std::vector<glm::dvec3> normals(organ.positions.size(), glm::dvec3(0.0));
  for (const glm::uvec3& face : organ.mesh.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    const glm::dvec3 normal = glm::cross(t.b - t.a, t.c - t.a);
    for (int corner = 0; corner < 3; ++corner) normals[face[corner]] += normal;
  }
  return normals;
}

// Tissue near a rigid attachment does not yield, so a press there says nothing. Returns whether the point is free.
bool can_yield(const Organ& organ, const glm::vec3& point) {
  for (std::size_t node = 0; node < organ.state.x.size(); ++node)
    if (!(organ.tissue.inverse_mass[node] > 0.f) && glm::distance(organ.state.x[node], point) < kFromAttachment)
      return false;
  return true;
}

// Returns the point of the organ nearest to the tip that faces the trocar and to which a free line leads from there.
std::optional<PressTarget> find_target(std::span<const Organ> organs, std::size_t k, SightWatch& sight,
                                       const std::vector<glm::dvec3>& normals, const InstrumentScene& instrument) {
  const Organ& organ = organs[k];
  std::vector<std::pair<double, std::uint32_t>> facing;  // m, vertex
  for (std::uint32_t v = 0; v < organ.positions.size(); ++v) {
    const glm::dvec3 point(organ.positions[v]), to_trocar = instrument.pivot - point;
    const double lengths = glm::length(normals[v]) * glm::length(to_trocar);
    if (lengths > 0.0 && glm::dot(normals[v], to_trocar) > kFacing * lengths)
      facing.emplace_back(glm::distance(point, instrument.tip), v);
  }
  const auto held = [&](const auto& at) { return !can_yield(organ, organ.positions[at.second]); };
  if (std::vector<std::pair<double, std::uint32_t>> free = facing; std::erase_if(free, held) > 0 && !free.empty())
    facing = std::move(free);
  std::sort(facing.begin(), facing.end());
  // The nearest first; where none of those is free, some of all.
  std::vector<SightPoint> tried;
  const std::size_t stride = std::max<std::size_t>(facing.size() / kMostSeen, 1);
  for (std::size_t i = 0; i < facing.size(); i += i + 1 < kSeenTogether ? 1 : stride)
    tried.push_back({glm::dvec3(organ.positions[facing[i].second]), kBeforeTarget});
  for (std::size_t first = 0; first < tried.size(); first += kSeenTogether) {
    const auto together = std::span(tried).subspan(first, std::min(kSeenTogether, tried.size() - first));
    sight.look(organs, instrument.pivot, together);
    const auto free = std::find(sight.hidden().begin(), sight.hidden().end(), std::uint8_t{0});
    if (free == sight.hidden().end()) continue;
    PressTarget target{0, k, together[static_cast<std::size_t>(free - sight.hidden().begin())].at, {}, {}};
    target.along = glm::normalize(target.point - instrument.pivot);
    const glm::dvec3 middle = 0.5 * (glm::dvec3(organ.box.low) + glm::dvec3(organ.box.high)) - target.point;
    const glm::dvec3 sideways = middle - glm::dot(middle, target.along) * target.along;
    target.drag = glm::length(sideways) > kGap ? glm::normalize(sideways) : unit_across(target.along);
    return target;
  }
  return {};
}

// Chooses presses: each organ by the instrument that has the fewest so far, of those that reach it; then each other
// instrument one.
std::vector<PressTarget> choose_presses(const Session& session, const Scene& scene) {
  const std::vector<Organ>& organs = session.organs();
  SightWatch sight;
  std::vector<std::size_t> presses(scene.instruments.size(), 0);
  std::vector<PressTarget> chosen;
  std::vector<std::vector<glm::dvec3>> normals;
  for (const Organ& organ : organs) normals.push_back(normals_of(organ));
  const auto add = [&](std::size_t tool, std::size_t organ) {
    std::optional<PressTarget> target = find_target(organs, organ, sight, normals[organ], scene.instruments[tool]);
    if (!target) return false;
    target->tool = tool;
    chosen.push_back(*target);
    ++presses[tool];
    return true;
  };
  std::vector<std::size_t> tools(scene.instruments.size());
  std::iota(tools.begin(), tools.end(), std::size_t{0});
  for (std::size_t k = 0; k < organs.size(); ++k) {
    std::stable_sort(tools.begin(), tools.end(), [&](std::size_t a, std::size_t b) { return presses[a] < presses[b]; });
    for (const std::size_t tool : tools)
      if (add(tool, k)) break;
  }
  for (std::size_t tool = 0; tool < presses.size(); ++tool)
    for (std::size_t k = 0; presses[tool] == 0 && k < organs.size(); ++k) add(tool, k);
  return chosen;
}

// Groups presses that are made together, each by another instrument. [round][press]
std::vector<std::vector<PressTarget>> rounds_of(std::vector<PressTarget> presses, std::size_t hands) {
  std::vector<std::vector<PressTarget>> rounds;
  for (const PressTarget& press : presses) {
    const auto has_room = [&](const std::vector<PressTarget>& round) {
      return round.size() < hands && std::none_of(round.begin(), round.end(),
                                                  [&](const PressTarget& other) { return other.tool == press.tool; });
    };
    const auto round = std::find_if(rounds.begin(), rounds.end(), has_room);
    (round == rounds.end() ? rounds.emplace_back() : *round).push_back(press);
  }
  return rounds;
}

// A tip moves on straight lines between rows, and rests after the last.
class TrialHand final : public Device {
 public:
  explicit TrialHand(const Trajectory& rows) : rows_(rows) {}
  bool follows_ticks() const override { return true; }
  DevicePose pose(const FrameClock& clock) override {
    const TrajectoryRow row = row_at(rows_, clock.time);
    return {row.pivot, row.tip, row.roll_deg, row.grip, row.energy};
  }

 private:
  const Trajectory& rows_;
};

class Trial {
 public:
  Trial(const Scene& scene, BackendMaker& backends, const std::string& backend, const TrialParams& params)
      : scene_(scene), params_(params), paths_(scene.instruments.size()) {
    LoopPlan plan{.backend = backend, .task = false};
    plan.device = [this](const InstrumentScene& instrument) { return make_hand(instrument); };
    loop_.emplace(scene, backends, plan);
  }

  void record(const OpenSink& sink, const std::string& gl) {
    if (sink) loop_->record(sink, gl);
  }

  SceneTrial run(const std::function<bool(double)>& goes_on) {
    run_until(params_.warm_up + params_.rest, goes_on);
    at_rest_ = at_press_ = substeps_of(session(), loop_->tick_length(), 1);
    for (const std::vector<PressTarget>& round : rounds_of(choose_presses(session(), scene_), params_.hands)) {
      if (!trial_.complete) break;
      plan(round);
      run_until(end_, goes_on);
    }
    loop_->close();
    return finish();
  }

 private:
  const Session& session() const { return loop_->session(); }

  std::unique_ptr<Device> make_hand(const InstrumentScene& instrument) {
    const auto tool = static_cast<std::size_t>(&instrument - scene_.instruments.data());
    paths_[tool].rows = {{0.0, instrument.pivot, instrument.tip}};
    return std::make_unique<TrialHand>(paths_[tool]);
  }

  // Adds a row to a tip's path; returns its time.
  double go(std::size_t tool, const glm::dvec3& tip, double speed) {
    const TrajectoryRow last = paths_[tool].rows.back();
    const double time = last.time + std::max(glm::distance(last.tip, tip) / speed, loop_->tick_length());
    paths_[tool].rows.push_back({time, last.pivot, tip});
    return time;
  }
  void wait(std::size_t tool, double until) {
    TrajectoryRow row = paths_[tool].rows.back();
    row.time = std::max(row.time, until);
    paths_[tool].rows.push_back(row);
  }
  double withdraw(std::size_t tool) {
    const TrajectoryRow& last = paths_[tool].rows.back();
    const glm::dvec3 inside = last.tip - last.pivot;
    const double length = glm::length(inside), near = std::min(kNearTrocar, kNearShare * length);
    return go(tool, last.pivot + near / length * inside, params_.travel_speed);
  }

  // Plans the paths of a round: every tip is withdrawn, then some press.
  void plan(const std::vector<PressTarget>& round) {
    double begin = time_;
    for (std::size_t tool = 0; tool < paths_.size(); ++tool) {
      wait(tool, time_);
      if (!withdrawn_) begin = std::max(begin, withdraw(tool));
    }
    withdrawn_ = true;
    pressing_.clear();
    end_ = begin;
    for (const PressTarget& press : round) {
      const InstrumentScene& instrument = scene_.instruments[press.tool];
      const double length = glm::distance(press.point, instrument.pivot);
      const glm::dvec3 touches = press.point - instrument.radius * press.along,
                       deep = touches + params_.depth * press.along;
      wait(press.tool, begin);
      go(press.tool, instrument.pivot + std::min(kNearTrocar, kNearShare * length) * press.along, params_.travel_speed);
      const double from = go(press.tool, touches - kGap * press.along, params_.travel_speed);
      wait(press.tool, go(press.tool, deep, params_.press_speed) + kWait);
      const double to = go(press.tool, deep + params_.drag * press.drag, params_.press_speed) + kWait;
      wait(press.tool, to);
      go(press.tool, touches + params_.drag * press.drag - kGap * press.along, params_.press_speed);
      end_ = std::max(end_, withdraw(press.tool));
      pressing_.push_back({trial_.presses.size(), from, to});
      trial_.presses.push_back({press.tool, press.organ});
    }
  }

  void run_until(double end, const std::function<bool(double)>& goes_on) {
    while (time_ < end) {
      if (!goes_on(time_)) {
        trial_.complete = false;
        return;
      }
      loop_->step();
      measure();
      ++frame_;
      time_ = static_cast<double>(frame_) * loop_->tick_length();
    }
  }

  void measure() {
    StageMs stages;
    std::copy(session().stage_ms().begin(), session().stage_ms().end(), stages.begin());
    if (pressing_.empty()) {
      if (time_ >= params_.warm_up) rest_.push_back(stages);
      return;
    }
    const auto presses = [this](const Pressing& now) { return time_ >= now.from && time_ <= now.to; };
    if (std::none_of(pressing_.begin(), pressing_.end(), presses)) return;
    press_.push_back(stages);
    measure_depths();
    for (const Pressing& now : pressing_) {
      if (!presses(now)) continue;
      TrialPress& press = trial_.presses[now.press];
      press.force = std::max(press.force, static_cast<double>(glm::length(session().instruments()[press.tool].force)));
      press.deepest = std::max(press.deepest, depth_of(press.tool, press.organ));
    }
  }

  // Finds how deep each tool is in each organ after this frame, and the frame with the most contact substeps.
  void measure_depths() {
    const std::vector<Organ>& organs = session().organs();
    const std::span<const ToolStep> steps = session().part_steps();
    depths_.assign(paths_.size() * organs.size(), 0.0);
    int pieces = 1;
    for (std::size_t k = 0; k < organs.size(); ++k) {
      for (std::uint32_t part = 0; part < steps.size(); ++part) measure_depth(k, part, steps[part]);
      pieces = std::max(pieces, piece_count(steps, organs[k].contacts));
    }
    if (pieces > trial_.contact_substeps) {
      trial_.contact_substeps = pieces;
      at_press_ = substeps_of(session(), loop_->tick_length(), pieces);
    }
    // A tip in an organ: contacts no longer know the way out. Its round end is a radius deeper.
    for (std::size_t tool = 0; tool < session().buried_tips().size(); ++tool)
      if (const std::optional<BuriedTip>& tip = session().buried_tips()[tool])
        note(static_cast<double>(tip->depth) + scene_.instruments[tool].radius, tool, tip->organ);
  }

  // Faces show how deep the surface of a part is in the organ, and contacts how deep its axis or polytope.
  void measure_depth(std::size_t k, std::uint32_t part, const ToolStep& step) {
    const Organ& organ = session().organs()[k];
    const ContactList& list = organ.contacts;
    if (!list.has_candidates(part)) return;
    const glm::vec3 shift = part < organ.state.dents.size() ? organ.state.dents[part].shift : glm::vec3(0.f);
    const std::uint32_t tool = session().parts().tool[part];
    const PressingTool pressing(step);
    for (std::uint32_t i = list.first_candidate[part]; i < list.first_candidate[part + 1]; ++i) {
      Triangle face = triangle_of(organ.skin, organ.mesh.faces[index(list.candidates[i])]);
      for (glm::dvec3* corner : {&face.a, &face.b, &face.c}) *corner -= glm::dvec3(shift);
      const ToolTissue near = pressing.closest(face, pressing.radius());
      const glm::dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
      if (glm::dot(normal, near.on_tool - near.on_tissue) > 0.0) note(pressing.radius() - near.distance, tool, k);
    }
    for (std::uint32_t i = list.first[part]; i < list.first[part + 1]; ++i) {
      const glm::vec3 point = contact_position(list.contacts[i], organ.skin) - shift;
      note(static_cast<double>(depth_in_tool(step, point, list.contacts[i].normal)), tool, k);
    }
  }

  double& depth_of(std::size_t tool, std::size_t organ) { return depths_[tool * session().organs().size() + organ]; }

  void note(double depth, std::size_t tool, std::size_t organ) {
    depth_of(tool, organ) = std::max(depth_of(tool, organ), depth);
    if (depth > trial_.deepest.depth) trial_.deepest = {depth, tool, organ};
  }

  SceneTrial finish() {
    const double frame_ms = 1e3 * loop_->tick_length();
    trial_.rest = phase_times(rest_, frame_ms);
    trial_.press = phase_times(press_, frame_ms);
    trial_.backend = session().backend().name;
    trial_.why_backend = session().backend().why;
    trial_.seconds = time_;
    for (std::size_t k = 0; k < session().organs().size(); ++k) {
      const Organ& organ = session().organs()[k];
      OrganTrial& found = trial_.organs.emplace_back();
      found.nodes = organ.tissue.rest.size(), found.faces = organ.mesh.faces.size();
      if (!is_thin(organ.tissue)) found.thickness = measure_thickness(organ.mesh.view());
      found.rest = at_rest_[k], found.press = at_press_[k];
    }
    return std::move(trial_);
  }

  struct Pressing {
    std::size_t press;
    double from, to;  // s
  };

  const Scene& scene_;
  TrialParams params_;
  std::vector<Trajectory> paths_;  // [tool]
  std::optional<SessionLoop> loop_;
  double time_ = 0.0, end_ = 0.0;  // s
  std::size_t frame_ = 0;
  bool withdrawn_ = false;
  std::vector<Pressing> pressing_;  // of the round
  std::vector<double> depths_;      // [tool * organs + organ] m, in this frame
  std::vector<StageMs> rest_, press_;
  std::vector<OrganSubsteps> at_rest_, at_press_;  // [organ]
  SceneTrial trial_;
};

}  // namespace

SceneTrial try_scene(const Scene& scene, BackendMaker& backends, const std::string& backend, const OpenSink& sink,
                     const std::string& gl, const std::function<bool(double)>& goes_on, const TrialParams& params) {
  Trial trial(scene, backends, backend, params);
  trial.record(sink, gl);
  return trial.run(goes_on);
}

}  // namespace trocar
