// A scene being edited: ports, places and zones put where a ray meets the organs, undo, saving. No window.
// Units: metres.   Tested in tests/app/window_editor_test.cpp
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/scene/scene.hpp"
#include "app/window/editor_camera.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

enum class PartKind { Task, Scope, Organ, Instrument, Tip, Place, Zone };

// What is chosen. `corner`: of a zone.
struct Part {
  PartKind kind = PartKind::Task;
  std::size_t index = 0, corner = 0;
  bool operator==(const Part&) const = default;
};

struct OrganPick {
  std::size_t organ = 0;
  glm::dvec3 point{0.0};  // m
};

class Editor {
 public:
  // Loads the meshes. Error: InputError.
  explicit Editor(const Scene& scene);

  Scene scene;  // changed freely; settle() makes an undo step of what changed
  Part chosen;
  std::vector<glm::dvec2> draft;  // corners of the zone that is being drawn, half heights, pinhole

  const std::vector<TriangleMesh>& meshes() const { return meshes_; }  // [organ] at rest
  glm::dvec3 middle() const;                                           // of all organs
  glm::dvec3 middle_of_ports() const;

  // The organ that the ray meets first.
  std::optional<OrganPick> pick(const Ray& ray) const;

  void add_place(const OrganPick& pick);   // after the others; makes a task where there is none
  void move_place(const OrganPick& pick);  // the chosen one
  // A new instrument whose port lies where the ray meets the belly's wall: the plane of the ports there are. False
  // when it does not.
  bool add_port(const Ray& ray);
  // The chosen port within the wall; the chosen tip, or what the scope looks at, within the picture's plane.
  void drag(const Ray& ray, const glm::dvec3& forward);
  void add_corner(const glm::dvec2& pinhole);
  void close_zone();  // of three corners and more
  void move_corner(const glm::dvec2& pinhole);
  void remove_chosen();  // never the last organ or instrument

  // Once a frame: what changed since becomes one step back. `busy`: something is still being dragged or typed.
  void settle(bool busy);
  void undo();
  bool can_undo() const { return !steps_.empty(); }
  bool changed() const;  // since it was loaded or saved

  // What load_scene() would say of the scene as it is now; empty: nothing. Renewed by settle().
  const std::string& fault() const { return fault_; }
  // Error: InputError for a faulty scene, for a file that is there already, or one that cannot be written. A file that
  // this editor has saved is replaced.
  void save(const std::filesystem::path& file, bool replace);
  const std::filesystem::path& saved() const { return saved_; }

 private:
  double wall() const;  // m, z of the ports
  void look_for_faults();

  std::vector<TriangleMesh> meshes_;
  std::vector<std::unique_ptr<SurfaceTree>> trees_;  // [organ]
  std::vector<Scene> steps_;
  Scene settled_;
  std::string settled_text_, clean_text_, fault_;
  std::filesystem::path saved_;
};

}  // namespace trocar
