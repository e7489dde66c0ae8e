#include "sim/scene/scene_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {
namespace {

template <typename Value, typename Given>
void replace(Value& value, const std::optional<Given>& given) {
  if (given) value = static_cast<Value>(*given);
}

void apply_to_task(const TaskLevel& level, TaskScene& task) {
  replace(task.tolerance, level.tolerance);
  replace(task.hold, level.hold);
  replace(task.lift, level.lift);
  replace(task.most_force, level.most_force);
  replace(task.most_tremor, level.most_tremor);
  replace(task.time_good, level.time_good);
  replace(task.time_limit, level.time_limit);
}

void apply_to_view(const TaskLevel& level, ScopeScene& scope) {
  replace(scope.eye, level.scope_eye);
  replace(scope.angle_deg, level.scope_angle_deg);
  replace(scope.spin_deg, level.scope_spin_deg);
}

void apply_to_vessel(const TaskLevel& level, VesselScene& vessel) {
  if (!vessel.opened) return;
  if (level.opened) vessel.opened = level.opened;
  replace(vessel.flow.rate_ml_min, level.rate_ml_min);
  replace(vessel.pooled_ml, level.pooled_ml);
}

// The order of the instruments stays, because devices are assigned by it.
void swap_trocars(InstrumentScene& a, InstrumentScene& b) {
  std::swap(a.pivot, b.pivot);
  std::swap(a.tip, b.tip);
  std::swap(a.axis, b.axis);
}

}  // namespace

int levels_of(const Scene& scene) { return scene.task ? 1 + static_cast<int>(scene.task->levels.size()) : 1; }

std::string level_name(const Scene& scene, int number) {
  return number < 2 ? "" : scene.task->levels[static_cast<std::size_t>(number - 2)].name;
}

Scene with_level(const Scene& scene, const std::optional<int>& number) {
  if (!number || *number == 1) return scene;
  const int last = levels_of(scene);
  if (last == 1)
    throw InputError(
        fmt::format("{}: the scene has no [[task.level]], so only level 1; leave --level out", scene.file.string()));
  if (*number < 1 || *number > last)
    throw InputError(
        fmt::format("{}: the scene has no level {}; it has levels 1 to {}", scene.file.string(), *number, last));
  Scene levelled = scene;
  const TaskLevel level = scene.task->levels[static_cast<std::size_t>(*number - 2)];
  levelled.task->levels.clear();
  levelled.task->at_level = *number;
  apply_to_task(level, *levelled.task);
  apply_to_view(level, levelled.scope);
  replace(levelled.breathing.amplitude, level.breathing_amplitude);
  replace(levelled.breathing.rate, level.breathing_rate);
  for (OrganScene& organ : levelled.organs)
    if (organ.vessel) apply_to_vessel(level, *organ.vessel);
  if (level.swap_trocars) swap_trocars(levelled.instruments[0], levelled.instruments[1]);
  levelled.title += fmt::format(" (level {}: {})", *number, level.name);
  return parse_scene(fmt::format("# Level {}: {}.\n", *number, level.name) + scene_text(levelled, scene.file),
                     scene.file);
}

