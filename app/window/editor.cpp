#include "app/window/editor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/scene/organ_surface.hpp"
#include "sim/scene/scene_writer.hpp"

namespace trocar {
namespace {

constexpr std::size_t kMostUndoSteps = 200;
constexpr double kGridPerMm = 100.0;  // positions are multiples of 0.01 mm
constexpr double kTipOnTheWay = 0.6;  // 1: fraction of the path from a new port to the scope's target
constexpr double kZoneGrid = 1e3;     // per half height

// Rounds lengths as the file stores them, so that the saved scene equals the shown one.
glm::dvec3 on_grid(const glm::dvec3& point) {
  const auto round = [](double m) { return std::round(m * 1e3 * kGridPerMm) / kGridPerMm * 1e-3; };
  return {round(point.x), round(point.y), round(point.z)};
}

glm::dvec2 on_grid(const glm::dvec2& corner) { return glm::round(corner * kZoneGrid) / kZoneGrid; }

std::string free_instrument_name(const std::vector<InstrumentScene>& instruments) {
  for (int number = static_cast<int>(instruments.size()) + 1;; ++number) {
    const std::string name = fmt::format("instrument {}", number);
    if (std::ranges::find(instruments, name, &InstrumentScene::name) == instruments.end()) return name;
  }
}

template <typename T>
void erase_at(std::vector<T>& list, std::size_t index, std::size_t at_least) {
  if (index < list.size() && list.size() > at_least) list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace

Editor::Editor(const Scene& loaded) : scene(loaded), settled_(loaded) {
  for (const OrganScene& organ : scene.organs) {
    meshes_.push_back(surface_of(organ));
    trees_.push_back(make_surface_tree({}));
    trees_.back()->rebuild(meshes_.back().view());
  }
  settled_text_ = clean_text_ = scene_text(scene, scene.file);
  look_for_faults();
}

glm::dvec3 Editor::middle() const {
  glm::vec3 low(1e9f), high(-1e9f);
  for (const TriangleMesh& mesh : meshes_)
    for (const glm::vec3& position : mesh.positions) low = glm::min(low, position), high = glm::max(high, position);
  return glm::dvec3(0.5f * (low + high));
}

glm::dvec3 Editor::middle_of_ports() const {
  glm::dvec3 sum(0.0);
  for (const InstrumentScene& instrument : scene.instruments) sum += instrument.pivot;
  return sum / static_cast<double>(scene.instruments.size());
}

std::optional<OrganPick> Editor::pick(const Ray& ray) const {
  std::optional<OrganPick> nearest;
  double nearest_t = 0.0;
  for (std::size_t organ = 0; organ < trees_.size(); ++organ) {
    const auto hit = trees_[organ]->first_hit(ray.origin, ray.direction);
    if (!hit || (nearest && hit->t >= nearest_t)) continue;
    nearest_t = hit->t;
    nearest = OrganPick{organ, ray.origin + hit->t * ray.direction};
  }
  return nearest;
}

void Editor::add_target(const OrganPick& pick) {
  if (!scene.task) scene.task.emplace();
  scene.task->locations.push_back({scene.organs[pick.organ].name, glm::vec3(on_grid(pick.point))});
  chosen = {PartKind::Target, scene.task->locations.size() - 1};
}

void Editor::move_target(const OrganPick& pick) {
  if (chosen.kind != PartKind::Target || !scene.task || chosen.index >= scene.task->locations.size()) return;
  scene.task->locations[chosen.index] = {scene.organs[pick.organ].name, glm::vec3(on_grid(pick.point))};
}

double Editor::wall() const { return middle_of_ports().z; }

bool Editor::add_port(const Ray& ray) {
  const auto port = meet_plane(ray, {0.0, 0.0, wall()}, {0.0, 0.0, 1.0});
  if (!port) return false;
  InstrumentScene instrument;
  instrument.name = free_instrument_name(scene.instruments);
  instrument.pivot = on_grid(*port);
  instrument.tip = on_grid(glm::mix(*port, glm::dvec3(scene.scope.target), kTipOnTheWay));
  scene.instruments.push_back(instrument);
  chosen = {PartKind::Instrument, scene.instruments.size() - 1};
  return true;
}

void Editor::drag(const Ray& ray, const glm::dvec3& forward) {
  const auto follow = [&](const glm::dvec3& point, const glm::dvec3& normal) {
    const auto met = meet_plane(ray, point, normal);
    return met ? on_grid(*met) : point;
  };
  if (chosen.kind == PartKind::Scope) scene.scope.target = glm::vec3(follow(glm::dvec3(scene.scope.target), forward));
  if (chosen.index >= scene.instruments.size()) return;
  InstrumentScene& instrument = scene.instruments[chosen.index];
  if (chosen.kind == PartKind::Instrument) instrument.pivot = follow(instrument.pivot, {0.0, 0.0, 1.0});
  if (chosen.kind == PartKind::Tip) instrument.tip = follow(instrument.tip, forward);
}

void Editor::add_corner(const glm::dvec2& pinhole) { draft.push_back(on_grid(pinhole)); }

void Editor::close_zone() {
  if (draft.size() < 3) return;
  if (!scene.task) scene.task.emplace();
  scene.task->zones.push_back({draft});
  draft.clear();
  chosen = {PartKind::Zone, scene.task->zones.size() - 1};
}

void Editor::move_corner(const glm::dvec2& pinhole) {
  if (chosen.kind != PartKind::Zone || !scene.task || chosen.index >= scene.task->zones.size()) return;
  auto& outline = scene.task->zones[chosen.index].outline;
  if (chosen.corner < outline.size()) outline[chosen.corner] = on_grid(pinhole);
}

void Editor::remove_chosen() {
  switch (chosen.kind) {
    case PartKind::Instrument:
    case PartKind::Tip:
      erase_at(scene.instruments, chosen.index, 1);
      break;
    case PartKind::Target:
      if (scene.task) erase_at(scene.task->locations, chosen.index, 0);
      break;
    case PartKind::Zone:
      if (scene.task) erase_at(scene.task->zones, chosen.index, 0);
      break;
    case PartKind::Task:
    case PartKind::Scope:
    case PartKind::Organ:
      return;
  }
  chosen = {};
}

void Editor::look_for_faults() {
  fault_.clear();
  try {
    parse_scene(scene_text(scene, scene.file), scene.file);
  } catch (const InputError& error) {
    fault_ = error.what();
  }
}

void Editor::settle(bool busy) {
  if (busy) return;
  std::string text = scene_text(scene, scene.file);
  if (text == settled_text_) return;
  if (steps_.size() == kMostUndoSteps) steps_.erase(steps_.begin());
  steps_.push_back(std::move(settled_));
  settled_ = scene;
  settled_text_ = std::move(text);
  look_for_faults();
}

void Editor::undo() {
  if (steps_.empty()) return;
  scene = settled_ = std::move(steps_.back());
  steps_.pop_back();
  settled_text_ = scene_text(scene, scene.file);
  chosen = {};
  look_for_faults();
}

bool Editor::changed() const { return settled_text_ != clean_text_; }

void Editor::save(const std::filesystem::path& file, bool replace) {
  settle(false);
  std::error_code ignored;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
  save_scene(scene, file, replace || file == saved_);
  saved_ = file;
  clean_text_ = settled_text_;
}

}  // namespace trocar
