#include "app/sweep/plan_table.hpp"

#include "deform/matrix.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/task/performer.hpp"

namespace trocar {
namespace {

using Kind = ParameterKind;

constexpr Limits kSeeds{0.0, 4294967295.0};
constexpr std::string_view kShapes[] = {"cylinder", "block", "beam", "mesh"};
constexpr std::string_view kModes[] = {"static", "swept"}, kCovers[] = {"paper", "capsule"},
                           kSets[] = {"volume", "exact"};

constexpr ParameterRow kReplay[] = {
    {"recordings", "recording", "", Kind::File, {}, {}, true},
    {"backends", "backend", "--backend", Kind::Backends},
};

constexpr ParameterRow kScore[] = {
    {"recordings", "recording", "", Kind::File, {}, {}, true},
};

constexpr ParameterRow kPerform[] = {
    {"scenes", "scene", "", Kind::File, {}, {}, true},
    {"as", "as", "--as", Kind::Word, {}, kSkillNames},
    {"faults", "fault", "--fault", Kind::Word, {}, kFaultNames},
    {"dose", "dose", "--dose", Kind::Number, {0.0, 10.0}},
    {"anatomy", "anatomy", "--anatomy", Kind::Whole, kSeeds},
    {"levels", "level", "--level", Kind::Whole, {1.0, kMostLevels}},
    {"seeds", "seed", "--seed", Kind::Whole, kSeeds},
    {"backends", "backend", "--backend", Kind::Backends},
    {"allow_outside", "allow_outside", "--allow-outside", Kind::Flag},
};

// Either recordings, or meshes with trajectories and radii; the limits are those of the options of `trocar compare`.
constexpr ParameterRow kCompare[] = {
    {"recordings", "recording", "", Kind::File},
    {"meshes", "mesh", "--mesh", Kind::File},
    {"trajectories", "trajectory", "--trajectory", Kind::File},
    {"radii", "radius_mm", "--radius", Kind::Number, {1e-3, 1e4}},
    {"modes", "mode", "--mode", Kind::Word, {}, kModes},
    {"covers", "cover", "--cover", Kind::Word, {}, kCovers},
    {"sets", "set", "--set", Kind::Word, {}, kSets},
    {"every", "every", "--every", Kind::Whole, {1.0, 1e9}},
    {"scale", "scale", "--scale", Kind::Number, {1e-6, 1e6}},
    {"wobble", "wobble", "--wobble", Kind::Number, {0.0, 0.5}},
    {"backends", "backend", "--backends", Kind::Backends, {}, {}, true},
};

// The limits are those of the options of `trocar tissue test`.
constexpr ParameterRow kTissue[] = {
    {"shapes", "shape", "--shape", Kind::Word, {}, kShapes},
    {"meshes", "mesh", "--mesh", Kind::File},
    {"materials", "material", "--material", Kind::File},
    {"diameter", "diameter_mm", "--diameter", Kind::Number, {0.1, 1e4}},
    {"height", "height_mm", "--height", Kind::Number, {0.1, 1e4}},
    {"size", "size_mm", "--size", Kind::Word},
    {"spacing", "spacing_mm", "--spacing", Kind::Number, {0.05, 1e3}},
    {"turn", "turn_deg", "--turn", Kind::Number, {-180.0, 180.0}},
    {"ball", "ball_mm", "--ball", Kind::Number, {0.1, 1e4}},
    {"modulus", "modulus_kpa", "--modulus", Kind::Number, {1e-3, 1e6}},
    {"poisson", "poisson", "--poisson", Kind::Number, {0.25, 0.49}},
    {"stiffening", "stiffening", "--stiffening", Kind::Number, {kLeastStiffening, kMostStiffening}},
    {"late_stiffening", "late_stiffening", "--late-stiffening", Kind::Number, {0.0, kMostLateStiffening}},
    {"density", "density", "--density", Kind::Number, {1.0, 1e5}},
    {"to", "to", "--to", Kind::Number, {1e-4, 0.8}},
    {"twist", "twist_deg", "--twist", Kind::Number, {0.01, 360.0}},
    {"steps", "steps", "--steps", Kind::Whole, {1.0, 1000.0}},
    {"stick", "stick", "--stick", Kind::Flag},
    {"pull", "pull", "--pull", Kind::Flag},
    {"gravity", "gravity", "--gravity", Kind::Flag},
    {"springs", "springs", "--springs", Kind::Flag},
    {"reference", "reference", "--reference", Kind::Flag},
};

constexpr RunRow kRuns[] = {
    {"replay", "replay", ResultKind::Replay, kReplay},     {"score", "score", ResultKind::Score, kScore},
    {"perform", "perform", ResultKind::Score, kPerform},   {"compare", "compare", ResultKind::Compare, kCompare},
    {"tissue", "tissue test", ResultKind::Curve, kTissue},
};

}  // namespace

std::span<const RunRow> run_table() { return kRuns; }

}  // namespace trocar
