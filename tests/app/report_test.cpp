// Compares the report's summary with the recorded session. Tests the report's page with strings that contain HTML or
// script. Tests the time series for ParaView: VTK's own reader gives every face, position and touch of the recording;
// the list of files is XML with the correct times.
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkXMLDataElement.h>
#include <vtkXMLDataParser.h>
#include <vtkXMLPolyDataReader.h>

#include <nlohmann/json.hpp>

#include "app/report/pvd.hpp"
#include "app/report/report.hpp"
#include "app/report/session_summary.hpp"
#include "geometry/error.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/support/markup.hpp"
#include "tests/sim/recording/recorded_script.hpp"
#include "tests/sim/session/burnt_session.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

TEST(ReportPage, FillsEachPlaceholderOnceAndNotInsideContent) {
  EXPECT_EQ(filled_in("a {{one}} b {{two}}{{one}}", {{"one", "{{two}}"}, {"two", "2"}}), "a {{two}} b 2{{two}}");
  EXPECT_EQ(filled_in("", {}), "");
  EXPECT_THROW(filled_in("{{three}}", {{"one", "1"}}), RunError);
  EXPECT_THROW(filled_in("{{open", {{"one", "1"}}), RunError);
  EXPECT_EQ(markup_escaped("<b a='1'>\"&"), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;");
}

TEST(ReportPage, ContainsAllItsFiles) {
  const WebFiles& files = web_files();
  EXPECT_NE(files.page.find("{{data}}"), std::string_view::npos);
  EXPECT_NE(files.script.find("report"), std::string_view::npos);
  EXPECT_NE(files.viewer_licence.find("three.js authors"), std::string_view::npos);
  EXPECT_GT(files.viewer.size(), 100000u);
  EXPECT_EQ(files.viewer.find("</script"), std::string_view::npos);
  EXPECT_EQ(files.script.find("</script"), std::string_view::npos);
  EXPECT_EQ(files.style.find("</style"), std::string_view::npos);
}

TEST(TryLinks, LeadToTheTaskOfEachScene) {
  EXPECT_EQ(try_links("", {{"burn_line", "Burn"}}), "");
  EXPECT_EQ(try_links("https://a.org/t/", {}), "");
  EXPECT_EQ(try_links("https://a.org/t/", {{"", "Old"}}), "");
  const std::string one =
      "<p class=\"try\"><a href=\"https://a.org/t/?x=1&amp;y=2#task=burn_line\" rel=\"noreferrer\">"
      "Try this task in the browser</a></p>";
  EXPECT_EQ(try_links("https://a.org/t/?x=1&y=2", {{"burn_line", "Burn"}, {"burn_line", "Burn"}}), one);
  const std::string two = try_links("http://localhost:8000", {{"a b\"<\xc3\xa4&", "<i>"}, {"keep_out", ""}});
  EXPECT_NE(two.find("href=\"http://localhost:8000#task=a%20b%22%3C%C3%A4%26\""), std::string::npos) << two;
  EXPECT_NE(two.find(">Try in the browser: &lt;i&gt;</a><br><a "), std::string::npos) << two;
  EXPECT_NE(two.find(">Try in the browser: keep_out</a></p>"), std::string::npos) << two;
}

TEST(TryLinks, OnlyAddressesOfPagesAreAccepted) {
  for (const char* page : {"a.org", "javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x",
                           "file:///etc/passwd", "//a.org", "http:/a.org", "https://", "https:///x", "https://?x",
                           " https://a.org", "https://a.org/ x", "https://a.org/\n", "https://a.org/\"onclick",
                           "https://a.org/<b>", "https://a.org/#task=x", "https://a.org/\xc3\xa4", "ftp://a.org"})
    EXPECT_THROW(try_links(page, {}), InputError) << page;
  EXPECT_THROW(try_links("https://a.org/" + std::string(2000, 'x'), {}), InputError);
}

TEST(ReportPage, HasLinksOnlyWhenTheyAreGiven) {
  EXPECT_EQ(report_page("t", "{}", false).find("in the browser</a>"), std::string::npos);
  const std::string page = report_page("t", "{}", false, try_links("https://a.org", {{"burn_line", ""}}));
  EXPECT_NE(page.find("</noscript>\n<p class=\"try\"><a href=\"https://a.org#task=burn_line\""), std::string::npos);
}

// A recording of `frames` frames, and the values that the session itself saw.
struct Recorded {
  static constexpr std::size_t kTools = test::BurntSession::kTools;
  TemporaryFolder folder;
  std::size_t frames;
  std::vector<std::vector<std::uint32_t>> touched;                      // [tool][frame]
  std::vector<std::map<std::uint32_t, std::pair<int, float>>> contact;  // [organ] face: frames, highest pressure

  explicit Recorded(std::size_t frames) : frames(frames), touched(kTools), contact(test::BurntSession::kOrgans) {
    test::BurntSession session;
    Recorder recorder(file(), session.header());
    for (std::size_t frame = 0; frame < frames; ++frame) {
      session.step(&recorder);
      look_at(session);
    }
    recorder.close();
  }

  std::filesystem::path file() const { return folder.path() / "session.h5"; }

  void look_at(const test::BurntSession& session) {
    for (auto& row : touched) row.push_back(0);
    for (std::size_t organ = 0; organ < contact.size(); ++organ) {
      const test::SurfaceShot& shot = session.shot(organ);
      std::map<std::uint32_t, float> now;
      for (std::size_t tool = 0; tool < kTools; ++tool) touched[tool].back() += shot.first[tool + 1] - shot.first[tool];
      for (std::size_t k = 0; k < shot.touches.size(); ++k) {
        float& pressure = now[index(shot.touches[k].face)];
        pressure = std::max(pressure, shot.pressure[k]);
      }
      for (const auto& [face, pressure] : now) {
        auto& [count, highest] = contact[organ][face];
        ++count;
        highest = std::max(highest, pressure);
      }
    }
  }
};

SessionSummary summary_of(const Recorded& recorded, const SummaryLimits& limits) {
  const Recording recording(recorded.file());
  return summarise_session(recording, {}, limits, [](std::size_t) {});
}

TEST(SessionSummary, EveryTouchOfTheSessionIsCounted) {
  const Recorded recorded(90);
  const SessionSummary summary = summary_of(recorded, {});
  ASSERT_EQ(summary.tools.size(), Recorded::kTools);
  for (std::size_t tool = 0; tool < summary.tools.size(); ++tool) {
    const Envelope& touched = summary.tools[tool].touched;
    EXPECT_EQ(touched.low, touched.high);
    EXPECT_TRUE(std::equal(touched.high.begin(), touched.high.end(), recorded.touched[tool].begin(),
                           recorded.touched[tool].end()));
  }
  const double dt = (summary.end - summary.begin) / static_cast<double>(recorded.frames - 1);
  std::size_t faces = 0;
  for (std::size_t organ = 0; organ < summary.organs.size(); ++organ) {
    ASSERT_EQ(summary.organs[organ].contact.size(), recorded.contact[organ].size());
    for (const FaceContact& contact : summary.organs[organ].contact) {
      const auto& [count, pressure] = recorded.contact[organ].at(contact.face);
      EXPECT_NEAR(contact.seconds, count * dt, 1e-4);
      EXPECT_EQ(contact.pressure, pressure);
      ++faces;
    }
  }
  EXPECT_GT(faces, 50u);
  EXPECT_FALSE(summary.organs[0].removed.empty());
  EXPECT_FALSE(summary.organs[0].born.empty());
  EXPECT_TRUE(summary.organs[1].removed.empty());
  EXPECT_FALSE(summary.tools[0].energy.empty());
}

TEST(SessionSummary, BinsKeepEveryPeak) {
  const Recorded recorded(90);
  const SessionSummary full = summary_of(recorded, {}), few = summary_of(recorded, {7, 11, false});
  EXPECT_LE(few.bin_time.size(), 7u);
  EXPECT_LE(few.step_time.size(), 11u);
  EXPECT_TRUE(few.organs[0].faces.empty());
  for (std::size_t tool = 0; tool < full.tools.size(); ++tool) {
    for (const auto member : {&ToolSummary::force, &ToolSummary::speed, &ToolSummary::touched}) {
      const Envelope &all = full.tools[tool].*member, &some = few.tools[tool].*member;
      EXPECT_EQ(*std::max_element(all.high.begin(), all.high.end()),
                *std::max_element(some.high.begin(), some.high.end()));
      EXPECT_EQ(*std::min_element(all.low.begin(), all.low.end()), *std::min_element(some.low.begin(), some.low.end()));
    }
    EXPECT_EQ(few.tools[tool].tip.size(), few.step_time.size());
  }
}

TEST(SessionSummary, ASingleFrameIsSummarised) {
  const Recorded recorded(1);
  const SessionSummary summary = summary_of(recorded, {});
  EXPECT_EQ(summary.frames, 1u);
  EXPECT_EQ(summary.begin, summary.end);
  EXPECT_EQ(summary.tools[0].speed.high, std::vector<float>{0.f});
  EXPECT_FALSE(report_json({{Attempt{}, {}, summary}}).empty());
}

TEST(ReportJson, TextsWithMarkupStayText) {
  ReportSession session;
  session.attempt.scene_title = "</script><!-- \" ' \\ \xff", session.attempt.instruments = {{"<b>", {}}};
  const std::string text = report_json({session});
  EXPECT_EQ(text.find('<'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["sessions"][0]["attempt"]["scene"], "</script><!-- \" ' \\ \xEF\xBF\xBD");
  EXPECT_EQ(json["sessions"][0]["attempt"]["instruments"][0]["name"], "<b>");
}

constexpr std::size_t kFrames = 40, kEvery = 6;

struct PvdExport : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "s.h5", out = folder.path() / "pvd";

  PvdExport() {
    test::BurntSession session;
    RecordingHeader header = session.header();
    header.organs[1].name = "a <b> & \"c\"";
    Recorder recorder(file, header);
    for (std::size_t frame = 0; frame < kFrames; ++frame) session.step(&recorder);
    recorder.close();
    std::filesystem::create_directories(out);
  }
};

vtkNew<vtkXMLPolyDataReader> read(const std::filesystem::path& file) {
  vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName(file.c_str());
  reader->Update();
  return reader;
}

double value(vtkPolyData* data, const char* name, vtkIdType cell) {
  return data->GetCellData()->GetArray(name)->GetTuple1(cell);
}

void expect_surface(vtkPolyData* data, const RecordedOrganFrames& organ) {
  const MeshView mesh = organ.mesh();
  ASSERT_EQ(data->GetNumberOfPoints(), static_cast<vtkIdType>(mesh.positions.size()));
  ASSERT_EQ(data->GetNumberOfPolys(), static_cast<vtkIdType>(mesh.faces.size()));
  for (std::size_t k = 0; k < mesh.positions.size(); ++k)
    for (int axis = 0; axis < 3; ++axis)
      ASSERT_EQ(data->GetPoint(static_cast<vtkIdType>(k))[axis], mesh.positions[k][axis] * 1e3f);
  for (std::size_t k = 0; k < mesh.faces.size(); ++k) {
    vtkIdType count = 0;
    const vtkIdType* corners = nullptr;
    data->GetCellPoints(static_cast<vtkIdType>(k), count, corners);
    ASSERT_EQ(count, 3);
    for (int c = 0; c < 3; ++c) ASSERT_EQ(corners[c], mesh.faces[k][c]);
    ASSERT_EQ(value(data, "face_id", static_cast<vtkIdType>(k)), index(organ.surface().ids[k]));
  }
}

// Checks the tools, pressure and depth of each face by a search through all touches.
void expect_touches(vtkPolyData* data, const RecordedOrganFrames& organ, std::size_t& touched) {
  const OrganFrame& frame = organ.frame();
  for (std::size_t slot = 0; slot < organ.surface().ids.size(); ++slot) {
    unsigned by = 0;
    float pressure = 0.f, depth = 0.f;
    for (std::size_t tool = 0; tool + 1 < frame.first.size(); ++tool)
      for (std::size_t k = frame.first[tool]; k < frame.first[tool + 1]; ++k)
        if (frame.touches[k].face == organ.surface().ids[slot]) {
          by += 1u << tool;
          pressure = std::max(pressure, frame.pressure[k]);
          depth = std::max(depth, frame.touches[k].depth * 1e3f);
        }
    const auto cell = static_cast<vtkIdType>(slot);
    ASSERT_EQ(value(data, "touched_by", cell), by);
    ASSERT_EQ(value(data, "touched_by_tip", cell), 0.0);
    ASSERT_EQ(value(data, "pressure_pa", cell), pressure);
    ASSERT_EQ(value(data, "depth_mm", cell), depth);
    touched += by != 0;
  }
}

void expect_tools(vtkPolyData* data, const Recording& recording, std::size_t frame) {
  ASSERT_EQ(data->GetNumberOfLines(), 2);
  for (int tool = 0; tool < 2; ++tool) {
    const ToolPose pose = recording.pose(frame, static_cast<std::size_t>(tool));
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_EQ(data->GetPoint(2 * tool)[axis], static_cast<float>(pose.pivot[axis]) * 1e3f);
      EXPECT_EQ(data->GetPoint(2 * tool + 1)[axis], static_cast<float>(pose.tip[axis]) * 1e3f);
      EXPECT_EQ(data->GetPointData()->GetArray("force")->GetComponent(2 * tool + 1, axis),
                recording.force(frame, static_cast<std::size_t>(tool))[axis]);
    }
    EXPECT_EQ(value(data, "energy", tool), static_cast<int>(recording.energy(frame, static_cast<std::size_t>(tool))));
  }
}

