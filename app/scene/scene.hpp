// A scene: organs, instruments, scope, query and frame rate, read from a TOML file.
// Units: metres, degrees where the name says so; the file is in millimetres.   Format: docs/file-formats.md
// Tested in tests/app/scene_test.cpp
#pragma once

#include <filesystem>
#include <glm/glm.hpp>
#include <string>
#include <vector>

#include "deform/tissue.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

struct OrganScene {
  std::string name;                       // unique
  std::filesystem::path mesh;             // absolute, or relative to the scene file
  double mm_per_unit = 1.0;               // mm     of the mesh file
  glm::vec3 colour{0.48f, 0.11f, 0.09f};  // 0..1   linear RGB
  TissueParams tissue;
  std::vector<Attachment> attachments;
};

// What the tip of an instrument can do.
enum class InstrumentKind { Probe, Grasper, Hook };

struct InstrumentScene {
  std::string name;                 // unique
  glm::dvec3 pivot{0.0}, tip{0.0};  // m      the trocar, and where the tip is at the start
  double radius = 0.0025;           // m      half of a 5 mm shaft
  InstrumentKind kind = InstrumentKind::Probe;
  std::string device = "mouse";      // mouse, haptic, script or trajectory
  std::string script = "explore";    // of a script, the haptic stub, trocar demo: explore, press, pull or burn
  std::filesystem::path trajectory;  // with device = "trajectory"
};

struct ScopeScene {
  glm::vec3 eye{0.f, -0.16f, 0.30f};    // m        tip of the scope
  glm::vec3 target{0.f, 0.07f, 0.13f};  // m        what it looks at
  float field_of_view_deg = 60.f;       // degrees  20..120, vertical
};

struct QueryScene {
  std::string backend = "auto";  // auto or a backend's name
  ToolMode mode = ToolMode::Swept;
  Cover cover = Cover::Capsule;
};

struct SolverScene {
  int threads = 1;  // 1..64; organs are shared among them, the result is the same
};

struct Scene {
  std::string title;
  double frame_rate = 60.0;  // Hz     10..1000
  std::vector<OrganScene> organs;
  std::vector<InstrumentScene> instruments;
  ScopeScene scope;
  QueryScene query;
  SolverScene solver;
  Breathing breathing;  // of everything attached to the diaphragm
  std::filesystem::path file;
  std::string text;  // the file itself: kept in every recording
};

// Error: InputError naming file, line and key: a missing or misspelt key, a value of the wrong kind or out of its
// limits.
Scene load_scene(const std::filesystem::path& file);

}  // namespace trocar