namespace {

using glm::dvec3;
using Line = std::vector<dvec3>;

constexpr int kMostDraws = 200;         // until an anatomy has room
constexpr double kClearance = 5e-4;     // m  between the surfaces of two tubes
constexpr double kEntry = 12e-3;        // m  from the gallbladder: duct and artery may touch there, inside it
constexpr double kClipRoom = 4e-3;      // m  between the target of a division and the common duct
constexpr double kShortestBand = 1e-3;  // m  of a strand
constexpr double kWindow = 7e-3, kNextSide = 6e-3;  // m  between the sides of a window
constexpr double kRoom = 12e-3;                     // m  the same, wanted
constexpr double kMostMoved = 12e-3;                // m  of a window, away from the gallbladder

// Frequencies of the courses, in percent of patients; docs/tasks.md names the sources.
constexpr double kDuctShares[] = {51.0, 6.0, 16.5, 16.0};
constexpr double kArteryShares[] = {72.6, 17.9, 9.5};
// Ours.
constexpr double kBuildShares[] = {25.0, 50.0, 25.0};
constexpr double kWallShares[] = {75.0, 25.0};
constexpr double kFatOf[] = {5.0 / 7.0, 1.0, 9.0 / 7.0};                  // 1  thickness, relative to the scene's
constexpr double kWallThicker = 1.4, kWallStiffer = 3.0, kTougher = 2.0;  // 1  of an inflamed wall and its bed
constexpr double kAdhesionsShare = 0.25, kStoneShare = 0.1, kSecondShare = 0.089;
constexpr double kTense = 2.0;  // 1  of the wall, over a stone that keeps the bile in
constexpr const char* kAdhesion = msgid("adhesion of the omentum");
constexpr const char* kSecondArtery = msgid("second cystic artery");
constexpr const char* kBuildNames[] = {"thin", "of usual build", "stout"};
constexpr const char* kWallNames[] = {"", ", inflamed wall"};
constexpr const char* kDuctNames[] = {"lateral", "high", "parallel and low", "behind the common duct"};
constexpr const char* kArteryNames[] = {"usual", "in front of the common duct", "short"};

class Draws {
 public:
  explicit Draws(std::uint32_t seed) : random_(seed) {}
  double between(double low, double high) { return low + (high - low) * static_cast<double>(random_() >> 5) * 0x1p-27; }
  dvec3 within(double size) {
    const double x = between(-size, size), y = between(-size, size), z = between(-size, size);
    return {x, y, z};
  }
  template <std::size_t N>
  std::size_t choose(const double (&shares)[N]) {
    double sum = 0.0;
    for (const double share : shares) sum += share;
    double at = between(0.0, sum);
    for (std::size_t k = 0; k + 1 < N; ++k) {
      if (at < shares[k]) return k;
      at -= shares[k];
    }
    return N - 1;
  }

