#include "app/window/editor/editor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/window/practice/practice.hpp"
#include "geometry/error.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {
namespace {

constexpr double kTurnPerPixel_deg = 0.35, kApproachPerNotch = 0.9;
constexpr double kNearest = 0.05, kFarthest = 1.5;  // m
constexpr double kField_deg = 58.0, kRod = 0.1;     // deg, m
constexpr Lens kPinhole{0.0, 10.0};

}  // namespace

void OrbitCamera::turn(double right_pixels, double up_pixels) {
  yaw_deg = std::remainder(yaw_deg - kTurnPerPixel_deg * right_pixels, 360.0);
  pitch_deg = std::clamp(pitch_deg - kTurnPerPixel_deg * up_pixels, -85.0, 85.0);
}

void OrbitCamera::approach(double notches) {
  distance = std::clamp(distance * std::pow(kApproachPerNotch, notches), kNearest, kFarthest);
}

EditorEye OrbitCamera::eye() const {
  const double yaw = glm::radians(yaw_deg), pitch = glm::radians(pitch_deg);
  const glm::dvec3 back(std::cos(pitch) * std::sin(yaw), std::sin(pitch), std::cos(pitch) * std::cos(yaw));
  ScopePose pose = scope_looking_at(target + distance * back, target, 0.0, 0.0, kRod);
  pose.field_of_view_deg = kField_deg;
  return {pose, kPinhole};
}

glm::dvec2 seen_at(const glm::dvec2& pixel, const glm::dvec2& size) {
  return glm::dvec2(2.0 * pixel.x - size.x, size.y - 2.0 * pixel.y) / std::max(size.y, 1.0);
}

glm::dvec2 pixel_at(const glm::dvec2& seen, const glm::dvec2& size) {
  return 0.5 * glm::dvec2(size.x + seen.x * size.y, size.y - seen.y * size.y);
}

Ray ray_through(const EditorEye& eye, const glm::dvec2& pixel, const glm::dvec2& size) {
  const glm::dvec2 pinhole = pinhole_from_seen(eye.lens, seen_at(pixel, size));
  const ScopeAxes axes = axes_of(eye.pose);
  const double slope = std::tan(glm::radians(0.5 * eye.pose.field_of_view_deg));
  return {eye.pose.eye, glm::normalize(axes.forward + slope * (pinhole.x * axes.right + pinhole.y * axes.up))};
}

std::optional<glm::dvec2> pixel_of(const EditorEye& eye, const glm::dvec3& point, const glm::dvec2& size) {
  if (glm::dot(point - eye.pose.eye, axes_of(eye.pose).forward) <= 1e-3) return {};
  return pixel_at(seen_point(eye.pose, eye.lens, point).location, size);
}

std::optional<glm::dvec3> meet_plane(const Ray& ray, const glm::dvec3& point, const glm::dvec3& normal) {
  const double towards = glm::dot(ray.direction, normal);
  if (std::abs(towards) < 1e-6) return {};
  const double t = glm::dot(point - ray.origin, normal) / towards;
  if (!(t > 0.0)) return {};
  return ray.origin + t * ray.direction;
}

namespace {

constexpr std::size_t kLongestBase = 150;  // bytes of a title, so that its end has room

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "scene-edited-2" -> "scene", "Scene (edited 2)" -> "Scene"; another text stays. `mark`: "-edited", " (edited".
std::string without_mark(const std::string& text, const std::string& mark, const std::string& close) {
  const auto at = text.rfind(mark);
  if (at == std::string::npos || !text.ends_with(close)) return text;
  std::string number = text.substr(at + mark.size());
  number.resize(number.size() - std::min(close.size(), number.size()));
  if (!number.empty() && (number[0] == '-' || number[0] == ' ')) number.erase(0, 1);
  return is_number(number) ? text.substr(0, at) : text;
}

// Cuts the title where another letter begins.
std::string shortened(std::string title, std::size_t most) {
  if (title.size() <= most) return title;
  title.resize(most);
  while (!title.empty() && (static_cast<unsigned char>(title.back()) & 0xC0) == 0x80) title.pop_back();
  if (!title.empty() && (static_cast<unsigned char>(title.back()) & 0x80) != 0) title.pop_back();
  return title;
}

}  // namespace

