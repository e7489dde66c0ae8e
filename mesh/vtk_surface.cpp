#include "mesh/vtk_surface.hpp"

#include <vtkCellArray.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>

namespace trocar {

void copy_to_vtk(std::span<const glm::dvec3> points, std::span<const glm::uvec3> faces, vtkPolyData& data) {
  vtkNew<vtkPoints> positions;
  positions->SetDataTypeToDouble();
  positions->SetNumberOfPoints(static_cast<vtkIdType>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) positions->SetPoint(static_cast<vtkIdType>(i), &points[i].x);
  vtkNew<vtkCellArray> polygons;
  for (const glm::uvec3& face : faces) {
    const vtkIdType corners[3] = {face.x, face.y, face.z};
    polygons->InsertNextCell(3, corners);
  }
  data.SetPoints(positions);
  data.SetPolys(polygons);
}

void copy_from_vtk(vtkPolyData& data, std::vector<glm::dvec3>& points, std::vector<glm::uvec3>& faces) {
  points.resize(static_cast<std::size_t>(data.GetNumberOfPoints()));
  for (std::size_t i = 0; i < points.size(); ++i) data.GetPoint(static_cast<vtkIdType>(i), &points[i].x);
  faces.clear();
  vtkNew<vtkIdList> corners;
  vtkCellArray* polygons = data.GetPolys();
  for (polygons->InitTraversal(); polygons->GetNextCell(corners);)
    faces.emplace_back(corners->GetId(0), corners->GetId(1), corners->GetId(2));
}

}  // namespace trocar