 private:
  std::mt19937 random_;
};

Anatomy draw(Draws& draws) {
  Anatomy a;
  a.duct = static_cast<DuctCourse>(draws.choose(kDuctShares));
  a.artery = static_cast<ArteryCourse>(draws.choose(kArteryShares));
  const double share = draws.between(0.0, 1.0);
  a.insertion = a.duct == DuctCourse::High ? -9e-3 + 4e-3 * share : -3e-3 + 6e-3 * share;
  a.beside = draws.between(8e-3, 14e-3);
  a.sway = draws.within(1.5e-3);
  a.reach = draws.between(1.5e-3, 3e-3);
  a.build = static_cast<Build>(draws.choose(kBuildShares));
  a.wall = static_cast<Wall>(draws.choose(kWallShares));
  return a;
}

// What was added later has numbers of its own, so that the rest of a patient does not change with it.
void draw_more(std::uint32_t seed, const AnatomyScene& names, Anatomy& a) {
  constexpr std::uint32_t kOther = 0x9e3779b9u;
  Draws draws(seed ^ kOther);
  const auto is = [&](double share, bool possible) { return draws.between(0.0, 1.0) < share && possible; };
  a.adhesions = is(kAdhesionsShare, !names.adhesion_from.empty());
  a.stone = is(kStoneShare, !names.stone_mesh.empty());
  a.second_artery = is(kSecondShare, !names.second_artery.empty());
}

double length_of(const Line& line) {
  double sum = 0.0;
  for (std::size_t k = 1; k < line.size(); ++k) sum += glm::distance(line[k - 1], line[k]);
  return sum;
}

dvec3 point_at(const Line& line, double along) {
  for (std::size_t k = 1; k < line.size(); ++k) {
    const double piece = glm::distance(line[k - 1], line[k]);
    if (along <= piece) return glm::mix(line[k - 1], line[k], std::max(along, 0.0) / piece);
    along -= piece;
  }
  return line.back();
}

// Directions at a point of the common duct: along it, to the side where `from` lies, and to the back of the patient.
struct Around {
  dvec3 at, down, aside, behind;
};
Around around(const Line& main, double along, const dvec3& from) {
  Around a{point_at(main, along), {}, {}, {}};
  a.down = glm::normalize(point_at(main, along + 1e-3) - point_at(main, along - 1e-3));
  const dvec3 to = from - a.at;
  a.aside = glm::normalize(to - glm::dot(to, a.down) * a.down);
  a.behind = glm::cross(a.down, a.aside);
  if (a.behind.z > 0.0) a.behind = -a.behind;
  return a;
}

// The three tubes of a scene.
struct Tubes {
  const TubeShape &duct, &artery, &main;
};

std::vector<dvec3> duct_path(const Tubes& tubes, const Anatomy& anatomy) {
  const std::vector<dvec3>& usual = tubes.duct.path;
  const Line main = centre_line(tubes.main);
  const dvec3 start = usual.front();
  const double apart = tubes.duct.radius + tubes.main.radius + 1e-3;
  const double entry = along_line(main, usual.back()) + anatomy.insertion;
  const dvec3 first = (usual.size() > 2 ? usual[1] : 0.5 * (start + usual.back())) + anatomy.sway;
  // A point beside the common duct, or behind it (`back` 1), at a distance from its middle.
  const auto beside = [&](double along, double aside, double back, double distance) {
    const Around a = around(main, along, start);
    return a.at + distance * glm::normalize(aside * a.aside + back * a.behind);
  };
  if (anatomy.duct == DuctCourse::Parallel)
    return {start, first, beside(entry, 1.0, 0.0, apart + 2e-3), beside(entry + anatomy.beside, 1.0, 0.0, apart + 5e-4),
            point_at(main, entry + anatomy.beside + 9e-3)};
  if (anatomy.duct == DuctCourse::Behind)
    return {start,
            first,
            beside(entry - 1e-3, 1.0, 0.7, apart + 3e-3),
            beside(entry + 4e-3, 0.0, 1.0, apart + 1e-3),
            beside(entry + 9e-3, -0.7, 1.0, apart),
            point_at(main, entry + 18e-3)};
  std::vector<dvec3> path = usual;
  const dvec3 moved = point_at(main, entry) - usual.back();
  for (std::size_t k = 1; k < path.size(); ++k) {
    path[k] += static_cast<double>(k) / static_cast<double>(path.size() - 1) * moved;
    if (k + 1 < path.size()) path[k] += anatomy.sway;
  }
  return path;
}

std::vector<dvec3> artery_path(const AnatomyScene& names, const Tubes& tubes, const Anatomy& anatomy) {
  const std::vector<dvec3>& usual = tubes.artery.path;
  if (anatomy.artery == ArteryCourse::Short)
    return {names.near, 0.5 * (names.near + usual.back()) + anatomy.sway, usual.back()};
  std::vector<dvec3> path = usual;
  for (std::size_t k = 1; k + 1 < path.size(); ++k) path[k] -= anatomy.sway;
  if (anatomy.artery == ArteryCourse::Usual) return path;
  const Around crossing = around(centre_line(tubes.main), 6e-3, usual.back());
  path[0] = names.front;
  path.insert(path.begin() + 1, crossing.at - (tubes.main.radius + tubes.artery.radius + 2.5e-3) * crossing.behind);
  return path;
}

// Returns the smallest distance of the points of a line, from `first` to `last` along it, from another line.
double gap_between(const Line& line, double first, double last, const Line& other) {
  double least = INFINITY, along = 0.0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (k > 0) along += glm::distance(line[k - 1], line[k]);
    if (along < first || along > last) continue;
    least = std::min(least, glm::distance(line[k], point_at(other, along_line(other, line[k]))));
  }
  return least;
}

