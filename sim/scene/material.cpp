#include "sim/scene/material.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "deform/matrix.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "mesh/whole_file.hpp"
#include "sim/scene/toml_table.hpp"

namespace trocar {
namespace {

constexpr FileKind kMaterialFile{"material", std::uint64_t{1} << 16};
constexpr FileKind kCurveFile{"curve", std::uint64_t{1} << 24};
constexpr std::size_t kMostRows = 1000;
constexpr const char* kColumns = "strain,force_n or strain,force_n,sd_n";

TissueLaw read_law(TomlTable& table) {
  const std::string name = table.text("law");
  for (const TissueLaw law : kTissueLaws)
    if (name == name_of(law)) return law;
  table.fail("law", "must be springs or rising");
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else if (c != ' ' && c != '\t' && c != '\r')
      cells.back() += c;
  }
  return cells;
}

double number_of(const std::string& cell, const std::string& where) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (cell.empty() || error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value))
    throw InputError(
        fmt::format("{}: '{}' in the row is not a finite number; correct or remove the row", where, printable(cell)));
  return value;
}

CurvePoint row_of(const std::vector<std::string>& cells, std::size_t columns, const std::string& where) {
  if (cells.size() != columns)
    throw InputError(fmt::format("{}: the row has {} values, the header has {}", where, cells.size(), columns));
  CurvePoint point{number_of(cells[0], where), number_of(cells[1], where), 0.0};
  if (columns == 3) point.spread = number_of(cells[2], where);
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
  std::istringstream lines(read_whole_file(file, kCurveFile));
  std::string line;
  std::vector<CurvePoint> points;
  std::size_t columns = 0;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string where = fmt::format("{}:{}", file.string(), number);
    const std::vector<std::string> cells = cells_of(line);
    if (cells == std::vector<std::string>{""}) continue;
    if (columns == 0) {
      columns = cells.size();
      const bool known = columns >= 2 && columns <= 3 && cells[0] == "strain" && cells[1] == "force_n" &&
                         (columns == 2 || cells[2] == "sd_n");
      if (!known) throw InputError(fmt::format("{}: the header must be {}", where, kColumns));
      continue;
    }
    points.push_back(row_of(cells, columns, where));
    if (points.size() > 1 && points.back().strain <= points[points.size() - 2].strain)
      throw InputError(fmt::format("{}: the strain is not larger than that of the row before; sort the rows", where));
    if (points.back().strain > most)
      throw InputError(
          fmt::format("{}: a strain of {:g} is beyond {:g}; remove the row", where, points.back().strain, most));
    if (points.size() > kMostRows)
      throw InputError(fmt::format("{}: the curve has more than {} rows; keep fewer", where, kMostRows));
  }
  if (points.empty())
    throw InputError(fmt::format("{}: the curve has no rows; its columns are {}", file.string(), kColumns));
  return points;
}

}  // namespace trocar
