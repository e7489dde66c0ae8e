// Holds a scene that the user edits: adds ports, targets and zones where a ray hits, attachments and connective tissue,
// undoes and redoes changes, saves the scene. Needs no window.
// Units: metres, pixels from the window's top left.   Tested in tests/app/window_test.cpp
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu_collision/trees/surface_tree.hpp"
#include "deform/solid/tissue.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

struct Ray {
  glm::dvec3 origin{0.0}, direction{0.0, 0.0, -1.0};  // m, unit
};

// The editor's camera, which orbits the organs or equals the scene's scope.
struct EditorEye {
  ScopePose pose;
  Lens lens;
};

// A camera that the mouse turns about `target`.
struct OrbitCamera {
  glm::dvec3 target{0.0};  // m
  double yaw_deg = 0.0, pitch_deg = 20.0;
  double distance = 0.46;  // m

  void turn(double right_pixels, double up_pixels);
  void approach(double notches);
  EditorEye eye() const;
};

inline EditorEye eye_of(const ScopeScene& scope) { return {scope.pose(), scope.lens}; }

// Converts pixels to half heights from the picture's centre, distortion included, and back.
glm::dvec2 seen_at(const glm::dvec2& pixel, const glm::dvec2& size);
glm::dvec2 pixel_at(const glm::dvec2& seen, const glm::dvec2& size);

Ray ray_through(const EditorEye& eye, const glm::dvec2& pixel, const glm::dvec2& size);
// Returns nothing for a point behind the eye.
std::optional<glm::dvec2> pixel_of(const EditorEye& eye, const glm::dvec3& point, const glm::dvec2& size);
// Returns the intersection of the ray with the plane through `point`; empty when the ray is parallel to it or points
// away.
std::optional<glm::dvec3> meet_plane(const Ray& ray, const glm::dvec3& point, const glm::dvec3& normal);

// A tissue preset. The liver's values come from elastography, as in TissueParams. The other values are not measured:
// they are softer or stiffer as the organs feel in the operating theatre.
struct Material {
  const char* name;
  float youngs_modulus;  // Pa
  float poisson_ratio;   // 1
  float density;         // kg/m^3
  float friction;        // 1
};

constexpr std::array<Material, 4> kMaterials = {{{"liver", 6.0e3f, 0.46f, 1060.f, 0.2f},
                                                 {"stomach", 4.0e3f, 0.46f, 1050.f, 0.2f},
                                                 {"gallbladder", 3.0e3f, 0.46f, 1030.f, 0.15f},
                                                 {"stiff", 2.0e4f, 0.46f, 1080.f, 0.3f}}};

inline void use(const Material& material, TissueParams& tissue) {
  tissue.youngs_modulus = material.youngs_modulus;
  tissue.poisson_ratio = material.poisson_ratio;
  tissue.density = material.density;
  tissue.friction = material.friction;
}

// A copy has a free file name and a title of its own, so that it is not taken for the original.
struct SceneCopy {
  std::filesystem::path file;  // does not exist yet
  Scene scene;                 // with the title of the copy; `file` of the original, the base of its paths
};

// "touch_targets.toml", "Touch the targets" -> "touch_targets-edited-2.toml", "Touch the targets (edited 2)". A copy of
// a copy continues the numbers.
SceneCopy copy_of(const Scene& scene, const std::filesystem::path& folder);

enum class PartKind {
  Task,
  Marks,  // limits and pass marks of the task
  Breathing,
  Scope,
  Organ,
  Attachment,
  Layer,
  Band,
  Limit,  // of an organ
  Instrument,
  Tip,
  Target,
  Zone
};

// The selected part. `index`: of an attachment, its organ. `corner`: of a zone; which attachment; the end of a band:
// start and end of its line on the organ, then of the other line.
struct Part {
  PartKind kind = PartKind::Task;
  std::size_t index = 0, corner = 0;
  bool operator==(const Part&) const = default;
};

struct OrganPick {
  std::size_t organ = 0;
  glm::dvec3 point{0.0};  // m
};

inline constexpr std::size_t kMostEditorSteps = 200;  // that undo() takes back

// The four ends of a band's lines, as Part::corner counts them.
glm::vec3& band_end(BandParams& band, std::size_t end);

class Editor {
 public:
  // Loads the meshes. Throws InputError when a mesh cannot be read.
  explicit Editor(const Scene& scene);

  Scene scene;  // may be changed freely; settle() turns the changes into an undo step
  Part chosen;
  std::vector<glm::dvec2> draft;  // corners of the unfinished zone, half heights, pinhole

  const std::vector<TriangleMesh>& meshes() const { return meshes_; }  // [organ] at rest
  glm::dvec3 middle() const;                                           // of all organs
  glm::dvec3 middle_of_ports() const;

  // Returns the first organ that the ray hits.
  std::optional<OrganPick> pick(const Ray& ray) const;

  void add_target(const OrganPick& pick);   // appends a target; creates the task if the scene has none
  void move_target(const OrganPick& pick);  // moves the selected target
  // Adds an instrument whose port lies where the ray hits the abdominal wall: the plane z = mean z of the ports. False
  // when the ray misses it.
  bool add_port(const Ray& ray);
  // These add a part that loads as it is, and select it.
  void add_attachment(std::size_t organ);  // in the middle of the organ
  void add_layer();                        // between the first two organs; does nothing with one organ
  void add_band();                         // from the selected or the first organ to the abdominal wall
  void add_limit();                        // of the first organ; does nothing without a task
  // Moves the selected port within the wall; the selected tip, attachment, end of a band, or the scope's target, within
  // the image plane.
  void drag(const Ray& ray, const glm::dvec3& forward);
  void add_corner(const glm::dvec2& pinhole);
  void close_zone();  // does nothing below three corners
  void move_corner(const glm::dvec2& pinhole);
  void remove_chosen();  // keeps the last instrument; organs and scope cannot be removed
  bool has(const Part& part) const;

  // Call once a frame: changes since the last call become one undo step. `busy`: a drag or text input is in progress.
  void settle(bool busy);
  // A change after undo() ends what redo() could bring back.
  void undo();
  void redo();
  bool can_undo() const { return !steps_.empty(); }
  bool can_redo() const { return !undone_.empty(); }
  bool changed() const;  // since it was loaded or saved

  // Returns the error that load_scene() would report for the current scene; empty: none. Updated by settle().
  const std::string& fault() const { return fault_; }
  // Throws InputError for an invalid scene, for a file that exists already, or one that cannot be written. A file that
  // this editor has saved is overwritten.
  void save(const std::filesystem::path& file, bool replace);
  const std::filesystem::path& saved() const { return saved_; }

 private:
  double wall() const;  // m, z of the ports
  void look_for_faults();
  void show(Scene scene);

  std::vector<TriangleMesh> meshes_;
  std::vector<std::unique_ptr<SurfaceTree>> trees_;  // [organ]
  std::vector<Scene> steps_, undone_;                // oldest first
  Scene settled_;
  std::string settled_text_, clean_text_, fault_;
  std::filesystem::path saved_;
};

}  // namespace trocar