bool has_room(const Tubes& tubes, const Line& duct, const Line& artery, double duct_radius, double artery_radius) {
  const Line main = centre_line(tubes.main);
  const double duct_length = length_of(duct), artery_length = length_of(artery), r = tubes.main.radius;
  // The last part of the duct lies in the common duct.
  return gap_between(duct, 0.0, duct_length - (r + duct_radius + 5e-3), main) > r + duct_radius + kClearance &&
         gap_between(artery, 0.0, artery_length, main) > r + artery_radius + kClearance &&
         gap_between(duct, kEntry, duct_length, artery) > duct_radius + artery_radius + kClearance;
}

// A tube before and after: what is attached to it moves with it.
struct MovedTube {
  Line before, after;
  bool ends_at_gallbladder;

  // Keeps the distance from the gallbladder, or its share of a tube that has become shorter.
  template <typename Vector>
  void carry(Vector& p) const {
    const double old_length = length_of(before), new_length = length_of(after);
    const double along = along_line(before, dvec3(p));
    const double from_end = ends_at_gallbladder ? old_length - along : along;
    const double now = from_end * std::min(1.0, new_length / old_length);
    p = Vector(dvec3(p) + point_at(after, ends_at_gallbladder ? new_length - now : now) - point_at(before, along));
  }

  // Moves a point on the new tube along it, away from the gallbladder.
  void slide(glm::vec3& p, double by) const {
    const double along = along_line(after, dvec3(p)) + (ends_at_gallbladder ? -by : by);
    p = glm::vec3(point_at(after, std::clamp(along, 0.0, length_of(after))));
  }
};

void carry_band(BandScene& band, const std::string& organ, const MovedTube& tube) {
  if (band.organ == organ) tube.carry(band.params.from_start), tube.carry(band.params.from_end);
  if (band.to == organ) tube.carry(band.params.to_start), tube.carry(band.params.to_end);
}

// The lines of fat along a tube go with it.
void carry_fat(FatShape& fat, const MovedTube& tube, double radius) {
  constexpr double kAlongside = 4e-3;  // m, from the surface of the tube
  for (Line* line : {&fat.from, &fat.through, &fat.to}) {
    if (line->empty()) continue;
    const dvec3 middle = point_at(*line, 0.5 * length_of(*line));
    const dvec3 beside = point_at(tube.before, along_line(tube.before, middle));
    if (glm::distance(middle, beside) > radius + kAlongside) continue;
    for (dvec3& p : *line) tube.carry(p);
  }
}

// A lymph node goes with the artery, and along it to where it is clear of the two ducts; else to where it is clearest.
void carry_node(const AnatomyScene& names, const MovedTube& artery, const Line& duct, double duct_radius,
                const Line& main, double main_radius, OrganScene& node) {
  constexpr double kHalf = 2.5e-3, kClear = 1e-3, kStep = 1e-3, kMost = 10e-3;  // m  of the node; along the artery
  const double along = along_line(artery.before, names.node_at), length = length_of(artery.after);
  const dvec3 beside = names.node_at - point_at(artery.before, along);
  const double from_end = (length_of(artery.before) - along) * std::min(1.0, length / length_of(artery.before));
  const auto clearance = [&](const dvec3& p) {
    return std::min(glm::distance(p, point_at(duct, along_line(duct, p))) - duct_radius,
                    glm::distance(p, point_at(main, along_line(main, p))) - main_radius) -
           kHalf;
  };
  dvec3 best = names.node_at;
  double most = -INFINITY;
  for (double moved = 0.0; moved <= kMost && most < kClear; moved += kStep)
    for (const double by : {moved, -moved}) {
      const dvec3 at = point_at(artery.after, std::clamp(length - from_end + by, 0.0, length)) + beside;
      if (clearance(at) > most) most = clearance(at), best = at;
      if (most >= kClear) break;
    }
  node.offset += glm::vec3(best - names.node_at);
}

// The sides of a window go with the ducts on which they lie.
void carry_window(TaskStep& step, const std::string& organ, const MovedTube& tube) {
  for (StepSide& side : step.sides)
    if (side.organ == organ) tube.carry(side.start), tube.carry(side.end);
}