TEST_F(PvdExport, VtkReadsBackTheRecording) {
  const Recording recording(file);
  const PvdSummary summary = export_pvd(recording, out, kEvery, [](std::size_t) {});
  EXPECT_EQ(summary.frames, 7u);
  EXPECT_EQ(summary.files, 21u);
  vtkNew<vtkXMLDataParser> parser;
  parser->SetFileName((out / "recording.pvd").c_str());
  ASSERT_EQ(parser->Parse(), 1);
  vtkXMLDataElement* list = parser->GetRootElement()->FindNestedElementWithName("Collection");
  ASSERT_EQ(list->GetNumberOfNestedElements(), 21);
  RecordedOrganFrames organs[] = {{recording, 0}, {recording, 1}};
  std::size_t touched = 0;
  for (int entry = 0; entry < 21; ++entry) {
    vtkXMLDataElement* element = list->GetNestedElement(entry);
    const std::size_t frame = static_cast<std::size_t>(entry / 3) * kEvery;
    EXPECT_EQ(std::stod(element->GetAttribute("timestep")), recording.times()[frame]);
    EXPECT_EQ(element->GetAttribute("part"), std::to_string(entry % 3));
    if (entry % 3 == 1) {
      EXPECT_STREQ(element->GetAttribute("group"), "a <b> & \"c\"");
    }
    const auto reader = read(out / element->GetAttribute("file"));
    vtkPolyData* data = reader->GetOutput();
    EXPECT_EQ(data->GetFieldData()->GetArray("TimeValue")->GetTuple1(0), recording.times()[frame]);
    if (entry % 3 == 2) {
      expect_tools(data, recording, frame);
      continue;
    }
    RecordedOrganFrames& organ = organs[entry % 3];
    organ.load(frame);
    ASSERT_NO_FATAL_FAILURE(expect_surface(data, organ)) << entry;
    ASSERT_NO_FATAL_FAILURE(expect_touches(data, organ, touched)) << entry;
  }
  EXPECT_GT(touched, 50u);
}

