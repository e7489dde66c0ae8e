#include "mesh/iso_surface.hpp"

#include <vtkCellArray.h>
#include <vtkFloatArray.h>
#include <vtkFlyingEdges3D.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <cmath>

namespace trocar {
namespace {

// A node exactly on the surface would give triangles of zero area, so it is moved off by this.
constexpr float kOffSurface = 1e-3f;  // mm

void fill_image(const SampledField& field, vtkImageData* image) {
  std::vector<float> values = field.node_values();
  const glm::ivec3 size = field.size();
  image->SetDimensions(size.x, size.y, size.z);
  image->SetOrigin(&field.origin()[0]);
  image->SetSpacing(field.spacing(), field.spacing(), field.spacing());
  vtkNew<vtkFloatArray> scalars;
  scalars->SetNumberOfTuples(static_cast<vtkIdType>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    scalars->SetValue(static_cast<vtkIdType>(i), std::abs(values[i]) < kOffSurface ? kOffSurface : values[i]);
  image->GetPointData()->SetScalars(scalars);
}

// Six times the enclosed volume; its sign gives the orientation of the faces.
double volume6(const RawSurface& surface) {
  double sum = 0.0;
  for (const glm::uvec3& f : surface.faces)
    sum += glm::dot(surface.positions[f.x], glm::cross(surface.positions[f.y], surface.positions[f.z]));
  return sum;
}

}  // namespace

RawSurface iso_surface(const SampledField& field) {
  vtkNew<vtkImageData> image;
  fill_image(field, image);
  vtkNew<vtkFlyingEdges3D> filter;
  filter->SetInputData(image);
  filter->SetValue(0, 0.0);
  filter->ComputeNormalsOff();
  filter->ComputeScalarsOff();
  filter->Update();

  RawSurface surface;
  vtkPolyData* out = filter->GetOutput();
  surface.positions.resize(static_cast<std::size_t>(out->GetNumberOfPoints()));
  for (std::size_t i = 0; i < surface.positions.size(); ++i)
    out->GetPoint(static_cast<vtkIdType>(i), &surface.positions[i][0]);
  vtkNew<vtkIdList> corners;
  vtkCellArray* cells = out->GetPolys();
  for (cells->InitTraversal(); cells->GetNextCell(corners);)
    surface.faces.emplace_back(corners->GetId(0), corners->GetId(1), corners->GetId(2));
  if (volume6(surface) < 0.0)
    for (glm::uvec3& f : surface.faces) std::swap(f.y, f.z);
  return surface;
}

}  // namespace trocar