// Duct and artery come together at the gallbladder: sides of a window between which a hook has no room move along both,
// away from the gallbladder, until they are kRoom apart.
void move_window(TaskStep& step, const std::function<const MovedTube*(const std::string& organ)>& tube_of) {
  constexpr double kStep = 0.5e-3;  // m
  if (step.sides.size() < 2) return;
  const auto narrow = [&] { return glm::distance(dvec3(step.sides[0].start), dvec3(step.sides[1].start)) < kRoom; };
  for (double moved = 0.0; moved < kMostMoved && narrow(); moved += kStep)
    for (StepSide& side : step.sides)
      if (const MovedTube* tube = tube_of(side.organ)) tube->slide(side.start, kStep), tube->slide(side.end, kStep);
}

// A window begins and ends where its first two sides are kWindow apart. A side that lies nearer to the one before it,
// as the liver does to a short artery, does not bound one.
void trim_window(TaskStep& step) {
  if (step.sides.size() < 2) return;
  const auto at = [&](std::size_t side, double share) {
    return glm::mix(dvec3(step.sides[side].start), dvec3(step.sides[side].end), share);
  };
  const auto wide = [&](double share) { return glm::distance(at(0, share), at(1, share)) >= kWindow; };
  double first = 0.0, last = 1.0;
  while (first < 0.5 && !wide(first)) first += 0.05;
  while (last > 0.5 && !wide(last)) last -= 0.05;
  for (std::size_t side = 0; side < step.sides.size(); ++side) {
    const dvec3 start = at(side, first), end = at(side, last);
    step.sides[side].start = glm::vec3(start), step.sides[side].end = glm::vec3(end);
  }
  while (step.sides.size() > 2 &&
         glm::distance(at(step.sides.size() - 2, 0.0), at(step.sides.size() - 1, 0.0)) < kNextSide)
    step.sides.pop_back();
}

TubeShape& tube_named(Scene& scene, const std::string& name) {
  return *std::ranges::find(scene.organs, name, &OrganScene::name)->tube;
}

// Returns whether strands have a length, and the targets of the divisions are clear of the common duct.
bool is_valid(const Scene& scene, const Line& main, double main_radius) {
  for (const BandScene& band : scene.bands)
    if (glm::distance(dvec3(band.params.from_start), dvec3(band.params.to_start)) < kShortestBand ||
        glm::distance(dvec3(band.params.from_end), dvec3(band.params.to_end)) < kShortestBand)
      return false;
  if (!scene.task) return true;
  return std::ranges::all_of(scene.task->locations, [&](const TaskTarget& target) {
    const dvec3 at(target.location);
    return glm::distance(at, point_at(main, along_line(main, at))) > main_radius + kClipRoom;
  });
}

// Returns whether the tissue of a tube can carry the strands of a band. A thin tube may run through the corners of its
// lattice's cells, where no cell is full enough.
bool carries(const OrganScene& organ, BandParams band, bool from) {
  if (!from) band.from_start = band.to_start, band.from_end = band.to_end;
  band.to_start = band.from_start + glm::vec3(0.01f), band.to_end = band.from_end + glm::vec3(0.01f);
  const TriangleMesh mesh = tube_surface(*organ.tube);
  const TissueModel model = make_tissue(mesh.view(), organ.tissue, organ.attachments);
  const BondedOrgan bonded[] = {{&model, mesh.view(), nullptr}};
  Bonds bonds;
  return add_band(band, 0, kWall, bonded, bonds) == static_cast<std::size_t>(band.strands);
}

bool bands_hold(const Scene& scene, const std::string& organ) {
  const OrganScene& tube = *std::ranges::find(scene.organs, organ, &OrganScene::name);
  return std::ranges::all_of(scene.bands, [&](const BandScene& band) {
    return (band.organ != organ || carries(tube, band.params, true)) &&
           (band.to != organ || carries(tube, band.params, false));
  });
}

