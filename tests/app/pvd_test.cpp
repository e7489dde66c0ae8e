// Tests the time series for ParaView: VTK's own reader gives every face, position and touch of the recording; the list
// of files is XML with the correct times.
#include "app/report/pvd.hpp"

#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkXMLDataElement.h>
#include <vtkXMLDataParser.h>
#include <vtkXMLPolyDataReader.h>

#include "geometry/error.hpp"
#include "sim/review/recorded_frames.hpp"
#include "tests/sim/burnt_session.hpp"
#include "tests/sim/recorded_script.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

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
