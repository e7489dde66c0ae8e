// Tests the table of the backends: the names on which recordings rely, and the documents and help texts that list them.
#include "app/compare/backends.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "geometry/error.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

TEST(BackendTable, NamesAndTheirOrderStay) {
  const std::vector<std::string> names = {
      "compute",      "occlusion", "select",       "scan",        "aabb-refit",   "aabb",         "sphere-refit",
      "sphere",       "obb-refit", "obb",          "kdop6-refit", "kdop6",        "kdop14-refit", "kdop14",
      "kdop18-refit", "kdop18",    "kdop26-refit", "kdop26",      "quospo-refit", "quospo",       "bsp"};
  EXPECT_EQ(backend_names(), names);
}

TEST(BackendTable, EveryNameMakesTheBackendOfThatName) {
  Backends backends;
  std::vector<std::string> names = backend_names();
  for (const char* name : {"aabb:median", "aabb:octree-refit", "sphere:mean-refit", "kdop26:middle"})
    names.emplace_back(name);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    EXPECT_EQ(backends.resolve(name, {}).name, name);
    if (!backends.context() && (name == "compute" || name == "occlusion" || name == "select")) continue;
    EXPECT_EQ(backends.make(name)->name(), name);
  }
  for (const char* name : {"", "all", "obb:median", "bsp-refit", "scan-refit", "SCAN"})
    EXPECT_THROW(backends.make(name), InputError) << name;
}

TEST(BackendTable, HelpListsEveryBackend) {
  const std::string help = backend_help();
  for (const std::string& name : backend_names()) EXPECT_NE(help.find("  " + name + " "), std::string::npos) << name;
}

// The rows of the table in docs/architecture.md.
std::vector<std::string> documented_rows() {
  std::ifstream in(repository_file("docs/architecture.md"));
  std::string line;
  while (std::getline(in, line) && line != "| backend | room | needs | use it for |") {
  }
  std::getline(in, line);
  std::vector<std::string> rows;
  while (std::getline(in, line) && line.starts_with("|")) rows.push_back(line);
  return rows;
}

TEST(BackendTable, TheDocumentHasTheSameRows) {
  std::vector<std::string> rows;
  for (const BackendRow& row : backend_table())
    rows.push_back(fmt::format("| `{}` | `{}` | {} | {} |", row.name, row.room, row.needs, row.use));
  EXPECT_EQ(documented_rows(), rows);
}

}  // namespace
}  // namespace trocar