// The wall of the gallbladder, which the bed joins to the liver, and the bed.
void inflame(Scene& scene, LayerScene& bed) {
  OrganScene& gallbladder = *std::ranges::find(scene.organs, bed.organ, &OrganScene::name);
  gallbladder.tissue.youngs_modulus *= kWallStiffer;
  if (gallbladder.bile) gallbladder.bile->wall *= kWallThicker;
  bed.params.modulus *= static_cast<float>(kTougher);
}

// Makes a body of fat thinner or thicker. Sheets that lie on it are joined to it all the same: the layers that join
// them reach further by what its surface recedes.
void set_thickness(const std::string& name, double thickness, FatShape& fat, std::vector<LayerScene>& layers,
                   const std::vector<OrganScene>& organs) {
  const double recedes = std::max(0.0, 0.5 * (fat.thickness - thickness));
  fat.thickness = thickness;
  for (LayerScene& layer : layers) {
    const auto organ = std::ranges::find(organs, layer.organ, &OrganScene::name);
    if (layer.to == name && organ != organs.end() && organ->sheet) layer.params.reach += static_cast<float>(recedes);
  }
}

// Fat of the omentum that is stuck to the gallbladder. It is held where it leaves the omentum, and a step after the
// first retraction divides the strands that join it.
void add_adhesion(const AnatomyScene& names, const LayerScene& bed, Scene& scene) {
  constexpr double kLobule = 5e-3, kSpacing = 2.2e-3, kThickness = 9e-3, kNodes = 6e-3;  // m
  constexpr float kReach = 2.5e-3f, kHeld = 4e-3f;                                       // m
  constexpr double kShare = 0.95;
  constexpr double kTakes = 40.0;  // s  of the scripted expert
  OrganScene fat = *std::ranges::find_if(scene.organs, [](const OrganScene& organ) { return organ.fat.has_value(); });
  fat.name = kAdhesion;
  fat.fat->from = names.adhesion_from, fat.fat->through.clear(), fat.fat->to = names.adhesion_to;
  fat.fat->thickness = kThickness, fat.fat->lobule = kLobule, fat.fat->spacing = kSpacing;
  fat.tissue.node_spacing = kNodes;
  fat.attachments.clear();
  for (const dvec3& p : names.adhesion_from)
    fat.attachments.push_back({.centre = glm::vec3(p), .radius = static_cast<float>(kThickness) + kHeld});
  scene.organs.push_back(fat);
  LayerScene layer{msgid("adhesions"), kAdhesion, bed.organ, bed.params};
  layer.params.reach = kReach;
  scene.layers.push_back(layer);
  if (!scene.task) return;
  TaskStep step;
  step.kind = StepKind::Dissect;
  step.title = msgid("free the gallbladder from the omentum");
  step.tissue = {{.name = layer.name}};
  step.share = kShare;
  scene.task->time_good += kTakes, scene.task->time_limit += kTakes;
  std::vector<TaskStep>& steps = scene.task->steps;
  steps.insert(std::ranges::find_if(steps, [](const TaskStep& s) { return s.kind != StepKind::Retract; }), step);
}

