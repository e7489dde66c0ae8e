// Tests the measurements of the GPU kit at small size, and its page.
#include "bench/gpu_kit/gpu_kit.hpp"
#include "cpu_collision/queries.hpp"
#include "cpu_collision/reference.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar::bench {
namespace {

const KitOptions kSmall{.largest_faces = 8'000, .frames = 3, .motions = 5, .mesh = {}, .trajectory = {}};

TEST(GpuKit, TheEllipsoidHasTheFacesAndAManifoldSide) {
  for (const std::size_t wanted : {2'000, 31'000, 100'000}) {
    const TriangleMesh mesh = make_ellipsoid(wanted);
    EXPECT_NEAR(static_cast<double>(mesh.faces.size()), static_cast<double>(wanted),
                0.04 * static_cast<double>(wanted));
    std::map<std::pair<unsigned, unsigned>, int> edges;  // of each directed edge, how many faces have it
    for (const glm::uvec3& face : mesh.faces)
      for (int k = 0; k < 3; ++k) ++edges[{face[k], face[(k + 1) % 3]}];
    for (const auto& [edge, count] : edges) ASSERT_EQ(count, 1) << edge.first << " " << edge.second;
  }
}

TEST(GpuKit, EveryInstrumentTouchesTheOrganInEveryFrame) {
  const TriangleMesh mesh = make_ellipsoid(8'000);
  const auto frames = make_wobble_frames(mesh, 16);
  ASSERT_EQ(frames.size(), 16u);
  for (const WobbleFrame& frame : frames) {
    EXPECT_NE(frame.positions, mesh.positions);
    for (const ToolVolume& tool : frame.tools)
      EXPECT_FALSE(reference_touched({frame.positions, mesh.faces}, tool, TouchSet::Exact).touched.empty());
  }
}

TEST(GpuKit, AgreementCountsQueriesAndTouches) {
  Backends backends;
  const Json rows = agreement_rows("scan", backends, kSmall);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["queries"], 50);
  EXPECT_EQ(rows[1]["queries"], 10);
  for (const Json& row : rows) {
    EXPECT_EQ(row["backend"], "scan");
    EXPECT_GT(row["touched"].get<int>(), 0);
    EXPECT_EQ(row["disagreements"], 0);
  }
}

TEST(GpuKit, SizesAndToolsHaveARowEach) {
  Backends backends;
  const Json sizes = size_rows("scan", backends, kSmall);
  ASSERT_EQ(sizes.size(), 4u);
  const Json tools = tool_rows("scan", backends, kSmall);
  ASSERT_EQ(tools.size(), 5u);
  EXPECT_EQ(tools[4]["tools"], 16);
  for (const Json& rows : {sizes, tools})
    for (const Json& row : rows) {
      EXPECT_EQ(row["frames"], 3);
      EXPECT_GT(row["touched"].get<int>(), 0);
      EXPECT_GT(row["total_ms"]["median"].get<double>(), row["search_ms"]["median"].get<double>());
      EXPECT_GE(row["total_ms"]["p99"].get<double>(), row["total_ms"]["median"].get<double>());
      EXPECT_GT(row["same_positions_ms"]["median"].get<double>(), 0.0);
    }
}

TEST(GpuKit, ComputeIsMeasuredInEveryVariant) {
  Backends backends;
  const GlContext* context = backends.context();
  if (!context || context->info().major * 10 + context->info().minor < 45) GTEST_SKIP() << "compute needs OpenGL 4.5";
  KitOptions options = kSmall;
  options.largest_faces = 2'000;
  const Json rows = size_rows("compute", backends, options);
  ASSERT_EQ(rows.size(), 6u);
  std::map<std::string, std::uint64_t> touched;  // of each set: the same in every variant
  for (const Json& row : rows) {
    const auto [found, first] = touched.try_emplace(row["set"], row["touched"].get<std::uint64_t>());
    EXPECT_EQ(found->second, row["touched"].get<std::uint64_t>()) << row["variant"];
  }
}

Json some_results() {
  const auto stage = [](double ms) { return Json{{"median", ms}, {"p99", 2.0 * ms}}; };
  const auto row = [&](const char* backend, const char* variant, int faces, int tools, double ms) {
    return Json{{"backend", backend},
                {"variant", variant},
                {"faces", faces},
                {"tools", tools},
                {"set", "exact"},
                {"frames", 3},
                {"update_ms", stage(ms)},
                {"submit_ms", stage(ms)},
                {"gpu_ms", stage(ms)},
                {"read_back_ms", stage(ms)},
                {"search_ms", stage(0.0)},
                {"refine_ms", stage(0.0)},
                {"total_ms", stage(ms)},
                {"same_positions_ms", stage(ms)},
                {"touched", 7}};
  };
  Json results = {{"version", "1"}, {"machine", "a machine"}, {"date", "2026-01-01 00:00:00"}};
  results["gl"] = {{"vendor", "V"}, {"renderer", "R"}, {"version", "4.5"}, {"profile", "core"}, {"software", false}};
  results["doctor"] = {{"compute", "works"}};
  results["agreement"] = Json::array();
  for (const int disagreements : {0, 2, 3})
    results["agreement"].push_back({{"backend", "compute"},
                                    {"what", "w"},
                                    {"queries", 1},
                                    {"touched", 1},
                                    {"borderline", 0},
                                    {"disagreements", disagreements}});
  results["sizes"] = {row("scan", "default", 99'856, 1, 0.001), row("compute", "default", 99'856, 1, 0.007),
                      row("compute", "timer query", 99'856, 1, 0.009), row("compute", "timer query", 998'001, 1, 0.07)};
  results["tools"] = {row("compute", "default", 99'856, 1, 0.01), row("compute", "default", 99'856, 16, 0.02)};
  results["failures"] = Json::array({"sizes of select: crashes (signal 11)"});
  return results;
}

TEST(GpuKit, ThePageHasTheGoalsAndTheFailures) {
  const Json results = some_results();
  EXPECT_EQ(disagreements_of(results), 5u);
  const std::string page = kit_page(results);
  EXPECT_TRUE(page.starts_with("# Trocar: "));
  for (const char* line :
       {"| GPU time at 100,000 faces, us | 8 | 9.0 | no |", "| GPU time at 1,000,000 faces, us | 40 | 70.0 | no |",
        "| total with upload at 100,000 faces, p99, us | 100 | 14.0 | yes |",
        "| 16 instruments against one, ratio | 1.3 | 2.0 | no |", "- sizes of select: crashes (signal 11)",
        "All together: 5 disagreements."})
    EXPECT_NE(page.find(line), std::string::npos) << line << "\n" << page;
}

TEST(GpuKit, ThePageOfAMachineWithoutOpenGlSaysSo) {
  Json results = some_results();
  results["gl"] = {{"none", "libEGL.so.1 cannot be loaded"}};
  results["sizes"] = Json::array();
  results["tools"] = Json::array();
  const std::string page = kit_page(results);
  EXPECT_NE(page.find("OpenGL: not available (libEGL.so.1 cannot be loaded)."), std::string::npos);
  EXPECT_NE(page.find("| GPU time at 100,000 faces, us | 8 | not measured | - |"), std::string::npos);
}

}  // namespace
}  // namespace trocar::bench