SceneCopy copy_of(const Scene& scene, const std::filesystem::path& folder) {
  const std::string stem = without_mark(scene.file.stem().string(), "-edited", "");
  SceneCopy copy{free_name(folder, stem + "-edited", ".toml"), scene};
  const std::string name = copy.file.stem().string();
  const std::string number = name.substr((stem + "-edited").size());  // "", "-2" ...
  const std::string end = number.empty() ? " (edited)" : fmt::format(" (edited {})", number.substr(1));
  const auto titled = [&](const std::string& title) {
    return shortened(without_mark(title, " (edited", ")"), kLongestBase) + end;
  };
  if (!scene.title.empty() || !scene.task || scene.task->title.empty())
    copy.scene.title = titled(scene.title.empty() ? stem : scene.title);
  if (scene.task && !scene.task->title.empty()) copy.scene.task->title = titled(scene.task->title);
  return copy;
}

namespace {

constexpr double kGridPerMm = 100.0;  // positions are multiples of 0.01 mm
constexpr double kTipOnTheWay = 0.6;  // 1: fraction of the path from a new port to the scope's target
constexpr double kZoneGrid = 1e3;     // per half height
constexpr float kNewAttachment = 0.015f, kNewBandHeight = 0.02f, kNewBandHalf = 0.01f;  // m

// Rounds lengths as the file stores them, so that the saved scene equals the shown one.
glm::dvec3 on_grid(const glm::dvec3& point) {
  const auto round = [](double m) { return std::round(m * 1e3 * kGridPerMm) / kGridPerMm * 1e-3; };
  return {round(point.x), round(point.y), round(point.z)};
}

glm::dvec2 on_grid(const glm::dvec2& corner) { return glm::round(corner * kZoneGrid) / kZoneGrid; }

// "band 2": the first free number after the list's length.
template <typename Named>
std::string free_part_name(const char* what, const std::vector<Named>& list) {
  for (std::size_t number = list.size() + 1;; ++number) {
    const std::string name = fmt::format("{} {}", what, number);
    if (std::ranges::find(list, name, &Named::name) == list.end()) return name;
  }
}

template <typename T>
void erase_at(std::vector<T>& list, std::size_t index, std::size_t at_least) {
  if (index < list.size() && list.size() > at_least) list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace

glm::vec3& band_end(BandParams& band, std::size_t end) {
  glm::vec3* const ends[] = {&band.from_start, &band.from_end, &band.to_start, &band.to_end};
  return *ends[end % std::size(ends)];
}

Editor::Editor(const Scene& loaded) : scene(loaded), committed_(loaded) {
  for (const OrganScene& organ : scene.organs) {
    meshes_.push_back(surface_of(organ));
    trees_.push_back(make_surface_tree({}));
    trees_.back()->rebuild(meshes_.back().view());
  }
  committed_text_ = clean_text_ = scene_text(scene, scene.file);
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
  if (chosen.kind != PartKind::Target || !has(chosen)) return;
  scene.task->locations[chosen.index] = {scene.organs[pick.organ].name, glm::vec3(on_grid(pick.point))};
}

double Editor::wall() const { return middle_of_ports().z; }

bool Editor::add_port(const Ray& ray) {
  const auto port = meet_plane(ray, {0.0, 0.0, wall()}, {0.0, 0.0, 1.0});
  if (!port) return false;
  InstrumentScene instrument;
  instrument.name = free_part_name("instrument", scene.instruments);
  instrument.pivot = on_grid(*port);
  instrument.tip = on_grid(glm::mix(*port, glm::dvec3(scene.scope.target), kTipOnTheWay));
  scene.instruments.push_back(instrument);
  chosen = {PartKind::Instrument, scene.instruments.size() - 1};
  return true;
}

void Editor::add_attachment(std::size_t organ) {
  glm::vec3 low(1e9f), high(-1e9f);
  for (const glm::vec3& position : meshes_[organ].positions)
    low = glm::min(low, position), high = glm::max(high, position);
  auto& attachments = scene.organs[organ].attachments;
  attachments.push_back({glm::vec3(on_grid(glm::dvec3(0.5f * (low + high)))), kNewAttachment});
  chosen = {PartKind::Attachment, organ, attachments.size() - 1};
}

void Editor::add_layer() {
  if (scene.organs.size() < 2) return;
  scene.layers.push_back({free_part_name("layer", scene.layers), scene.organs[0].name, scene.organs[1].name, {}});
  chosen = {PartKind::Layer, scene.layers.size() - 1};
}

// From the point of the organ that is nearest to the abdominal wall, straight to the front.
void Editor::add_band() {
  const std::size_t organ = chosen.kind == PartKind::Organ && has(chosen) ? chosen.index : 0;
  const auto& positions = meshes_[organ].positions;
  const auto front = std::ranges::max_element(positions, {}, [](const glm::vec3& position) { return position.z; });
  const glm::vec3 from(on_grid(glm::dvec3(*front))), half(kNewBandHalf, 0.f, 0.f), up(0.f, 0.f, kNewBandHeight);
  BandScene band{free_part_name("band", scene.bands), scene.organs[organ].name, "", {}};
  band.params.from_start = from - half, band.params.from_end = from + half;
  band.params.to_start = from - half + up, band.params.to_end = from + half + up;
  scene.bands.push_back(band);
  chosen = {PartKind::Band, scene.bands.size() - 1};
}

void Editor::add_limit() {
  if (!scene.task) return;
  scene.task->limits.push_back({scene.organs.front().name});
  chosen = {PartKind::Limit, scene.task->limits.size() - 1};
}

bool Editor::has(const Part& part) const {
  const auto in = [&](const auto& list) { return part.index < list.size(); };
  switch (part.kind) {
    case PartKind::Task:
    case PartKind::Breathing:
    case PartKind::Scope:
      return true;
    case PartKind::Marks:
      return scene.task.has_value();
    case PartKind::Organ:
      return in(scene.organs);
    case PartKind::Attachment:
      return in(scene.organs) && part.corner < scene.organs[part.index].attachments.size();
    case PartKind::Layer:
      return in(scene.layers);
    case PartKind::Band:
      return in(scene.bands);
    case PartKind::Limit:
      return scene.task && in(scene.task->limits);
    case PartKind::Instrument:
    case PartKind::Tip:
      return in(scene.instruments);
    case PartKind::Target:
      return scene.task && in(scene.task->locations);
    case PartKind::Zone:
      return scene.task && in(scene.task->zones);
  }
  return false;
}

void Editor::drag(const Ray& ray, const glm::dvec3& forward) {
  const auto follow = [&](const glm::dvec3& point, const glm::dvec3& normal) {
    const auto met = meet_plane(ray, point, normal);
    return met ? on_grid(*met) : point;
  };
  if (chosen.kind == PartKind::Scope) scene.scope.target = glm::vec3(follow(glm::dvec3(scene.scope.target), forward));
  const auto follow_in_picture = [&](glm::vec3& point) { point = glm::vec3(follow(glm::dvec3(point), forward)); };
  if (!has(chosen)) return;
  if (chosen.kind == PartKind::Attachment)
    follow_in_picture(scene.organs[chosen.index].attachments[chosen.corner].centre);
  if (chosen.kind == PartKind::Band) follow_in_picture(band_end(scene.bands[chosen.index].params, chosen.corner));
  if (chosen.kind != PartKind::Instrument && chosen.kind != PartKind::Tip) return;
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
  if (!has(chosen)) return;
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
    case PartKind::Attachment:
      erase_at(scene.organs[chosen.index].attachments, chosen.corner, 0);
      break;
    case PartKind::Layer:
      erase_at(scene.layers, chosen.index, 0);
      break;
    case PartKind::Band:
      erase_at(scene.bands, chosen.index, 0);
      break;
    case PartKind::Limit:
      erase_at(scene.task->limits, chosen.index, 0);
      break;
    case PartKind::Task:
    case PartKind::Marks:
    case PartKind::Breathing:
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

void Editor::commit(bool busy) {
  if (busy) return;
  std::string text = scene_text(scene, scene.file);
  if (text == committed_text_) return;
  if (steps_.size() == kMostEditorSteps) steps_.erase(steps_.begin());
  steps_.push_back(std::move(committed_));
  undone_.clear();
  committed_ = scene;
  committed_text_ = std::move(text);
  look_for_faults();
}

void Editor::show(Scene shown) {
  scene = committed_ = std::move(shown);
  committed_text_ = scene_text(scene, scene.file);
  if (!has(chosen)) chosen = {};
  look_for_faults();
}

void Editor::undo() {
  commit(false);
  if (steps_.empty()) return;
  undone_.push_back(std::move(committed_));
  Scene before = std::move(steps_.back());
  steps_.pop_back();
  show(std::move(before));
}

void Editor::redo() {
  commit(false);
  if (undone_.empty()) return;
  steps_.push_back(std::move(committed_));
  Scene after = std::move(undone_.back());
  undone_.pop_back();
  show(std::move(after));
}

bool Editor::changed() const { return committed_text_ != clean_text_; }

void Editor::save(const std::filesystem::path& file, bool replace) {
  commit(false);
  std::error_code ignored;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
  save_scene(scene, file, replace || file == saved_);
  saved_ = file;
  clean_text_ = committed_text_;
}

}  // namespace trocar