// A second artery, like the first one: it is joined to what that is joined to, is divided and has its limits. Returns
// whether it has room.
bool add_second_artery(const AnatomyScene& names, const Line& first, const Line& duct, double duct_radius,
                       Scene& scene) {
  constexpr double kRoomForClips = 3e-3;  // m  between its wall and those of the others
  constexpr double kDivided = 0.55;       // 1  of its length, from its origin
  constexpr float kHeld = 4e-3f;          // m  of its origin, which moves with the liver
  OrganScene artery = *std::ranges::find(scene.organs, names.artery, &OrganScene::name);
  artery.name = kSecondArtery;
  artery.tube->path = names.second_artery;
  artery.attachments = {{.centre = glm::vec3(names.second_artery.front()), .radius = kHeld, .diaphragm = true}};
  const Line line = centre_line(*artery.tube);
  const double length = length_of(line), r = artery.tube->radius;
  const auto gap = [&](const Line& other, double radius) {
    return gap_between(line, 0.0, length - kEntry, other) - radius - r;
  };
  if (gap(first, r) < kRoomForClips || gap(duct, duct_radius) < kRoomForClips) return false;
  scene.organs.insert(std::ranges::find(scene.organs, names.artery, &OrganScene::name) + 1, artery);
  const auto gallbladder = std::ranges::find(scene.layers, names.bed, &LayerScene::name)->organ;
  for (const LayerScene& layer : std::vector<LayerScene>(scene.layers))
    if (layer.organ == names.artery && layer.to == gallbladder) {
      LayerScene copy = layer;
      copy.name = msgid("second artery at the gallbladder"), copy.organ = kSecondArtery;
      scene.layers.push_back(copy);
    }
  if (!scene.task) return true;
  const auto place = std::ranges::find(scene.task->locations, names.artery, &TaskTarget::organ);
  if (place != scene.task->locations.end()) {
    TaskTarget target = *place;
    target.organ = kSecondArtery, target.location = glm::vec3(point_at(line, kDivided * length));
    scene.task->locations.push_back(target);
  }
  const auto limit = std::ranges::find(scene.task->limits, names.artery, &TaskLimit::organ);
  if (limit != scene.task->limits.end()) {
    TaskLimit same = *limit;
    same.organ = kSecondArtery;
    scene.task->limits.push_back(same);
  }
  return true;
}

// A stone that is stuck in the neck keeps the bile in: the gallbladder is tense, unless inflammation made its wall
// stiffer already.
void add_stone(const AnatomyScene& names, const LayerScene& bed, Wall wall, Scene& scene) {
  OrganScene& gallbladder = *std::ranges::find(scene.organs, bed.organ, &OrganScene::name);
  gallbladder.mesh = names.stone_mesh;
  if (wall == Wall::Usual) gallbladder.tissue.youngs_modulus *= kTense;
}

void add_more(const AnatomyScene& names, Scene& scene, Anatomy& anatomy) {
  const LayerScene bed = *std::ranges::find(scene.layers, names.bed, &LayerScene::name);
  const TubeShape duct = tube_named(scene, names.duct);
  if (anatomy.stone) add_stone(names, bed, anatomy.wall, scene);
  if (anatomy.adhesions) add_adhesion(names, bed, scene);
  if (anatomy.second_artery)
    anatomy.second_artery =
        add_second_artery(names, centre_line(tube_named(scene, names.artery)), centre_line(duct), duct.radius, scene);
}

