// Defines a scene, reads it from a TOML file and writes it: organs, instruments, scope, query, solver, breathing, task
// and frame rate.
// Units: metres, degrees where the name says so; the file is in millimetres.   Format: docs/file-formats.md
// Tested in tests/sim/scene/scene_test.cpp and scene_writer_test.cpp
#pragma once

#include <array>
#include <filesystem>
#include <glm/glm.hpp>
#include <optional>
#include <string>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/contact/grasp.hpp"
#include "deform/cut/sculpt.hpp"
#include "deform/fluid/bleeding.hpp"
#include "deform/join/bonds.hpp"
#include "deform/join/clip.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/tool_volume.hpp"
#include "mesh/fat_shape.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/rigid_shape.hpp"
#include "mesh/sheet_shape.hpp"
#include "mesh/triangle_mesh.hpp"
#include "mesh/tube_shape.hpp"
#include "sim/scene/instrument_scene.hpp"
#include "sim/scene/scope.hpp"
#include "sim/scene/task_scene.hpp"

namespace trocar {

// Defines the connective tissue of a scene: layers between organs, and bands from an organ to another one or to the
// abdominal wall. Model and parameters: deform/join/bonds.hpp.

// A layer between the surface of `organ` and the organ `to`.
struct LayerScene {
  std::string name;  // unique among the layers
  std::string organ, to;
  LayerParams params;
};

// Strands from `organ` to the organ `to`, or to the abdominal wall when `to` is empty.
struct BandScene {
  std::string name;  // unique among the bands
  std::string organ, to;
  BandParams params;
};

// What the anatomy of a scene is varied by (sim/scene/scene_variants.hpp).
struct AnatomyScene {
  std::string duct, artery, main_duct;  // organs that are tubes
  std::string bed;                      // layer
  glm::dvec3 front{0.0};    // m  in the liver: where an artery begins that crosses in front of the main duct
  glm::dvec3 near{0.0};     // m  in the liver: where a short artery begins
  std::string node;         // organ with a mesh file that goes with the artery; empty: none
  glm::dvec3 node_at{0.0};  // m  its middle
  std::vector<glm::dvec3> adhesion_from, adhesion_to;  // m  lines of adhesions, on omentum and gallbladder; empty: none
  std::vector<glm::dvec3> second_artery;               // m  its path, to the gallbladder; empty: none
  std::filesystem::path stone_mesh;                    // of the gallbladder with a stone in its neck; empty: none
};

// A tube that carries blood.
struct VesselScene {
  VesselParams flow;                         // from its end once it is divided
  TubeSide supplied_from = TubeSide::Start;  // the end of its line from which blood comes
  std::optional<glm::vec3> opened;           // m  at rest: its wall is open at the nearest point, and it bleeds there
  double pooled_ml = 0.0;                    // ml  that it has lost there before
};

// What an organ looks like beside its colour: how far light spreads in it, its film of fluid, vessels, fat.
enum class TissueLook { Serosa, Liver, Gallbladder, Peritoneum, Fat, Artery, Vein, Duct };
inline constexpr std::array kTissueLooks{TissueLook::Serosa,     TissueLook::Liver, TissueLook::Gallbladder,
                                         TissueLook::Peritoneum, TissueLook::Fat,   TissueLook::Artery,
                                         TissueLook::Vein,       TissueLook::Duct};
std::string_view name_of(TissueLook look);

struct OrganScene {
  std::string name;                       // unique
  std::filesystem::path mesh;             // path in the file, appended to the scene's folder unless absolute
  std::string part;                       // of the mesh file (glTF), empty: all of it
  std::optional<TubeShape> tube;          // instead of a mesh: a duct or vessel
  std::optional<SheetShape> sheet;        // a thin sheet: without corners its mesh is a surface with a border
  std::optional<FatShape> fat;            // instead of a mesh: a body of fat
  std::optional<RigidShape> rigid;        // instead of a mesh: a rigid body
  std::optional<TriangleMesh> surface;    // m      instead of reading the mesh or making the tube: its surface at rest
  double mm_per_unit = 1.0;               // mm     per unit of the mesh file
  MeshAxes axes = MeshAxes::Trocar;       //        of the mesh file
  glm::dvec3 rotate_deg{0.0};             // degrees  turns the mesh about x, then y, then z, before it is moved
  glm::vec3 offset{0.f};                  // m      moves the mesh
  glm::vec3 colour{0.48f, 0.11f, 0.09f};  // 0..1   linear RGB
  TissueLook look = TissueLook::Serosa;
  std::filesystem::path material;  // load_scene() reads law and moduli of `tissue` from it, then it is empty
  bool only_joined = false;        // no contact with other organs: layers and bands alone join it to them
  TissueParams tissue;
  ContactParams contact;  // with tools
  SculptParams cut;       // `fall` holds unless the tissue has gravity
  std::vector<Attachment> attachments;
  std::optional<VesselScene> vessel;  // of a tube: it bleeds when it is divided
  std::optional<BloodParams> blood;   // of a mesh: it bleeds where it is cut or torn
  std::optional<BileParams> bile;     // of a mesh: it is hollow and spills this where its wall is pierced
};

// Returns whether the surface of an organ comes from a mesh file.
inline bool has_mesh_file(const OrganScene& organ) {
  return !organ.tube && !organ.fat && !organ.rigid && !(organ.sheet && !organ.sheet->corners.empty());
}

// The kind of an instrument's tip.
enum class InstrumentKind { Probe, Grasper, Hook, Scissors, ClipApplier, Suction };
inline constexpr std::array kInstrumentKinds{InstrumentKind::Probe,       InstrumentKind::Grasper,
                                             InstrumentKind::Hook,        InstrumentKind::Scissors,
                                             InstrumentKind::ClipApplier, InstrumentKind::Suction};
// Returns whether an instrument is one round shaft up to its tip, which neither cuts nor holds tissue.
constexpr bool is_blunt(InstrumentKind kind) {
  return kind == InstrumentKind::Probe || kind == InstrumentKind::Suction;
}
// Returns whether an instrument has jaws that hold tissue.
constexpr bool has_jaws(InstrumentKind kind) {
  return kind == InstrumentKind::Grasper || kind == InstrumentKind::ClipApplier;
}
// Returns the name that scenes and recordings use, and its inverse; nothing for an unknown name.
const char* name_of(InstrumentKind kind);
// Returns the names that the command line uses: "swept", "capsule", "exact", ...
std::string_view name_of(ToolMode mode);
std::string_view name_of(Cover cover);
std::string_view name_of(TouchSet set);
std::optional<InstrumentKind> instrument_kind(std::string_view name);

struct InstrumentScene {
  std::string name;                 // unique
  glm::dvec3 pivot{0.0}, tip{0.0};  // m      trocar, and tip at the start
  double radius = 0.0025;           // m      half of a 5 mm shaft
  InstrumentKind kind = InstrumentKind::Probe;
  glm::dvec3 axis{0.0};              // 1      direction at zero pan and tilt; zero: from trocar to tip at the start
  GraspParams grasp;                 //        of a grasper; its friction and damping hold for a clip applier too
  ClipParams clip;                   //        of a clip applier
  HookParams hook;                   //        of a hook
  BladeParams blades;                //        of scissors
  SuctionParams suction;             //        of suction
  ContactModelParams haptic;         //        with device = "haptic"
  JointLimits limits;                //        of hand-held devices; trajectories and scripts are not limited
  std::string device = "mouse";      // one of device_names()
  std::string source;                // which gamepad, igtl tool ("localhost:18944/Probe") or recorded instrument
  std::string port;                  // of instruments with the same text one is in the body at a time; empty: alone
  std::string script = "explore";    // explore, press, pull or burn: path of a script, the haptic stub, trocar demo
  std::filesystem::path trajectory;  // with device = "trajectory"
  AxisScale axes;                    //        of hand-held devices
  Registration registration;         //        with device = "igtl"
};

struct ScopeScene {
  glm::vec3 eye{0.f, -0.16f, 0.30f};    // m        tip of the scope
  glm::vec3 target{0.f, 0.07f, 0.13f};  // m        point that it looks at
  float field_of_view_deg = 60.f;       // degrees  20..120, vertical
  float rod = 0.16f;                    // m        distance from its port to its tip at the start
  float angle_deg = 0.f;                // degrees  0 or 30
  float spin_deg = 0.f;                 // degrees  rotation of the light post at the start
  Lens lens;
  JointLimits limits;
  std::string device = "mouse";  // mouse: the user can take it; script: it never moves; or another device
  std::string source;            // as in InstrumentScene; the recording for "trajectory"
  AxisScale axes;                // as in InstrumentScene
  Registration registration;
  bool fogs = false;  // attempts have a lens that fogs (app/view/drawn.hpp)

