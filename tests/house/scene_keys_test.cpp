// Tests that the reference of scene keys and of the columns of a recording is that of the program.
#include <fmt/format.h>

#include <iterator>
#include <regex>

#include "docs/scene_key_table.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Tests the reference page of a scene's keys (docs/scene_key_table.hpp): it has every key of every scene of the
// repository in the right table, and docs/file-formats.md leads to it.

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

// Tests that docs/file-formats.md lists every column of a recording exactly as the program declares it, and that the
// table of the columns is sound. On a difference the test prints the table; copy it between the two marks of the
// document.

constexpr ColumnGroup kGroups[] = {ColumnGroup::Session,  ColumnGroup::Tools, ColumnGroup::Fibres, ColumnGroup::Clips,
                                   ColumnGroup::Bleeding, ColumnGroup::Organ, ColumnGroup::Compact};

std::string table_of_columns() {
  std::string text = "| column | rows | type | unit | forms | content |\n|---|---|---|---|---|---|\n";
  for (const ColumnGroup group : kGroups)
    for (std::size_t k = 0; k < columns_of(group).size(); ++k) {
      const Column& column = columns_of(group)[k];
      text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", path_of(group, k, "NAME"), name_of(column.rows),
                          type_text(column), column.unit, forms_text(column), column.meaning);
    }
  return text;
}

TEST(RecordingColumns, TheDocumentListsEveryColumnAsTheProgramDeclaresIt) {
  const std::string document = read_file(repository_file("docs/file-formats.md"));
  const std::string begin = "<!-- columns of a recording: begin -->\n", end = "<!-- columns of a recording: end -->";
  const auto from = document.find(begin), to = document.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << "the marks are missing";
  const std::string listed = document.substr(from + begin.size(), to - from - begin.size());
  EXPECT_TRUE(listed == table_of_columns()) << "docs/file-formats.md must hold between its marks:\n"
                                            << table_of_columns();
}

// The names by which the program takes a column are positions in the table.
TEST(RecordingColumns, StandInTheTableWhereTheirNamesSay) {
  const auto name = [](ColumnGroup group, std::size_t column) { return std::string(columns_of(group)[column].name); };
  EXPECT_EQ(columns_of(ColumnGroup::Session).size(), std::size_t{kSessionColumns});
  EXPECT_EQ(name(ColumnGroup::Tools, kEnding), "ending");
  EXPECT_EQ(name(ColumnGroup::Session, kScope), "scope");
  EXPECT_EQ(name(ColumnGroup::Session, kHidden), "hidden");
  EXPECT_EQ(name(ColumnGroup::Session, kEnergy), "tool_energy");
  EXPECT_EQ(name(ColumnGroup::Session, kTime), "time");
  EXPECT_EQ(name(ColumnGroup::Fibres, kBrokenFrame), "broken_frame");
  EXPECT_EQ(name(ColumnGroup::Fibres, kBrokenHow), "broken_how");
  EXPECT_EQ(name(ColumnGroup::Clips, kTubeFrame), "tube_frame");
  EXPECT_EQ(name(ColumnGroup::Bleeding, kBleedChangeFrame), "change_frame");
  EXPECT_EQ(name(ColumnGroup::Organ, kCarriedFrame), "carried_frame");
  EXPECT_EQ(name(ColumnGroup::Organ, kKeyNodes), "key_nodes");
  EXPECT_EQ(name(ColumnGroup::Organ, kTouchPart), "touch_part");
  EXPECT_EQ(name(ColumnGroup::Compact, kFrameChecksum), "checksum");
}

// Readers of a live recording rely on this order, and so does the search for complete frames.
TEST(RecordingColumns, EachKindOfEventHasOneColumnOfItsFrames) {
  EXPECT_EQ(std::string(columns_of(ColumnGroup::Session).back().name), "time");
  std::set<std::string> paths;
  for (const ColumnGroup group : kGroups) {
    std::set<RowOf> counted, kinds;
    for (std::size_t k = 0; k < columns_of(group).size(); ++k) {
      const Column& column = columns_of(group)[k];
      EXPECT_TRUE(paths.insert(path_of(group, k, "NAME")).second) << column.name;
      EXPECT_FALSE(column.forms.empty() || std::string(column.meaning).empty()) << column.name;
      kinds.insert(column.rows);
      if (column.effect) {
        EXPECT_TRUE(counted.insert(column.rows).second) << column.name;
      }
    }
    for (const RowOf kind :
         {RowOf::Frame, RowOf::Touch, RowOf::TipFace, RowOf::Fibre, RowOf::Tool, RowOf::Run, RowOf::KeyFrame})
      kinds.erase(kind);
    EXPECT_EQ(counted, kinds);
  }
}

}  // namespace
}  // namespace trocar
