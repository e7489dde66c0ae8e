#include "sim/scene/material.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "deform/solid/elasticity.hpp"
#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/csv.hpp"

namespace trocar {
namespace {

constexpr FileKind kMaterialFile{"material", std::uint64_t{1} << 16};
constexpr FileKind kCurveFile{"curve", std::uint64_t{1} << 24};
constexpr std::size_t kMostRows = 1000, kLongestLine = 4096;
constexpr std::array<std::string_view, 3> kColumns = {"strain", "force_n", "sd_n"};
constexpr const char* kHeader = "strain,force_n or strain,force_n,sd_n";

TissueLaw read_law(TomlTable& table) {
  const std::string name = table.text("law");
  for (const TissueLaw law : kTissueLaws)
    if (name == name_of(law)) return law;
  table.fail("law", "must be springs or rising");
}

CurvePoint row_of(CsvReader& csv, std::size_t columns, const std::string& where) {
  if (csv.cells().size() < columns)
    throw InputError(fmt::format("{}: the row has {} values, the header has {}", where, csv.cells().size(), columns));
  CurvePoint point{csv.number(0, kColumns[0]), csv.number(1, kColumns[1]), 0.0};
  if (columns == 3) point.spread = csv.number(2, kColumns[2]);
  if (!(point.strain > 0.0) || !(point.force > 0.0) || !(point.spread >= 0.0))
    throw InputError(fmt::format(
        "{}: strain and force must be above 0 and the deviation at least 0; remove the row of the unloaded specimen, "
        "and for a pulled one give --pull and positive numbers",
        where));
  return point;
}

}  // namespace

void load_material(const std::filesystem::path& file, TissueParams& params) {
  TomlTable table = TomlTable::parse(file, read_whole_file(file, kMaterialFile));
  params.law = read_law(table);
  params.youngs_modulus = static_cast<float>(table.number("youngs_modulus", {1.0, 1e9}));
  params.poisson_ratio = static_cast<float>(table.number("poisson_ratio", {0.25, 0.49}));
  params.stiffening = 0.f;
  table.optional("stiffening", params.stiffening, {kLeastStiffening, kMostStiffening});
  params.late_stiffening = 0.f;
  table.optional("late_stiffening", params.late_stiffening, {0.0, kMostLateStiffening});
  table.optional("density", params.density, {1.0, 1e5});
  table.refuse_unknown_keys();
}

std::string material_text(const TissueParams& p, const std::string& source) {
  return fmt::format(
      "# Trocar material: {}\nlaw = \"{}\"\nyoungs_modulus = {:.6g}  # Pa, at small strain\npoisson_ratio = {:.6g}\n"
      "stiffening = {:.6g}\nlate_stiffening = {:.6g}\n",
      source, name_of(p.law), p.youngs_modulus, p.poisson_ratio, p.stiffening, p.late_stiffening);
}

std::vector<CurvePoint> load_curve(const std::filesystem::path& file, double most) {
  const std::string content = read_whole_file(file, kCurveFile);
  CsvReader csv(file.string(), content, {kColumns, 2, kLongestLine, kCurveFile.name});
  const std::size_t columns = csv.header().size();
  const auto start = kColumns.begin();
  if (columns > 0 && (columns < 2 || columns > 3 || !std::equal(csv.header().begin(), csv.header().end(), start)))
    throw InputError(fmt::format("{}:{}: the header must be {}", file.string(), csv.header_line(), kHeader));
  std::vector<CurvePoint> points;
  while (csv.next_row()) {
    const std::string where = fmt::format("{}:{}", file.string(), csv.line());
    points.push_back(row_of(csv, columns, where));
    if (points.size() > 1 && points.back().strain <= points[points.size() - 2].strain)
      throw InputError(fmt::format("{}: the strain is not larger than that of the row before; sort the rows", where));
    if (points.back().strain > most)
      throw InputError(
          fmt::format("{}: a strain of {:g} is beyond {:g}; remove the row", where, points.back().strain, most));
    if (points.size() > kMostRows)
      throw InputError(fmt::format("{}: the curve has more than {} rows; keep fewer", where, kMostRows));
  }
  if (points.empty())
    throw InputError(fmt::format("{}: the curve has no rows; its columns are {}", file.string(), kHeader));
  return points;
}

}  // namespace trocar