// Fibres are lines while they are intact.
TEST_F(PvdExport, FibresAreLinesWithTheirStrain) {
  const test::Script script;
  std::filesystem::remove(file);
  {
    Recorder recorder(file, script.header);
    for (std::uint32_t frame = 0; frame < 11; ++frame) script.append(recorder, frame);
    recorder.close();
  }
  EXPECT_EQ(export_pvd(Recording(file), out, 10, [](std::size_t) {}).files, 8u);
  EXPECT_EQ(read(out / "3_fibres_000000.vtp")->GetOutput()->GetNumberOfLines(), 63);
  const auto reader = read(out / "3_fibres_000010.vtp");
  vtkPolyData* data = reader->GetOutput();
  ASSERT_EQ(data->GetNumberOfLines(), 61) << "two broke before frame 10, and one before the recording";
  ASSERT_EQ(data->GetNumberOfPoints(), 122);
  for (int line = 0; line < 61; ++line) {
    const int fibre = line + 2;
    EXPECT_EQ(value(data, "fibre", line), fibre);
    EXPECT_NEAR(data->GetPoint(2 * line)[1], 4e4, 0.1) << "the sum of the weights is 4, every node is at 10 m";
    EXPECT_EQ(data->GetPoint(2 * line + 1)[1], 1e3 * fibre);
    EXPECT_NEAR(value(data, "strain", line), std::abs(40 - fibre) * std::sqrt(3.0) - 0.5, 1e-4);
  }
}

TEST_F(PvdExport, AFileInsteadOfAFolderIsRefused) {
  EXPECT_THROW(export_pvd(Recording(file), folder.path() / "none", 1, [](std::size_t) {}), InputError);
}

}  // namespace

}  // namespace trocar