// Returns whether the anatomy fits; then `scene` has it.
bool apply(const Anatomy& anatomy, const AnatomyScene& names, Scene& scene) {
  TubeShape &duct = tube_named(scene, names.duct), &artery = tube_named(scene, names.artery);
  const Tubes usual{duct, artery, tube_named(scene, names.main_duct)};
  const TubeShape new_duct{duct_path(usual, anatomy), duct.radius, duct.wall},
      new_artery{artery_path(names, usual, anatomy), artery.radius, artery.wall};
  if (!tube_fault(new_duct).empty() || !tube_fault(new_artery).empty()) return false;
  const MovedTube moved_duct{centre_line(duct), centre_line(new_duct), false},
      moved_artery{centre_line(artery), centre_line(new_artery), true};
  if (!has_room(usual, moved_duct.after, moved_artery.after, duct.radius, artery.radius)) return false;
  for (BandScene& band : scene.bands) {
    carry_band(band, names.duct, moved_duct);
    carry_band(band, names.artery, moved_artery);
  }
  for (OrganScene& organ : scene.organs) {
    if (!organ.fat) continue;
    set_thickness(organ.name, kFatOf[static_cast<std::size_t>(anatomy.build)] * organ.fat->thickness, *organ.fat,
                  scene.layers, scene.organs);
    carry_fat(*organ.fat, moved_duct, duct.radius);
    carry_fat(*organ.fat, moved_artery, artery.radius);
    if (!fat_fault(*organ.fat).empty()) return false;
  }
  if (!names.node.empty())
    carry_node(names, moved_artery, moved_duct.after, duct.radius, centre_line(usual.main), usual.main.radius,
               *std::ranges::find(scene.organs, names.node, &OrganScene::name));
  if (scene.task)
    for (TaskStep& step : scene.task->steps) {
      carry_window(step, names.duct, moved_duct);
      carry_window(step, names.artery, moved_artery);
      move_window(step, [&](const std::string& organ) {
        return organ == names.duct ? &moved_duct : organ == names.artery ? &moved_artery : nullptr;
      });
      trim_window(step);
    }
  if (scene.task)
    for (TaskTarget& target : scene.task->locations) {
      if (target.organ == names.duct) moved_duct.carry(target.location);
      if (target.organ == names.artery) moved_artery.carry(target.location);
    }
  duct = new_duct, artery = new_artery;
  LayerScene& bed = *std::ranges::find(scene.layers, names.bed, &LayerScene::name);
  bed.params.reach = static_cast<float>(anatomy.reach);
  if (anatomy.wall == Wall::Inflamed) inflame(scene, bed);
  return is_valid(scene, centre_line(usual.main), usual.main.radius) && bands_hold(scene, names.duct) &&
         bands_hold(scene, names.artery);
}

}  // namespace

VariedScene vary_anatomy(const Scene& scene, std::uint32_t seed) {
  if (!scene.anatomy)
    throw InputError(fmt::format("{}: the scene has no [anatomy], so it cannot be varied; leave --anatomy out",
                                 scene.file.string()));
  Draws draws(seed);
  for (int k = 0; k < kMostDraws; ++k) {
    VariedScene varied{scene, draw(draws)};
    if (!apply(varied.anatomy, *scene.anatomy, varied.scene)) continue;
    draw_more(seed, *scene.anatomy, varied.anatomy);
    add_more(*scene.anatomy, varied.scene, varied.anatomy);
    varied.scene.anatomy.reset();
    varied.scene.title += fmt::format(" (anatomy {})", seed);
    const std::string text = fmt::format("# Anatomy {}: {}.\n", seed, text_of(varied, *scene.anatomy)) +
                             scene_text(varied.scene, scene.file);
    varied.scene = parse_scene(text, scene.file);
    return varied;
  }
  throw InputError(
      fmt::format("{}: [anatomy]: its organs leave no room for variations; move them apart", scene.file.string()));
}

Scene with_anatomy(const Scene& scene, const std::optional<std::uint32_t>& seed) {
  return seed ? vary_anatomy(scene, *seed).scene : scene;
}

std::string text_of(const VariedScene& varied, const AnatomyScene& names) {
  Scene scene = varied.scene;
  const auto millimetres = [&](const std::string& name) {
    return 1e3 * length_of(centre_line(tube_named(scene, name)));
  };
  std::string more;
  if (varied.anatomy.stone) more += "; stone in the neck of the gallbladder";
  if (varied.anatomy.adhesions) more += "; omentum stuck to the gallbladder";
  if (varied.anatomy.second_artery) more += "; second cystic artery in front of the duct";
  return fmt::format("{}{}; {}: {}, {:.0f} mm; {}: {}, {:.0f} mm; reach of the {} {:.1f} mm{}",
                     kBuildNames[static_cast<std::size_t>(varied.anatomy.build)],
                     kWallNames[static_cast<std::size_t>(varied.anatomy.wall)], names.duct,
                     kDuctNames[static_cast<std::size_t>(varied.anatomy.duct)], millimetres(names.duct), names.artery,
                     kArteryNames[static_cast<std::size_t>(varied.anatomy.artery)], millimetres(names.artery),
                     names.bed, 1e3 * varied.anatomy.reach, more);
}

}  // namespace trocar