  // Returns the pose at the start.
  ScopePose pose() const {
    ScopePose pose = scope_looking_at(eye, target, angle_deg, spin_deg, rod);
    pose.field_of_view_deg = field_of_view_deg;
    return pose;
  }
};

struct QueryScene {
  std::string backend = "auto";  // auto or a backend's name
  ToolMode mode = ToolMode::Swept;
  Cover cover = Cover::Capsule;
};

struct SolverScene {
  // 0..64; the organs are distributed over them; the result does not depend on it. 0: one, or what share_cores() sets
  int threads = 0;
};

// The neighbours of an operation that the program has shapes of: mesh/organ_maker.hpp makes them, data/organs keeps
// them.
enum class BackdropShape { Colon, Omentum, LesserOmentum, Retroperitoneum, Diaphragm };
inline constexpr std::array kBackdropShapes{BackdropShape::Colon, BackdropShape::Omentum, BackdropShape::LesserOmentum,
                                            BackdropShape::Retroperitoneum, BackdropShape::Diaphragm};
std::string_view name_of(BackdropShape shape);

// A neighbour that is seen and nothing more: it does not move, nothing touches it, no query knows it.
struct BackdropScene {
  BackdropShape shape = BackdropShape::Colon;
  glm::vec3 offset{0.f};                    // m     moves the shape
  glm::vec3 colour{0.43f, 0.100f, 0.105f};  // 0..1  linear RGB
  TissueLook look = TissueLook::Peritoneum;
};

struct Scene {
  std::string title;
  double frame_rate = 60.0;  // Hz     10..1000
  std::vector<OrganScene> organs;
  std::vector<BackdropScene> backdrops;
  std::vector<LayerScene> layers;
  std::vector<BandScene> bands;
  std::vector<InstrumentScene> instruments;
  ScopeScene scope;
  QueryScene query;
  SolverScene solver;
  std::optional<TaskScene> task;
  std::optional<AnatomyScene> anatomy;
  GuardParams guard;    // of every device
  Breathing breathing;  // moves everything attached to the diaphragm
  std::filesystem::path file;
  std::string text;  // content of the file; every recording stores it
};

// Lets the tissue of a scene that names no number of threads use two where the machine has two cores. For a program
// that runs one session at a time. Not where many run side by side, each with one: the cases of a sweep, for which the
// environment variable TROCAR_THREADS is 1, the sessions of Python, tests, what a thread of low priority computes.
void share_cores(Scene& scene);

// Returns the devices that move an instrument or the scope: mouse, gamepad, spacemouse, igtl, haptic, script,
// trajectory.
const std::vector<std::string>& device_names();

// Loads a scene. Throws InputError with file, line and key for a missing or misspelt key, and for a value of the wrong
// type or outside its limits.
Scene load_scene(const std::filesystem::path& file);
// Parses a text and opens none of its files. `file` is the base of its relative paths and the name in error messages.
Scene parse_scene(std::string text, const std::filesystem::path& file);

// Writes a scene as a TOML file; load_scene() reads back exactly the same numbers. Omits most keys that have their
// default. Keeps the content of the scene, but not the comments and the order of the keys of an older file.

// Returns the text of the scene's file. `file`: the target file; the paths of meshes and trajectories are written
// relative to its folder.
std::string scene_text(const Scene& scene, const std::filesystem::path& file);

// Writes a temporary file and renames it, so that the target is complete or unchanged. Throws InputError when the file
// cannot be written, when load_scene() would refuse the scene, or when the file exists and `replace` is false.
void save_scene(const Scene& scene, const std::filesystem::path& file, bool replace);

}  // namespace trocar
