// Tests the reference page of a scene's keys (docs/scene_key_table.hpp): it has every key of every scene of the
// repository in the right table, and docs/file-formats.md leads to it.
#include "docs/scene_key_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using KeysOfTables = std::map<std::string, std::set<std::string>>;  // "[organ.tissue]": the names of its keys

KeysOfTables listed_keys() {
  KeysOfTables listed;
  for (const reference::KeyBlock& block : reference::scene_key_blocks()) {
    std::istringstream tables(std::regex_replace(block.table, std::regex("Top of the file|`|,"), ""));
    std::set<std::string> names{std::istream_iterator<std::string>(tables), {}};
    if (names.empty()) names.insert("");
    for (const std::string& name : names)
      for (const reference::KeyRow& row : block.rows) listed[name].insert(row.key);
  }
  return listed;
}

// Adds the keys that a scene file has, table by table.
void add_keys(const std::string& text, KeysOfTables& used) {
  static const std::regex header(R"(^(\[\[?[\w.]+\]?\])\s*(?:#.*)?$)"), key(R"(^(\w+)\s*=.*$)");
  std::istringstream lines(text);
  std::string table;
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, header)) table = found[1];
    if (std::regex_match(line, found, key)) used[table].insert(found[1]);
  }
}

TEST(SceneKeys, TheDocumentListsEveryKeyAsTheReaderDeclaresIt) {
  KeysOfTables used;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(repository_file("data/scenes")))
    if (entry.path().extension() == ".toml") add_keys(read_file(entry.path()), used);
  ASSERT_GT(used.size(), 20u);
  const KeysOfTables listed = listed_keys();
  for (const auto& [table, keys] : used) {
    ASSERT_TRUE(listed.contains(table)) << table;
    for (const std::string& key : keys) EXPECT_TRUE(listed.at(table).contains(key)) << table << " " << key;
  }
}

TEST(SceneKeys, EachKeyHasItsRowWithDefaultLimitsAndMeaning) {
  const std::string page = reference::scene_key_page();
  std::size_t rows = 0;
  for (const reference::KeyBlock& block : reference::scene_key_blocks()) {
    EXPECT_NE(page.find("## " + block.table + "\n"), std::string::npos) << block.table;
    for (const reference::KeyRow& row : block.rows) {
      EXPECT_NE(page.find("| `" + row.key + "` | " + row.standard + " | "), std::string::npos) << row.key;
      EXPECT_FALSE(row.meaning.empty()) << block.table << " " << row.key;
      ++rows;
    }
  }
  EXPECT_GT(rows, 200u);
  const std::string line = "| `youngs_modulus` | 6000 | Pa, 1 to 1e+09 | Young's modulus at small strain |\n";
  EXPECT_NE(page.find(line), std::string::npos);
  EXPECT_NE(read_file(repository_file("docs/file-formats.md")).find("scene-keys.md"), std::string::npos);
}

}  // namespace
}  // namespace trocar
