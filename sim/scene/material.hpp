// Files of the material-testing machine: a material (TOML) and a curve measured on a specimen of it (CSV).
// Formats: docs/file   Tested in tests/app/files_test.cpp and tests/sim/scene/scene_test.cpp
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "deform/reference/specimen.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

// Sets law, moduli and stiffening of `params`, and the density if the file has one. Throws InputError with file, line
// and key.
void load_material(const std::filesystem::path& file, TissueParams& params);

// Returns the text of a material. `source`: a line that says where it comes from.
std::string material_text(const TissueParams& params, const std::string& source);

// Returns the rows of a curve with the columns `strain,force_n` and, if it has it, `sd_n`. Throws InputError with file
// and line unless strains and forces are above 0 and strains ascend below `most`.
std::vector<CurvePoint> load_curve(const std::filesystem::path& file, double most);

}  // namespace trocar
