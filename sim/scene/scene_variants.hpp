// Scenes made from a scene: a level of its task, or another anatomy. The result is an ordinary scene, whose text a
// recording stores.   Units: metres.   Tested in tests/sim/scene/scene_writer_test.cpp and anatomy_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/scene/scene.hpp"

namespace trocar {

// Applies a level of a scene's task: the same scene, harder. The result is an ordinary scene, whose text a recording
// stores. Levels and what the scripted trainees make of them: docs/tasks.md, "Levels".

// Returns the number of levels: 1, the scene as written, and one for each [[task.level]]. A scene without a task has 1.
int levels_of(const Scene& scene);

// Returns the name of a level, empty for level 1. `number`: 1 to levels_of().
std::string level_name(const Scene& scene, int number);

// Returns the scene at this level, without [[task.level]]; its task names the level (`at_level`). Without a number, and
// for level 1, returns the scene unchanged. Throws InputError when the scene does not have this level.
Scene with_level(const Scene& scene, const std::optional<int>& number);

// Varies the anatomy of a scene with [anatomy]: length, insertion and course of the cystic duct, origin and course of
// the cystic artery, depth of the gallbladder's bed, how much fat there is, whether the wall is inflamed, adhesions of
// the omentum, a stone in the neck, and a second cystic artery. A seed gives one anatomy. The result is an ordinary
// scene, whose text a recording stores. Sources and frequencies: docs/tasks.md, "Variations of the anatomy". The
// frequencies are those of the variations that are modelled; distances are ours. Units: metres.

// Where the cystic duct enters the common duct, and how it gets there.
//   Lateral:   from the right, at the usual height      High: the same, nearer to the liver
//   Parallel:  low, after a course beside it            Behind: from the left, after a course behind it
enum class DuctCourse { Lateral, High, Parallel, Behind };
// Usual: from the liver, head-side of the duct. InFront: it crosses in front of the common duct. Short: from nearby.
enum class ArteryCourse { Usual, InFront, Short };
// How much fat wraps the ducts.
enum class Build { Thin, Usual, Stout };
// Inflamed: the gallbladder's wall is thicker and stiffer, and its bed tougher.
enum class Wall { Usual, Inflamed };

struct Anatomy {
  DuctCourse duct = DuctCourse::Lateral;
  ArteryCourse artery = ArteryCourse::Usual;
  double insertion = 0.0;  // m  of the duct along the common duct, below the scene's
  double beside = 0.0;     // m  length of a parallel course
  glm::dvec3 sway{0.0};    // m  by which the middle of the duct and of the artery leave their usual course
  double reach = 2e-3;     // m  of the bed
  Build build = Build::Usual;
  Wall wall = Wall::Usual;
  // Drawn from numbers of their own, when the rest has its room:
  bool adhesions = false;      // of the omentum to the gallbladder
  bool stone = false;          // in the neck of the gallbladder
  bool second_artery = false;  // it crosses in front of the cystic duct
};

struct VariedScene {
  Scene scene;
  Anatomy anatomy;
};

// Returns the scene with the anatomy of this seed, without [anatomy]. Throws InputError when the scene has no
// [anatomy], or leaves no room for the variations.
VariedScene vary_anatomy(const Scene& scene, std::uint32_t seed);

// Does the same when there is a seed; otherwise returns the scene unchanged.
Scene with_anatomy(const Scene& scene, const std::optional<std::uint32_t>& seed);

// Returns a description, for example "cystic duct: parallel, 42 mm; cystic artery: short, 19 mm; ...".
std::string text_of(const VariedScene& varied, const AnatomyScene& names);

}  // namespace trocar
