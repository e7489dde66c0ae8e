// Checks the organs and the connective tissue of a scene beyond the limits of single keys.
#include <fmt/format.h>

#include "geometry/error.hpp"
#include "sim/scene/key_reader.hpp"

namespace trocar {

void refuse_unknown_organ(const SceneOrigin& origin, TomlTable& table, std::string_view key, const std::string& organ) {
  if (!has_name(origin.scene->organs, organ))
    table.fail(key,
               fmt::format("the scene has no organ '{}'; it has {}", printable(organ), names_of(origin.scene->organs)));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const TubeShape& tube) {
  if (const std::string fault = tube_fault(tube); !fault.empty())
    table.fail("path_mm", fmt::format("makes no tube: {}", fault));
}

template <>
void check(const SceneOrigin&, TomlTable& table, const OrganScene& organ) {
  for (const char* key : {"mesh", "part", "mm_per_unit", "axes", "rotate_deg"})
    if (organ.tube && table.find(key)) table.fail(key, "is of no use beside [organ.tube]; remove one of them");
  for (const char* key : {"law", "youngs_modulus", "poisson_ratio", "stiffening", "late_stiffening"})
    if (!organ.material.empty() && table.table("tissue").has(key))
      table.fail("material", fmt::format("sets {}, which [organ.tissue] sets too; remove one of them", key));
  if (organ.vessel && !organ.tube)
    table.fail("vessel", "needs an [organ.tube]; an organ with a mesh bleeds with [organ.blood]");
  if (organ.blood && organ.tube) table.fail("blood", "is for an organ with a mesh; a tube bleeds with [organ.vessel]");
  if (organ.bile && organ.tube) table.fail("bile", "is for an organ with a mesh; tissue fills a tube");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const LayerScene& layer) {
  refuse_unknown_organ(origin, table, "organ", layer.organ);
  refuse_unknown_organ(origin, table, "to", layer.to);
  if (layer.organ == layer.to) table.fail("to", "is the same organ as `organ`; a layer joins two organs");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const BandScene& band) {
  refuse_unknown_organ(origin, table, "organ", band.organ);
  if (!band.to.empty()) refuse_unknown_organ(origin, table, "to", band.to);
  if (band.organ == band.to) table.fail("to", "is the same organ as `organ`; a band joins two organs");
  if (band.params.from_start == band.params.to_start || band.params.from_end == band.params.to_end)
    table.fail("to_start_mm",
               "and to_end_mm must differ from from_start_mm and from_end_mm, or strands have no length");
}

template <>
void check(const SceneOrigin& origin, TomlTable& table, const AnatomyScene& anatomy) {
  for (const auto& [key, name] :
       {std::pair{"duct", &anatomy.duct}, {"artery", &anatomy.artery}, {"main_duct", &anatomy.main_duct}}) {
    refuse_unknown_organ(origin, table, key, *name);
    const auto organ = std::ranges::find(origin.scene->organs, *name, &OrganScene::name);
    if (!organ->tube)
      table.fail(key, fmt::format("must be a duct or vessel, but {} has no [organ.tube]", printable(*name)));
  }
  if (anatomy.duct == anatomy.artery || anatomy.duct == anatomy.main_duct || anatomy.artery == anatomy.main_duct)
    table.fail("duct", "artery and main_duct must be three different organs");
  if (!has_name(origin.scene->layers, anatomy.bed))
    table.fail("bed", fmt::format("the scene has no layer '{}'; it has {}", printable(anatomy.bed),
                                  names_of(origin.scene->layers)));
}

}  // namespace trocar
