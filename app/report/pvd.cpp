#include "app/report/pvd.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnsignedIntArray.h>
#include <vtkXMLPolyDataWriter.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "geometry/face_numbers.hpp"
#include "geometry/units.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/support/files.hpp"
#include "sim/support/markup.hpp"

namespace trocar {
namespace {

constexpr auto kMillimetres = static_cast<float>(kMmPerMetre);  // per metre

// Replaces every character that some system forbids in a file name by an underscore.
std::string file_part(const std::string& name) {
  std::string part;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    part += plain ? c : '_';
  }
  return part;
}

// Control characters, which XML does not have, become blanks.
std::string xml_text(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return markup_escaped(text);
}

template <typename Array>
vtkNew<Array> table(const char* name, int components, std::size_t rows) {
  vtkNew<Array> array;
  array->SetName(name);
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(static_cast<vtkIdType>(rows));
  std::fill_n(array->GetPointer(0), rows * static_cast<std::size_t>(components), 0);
  return array;
}

void write_file(const std::filesystem::path& path, vtkPolyData* data, double time) {
  vtkNew<vtkDoubleArray> at;
  at->SetName("TimeValue");
  at->InsertNextValue(time);
  data->GetFieldData()->AddArray(at);
  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  writer->SetDataModeToAppended();
  writer->SetCompressorTypeToZLib();
  writer->WriteToOutputStringOn();
  writer->Write();
  OutputFile file(path, OutputKind::Series);
  file.stream() << writer->GetOutputString();
  file.commit();
}

vtkNew<vtkPoints> points_of(std::span<const glm::vec3> positions) {
  vtkNew<vtkFloatArray> coordinates = table<vtkFloatArray>("", 3, positions.size());
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const glm::vec3 p = positions[k] * kMillimetres;
    std::copy_n(&p.x, 3, coordinates->GetPointer(static_cast<vtkIdType>(3 * k)));
  }
  vtkNew<vtkPoints> points;
  points->SetData(coordinates);
  return points;
}

vtkNew<vtkCellArray> triangles_of(std::span<const glm::uvec3> faces) {
  vtkNew<vtkCellArray> cells;
  for (const glm::uvec3& face : faces) {
    const vtkIdType corners[] = {face.x, face.y, face.z};
    cells->InsertNextCell(3, corners);
  }
  return cells;
}

constexpr std::size_t kMostToolBits = 32;  // bits of a value of touched_by

void add_touches(vtkPolyData* data, const OrganSurface& surface, const OrganFrame& frame) {
  const std::size_t faces = surface.ids.size();
  auto by = table<vtkUnsignedIntArray>("touched_by", 1, faces),
       by_tip = table<vtkUnsignedIntArray>("touched_by_tip", 1, faces);
  auto id = table<vtkUnsignedIntArray>("face_id", 1, faces);
  auto pressure = table<vtkFloatArray>("pressure_pa", 1, faces), depth = table<vtkFloatArray>("depth_mm", 1, faces);
  for (std::size_t slot = 0; slot < faces; ++slot) id->GetPointer(0)[slot] = index(surface.ids[slot]);
  for (std::size_t tool = 0; tool + 1 < frame.first.size(); ++tool)
    for (std::uint32_t k = frame.first[tool]; k < frame.first[tool + 1]; ++k)
      if (const std::size_t slot = slot_of(surface.ids, frame.touches[k].face); slot < faces) {
        by->GetPointer(0)[slot] |= 1u << tool;
        float &most = pressure->GetPointer(0)[slot], &deepest = depth->GetPointer(0)[slot];
        most = std::max(most, frame.pressure[k]);
        deepest = std::max(deepest, frame.touches[k].depth * kMillimetres);
      }
  for (std::size_t tool = 0; tool + 1 < frame.tip_first.size(); ++tool)
    for (std::uint32_t k = frame.tip_first[tool]; k < frame.tip_first[tool + 1]; ++k)
      if (const std::size_t slot = slot_of(surface.ids, frame.tip_ids[k]); slot < faces)
        by_tip->GetPointer(0)[slot] |= 1u << tool;
  for (vtkDataArray* array : std::initializer_list<vtkDataArray*>{id, by, by_tip, pressure, depth})
    data->GetCellData()->AddArray(array);
}

vtkNew<vtkPolyData> organ_data(const RecordedOrganFrames& organ) {
  vtkNew<vtkPolyData> data;
  data->SetPoints(points_of(organ.mesh().positions));
  data->SetPolys(triangles_of(organ.mesh().faces));
  add_touches(data, organ.surface(), organ.frame());
  return data;
}

vtkNew<vtkPolyData> tool_data(const Recording& recording, std::size_t frame) {
  const std::size_t tools = recording.tools().size();
  std::vector<glm::vec3> ends;
  vtkNew<vtkCellArray> lines;
  auto number = table<vtkUnsignedIntArray>("tool", 1, tools), energy = table<vtkUnsignedIntArray>("energy", 1, tools);
  auto grip = table<vtkFloatArray>("grip", 1, tools), roll = table<vtkFloatArray>("roll_deg", 1, tools);
  auto newtons = table<vtkFloatArray>("force_n", 1, tools), force = table<vtkFloatArray>("force", 3, 2 * tools);
  for (std::size_t tool = 0; tool < tools; ++tool) {
    const ToolPose pose = recording.pose(frame, tool);
    ends.insert(ends.end(), {glm::vec3(pose.pivot), glm::vec3(pose.tip)});
    const vtkIdType first = static_cast<vtkIdType>(2 * tool), both[] = {first, first + 1};
    lines->InsertNextCell(2, both);
    const glm::vec3 felt = recording.force(frame, tool);
    const glm::dvec2 roll_grip = recording.roll_grip(frame, tool);
    std::copy_n(&felt.x, 3, force->GetPointer(3 * (first + 1)));
    newtons->GetPointer(0)[tool] = glm::length(felt);
    number->GetPointer(0)[tool] = static_cast<unsigned>(tool);
    energy->GetPointer(0)[tool] = static_cast<unsigned>(recording.energy(frame, tool));
    roll->GetPointer(0)[tool] = static_cast<float>(roll_grip.x);
    grip->GetPointer(0)[tool] = static_cast<float>(roll_grip.y);
  }
  vtkNew<vtkPolyData> data;
  data->SetPoints(points_of(ends));
  data->SetLines(lines);
  for (vtkDataArray* array : std::initializer_list<vtkDataArray*>{number, energy, grip, roll, newtons})
    data->GetCellData()->AddArray(array);
  data->GetPointData()->AddArray(force);
  return data;
}

// `organs`: with the frame loaded.
vtkNew<vtkPolyData> fibre_data(RecordedFibres& fibres, std::span<const RecordedOrganFrames> organs, std::size_t frame) {
  std::vector<std::span<const glm::vec3>> nodes;
  for (const RecordedOrganFrames& organ : organs) nodes.push_back(organ.frame().nodes);
  fibres.load(frame, nodes);
  std::vector<glm::vec3> ends;
  vtkNew<vtkCellArray> lines;
  vtkNew<vtkUnsignedIntArray> number = table<vtkUnsignedIntArray>("fibre", 1, 0);
  vtkNew<vtkFloatArray> strain = table<vtkFloatArray>("strain", 1, 0);
  for (std::size_t fibre = 0; fibre < fibres.size(); ++fibre) {
    if (!fibres.intact(fibre)) continue;
    const FibreEnds both = fibres.ends(fibre);
    const auto first = static_cast<vtkIdType>(ends.size());
    const vtkIdType line[] = {first, first + 1};
    ends.insert(ends.end(), {both.a, both.b});
    lines->InsertNextCell(2, line);
    number->InsertNextValue(static_cast<unsigned>(fibre));
    const RecordedFibre& rest = fibres.at_rest(fibre);
    strain->InsertNextValue((glm::distance(both.a, both.b) - rest.free_length) / rest.reference);
  }
  vtkNew<vtkPolyData> data;
  data->SetPoints(points_of(ends));
  data->SetLines(lines);
  data->GetCellData()->AddArray(number);
  data->GetCellData()->AddArray(strain);
  return data;
}

}  // namespace

PvdSummary export_pvd(const Recording& recording, const std::filesystem::path& folder, std::size_t every,
                      const std::function<void(std::size_t)>& progress) {
  if (recording.tools().size() > kMostToolBits)
    throw InputError(
        fmt::format("--pvd: the tables touched_by have a bit for each of {} instruments, and this recording "
                    "has {}; export it with --csv",
                    kMostToolBits, recording.tools().size()));
  OutputFile series(folder / "recording.pvd", OutputKind::Series);
  std::ostream& out = series.stream();
  out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
         "byte_order=\"LittleEndian\">\n<Collection>\n";
  PvdSummary summary;
  const auto add = [&](vtkPolyData* data, std::size_t frame, std::size_t part, const std::string& name) {
    const double time = recording.times()[frame];
    const std::string file = fmt::format("{}_{}_{:06}.vtp", part, file_part(name), frame);
    write_file(folder / file, data, time);
    fmt::print(out, "<DataSet timestep=\"{}\" group=\"{}\" part=\"{}\" file=\"{}\"/>\n", time, xml_text(name), part,
               file);
    ++summary.files;
  };
  std::vector<RecordedOrganFrames> organs;
  for (std::size_t k = 0; k < recording.organs().size(); ++k) organs.emplace_back(recording, k);
  RecordedFibres fibres(recording);
  for (std::size_t frame = 0; frame < recording.frame_count(); frame += every) {
    for (std::size_t k = 0; k < organs.size(); ++k) {
      organs[k].load(frame);
      add(organ_data(organs[k]), frame, k, recording.organs()[k].name);
    }
    add(tool_data(recording, frame), frame, organs.size(), "tools");
    if (fibres.size() > 0) add(fibre_data(fibres, organs, frame), frame, organs.size() + 1, "fibres");
    ++summary.frames;
    progress(std::min(frame + every, recording.frame_count()));
  }
  out << "</Collection>\n</VTKFile>\n";
  series.commit();
  return summary;
}

}  // namespace trocar
